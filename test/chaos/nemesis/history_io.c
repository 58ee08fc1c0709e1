#include "test/chaos/nemesis/history_io.h"

#include <jansson.h>

static void write_line(FILE *history, json_t *line)
{
    json_dumpf(line, history, JSON_COMPACT);
    fputc('\n', history);
    fflush(history);
    json_decref(line);
}

static json_t *line_of(const char *kind, int number, const struct attack *a)
{
    json_t *targets = json_array();
    for (int i = 0; i < a->fault.target_count; i++) {
        json_array_append_new(targets, json_string(a->fault.targets[i]));
    }
    json_t *line =
        json_pack("{s:s, s:i, s:s, s:o, s:I}", "kind", kind, "n", number, "fault",
                  a->fault.kind->name, "targets", targets, "begin", (json_int_t)a->begin_ns);
    if (a->fault.has_number) {
        json_object_set_new(line, "number", json_integer(a->fault.number));
    }
    return line;
}

void history_making(FILE *history, int number, const struct attack *a)
{
    struct attack now = *a;
    now.begin_ns = nanoseconds_now();
    write_line(history, line_of("making", number, &now));
}

void history_fault(FILE *history, int number, const struct attack *a)
{
    const struct recovery_row *recovery = &recovery_rows[a->fault.kind->recovery];
    json_t *line = line_of(a->there_ns ? "fault" : "not_there", number, a);
    json_object_set_new(line, "there", json_integer(a->there_ns));
    json_object_set_new(line, "heal", json_integer(a->heal_ns));
    json_object_set_new(line, "end", json_integer(a->end_ns));
    json_object_set_new(line, "probe", json_string(a->probe));
    json_object_set_new(line, "healed", json_boolean(a->healed));
    json_object_set_new(line, "occupied", json_boolean(a->occupied));
    json_object_set_new(line, "recovery", json_string(recovery->name));
    json_object_set_new(line, "bound_ms", json_integer(recovery->bound_ms));
    json_object_set_new(line, "bound_from", json_string(recovery->from_end ? "end" : "begin"));
    write_line(history, line);
}

void history_healthy(FILE *history, int number, int64_t at_ns)
{
    write_line(history, json_pack("{s:s, s:i, s:I}", "kind", "healthy", "n", number, "at",
                                  (json_int_t)at_ns));
}
