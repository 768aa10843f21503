/* Attacks from inside a sandbox that a shell cannot make: launch_attack.c says which. */
#ifndef HE2B_TESTS_LAUNCH_ATTACK_H
#define HE2B_TESTS_LAUNCH_ATTACK_H

/*
 * "NAME[ ARG]". Returns 0 if it was fended off, 1 if it succeeded (and says with what on standard
 * output), 77 if it could not be tried, 2 for a name that it does not know.
 */
int launch_attack(char *name_and_argument);

#endif
