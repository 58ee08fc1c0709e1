#include "test/sim/stories/crms.h"

#include "common/base/message.h"
#include "common/model/record.h"
#include "crm/crm.h"

#define HOOK "/hook"

/* ---- Processes ------------------------------------------------------------------------------- */

static struct federation_crm *crm_of(struct crms *x, const char *version)
{
    for (unsigned i = 0; i < x->site->crm_count; i++) {
        if (strcmp(x->site->crms[i].version, version) == 0) {
            return &x->site->crms[i];
        }
    }
    fail_msg("there is no version %s", version);
    return NULL;
}

struct node *crms_node(struct crms *x, const char *version)
{
    return crm_of(x, version)->node;
}

void crms_start(struct crms *x, const char *version)
{
    struct node *n = crms_node(x, version);
    if (!node_up(n)) {
        world_start(x->world, n);
    }
}

static struct role *make_elsewhere(void *context, unsigned incarnation)
{
    const struct crms *x = context;
    (void)incarnation;
    return crm_new(&(struct crm_config){.name = node_name(x->elsewhere),
                                        .cloudlet = PARIS,
                                        .version = "1.0",
                                        .boards = node_url(x->other->bbs[0]),
                                        .centres = x->play.f.centres,
                                        .url = node_url(x->elsewhere)});
}

struct node *crms_elsewhere(struct crms *x)
{
    struct cluster_options options = x->site->cluster->options;
    options.name = "rome";
    x->other = cluster_beside(x->play.f.centre, &options);
    assert_true(world_run_until(x->world, SETTLE_NS, cluster_ready, x->other));
    x->elsewhere = world_add(x->world, &(struct node_config){.name = "crm-1.rome",
                                                             .unit = "site",
                                                             .certificate_name = "crm-1.rome",
                                                             .centre_name = PARIS,
                                                             .url = "https://crm-1.rome:9025",
                                                             .cluster = x->other,
                                                             .make = make_elsewhere,
                                                             .context = x});
    assert_non_null(x->elsewhere);
    world_start(x->world, x->elsewhere);
    return x->elsewhere;
}

static void hook_does(void *context, struct node *from, const struct launch *launch)
{
    struct crms *x = context;
    struct node *n = crms_node(x, launch->words[2]);
    (void)from;
    if (strcmp(launch->words[1], "start") == 0) {
        crms_start(x, launch->words[2]);
    } else if (node_up(n)) {
        world_kill(x->world, n);
    }
}

static struct world_program hook(void *context, struct node *from, const struct launch *launch)
{
    struct crms *x = context;
    (void)from;
    assert_int_equal(launch->count, 3);
    assert_string_equal(launch->words[0], HOOK);
    struct crms_hook *h = strcmp(launch->words[1], "start") == 0 ? &x->start : &x->stop;
    h->runs++;
    return (struct world_program){.does = h->does_ns == NEVER_NS ? NULL : hook_does,
                                  .context = x,
                                  .does_ns = h->does_ns,
                                  .ends_ns = h->ends_ns,
                                  .status = h->status,
                                  .line = h->line};
}

void crms_open(struct crms *x, struct cluster *centre, bool with_hook)
{
    static const char *const versions[CRMS_VERSIONS] = {"1.0", "2.0", "3.0"};
    struct federation_options options = {.site = centre->options};
    options.site.bbs = options.site.cells = 1;
    *x = (struct crms){.world = centre->world};
    federation_init(&x->play.f, centre, &options);
    x->site = x->play.paris = &x->play.f.sites[0];
    x->start = x->stop = (struct crms_hook){.does_ns = SECOND_NS, .ends_ns = 2 * SECOND_NS};
    for (int i = 0; i < CRMS_VERSIONS; i++) {
        struct federation_crm *c =
            i == 0 ? &x->site->crms[0] : federation_add_crm(x->site, versions[i]);
        c->launch = with_hook ? HOOK : NULL;
    }
    world_serve_programs(centre->world, hook, x);
}

void crms_begin(struct crms *x, struct cluster *centre, bool with_hook)
{
    crms_open(x, centre, with_hook);
    edge_done(&x->play, federation_create_cloudlet(x->site));
    crms_start(x, "1.0");
    edge_await(&x->play, PARIS, "READY");
    edge_done(&x->play, federation_flavor(&x->play.f, "small", 1));
    edge_with_shop(&x->play);
    x->containers = cluster_containers(x->site->cluster);
    assert_int_equal(x->containers, 2);
}

void crms_close(struct crms *x)
{
    world_serve_programs(x->world, NULL, NULL);
    edge_end(&x->play);
}

/* ---- What a client asks ---------------------------------------------------------------------- */

static const char *refusal(struct crms *x, int result)
{
    if (result < 0) {
        fail_msg("no answer came");
    }
    return result ? x->play.f.refusal : "";
}

const char *crms_upgrade(struct crms *x, const char *version)
{
    return refusal(x, federation_upgrade(x->site, version));
}

