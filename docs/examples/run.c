/*
 * Runs one command in a new E2B sandbox, prints its output and kills the sandbox.
 *
 *   cc run.c $(pkg-config --cflags --libs hermes-e2b) -pthread && E2B_API_KEY=... ./a.out 'uname -a'
 */
#include <he2b.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct run {
    he2b_loop *loop;
    he2b_session *session;
    int exit_code;
};

static void closed(void *user, const he2b_failure *failure)
{
    struct run *run = user;

    if (failure)
        fprintf(stderr, "%s\n", he2b_failure_text(failure));
    he2b_loop_stop(run->loop);
}

static void ended(void *user, const he2b_result *result)
{
    struct run *run = user;

    run->exit_code = he2b_result_exit_code(result);
    if (he2b_result_failure(result))
        fprintf(stderr, "%s\n", he2b_failure_text(he2b_result_failure(result)));
    if (he2b_session_close(run->session, closed, run) != HE2B_OK)
        he2b_loop_stop(run->loop);
}

/* The output has a thread of its own, so that a slow terminal never stops the loop. */
static void *print(void *arg)
{
    int fd = *(int *)arg;
    char buffer[65536];
    ssize_t n;

    while ((n = read(fd, buffer, sizeof(buffer))) > 0)
        fwrite(buffer, 1, (size_t)n, stdout);
    close(fd);
    return NULL;
}

int main(int argc, char **argv)
{
    struct run run = {.exit_code = 125};
    he2b_options *options = NULL;
    he2b_command *command = NULL;
    pthread_t printer;
    int pipe_fds[2];
    int error;

    if (argc != 2) {
        fprintf(stderr, "usage: run COMMAND\n");
        return 2;
    }
    if (pipe(pipe_fds) != 0 || pthread_create(&printer, NULL, print, &pipe_fds[0]) != 0)
        return 125;
    if ((error = he2b_options_new(&options, NULL, NULL)) != HE2B_OK ||
        (error = he2b_options_from_environment(options)) != HE2B_OK ||
        (error = he2b_loop_new(&run.loop)) != HE2B_OK ||
        (error = he2b_session_new(&run.session, run.loop, options, NULL, NULL)) != HE2B_OK ||
        (error = he2b_command_new(&command, run.session)) != HE2B_OK ||
        (error = he2b_command_set_text(command, argv[1], strlen(argv[1]))) != HE2B_OK ||
        (error = he2b_command_set_output(command, pipe_fds[1])) != HE2B_OK) {
        close(pipe_fds[1]);
        fprintf(stderr, "%s\n", he2b_strerror(error));
    } else if ((error = he2b_command_start(command, ended, &run)) != HE2B_OK) {
        fprintf(stderr, "%s\n", he2b_strerror(error));
    } else {
        he2b_loop_run(run.loop);
    }
    he2b_command_del(command);
    he2b_session_del(run.session);
    he2b_loop_del(run.loop);
    he2b_options_del(options);
    pthread_join(printer, NULL);
    return run.exit_code;
}
