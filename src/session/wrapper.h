/*
 * The short shell texts that run in a sandbox: around a command, to end one, to look around. None
 * ever holds a piece of the command: that is an argument, or a file.
 */
#ifndef HE2B_SESSION_WRAPPER_H
#define HE2B_SESSION_WRAPPER_H

#include "e2b/process.h"

enum {
    /* sh -c script name, eight arguments, and the NULL */
    HE2B_WRAPPER_ARGS = 13,
    /* The code in a marker of a wrapper that was not to run its command: no exit code (B-47). */
    HE2B_WRAPPER_DENIED = 999,
};

/* What the probe found in the template. */
struct he2b_tools {
    bool bash;
    bool setsid;
    bool sleep;
};

struct he2b_wrapper {
    const char *cmd;
    const char *args[HE2B_WRAPPER_ARGS];
    char numbers[2][24];
};

/*
 * What ends a file with a command's text: a shell drops the newlines at the end of what it reads,
 * which are a part of an open here-document, and what is cut off must not run.
 */
#define HE2B_WRAPPER_TEXT_END 'x'

/* All is borrowed as long as the wrapper is used; no text is NULL. */
struct he2b_job {
    /*
     * by_file: the absolute path in the sandbox of the file that holds it. The wrapper removes it
     * before the text's first word runs, so that no kill leaves it behind; and whatever "text.*" in
     * the same folder is older than a day, whose Start never came.
     */
    const char *text;
    bool by_file;
    const char *word;
    bool login;
    size_t stdin_len; /* 0: none */
    /*
     * Path of its record (B-47); "": none. If that cannot be made a first Start runs without one,
     * and removes HE2B_WRAPPER_ALL_RECORDED beside it, so that nobody takes a record that is not
     * there for a command that did not begin.
     */
    const char *record;
    const char *repeat_of; /* the boot id under which the first Start was sent; "": this is it */
    int64_t watch_s;       /* after that the watchdog ends it (B-44); 0: none */
    const char *settled;   /* names beside the record that nobody asks for any more, with blanks */
};

#define HE2B_WRAPPER_ALL_RECORDED "all-recorded"

/*
 * A command: own session and process group where setsid exists, stderr joined to stdout before the
 * first byte, stdin of exactly stdin_len bytes, the end marker with word and exit code.
 */
void he2b_wrapper_command(struct he2b_wrapper *ret, const struct he2b_tools *tools,
                          const struct he2b_job *job);

/*
 * TERM, a short grace, KILL: to pid's process group, or without setsid to what descends from it.
 * Then to the watchdog of the command with this word.
 */
void he2b_wrapper_kill(struct he2b_wrapper *ret, const struct he2b_tools *tools, int64_t pid,
                       const char *word);

/*
 * What became of the command with this word, whose Start was sent under this boot id (B-47, B-48),
 * in one line:
 *
 *     unbegun     it did not begin; with forbid: and never will
 *     runs PID
 *     ended CODE  as its record says
 *     begun       it began, and its pid or its end is not in the record, or not yet
 *     unknown     there is no record, and it may have run without one
 *     rebooted    it is not that boot any more
 *
 * record: its path; "": none. pid: as the daemon told it; 0: not told.
 */
void he2b_wrapper_ask(struct he2b_wrapper *ret, const char *record, const char *boot,
                      const char *word, int64_t pid, bool forbid);

/*
 * Prints "home", "cwd" and "tool" lines, a "folder" line with the private folder that it made, or
 * found, for this side's files (mode 0700, letters, digits and "/._-" only), a "boot" line with the
 * boot id, a "records" line with the folder in that one for records of this boot (those of earlier
 * ones it removes), and "stamp <second line>" if the stamp is there; wanted_cwd is what the user
 * asked for. what is done to the stamp before: "look", "unstamp", or "restamp" with sandbox_id and
 * stamp as its two lines. Exit code 41 or 42: that could not be done.
 */
void he2b_wrapper_probe(struct he2b_wrapper *ret, const char *wanted_cwd, const char *what,
                        const char *sandbox_id, const char *stamp);

#endif
