/*
 * launch.h: the folder of a sandbox, made for its ids, kept over a restart, deleted whatever a
 * sandbox has done in it.
 */
#include "launch_box.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct launch_spec no_network = {.internet = false};

static void folder_belongs_to_the_base_id(void **state)
{
    struct box *box = box_need(state);
    struct stat st;
    uid_t expected = box_abilities()->many_ids ? launch_base_id() : geteuid();
    assert_int_equal(fstatat(box->parent_fd, box->name, &st, AT_SYMLINK_NOFOLLOW), 0);
    assert_int_equal(st.st_uid, expected);
    assert_int_equal(st.st_mode & 07777, 0700);
    if (box_abilities()->many_ids)
        assert_true(launch_base_id() >= 65536);
    else
        assert_int_equal(launch_base_id(), 0);
}

static void ownership_survives_a_restart(void **state)
{
    struct box *box = box_need(state);
    if (!box_abilities()->many_ids)
        box_skip(box_abilities()->many_ids_why);
    box_start(box, &no_network);
    assert_int_equal(box_ask(box, "1000:echo mine >/home/user/mine"), 0);
    assert_int_equal(box_ask(box, "0:echo secret >/root/secret; cd /home/user; echo x >other; "
                                  "chown 65534:65535 other"),
                     0);
    box_stop(box);
    box_start(box, &no_network);
    assert_int_equal(box_ask(box, "0:stat -c '%u:%g %n' /home/user /home/user/mine "
                                  "/home/user/other /root/secret; cat /root/secret"),
                     0);
    assert_string_equal(box->text, "1000:1000 /home/user\n1000:1000 /home/user/mine\n"
                                   "65534:65535 /home/user/other\n0:0 /root/secret\nsecret\n");
}

static void there_already_is_an_error_and_harms_nothing(void **state)
{
    struct box *box = box_need(state);
    char why[512] = "";
    box_start(box, &no_network);
    assert_int_equal(box_ask(box, "1000:echo kept >kept"), 0);
    assert_int_equal(launch_make_folder(box->parent_fd, box->name, why, sizeof why), -1);
    assert_string_equal(why, "cannot make the folder \"box\": File exists");
    assert_int_equal(box_ask(box, "1000:cat kept"), 0);
    assert_string_equal(box->text, "kept\n");
}

static void missing_folder_is_deleted_already(void **state)
{
    struct box *box = box_need(state);
    char why[512] = "";
    assert_int_equal(launch_delete_folder(box->parent_fd, "nothing", why, sizeof why), 0);
    assert_string_equal(why, "");
}

/* Everything that makes "rm -rf" stumble; teardown's rmdir of the parent shows that all is gone. */
static void delete_leaves_nothing(void **state)
{
    struct box *box = box_need(state);
    char canary[96];
    char script[1024];
    snprintf(canary, sizeof canary, "%s/canary", box->parent);
    FILE *file = fopen(canary, "we");
    assert_non_null(file);
    fputs("alive", file);
    fclose(file);
    box_start(box, &no_network);
    assert_int_equal(box_ask(box, "1000!nest 3000"), 0);
    snprintf(script, sizeof script,
             "1000:ln -s %s link; ln -s %s dirlink; ln -s / root; mkfifo fifo; "
             "mkdir -p closed/a/b; echo x >closed/a/b/c; chmod 000 closed/a/b closed/a closed; "
             "mkdir sticky; chmod 1777 sticky; mkdir sticky/in; echo x >sticky/in/file; "
             "mkdir \"$(printf 'line\\nbreak')\"; echo x >\"$(printf 'line\\nbreak')/-rf\"; "
             "echo x >\"$(printf 'bad\\377utf')\"; mkdir -p lifted-0/lifted-1 lifted-1/lifted-0/x; "
             "seq 1 3000 | xargs touch",
             canary, box->parent);
    assert_int_equal(box_ask(box, script), 0);
    if (box_abilities()->many_ids)
        assert_int_equal(box_ask(box, "0:mkdir -p /root/a/b; chown -R 12345:54321 /root/a; "
                                      "chmod 000 /root/a; echo x >sticky/roots; "
                                      "cp /usr/bin/env setuid; chmod 6755 setuid"),
                         0);
    box_stop(box);
    char why[512] = "";
    if (launch_delete_folder(box->parent_fd, box->name, why, sizeof why) < 0)
        fail_msg("%s", why);
    struct stat st;
    assert_int_equal(fstatat(box->parent_fd, box->name, &st, AT_SYMLINK_NOFOLLOW), -1);
    assert_int_equal(errno, ENOENT);
    char text[16] = "";
    file = fopen(canary, "re");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "alive");
    unlink(canary);
}

static void a_link_in_place_of_the_folder_is_refused(void **state)
{
    struct box *box = box_need(state);
    char why[512] = "";
    assert_int_equal(symlinkat(box->name, box->parent_fd, "link"), 0);
    assert_int_equal(launch_delete_folder(box->parent_fd, "link", why, sizeof why), -1);
    assert_non_null(strstr(why, "cannot open the folder \"link\""));
    unlinkat(box->parent_fd, "link", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_BOX(folder_belongs_to_the_base_id),
        IN_BOX(ownership_survives_a_restart),
        IN_BOX(there_already_is_an_error_and_harms_nothing),
        IN_BOX(missing_folder_is_deleted_already),
        IN_BOX(delete_leaves_nothing),
        IN_BOX(a_link_in_place_of_the_folder_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
