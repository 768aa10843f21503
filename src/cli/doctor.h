/*
 * "hermes-e2b doctor": whether everything that is needed is there.
 */
#ifndef HE2B_CLI_DOCTOR_H
#define HE2B_CLI_DOCTOR_H

/* argv[0] is "doctor". Returns the program's exit code. */
int doctor_main(int argc, char **argv);

#endif
