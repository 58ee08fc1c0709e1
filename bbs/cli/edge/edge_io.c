#include "bbs/cli/edge/edge_io.h"

#include "bbs/cli/edge/edge_words.h"
#include "common/cli/cli_io.h"
#include "common/cli/commands.h"
#include "common/codec/json.h"
#include "common/codec/nearest.h"
#include "models/desired_lrp_requests.pb-c.h"

#include <stdio.h>
#include <string.h>

enum {
    POLL_MS = 200,
    ASK_MS = 10000, /* of the request itself, before anything is waited for */
};

const struct cli_option bbs_edge_wait_options[] = {
    {.name = "wait", .help = "wait until it is done; exit status 1: it failed"},
    {.name = "follow", .help = "the same, and show each line of its progress", .letter = 'f'},
    {.name = "timeout", .value = "TIME", .help = "how long to wait", .fallback = "35m"},
    {.name = "override", .value = EDGE_OVERRIDES, .help = "what it may pass over"},
    {0},
};

const struct cli_option bbs_edge_follow_options[] = {
    {.name = "timeout", .value = "TIME", .help = "how long to follow it", .fallback = "35m"},
    {0},
};

int edge_call(struct session *s, struct arena *a, const char *path, const ProtobufCMessage *request,
              const ProtobufCMessageDescriptor *answer_type, ProtobufCMessage **ret_answer,
              struct err *err)
{
    return cli_client_call(s->client, a, arena_printf(a, "/v1/edge/%s", path), request, answer_type,
                           ret_answer, err);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static int list_in(struct session *s, struct arena *a, const char *noun, const char *name,
                   const ProtobufCMessageDescriptor *list, ProtobufCMessage **ret, struct err *err)
{
    Board__EdgeListRequest request = BOARD__EDGE_LIST_REQUEST__INIT;
    request.name = arena_strdup(a, name);
    return edge_call(s, a, arena_printf(a, "%s/list", noun), &request.base, list, ret, err);
}

int edge_list(struct session *s, const char *noun, const char *name,
              const ProtobufCMessageDescriptor *list, ProtobufCMessage **ret, struct err *err)
{
    return list_in(s, &s->arena, noun, name, list, ret, err);
}

int edge_read_board(struct session *s, const char *name, struct edge_board *ret, struct err *err)
{
    static const struct {
        const char *noun;
        const ProtobufCMessageDescriptor *list;
    } all[] = {
        {"cloudlet", &board__edge_cloudlets_response__descriptor},
        {"info", &board__edge_infos_response__descriptor},
        {"refs", &board__edge_refs_response__descriptor},
        {"maintenance", &board__edge_maintenance_response__descriptor},
        {"cluster", &board__edge_clusters_response__descriptor},
        {"instance", &board__edge_instances_response__descriptor},
    };
    enum { KINDS = sizeof(all) / sizeof(all[0]) };
    ProtobufCMessage *m[KINDS] = {NULL};
    for (size_t i = 0; i < KINDS; i++) {
        int r = edge_list(s, all[i].noun, name, all[i].list, &m[i], err);
        if (r < 0) {
            return r;
        }
    }
    *ret = (struct edge_board){
        .cloudlets = (const Board__EdgeCloudletsResponse *)m[0],
        .infos = (const Board__EdgeInfosResponse *)m[1],
        .refs = (const Board__EdgeRefsResponse *)m[2],
        .maintenance = (const Board__EdgeMaintenanceResponse *)m[3],
        .clusters = (const Board__EdgeClustersResponse *)m[4],
        .instances = (const Board__EdgeInstancesResponse *)m[5],
        .now_ns = cli_wall_ns(),
        .width = cli_columns(),
    };
    return 0;
}

int edge_not_found(const struct invocation *call, const char *noun, const char *name,
                   const char *const *names, size_t count, struct err *err)
{
    const char *verb = cli_verb_near(call, name);
    struct nearest n;
    nearest_begin(&n, name);
    for (size_t i = 0; i < count; i++) {
        nearest_consider(&n, names[i]);
    }
    if (verb) {
        return err_set(err, ERR_NOT_FOUND, "there is no %s \"%.60s\"; did you mean bbs %s %.30s?",
                       noun, name, call->group->name, verb);
    }
    return n.best ? err_set(err, ERR_NOT_FOUND, "there is no %s \"%.80s\"; did you mean \"%.80s\"?",
                            noun, name, n.best)
                  : err_set(err, ERR_NOT_FOUND, "there is no %s \"%.120s\"", noun, name);
}

/* ---- The kinds ------------------------------------------------------------------------------- */

static bool find_cloudlet(const ProtobufCMessage *m, const char *name, struct edge_thing *ret)
{
    const Board__EdgeCloudletsResponse *all = (const Board__EdgeCloudletsResponse *)m;
    for (size_t i = 0; i < all->n_cloudlets; i++) {
        if (strcmp(all->cloudlets[i]->name, name) == 0) {
            *ret = edge_thing_of_cloudlet(all->cloudlets[i]);
            return true;
        }
    }
    return false;
}

static bool find_cluster(const ProtobufCMessage *m, const char *name, struct edge_thing *ret)
{
    const Board__EdgeClustersResponse *all = (const Board__EdgeClustersResponse *)m;
    for (size_t i = 0; i < all->n_clusters; i++) {
        if (strcmp(all->clusters[i]->name, name) == 0) {
            *ret = edge_thing_of_cluster(all->clusters[i]);
            return true;
        }
    }
    return false;
}

static bool find_instance(const ProtobufCMessage *m, const char *name, struct edge_thing *ret)
{
    const Board__EdgeInstancesResponse *all = (const Board__EdgeInstancesResponse *)m;
    for (size_t i = 0; i < all->n_instances; i++) {
        if (strcmp(all->instances[i]->name, name) == 0) {
            *ret = edge_thing_of_instance(all->instances[i]);
            return true;
        }
    }
    return false;
}

const struct edge_noun edge_cloudlet_noun = {
    "cloudlet", "cloudlet", &board__edge_cloudlets_response__descriptor, find_cloudlet};
const struct edge_noun edge_cluster_noun = {
    "cluster", "cluster", &board__edge_clusters_response__descriptor, find_cluster};
const struct edge_noun edge_instance_noun = {
    "instance", "app instance", &board__edge_instances_response__descriptor, find_instance};

/* ---- Changes --------------------------------------------------------------------------------- */

int edge_done(struct session *s, const char *name, const char *result, const char *sentence,
              struct err *err)
{
    SCOPED_BUF(out);
    if (s->json) {
        buf_append_string(&out, "{\"name\":");
        json_string_text(bytes_of(name), &out);
        buf_printf(&out, ",\"result\":\"%s\"}\n", result);
    } else {
        buf_printf(&out, "%s\n", sentence);
    }
    return cli_print(buf_bytes(&out), err);
}

int edge_progress(struct session *s, struct arena *a, const char *uid,
                  const Board__ProgressRecord **ret, struct err *err)
{
    Board__EdgeProgressRequest request = BOARD__EDGE_PROGRESS_REQUEST__INIT;
    ProtobufCMessage *m;
    *ret = NULL;
    if (!uid) {
        return 0;
    }
    request.uid = arena_strdup(a, uid);
    int r = edge_call(s, a, "progress", &request.base, &board__edge_progress_response__descriptor,
                      &m, err);
    if (r == 0) {
        *ret = ((const Board__EdgeProgressResponse *)m)->progress;
    }
    return r == -ERR_NOT_FOUND ? 0 : r;
}

static int read_thing(struct session *s, struct arena *a, const struct edge_noun *noun,
                      const char *name, struct edge_thing *ret, bool *ret_there, struct err *err)
{
    ProtobufCMessage *m = NULL;
    int r = list_in(s, a, noun->path, name, noun->list, &m, err);
    *ret_there = r == 0 && noun->find(m, name, ret);
    return r;
}

static int show_lines(struct session *s, struct edge_wanted *w, const Board__ProgressRecord *p,
                      bool follows, struct err *err)
{
    SCOPED_BUF(out);
    if (follows) {
        edge_lines(w, p, s->json, &out);
    }
    return buf_bytes(&out).size ? cli_print(buf_bytes(&out), err) : 0;
}

/* One look. The record comes first: when it tells the end, the lines that are read then are all. */
static int look(struct session *s, const struct edge_noun *noun, struct edge_wanted *w,
                bool follows, enum edge_end *ret_end, const char **ret_why, struct err *err)
{
    SCOPED_ARENA(a);
    struct edge_thing thing;
    const Board__ProgressRecord *p = NULL;
    bool there;
    int r = read_thing(s, &a, noun, w->name, &thing, &there, err);
    const char *uid = w->uid ? w->uid : there ? thing.uid : NULL;
    r = r < 0 ? r : edge_progress(s, &a, uid, &p, err);
    if (r == 0) {
        *ret_end = edge_look(&s->arena, w, there ? &thing : NULL, p, ret_why);
        r = w->uid ? show_lines(s, w, p, follows, err) : 0;
    }
    return r;
}

/* A bbs that has not heard of a change yet shows what stood before it: such an end is believed when
 * it stands for a while. */
struct edge_doubt {
    enum edge_end end;
    int64_t since_ms;
};

static enum edge_end believed(struct edge_doubt *d, enum edge_end end)
{
    bool doubt = end == EDGE_UNCHANGED || end == EDGE_UNSEEN;
    int64_t now_ms = cli_now_ms();
    d->since_ms = doubt && d->end == end ? d->since_ms : now_ms;
    d->end = end;
    return doubt && now_ms - d->since_ms < EDGE_STANDS_MS ? EDGE_GOES_ON : end;
}

/* A bbs that does not answer is no end: the next one is asked until the time is over. */
int edge_await(struct session *s, const struct edge_noun *noun, struct edge_wanted *w, bool follows,
               enum edge_end *ret_end, const char **ret_why, struct err *err)
{
    struct edge_doubt doubt = {.end = EDGE_GOES_ON};
    for (;;) {
        cli_client_limit(s->client, session_look_ms(session_left_ms(s)));
        int r = look(s, noun, w, follows, ret_end, ret_why, err);
        bool late = r == -ERR_UNAVAILABLE || r == -ERR_TIMEOUT;
        if (r < 0 && !late && !cli_interrupted()) {
            return r;
        }
        *ret_end = believed(&doubt, r < 0 ? EDGE_GOES_ON : *ret_end);
        if (*ret_end != EDGE_GOES_ON || session_left_ms(s) == 0 || cli_interrupted()) {
            return 0;
        }
        cli_sleep_ms(POLL_MS);
    }
}

static int tell_end(struct session *s, const struct edge_wanted *w, enum edge_end end,
                    const char *why, struct err *err)
{
    const char *text = edge_end_text(&s->arena, w, end, why);
    const char *result = end == EDGE_GONE ? "gone" : end == EDGE_READY ? "ready" : "unchanged";
    int status = edge_end_status(end);
    if (end == EDGE_GOES_ON && cli_interrupted()) {
        return err_set(err, ERR_UNKNOWN, "interrupted; %.200s", text);
    }
    if (status == 0) {
        return edge_done(s, w->name, result, text, err);
    }
    fprintf(stderr, "bbs: %s\n", text);
    return status;
}

static int ask_change(struct session *s, const struct edge_noun *noun, const char *verb,
                      const char *name, Board__EdgeMove *says, struct err *err)
{
    Board__EdgeRequest request = BOARD__EDGE_REQUEST__INIT;
    ProtobufCMessage *answer;
    request.name = arena_strdup(&s->arena, name);
    request.says = says;
    says->override = edge_override_read(cli_text(s->call, "override"));
    cli_client_limit(s->client, session_at_most_ms(s, ASK_MS));
    return edge_call(s, &s->arena, arena_printf(&s->arena, "%s/%s", noun->path, verb),
                     &request.base, &models__desired_lrplifecycle_response__descriptor, &answer,
                     err);
}

int edge_begin(struct session *s, const struct edge_noun *noun, const char *verb, const char *name,
               Board__EdgeMove *says, bool waits, struct edge_wanted *ret, struct err *err)
{
    bool creates = strcmp(verb, "create") == 0, there = false;
    struct edge_thing before = {0};
    const Board__ProgressRecord *p = NULL;
    const char *word;
    int r = cli_choice(s->call, "override", &word, err);
    if (r == 0 && waits) {
        cli_client_limit(s->client, session_at_most_ms(s, ASK_MS));
        r = read_thing(s, &s->arena, noun, name, &before, &there, err);
        r = r < 0 || !there ? r : edge_progress(s, &s->arena, before.uid, &p, err);
    }
    r = r < 0 ? r : ask_change(s, noun, verb, name, says, err);
    if (r < 0) {
        return strstr(err->text, name) ? r : session_about(s, name, r, err);
    }
    *ret = (struct edge_wanted){
        .noun = noun->word,
        .name = name,
        .uid = there && !creates ? before.uid : NULL,
        .former = there && creates ? before.uid : NULL,
        .before = there && !creates ? before.request : 0,
        .goes = strcmp(verb, "delete") == 0,
        .takes_errors = says->override == BOARD__EDGE_OPERATION__OVERRIDE__IGNORE_CRM_ERRORS,
        .shown = p && p->next && !creates ? p->next - 1 : 0,
    };
    return 0;
}

int edge_change(struct session *s, const struct edge_noun *noun, const char *verb, const char *name,
                Board__EdgeMove *says, struct err *err)
{
    bool follows = cli_switch(s->call, "follow"), waits = s->wait || follows;
    struct edge_wanted w;
    enum edge_end end = EDGE_GOES_ON;
    const char *why = "";
    int r = edge_begin(s, noun, verb, name, says, waits, &w, err);
    if (r == 0 && !waits) {
        return edge_done(s, name, "requested",
                         arena_printf(&s->arena, "%s: %s requested", name, verb), err);
    }
    r = r < 0 ? r : edge_await(s, noun, &w, follows, &end, &why, err);
    return r < 0 ? r : tell_end(s, &w, end, why, err);
}

/* ---- What goes on already -------------------------------------------------------------------- */

/* Of an object that is gone its progress is left, for a while, by its uid. */
static int follow_gone(struct session *s, const struct edge_noun *noun, const char *uid,
                       struct err *err)
{
    const Board__ProgressRecord *p = NULL;
    int r = edge_progress(s, &s->arena, uid, &p, err);
    if (r < 0 || !p) {
        return r < 0 ? r : edge_not_found(s->call, noun->word, uid, NULL, 0, err);
    }
    struct edge_wanted w = {.noun = noun->word, .name = p->name, .uid = uid};
    r = show_lines(s, &w, p, true, err);
    return r < 0 ? r : tell_end(s, &w, edge_end_of(p), p->error, err);
}

int edge_follow(struct session *s, const struct edge_noun *noun, const char *name, struct err *err)
{
    struct edge_thing thing;
    enum edge_end end = EDGE_GOES_ON;
    const char *why = "";
    bool there;
    cli_client_limit(s->client, session_at_most_ms(s, ASK_MS));
    int r = read_thing(s, &s->arena, noun, name, &thing, &there, err);
    if (r < 0 || !there) {
        return r < 0 ? r : follow_gone(s, noun, name, err);
    }
    struct edge_wanted w = {
        .noun = noun->word,
        .name = name,
        .uid = thing.uid,
        .request = thing.request,
        .goes = thing.operation && strcmp(thing.operation->word, "delete") == 0,
        .takes_errors = thing.operation && thing.operation->override ==
                                               BOARD__EDGE_OPERATION__OVERRIDE__IGNORE_CRM_ERRORS,
    };
    r = edge_await(s, noun, &w, true, &end, &why, err);
    return r < 0 ? r : tell_end(s, &w, end, why, err);
}
