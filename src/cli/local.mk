# cli: hermes-e2b, the command-line program; reaches the library through he2b.h alone.
