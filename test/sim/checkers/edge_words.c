/* E2, E10, E11: what a CRM's move changes it has asked for in those very words, of the life, the
 * request, the session and the board generation that the records had; sessions only rise; and a CRM
 * is sent nothing of another cloudlet, nor of what only the centre has. */
#include "test/sim/checkers/edge.h"

#include "board.pb-c.h"
#include "common/model/edge_name.h"

#include <string.h>

/* What a word is known by. A cloudlet's own and its info's name no request. */
static const char *word_of(struct arena *a, const char *cloudlet, const char *key, const char *move,
                           const Board__EdgeMove *m, uint64_t request)
{
    return arena_printf(a, "%s %s %s %s %llu %llu %s", cloudlet, key, move, m->uid,
                        (unsigned long long)request, (unsigned long long)m->session,
                        m->board_generation);
}

static const struct edge_place *place_of_node(const struct edge_lives *l, const struct node *n)
{
    for (unsigned i = 0; i < l->place_count; i++) {
        if (l->places[i].checkers->cluster == node_cluster(n)) {
            return &l->places[i];
        }
    }
    return NULL;
}

static bool names_request(enum record_type type)
{
    return type == RECORD_CLUSTERINST || type == RECORD_APPINST;
}

void note_edge_words(struct checkers *k, struct node *from, const Board__Move *move)
{
    const struct edge_place *place =
        k->edge && k->edge->centre == k ? place_of_node(k->edge, from) : NULL;
    if (!place || move->body_case != BOARD__MOVE__BODY_EDGE || !move->subject) {
        return;
    }
    struct arena *a = &k->edge->arena;
    const char *key = arena_printf(a, "%s/%s", move->subject->kind, move->subject->key);
    uint64_t request = names_request(key_type(key)) ? move->edge->request : 0;
    const char *word = word_of(a, place->cloudlet, key, move->move, move->edge, request);
    map_put(&k->edge->words, word, (void *)(uintptr_t)word);
}

struct generation_sought {
    const char *id;
    int64_t created;
};

static void note_generation(void *context, const struct past *p)
{
    struct generation_sought *x = context;
    if (p->create_revision >= x->created) {
        x->created = p->create_revision;
        x->id = ((const Board__BoardGenerationRecord *)p->message)->id;
    }
}

static const Board__CloudletInfoRecord *info_of(const struct checkers *k, struct arena *a,
                                                const char *cloudlet, int64_t revision)
{
    return (const Board__CloudletInfoRecord *)edge_stood(
        k, key_edge(a, RECORD_CLOUDLETINFO, cloudlet), revision);
}

static const Board__CloudletRecord *cloudlet_of(const struct checkers *k, struct arena *a,
                                                const char *cloudlet, int64_t revision)
{
    return (const Board__CloudletRecord *)edge_stood(k, key_edge(a, RECORD_CLOUDLET, cloudlet),
                                                     revision);
}

static bool was_asked(struct checkers *k, struct arena *a, const char *cloudlet, const char *key,
                      const char *move, Board__EdgeMove *m, uint64_t request,
                      const Board__CloudletInfoRecord *info)
{
    m->session = info ? info->session : 0;
    if (map_get(&k->edge->words, word_of(a, cloudlet, key, move, m, request))) {
        return true;
    }
    /* v1 may say that v2 has failed. */
    m->session = info ? info->former_session : 0;
    return m->session && map_get(&k->edge->words, word_of(a, cloudlet, key, move, m, request));
}

