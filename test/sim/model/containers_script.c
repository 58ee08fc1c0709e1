/* What stories and workloads do to the containers of a cell, and what they and the checkers ask of
 * them. */
#include "test/sim/model/containers_inside.h"

#include "rep/steps/machine.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool model_containers_end(struct model_containers *m, int64_t now_ns, const char *guid,
                          int exit_code, int exit_signal)
{
    struct box *b = map_get(&m->boxes, guid);
    if (!b || b->state != CONTAINER_RUNNING) {
        return false;
    }
    model_box_end(b, now_ns, exit_code, exit_signal);
    return true;
}

bool model_containers_end_step(struct model_containers *m, int64_t now_ns, const char *guid,
                               uint32_t step, int exit_code, int exit_signal, bool lost)
{
    struct box *b = map_get(&m->boxes, guid);
    struct step_fact how = {lost ? FACT_LOST : FACT_ENDED, step, now_ns};
    how.exit_code = lost ? 0 : exit_code;
    how.exit_signal = lost ? 0 : exit_signal;
    return b && model_steps_end(b->steps, step, &how);
}

bool model_containers_status(const struct model_containers *m, const char *guid,
                             struct arena *arena, struct container_status *ret)
{
    const struct box *b = map_get(&m->boxes, guid);
    if (b) {
        *ret = model_box_status(b, arena);
    }
    return b != NULL;
}

bool model_containers_has_steps(const struct model_containers *m, const char *guid)
{
    const struct box *b = map_get(&m->boxes, guid);
    return b && model_steps_declared(b->steps);
}

int64_t model_containers_step(const struct model_containers *m, const char *guid, int n)
{
    const struct box *b = map_get(&m->boxes, guid);
    return b ? model_steps_running(b->steps, n) : -1;
}

bool model_containers_answer(struct model_containers *m, const char *guid, bool readiness,
                             enum probe_outcome outcome, int status)
{
    struct box *b = map_get(&m->boxes, guid);
    if (b) {
        b->answers[readiness] = (struct model_answer){outcome, status};
    }
    return b != NULL;
}

bool model_probe_is_of_readiness(const struct probe *probe)
{
    return probe->kind == PROBE_HTTP && strncmp(probe->path, "/ready", 6) == 0;
}

struct probed model_containers_probe(struct model_containers *m, const struct probe *probe)
{
    struct probed end = {.id = probe->id, .guid = probe->guid, .took_ms = 1, .text = ""};
    struct box *b = map_get(&m->boxes, probe->guid);
    if (!b || b->state != CONTAINER_RUNNING || b->deaf_for > 0) {
        end.outcome = PROBE_REFUSED;
        if (b && b->deaf_for > 0) {
            b->deaf_for--;
        }
        return end;
    }
    const struct model_answer *answer = &b->answers[model_probe_is_of_readiness(probe)];
    end.outcome = answer->outcome;
    end.status = answer->status;
    end.text = answer->outcome == PROBE_FAILED ? "as the story has it" : "";
    return end;
}

bool model_containers_answers_well(const struct model_containers *m, const char *guid,
                                   bool readiness)
{
    const struct box *b = map_get(&m->boxes, guid);
    return b && b->answers[readiness].outcome == PROBE_ANSWERED &&
           b->answers[readiness].status == 200;
}

bool model_containers_is_transfer(const struct model_containers *m, const char *guid,
                                  uint32_t step)
{
    const struct box *b = map_get(&m->boxes, guid);
    return b && model_steps_is_transfer(b->steps, step);
}

const struct step_process *model_containers_run(const struct model_containers *m,
                                                const char *guid, uint32_t run)
{
    const struct box *b = map_get(&m->boxes, guid);
    return b ? model_steps_run_of(b->steps, run) : NULL;
}

bool model_containers_run_wrote(struct model_containers *m, const char *guid, uint32_t run,
                                const char *output)
{
    struct box *b = map_get(&m->boxes, guid);
    return b && model_steps_write(b->steps, run, output);
}

struct bytes model_containers_file(const struct model_containers *m, const char *guid,
                                   const char *path)
{
    const struct box *b = map_get(&m->boxes, guid);
    const struct blob *file = b ? map_get(&b->files, path) : NULL;
    return file ? blob_bytes(file) : (struct bytes){0};
}

bool model_containers_write(struct model_containers *m, const char *guid, const char *path,
                            struct bytes data)
{
    struct box *b = map_get(&m->boxes, guid);
    if (!b) {
        return false;
    }
    model_file_free(map_put(&b->files, path, blob_new(data.data, data.size)));
    return true;
}

bool model_containers_deafen(struct model_containers *m, const char *guid)
{
    struct box *b = map_get(&m->boxes, guid);
    if (!b || b->deaf) {
        return false;
    }
    b->deaf = true;
    return true;
}

