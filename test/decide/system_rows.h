/* A system as short texts, for tests of what the converger plans about it: records of a copy, as
 * the feed would have brought them. */
#pragma once

#include "converger/system_copy.h"

/* What the records say of it: fields by their names, where nothing else stands here.
 * Values have no blanks; "_" stands for one.
 *   "system state=stable version=V definition_url=U tries=3"
 *   "head generation=2 spread=1 /=T1 /a=T2"          a root is path=tree; "-" an empty tree
 *   "hold D1=/a T1=/"                                ids that begin with T are teardowns
 *   "index T1 /a=service:h1 /b=job:h2:/b:key"      path=kind:hash[:secret]
 *   "build B1 state=succeeded tree=T1 path=/ version=V stale=T0 created_at=3"
 *   "deploy D1 state=pending target=path path=/a build=B1 undo=D0 generation=2 aborted reverting
 *    rollback_on_failure before=/a:T1 created_at=3"
 *   "teardown T1 state=pending generation=2"
 *   "service /a state=stable deploy=D1 component=h1 message=M"
 *   "secret /b:key", "jobrun R1" */
struct system_rows {
    struct arena arena;
    struct map records; /* key -> struct followed */
    struct system_copy copy;
    struct watched_system view;
    int64_t revision;
};

/* The record that one such text says, and its key. */
ProtobufCMessage *system_row(struct arena *a, const char *text, const char **ret_key);

/* Sets a field by its name: of a record, a request or a move's body. */
void system_row_set(struct arena *a, ProtobufCMessage *m, const char *name, const char *value);

/* All texts, one record each; the last is NULL. The view is whole then. */
void system_rows_init(struct system_rows *r, const char *const *texts);
/* One that comes later, or says otherwise than before; "" = none. The view is whole again. */
void system_rows_more(struct system_rows *r, const char *text);
void system_rows_done(struct system_rows *r);

/* One line a move: its name, its key, what its body says. In the arena of the rows. */
const char *system_rows_print(struct system_rows *r, const struct system_moves *m);
