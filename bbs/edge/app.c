#include "bbs/edge/catalogue.h"
#include "bbs/edge/refs.h"
#include "bbs/edge/uses.h"
#include "bbs/lrp/validate.h"
#include "common/base/message.h"
#include "common/model/edge_name.h"

#include "edge_api.pb-c.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct edge_app_snapshot {
    const Board__EdgeAppRecord *app;     /* NULL = none */
    struct uses uses;                    /* of a removal */
    const char *gone[APP_REVISIONS_MAX]; /* keys of revisions that go */
    size_t gone_count, count;            /* of all there are */
    bool unknown;                        /* the flavor is not there */
    const char *use, *former_use; /* keys: that it refers to its flavor, and to the one before;
                                   * former_use NULL = it is the same, or none */
    bool use_stands, former_stands;
};

static const Board__EdgeAppRevisionRecord *applied(const struct op_input *in)
{
    return (const Board__EdgeAppRevisionRecord *)in->request;
}

/* ---- What is wrong --------------------------------------------------------------------------- */

static const char *port_fault(struct arena *a, const Board__EdgePort *p)
{
    uint32_t last = p->last ? p->last : p->internal;
    if (p->internal < 1 || last > 65535 || last < p->internal) {
        return last == p->internal
                   ? arena_printf(a, "ports: %u, must be from 1 to 65535", p->internal)
                   : arena_printf(a, "ports: %u to %u, must rise, and be from 1 to 65535",
                                  p->internal, last);
    }
    return p->internal <= PORT_SSH && last >= PORT_SSH
               ? arena_printf(a, "ports: %d is not for apps", PORT_SSH)
               : NULL;
}

static void valid_ports(struct validation *v, const Board__EdgeAppSpec *s)
{
    SCOPED_ARENA(a);
    const char *fault = s->n_ports > APP_PORTS_MAX
                            ? arena_printf(&a, "ports: %zu, at most %d", s->n_ports, APP_PORTS_MAX)
                            : NULL;
    for (size_t i = 0; i < s->n_ports && !fault; i++) {
        fault = port_fault(&a, s->ports[i]);
        for (size_t k = 0; k < i && !fault; k++) {
            fault = ports_overlap(s->ports[i], s->ports[k], false)
                        ? arena_printf(&a, "ports: %u is said twice", s->ports[i]->internal)
                        : NULL;
        }
    }
    if (fault) {
        say(v, fault);
    }
}

/* What the centre or the site sets is not said; all else is what the site's bbs takes. An app
 * without metric tags gets its instance's name as its source there. */
static void valid_definition(struct validation *v, const Models__DesiredLRP *d)
{
    Models__DesiredLRP whole = *d;
    Models__DesiredLRP__MetricTagsEntry source = MODELS__DESIRED_LRP__METRIC_TAGS_ENTRY__INIT;
    Models__MetricTagValue value = MODELS__METRIC_TAG_VALUE__INIT;
    Models__DesiredLRP__MetricTagsEntry *tags[] = {&source};
    value.static_ = (char *)(uintptr_t) "app";
    source.value = &value;
    if (*d->process_guid || *d->domain || d->owner || d->instances || d->memory_mb || d->disk_mb ||
        (d->routes && d->routes->n_routes) || *d->slice) {
        say(v, "definition: process_guid, domain, owner, instances, memory, disk, routes and slice "
               "are the centre's to say");
        return;
    }
    whole.process_guid = whole.domain = (char *)(uintptr_t) "app";
    if (!d->n_metric_tags) {
        whole.n_metric_tags = 1;
        whole.metric_tags = tags;
    }
    valid_unsealed(v, &d->base);
    valid_desire(v, &whole);
}

void valid_edge_app(struct validation *v, const Board__EdgeAppRevisionRecord *request)
{
    SCOPED_ARENA(a);
    const char *fault = edge_name_fault(&a, RECORD_APP, request->name);
    size_t bytes = protobuf_c_message_get_packed_size(&request->base);
    if (fault) {
        say(v, fault);
    }
    if (bytes > APP_BYTES_MAX) {
        say(v, arena_printf(&a, "app %s has %zu bytes: at most %d", request->name, bytes,
                            APP_BYTES_MAX));
        return;
    }
    if (!request->spec || !*request->spec->flavor) {
        say(v, "flavor: which one?");
    } else {
        valid_ports(v, request->spec);
    }
    if (!request->definition) {
        say(v, "definition: what does it run?");
    } else {
        valid_definition(v, request->definition);
    }
}

