/* The copy of each bbs against the board as it was at the copy's revision. */
#include "bbs/board/inside.h"
#include "bbs/inside.h"
#include "common/client/feed_client.h"
#include "common/model/record.h"
#include "test/sim/checkers/checkers.h"

/* A pass of the list may just have gone by what differs, or left it out because it changed
 * meanwhile; a page, and the wait for its revision, take 5 s each at most. */
#define FOUND_WITHIN(interval_ns) (2 * (interval_ns) + 10 * SECOND_NS)

#define LOOK_APART_NS (1 * SECOND_NS)       /* checkers_look */
#define REFRESHED_WITHIN_NS (5 * SECOND_NS) /* once it is asked for */

enum { LOOK_S = 4 }; /* it takes long */

static const struct board *board_of(const struct checkers *k, unsigned bbs)
{
    struct node *n = k->cluster->bbs[bbs];
    const struct board *b = node_up(n) ? ((struct bbs *)node_role(n))->board : NULL;
    return b && b->loaded && b->copy && b->revision <= k->history.revision ? b : NULL;
}

static bool is_kept(enum record_type type)
{
    return record_is_kept(type) && history_holds(type);
}

/* The first key at which the two differ; NULL = at none. */
static const char *difference(const struct checkers *k, const struct board *b)
{
    const struct history *h = &k->history;
    size_t held = 0, stood = 0;
    for (struct copied *c = copy_from(b->copy, ""); c; c = copy_next(c)) {
        const struct version *v = copied_version(c);
        if (!is_kept(v->type)) {
            continue;
        }
        const struct past *p = history_at(h, version_key(v), b->revision);
        held++;
        if (!p || !p->message || p->revision != v->mod_revision) {
            return version_key(v);
        }
    }
    MAP_EACH(&h->now, n)
    {
        const struct past *p = map_value(n);
        while (p && p->revision > b->revision) {
            p = p->before;
        }
        if (p && p->message && is_kept(p->type) && ++stood > held) {
            return p->key;
        }
    }
    return NULL;
}

bool checkers_read_only(const struct checkers *k, unsigned bbs)
{
    const struct board *b = board_of(k, bbs);
    return b && b->health.read_only;
}

bool checkers_has_copy(const struct checkers *k, unsigned bbs, uint64_t *ret_reloads)
{
    const struct board *b = board_of(k, bbs);
    *ret_reloads = b ? b->reloads : *ret_reloads;
    return b != NULL;
}

void checkers_slips(struct checkers *k, const struct node *bbs)
{
    for (unsigned i = 0; i < k->cluster->options.bbs; i++) {
        k->slips[i] = k->slips[i] || k->cluster->bbs[i] == bbs;
    }
}

static void check_copy(struct checkers *k, unsigned bbs, const struct board *b)
{
    int64_t now = world_now(k->cluster->world), *since_ns = &k->differs_since_ns[bbs];
    const char *key = difference(k, b);
    if (!key) {
        k->seen[SEEN_COPIES_REPAIRED] += *since_ns != NEVER_NS;
        *since_ns = NEVER_NS;
        return;
    }
    *since_ns = earlier_ns(*since_ns, now);
    int64_t quiet_since_ns = *since_ns > k->touched_ns ? *since_ns : k->touched_ns;
    int64_t interval_ns = k->cluster->options.verify_interval_ns;
    if (!k->slips[bbs]) {
        checkers_report(k, "S6", "the copy of %s is not the board as it was at revision %lld: %s",
                        node_name(k->cluster->bbs[bbs]), (long long)b->revision, key);
    } else if (now - quiet_since_ns > FOUND_WITHIN(interval_ns)) {
        checkers_report(k, "S6", "the copy of %s differs at %s for %lld s, and it has not found it",
                        node_name(k->cluster->bbs[bbs]), key,
                        (long long)((now - *since_ns) / SECOND_NS));
    }
}

void check_copies(struct checkers *k)
{
    if (world_now(k->cluster->world) / SECOND_NS % LOOK_S != 0) {
        return;
    }
    for (unsigned i = 0; i < k->cluster->options.bbs; i++) {
        const struct board *b = board_of(k, i);
        if (b) {
            check_copy(k, i, b);
        }
        /* What was found between two looks had been told to who followed by then. */
        bool found = b && b->reloads != k->reloads_seen[i];
        bool lacks = found || k->differs_since_ns[i] != NEVER_NS ||
                     world_slip_waits(k->cluster->bbs[i]);
        k->reloads_seen[i] = b ? b->reloads : k->reloads_seen[i];
        if (k->slips[i] && lacks) {
            k->lacked_ns = world_now(k->cluster->world);
        }
    }
}

int64_t checkers_whole_ns(const struct checkers *k)
{
    return k->lacked_ns
               ? k->lacked_ns + LOOK_APART_NS + FEED_CLIENT_REFRESH_NS + REFRESHED_WITHIN_NS
               : 0;
}

void check_copies_well(struct checkers *k, struct buf *ret_why)
{
    for (unsigned i = 0; i < k->cluster->options.bbs; i++) {
        if (k->differs_since_ns[i] != NEVER_NS) {
            buf_printf(ret_why, "the copy of %s is not the board; ",
                       node_name(k->cluster->bbs[i]));
        }
    }
}
