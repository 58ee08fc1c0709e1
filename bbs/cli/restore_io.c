/* bbs restore: makes the board generation again after etcd was restored from a snapshot (design.md
 * 2, Board generation). Talks to etcd itself, for no bbs serves a board that went back. */
#include "bbs/board/compare.h"
#include "bbs/board/board_generation.h"
#include "bbs/cli/commands_io.h"
#include "common/base/message.h"
#include "common/base/random.h"
#include "common/cli/cli_io.h"
#include "common/contract/moment.h"

#include <event2/event.h>
#include <string.h>
#include <sys/random.h>

#define CALL_NS (5 * SECOND_NS)
/* A bbs that writes under this board generation puts its heartbeat every 2 s. */
enum { LISTEN_MS = 5000, HEARTBEATS_MAX = 1024 };

const struct cli_option bbs_restore_options[] = {
    {.name = "etcd", .value = "URLS", .help = "etcd's servers, comma-separated", .required = true},
    {.name = "force", .help = "also while a bbs writes under the present board generation"},
    {0},
};

const struct cli_option bbs_etcd_options[] = {
    {.name = "ca", .value = "FILE", .help = "CA of etcd"},
    {.name = "cert", .value = "FILE", .help = "certificate for etcd"},
    {.name = "key", .value = "FILE", .help = "its key"},
    {0},
};

struct etcd_config bbs_etcd_config(const struct invocation *call)
{
    return (struct etcd_config){.endpoints = cli_text(call, "etcd"),
                                .ca = cli_text(call, "ca"),
                                .cert = cli_text(call, "cert"),
                                .key = cli_text(call, "key")};
}

struct etcd_asker {
    struct arena arena;
    struct event_base *base;
    struct etcd *etcd;
    uint64_t last_id;
    struct store_answer answer; /* to the last call; what it points to is in the arena */
    bool answered;
    bool json;
};

static void on_answer(void *context, const struct store_answer *answer)
{
    struct etcd_asker *s = context;
    s->answered = true;
    s->answer = *answer;
    s->answer.text = arena_strdup(&s->arena, answer->text);
    s->answer.message = message_copy(&s->arena, answer->message);
    event_base_loopbreak(s->base);
}

static void on_watch(void *context, const struct watch_event *ev)
{
    (void)context, (void)ev; /* none is opened */
}

static int asker_open(const struct invocation *call, struct etcd_asker *s, struct err *err)
{
    *s = (struct etcd_asker){0};
    arena_init(&s->arena);
    s->base = event_base_new();
    if (!s->base) {
        return err_set(err, ERR_IO, "no event loop");
    }
    const struct etcd_config config = bbs_etcd_config(call);
    const struct etcd_handlers handlers = {
        .on_answer = on_answer, .on_watch = on_watch, .context = s};
    return etcd_new(&config, s->base, &handlers, &s->etcd, err);
}

static void asker_close(struct etcd_asker *s)
{
    etcd_free(s->etcd);
    if (s->base) {
        event_base_free(s->base);
    }
    arena_done(&s->arena);
}

/* Gives the answer's message in *ret_message. */
static int ask(struct etcd_asker *s, enum store_call call, const ProtobufCMessage *message,
               const void **ret_message, struct err *err)
{
    const struct store_request request = {.id = ++s->last_id,
                                          .call = call,
                                          .message = message,
                                          .deadline_ns = cli_now_ms() * MILLISECOND_NS + CALL_NS};
    s->answered = false;
    etcd_call(s->etcd, &request);
    while (!s->answered && !cli_interrupted()) {
        event_base_loop(s->base, EVLOOP_ONCE);
    }
    if (!s->answered) {
        return err_set(err, ERR_UNKNOWN, "interrupted");
    }
    if (s->answer.outcome == STORE_REFUSED) {
        return err_set(err, ERR_UNAVAILABLE, "%.220s", s->answer.text);
    }
    if (s->answer.outcome == STORE_UNKNOWN || !s->answer.message) {
        return err_set(err, ERR_UNKNOWN, "no answer from etcd (%.120s): repeat the command",
                       s->answer.text);
    }
    *ret_message = s->answer.message;
    return 0;
}

