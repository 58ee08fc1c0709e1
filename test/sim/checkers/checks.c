/* Instances with checks: what their probes said, against what the board says of them. */
#include "models/actual_lrp.pb-c.h"
#include "rep/container/health.h"
#include "rep/container/note.h"
#include "test/sim/checkers/checkers.h"
#include "test/sim/model/containers.h"

#include <string.h>

/* What the reps have heard of one instance. */
struct heard {
    unsigned passed[2], failed[2]; /* probes: of health, of readiness */
    unsigned tcp_passed;
    unsigned failed_before; /* of readiness, when a rep noted last that it is ready */
};

static struct heard *heard_of(struct checkers *k, const char *guid)
{
    struct heard *h = map_get(&k->heard, guid);
    if (!h) {
        h = ARENA_NEW(&k->history.arena, struct heard);
        map_put(&k->heard, guid, h);
    }
    return h;
}

void checkers_probed(struct checkers *k, const struct probe *probe, const struct probed *end)
{
    struct heard *h = heard_of(k, probe->guid);
    bool readiness = model_probe_is_of_readiness(probe);
    bool well = end->outcome == PROBE_ANSWERED && (probe->kind == PROBE_TCP || end->status == 200);
    h->passed[readiness] += well;
    h->failed[readiness] += !well;
    h->tcp_passed += well && probe->kind == PROBE_TCP;
    k->seen[SEEN_PROBES]++;
}

void checkers_executed(struct checkers *k, const struct verb_answer *answer)
{
    struct heard *h = heard_of(k, answer->guid);
    bool well = answer->outcome == VERB_DONE && answer->exit_code == 0;
    h->passed[0] += well;
    h->failed[0] += !well;
    k->seen[SEEN_MONITORS]++;
}

static Rep__Note *note_of(const struct model_containers *m, const char *guid)
{
    SCOPED_ARENA(a);
    struct container_status s;
    Rep__Note *note = NULL;
    if (model_containers_status(m, guid, &a, &s) && note_read(s.note, guid, &note, NULL) < 0) {
        note = NULL;
    }
    return note;
}

bool checks_still_fail(const struct model_containers *m, const char *guid)
{
    Rep__Note *note = note_of(m, guid);
    bool so = note && note->health && !note->health->healthy_since_ns;
    if (note) {
        rep__note__free_unpacked(note, NULL);
    }
    return so;
}

bool checks_have_failed(struct checkers *k, const struct model_containers *m, const char *guid)
{
    Rep__Note *note = note_of(m, guid);
    const Rep__Health *h = note ? note->health : NULL;
    /* A hole: its driver may take no note, so that a check of health has failed must do. */
    bool so = h && (heard_of(k, guid)->failed[0] > 0 || (h->failed[0] && h->start_timeout_ms > 0));
    if (note) {
        rep__note__free_unpacked(note, NULL);
    }
    return so;
}

void note_readiness(struct checkers *k, struct node *cell, const struct verb_call *call)
{
    Rep__Note *note = NULL;
    (void)cell;
    if (call->verb == VERB_NOTE && note_read(call->note, call->guid, &note, NULL) == 0) {
        if (note->health && note->health->ready) {
            struct heard *h = heard_of(k, call->guid);
            h->failed_before = h->failed[1];
        }
        rep__note__free_unpacked(note, NULL);
    }
}

/* That it is ready stands in its note before anybody hears of it, and outlives the rep. A driver
 * that took no note is excused by that. */
void check_told_readiness(struct checkers *k, struct node *from, const Board__Move *move)
{
    const Board__InstanceMove *about = move_instance(move);
    int cell = checkers_cell(k, from);
    if (cell < 0 || !about->actual_lrp_instance_key || strcmp(move->move, "start") != 0 ||
        about->routable) {
        return;
    }
    const char *guid = about->actual_lrp_instance_key->instance_guid;
    Rep__Note *note = note_of(node_containers(k->cluster->cells[cell]), guid);
    const struct heard *h = heard_of(k, guid);
    if (note && note->health && note->health->ready && h->failed[1] == h->failed_before) {
        checkers_report(k, "checks", "%s says that %s is ready no more, and no probe has failed",
                        node_name(from), guid);
    }
    if (note) {
        rep__note__free_unpacked(note, NULL);
    }
}

static const Models__ActualLRP *record_of(struct checkers *k, const char *guid)
{
    const struct instance *i = map_get(&k->instances, guid);
    for (int presence = 0; i && presence < 3; presence++) {
        const Models__ActualLRP *r =
            (const Models__ActualLRP *)history_now(&k->history, i->keys[presence]);
        const Models__ActualLRPInstanceKey *key = r ? r->actual_lrp_instance_key : NULL;
        if (key && strcmp(key->instance_guid, guid) == 0 && strcmp(r->state, "RUNNING") == 0) {
            return r;
        }
    }
    return NULL;
}

