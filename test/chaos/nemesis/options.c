#include "test/chaos/nemesis/options.h"

#include <stdlib.h>
#include <string.h>

static int parse_number(const char *name, const char *text, int64_t max, int64_t *ret,
                        struct err *err)
{
    char *end = NULL;
    long long value = text ? strtoll(text, &end, 10) : 0;
    if (!text || end == text || *end || value < 0 || value > max) {
        return err_set(err, ERR_INVALID, "%s needs a number from 0 to %lld", name, (long long)max);
    }
    *ret = value;
    return 0;
}

static int parse_option(const char *name, const char *value, struct nemesis_options *o,
                        struct err *err)
{
    int64_t seed = 0;
    int result;
    const char **texts[] = {&o->target, &o->history, &o->faults, &o->command};
    static const char *const names[] = {"--target", "--history", "--faults", "--command"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(name, names[i]) == 0) {
            *texts[i] = value;
            return value ? 0 : err_set(err, ERR_INVALID, "%s needs a value", name);
        }
    }
    if (strcmp(name, "--seconds") == 0) {
        return parse_number(name, value, 30 * 86400, &o->seconds, err);
    }
    if (strcmp(name, "--count") == 0) {
        return parse_number(name, value, 1000000, &o->count, err);
    }
    if (strcmp(name, "--seed") == 0) {
        result = parse_number(name, value, INT64_MAX, &seed, err);
        o->seed = (uint64_t)seed;
        return result;
    }
    return err_set(err, ERR_INVALID, "unknown option: %s", name);
}

int nemesis_options_parse(int argc, char **argv, struct nemesis_options *ret_options,
                          struct err *err)
{
    struct nemesis_options o = {.seconds = 300, .count = 1000000};
    int result = 0;
    if (argc == 2) {
        o.help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0;
    }
    o.list = argc > 1 && strcmp(argv[1], "--list") == 0;
    for (int i = 1 + o.list; i < argc && !o.help && result == 0; i += 2) {
        result = parse_option(argv[i], i + 1 < argc ? argv[i + 1] : NULL, &o, err);
    }
    if (result == 0 && !o.help && !o.list && (!o.target || (!o.history && !o.command))) {
        result = err_set(err, ERR_INVALID, "needs --target FILE and --history FILE");
    }
    if (result == 0) {
        *ret_options = o;
    }
    return result;
}
