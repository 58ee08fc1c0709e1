/* The command line's client against real servers: answers, errors as exit codes, the next server
 * when one is gone or not ready, streams, time-outs and Ctrl-C. */
#include "bbs/cli/commands_io.h"
#include "bbs/cli/session_io.h"
#include "common/cli/cli_io.h"
#include "common/cli/client_io.h"
#include "common/shell/host_io.h"
#include "models/actual_lrp_requests.pb-c.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "models/domain.pb-c.h"
#include "test/tool/certs.h"
#include "test/tool/cmocka.h"
#include "test/tool/echo_role.h"
#include "test/tool/patience.h"
#include "test/tool/tls_client.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct certs certs;
static struct tls_files client_files;
static char url[64];
static pid_t server;

static void run_server(const struct tls_files *files, int log)
{
    struct host_config config = {.name = "echo", .listen = "127.0.0.1:0", .tls = *files};
    struct err err;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(log, STDERR_FILENO);
    struct role *role = echo_new();
    int r = host_run(role, &config, &err);
    role_free(role);
    _exit(r < 0 ? 100 : r);
}

static int start_server(void **state)
{
    char log[96];
    certs_init(&certs);
    struct tls_files files = certs_make(&certs, "server", "bbs", "server", 3600);
    client_files = certs_make(&certs, "client", "", "client", 3600);
    snprintf(log, sizeof(log), "%s/log-XXXXXX", certs.dir);
    int fd = mkstemp(log);
    server = fork();
    if (server == 0) {
        run_server(&files, fd);
    }
    close(fd);
    int port = patience_port_in_log(log, "\"listens\"");
    snprintf(url, sizeof(url), "https://127.0.0.1:%d", port);
    return port ? 0 : -1;
}

static int stop_server(void **state)
{
    int status = 0;
    kill(server, SIGKILL);
    waitpid(server, &status, 0);
    bool ran_until_now = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    certs_done(&certs);
    return ran_until_now ? 0 : -1;
}

struct fixture {
    struct arena arena;
    struct invocation call;
    struct cli_client *client;
    struct err err;
};

static int nothing(const struct invocation *call, struct err *err)
{
    return 0;
}

static const struct cli_option *const tables[] = {cli_tls_options, NULL};
static const struct cli_command commands[] = {{"x", "", "", NULL, tables, 0, 0, nothing}, {0}};
static const struct cli_program program = {"test", "", commands};

static int open_with(struct fixture *f, const struct tls_files *files, const char *urls,
                     int64_t limit_ms)
{
    char *argv[] = {
        arena_strdup(&f->arena, "test"),
        arena_strdup(&f->arena, "x"),
        arena_printf(&f->arena, "--ca-cert-file=%s", files->ca),
        arena_printf(&f->arena, "--client-cert-file=%s", files->cert),
        arena_printf(&f->arena, "--client-key-file=%s", files->key),
    };
    assert_int_equal(cli_parse(&f->arena, &program, 5, argv, &f->call, &f->err), 0);
    int r = cli_client_open(&f->call, urls, &f->client, &f->err);
    if (r == 0) {
        cli_client_limit(f->client, limit_ms);
    }
    return r;
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    arena_init(&f->arena);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    cli_client_close(f->client);
    arena_done(&f->arena);
    free(f);
    return 0;
}

static int ask(struct fixture *f, const char *path, const ProtobufCMessage *m,
               ProtobufCMessage **ret_answer)
{
    return cli_client_call(f->client, &f->arena, path, m,
                           m ? m->descriptor : &models__domains_response__descriptor, ret_answer,
                           &f->err);
}

/* The code of a call that ends by its time limit only (`limited`), after as many answers as there is
 * time for: with the shortest limit that is long enough for one. */
static int ask_within(struct fixture *f, const char *path, const ProtobufCMessage *m, bool limited)
{
    ProtobufCMessage *answer = NULL;
    int r;
    int64_t limit_ms = limited ? 1000 : PATIENCE_MS;
    do {
        cli_client_limit(f->client, limit_ms);
        r = ask(f, path, m, &answer);
        limit_ms *= 2;
    } while (r == -ERR_TIMEOUT && limit_ms <= PATIENCE_MS);
    return r;
}

