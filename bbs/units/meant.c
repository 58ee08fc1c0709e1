/* Which relation a client means who leaves an endpoint out. */
#include "bbs/units/facts.h"
#include "bbs/units/told.h"
#include "bbs/units/unit_jobs.h"
#include "common/charmfile/endpoints.h"

#include <assert.h>
#include <string.h>

enum { MEANT_TOLD_MAX = 4 }; /* a text of an error is short */

/* ---- Of two services ------------------------------------------------------------------------- */

static int find_end(struct view *v, const Board__UnitEnd *asked, struct charm_end *ret,
                    struct err *err)
{
    struct arena *a = view_arena(v);
    const Board__UnitServiceRecord *s = view_peek_message(v, key_unit_service(a, asked->service));
    const Board__CharmRecord *r = s ? view_peek_message(v, key_charm(a, s->name, s->charm)) : NULL;
    if (!r || !r->charm) {
        return err_set(err, ERR_NOT_FOUND, "%s", units_unknown(v, NOUN_SERVICE, asked->service));
    }
    struct charm *charm = ARENA_NEW(a, struct charm);
    *charm = charm_ends_of_message(a, r->charm);
    *ret = (struct charm_end){s->name, charm, asked->endpoint};
    return 0;
}

int units_ends_meant(struct view *v, const Board__RelateUnitsRequest *asked, struct arena *a,
                     Board__RelateUnitsRequest **ret_request, struct err *err)
{
    struct charm_end ends[2];
    struct charm_fit fit;
    int r = 0;
    if (asked->n_ends != 2) {
        return err_set(err, ERR_INVALID, "a relation has two ends, not %zu", asked->n_ends);
    }
    for (size_t i = 0; r == 0 && i < 2; i++) {
        r = find_end(v, asked->ends[i], &ends[i], err);
    }
    r = r < 0 ? r : charm_ends_fit(view_arena(v), ends, &fit, err);
    if (r < 0) {
        return r;
    }
    Board__RelateUnitsRequest *request = arena_message(a, &board__relate_units_request__descriptor);
    request->ends = ARENA_ARRAY(a, 2, Board__UnitEnd *);
    for (; request->n_ends < 2; request->n_ends++) {
        Board__UnitEnd *end = arena_message(a, &board__unit_end__descriptor);
        end->service = arena_strdup(a, ends[request->n_ends].service);
        end->endpoint = arena_strdup(a, fit.ends[request->n_ends].name);
        request->ends[request->n_ends] = end;
    }
    assert(request->n_ends == 2 && *request->ends[0]->endpoint && *request->ends[1]->endpoint);
    *ret_request = request;
    return 0;
}

/* ---- Of one that stands ---------------------------------------------------------------------- */

static bool is_end(const Board__RelationEnd *end, const Board__UnitEnd *asked)
{
    return strcmp(end->service, asked->service) == 0 &&
           (!*asked->endpoint || strcmp(end->endpoint->name, asked->endpoint) == 0);
}

static bool is_between(const Board__RelationRecord *r, const Board__UnitEnd *x,
                       const Board__UnitEnd *y)
{
    assert(r->n_ends > 0);
    const Board__RelationEnd *first = r->ends[0], *last = r->ends[r->n_ends - 1];
    return (is_end(first, x) && is_end(last, y)) || (is_end(first, y) && is_end(last, x));
}

static const char *end_text(struct arena *a, const Board__UnitEnd *e)
{
    return arena_printf(a, "%s%s%s", e->service, *e->endpoint ? ":" : "", e->endpoint);
}

/* Those between the ends: how many, the last of them, and the names of some. */
static size_t find_between(struct view *v, const Board__UnitEnd *x, const Board__UnitEnd *y,
                           uint32_t *ret_number, const char **ret_list)
{
    struct arena *a = view_arena(v);
    const char *range = key_range_of(a, RECORD_UNIT_SERVICE_RELATION, x->service);
    size_t found = 0;
    *ret_list = "";
    for (const char *key = ""; (key = units_key_after(v, range, key));) {
        uint32_t number;
        const Board__RelationRecord *r =
            number_of_key(a, key, &number) ? view_peek_message(v, key_relation(a, number)) : NULL;
        if (r && r->n_ends > 0 && is_between(r, x, y)) {
            *ret_number = number;
            found++;
            if (found <= MEANT_TOLD_MAX) {
                *ret_list = arena_printf(a, "%s%s%s", *ret_list, found > 1 ? ", " : "",
                                         relation_canonical(a, r->ends, r->n_ends));
            }
        }
    }
    assert((found > 0) == (**ret_list != 0));
    return found;
}

int units_relation_meant(struct view *v, const Board__UnitRelationRequest *asked,
                         uint32_t *ret_number, struct err *err)
{
    struct arena *a = view_arena(v);
    const char *list;
    if (asked->n_ends != 2) {
        return err_set(err, ERR_INVALID, "a relation has two ends, not %zu", asked->n_ends);
    }
    for (size_t i = 0; i < 2; i++) {
        const char *service = asked->ends[i]->service;
        if (!view_peek(v, key_unit_service(a, service))) {
            return err_set(err, ERR_NOT_FOUND, "%s", units_unknown(v, NOUN_SERVICE, service));
        }
    }
    const char *x = end_text(a, asked->ends[0]), *y = end_text(a, asked->ends[1]);
    size_t found = find_between(v, asked->ends[0], asked->ends[1], ret_number, &list);
    if (found == 0) {
        return err_set(err, ERR_NOT_FOUND,
                       "%s and %s are not related: bbs units relations lists what is", x, y);
    }
    return found == 1
               ? 0
               : err_set(err, ERR_INVALID, "%s and %s have %zu relations; name the ends: %s%s", x,
                         y, found, list, found > MEANT_TOLD_MAX ? ", ..." : "");
}