static int ask_heartbeats(struct etcd_asker *s, const Etcd__RangeResponse **ret, struct err *err)
{
    Etcd__RangeRequest range = ETCD__RANGE_REQUEST__INIT;
    const void *message = NULL;
    range.key = key_data("beat/");
    range.range_end = key_data("heartbeat0");
    range.limit = HEARTBEATS_MAX;
    int r = ask(s, STORE_RANGE, &range.base, &message, err);
    *ret = message;
    return r;
}

/* Refuses when a heartbeat is put while we listen: then a bbs goes on with the present board
 * generation, so etcd was not restored, or that bbs was started too early. */
static int demand_silence(struct etcd_asker *s, struct err *err)
{
    const Etcd__RangeResponse *before, *after;
    int r = ask_heartbeats(s, &before, err);
    if (r == 0 && before->n_kvs > 0) {
        cli_sleep_ms(LISTEN_MS);
    }
    r = r < 0 ? r : ask_heartbeats(s, &after, err);
    for (size_t i = 0; r == 0 && i < after->n_kvs; i++) {
        const Etcd__KeyValue *kv = after->kvs[i];
        if (kv->mod_revision > before->header->revision) {
            r = err_set(err, ERR_CONFLICT,
                        "the bbs of %.*s writes to this etcd: was it restored? "
                        "Stop that bbs, or say --force",
                        (int)(kv->key.len < 60 ? kv->key.len : 60), (const char *)kv->key.data);
        }
    }
    return r;
}

static int new_id(char id[GUID_BYTES], struct err *err)
{
    uint64_t entropy[2];
    struct random random;
    if (getrandom(entropy, sizeof(entropy), 0) != sizeof(entropy)) {
        return err_set(err, ERR_IO, "no entropy");
    }
    random_seed(&random, entropy);
    random_guid(&random, id);
    return 0;
}

static int make_again(struct etcd_asker *s, struct err *err)
{
    Etcd__RangeRequest question;
    Etcd__TxnRequest txn;
    char id[GUID_BYTES];
    const void *message;
    board_generation_question(&s->arena, &question);
    int r = ask(s, STORE_RANGE, &question.base, &message, err);
    r = r < 0 ? r : new_id(id, err);
    if (r < 0) {
        return r;
    }
    const Etcd__RangeResponse *found = message;
    if (found->n_kvs == 0) {
        return err_set(err, ERR_NOT_FOUND,
                       "this etcd holds no board that could begin again");
    }
    board_generation_again(&s->arena, found, id, cli_wall_ns(), &txn);
    r = ask(s, STORE_TXN, &txn.base, &message, err);
    const Etcd__TxnResponse *done = message;
    if (r == 0 && !done->succeeded) {
        return err_set(err, ERR_CONFLICT,
                       "the board generation changed meanwhile: repeat the command");
    }
    if (r < 0) {
        return r;
    }
    const char *text = arena_printf(
        &s->arena,
        s->json ? "{\"board_generation\":\"%s\",\"revision\":%lld}\n" :
        "board generation %s begins at revision %lld\n"
        "No domain is fresh: what runs and is not desired here runs on until its domain is "
        "upserted.\n",
        id, (long long)done->header->revision);
    return cli_print((struct bytes){.data = (const uint8_t *)text, .size = strlen(text)}, err);
}

int bbs_restore_run(const struct invocation *call, struct err *err)
{
    struct etcd_asker s;
    cli_catch_interrupts();
    const char *output = "table";
    int r = asker_open(call, &s, err);
    r = r < 0 ? r : cli_choice(call, "output", &output, err);
    s.json = strcmp(output, "json") == 0;
    r = r < 0 || cli_switch(call, "force") ? r : demand_silence(&s, err);
    r = r < 0 ? r : make_again(&s, err);
    asker_close(&s);
    return r;
}