/* ---- Apply ----------------------------------------------------------------------------------- */

static const char *apply_target(struct arena *a, const struct op_input *in)
{
    return key_edge(a, RECORD_APP, applied(in)->name);
}

static char *digest_of(struct arena *a, const Board__EdgeAppRevisionRecord *r)
{
    Board__EdgeAppRevisionRecord both = BOARD__EDGE_APP_REVISION_RECORD__INIT;
    both.spec = r->spec;
    both.definition = r->definition;
    return arena_printf(a, "%016llx",
                        (unsigned long long)bytes_hash(message_packed(a, &both.base)));
}

/* Those that are not among the last when one more comes, and that nothing uses. */
static void gather_gone(struct view *v, const char *name, struct edge_app_snapshot *s)
{
    struct arena *a = view_arena(v);
    const char *range = key_edge_all(a, RECORD_APPDEF, name);
    uint64_t newest = s->app ? s->app->revision : 0;
    s->count = view_peek_count(v, range);
    for (const char *key = NULL; (key = view_peek_key(v, range, key));
         key = arena_printf(a, "%s!", key)) {
        uint64_t revision = strtoull(key + key_parent_size(key), NULL, 10);
        if (revision + APP_REVISIONS_KEPT > newest + 1 || s->gone_count == APP_REVISIONS_MAX) {
            return; /* in order of their numbers: none that follows goes */
        }
        key = arena_strdup(a, key);
        if (view_range_empty(v, key_uses(a, key)) && view_get(v, key)) {
            s->gone[s->gone_count++] = key;
        }
    }
}

/* The flavor of the newest revision; NULL = none. A revision is written once. */
static const char *flavor_of(struct view *v, const Board__EdgeAppRecord *app)
{
    struct arena *a = view_arena(v);
    const Board__EdgeAppRevisionRecord *def =
        app ? view_message(v, key_appdef(a, app->name, app->revision)) : NULL;
    return def && def->spec && *def->spec->flavor ? def->spec->flavor : NULL;
}

static const char *flavor_use(struct arena *a, const char *flavor, const char *app)
{
    return key_use(a, key_flavor(a, flavor), key_edge(a, RECORD_APP, app));
}

/* A flavor stays as long as an app has it: the newest revision's, for what runs of an older one
 * refers to its own. */
static void gather_use(struct view *v, const char *name, const char *flavor,
                       struct edge_app_snapshot *s)
{
    struct arena *a = view_arena(v);
    const char *former = flavor_of(v, s->app);
    s->use = flavor ? flavor_use(a, flavor, name) : NULL;
    s->use_stands = s->use && view_get(v, s->use);
    s->former_use =
        former && (!flavor || strcmp(former, flavor) != 0) ? flavor_use(a, former, name) : NULL;
    s->former_stands = s->former_use && view_get(v, s->former_use);
}

static void put_use(const struct edge_app_snapshot *s, const struct op_input *in,
                    const char *flavor, const char *name, struct plan *p)
{
    if (s->former_stands) {
        plan_delete(p, s->former_use, "apply", in->actor);
    }
    if (!s->use_stands) {
        Board__UseRecord *r = arena_message(p->arena, &board__use_record__descriptor);
        r->referred = (char *)(uintptr_t)key_flavor(p->arena, flavor);
        r->referring = (char *)(uintptr_t)key_edge(p->arena, RECORD_APP, name);
        plan_put(p, s->use, "apply", in->actor, &r->base);
    }
}

static void apply_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct edge_app_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    const Board__EdgeAppRevisionRecord *r = applied(in);
    s->app = view_message(v, apply_target(a, in));
    s->unknown = !view_exists(v, key_flavor(a, r->spec->flavor));
    gather_gone(v, r->name, s);
    gather_use(v, r->name, r->spec->flavor, s);
    /* Nobody writes the next one but who writes the app. */
    view_get(v, key_appdef(a, r->name, (s->app ? s->app->revision : 0) + 1));
}

