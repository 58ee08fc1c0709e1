#include "bbs/cli/secrets.h"

#include "bbs/cli/commands_io.h"
#include "bbs/cli/systems_io.h"
#include "common/cli/cli_io.h"
#include "common/codec/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* One byte more than a secret may have, which the bbs refuses with the bound. */
enum { VALUE_BYTES_MAX = 16 * 1024 + 1 };

/* What is meant; both are the call's. */
struct secret_target {
    const char *system, *name;
};

/* SYSTEM NAME, or NAME alone where CORKBOARD_SYSTEM says of which. */
static int find_target(const struct invocation *call, struct secret_target *ret, struct err *err)
{
    bool both = call->argument_count == 2;
    const struct invocation none = {.argument_count = 0};
    ret->system = both ? call->arguments[0] : system_argument(&none, 0);
    ret->name = call->arguments[both ? 1 : 0];
    if (!ret->system) {
        return err_set(err, ERR_INVALID,
                       "which system? give its name, or set CORKBOARD_SYSTEM: %.60s SYSTEM %.80s",
                       call->title, ret->name);
    }
    return 0;
}

static int ask(struct session *s, const char *path, const ProtobufCMessage *request,
               const ProtobufCMessageDescriptor *type, ProtobufCMessage **ret, struct err *err)
{
    return cli_client_call(s->client, &s->arena, path, request, type, ret, err);
}

static void json_line(const ProtobufCMessage *m, struct buf *out)
{
    if (json_encode(m, CODEC_OWN | CODEC_SNAKE_CASE, out, NULL) == 0) {
        buf_append_string(out, "\n");
    }
}

/* ---- The value of `set` ---------------------------------------------------------------------- */

static int read_value(int fd, const char *name, struct arena *a, struct bytes *ret,
                      struct err *err)
{
    uint8_t *text = arena_alloc(a, VALUE_BYTES_MAX);
    size_t size = 0;
    while (size < VALUE_BYTES_MAX) {
        ssize_t n = read(fd, text + size, VALUE_BYTES_MAX - size);
        if (n < 0 && errno != EINTR) {
            return err_set(err, ERR_IO, "%.120s: %s", name, strerror(errno));
        }
        if (n == 0) {
            break;
        }
        size += n > 0 ? (size_t)n : 0;
    }
    *ret = (struct bytes){text, size};
    return 0;
}

static int read_file(const char *path, struct arena *a, struct bytes *ret, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%.120s: %s", path,
                       strerror(errno));
    }
    int r = read_value(fd, path, a, ret, err);
    close(fd);
    return r;
}

/* A line that is typed, and not shown; without its end. */
static int read_typed(const char *name, struct arena *a, struct bytes *ret, struct err *err)
{
    struct termios shown, hidden;
    if (tcgetattr(STDIN_FILENO, &shown) < 0) {
        return err_set(err, ERR_IO, "the terminal: %s", strerror(errno));
    }
    hidden = shown;
    hidden.c_lflag &= ~(tcflag_t)ECHO;
    fprintf(stderr, "value of %s (it is not shown): ", name);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
    char *line = arena_alloc(a, VALUE_BYTES_MAX);
    const char *got = fgets(line, VALUE_BYTES_MAX, stdin);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown);
    fputc('\n', stderr);
    if (!got) {
        return err_set(err, ERR_INVALID, "no value was typed");
    }
    *ret = (struct bytes){(const uint8_t *)line, strcspn(line, "\n")};
    return 0;
}

static int value_of(const struct invocation *call, const char *name, struct arena *a,
                    struct bytes *ret, struct err *err)
{
    const char *value = cli_text(call, "value"), *file = cli_text(call, "file");
    if (value && file) {
        return err_set(err, ERR_INVALID, "give --value or --file, not both");
    }
    if (value) {
        *ret = bytes_of(value);
        return 0;
    }
    if (file && strcmp(file, "-") != 0) {
        return read_file(file, a, ret, err);
    }
    if (file) {
        return read_value(STDIN_FILENO, "standard input", a, ret, err);
    }
    if (isatty(STDIN_FILENO)) {
        return read_typed(name, a, ret, err);
    }
    return err_set(err, ERR_INVALID, "give the value: --value TEXT, or --file FILE (- is standard "
                                     "input)");
}

/* ---- The verbs ------------------------------------------------------------------------------- */

static int do_set(struct session *s, const struct invocation *call, struct buf *out,
                  struct err *err)
{
    struct secret_target t;
    struct bytes value;
    ProtobufCMessage *m;
    int r = find_target(call, &t, err);
    r = r < 0 ? r : value_of(call, t.name, &s->arena, &value, err);
    if (r < 0) {
        return r;
    }
    Board__SetSecretRequest q = BOARD__SET_SECRET_REQUEST__INIT;
    q.system = (char *)(uintptr_t)t.system;
    q.name = (char *)(uintptr_t)t.name;
    q.value = (ProtobufCBinaryData){value.size, (uint8_t *)(uintptr_t)value.data};
    r = ask(s, "/v1/board/secrets/set", &q.base, &board__secret_response__descriptor, &m, err);
    if (r == 0 && !s->json) {
        buf_printf(out, "%s of %s is set; what runs takes it up when it is deployed next\n",
                   t.name, t.system);
    }
    return r;
}

