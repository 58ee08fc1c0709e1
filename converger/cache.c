#include "converger/cache.h"

#include "common/model/freshness.h"
#include "common/model/record.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void cache_init(struct cache *c)
{
    map_init(&c->cells);
    map_init(&c->domains);
    c->board_generation_revision = 0;
}

void cache_done(struct cache *c)
{
    cache_reset(c, true);
    assert(c->cells.count == 0 && c->domains.count == 0);
}

static const void *entry_at(const struct map *map, const char *key)
{
    SCOPED_ARENA(a);
    const char *name = key_component(&a, key, 1);
    return name ? map_get(map, name) : NULL;
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static void drop_unused_cell(struct cache *c, struct cached_cell *cell)
{
    if (!cell->known && cell->user_count == 0) {
        map_remove(&c->cells, cell->id);
        free(cell);
    }
}

void cell_use(struct cache *c, enum keeper_id keeper, struct cell_user *user, const char *id)
{
    assert(!user->cell);
    if (*id) {
        user->cell = map_named(&c->cells, id, offsetof(struct cached_cell, id));
        user->cell->user_count++;
        user->cell->on_count += !user->names;
        LIST_INSERT_HEAD(&user->cell->users[keeper], user, link);
    }
}

void cell_leave(struct cache *c, struct cell_user *user)
{
    struct cached_cell *cell = user->cell;
    if (cell) {
        LIST_REMOVE(user, link);
        user->cell = NULL;
        assert(cell->user_count > 0);
        cell->user_count--;
        cell->on_count -= !user->names;
        drop_unused_cell(c, cell);
    }
}

/* A record of a newer version is no reason to take its work away. */
static void learn_cell(struct cached_cell *c, const struct followed *record)
{
    SCOPED_ARENA(a);
    ProtobufCMessage *m;
    c->known = c->present = true;
    if (record_decode(&a, RECORD_CELL, blob_bytes(record->record), &m, NULL) == 0) {
        c->present = ((Board__CellRecord *)m)->state != BOARD__CELL_RECORD__STATE__LOST;
        c->seen = record->seen;
    }
}

static void change_cell(struct cache *c, const char *id, const struct followed *record)
{
    struct cached_cell *cell = map_named(&c->cells, id, offsetof(struct cached_cell, id));
    bool before = cell->present;
    if (record) {
        learn_cell(cell, record);
    } else {
        cell->known = cell->present = false;
    }
    cell->turned = cell->present != before;
    drop_unused_cell(c, cell);
}

const struct cached_cell *cache_cell_at(const struct cache *c, const char *key)
{
    return entry_at(&c->cells, key);
}

/* ---- Domains --------------------------------------------------------------------------------- */

static void drop_unused_domain(struct cache *c, struct cached_domain *d)
{
    if (!d->known && d->bearers == 0) {
        map_remove(&c->domains, d->name);
        free(d);
    }
}

struct cached_domain *domain_bear(struct cache *c, const char *name)
{
    struct cached_domain *d = map_named(&c->domains, name, offsetof(struct cached_domain, name));
    d->bearers++;
    return d;
}

void domain_bear_no_more(struct cache *c, struct cached_domain *d)
{
    if (d) {
        assert(d->bearers > 0);
        d->bearers--;
        drop_unused_domain(c, d);
    }
}

bool domain_is_fresh(const struct cache *c, const struct cached_domain *d, struct moment now)
{
    struct domain_seen seen = {.at = d->seen,
                               .in_this_board_generation = domain_in_board_generation(
                                   d->revision, c->board_generation_revision)};
    return d->known && domain_fresh(&d->record, seen, now);
}

static void forget_domain(struct cache *c, struct cached_domain *d)
{
    d->known = false;
    d->revision = 0;
    drop_unused_domain(c, d);
}

/* A revision that was seen before a reset of the copy keeps its age. */
static void learn_domain(struct cached_domain *d, const Board__DomainRecord *m,
                         const struct followed *record)
{
    if (!d->known || d->revision != record->mod_revision) {
        d->revision = record->mod_revision;
        d->seen = record->seen;
    }
    d->known = true;
    board__domain_record__init(&d->record);
    d->record.ttl_s = m->ttl_s;
    d->record.expires_at = m->expires_at;
}

/* A record that this version cannot read says nothing: not fresh. */
static void change_domain(struct cache *c, const char *name, const struct followed *record,
                          struct moment now)
{
    SCOPED_ARENA(a);
    ProtobufCMessage *m;
    struct cached_domain *d = map_named(&c->domains, name, offsetof(struct cached_domain, name));
    bool before = domain_is_fresh(c, d, now);
    d->turned = false;
    if (record && record_decode(&a, RECORD_DOMAIN, blob_bytes(record->record), &m, NULL) == 0) {
        learn_domain(d, (Board__DomainRecord *)m, record);
        d->turned = !before && domain_is_fresh(c, d, now);
    } else {
        forget_domain(c, d);
    }
}

const struct cached_domain *cache_domain_at(const struct cache *c, const char *key)
{
    return entry_at(&c->domains, key);
}

/* ---- The copy -------------------------------------------------------------------------------- */

void cache_reset(struct cache *c, bool other_board_generation)
{
    MAP_EACH(&c->cells, n)
    {
        struct cached_cell *cell = map_value(n);
        cell->known = cell->present = false;
        drop_unused_cell(c, cell);
    }
    MAP_EACH(&c->domains, n)
    {
        if (other_board_generation) {
            forget_domain(c, map_value(n));
        }
    }
    c->board_generation_revision = other_board_generation ? 0 : c->board_generation_revision;
}

void cache_change(struct cache *c, const char *key, const struct followed *record,
                  const char *board_generation, struct moment now)
{
    SCOPED_ARENA(a);
    enum record_type type = key_type(key);
    const char *name = key_component(&a, key, 1);
    if (type == RECORD_CELL && name) {
        change_cell(c, name, record);
    } else if (type == RECORD_DOMAIN && name) {
        change_domain(c, name, record, now);
    } else if (type == RECORD_BOARD_GENERATION && record &&
               strcmp(key, key_epoch(&a, board_generation)) == 0) {
        /* The feed does not send the end of an older one. */
        c->board_generation_revision = record->create_revision;
    }
}

void cache_current(struct cache *c, const struct feed_client *f)
{
    SCOPED_ARENA(a);
    MAP_EACH(&c->domains, n)
    {
        if (!feed_client_get(f, key_domain(&a, map_key(n)))) {
            forget_domain(c, map_value(n));
        }
    }
}