static void put_revision(const struct edge_app_snapshot *s, const struct op_input *in,
                         struct plan *p)
{
    struct arena *a = p->arena;
    Board__EdgeAppRevisionRecord *r = arena_copy(a, applied(in), sizeof(*r));
    Board__EdgeAppRecord *app = arena_message(a, &board__edge_app_record__descriptor);
    char *uid = arena_alloc(a, GUID_BYTES);
    random_guid(in->random, uid);
    assert(s->count - s->gone_count < APP_REVISIONS_MAX);
    r->digest = digest_of(a, r);
    r->revision = (s->app ? s->app->revision : 0) + 1;
    app->name = r->name;
    app->uid = s->app ? s->app->uid : uid;
    app->revision = r->revision;
    app->digest = r->digest;
    app->since = in->now.wall_ns;
    for (size_t i = 0; i < s->gone_count; i++) {
        plan_delete(p, s->gone[i], "apply", in->actor);
    }
    put_use(s, in, r->spec->flavor, r->name, p);
    plan_put(p, key_appdef(a, r->name, r->revision), "apply", in->actor, &r->base);
    plan_put(p, apply_target(a, in), "apply", in->actor, &app->base);
}

/* 1. The flavor is not there: refused.
 * 2. It is so already: nothing.
 * 3. Its instances have as many revisions as may be: refused.
 * 4. One more. */
static void apply_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct edge_app_snapshot *s = snapshot;
    const Board__EdgeAppRevisionRecord *r = applied(in);
    if (s->unknown) { /* 1 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceNotFound, "there is no flavor %s",
                    r->spec->flavor);
    } else if (s->app && strcmp(s->app->digest, digest_of(p->arena, r)) == 0) { /* 2 */
        return;
    } else if (s->count - s->gone_count >= APP_REVISIONS_MAX) { /* 3 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "app %s has %d revisions, which is the most: refresh its instances, so that "
                    "older ones go",
                    r->name, APP_REVISIONS_MAX);
    } else { /* 4 */
        put_revision(s, in, p);
    }
}

const struct op_row apply_edge_app_row = {
    .name = "apply an app of sites",
    .target = apply_target,
    .gather = apply_gather,
    .decide = apply_decide,
    .snapshot_size = sizeof(struct edge_app_snapshot),
};

/* ---- Remove ---------------------------------------------------------------------------------- */

static const char *removed_key(struct arena *a, const struct op_input *in)
{
    return key_edge(a, RECORD_APP, ((const Board__EdgeRemoveRequest *)in->request)->name);
}

static void remove_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct edge_app_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    const Board__EdgeRemoveRequest *r = in->request;
    const struct seen *list;
    s->app = view_message(v, removed_key(a, in));
    uses_gather(v, removed_key(a, in), &s->uses);
    gather_use(v, r->name, NULL, s);
    int count = view_range(v, key_edge_all(a, RECORD_APPDEF, r->name), APP_REVISIONS_MAX, &list);
    for (int i = 0; i < count; i++) {
        s->gone[s->gone_count++] = list[i].key;
    }
}

static void remove_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct edge_app_snapshot *s = snapshot;
    const Board__EdgeRemoveRequest *r = in->request;
    if (!s->app) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceNotFound, "there is no app %s", r->name);
        return;
    }
    if (uses_refuse(&s->uses, r->name, p)) {
        return;
    }
    for (size_t i = 0; i < s->gone_count; i++) {
        plan_delete(p, s->gone[i], "remove", in->actor);
    }
    if (s->former_stands) {
        plan_delete(p, s->former_use, "remove", in->actor);
    }
    plan_delete(p, removed_key(p->arena, in), "remove", in->actor);
}

const struct op_row remove_edge_app_row = {
    .name = "remove an app of sites",
    .target = removed_key,
    .gather = remove_gather,
    .decide = remove_decide,
    .snapshot_size = sizeof(struct edge_app_snapshot),
};
