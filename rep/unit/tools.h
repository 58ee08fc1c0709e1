/* What the tools of a hook answer (docs/units.md, Tools). Pure: a call sees what was frozen when
 * the hook began, and the journal with what the hook has set; it gives what is to be printed, and
 * the journal as it is afterwards, which is made durable before the answer goes out. */
#pragma once

#include "common/base/arena.h"
#include "rep/unit/journal.h"
#include "units.pb-c.h"

enum {
    TOOL_ARGUMENTS_MAX = 256,
    TOOL_BYTES_MAX = 1024 * 1024, /* of a call's arguments */
    TOOL_STATUS_TEXT_MAX = 512,
    TOOL_LOG_TEXT_MAX = 4096,
};

/* Exit statuses of a tool. */
enum tool_exit { TOOL_DONE, TOOL_REFUSED, TOOL_USAGE };

/* Another unit of a scope: one that is there, or one that has left while the relation stands. */
struct tool_member {
    const char *unit; /* "db/0" */
    bool present;
    Board__UnitSetting *const *settings;
    size_t setting_count;
};

/* A relation that the unit is in. */
struct tool_relation {
    uint32_t number;
    const char *endpoint;
    Board__UnitSetting *const *own; /* as they are on the board */
    size_t own_count;
    const struct tool_member *members; /* by service and number */
    size_t member_count;
};

struct tool_world {
    const Rep__UnitNote *journal;          /* its hook runs */
    const char *unit;                      /* its own name, "web/3" */
    const char *remote_unit;               /* that the hook is about; "" = none */
    const struct tool_relation *relations; /* by number */
    size_t relation_count;
    const Board__Charm *charm;         /* by which its hook runs; NULL = it is not known */
    Board__UnitSetting *const *config; /* defaults and what was set */
    size_t config_count;
    const char *address, *ports, *machine, *principal; /* "" = it has none */
};

struct tool_answer {
    enum tool_exit exit;
    const char *out;        /* for standard output; of another exit for standard error */
    Rep__UnitNote *journal; /* NULL = as it was */
    const char *status;     /* the status text is to be this; NULL = as it is */
    const char *log;        /* a line for the unit's log; NULL = none */
    bool restart;           /* COMMAND ends and begins again when the hook is done */
};

/* The call of arguments[0] with the rest. Arguments are texts without a zero byte. */
struct tool_answer tool_call(struct arena *a, const struct tool_world *w, size_t count,
                             const char *const *arguments);

/* The tools' names, in byte order; NULL past the last. */
const char *tool_name(size_t n);
