#include "session/wrapper.h"

#include <stdio.h>
#include <string.h>

/*
 * $1 command, or the path of a file with it, $2 word, $3 "-l" or "", $4 bytes of stdin, $5 record,
 * $6 the boot id of a repeat, $7 seconds for the watchdog, $8 settled records; $0 is a name for ps.
 *
 * With bytes of stdin the last element of a pipe runs the command and prints the marker: so a
 * command that does not read its input ends all the same (B-45), and end of file comes without
 * another call.
 *
 * The wrapper's own stderr goes nowhere: a shell says "Killed" there when its child dies by a
 * signal, which is no output of the command. So the command's is joined to its stdout in the child,
 * by exec: for a simple command dash redirects itself while it waits.
 *
 * Each command pays for this: so it is all the shell's own doing, but for the watchdog.
 */
#define BOOT_ID      "he2b_b=; read -r he2b_b </proc/sys/kernel/random/boot_id; "
#define ALL_RECORDED "\"${5%/*}/" HE2B_WRAPPER_ALL_RECORDED "\""
/* "command", because without it some shells exit when a special builtin's redirection fails. */
#define CLAIM                                                                                      \
    "exec 2>/dev/null; he2b_r=; he2b_w=; "                                                         \
    "if [ \"$5\" ]; then " BOOT_ID "set -C; "                                                      \
    "if { [ -z \"$6\" ] || [ \"$6\" = \"$he2b_b\" ]; } && command : >\"$5\"; then he2b_r=$5; "     \
    "elif [ \"$6\" ] || [ -e \"$5\" ]; then printf '\\001he2b-%s:999\\002' \"$2\"; exit 0; "       \
    "else rm -f " ALL_RECORDED "; fi; set +C; "                                                    \
    "[ \"$he2b_r\" ] && printf 'began %s %s\\n' $$ \"$he2b_b\" >>\"$he2b_r\"; fi; "
/*
 * A session of its own, so that one KILL ends it with its sleeper. It acts only while the wrapper
 * is its parent: a pid can be another's by then. A sleeper that was ended early wakes nobody.
 */
#define WATCH                                                                                      \
    "if [ \"$7\" ]; then setsid sh -c 'sleep \"$2\" || exit; read -r l </proc/$$/stat; "           \
    "l=${l##*) }; l=${l#* }; [ \"${l%% *}\" = \"$1\" ] && kill -KILL \"-$1\"' "                    \
    "\"hermes-e2b-watch-$2\" $$ \"$7\" </dev/null >/dev/null 2>&1 & he2b_w=$!; fi; "
/*
 * The watchdog may not lead its session yet, and then has no sleeper: so itself first, then its
 * group. The record comes before the marker, which may find nobody who takes it.
 */
#define MARKER                                                                                     \
    "s=$?; [ \"$he2b_w\" ] && kill -KILL \"$he2b_w\" \"-$he2b_w\"; "                               \
    "[ \"$he2b_r\" ] && printf 'ended %d\\n' \"$s\" >>\"$he2b_r\"; "                               \
    "printf '\\001he2b-%s:%d\\002' \"$2\" \"$s\"; "                                                \
    "[ \"$8\" ] && cd \"${5%/*}\" && rm -f $8; exit \"$s\""
/*
 * A command may signal its own process group, of which the wrapper is one: it outlives what a shell
 * can outlive, to tell the command's code. Its children get the defaults back.
 */
#define OUTLIVE "trap : HUP INT QUIT USR1 USR2 PIPE ALRM TERM; "
#define SHELL   "(if [ \"$3\" ]; then exec bash -l -c \"$1\" 2>&1; else exec bash -c \"$1\" 2>&1; fi)"
#define POSIX_SHELL                                                                                \
    "(if [ \"$3\" ]; then exec sh -l -c \"$1\" 2>&1; else exec sh -c \"$1\" 2>&1; fi)"
/*
 * From a file the text is read whole, and then evaluated by the same shell with the same $0 and no
 * arguments: of all ways the one that differs least from -c (a sourced file may "return" and names
 * itself in each error). It comes on descriptor 9, because the file is gone before the shell, and
 * with a login shell the profile, can be killed; and nothing of this is left when the text begins:
 * bash takes it from $_, as a line that it complains of is printed, another shell from $1.
 */
