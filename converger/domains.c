#include "converger/domains.h"

#include "common/model/freshness.h"
#include "common/model/record.h"

#include <stdlib.h>

struct domain_sighting {
    int64_t revision;
    struct sighting seen;
    Board__DomainRecord record; /* its strings are not kept */
};

void domains_init(struct domains *d)
{
    map_init(&d->by_key);
    d->epoch_revision = 0;
}

void domains_forget(struct domains *d)
{
    map_done(&d->by_key, free);
    d->epoch_revision = 0;
}

void domains_epoch(struct domains *d, int64_t create_revision)
{
    d->epoch_revision = create_revision;
}

void domains_done(struct domains *d)
{
    domains_forget(d);
}

static bool fresh(const struct domains *d, const struct domain_sighting *s, struct moment now)
{
    if (!s) {
        return false;
    }
    struct domain_seen seen = {.at = s->seen,
                               .in_this_epoch = domain_in_epoch(s->revision, d->epoch_revision)};
    return domain_fresh(&s->record, seen, now);
}

/* A record that this version cannot read says nothing: not fresh. */
bool domains_put(struct domains *d, const char *key, const struct followed *record,
                 struct moment now)
{
    struct arena a;
    ProtobufCMessage *m;
    struct domain_sighting *s = map_get(&d->by_key, key);
    bool before = fresh(d, s, now);
    arena_init(&a);
    if (record_decode(&a, RECORD_DOMAIN, blob_bytes(record->record), &m, NULL) < 0) {
        domains_gone(d, key);
        arena_done(&a);
        return false;
    }
    if (!s) {
        s = calloc(1, sizeof(*s));
        if (!s) {
            abort();
        }
        map_put(&d->by_key, key, s);
    }
    if (s->revision != record->mod_revision) {
        s->revision = record->mod_revision;
        s->seen = record->seen;
    }
    board__domain_record__init(&s->record);
    s->record.ttl_s = ((Board__DomainRecord *)m)->ttl_s;
    s->record.expires_at = ((Board__DomainRecord *)m)->expires_at;
    arena_done(&a);
    return !before && fresh(d, s, now);
}

void domains_gone(struct domains *d, const char *key)
{
    free(map_remove(&d->by_key, key));
}

void domains_current(struct domains *d, const struct follower *f)
{
    MAP_EACH(&d->by_key, n)
    {
        if (!follower_get(f, map_key(n))) {
            free(map_remove(&d->by_key, map_key(n)));
        }
    }
}

bool domains_fresh(const struct domains *d, struct arena *a, const char *domain, struct moment now)
{
    return fresh(d, map_get(&d->by_key, key_domain(a, domain)), now);
}

void domains_each_expired(const struct domains *d, struct moment now,
                          void (*each)(void *context, const char *domain), void *context)
{
    struct arena a;
    arena_init(&a);
    MAP_EACH(&d->by_key, n)
    {
        const struct domain_sighting *s = map_value(n);
        if (domain_over(&s->record, s->seen, now)) {
            each(context, key_component(&a, map_key(n), 1));
        }
    }
    arena_done(&a);
}
