/* Y8: the value of a secret stands in no record, move, log or trace, and is told to nobody but
 * those who may have it (docs/systems.md, Who sees a value). Values that stories and workloads set
 * begin with SECRET_MARK. */
#include "common/base/message.h"
#include "test/sim/checkers/checkers.h"

#include <string.h>

static bool is_marked(struct bytes text)
{
    return text.size > 0 &&
           memmem(text.data, text.size, SECRET_MARK, strlen(SECRET_MARK)) != NULL;
}

void check_secrets_written(struct checkers *k, const struct passage *p,
                           const struct world_commit *commit)
{
    (void)commit;
    SCOPED_ARENA(a);
    for (size_t i = 0; i < p->count; i++) {
        const struct past *record = p->list[i];
        if (record->message && is_marked(message_packed(&a, record->message))) {
            checkers_report(k, "Y8", "%s has the value of a secret", record->key);
        }
        arena_reset(&a);
    }
}

void check_secrets_asked(struct checkers *k, struct node *from, const Board__Move *move)
{
    SCOPED_ARENA(a);
    if (is_marked(message_packed(&a, &move->base))) {
        checkers_report(k, "Y8", "%s asks for %s with the value of a secret", node_name(from),
                        move->move);
    }
}

void check_secrets_logged(struct checkers *k, struct node *n, const struct log_line *line)
{
    if (is_marked(bytes_of(line->message)) || is_marked(bytes_of(line->data))) {
        checkers_report(k, "Y8", "%s logs the value of a secret", node_name(n));
    }
}

/* Whether whoever asked may have been told a value by an answer to this path. */
static bool may_have(const struct checkers *k, const struct world_answer *answer)
{
    bool definition = strcmp(answer->path, "/v1/desired_lrps/get_by_process_guid.r3") == 0 ||
                      strcmp(answer->path, "/v1/tasks/get_by_task_guid.r3") == 0;
    bool converger = false;
    for (unsigned i = 0; i < k->cluster->options.convergers; i++) {
        converger = converger || k->cluster->convergers[i] == answer->from;
    }
    return (definition && checkers_cell(k, answer->from) >= 0) ||
           (converger && strcmp(answer->path, "/v1/board/secret") == 0);
}

void check_secrets_told(struct checkers *k, const struct world_answer *answer)
{
    if (is_marked(answer->body) && !may_have(k, answer)) {
        checkers_report(k, "Y8", "%s tells %s the value of a secret as it asks for %s",
                        node_name(answer->by), node_name(answer->from), answer->path);
    }
    if (is_marked(answer->request)) {
        checkers_report(k, "Y8", "%s sends the value of a secret to %s", node_name(answer->from),
                        answer->path);
    }
}

static bool begins_with_mark(const char *text)
{
    return strncmp(text, SECRET_MARK, strlen(SECRET_MARK)) == 0;
}

void check_secrets_run(struct checkers *k, struct node *cell, const struct verb_call *call)
{
    if (call->verb != VERB_PREPARE) {
        return;
    }
    for (size_t i = 0; i < call->spec->env_count; i++) {
        const struct name_value *v = &call->spec->env[i];
        bool secret = strcmp(v->name, SECRET_VARIABLE) == 0;
        k->seen[SEEN_OPENED] += secret;
        if (secret != begins_with_mark(v->value)) {
            checkers_report(k, "Y8", "container %s on %s has %s=\"%s\"", call->guid,
                            node_name(cell), v->name, v->value);
        }
    }
}