#define GONE "printf \"hermes-e2b: the text of the command was lost before it ran\\n\"; exit 126"
#define READ_TEXT                                                                                  \
    "'hermes_e2b_read() { unset -f hermes_e2b_read; exec 9<&-; }; "                                \
    "hermes_e2b_read \"$(cat <&9)\"; case $_ in *x) eval \"${_%x}\";; *) " GONE ";; esac'"
#define READ_TEXT_POSIX                                                                            \
    "'set -- \"$(cat <&9)\"; exec 9<&-; "                                                          \
    "case $1 in *x) eval \"shift;${1%x}\";; *) " GONE ";; esac'"
#define FROM_FILE(shell, read)                                                                     \
    "if [ -r \"$1\" ]; then (rm -f \"$1\"; "                                                       \
    "find \"${1%/*}\" -name 'text.*' -mmin +1440 -exec rm -f {} +; "                               \
    "if [ \"$3\" ]; then exec " shell " -l -c " read " 2>&1; "                                     \
    "else exec " shell " -c " read " 2>&1; fi) 9<\"$1\"; else (" GONE "); fi"
#define NO_INPUT(shell) CLAIM WATCH OUTLIVE shell "; " MARKER
#define INPUT(shell)    CLAIM WATCH OUTLIVE "head -c \"$4\" | { " OUTLIVE shell "; " MARKER "; }"

/* By: bash there, text by file, stdin. */
static const char *const scripts[2][2][2] = {
    {
        {NO_INPUT(POSIX_SHELL), INPUT(POSIX_SHELL)},
        {NO_INPUT(FROM_FILE("sh", READ_TEXT_POSIX)), INPUT(FROM_FILE("sh", READ_TEXT_POSIX))},
    },
    {
        {NO_INPUT(SHELL), INPUT(SHELL)},
        {NO_INPUT(FROM_FILE("bash", READ_TEXT)), INPUT(FROM_FILE("bash", READ_TEXT))},
    },
};

void he2b_wrapper_command(struct he2b_wrapper *ret, const struct he2b_tools *tools,
                          const struct he2b_job *job)
{
    size_t n = 0;

    memset(ret, 0, sizeof(*ret));
    snprintf(ret->numbers[0], sizeof(ret->numbers[0]), "%zu", job->stdin_len);
    /* without setsid there is no group that it could end */
    if (job->watch_s && tools->setsid && tools->sleep)
        snprintf(ret->numbers[1], sizeof(ret->numbers[1]), "%lld", (long long)job->watch_s);
    if (tools->setsid) {
        ret->cmd = "setsid";
        ret->args[n++] = "sh";
    } else {
        ret->cmd = "sh";
    }
    ret->args[n++] = "-c";
    ret->args[n++] = scripts[tools->bash][job->by_file][job->stdin_len > 0];
    ret->args[n++] = "hermes-e2b";
    ret->args[n++] = job->text;
    ret->args[n++] = job->word;
    ret->args[n++] = job->login ? "-l" : "";
    ret->args[n++] = ret->numbers[0];
    ret->args[n++] = job->record;
    ret->args[n++] = job->repeat_of;
    ret->args[n++] = ret->numbers[1];
    ret->args[n++] = job->settled;
    ret->args[n] = NULL;
}

/*
 * A watchdog whose wrapper was killed sleeps on. It is found by its name, not in the record: this
 * runs as root, and what the command's user can write must not choose whom it kills.
 */
#define END_WATCHDOG                                                                               \
    "for p in $(grep -lF -e \"hermes-e2b-watch-$2\" /proc/[0-9]*/cmdline); do "                    \
    "p=${p#/proc/}; p=${p%/*}; [ \"$p\" = $$ ] || kill -KILL \"$p\" \"-$p\"; done; "

/*
 * The pid is another's when the command is gone and its number used again, or its boot is over. A
 * leader that nobody has reaped shows no arguments, and its group may live.
 */
