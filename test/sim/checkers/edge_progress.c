/* E12, E13: the progress of an object is told in lines whose numbers rise by one, an operation ends
 * once, and nothing is told behind the end; who is told that it is done finds the record so. */
#include "test/sim/checkers/edge.h"

#include "common/lifecycle/cloudlet.h"
#include "common/model/record.h"

#include <string.h>

static const Board__ProgressRecord *progress_in(const struct past *p)
{
    return p ? (const Board__ProgressRecord *)p->message : NULL;
}

/* Only the line that tells what is left out stands for several. */
static void check_numbers(struct checkers *k, const struct past *p, const Board__ProgressRecord *is)
{
    uint32_t last = 0;
    for (size_t i = 0; i < is->n_lines; i++) {
        const Board__ProgressLine *line = is->lines[i];
        bool whole = line->number == last + 1 || strstr(line->text, "are left out)");
        if (line->number <= last || !whole) {
            checkers_report(k, "E12", "%s: line %u follows line %u", p->key, line->number, last);
        }
        last = line->number;
    }
    if (is->next != last + 1) {
        checkers_report(k, "E12", "%s: the next line is %u, after %u", p->key, is->next, last);
    }
}

static void check_after(struct checkers *k, const struct past *p, const Board__ProgressRecord *was,
                        const Board__ProgressRecord *is)
{
    /* Those of maintenance are counted apart. */
    bool alike = strcmp(is->kind, was->kind) == 0 || !*is->kind;
    alike = alike && is->request >> 32 == was->request >> 32;
    if ((alike && is->request < was->request) || is->next < was->next) {
        checkers_report(k, "E12", "%s goes back from line %u of request %llu to %u of %llu", p->key,
                        was->next, (unsigned long long)was->request, is->next,
                        (unsigned long long)is->request);
    }
    if (is->request == was->request && *was->end &&
        (is->next != was->next || strcmp(is->end, was->end) != 0)) {
        checkers_report(k, "E12",
                        "%s: request %llu has ended \"%s\", and goes on to line %u, "
                        "\"%s\"",
                        p->key, (unsigned long long)is->request, was->end, is->next, is->end);
    }
}

static const char *state_of_record(const ProtobufCMessage *m)
{
    const ProtobufCFieldDescriptor *f =
        protobuf_c_message_descriptor_get_field_by_name(m->descriptor, "state");
    return *(char *const *)((const char *)m + f->offset);
}

static const char *uid_of_record(const ProtobufCMessage *m)
{
    const ProtobufCFieldDescriptor *f =
        protobuf_c_message_descriptor_get_field_by_name(m->descriptor, "uid");
    return *(char *const *)((const char *)m + f->offset);
}

/* What comes of maintenance is another state. */
static bool is_ready(const ProtobufCMessage *m)
{
    const char *state = state_of_record(m);
    return strcmp(state, "READY") == 0 || strcmp(state, "UNDER_MAINTENANCE") == 0 ||
           strcmp(state, "NORMAL_OPERATION") == 0;
}

/* It ends in the commit that makes it so. */
static void check_end(struct checkers *k, const struct past *p, const Board__ProgressRecord *is)
{
    SCOPED_ARENA(a);
    const ProtobufCMessage *m =
        history_now(&k->history, arena_printf(&a, "%s/%s", is->kind, is->name));
    bool stands = m && strcmp(uid_of_record(m), is->uid) == 0;
    bool good = strcmp(is->end, "ready") == 0     ? stands && is_ready(m)
                : strcmp(is->end, "deleted") == 0 ? !stands
                                                  : strcmp(is->end, "failed") == 0;
    if (!good) {
        checkers_report(k, "E13", "%s is told as \"%s\", and %s is %s", p->key, is->end, is->name,
                        stands ? state_of_record(m) : "not there");
    }
    k->seen[SEEN_PROGRESS_ENDS]++;
}

void check_edge_progress(struct checkers *k, const struct passage *p,
                         const struct world_commit *commit)
{
    (void)commit;
    for (size_t i = 0; i < p->count; i++) {
        const struct past *one = p->list[i];
        const Board__ProgressRecord *is = progress_in(one);
        const Board__ProgressRecord *was = progress_in(one->before);
        if (one->type != RECORD_PROGRESS || !is) {
            continue;
        }
        check_numbers(k, one, is);
        if (was) {
            check_after(k, one, was, is);
        }
        if (*is->end && !(was && was->request == is->request && *was->end)) {
            check_end(k, one, is);
        }
    }
}