static int ask_one(struct session *s, const struct invocation *call, const char *path,
                   struct secret_target *ret, const Board__SecretResponse **ret_answer,
                   struct err *err)
{
    ProtobufCMessage *m;
    int r = find_target(call, ret, err);
    if (r < 0) {
        return r;
    }
    Board__SecretRequest q = BOARD__SECRET_REQUEST__INIT;
    q.system = (char *)(uintptr_t)ret->system;
    q.name = (char *)(uintptr_t)ret->name;
    r = ask(s, path, &q.base, &board__secret_response__descriptor, &m, err);
    *ret_answer = r == 0 ? (const Board__SecretResponse *)m : NULL;
    return r;
}

static int do_unset(struct session *s, const struct invocation *call, struct buf *out,
                    struct err *err)
{
    struct secret_target t;
    const Board__SecretResponse *answer;
    int r = ask_one(s, call, "/v1/board/secrets/unset", &t, &answer, err);
    if (r == 0 && !s->json) {
        buf_printf(out, "%s of %s is not set; what runs with it runs on\n", t.name, t.system);
    }
    return r;
}

static int do_get(struct session *s, const struct invocation *call, struct buf *out,
                  struct err *err)
{
    struct secret_target t;
    const Board__SecretResponse *answer;
    int r = ask_one(s, call, "/v1/board/secrets/get", &t, &answer, err);
    if (r == 0 && s->json) {
        Board__SecretResponse shown = *answer;
        json_line(&shown.base, out);
    } else if (r == 0) {
        buf_printf(out, "%s\n", answer->value);
    }
    return r;
}

static int do_list(struct session *s, const struct invocation *call, struct buf *out,
                   struct err *err)
{
    const char *id = system_argument(call, 0);
    ProtobufCMessage *m;
    if (!id) {
        return err_set(err, ERR_INVALID,
                       "which system? give its name, or set CORKBOARD_SYSTEM: %.60s SYSTEM",
                       call->title);
    }
    Board__SecretsRequest q = BOARD__SECRETS_REQUEST__INIT;
    q.system = (char *)(uintptr_t)id;
    int r = ask(s, "/v1/board/secrets/list", &q.base, &board__secrets_response__descriptor, &m,
                err);
    if (r < 0) {
        return r;
    }
    const Board__SecretsResponse *all = (const Board__SecretsResponse *)m;
    for (size_t i = 0; s->json && i < all->n_secrets; i++) {
        json_line(&all->secrets[i]->base, out);
    }
    if (!s->json) {
        secrets_table(&s->arena, all, cli_wall_ns(), out);
    }
    return 0;
}

typedef int secret_verb(struct session *s, const struct invocation *call, struct buf *out,
                        struct err *err);

static int run(const struct invocation *call, secret_verb *does, struct err *err)
{
    struct session s;
    SCOPED_BUF(out);
    int r = session_open(call, &s, err);
    r = r < 0 ? r : does(&s, call, &out, err);
    r = r < 0 ? r : cli_print(buf_bytes(&out), err);
    session_close(&s);
    return r;
}

static int run_list(const struct invocation *call, struct err *err)
{
    return run(call, do_list, err);
}

static int run_get(const struct invocation *call, struct err *err)
{
    return run(call, do_get, err);
}

static int run_set(const struct invocation *call, struct err *err)
{
    return run(call, do_set, err);
}

static int run_unset(const struct invocation *call, struct err *err)
{
    return run(call, do_unset, err);
}

/* ---- The tables ------------------------------------------------------------------------------ */

static const struct cli_option value_options[] = {
    {.name = "value", .value = "TEXT", .help = "the value; others see it in the list of processes"},
    {.name = "file", .value = "FILE", .help = "a file has it, byte for byte; - is standard input"},
    {0},
};

static const struct cli_option *const question[] = BBS_ASKS_WITH(bbs_timeout_options);
static const struct cli_option *const valued[] = BBS_ASKS_WITH(value_options, bbs_timeout_options);

static const char secrets_details[] =
    "The secrets of a system by name, PATH:NAME, without their values. CORKBOARD_SYSTEM stands in\n"
    "for SYSTEM, here and in the verbs.\n";

static const char set_details[] =
    "A definition means it by {$secret: NAME} in the component at that path. The value is text,\n"
    "at most 16 KiB; without --value and --file it is typed, and not shown. It counts from the\n"
    "next deploy of the path on.\n"
    "Exit status 3: there is no such system; 4: it is not open, or the bbs has no keys.\n";

static const char get_details[] = "Exit status 3: there is no such system, or it is not set.\n";

static const char unset_details[] =
    "What runs with the value runs on; the next deploy of what needs it fails. One that is not\n"
    "set is no mistake.\n";

static const struct cli_command verbs[] = {
    {"", "[SYSTEM]", "shows which secrets a system has", secrets_details, question, 0, 1,
     run_list},
    {"list", "[SYSTEM]", "shows which secrets a system has", NULL, question, 0, 1, run_list},
    {"get", "[SYSTEM] PATH:NAME", "shows the value of a secret", get_details, question, 1, 2,
     run_get},
    {"set", "[SYSTEM] PATH:NAME", "sets a secret", set_details, valued, 1, 2, run_set},
    {"unset", "[SYSTEM] PATH:NAME", "takes a secret away", unset_details, question, 1, 2,
     run_unset},
    {0},
};

const struct cli_group bbs_secrets_group = {"secrets", "Secrets:", verbs};