static void answers_are_decoded(void **state)
{
    struct fixture *f = *state;
    char *domains[] = {(char[]){"a"}, (char[]){"b"}};
    Models__DomainsResponse m = MODELS__DOMAINS_RESPONSE__INIT;
    ProtobufCMessage *answer = NULL;
    m.n_domains = 2;
    m.domains = domains;
    assert_int_equal(open_with(f, &client_files, url, PATIENCE_MS), 0);
    for (int i = 0; i < 3; i++) { /* over one connection */
        assert_int_equal(ask(f, "/echo", &m.base, &answer), 0);
        assert_int_equal(((Models__DomainsResponse *)answer)->n_domains, 2);
    }
    assert_int_equal(ask(f, "/list?100", NULL, &answer), -ERR_INVALID); /* not a message */
}

static void errors_in_answers_become_ours(void **state)
{
    struct fixture *f = *state;
    static const struct {
        Models__Error__Type type;
        int code, exit;
    } rows[] = {
        {MODELS__ERROR__TYPE__ResourceNotFound, ERR_NOT_FOUND, CLI_NOT_FOUND},
        {MODELS__ERROR__TYPE__ResourceExists, ERR_EXISTS, CLI_CONFLICT},
        {MODELS__ERROR__TYPE__ResourceConflict, ERR_CONFLICT, CLI_CONFLICT},
        {MODELS__ERROR__TYPE__InvalidRequest, ERR_INVALID, CLI_USAGE},
        {MODELS__ERROR__TYPE__UnknownError, ERR_IO, CLI_FAILED},
    };
    assert_int_equal(open_with(f, &client_files, url, PATIENCE_MS), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        Models__Error e = MODELS__ERROR__INIT;
        Models__DesiredLRPLifecycleResponse m = MODELS__DESIRED_LRPLIFECYCLE_RESPONSE__INIT;
        ProtobufCMessage *answer = NULL;
        e.type = rows[i].type;
        e.message = (char[]){"it is so"};
        m.error = &e;
        assert_int_equal(ask(f, "/echo", &m.base, &answer), -rows[i].code);
        assert_string_equal(f->err.text, "it is so");
        assert_int_equal(cli_exit_of(f->err.code), rows[i].exit);
        assert_null(answer);
    }
}

static void statuses_become_errors(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *path;
        int code;
    } rows[] = {{"/status?403", ERR_DENIED},
                {"/status?404", ERR_IO}, /* "not found" is said of processes, not of servers */
                {"/status?500", ERR_IO},
                {"/status?503", ERR_UNAVAILABLE}};
    assert_int_equal(open_with(f, &client_files, url, PATIENCE_MS), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool limited = rows[i].code == ERR_UNAVAILABLE;
        assert_int_equal(ask_within(f, rows[i].path, NULL, limited), -rows[i].code);
    }
}

/* Diego's paths say why in the error of a message; what is none is no reason to fail otherwise. */
static void a_refusal_is_read_from_a_message(void **state)
{
    struct fixture *f = *state;
    ProtobufCMessage *answer = NULL;
    Models__Error error = MODELS__ERROR__INIT;
    Models__ActualLRPLifecycleResponse response = MODELS__ACTUAL_LRPLIFECYCLE_RESPONSE__INIT;
    response.error = &error;
    error.message = (char *)(uintptr_t) "it is for OU client\nsecond line";
    assert_int_equal(open_with(f, &client_files, url, PATIENCE_MS), 0);
    assert_int_equal(ask(f, "/denied", &response.base, &answer), -ERR_DENIED);
    assert_non_null(strstr(f->err.text, "denies it: it is for OU client"));
    assert_null(strstr(f->err.text, "second"));
    response.error = NULL;
    assert_int_equal(ask(f, "/denied", &response.base, &answer), -ERR_DENIED);
    assert_non_null(strstr(f->err.text, "denies it: it does not say why"));
    Models__Error no_response = MODELS__ERROR__INIT; /* its field 1 is a number */
    no_response.type = MODELS__ERROR__TYPE__InvalidRequest;
    assert_int_equal(ask(f, "/denied", &no_response.base, &answer), -ERR_DENIED);
    assert_non_null(strstr(f->err.text, "denies it: it does not say why"));
}

