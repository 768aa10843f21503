/*
 * The folder of the coordination files.
 *
 * Blocking calls on files: never on a loop's thread.
 */
#ifndef HE2B_HOST_FOLDER_H
#define HE2B_HOST_FOLDER_H

/*
 * Makes the folder of the file at path and that folder's own, if they are missing, for this user
 * alone (0700): <home>/cache and <home>/cache/e2b, never the home. Returns 0 or the errno.
 */
int he2b_host_folder_make(const char *path);

#endif