static size_t checks_of_health(const Rep__Health *health)
{
    size_t count = 0;
    for (size_t i = 0; i < health->n_checks; i++) {
        count += !health->checks[i]->readiness;
    }
    return count;
}

static void check_one(struct checkers *k, const char *guid, const Rep__Health *health)
{
    struct heard *h = heard_of(k, guid);
    const Models__ActualLRP *r = record_of(k, guid);
    size_t of_health = checks_of_health(health);
    if (!r) {
        return;
    }
    k->seen[SEEN_CHECKED]++;
    if ((of_health > 0 && h->passed[0] == 0) ||
        (of_health > 1 && (h->tcp_passed == 0 || h->passed[0] == h->tcp_passed))) {
        checkers_report(k, "checks", "%s is RUNNING, and its checks have not all passed", guid);
    }
    if (!health_has(health, true)) {
        if (!r->routable) {
            checkers_report(k, "checks", "%s is not routable, and nothing says so", guid);
        }
        return;
    }
    if (r->routable && h->passed[1] == 0) {
        checkers_report(k, "checks", "%s is routable, and no probe has said so", guid);
    }
    /* That it is routable no more is judged where a rep says so (check_told_readiness), for a start
     * call from before it was ready may come late, and the rep tells again. Once all is healed the
     * record must say what its program does: check_routable(). */
}

void check_checks(struct checkers *k)
{
    for (unsigned i = 0; i < k->cluster->options.cells && !k->strays; i++) {
        struct model_containers *m = node_containers(k->cluster->cells[i]);
        const char *guid;
        for (int n = 0; (guid = model_containers_guid(m, n)); n++) {
            Rep__Note *note = note_of(m, guid);
            if (note && note->health && note->key) {
                check_one(k, guid, note->health);
            }
            if (note) {
                rep__note__free_unpacked(note, NULL);
            }
        }
    }
}

/* Whether what the board says of readiness is what the programs answer. */
void check_routable(struct checkers *k, struct buf *ret_why)
{
    for (unsigned i = 0; i < k->cluster->options.cells; i++) {
        struct model_containers *m = node_containers(k->cluster->cells[i]);
        const char *guid;
        for (int n = 0; (guid = model_containers_guid(m, n)); n++) {
            Rep__Note *note = note_of(m, guid);
            const Models__ActualLRP *r = note && note->health ? record_of(k, guid) : NULL;
            if (r && health_has(note->health, true) &&
                r->routable != model_containers_answers_well(m, guid, true)) {
                buf_printf(ret_why, "%s is %sroutable, and its program says otherwise; ", guid,
                           r->routable ? "" : "not ");
            }
            if (note) {
                rep__note__free_unpacked(note, NULL);
            }
        }
    }
}

/* A monitor speaks for itself; it has always something to say. */
static bool became_unhealthy(const Rep__Note *note)
{
    const char *begin = note->n_monitor > 0
                            ? "Instance became unhealthy: "
                            : "Instance became unhealthy: Liveness check unsuccessful: ";
    size_t size = strlen(begin);
    const char *failed = note->health->failed;
    return strncmp(failed, begin, size) == 0 && failed[size];
}

/* A crash that follows from checks has the text that they gave. */
void check_crash_text(struct checkers *k, const struct seen_answer *seen)
{
    const Board__InstanceMove *about = move_instance(seen->move);
    const struct instance *i = NULL;
    if (about->actual_lrp_instance_key) {
        i = map_get(&k->instances, about->actual_lrp_instance_key->instance_guid);
    }
    int cell = i ? checkers_cell_named(k, i->cell_id) : -1;
    if (cell < 0 || !about->error_message[0]) {
        return;
    }
    Rep__Note *note = note_of(node_containers(k->cluster->cells[cell]), i->guid);
    const Rep__Health *h = note ? note->health : NULL;
    if (h && h->failed[0] && strcmp(h->failed, about->error_message) != 0) {
        checkers_report(k, "checks", "%s crashed as \"%s\", and its checks say \"%s\"", i->guid,
                        about->error_message, h->failed);
    }
    if (h && h->failed[0] && strncmp(h->failed, "Instance never healthy after ", 29) != 0 &&
        !became_unhealthy(note)) {
        checkers_report(k, "checks", "%s crashed as \"%s\"", i->guid, h->failed);
    }
    if (note) {
        rep__note__free_unpacked(note, NULL);
    }
}
