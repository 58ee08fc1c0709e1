#include "test/unit/bbs/board/board_asks.h"

#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

const struct bbs_config asked_config = {.url = "https://bbs", .name = "bbs"};

static struct asked *asked_of(const struct op_input *in)
{
    return (struct asked *)(size_t)in->peer_name;
}

void asked_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct asked_shot *s = snapshot;
    s->key = key_domain(view_arena(v), ((const Board__DomainRecord *)in->request)->domain);
    view_get(v, s->key);
}

void asked_decide(const void *snapshot, const struct op_input *in, struct plan *plan)
{
    if (asked_of(in)->notice) {
        plan_notice_stop(plan, "web", "a", "c1");
    }
    if (!asked_of(in)->nothing) {
        plan_put(plan, ((const struct asked_shot *)snapshot)->key, "upsert", ACTOR_CLIENT,
                 in->request);
    }
}

static const struct op_row row = {.name = "put",
                                  .gather = asked_gather,
                                  .decide = asked_decide,
                                  .snapshot_size = sizeof(struct asked_shot)};

static void done(void *context, const struct op_result *result, struct effects *out)
{
    struct asked *a = context;
    a->answers++;
    a->result = *result;
    a->verdict = result->plan ? result->plan->verdict : PLAN_NOTHING;
    const char *text = result->text                                ? result->text
                       : a->verdict == PLAN_REFUSE ? result->plan->error_message
                                                                   : "";
    snprintf(a->text, sizeof(a->text), "%s", text);
}

void ask_row(struct rig *r, unsigned n, struct asked *a, const char *domain,
             const struct op_row *by)
{
    a->answers = 0;
    board__domain_record__init(&a->request);
    a->request.domain = (char *)(size_t)domain;
    a->in = (struct op_input){.actor = ACTOR_CLIENT,
                              .peer_name = (const char *)a,
                              .trace_id = "t",
                              .request = &a->request.base};
    struct effects *out = board_rig_begin(r, n);
    board_op(board_rig_board(r, n), by, &a->in, board_arena(), done, a, out);
    board_rig_end(r, n);
}

void ask(struct rig *r, unsigned n, struct asked *a, const char *domain)
{
    ask_row(r, n, a, domain, &row);
}

int64_t mod_revision(struct rig *r, const char *key)
{
    SCOPED_ARENA(a);
    Etcd__RangeRequest q = ETCD__RANGE_REQUEST__INIT;
    q.key = (ProtobufCBinaryData){.len = strlen(key), .data = (uint8_t *)(size_t)key};
    const Etcd__RangeResponse *f =
        (const Etcd__RangeResponse *)board_rig_ask(r, &a, STORE_RANGE, &q.base);
    return f->n_kvs ? f->kvs[0]->mod_revision : 0;
}

int64_t count_prefix(struct rig *r, const char *prefix)
{
    SCOPED_ARENA(a);
    Etcd__RangeRequest q = ETCD__RANGE_REQUEST__INIT;
    const char *end = key_range_end(&a, prefix);
    q.key = (ProtobufCBinaryData){.len = strlen(prefix), .data = (uint8_t *)(size_t)prefix};
    q.range_end = (ProtobufCBinaryData){.len = strlen(end), .data = (uint8_t *)(size_t)end};
    q.count_only = true;
    int64_t count =
        ((const Etcd__RangeResponse *)board_rig_ask(r, &a, STORE_RANGE, &q.base))->count;
    return count;
}

static void write_alone(struct rig *r, struct arena *a, Etcd__RequestOp *op)
{
    Etcd__TxnRequest t = ETCD__TXN_REQUEST__INIT;
    t.n_success = 1;
    t.success = &op;
    board_rig_ask(r, a, STORE_TXN, &t.base);
}

void put_raw(struct rig *r, const char *key, struct bytes value)
{
    SCOPED_ARENA(a);
    write_alone(r, &a, etcd_op_put(&a, key, value));
}

void put_record(struct rig *r, const char *key, const ProtobufCMessage *m)
{
    SCOPED_ARENA(a);
    write_alone(r, &a, m ? etcd_op_put(&a, key, record_encoded(&a, m)) : etcd_op_delete(&a, key));
}

struct rig *ready_rig(unsigned boards, const struct board_hooks *hooks)
{
    struct rig *r = board_rig_new(1, boards, &asked_config, hooks);
    assert_true(board_rig_run_ready(r, 10 * SECOND_NS));
    return r;
}