/* A server that hangs up on each connection at once, and counts them in the file `count_fd`. */
static pid_t hangs_up(int *ret_port, int count_fd)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    *ret_port = ntohs(at.sin_port);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int peer; (peer = accept(fd, NULL, NULL)) >= 0; close(peer)) {
            if (write(count_fd, ".", 1) != 1) {
                _exit(1);
            }
        }
        _exit(0);
    }
    close(fd);
    return pid;
}

static void the_next_server_is_asked(void **state)
{
    struct fixture *f = *state;
    ProtobufCMessage *answer = NULL;
    int port, count_fd = memfd_create("connections", MFD_CLOEXEC);
    pid_t pid = hangs_up(&port, count_fd);
    const char *urls =
        arena_printf(&f->arena, "https://127.0.0.1:%d,,https://localhost:1/,%s/", port, url);
    assert_int_equal(open_with(f, &client_files, urls, PATIENCE_MS), 0);
    assert_int_equal(ask(f, "/echo", NULL, &answer), 0);
    off_t asked = lseek(count_fd, 0, SEEK_END);
    assert_true(asked > 0);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(ask(f, "/echo", NULL, &answer), 0); /* and stays with it */
    }
    assert_int_equal(lseek(count_fd, 0, SEEK_END), asked);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(count_fd);
}

/* A call that was sent may have been done; one that found nobody, or was refused, was not. */
static void a_lost_answer_is_reported(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *path;
        int64_t limit_ms;
        int code;
        bool may_have_done;
    } rows[] = {
        {"/echo", 30000, 0, false},
        {"/short?100", 30000, -ERR_UNAVAILABLE, true}, /* the connection breaks in the answer */
        {"/status?503", 30000, -ERR_UNAVAILABLE, false},
        {"/unsure", 30000, -ERR_UNAVAILABLE, true}, /* 503 again, but it says so */
        {"/echo", 30000, 0, false}, /* of the last call only */
        {"/never", 500, -ERR_TIMEOUT, true}, /* over the connection of the one before */
    };
    ProtobufCMessage *answer = NULL;
    assert_int_equal(open_with(f, &client_files, url, 0), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cli_client_limit(f->client, rows[i].limit_ms);
        assert_int_equal(ask(f, rows[i].path, NULL, &answer), rows[i].code);
        assert_int_equal(cli_client_may_have_done(f->client), rows[i].may_have_done);
    }
    cli_client_close(f->client);
    f->client = NULL;
    assert_int_equal(open_with(f, &client_files, "https://127.0.0.1:1", 500), 0);
    assert_int_equal(ask(f, "/echo", NULL, &answer), -ERR_UNAVAILABLE);
    assert_false(cli_client_may_have_done(f->client));
}

/* What a bbs has to say of a 503 is the way out: none of it gives way to which servers were tried. */
static void the_reason_of_a_503_is_reported_whole(void **state)
{
    struct fixture *f = *state;
    Models__ActualLRPsRequest posted = MODELS__ACTUAL_LRPS_REQUEST__INIT;
    const char *two = arena_printf(&f->arena, "%s,%s", url, url);
    for (int i = 0; i < 4; i++) {
        bool several = i & 1, get = i & 2;
        assert_int_equal(open_with(f, &client_files, several ? two : url, PATIENCE_MS), 0);
        assert_int_equal(ask_within(f, "/lost", get ? NULL : &posted.base, true), -ERR_UNAVAILABLE);
        assert_non_null(strstr(f->err.text, ECHO_LOST));
        assert_int_equal(strstr(f->err.text, "; tried: ") != NULL, several);
        cli_client_close(f->client);
        f->client = NULL;
    }
}