static void check_word(struct checkers *k, const struct past *p, const Board__EdgeMove *general)
{
    SCOPED_ARENA(a);
    const char *name = key_edge_name(&a, p->key);
    const char *cloudlet = edge_cloudlet_of(&a, name);
    const struct tracked_head *o = edge_head(p->before);
    const Board__CloudletRecord *c = cloudlet_of(k, &a, cloudlet, p->revision - 1);
    Board__EdgeMove m = *general;
    bool tracked = names_request(p->type);
    bool init = strcmp(p->cause->move, "init") == 0; /* opens the session that it names */
    const Board__CloudletInfoRecord *info = info_of(k, &a, cloudlet, p->revision - !init);
    m.uid = tracked ? (o ? o->uid : m.uid) : c ? c->uid : m.uid;
    /* What a CRM says of the cloudlet is written with its info, and the other way round. */
    bool asked = was_asked(k, &a, cloudlet, p->key, p->cause->move, &m, o ? o->request : 0, info);
    if (!tracked && !asked) {
        asked = was_asked(k, &a, cloudlet, key_edge(&a, RECORD_CLOUDLET, cloudlet), p->cause->move,
                          &m, 0, info);
    }
    if (!asked) {
        checkers_report(k, "E2",
                        "%s: %s by the crm, which nobody asked for of life %s, request "
                        "%llu, session %llu and board generation %s",
                        p->key, p->cause->move, m.uid, (unsigned long long)(o ? o->request : 0),
                        (unsigned long long)(info ? info->session : 0), m.board_generation);
    }
    k->seen[SEEN_CRM_WORDS]++;
}

static void check_session(struct checkers *k, const struct past *p)
{
    const Board__CloudletInfoRecord *was =
        p->before ? (const Board__CloudletInfoRecord *)p->before->message : NULL;
    const Board__CloudletInfoRecord *is = (const Board__CloudletInfoRecord *)p->message;
    bool opens = was && is && strcmp(p->cause->move, "init") == 0;
    /* A v2 that failed gives the session back to v1. */
    bool back = was && is && is->session == was->former_session && is->session;
    if (was && is && strcmp(was->uid, is->uid) == 0 && !back &&
        (is->session < was->session || (opens && is->session == was->session))) {
        checkers_report(k, "E10", "%s: %s leads from session %llu to %llu", p->key, p->cause->move,
                        (unsigned long long)was->session, (unsigned long long)is->session);
    }
}

void check_edge_words(struct checkers *k, const struct passage *p,
                      const struct world_commit *commit)
{
    if (!k->edge || k->edge->centre != k || !commit) {
        return;
    }
    struct generation_sought g = {.id = ""};
    history_each(&k->history, "epoch/", note_generation, &g);
    Board__EdgeMove m = BOARD__EDGE_MOVE__INIT;
    m.board_generation = (char *)(uintptr_t)g.id;
    for (size_t i = 0; i < p->count; i++) {
        const struct past *one = p->list[i];
        bool own = names_request(one->type) || one->type == RECORD_CLOUDLET ||
                   one->type == RECORD_CLOUDLETINFO;
        if (own && one->before && one->cause && !edge_is_reserved_anew(one) &&
            strcmp(one->cause->actor, "crm") == 0) {
            check_word(k, one, &m);
        }
        if (one->type == RECORD_CLOUDLETINFO && one->cause) {
            check_session(k, one);
        }
    }
}

/* ---- What it is sent ---- */

static bool has(struct bytes data, const char *text)
{
    return memmem(data.data, data.size, text, strlen(text)) != NULL;
}

void edge_sent(struct edge_lives *l, const struct node *crm, struct bytes data)
{
    static const char *const none[] = {"refs/",   "flavor/", "progress/",
                                       "appdef/", "use/",    "lead/c"};
    const struct edge_place *place = place_of_node(l, crm);
    for (unsigned i = 0; place && i < l->place_count; i++) {
        if (&l->places[i] != place && has(data, l->places[i].cloudlet)) {
            checkers_report(l->centre, "E11", "%s is sent something of %s", node_name(crm),
                            l->places[i].cloudlet);
        }
    }
    for (size_t i = 0; place && i < sizeof(none) / sizeof(none[0]); i++) {
        if (has(data, none[i])) {
            checkers_report(l->centre, "E11", "%s is sent %s", node_name(crm), none[i]);
        }
    }
    l->centre->seen[SEEN_SENT_TO_CRMS] += place != NULL;
}
