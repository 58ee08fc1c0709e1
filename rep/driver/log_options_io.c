/* What a container's log is to be like, kept in its directory from PREPARE on: a shim is told when
 * it begins. A container of an earlier version has none of it. */
#include "rep/driver/driver_parts.h"

#define FILE_NAME "output.json"

static void add_process(json_t *all, const char *name, const char *source, bool mute)
{
    json_t *one = json_object();
    if (source) {
        json_object_set_new(one, "source", json_string_nocheck(source));
    }
    json_object_set_new(one, "mute", json_boolean(mute));
    json_object_set_new(all, name, one);
}

int log_options_write(const char *dir, const struct container_spec *spec, struct err *err)
{
    json_t *options = json_object(), *steps = json_object();
    char name[16];
    for (size_t i = 0; i < spec->step_count; i++) {
        snprintf(name, sizeof(name), "%u", spec->steps[i].step);
        add_process(steps, name, spec->steps[i].source, spec->steps[i].mute);
    }
    add_process(options, "first", spec->source, spec->mute);
    json_object_set_new(options, "steps", steps);
    if (spec->log_limited) {
        json_object_set_new(options, "rate", json_integer(spec->log_rate));
    }
    return json_write(dir, FILE_NAME, options, err);
}

/* A run has no words in the file: they are its call's. What it wrote last is kept. */
void run_options_add(const struct step_process *run, struct command *c)
{
    if (run->source) {
        command_add(c, "--source=%s", run->source);
    }
    if (run->mute) {
        command_add(c, "--mute");
    }
    command_add(c, "--tail");
}

void log_options_add(const struct driver *d, const char *dir, int64_t step, struct command *c)
{
    char name[16];
    json_t *options = json_read(dir, FILE_NAME, NULL);
    snprintf(name, sizeof(name), "%lld", (long long)step);
    const json_t *process = step < 0
                                ? json_object_get(options, "first")
                                : json_object_get(json_object_get(options, "steps"), name);
    const char *source = json_string_value(json_object_get(process, "source"));
    const json_t *rate = json_object_get(options, "rate");
    command_add(c, "--log-bytes=%lld", (long long)d->log_bytes);
    command_add(c, "--log-files=%d", d->log_files);
    if (source) {
        command_add(c, "--source=%s", source);
    }
    if (rate) {
        command_add(c, "--log-rate=%lld", (long long)json_integer_value(rate));
    }
    if (json_is_true(json_object_get(process, "mute"))) {
        command_add(c, "--mute");
    }
    json_decref(options);
}