/* In JSON the message says it, which is all that people are told. */
static void a_503_in_json_says_whether_it_was_done(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *body, *text;
        bool may_have_done;
    } rows[] = {
        {"{\"code\":\"UNAVAILABLE\",\"message\":\"not done: it begins\"}",
         ": not done: it begins", false},
        {"{\"code\":\"UNAVAILABLE\",\"message\":\"no answer in time\"}", ": no answer in time",
         true},
        {"no JSON", ": no JSON", true},
        {"not done: no JSON", ": not done: no JSON", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bytes answer;
        int64_t limit_ms = 500; /* as of ask_within() */
        int r;
        assert_int_equal(open_with(f, &client_files, url, PATIENCE_MS), 0);
        do {
            cli_client_limit(f->client, limit_ms);
            r = cli_client_rest(f->client, &f->arena, "POST", "/answer?503", bytes_of(rows[i].body),
                                &answer, &f->err);
            limit_ms *= 2;
        } while (r == -ERR_TIMEOUT && limit_ms <= PATIENCE_MS);
        assert_int_equal(r, -ERR_UNAVAILABLE);
        assert_non_null(strstr(f->err.text, rows[i].text));
        assert_null(strstr(f->err.text, "UNAVAILABLE"));
        assert_int_equal(cli_client_may_have_done(f->client), rows[i].may_have_done);
        cli_client_close(f->client);
        f->client = NULL;
    }
}

static void nobody_there_ends_in_time(void **state)
{
    struct fixture *f = *state;
    ProtobufCMessage *answer = NULL;
    assert_int_equal(open_with(f, &client_files, "https://127.0.0.1:1", 500), 0);
    assert_int_equal(ask(f, "/echo", NULL, &answer), -ERR_UNAVAILABLE);
    assert_non_null(strstr(f->err.text, "https://127.0.0.1:1 does not answer"));
    assert_null(strstr(f->err.text, "tried"));
    cli_client_close(f->client);
    f->client = NULL;
    /* Of several each that was tried is told, as far as there is room. */
    assert_int_equal(open_with(f, &client_files, "https://127.0.0.1:1,https://127.0.0.1:2", 500), 0);
    assert_int_equal(ask(f, "/echo", NULL, &answer), -ERR_UNAVAILABLE);
    assert_non_null(strstr(f->err.text, "; tried: https://127.0.0.1:1, https://127.0.0.1:2"));
    cli_client_close(f->client);
    f->client = NULL;
    const char *many = "https://127.0.0.1:1";
    for (int i = 2; i <= CLIENT_URLS_MAX; i++) {
        many = arena_printf(&f->arena, "%s,https://127.0.0.1:%d", many, i);
    }
    assert_int_equal(open_with(f, &client_files, many, 500), 0);
    assert_int_equal(ask(f, "/echo", NULL, &answer), -ERR_UNAVAILABLE);
    assert_non_null(strstr(f->err.text, ", https://127.0.0.1:5, and more"));
    cli_client_close(f->client);
    f->client = NULL;
    assert_int_equal(open_with(f, &client_files, url, PATIENCE_MS), 0);
    assert_int_equal(ask(f, "/echo", NULL, &answer), 0); /* it is connected */
    int64_t begun_ms = cli_now_ms();
    cli_client_limit(f->client, 700);
    assert_int_equal(ask(f, "/never", NULL, &answer), -ERR_TIMEOUT);
    assert_true(cli_now_ms() - begun_ms >= 500);
}

static int takes_nothing(void *owner, struct bytes bytes)
{
    return 0;
}

/* A listener that accepts and says nothing, not even of TLS. */
static int mute_listener(struct arena *a, const char **ret_url)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    *ret_url = arena_printf(a, "https://127.0.0.1:%d", ntohs(at.sin_port));
    return fd;
}

/* A stream whose answer does not begin ends by the limit, and not after the silence that is allowed
 * within it; so does one that never gets as far as to ask. */
static void a_stream_begins_in_time(void **state)
{
    struct fixture *f = *state;
    const char *mute;
    int fd = mute_listener(&f->arena, &mute);
    const char *const urls[] = {url, mute};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(open_with(f, &client_files, urls[i], 500), 0);
        int64_t begun_ms = cli_now_ms();
        alarm(120); /* instead of for ever */
        int r = cli_client_get_stream(f->client, "/never", INT32_MAX, takes_nothing, NULL, &f->err);
        alarm(0);
        assert_true(r == -ERR_TIMEOUT || (r == -ERR_UNAVAILABLE && i == 1));
        assert_true(cli_now_ms() - begun_ms >= 500);
        cli_client_close(f->client);
        f->client = NULL;
    }
    close(fd);
}