void model_unpin_unmade(struct model_containers *m)
{
    const char *guid;
    for (int n = 0; (guid = model_containers_pinned(m, n));) {
        if (map_get(&m->boxes, guid)) {
            n++;
        } else {
            free(map_remove(&m->pins, guid));
        }
    }
}

void model_containers_reboot(struct model_containers *m, bool gone)
{
    while (gone && m->boxes.count) {
        struct map_node *first = map_from(&m->boxes, "");
        model_box_remove(m, map_key(first));
    }
    while (gone && m->notes.count) {
        model_file_free(map_remove(&m->notes, map_key(map_from(&m->notes, ""))));
    }
    model_unpin_unmade(m);
    MAP_EACH(&m->boxes, n)
    {
        struct box *b = map_value(n);
        b->rebooted = true;
        if (b->state != CONTAINER_EXITED) {
            strcpy(b->text, STEP_MACHINE_TEXT);
        }
        model_steps_cease(b->steps);
        if (b->state == CONTAINER_STARTING || b->state == CONTAINER_RUNNING) {
            model_box_end(b, 0, 0, MODEL_SIGKILL);
        }
        b->end_untold = false;
        model_steps_told(b->steps);
    }
}

void model_containers_fail_starts(struct model_containers *m, unsigned count, const char *text)
{
    m->fail_starts = count;
    assert(strlen(text) < TEXT_BYTES);
    strcpy(m->fail_text, text);
}

void model_containers_fail_pulls(struct model_containers *m, unsigned count, const char *text)
{
    m->fail_pulls = count;
    assert(strlen(text) < TEXT_BYTES);
    strcpy(m->fail_text, text);
}

const char *model_containers_image(const struct model_containers *m, const char *guid)
{
    return map_get(&m->pins, guid);
}

const char *model_containers_pinned(const struct model_containers *m, int n)
{
    MAP_EACH(&m->pins, pin)
    {
        if (n-- == 0) {
            return map_key(pin);
        }
    }
    return NULL;
}

void model_containers_fail_begins(struct model_containers *m, unsigned count, const char *text)
{
    m->fail_begins = count;
    assert(strlen(text) < TEXT_BYTES);
    strcpy(m->fail_text, text);
}

void model_containers_fail_prepares(struct model_containers *m, unsigned count, const char *text)
{
    m->fail_prepares = count;
    assert(strlen(text) < TEXT_BYTES);
    strcpy(m->fail_text, text);
}

void model_containers_addresses(struct model_containers *m, unsigned count)
{
    assert(count <= MODEL_ADDRESSES_MAX);
    m->addresses.count = count;
}

void model_containers_hold_port(struct model_containers *m, uint32_t port, bool held)
{
    assert(port <= UINT16_MAX);
    m->port_held[port] = held;
}

void model_containers_hang(struct model_containers *m, bool hung)
{
    m->hung = hung;
}

int model_containers_state(const struct model_containers *m, const char *guid)
{
    const struct box *b = map_get(&m->boxes, guid);
    return b ? (int)b->state : -1;
}

bool model_containers_busy(const struct model_containers *m, const char *guid)
{
    for (const struct pending *p = m->pending; p; p = p->next) {
        if (p->guid && p->call.verb != VERB_EXEC && strcmp(p->guid, guid) == 0) {
            return true;
        }
    }
    return false;
}

bool model_containers_listing(const struct model_containers *m)
{
    for (const struct pending *p = m->pending; p; p = p->next) {
        if (p->call.verb == VERB_LIST) {
            return true;
        }
    }
    return false;
}

unsigned model_containers_held(const struct model_containers *m)
{
    unsigned count = 0;
    MAP_EACH(&m->boxes, n)
    {
        const struct box *b = map_value(n);
        bool never = b->state == CONTAINER_PREPARED && b->rebooted;
        count += b->state != CONTAINER_EXITED && !never;
    }
    return count;
}

unsigned model_containers_notes(const struct model_containers *m)
{
    return (unsigned)m->notes.count;
}

int model_containers_running(const struct model_containers *m)
{
    int count = 0;
    while (model_containers_guid(m, count)) {
        count++;
    }
    return count;
}

const char *model_containers_made(const struct model_containers *m, int n)
{
    MAP_EACH(&m->boxes, at)
    {
        const struct box *b = map_value(at);
        if (n-- == 0) {
            return b->guid;
        }
    }
    return NULL;
}

const char *model_containers_guid(const struct model_containers *m, int n)
{
    MAP_EACH(&m->boxes, at)
    {
        const struct box *b = map_value(at);
        if (b->state == CONTAINER_RUNNING && n-- == 0) {
            return b->guid;
        }
    }
    return NULL;
}
