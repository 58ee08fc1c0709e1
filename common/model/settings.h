/* The numbers that several roles decide by, and that operators may change: settings.def has them, a
 * row each. A decision takes them as an argument. Pure. */
#pragma once

#include "common/model/crash_policy.h"
#include "common/model/edge_times.h"
#include "common/model/task_times.h"

#include <stdbool.h>
#include <stddef.h>

/* The mass-loss limiter (design.md 6): the bbs releases by `hold_ns`, the converger asks by it. */
struct limiter_rules {
    int64_t hold_ns;    /* so long cells are held when nobody says anything */
    int64_t mass_least; /* fewer lost cells are no mass loss */
    int64_t mass_part;  /* more than one cell in so many is one */
};

/* The windows of the failure detector (design.md 6). */
struct detector_windows {
    int64_t lost_ns;   /* unheard for so long: lost */
    int64_t spread_ns; /* between the first and the last of those that die together */
};

struct settings {
    struct crash_policy crash;
    struct limiter_rules limiter;
    struct detector_windows detector;
    struct task_times tasks;
    struct edge_times edge;
    int64_t drain_ns; /* between the end of a route and the end of what it led to */
};
extern const struct settings SETTINGS_DEFAULT;

enum setting_type {
    SETTING_DURATION, /* in seconds; in struct settings in ns */
    SETTING_COUNT,
};

/* A row of settings.def. */
struct setting_row {
    const char *name;
    size_t field; /* an int64_t of struct settings */
    enum setting_type type;
    int64_t least, most, preset; /* the last is the default */
    const char *readers, *text;
};

/* The rows in the order of their names; how many. */
extern const struct setting_row setting_rows[];
extern const size_t setting_row_count;

/* NULL = this version knows none of that name. */
const struct setting_row *setting_row_named(const char *name);

/* It lies in the row's range. */
bool setting_allows(const struct setting_row *row, int64_t value);

/* Such a value becomes the one in force. */
void settings_put(struct settings *s, const struct setting_row *row, int64_t value);

/* The value in force, in the row's unit. */
int64_t settings_value(const struct settings *s, const struct setting_row *row);
