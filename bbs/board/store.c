/* Open calls to etcd: who waits for which answer. */
#include "bbs/board/inside.h"
#include "common/base/memory.h"

#include <stdlib.h>

uint64_t store_send(struct board *b, enum store_call call, const ProtobufCMessage *message,
                    int64_t timeout_ns, store_done *done, void *context, struct effects *out)
{
    struct store_open *o = mem_zeroed(sizeof(*o));
    o->id = ++b->last_id;
    o->done = done;
    o->context = context;
    o->board_generation_number = b->board_generation_number;
    o->known_revision = b->known_revision;
    LIST_INSERT_HEAD(&b->open[o->id % STORE_BUCKETS], o, link);
    struct effect *e = effects_add(out, EFFECT_STORE);
    e->store = (struct store_request){
        .id = o->id,
        .call = call,
        .message = message,
        .deadline_ns = b->now.mono_ns + timeout_ns,
    };
    return o->id;
}

static struct store_open *find(struct board *b, uint64_t id)
{
    struct store_open *o;
    LIST_FOREACH(o, &b->open[id % STORE_BUCKETS], link)
    {
        if (o->id == id) {
            return o;
        }
    }
    return NULL;
}

void store_forget(struct board *b, uint64_t id)
{
    struct store_open *o = id ? find(b, id) : NULL;
    if (o) {
        LIST_REMOVE(o, link);
        free(o);
    }
}

static const Etcd__ResponseHeader *header_of(const struct store_answer *answer)
{
    if (answer->outcome != STORE_DONE || !answer->message) {
        return NULL;
    }
    if (answer->call == STORE_TXN) {
        return ((const Etcd__TxnResponse *)answer->message)->header;
    }
    if (answer->call == STORE_RANGE) {
        return ((const Etcd__RangeResponse *)answer->message)->header;
    }
    return NULL;
}

/* Answers come out of order, but none shows less than was known when it was asked. What was asked
 * in another board generation says nothing about this one. */
static void note_revision(struct board *b, const struct store_open *o, int64_t revision,
                          struct effects *out)
{
    if (o->board_generation_number != b->board_generation_number) {
        return;
    }
    if (revision < o->known_revision && b->board_generation) {
        fall_found(b,
                   arena_printf(out->arena, "%s has seen revision %lld, etcd is at %lld",
                                *b->name ? b->name : "this bbs", (long long)o->known_revision,
                                (long long)revision),
                   out);
    } else if (revision > b->known_revision) {
        b->known_revision = revision;
    }
}

bool store_answered(struct board *b, const struct store_answer *answer, struct effects *out)
{
    struct store_open *o = find(b, answer->id);
    if (!o) {
        return false;
    }
    struct store_open copy = *o;
    LIST_REMOVE(o, link);
    free(o);
    const Etcd__ResponseHeader *header = header_of(answer);
    if (header) {
        note_revision(b, &copy, header->revision, out);
        b->raft_term = header->raft_term;
    }
    if (answer->outcome == STORE_DONE && b->loaded && b->watch.open) {
        board_well(b, out);
    }
    copy.done(b, copy.context, answer, out);
    return true;
}

bool store_certainly_refused(const struct store_answer *answer)
{
    /* grpc-status of answers that may come after the proposal went to raft: cancelled, unknown,
     * deadline exceeded, aborted, internal, unavailable, data loss. */
    static const int doubtful[] = {1, 2, 4, 10, 13, GRPC_UNAVAILABLE, 15};
    if (answer->outcome != STORE_REFUSED) {
        return false;
    }
    for (size_t i = 0; i < sizeof(doubtful) / sizeof(doubtful[0]); i++) {
        if (answer->grpc_status == doubtful[i]) {
            return false;
        }
    }
    return true;
}

const char *store_text(const struct store_answer *answer)
{
    return answer->text && *answer->text ? answer->text : "etcd gave no usable answer";
}
