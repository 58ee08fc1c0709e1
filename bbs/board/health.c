/* bbs keeps etcd healthy itself: it compacts history, and turns a quota alarm into a clear
 * read-only state that it works its way out of (design.md 2). */
#include "bbs/board/inside.h"

#include <string.h>

#define SAMPLE_INTERVAL_NS (30 * SECOND_NS)
#define RETENTION_NS (120 * SECOND_NS) /* longer than any paged list takes */
#define COMPACT_INTERVAL_DEFAULT_NS (300 * SECOND_NS)
#define RECOVER_TIMEOUT_NS (60 * SECOND_NS) /* defragmenting stops etcd for seconds */
#define RECOVER_WAIT_MIN_NS (1 * SECOND_NS)
#define RECOVER_WAIT_MAX_NS (60 * SECOND_NS)
#define FREED_NOTHING_NS (60 * SECOND_NS) /* full again so soon: there was nothing to free */

static int64_t compact_interval_ns(const struct board *b)
{
    return b->config.compact_interval_ns ? b->config.compact_interval_ns
                                         : COMPACT_INTERVAL_DEFAULT_NS;
}

/* ---- compaction ---- */

static void take_sample(struct board *b)
{
    struct etcd_health *h = &b->health;
    h->sample_ns = b->now.mono_ns + SAMPLE_INTERVAL_NS;
    if (h->sample_count == HEALTH_SAMPLES) {
        memmove(h->samples, h->samples + 1, (HEALTH_SAMPLES - 1) * sizeof(h->samples[0]));
        h->sample_count--;
    }
    h->samples[h->sample_count].mono_ns = b->now.mono_ns;
    h->samples[h->sample_count++].revision = b->revision;
}

/* The newest position that is at least this old; 0 if there is none. */
static int64_t revision_older_than(const struct board *b, int64_t age_ns)
{
    const struct etcd_health *h = &b->health;
    int64_t revision = 0;
    for (unsigned i = 0; i < h->sample_count; i++) {
        if (b->now.mono_ns - h->samples[i].mono_ns >= age_ns) {
            revision = h->samples[i].revision;
        }
    }
    return revision;
}

static void on_compacted(struct board *b, void *context, const struct store_answer *answer,
                         struct effects *out)
{
    (void)context, (void)answer, (void)out; /* refused: another bbs was faster; else the next one */
    b->health.compact_id = 0;
}

static void compact(struct board *b, struct effects *out)
{
    struct etcd_health *h = &b->health;
    h->compact_ns = b->now.mono_ns + compact_interval_ns(b);
    int64_t revision = revision_older_than(b, RETENTION_NS);
    if (h->compact_id || revision == 0) {
        return;
    }
    Etcd__CompactionRequest *r = arena_message(out->arena, &etcd__compaction_request__descriptor);
    r->revision = revision;
    h->compact_id =
        store_send(b, STORE_COMPACT, &r->base, PAGE_TIMEOUT_NS, on_compacted, NULL, out);
}

/* ---- out of quota: look at the alarm, compact, defragment, disarm ---- */

bool board_read_only(const struct board *b)
{
    return b->health.read_only;
}

/* At first none. While the last try freed nothing the next one waits twice as long: defragmenting
 * stops etcd, reads too. */
static int64_t longer_wait_ns(const struct board *b)
{
    const struct etcd_health *h = &b->health;
    if (!h->recovered_ns || b->now.mono_ns - h->recovered_ns >= FREED_NOTHING_NS) {
        return 0;
    }
    return h->recover_wait_ns ? earlier_ns(2 * h->recover_wait_ns, RECOVER_WAIT_MAX_NS)
                              : RECOVER_WAIT_MIN_NS;
}

void health_out_of_space(struct board *b, struct effects *out)
{
    struct etcd_health *h = &b->health;
    if (h->read_only) {
        return;
    }
    h->read_only = true;
    h->full_ns = b->now.mono_ns;
    h->recover_failures = 0;
    h->recover_wait_ns = longer_wait_ns(b);
    /* Of several bbs not all at the same moment. */
    h->recover_ns = b->now.mono_ns + h->recover_wait_ns +
                    (int64_t)random_below(&b->random, (uint64_t)SECOND_NS);
    effects_log(out, LOG_ERROR_LEVEL, "etcd is out of quota: only reads until space is freed", "%s",
                "");
}

static void recover_later(struct board *b)
{
    struct etcd_health *h = &b->health;
    h->recover_id = 0;
    h->recover_ns = b->now.mono_ns + RECOVER_WAIT_MIN_NS + backoff_ns(h->recover_failures++);
}

static void recovered(struct board *b, struct effects *out)
{
    b->health.recover_id = 0;
    b->health.read_only = false;
    b->health.recovered_ns = b->now.mono_ns;
    effects_log(out, LOG_INFO_LEVEL, "etcd takes writes again", "%s", "");
}