/* One that says nothing leaves time for the next, however little there is. */
static void the_time_is_for_all_servers(void **state)
{
    struct fixture *f = *state;
    const char *mute;
    ProtobufCMessage *answer = NULL;
    int fd = mute_listener(&f->arena, &mute);
    const char *both = arena_printf(&f->arena, "%s/never?,%s", url, url);
    const char *and_mute = arena_printf(&f->arena, "%s,%s", mute, url);
    const char *const lists[] = {both, and_mute};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(open_with(f, &client_files, lists[i], CLIENT_ATTEMPT_MS - 1000), 0);
        assert_int_equal(ask(f, "/echo", NULL, &answer), 0);
        cli_client_close(f->client);
        f->client = NULL;
    }
    /* When none says anything, all are named: the last is no worse than the others. */
    const char *mutes = arena_printf(&f->arena, "%s,%s", mute, mute);
    assert_int_equal(open_with(f, &client_files, mutes, 600), 0);
    assert_int_equal(ask(f, "/echo", NULL, &answer), -ERR_TIMEOUT);
    assert_non_null(strstr(f->err.text, arena_printf(&f->arena, "; tried: %s, %s", mute, mute)));
    cli_client_close(f->client);
    f->client = NULL;
    assert_int_equal(open_with(f, &client_files, mute, 300), 0);
    assert_int_equal(ask(f, "/echo", NULL, &answer), -ERR_TIMEOUT);
    assert_null(strstr(f->err.text, "tried"));
    cli_client_close(f->client);
    f->client = NULL;
    close(fd);
}

static void *stop_soon(void *stop)
{
    cli_sleep_ms(300);
    atomic_store((atomic_bool *)stop, true);
    return NULL;
}

/* What a thread waits for is ended by another one. */
static void a_call_can_be_stopped(void **state)
{
    struct fixture *f = *state;
    atomic_bool stop = false;
    pthread_t other;
    assert_int_equal(open_with(f, &client_files, url, -1), 0);
    cli_client_stop(f->client, &stop);
    assert_int_equal(pthread_create(&other, NULL, stop_soon, &stop), 0);
    alarm(120);
    assert_int_equal(
        cli_client_get_stream(f->client, "/never", INT32_MAX, takes_nothing, NULL, &f->err),
        -ERR_TIMEOUT);
    alarm(0);
    assert_int_equal(pthread_join(other, NULL), 0);
}

/* The hour of its --timeout is for the task, not for a bbs that says nothing. */
static void a_task_is_not_desired_for_an_hour(void **state)
{
    struct fixture *f = *state;
    static const struct cli_option *const options[] = {
        cli_bbs_options,     cli_tls_options,    bbs_run_options, bbs_job_options,
        bbs_secrets_options, bbs_output_options, NULL};
    static const struct cli_command run[] = {
        {"run", "FILE", "", NULL, options, 1, 1, bbs_run_run}, {0}};
    static const struct cli_program bbs = {"bbs", "", run};
    const char *file = arena_printf(&f->arena, "%s/task.yaml", certs.dir);
    FILE *to = fopen(file, "w");
    assert_non_null(to);
    fputs("name: t\nrootfs: preloaded:x\ncommand: x\n", to);
    fclose(to);
    char *argv[] = {
        arena_strdup(&f->arena, "bbs"),
        arena_strdup(&f->arena, "run"),
        arena_strdup(&f->arena, file),
        arena_printf(&f->arena, "--bbs-url=%s/never?", url), /* then the path is its query */
        arena_printf(&f->arena, "--ca-cert-file=%s", client_files.ca),
        arena_printf(&f->arena, "--client-cert-file=%s", client_files.cert),
        arena_printf(&f->arena, "--client-key-file=%s", client_files.key),
    };
    assert_int_equal(cli_parse(&f->arena, &bbs, 7, argv, &f->call, &f->err), 0);
    assert_int_equal(cli_complete(&f->call, (char *[]){NULL}, &f->err), 0);
    alarm(120); /* instead of the hour */
    assert_int_equal(bbs_run_run(&f->call, &f->err), -ERR_TIMEOUT);
    alarm(0);
    assert_non_null(strstr(f->err.text, "; it may run all the same: bbs task t-"));
}

