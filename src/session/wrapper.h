/*
 * The short shell texts that run in a sandbox: around a command, to end one, to look around. None
 * ever holds a piece of the command: that is an argument, or a file.
 */
#ifndef HE2B_SESSION_WRAPPER_H
#define HE2B_SESSION_WRAPPER_H

#include "e2b/process.h"

enum {
    /* sh -c script name, four arguments, and the NULL */
    HE2B_WRAPPER_ARGS = 9,
};

/* What the probe found in the template. */
struct he2b_tools {
    bool bash;
    bool setsid;
};

struct he2b_wrapper {
    const char *cmd;
    const char *args[HE2B_WRAPPER_ARGS];
    char numbers[2][24];
};

/*
 * A command: own session and process group where setsid exists, stderr joined to stdout before the
 * first byte, stdin of exactly stdin_len bytes (0: none), the end marker with word and exit code.
 * text and word are borrowed as long as the wrapper is used.
 */
void he2b_wrapper_command(struct he2b_wrapper *ret, const struct he2b_tools *tools,
                          const char *text, const char *word, bool login, size_t stdin_len);

/*
 * What ends a file with a command's text: a shell drops the newlines at the end of what it reads,
 * which are a part of an open here-document, and what is cut off must not run.
 */
#define HE2B_WRAPPER_TEXT_END 'x'

/*
 * The same for a text that is no argument: file is its absolute path in the sandbox. The wrapper
 * removes it before the text's first word runs, so that no kill leaves it behind; and whatever
 * "text.*" in the same folder is older than a day, whose Start never came.
 */
void he2b_wrapper_command_file(struct he2b_wrapper *ret, const struct he2b_tools *tools,
                               const char *file, const char *word, bool login, size_t stdin_len);

/* TERM, a short grace, KILL: to pid's process group, or without setsid to what descends from it. */
void he2b_wrapper_kill(struct he2b_wrapper *ret, const struct he2b_tools *tools, int64_t pid);

/*
 * Prints "home", "cwd" and "tool" lines, a "folder" line with the private folder that it made, or
 * found, for this side's files (mode 0700, letters, digits and "/._-" only), and "stamp <second
 * line>" if the stamp is there; wanted_cwd is what the user asked for. what is done to the stamp
 * before: "look", "unstamp", or "restamp" with sandbox_id and stamp as its two lines. Exit code 41
 * or 42: that could not be done.
 */
void he2b_wrapper_probe(struct he2b_wrapper *ret, const char *wanted_cwd, const char *what,
                        const char *sandbox_id, const char *stamp);

#endif
