#include "session/transfer_script.h"

#include "he2b.h"
#include "host/manifest.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* Words of one call: a list of thousands of names is no line for a kernel. */
    WORDS = 100,
};

#define MANIFEST "\"$HOME/" HE2B_MANIFEST_NAME "\""
#define STAMP    "\"$HOME/" HE2B_STAMP_NAME "\""
#define LIST     "\"$HOME/" HE2B_TRANSFER_LIST "\""

/* $1 is a file of this push. What stands beside it under such a name is of pushes that are over:
 * there is one writer. */
#define BEGIN                                                                                      \
    "export LC_ALL=C; m=" MANIFEST "; f=" STAMP "; d=${1%/*}; "                                    \
    "end() { rm -f \"$d\"/push.* \"$m\".* " LIST "; exit \"$1\"; }; "
#define ENTER "mkdir -p \"$HOME/.hermes\" && cd \"$HOME/.hermes\" || end 44; "
/* x: files that go. One that is a folder meanwhile is no file any more. */
#define REMOVERS                                                                                   \
    "x() { rm -f -- \"$@\" 2>/dev/null && return; for p; do "                                      \
    "rm -f -- \"$p\" 2>/dev/null || { [ ! -e \"$p\" ] && [ ! -L \"$p\" ]; } || [ -d \"$p\" ] || "  \
    "{ rm -f -- \"$p\"; end 45; }; done; }; "                                                      \
    "e() { rmdir -- \"$@\" 2>/dev/null || :; }; "
/* $2 the word of this push, $4 sandbox id, $5 hash, $6 not "": there is no stamp yet */
#define FINISH                                                                                     \
    "mv -f \"$m.$2\" \"$m\" || end 47; "                                                           \
    "if [ \"$5\" ] && { [ \"$6\" ] || [ -e \"$f\" ]; }; then "                                     \
    "if printf '%s\\n%s\\n' \"$4\" \"$5\" >\"$f.$$\" && mv -f \"$f.$$\" \"$f\"; then "             \
    "echo stamped; else rm -f \"$f.$$\"; end 48; fi; fi; end 0"

/*
 * -o: as root, tar would make the files those of a number that means nothing here. What is deleted
 * goes first: a file may stand where a folder is to be.
 */
static const char unpack[] =
    BEGIN "{ command -v tar && command -v gzip; } >/dev/null 2>&1 || end 43; " ENTER
          "if [ \"$3\" ]; then " REMOVERS "tar -xzof \"$1\" -C \"$HOME\" " HE2B_TRANSFER_LIST
          " && . " LIST " || end 45; fi; "
          "tar -xzpof \"$1\" -C \"$HOME\" || end 46; " FINISH;

/* g: a file comes from its upload to its place, with mode and time. */
static const char run[] = BEGIN ENTER REMOVERS
    "g() { case $4 in */*) mkdir -p -- \"${4%/*}\" || end 46;; esac; "
    "mv -f -- \"$d/push.$w.$1\" \"$4\" && chmod \"$2\" -- \"./$4\" && "
    "touch -d \"@$3\" -- \"./$4\" || end 46; }; w=$2; . \"$1\" || end 46; " FINISH;

/* What tar says goes apart, and its code says nothing that the archive does not (B-86). */
#define SEND                                                                                       \
    "command -v tar >/dev/null 2>&1 || exit 43; "                                                  \
    "if command -v gzip >/dev/null 2>&1; then tar -cf - \"$@\" | gzip -1; "                        \
    "else tar -cf - \"$@\"; fi; exit 0"

static const char send_roots[] =
    "export LC_ALL=C; cd \"$1\" || exit 44; set --; "
    "[ -f " HE2B_MANIFEST_NAME " ] && set -- " HE2B_MANIFEST_NAME "; "
    "for r in skills memories; do if [ -e .hermes/$r ]; then set -- \"$@\" .hermes/$r; fi; done; "
    "[ $# -gt 0 ] || exit 49; " SEND;

static const char send_all[] =
    "export LC_ALL=C; h=${1#/}; h=${h:+$h/}.hermes; cd / && [ -d \"$h\" ] || exit 49; "
    "set -- \"$h\"; " SEND;

static void make(struct he2b_transfer_script *ret, const char *script, const char *name)
{
    memset(ret, 0, sizeof(*ret));
    ret->cmd = "sh";
    ret->args[0] = "-c";
    ret->args[1] = script;
    ret->args[2] = name;
}