#define IS_OURS                                                                                    \
    "{ c=; read -r c <\"/proc/$1/cmdline\"; [ -z \"$c\" ] || "                                     \
    "grep -qF -e \"$2\" \"/proc/$1/cmdline\"; }"

/*
 * "kill -TERM -PID" is what dash, bash and BusyBox all understand; "--" is not. There is no such
 * group as long as setsid has not come to its call: then it is the process alone.
 */
static const char kill_group[] =
    "exec 2>/dev/null; if " IS_OURS " && { kill -TERM \"-$1\" || kill -TERM \"$1\"; }; then "
    "sleep 0.3 || sleep 1; "
    "kill -KILL \"-$1\" || kill -KILL \"$1\"; fi; " END_WATCHDOG "exit 0";

/*
 * Without setsid there is no group: the processes that descend from pid are found in /proc, whose
 * stat has the parent as the second word behind the last ")". Twice, for what was forked in
 * between.
 */
static const char kill_tree[] =
    "exec 2>/dev/null; tree() { all=$1; new=$1; while [ \"$new\" ]; do now=$new; new=; for d in "
    "/proc/[0-9]*; do "
    "read -r l <\"$d/stat\" || continue; l=${l##*) }; l=${l#* }; l=${l%% *}; "
    "for p in $now; do if [ \"$l\" = \"$p\" ]; then new=\"$new ${d#/proc/}\"; fi; done; done; "
    "all=\"$all $new\"; done; }; " IS_OURS " || exit 0; "
    "tree \"$1\"; kill -TERM $all; sleep 0.3 || sleep 1; "
    "old=$all; tree \"$1\"; kill -KILL $old $all; exit 0";

void he2b_wrapper_kill(struct he2b_wrapper *ret, const struct he2b_tools *tools, int64_t pid,
                       const char *word)
{
    memset(ret, 0, sizeof(*ret));
    snprintf(ret->numbers[0], sizeof(ret->numbers[0]), "%lld", (long long)pid);
    ret->cmd = "sh";
    ret->args[0] = "-c";
    ret->args[1] = tools->setsid ? kill_group : kill_tree;
    ret->args[2] = "hermes-e2b-kill";
    ret->args[3] = ret->numbers[0];
    ret->args[4] = word;
    ret->args[5] = NULL;
}

/*
 * $1 record, $2 boot id, $3 word, $4 pid or "", $5 "forbid" or "". A process is the command's
 * wrapper if it has the word among its arguments: pids are used again. And a disk that cannot be
 * written says nothing. Looked at twice: what does not run any more may just have written its end.
 */
static const char ask[] =
    "exec 2>/dev/null; " BOOT_ID "if [ \"$he2b_b\" != \"$2\" ]; then echo rebooted; exit; fi; "
    "dir=${1%/*}; sure=1; "
    "if [ \"$5\" ]; then sure=; set -C; command : >\"$1\" && echo void >>\"$1\"; set +C; fi; "
    "for i in 1 2; do begun=; code=; pid=$4; "
    "if [ -e \"$1\" ]; then begun=1; while read -r what value boot; do case $what in "
    "void) begun=; sure=1;; began) [ \"$boot\" = \"$2\" ] && pid=$value;; ended) code=$value;; "
    "esac; done <\"$1\"; fi; "
    "if [ \"$code\" ]; then echo \"ended $code\"; exit; fi; "
    "if [ \"$pid\" ] && grep -qF -e \"$3\" \"/proc/$pid/cmdline\"; then echo \"runs $pid\"; "
    "exit; fi; done; "
    "if [ \"$begun$4\" ]; then echo begun; "
    "elif [ \"$sure\" ] && [ -e \"$dir/" HE2B_WRAPPER_ALL_RECORDED "\" ] && "
    "command : >>\"$dir/" HE2B_WRAPPER_ALL_RECORDED "\"; "
    "then echo unbegun; else echo unknown; fi";

