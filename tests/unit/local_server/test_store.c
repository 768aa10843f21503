/* The state folder. Each test has one of its own. */
#include "local/store.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct box {
    char path[64];
    struct store store;
    char why[STORE_WHY_MAX];
};

static void remove_tree(const char *path)
{
    char command[128];

    /* a path that mkdtemp() made */
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    assert_int_equal(system(command), 0);
}

static int make_box(void **state)
{
    struct box *box = calloc(1, sizeof *box);
    char top[] = "/tmp/he2b-store-XXXXXX";

    assert_non_null(box);
    assert_non_null(mkdtemp(top));
    snprintf(box->path, sizeof box->path, "%s/a/b", top);
    assert_int_equal(store_open(&box->store, box->path, box->why), STORE_OK);
    *state = box;
    return 0;
}

static int drop_box(void **state)
{
    struct box *box = *state;

    store_close(&box->store);
    box->path[strlen(box->path) - 4] = '\0';
    remove_tree(box->path);
    free(box);
    return 0;
}

static void reopen(struct box *box)
{
    store_close(&box->store);
    assert_int_equal(store_open(&box->store, box->path, box->why), STORE_OK);
}

static void test_keys_stay_and_are_private(void **state)
{
    struct box *box = *state;
    char key[sizeof box->store.key];
    unsigned char secret[CREDENTIAL_SECRET_SIZE];
    struct stat st;

    memcpy(key, box->store.key, sizeof key);
    memcpy(secret, box->store.secret, sizeof secret);
    assert_int_equal(fstat(box->store.fd, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(fstatat(box->store.fd, "key", &st, 0), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(fstatat(box->store.fd, "secret", &st, 0), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    reopen(box);
    assert_string_equal(box->store.key, key);
    assert_memory_equal(box->store.secret, secret, sizeof secret);
}

static void test_one_server_at_a_time(void **state)
{
    struct box *box = *state;
    struct store second;

    assert_int_equal(store_open(&second, box->path, box->why), STORE_IN_USE);
    assert_non_null(strstr(box->why, "--state"));
    store_close(&second);
    reopen(box);
}

static void test_a_broken_key_file_is_refused(void **state)
{
    struct box *box = *state;
    int fd = openat(box->store.fd, "key", O_WRONLY | O_TRUNC);

    assert_true(fd >= 0);
    close(fd);
    store_close(&box->store);
    assert_int_equal(store_open(&box->store, box->path, box->why), STORE_FAILED);
    assert_non_null(strstr(box->why, box->path));
}

static void test_peek_tells_only_of_a_running_server(void **state)
{
    struct box *box = *state;
    char key[CREDENTIAL_KEY_LEN + 1];
    char address[STORE_ADDRESS_MAX];

    assert_int_equal(store_peek(box->path, key, address, box->why), -1);
    assert_int_equal(store_set_address(&box->store, "http://127.0.0.1:4242", box->why), 0);
    assert_int_equal(store_peek(box->path, key, address, box->why), 0);
    assert_string_equal(address, "http://127.0.0.1:4242");
    assert_string_equal(key, box->store.key);
    /* killed: its address stays, its lock does not */
    store_close(&box->store);
    assert_int_equal(store_peek(box->path, key, address, box->why), -1);
    assert_int_equal(store_peek("/nonexistent", key, address, box->why), -1);
    assert_int_equal(store_open(&box->store, box->path, box->why), STORE_OK);
}

static void test_another_base_is_refused(void **state)
{
    struct box *box = *state;

    assert_int_equal(store_check_base(&box->store, 100000, box->why), 0);
    assert_int_equal(store_check_base(&box->store, 100000, box->why), 0);
    assert_int_equal(store_check_base(&box->store, 0, box->why), -1);
    assert_non_null(strstr(box->why, "100000"));
}

static void collect(void *user, const char *id, const he2b_json *record)
{
    char *out = user;

    strcat(out, id);
    strcat(out, "=");
    strcat(out, he2b_json_get_string(record, "v"));
    strcat(out, ";");
}

static void write_record(struct box *box, const char *id, const char *value)
{
    he2b_json *record = he2b_json_new_object();

    assert_int_equal(he2b_json_add_string(record, "v", value), 0);
    assert_int_equal(store_write(&box->store, id, record, box->why), 0);
    he2b_json_del(record);
}

static void write_file(int folder_fd, const char *name, const char *text)
{
    int fd = openat(folder_fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static void test_records(void **state)
{
    struct box *box = *state;
    char seen[256] = "";

    write_record(box, "iabc", "one");
    write_record(box, "iabc", "two");
    reopen(box);
    store_each(&box->store, collect, seen);
    assert_string_equal(seen, "iabc=two;");
    store_remove(&box->store, "iabc");
    seen[0] = '\0';
    store_each(&box->store, collect, seen);
    assert_string_equal(seen, "");
}

/* A record that a dying server left half, and names that are none of ours, are passed over. */
static void test_foreign_files_among_the_records(void **state)
{
    struct box *box = *state;
    char seen[256] = "";

    write_record(box, "iabc", "one");
    write_file(box->store.records_fd, "ibroken.json", "{\"v\":");
    write_file(box->store.records_fd, "iempty.json", "");
    write_file(box->store.records_fd, ".iabc.json.new", "{\"v\":\"half\"}");
    write_file(box->store.records_fd, "notes.txt", "{\"v\":\"x\"}");
    write_file(box->store.records_fd, "a-b.json", "{\"v\":\"x\"}");
    store_each(&box->store, collect, seen);
    assert_string_equal(seen, "iabc=one;");
}

static void add_name(void *user, const char *name)
{
    strcat(user, name);
    strcat(user, ";");
}

static void test_folders_without_a_record_are_strays(void **state)
{
    struct box *box = *state;
    char seen[256] = "";
    char name[64];

    assert_int_equal(mkdirat(box->store.folders_fd, "iabc", 0700), 0);
    assert_int_equal(mkdirat(box->store.folders_fd, "ilost", 0700), 0);
    write_record(box, "iabc", "one");
    store_each_stray(&box->store, add_name, seen);
    assert_string_equal(seen, "ilost;");
    assert_int_equal(store_retire_folder(&box->store, "iabc", name), 0);
    assert_true(store_open_folder(&box->store, "iabc") < 0);
    assert_int_equal(unlinkat(box->store.folders_fd, "ilost", AT_REMOVEDIR), 0);
    seen[0] = '\0';
    store_each_stray(&box->store, add_name, seen);
    assert_int_equal(strncmp(seen, name, strlen(name)), 0);
    assert_int_equal(store_retire_folder(&box->store, "inever", name), 0);
    assert_string_equal(name, "");
}

/* A broken record may be mended by hand: its folder is no stray. */
static void test_a_folder_with_a_broken_record_is_left_alone(void **state)
{
    struct box *box = *state;
    char seen[256] = "";

    assert_int_equal(mkdirat(box->store.folders_fd, "ibroken", 0700), 0);
    write_file(box->store.records_fd, "ibroken.json", "{");
    store_each_stray(&box->store, add_name, seen);
    assert_string_equal(seen, "");
}

/* The folder's name must not lead elsewhere. */
static void test_a_link_is_no_folder(void **state)
{
    struct box *box = *state;

    assert_int_equal(symlinkat("/etc", box->store.folders_fd, "ilink"), 0);
    assert_true(store_open_folder(&box->store, "ilink") < 0);
}

/* However long the state folder's path is: a socket's name holds 107 bytes. */
static void test_sockets(void **state)
{
    struct box *box = *state;
    int listening = store_listen(&box->store, "iabc");
    int again;
    int client;
    int server;

    assert_true(listening >= 0);
    client = store_connect(&box->store, "iabc");
    assert_true(client >= 0);
    server = accept(listening, NULL, NULL);
    assert_true(server >= 0);
    close(server);
    close(client);
    close(listening);
    assert_true(store_connect(&box->store, "iabc") < 0);
    /* the name that a dead server left is taken over */
    again = store_listen(&box->store, "iabc");
    assert_true(again >= 0);
    close(again);
    store_forget_socket(&box->store, "iabc");
    assert_true(store_connect(&box->store, "iabc") < 0);
    assert_int_equal(errno, ENOENT);
}

#define IN_BOX(test) cmocka_unit_test_setup_teardown(test, make_box, drop_box)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_BOX(test_keys_stay_and_are_private),
        IN_BOX(test_one_server_at_a_time),
        IN_BOX(test_a_broken_key_file_is_refused),
        IN_BOX(test_peek_tells_only_of_a_running_server),
        IN_BOX(test_another_base_is_refused),
        IN_BOX(test_records),
        IN_BOX(test_foreign_files_among_the_records),
        IN_BOX(test_folders_without_a_record_are_strays),
        IN_BOX(test_a_folder_with_a_broken_record_is_left_alone),
        IN_BOX(test_a_link_is_no_folder),
        IN_BOX(test_sockets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
