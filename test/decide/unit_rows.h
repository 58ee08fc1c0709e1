/* Rows of before, when, plan about units: records of a board and moves as short texts.
 *
 * A record is its key and its fields: "unit/web/0000000003 state=alive guid=g3". A cell c1 of
 * identity I, incarnation 1, and the converger's lock are there. Ends of a relation are
 * "ends=web:db:0,db:kv:1": service, endpoint, role (0 requires, 1 provides, 2 peers); a service's
 * guid is "s-" and its name. Endpoints of a charm are "endpoints=db:0:kv:0": name, role, interface,
 * scope. */
#pragma once

#include "bbs/board/move_family.h"
#include "test/decide/laid_system.h"

/* Without the cell and the converger's lock, which laid_units_init() puts. */
void laid_units_init(struct laid_system *l, const char *texts);
ProtobufCMessage *unit_row(struct arena *a, char *text, const char **ret_key);

/* "destroy unit/web/0000000003 guid=g3": a move with a body of units, of the rep of c1, in its
 * incarnation, and of the converger in its term. "status.state=error" is a field of a message in
 * the body; "revision=15" after the key is the mod-revision of its subject. */
Board__Move *units_move(struct arena *a, const char *text);
Board__Move *laid_units_move(struct laid_system *l, const char *text);

struct unit_move_row {
    const char *rule;
    enum actor actor;
    const char *board, *move, *plan;
};
void try_unit_moves(const struct move_family *family, const struct unit_move_row *rows,
                    size_t count);

/* "web:db db:kv": a client relates these ends. */
struct relate_row {
    const char *rule, *board, *ends, *plan;
};
void try_relates(const struct relate_row *rows, size_t count);
Board__RelateUnitsRequest *relate_request(struct arena *a, const char *ends);