void he2b_wrapper_ask(struct he2b_wrapper *ret, const char *record, const char *boot,
                      const char *word, int64_t pid, bool forbid)
{
    memset(ret, 0, sizeof(*ret));
    if (pid)
        snprintf(ret->numbers[0], sizeof(ret->numbers[0]), "%lld", (long long)pid);
    ret->cmd = "sh";
    ret->args[0] = "-c";
    ret->args[1] = ask;
    ret->args[2] = "hermes-e2b-ask";
    ret->args[3] = record;
    ret->args[4] = boot;
    ret->args[5] = word;
    ret->args[6] = ret->numbers[0];
    ret->args[7] = forbid ? "forbid" : "";
    ret->args[8] = NULL;
}

/*
 * A folder of that name that somebody else made, or a link, is none of ours; a path with other
 * bytes in it would need quoting in an URL.
 */
#define FOLDER                                                                                     \
    "u=$(id -u); for d in \"$XDG_RUNTIME_DIR\" /tmp \"$HOME\"; do "                                \
    "case $d in /*[!A-Za-z0-9/._-]*) continue;; /*) ;; *) continue;; esac; "                       \
    "d=${d%/}/.hermes-e2b-$u; mkdir -m 700 \"$d\" 2>/dev/null || "                                 \
    "{ [ -d \"$d\" ] && [ ! -L \"$d\" ] && [ -O \"$d\" ] && [ -w \"$d\" ] && chmod 700 \"$d\"; } " \
    "|| "                                                                                          \
    "continue; printf 'folder %s\\n' \"$d\"; " SWEEP RECORDS "break; done 2>/dev/null; "
/* What an earlier writer left of a push (B-74): at a take-over none can be on its way. */
#define SWEEP "[ \"$2\" = unstamp ] && rm -f \"$d\"/push.*; "
/*
 * The records of one boot have a folder. Whoever makes it puts HE2B_WRAPPER_ALL_RECORDED there; it
 * is never made anew in the same boot.
 */
#define RECORDS                                                                                    \
    BOOT_ID "if [ \"$he2b_b\" ]; then printf 'boot %s\\n' \"$he2b_b\"; r=$d/$he2b_b; "             \
            "if [ -d \"$r\" ] || { mkdir -m 700 \"$r\" && "                                        \
            "command : >\"$r/" HE2B_WRAPPER_ALL_RECORDED "\"; }; then "                            \
            "printf 'records %s\\n' \"$r\"; fi; "                                                  \
            "for o in \"$d\"/*-*-*-*-*; do "                                                       \
            "[ \"$o\" = \"$r\" ] || [ ! -d \"$o\" ] || rm -rf \"$o\"; done; fi; "

/* pwd -P comes last and may hold anything but NUL: its line is the rest of the output. */
#define STAMP "\"$HOME/.hermes-e2b-state-ready\""
static const char probe[] =
    "f=" STAMP "; case $2 in "
    "unstamp) rm -f \"$f\" || exit 41;; "
    "restamp) printf '%s\\n%s\\n' \"$3\" \"$4\" >\"$f.$$\" && "
    "mv -f \"$f.$$\" \"$f\" || { rm -f \"$f.$$\"; exit 42; };; "
    "esac; "
    "if [ -e \"$f\" ]; then a=; b=; { read -r a; read -r b; } <\"$f\"; "
    "printf 'stamp %s\\n' \"$b\"; fi; "
    "for t in bash setsid sleep; do command -v $t >/dev/null 2>&1 && "
    "printf 'tool %s\\n' $t; done; " FOLDER "printf 'home %s\\n' \"$HOME\"; "
    "if [ \"$1\" ] && cd \"$1\" 2>/dev/null; then printf 'wanted\\n'; "
    "else cd \"$HOME\" 2>/dev/null || cd /; fi; printf 'cwd '; pwd -P";

void he2b_wrapper_probe(struct he2b_wrapper *ret, const char *wanted_cwd, const char *what,
                        const char *sandbox_id, const char *stamp)
{
    memset(ret, 0, sizeof(*ret));
    ret->cmd = "sh";
    ret->args[0] = "-c";
    ret->args[1] = probe;
    ret->args[2] = "hermes-e2b-probe";
    ret->args[3] = wanted_cwd;
    ret->args[4] = what;
    ret->args[5] = sandbox_id;
    ret->args[6] = stamp;
    ret->args[7] = NULL;
}