/* A bbs that takes the question and says nothing is given no more time than there is. */
static void waiting_ends_in_time(void **state)
{
    struct fixture *f = *state;
    static const struct cli_option *const options[] = {
        cli_bbs_options, cli_tls_options, bbs_wait_options, bbs_output_options, NULL};
    static const struct cli_command waits[] = {{"x", "", "", NULL, options, 0, 0, nothing}, {0}};
    static const struct cli_program bbs = {"bbs", "", waits};
    struct session s;
    char *argv[] = {
        arena_strdup(&f->arena, "bbs"),
        arena_strdup(&f->arena, "x"),
        arena_strdup(&f->arena, "--timeout=1s"),
        arena_printf(&f->arena, "--bbs-url=%s/never?", url), /* then the path is its query */
        arena_printf(&f->arena, "--ca-cert-file=%s", client_files.ca),
        arena_printf(&f->arena, "--client-cert-file=%s", client_files.cert),
        arena_printf(&f->arena, "--client-key-file=%s", client_files.key),
    };
    assert_int_equal(cli_parse(&f->arena, &bbs, 7, argv, &f->call, &f->err), 0);
    assert_int_equal(cli_complete(&f->call, (char *[]){NULL}, &f->err), 0);
    assert_int_equal(session_open(&f->call, &s, &f->err), 0);
    int64_t begun_ms = cli_now_ms();
    assert_int_equal(session_wait(&s, "web", "web-1", 1, &f->err), -ERR_TIMEOUT);
    int64_t passed_ms = cli_now_ms() - begun_ms;
    assert_true(passed_ms >= 900);
    assert_true(passed_ms < 9000); /* the time that an answer has when there is enough */
    session_close(&s);
}

static bool refused_for_its_ca(const struct fixture *f)
{
    return strstr(f->err.text, "certificate") || strstr(f->err.text, "TLS connect error");
}

static void a_server_of_another_ca_is_refused(void **state)
{
    struct fixture *f = *state;
    struct certs other;
    ProtobufCMessage *answer = NULL;
    certs_init(&other);
    struct tls_files files = certs_make(&other, "client", "", "client", 3600);
    assert_int_equal(open_with(f, &files, url, PATIENCE_MS), 0);
    /* A limit that leaves time for a handshake. */
    for (int64_t limit_ms = 300; limit_ms <= PATIENCE_MS && !refused_for_its_ca(f); limit_ms *= 2) {
        cli_client_limit(f->client, limit_ms);
        int r = ask(f, "/echo", NULL, &answer);
        assert_true(r == -ERR_UNAVAILABLE || r == -ERR_TIMEOUT);
    }
    /* OpenSSL calls it a certificate problem or, as the two CAs have one name, a bad signature. */
    assert_true(refused_for_its_ca(f));
    certs_done(&other);
}

static void bad_settings_are_reported_at_once(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *urls, *text;
    } rows[] = {{"http://x", "\"http://x\" is not an https URL"},
                {"https://a,b", "\"b\" is not an https URL"},
                {"https://a:99999", "\"https://a:99999\" has no port from 1 to 65535"},
                {"https://a:0/x", "\"https://a:0/x\" has no port from 1 to 65535"},
                {"https://[::1]:,https://b", "\"https://[::1]:\" has no port from 1 to 65535"},
                {",", "no URL was given"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(open_with(f, &client_files, rows[i].urls, 0), -ERR_INVALID);
        assert_string_equal(f->err.text, rows[i].text);
    }
    struct tls_files files = client_files;
    files.key = "/nowhere/x.key";
    assert_int_equal(open_with(f, &files, url, 0), -ERR_INVALID);
    assert_string_equal(f->err.text, "cannot read /nowhere/x.key: No such file or directory "
                                     "(CLIENT_KEY_FILE, --client-key-file)");
    files.key = "/";
    assert_int_equal(open_with(f, &files, url, 0), -ERR_INVALID);
    assert_string_equal(f->err.text,
                        "cannot read /: Is a directory (CLIENT_KEY_FILE, --client-key-file)");
    cli_client_close(f->client);
    f->client = NULL;
    static const char good[] = "https://[::1],https://[::1]:65535/,https://a/b:x";
    assert_int_equal(open_with(f, &client_files, good, 0), 0);
}