static void on_disarmed(struct board *b, void *context, const struct store_answer *answer,
                        struct effects *out)
{
    (void)context;
    if (answer->outcome == STORE_DONE) {
        recovered(b, out);
    } else {
        recover_later(b);
    }
}

static void send_alarm(struct board *b, Etcd__AlarmRequest__AlarmAction action, uint64_t member,
                       store_done *done, struct effects *out)
{
    Etcd__AlarmRequest *r = arena_message(out->arena, &etcd__alarm_request__descriptor);
    r->action = action;
    r->memberid = member;
    r->alarm = ETCD__ALARM_TYPE__NOSPACE;
    b->health.recover_id =
        store_send(b, STORE_ALARM, &r->base, PAGE_TIMEOUT_NS, done, NULL, out);
}

static void on_defragmented(struct board *b, void *context, const struct store_answer *answer,
                            struct effects *out)
{
    (void)context;
    if (answer->outcome != STORE_DONE) {
        recover_later(b);
        return;
    }
    send_alarm(b, ETCD__ALARM_REQUEST__ALARM_ACTION__DEACTIVATE, b->health.alarm_member,
               on_disarmed, out);
}

static void on_space_compacted(struct board *b, void *context, const struct store_answer *answer,
                               struct effects *out)
{
    (void)context;
    if (answer->outcome == STORE_UNKNOWN) {
        recover_later(b);
        return;
    }
    /* Refused: it is compacted already. */
    Etcd__DefragmentRequest *r = arena_message(out->arena, &etcd__defragment_request__descriptor);
    b->health.recover_id = store_send(b, STORE_DEFRAGMENT, &r->base, RECOVER_TIMEOUT_NS,
                                      on_defragmented, NULL, out);
}

static void compact_for_space(struct board *b, struct effects *out)
{
    /* The retention shrinks to what a running list needs at least: space comes first. */
    int64_t revision = revision_older_than(b, SAMPLE_INTERVAL_NS);
    Etcd__CompactionRequest *r = arena_message(out->arena, &etcd__compaction_request__descriptor);
    r->revision = revision ? revision : b->revision;
    r->physical = true;
    b->health.recover_id =
        store_send(b, STORE_COMPACT, &r->base, RECOVER_TIMEOUT_NS, on_space_compacted, NULL, out);
}

static void on_alarms(struct board *b, void *context, const struct store_answer *answer,
                      struct effects *out)
{
    (void)context;
    const Etcd__AlarmResponse *r = (const Etcd__AlarmResponse *)answer->message;
    if (answer->outcome != STORE_DONE || !r) {
        recover_later(b);
        return;
    }
    for (size_t i = 0; i < r->n_alarms; i++) {
        if (r->alarms[i]->alarm == ETCD__ALARM_TYPE__NOSPACE) {
            b->health.alarm_member = r->alarms[i]->memberid;
            compact_for_space(b, out);
            return;
        }
    }
    recovered(b, out); /* another bbs, or somebody by hand, was faster */
}

/* What was sent while etcd was full and landed shows that another bbs was faster, or somebody by
 * hand: no need to wait for the next try. One's own that is under way ends as it does. */
void health_wrote(struct board *b, int64_t sent_ns, struct effects *out)
{
    const struct etcd_health *h = &b->health;
    if (h->read_only && !h->recover_id && sent_ns > h->full_ns) {
        recovered(b, out);
    }
}

/* ---- time ---- */

void health_reset(struct board *b)
{
    b->health.sample_count = 0;
    b->health.sample_ns = b->now.mono_ns;
}

void health_timer(struct board *b, struct effects *out)
{
    struct etcd_health *h = &b->health;
    if (!b->loaded || b->stop_ns) {
        return;
    }
    if (h->sample_ns <= b->now.mono_ns) {
        take_sample(b);
    }
    if (h->compact_ns == 0) {
        h->compact_ns = b->now.mono_ns + compact_interval_ns(b);
    } else if (h->compact_ns <= b->now.mono_ns) {
        compact(b, out);
    }
    if (h->read_only && !h->recover_id && h->recover_ns <= b->now.mono_ns) {
        send_alarm(b, ETCD__ALARM_REQUEST__ALARM_ACTION__GET, 0, on_alarms, out);
    }
}

int64_t health_due_ns(const struct board *b)
{
    const struct etcd_health *h = &b->health;
    if (!b->loaded || b->stop_ns) {
        return NEVER_NS;
    }
    int64_t due_ns = earlier_ns(h->sample_ns, h->compact_ns);
    return h->read_only && !h->recover_id ? earlier_ns(due_ns, h->recover_ns) : due_ns;
}