const char *crms_create_cluster(struct crms *x, const char *name)
{
    return refusal(x, edge_create_cluster(&x->play, name, 1));
}

const char *crms_delete(struct crms *x, const char *name)
{
    return refusal(x, federation_delete(&x->play.f, name, 0));
}

/* ---- Looking --------------------------------------------------------------------------------- */

struct kept_copy {
    struct arena *arena;
    const void *message;
};

static void keep_copy(void *context, enum record_type type, const ProtobufCMessage *m)
{
    struct kept_copy *kept = context;
    (void)type;
    kept->message = message_copy(kept->arena, m);
}

static const void *record_at(struct crms *x, const char *key)
{
    struct kept_copy kept = {.arena = &x->play.f.arena};
    cluster_each(x->play.f.centre, key, keep_copy, &kept);
    return kept.message;
}

static const void *record_of(struct crms *x, enum record_type type)
{
    return record_at(x, key_edge(&x->play.f.arena, type, PARIS));
}

const Board__CloudletRecord *crms_cloudlet(struct crms *x)
{
    return record_of(x, RECORD_CLOUDLET);
}

const Board__CloudletInfoRecord *crms_info(struct crms *x)
{
    return record_of(x, RECORD_CLOUDLETINFO);
}

const Board__MaintenanceRecord *crms_maintenance(struct crms *x)
{
    return record_of(x, RECORD_MAINTENANCE);
}

static const Board__ProgressRecord *progress(struct crms *x)
{
    const Board__CloudletRecord *c = crms_cloudlet(x);
    assert_non_null(c);
    const Board__ProgressRecord *p = record_at(x, key_progress(&x->play.f.arena, c->uid));
    assert_non_null(p);
    return p;
}

const char *crms_progress(struct crms *x)
{
    const Board__ProgressRecord *p = progress(x);
    const char *all = "";
    for (size_t i = 0; i < p->n_lines; i++) {
        all = arena_printf(&x->play.f.arena, "%s%s|", all, p->lines[i]->text);
    }
    return all;
}

const char *crms_end(struct crms *x)
{
    return progress(x)->end;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

struct wanted_states {
    struct crms *x;
    const char *cloudlet, *info; /* NULL = any */
    uint64_t session;            /* 0 = any */
};

static bool are_so(void *context)
{
    const struct wanted_states *s = context;
    const Board__CloudletRecord *c = crms_cloudlet(s->x);
    const Board__CloudletInfoRecord *i = crms_info(s->x);
    return (!s->cloudlet || strcmp(c ? c->state : "", s->cloudlet) == 0) &&
           (!s->info || strcmp(i ? i->state : "", s->info) == 0) &&
           (!s->session || (i && i->session == s->session));
}

static void never_so(struct crms *x, const struct wanted_states *s)
{
    const Board__CloudletRecord *c = crms_cloudlet(x);
    const Board__CloudletInfoRecord *i = crms_info(x);
    fail_msg("the cloudlet is %s and its CRM %s, not %s and %s", c ? c->state : "gone",
             i ? i->state : "not there", s->cloudlet ? s->cloudlet : "anything",
             s->info ? s->info : "anything");
}

static void look_at_containers(struct crms *x)
{
    int running = cluster_containers(x->site->cluster);
    if (running != x->containers) {
        fail_msg("%d containers run at the site, not %d", running, x->containers);
    }
}

int64_t crms_await(struct crms *x, const char *cloudlet, const char *info, int64_t limit_ns)
{
    struct wanted_states s = {.x = x, .cloudlet = cloudlet, .info = info};
    int64_t from = world_now(x->world);
    while (!are_so(&s)) {
        if (world_now(x->world) >= from + limit_ns) {
            never_so(x, &s);
        }
        world_run(x->world, SECOND_NS / 10);
        look_at_containers(x);
    }
    return world_now(x->world) - from;
}

void crms_until(struct crms *x, const char *cloudlet, const char *info, uint64_t session)
{
    struct wanted_states s = {x, cloudlet, info, session};
    if (!world_run_until(x->world, EDGE_SETTLE_NS, are_so, &s)) {
        never_so(x, &s);
    }
}

void crms_pass(struct crms *x, int64_t duration_ns)
{
    for (int64_t left = duration_ns; left > 0; left -= SECOND_NS) {
        world_run(x->world, left < SECOND_NS ? left : SECOND_NS);
        look_at_containers(x);
    }
}

void crms_cut(struct crms *x, const char *version, bool cut)
{
    struct cluster *centre = x->play.f.centre;
    struct node *n = crms_node(x, version);
    for (unsigned i = 0; i < centre->options.bbs; i++) {
        world_cut(x->world, n, centre->bbs[i], cut);
        world_cut(x->world, centre->bbs[i], n, cut);
    }
    world_note(x->world, node_name(n), cut ? "is cut off from the centre" : "reaches it again");
}

int64_t crms_drawn_ns(struct crms *x, int64_t low_ns, int64_t high_ns)
{
    return low_ns + (int64_t)random_below(world_random(x->world), (uint64_t)(high_ns - low_ns));
}
