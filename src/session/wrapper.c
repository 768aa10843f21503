#include "session/wrapper.h"

#include <stdio.h>
#include <string.h>

/*
 * $1 command, or the path of a file with it, $2 word, $3 "-l" or "", $4 bytes of stdin; $0 is a
 * name for ps.
 *
 * With bytes of stdin the last element of a pipe runs the command and prints the marker: so a
 * command that does not read its input ends all the same (B-45), and end of file comes without
 * another call.
 *
 * The wrapper's own stderr goes nowhere: a shell says "Killed" there when its child dies by a
 * signal, which is no output of the command. So the command's is joined to its stdout in the child,
 * by exec: for a simple command dash redirects itself while it waits.
 */
#define MARKER "s=$?; printf '\\001he2b-%s:%d\\002' \"$2\" \"$s\"; exit \"$s\""
#define SHELL  "(if [ \"$3\" ]; then exec bash -l -c \"$1\" 2>&1; else exec bash -c \"$1\" 2>&1; fi)"
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
#define NO_INPUT(shell) "exec 2>/dev/null; " shell "; " MARKER
#define INPUT(shell)    "exec 2>/dev/null; head -c \"$4\" | { " shell "; " MARKER "; }"

static const char no_input[] = NO_INPUT(SHELL);
static const char input[] = INPUT(SHELL);
static const char no_input_posix[] = NO_INPUT(POSIX_SHELL);
static const char input_posix[] = INPUT(POSIX_SHELL);
static const char file_no_input[] = NO_INPUT(FROM_FILE("bash", READ_TEXT));
static const char file_input[] = INPUT(FROM_FILE("bash", READ_TEXT));
static const char file_no_input_posix[] = NO_INPUT(FROM_FILE("sh", READ_TEXT_POSIX));
static const char file_input_posix[] = INPUT(FROM_FILE("sh", READ_TEXT_POSIX));

static void fill(struct he2b_wrapper *ret, const struct he2b_tools *tools, const char *script,
                 const char *text, const char *word, bool login, size_t stdin_len)
{
    size_t n = 0;

    memset(ret, 0, sizeof(*ret));
    snprintf(ret->numbers[0], sizeof(ret->numbers[0]), "%zu", stdin_len);
    if (tools->setsid) {
        ret->cmd = "setsid";
        ret->args[n++] = "sh";
    } else {
        ret->cmd = "sh";
    }
    ret->args[n++] = "-c";
    ret->args[n++] = script;
    ret->args[n++] = "hermes-e2b";
    ret->args[n++] = text;
    ret->args[n++] = word;
    ret->args[n++] = login ? "-l" : "";
    ret->args[n++] = ret->numbers[0];
    ret->args[n] = NULL;
}

void he2b_wrapper_command(struct he2b_wrapper *ret, const struct he2b_tools *tools,
                          const char *text, const char *word, bool login, size_t stdin_len)
{
    const char *script = stdin_len ? input : no_input;

    if (!tools->bash)
        script = stdin_len ? input_posix : no_input_posix;
    fill(ret, tools, script, text, word, login, stdin_len);
}

void he2b_wrapper_command_file(struct he2b_wrapper *ret, const struct he2b_tools *tools,
                               const char *file, const char *word, bool login, size_t stdin_len)
{
    const char *script = stdin_len ? file_input : file_no_input;

    if (!tools->bash)
        script = stdin_len ? file_input_posix : file_no_input_posix;
    fill(ret, tools, script, file, word, login, stdin_len);
}

/* "kill -TERM -PID" is what dash, bash and BusyBox all understand; "--" is not. */
static const char kill_group[] = "kill -TERM \"-$1\" 2>/dev/null || exit 0; "
                                 "sleep 0.3 2>/dev/null || sleep 1; "
                                 "kill -KILL \"-$1\" 2>/dev/null; exit 0";

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
    "all=\"$all $new\"; done; }; "
    "tree \"$1\"; kill -TERM $all; sleep 0.3 || sleep 1; "
    "old=$all; tree \"$1\"; kill -KILL $old $all; exit 0";

void he2b_wrapper_kill(struct he2b_wrapper *ret, const struct he2b_tools *tools, int64_t pid)
{
    memset(ret, 0, sizeof(*ret));
    snprintf(ret->numbers[0], sizeof(ret->numbers[0]), "%lld", (long long)pid);
    ret->cmd = "sh";
    ret->args[0] = "-c";
    ret->args[1] = tools->setsid ? kill_group : kill_tree;
    ret->args[2] = "hermes-e2b-kill";
    ret->args[3] = ret->numbers[0];
    ret->args[4] = NULL;
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
    "continue; printf 'folder %s\\n' \"$d\"; break; done 2>/dev/null; "

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
    "for t in bash setsid; do command -v $t >/dev/null 2>&1 && "
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
