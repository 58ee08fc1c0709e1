#include "bbs/cli/secrets.h"

#include "bbs/cli/commands_io.h"
#include "bbs/cli/session_io.h"
#include "common/cli/cli_io.h"
#include "common/codec/json.h"

static int ask_keys(struct session *s, const Board__KeysResponse **ret, struct err *err)
{
    ProtobufCMessage *m;
    int r = cli_client_call(s->client, &s->arena, "/v1/board/keys/list", NULL,
                            &board__keys_response__descriptor, &m, err);
    *ret = r == 0 ? (const Board__KeysResponse *)m : NULL;
    return r;
}

static void show_keys(struct session *s, const Board__KeysResponse *all, struct buf *out)
{
    if (s->json) {
        for (size_t i = 0; i < all->n_keys; i++) {
            if (json_encode(&all->keys[i]->base, CODEC_OWN | CODEC_SNAKE_CASE, out, NULL) == 0) {
                buf_append_string(out, "\n");
            }
        }
    } else if (all->n_keys == 0) {
        buf_append_string(out, "this bbs has no keys, and no system needs one: bbs serve --keys\n");
    } else {
        keys_table(&s->arena, all, out);
    }
}

static int do_status(struct session *s, struct buf *out, struct err *err)
{
    const Board__KeysResponse *all;
    int r = ask_keys(s, &all, err);
    if (r == 0) {
        show_keys(s, all, out);
    }
    return r;
}

/* What a bbs says is older; again, for it names at most 1,000. Each time at least one is done. */
static int do_rewrap(struct session *s, struct buf *out, struct err *err)
{
    const Board__KeysResponse *all;
    size_t done = 0;
    int r = ask_keys(s, &all, err);
    while (r == 0 && all->n_older > 0) {
        size_t changed = 0;
        for (size_t i = 0; r == 0 && i < all->n_older; i++) {
            ProtobufCMessage *m;
            Board__RewrapRequest q = BOARD__REWRAP_REQUEST__INIT;
            q.system = all->older[i];
            r = cli_client_call(s->client, &s->arena, "/v1/board/keys/rewrap", &q.base,
                                &board__rewrap_response__descriptor, &m, err);
            changed += r == 0;
            r = r == -ERR_NOT_FOUND ? 0 : r; /* it was deleted meanwhile */
        }
        done += changed;
        r = r < 0 ? r : ask_keys(s, &all, err);
        if (changed == 0) {
            break;
        }
    }
    if (r == 0 && !s->json) {
        buf_printf(out, "%zu systems were sealed by the newest key\n", done);
    }
    return r;
}

static int run(const struct invocation *call,
               int (*does)(struct session *s, struct buf *out, struct err *err), struct err *err)
{
    struct session s;
    SCOPED_BUF(out);
    int r = session_open(call, &s, err);
    r = r < 0 ? r : does(&s, &out, err);
    r = r < 0 ? r : cli_print(buf_bytes(&out), err);
    session_close(&s);
    return r;
}

static int run_status(const struct invocation *call, struct err *err)
{
    return run(call, do_status, err);
}

static int run_rewrap(const struct invocation *call, struct err *err)
{
    return run(call, do_rewrap, err);
}

static const struct cli_option *const question[] = BBS_ASKS_WITH(bbs_timeout_options);

static const char keys_details[] =
    "The keys of the bbs that answers (bbs serve --keys), and how many systems are sealed by\n"
    "each. A key may go from the files when no system is. Ask each bbs: --bbs-url.\n";

static const char rewrap_details[] =
    "When each bbs has the new key in its file, and was started anew: from then on an older key\n"
    "is needed no more. Values are not touched, and nothing is started again.\n";

static const struct cli_command verbs[] = {
    {"", "", "shows the keys of a bbs, and which of them are needed", keys_details, question, 0, 0,
     run_status},
    {"status", "", "shows the keys of a bbs, and which of them are needed", NULL, question, 0, 0,
     run_status},
    {"rewrap", "", "seals all systems by the newest key", rewrap_details, question, 0, 0,
     run_rewrap},
    {0},
};

const struct cli_group bbs_keys_group = {"keys", "Keys of secrets:", verbs};