static void put_stamp(struct he2b_transfer_script *ret, const struct he2b_transfer_stamp *stamp)
{
    ret->args[6] = stamp->sandbox_id;
    ret->args[7] = stamp->hash;
    ret->args[8] = stamp->first ? "first" : "";
}

void he2b_transfer_unpack(struct he2b_transfer_script *ret, const char *archive, const char *word,
                          bool deletions, const struct he2b_transfer_stamp *stamp)
{
    make(ret, unpack, "hermes-e2b-push");
    ret->args[3] = archive;
    ret->args[4] = word;
    ret->args[5] = deletions ? "del" : "";
    put_stamp(ret, stamp);
}

void he2b_transfer_run(struct he2b_transfer_script *ret, const char *script, const char *word,
                       const struct he2b_transfer_stamp *stamp)
{
    make(ret, run, "hermes-e2b-push");
    ret->args[3] = script;
    ret->args[4] = word;
    ret->args[5] = "";
    put_stamp(ret, stamp);
}

void he2b_transfer_send(struct he2b_transfer_script *ret, const char *home, bool all)
{
    make(ret, all ? send_all : send_roots, all ? "hermes-e2b-pull" : "hermes-e2b-recover");
    ret->args[3] = home;
}

int he2b_transfer_quote(struct he2b_buf *ret, const char *text)
{
    int r = he2b_buf_adds(ret, "'");

    while (r == HE2B_OK && *text) {
        size_t plain = strcspn(text, "'");

        r = he2b_buf_add(ret, text, plain);
        text += plain;
        if (r == HE2B_OK && *text) {
            r = he2b_buf_adds(ret, "'\\''");
            text++;
        }
    }
    return r ? r : he2b_buf_adds(ret, "'");
}

/* Lines of WORDS words each after the name of a function. */
static int add_calls(struct he2b_buf *ret, const char *function, char *const *words, size_t count)
{
    int r = HE2B_OK;
    size_t i;

    for (i = 0; i < count && r == HE2B_OK; i++) {
        r = he2b_buf_adds(ret, i % WORDS == 0 ? function : "");
        if (r == HE2B_OK)
            r = he2b_buf_adds(ret, " ");
        if (r == HE2B_OK)
            r = he2b_transfer_quote(ret, words[i]);
        if (r == HE2B_OK && (i % WORDS == WORDS - 1 || i == count - 1))
            r = he2b_buf_adds(ret, "\n");
    }
    return r;
}

static int deepest_first(const void *a, const void *b)
{
    const char *const *left = a;
    const char *const *right = b;

    return strcmp(*right, *left);
}

/* Each folder on the way to a path, but for the first one, which is a root of Hermes'. */
static int add_folders(char ***folders, size_t *count, size_t *room, const char *path)
{
    const char *at = strchr(path, '/');

    while (at && (at = strchr(at + 1, '/'))) {
        if (*count == *room) {
            size_t more = *room ? *room * 2 : 64;
            char **longer = realloc(*folders, more * sizeof(*longer));

            if (!longer)
                return HE2B_ERR_NOMEM;
            *folders = longer;
            *room = more;
        }
        (*folders)[*count] = strndup(path, (size_t)(at - path));
        if (!(*folders)[*count])
            return HE2B_ERR_NOMEM;
        (*count)++;
    }
    return HE2B_OK;
}

/* Sorted, without repeats; what is dropped is freed. */
static size_t unique(char **words, size_t count)
{
    size_t kept = 0;
    size_t i;

    qsort(words, count, sizeof(*words), deepest_first);
    for (i = 0; i < count; i++) {
        if (kept && strcmp(words[kept - 1], words[i]) == 0)
            free(words[i]);
        else
            words[kept++] = words[i];
    }
    return kept;
}

int he2b_transfer_removals(struct he2b_buf *ret, char *const *paths, size_t count)
{
    char **folders = NULL;
    size_t room = 0;
    size_t n = 0;
    size_t i;
    int r = add_calls(ret, "x", paths, count);

    for (i = 0; i < count && r == HE2B_OK; i++)
        r = add_folders(&folders, &n, &room, paths[i]);
    if (n)
        n = unique(folders, n);
    if (r == HE2B_OK)
        r = add_calls(ret, "e", folders, n);
    for (i = 0; i < n; i++)
        free(folders[i]);
    free(folders);
    return r;
}
