/* What the ops and moves of systems, builds, deploys and teardowns have in common: what they read
 * of the system, what it has, and which of it is named. Pure. */
#pragma once

#include "bbs/board/op.h"
#include "bbs/board/validation.h"
#include "bbs/system/system.h"
#include "common/lifecycle/lifecycle.h"

/* The system that a request names by its id, or a move by uid and id. */
struct system_facts {
    const Board__SystemRecord *system; /* NULL = none of that id, and of that uid if it is known */
    const char *id, *uid;              /* uid: "" if there is no system and the caller knew none */
    int state;                         /* SYSTEM_NONE without one; -1 of a newer version */
};

/* What is read of a system for what is asked and done about itself. */
struct system_snapshot {
    struct speaker by;      /* of moves */
    struct system_facts of;
    int64_t revision;       /* mod-revision of its record */
    const Board__HeadRecord *head;
    int64_t head_revision;
    const Board__HoldRecord *hold;
    bool domain, domain_fresh; /* it has its domain, which was upserted in this board generation */
    size_t count;              /* of create: systems that there are */
    const char *board_generation;
    const char *left;          /* of remove: a kind of record that it has yet; NULL = none */
    const Board__VersionsRecord *versions; /* of list; NULL = they were never read */
    const char **swept;        /* of check while it is deleted: keys that go */
    size_t swept_count;
};

/* Reads it, which is noted. `uid` NULL: whatever it is. */
struct system_facts system_facts_gather(struct view *v, const char *id, const char *uid);

/* It takes builds, deploys and teardowns; all that it owns is to go. Neither: it is pending or
 * failed. */
bool system_facts_open(const struct system_facts *f);
bool system_facts_gone(const struct system_facts *f);

/* Why it takes nothing, for people; NULL if it is open. */
const char *system_facts_refusal(struct arena *a, const struct system_facts *f);

/* The plan is refused by it, for an op: ResourceNotFound or ResourceConflict. True if it was. */
bool system_facts_refused(const struct system_facts *f, struct plan *p);

/* In the next state at this time; its `since` never falls. */
Board__SystemRecord *system_changed(struct arena *a, const Board__SystemRecord *before, int to,
                                    struct moment now);

/* The head changes: an open system is updating at once, unless it is degraded, and has this
 * version. Puts nothing if it is so already. */
void system_put_updating(struct plan *p, const struct system_facts *f, const char *version,
                         struct moment now);

/* Every service that it has is stable, and was told of what is to stand. Puts nothing if it is so
 * already. */
void system_put_stable(struct plan *p, const struct system_facts *f, struct moment now);

/* As system_put_updating(), and its state stays. */
void system_put_version(struct plan *p, const struct system_facts *f, const char *version,
                        struct moment now);

/* "system.<uid>": the domain of what its services and jobs run. */
const char *system_domain(struct arena *a, const char *uid);

/* A text as records keep it: at most 4 KiB, cut between characters. */
const char *message_cut(struct arena *a, const char *text);

/* A text of a message, which is not written to: protobuf-c has no constant strings. */
static inline char *borrowed(const char *text)
{
    return (char *)(uintptr_t)text;
}

/* Messages of requests: ids of systems and of actions, paths. Each says what is wrong. */
void check_system_id(struct validation *v, const char *id);
void check_action_id(struct validation *v, const char *id);
void check_component_path(struct validation *v, const char *path);

/* A number of records of one kind is bounded: refuses, ResourceConflict, with the bound. True if it
 * was. `things`: "builds". A soft bound: requests at the same time may pass it by a few, for the
 * count is not compared. What bounds the size of a record is judged in that record, strictly. */
bool too_many(struct plan *p, const struct system_facts *f, size_t count, size_t most,
              const char *things);

/* ---- What stands in the trees ---------------------------------------------------------------- */

/* A tree's index; NULL = there is none. Not noted: it is written once, and stays while a build or
 * the head names the tree, whose record is noted by whoever asks. */
const Board__IndexRecord *index_peek(struct view *v, const char *tree);

/* Whether the component needs the secret of this name. */
bool entry_needs_secret(const Board__IndexRecord__Entry *e, const char *name);

/* The first secret that components at and below the root of one of the trees need and that is not
 * set, NULL = all are. Those that were looked at are noted, as far as a transaction has room. */
struct secret_lack {
    const char *path; /* of the component */
    const char *name; /* path:name of the secret; NULL = none is lacking */
};
struct secret_lack secrets_lacking(struct view *v, const char *uid,
                                   const Board__IndexRecord *const *indices, size_t count);

/* ---- What is kept ---------------------------------------------------------------------------- */

/* Records of a kind that are over, as they end: at least `kept` of them are over later than the one
 * that ended then. `ids` breaks ties. */
struct over_when {
    int64_t completed_at;
    const char *id;
};
bool kept_enough(const struct over_when *list, size_t count, struct over_when own, size_t kept);
