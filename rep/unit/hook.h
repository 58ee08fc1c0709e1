/* Which hook of a unit comes next (docs/units.md, Hooks). Pure: it looks at what the unit was told
 * and what there is to be told, and says one thing to do; when that is done it is asked again.
 * Nothing is queued, so that what came and went before anybody was told of it leaves no trace. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HOOK_SCOPE_TOLD_MAX = 4096, /* members of a scope that a unit is told of; more wait */
    HOOK_UNIT_TOLD_MAX = 16384, /* in all its scopes */
    HOOK_RELATIONS_MAX = 64,    /* of a unit */
};

enum unit_hook {
    HOOK_NONE,
    HOOK_INSTALL,
    HOOK_START,
    HOOK_STOP,
    HOOK_UPGRADE,
    HOOK_CONFIG_CHANGED,
    HOOK_JOINED, /* this and the next two are about a unit of a relation */
    HOOK_CHANGED,
    HOOK_DEPARTED,
    HOOK_BROKEN, /* about a relation */
    HOOK_KIND_COUNT
};

/* Another unit in a scope: one that is there, one that this unit was told of, or both. Which
 * service it is of, the relation says. */
struct hook_member {
    uint32_t unit;         /* its number */
    bool present;          /* it has entered, and is not departing */
    uint64_t version;      /* of its settings, while it is present */
    bool told;             /* its joined has run */
    bool owes_changed;     /* its joined has run, and the changed that follows it has not */
    uint64_t told_version; /* with which its last changed began */
};

/* A relation whose scope the unit has entered, and not left. */
struct hook_relation {
    uint32_t number;
    bool alive;
    bool silent; /* its end of the unit is the implicit one, which has no hooks */
    bool broken; /* its broken has run */
    const struct hook_member *members; /* by the number of the unit */
    size_t member_count;
};

enum hook_resolution { HOOK_UNRESOLVED, HOOK_RETRY, HOOK_SKIP };

/* What a hook is about; numbers are 0 where it is about none. */
struct hook_subject {
    enum unit_hook hook;
    uint32_t relation;
    uint32_t unit; /* of joined, changed and departed: the remote one */
};

/* All that the decision looks at. Versions of 0 are those of nothing. */
struct hook_world {
    bool alive;                                   /* the unit's life */
    bool installed, configured, started, stopped; /* hooks that have run */
    const char *charm, *charm_told; /* digests: of the service, and with which the last of install
                                       and upgrade began; "" = none has */
    uint64_t config_version, config_told;
    bool config_owed;                      /* it comes, whatever the version: after upgrade */
    bool config_again;                     /* the same, but last: the rep was restarted */
    const struct hook_relation *relations; /* by number, at most HOOK_RELATIONS_MAX */
    size_t relation_count;
    struct hook_subject current; /* the one that runs, or is in error; HOOK_NONE = none */
    bool error;                  /* it is in error, and does not run */
    enum hook_resolution resolution;
};

enum hook_act {
    HOOK_WAIT,   /* nothing is to be done now */
    HOOK_RUN,    /* run the hook of the subject */
    HOOK_ACCEPT, /* take the one in error as done */
    HOOK_LEAVE,  /* leave the relation of the subject: it owes no hook any more */
};

struct hook_step {
    enum hook_act act;
    struct hook_subject subject;
    uint64_t version; /* with which it begins: of changed the settings', of config-changed the
                         configuration's */
};

/* The next thing to do. `*_told` and the like are to be set as it says before it is asked again: by
 * rep/unit/journal.h. */
struct hook_step hook_next(const struct hook_world *w);

/* How many members wait, because the unit was told of as many as it can be. */
size_t hook_untold(const struct hook_world *w);

/* "install", "config-changed"; of a relation "changed". */
const char *hook_name(enum unit_hook hook);
