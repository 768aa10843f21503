# fuzz: one small target per parser; driver.c replays the corpus in make check.