/* The names of the files, and not the words of a library. */
static void a_key_of_another_certificate_is_refused(void **state)
{
    struct fixture *f = *state;
    struct tls_files files = client_files;
    struct bytes body;
    files.key = certs_make(&certs, "other", "", "other", 3600).key;
    assert_int_equal(open_with(f, &files, url, PATIENCE_MS), 0);
    assert_int_equal(cli_client_get(f->client, &f->arena, "/", &body, &f->err), -ERR_INVALID);
    assert_non_null(strstr(f->err.text, "are no certificate and its key (CLIENT_CERT_FILE, "));
}

struct taken {
    size_t bytes, limit;
};

static int take(void *owner, struct bytes bytes)
{
    struct taken *t = owner;
    t->bytes += bytes.size;
    return t->bytes > t->limit ? -ERR_CONFLICT : 0;
}

static void streams_are_handed_on(void **state)
{
    struct fixture *f = *state;
    Models__DomainsResponse m = MODELS__DOMAINS_RESPONSE__INIT;
    struct taken t = {.limit = 1 << 20};
    assert_int_equal(open_with(f, &client_files, url, PATIENCE_MS), 0);
    assert_int_equal(
        cli_client_stream(f->client, "/chunks?100000", &m.base, PATIENCE_MS, take, &t, &f->err), 0);
    assert_int_equal(t.bytes, 100000);
    /* The taker ends an endless one, and its code is the result. */
    t.bytes = 0;
    assert_int_equal(cli_client_stream(f->client, "/flood", &m.base, PATIENCE_MS, take, &t, &f->err),
                     -ERR_CONFLICT);
    /* Silence ends it. */
    int64_t begun_ms = cli_now_ms();
    assert_int_equal(cli_client_stream(f->client, "/stream", &m.base, 300, take, &t, &f->err),
                     -ERR_TIMEOUT);
    assert_true(cli_now_ms() - begun_ms >= 300);
    /* A refusal is an error, not a change. */
    t.bytes = 0;
    assert_int_equal(cli_client_stream(f->client, "/status?503", &m.base, PATIENCE_MS, take, &t, &f->err),
                     -ERR_UNAVAILABLE);
    assert_int_equal(t.bytes, 0);
}

/* How many requests the server has had, this one among them. */
static long requests(void)
{
    struct tls_client c;
    SCOPED_BUF(body);
    long n = -1;
    assert_true(client_open(&c, atoi(strrchr(url, ':') + 1), &client_files, 0));
    assert_int_equal(client_ask(&c, "GET", "/counts", "", 0, &body), 200);
    assert_int_equal(sscanf(buf_string(&body), "requests=%ld", &n), 1);
    client_close(&c);
    return n;
}

static void while_no_call_has_come(long before)
{
    long asked = 0;
    for (struct patience p = {0}; requests() == before + ++asked;) {
        assert_true(patience(&p));
    }
}

static void an_interrupt_ends_a_call(void **state)
{
    struct fixture *f = *state;
    long before = requests();
    pid_t child = fork();
    if (child == 0) {
        ProtobufCMessage *answer = NULL;
        int r = open_with(f, &client_files, url, PATIENCE_MS);
        r = r < 0 ? r : ask(f, "/never", NULL, &answer);
        _exit(r == -ERR_UNKNOWN && cli_interrupted() ? 42 : 1);
    }
    while_no_call_has_come(before);
    kill(child, SIGINT);
    int status = 0;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(answers_are_decoded),           TEST(errors_in_answers_become_ours),
        TEST(statuses_become_errors),        TEST(the_next_server_is_asked),
        TEST(a_refusal_is_read_from_a_message),
        TEST(a_lost_answer_is_reported),
        TEST(the_reason_of_a_503_is_reported_whole),
        TEST(a_503_in_json_says_whether_it_was_done),
        TEST(nobody_there_ends_in_time),     TEST(a_server_of_another_ca_is_refused),
        TEST(a_stream_begins_in_time),
        TEST(the_time_is_for_all_servers),
        TEST(a_call_can_be_stopped),
        TEST(a_key_of_another_certificate_is_refused),
        TEST(a_task_is_not_desired_for_an_hour),
        TEST(waiting_ends_in_time),
        TEST(bad_settings_are_reported_at_once), TEST(streams_are_handed_on),
        TEST(an_interrupt_ends_a_call),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
