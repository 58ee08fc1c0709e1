/* Units of a rep under test: what it knows of the board is laid by hand, and all that it wants to
 * follow is told. */
#pragma once

#include "test/unit/rep/rep_rig.h"

struct rep *unit_rig_rep(struct rep_rig *g);

/* protobuf-c has no constant strings. */
char *unit_rig_text(const char *constant);

/* The record stands there from now on, at the next revision; a row as in test/decide/unit_rows.h.
 */
void unit_rig_put(struct rep_rig *g, const char *key, const ProtobufCMessage *m);
void unit_rig_put_row(struct rep_rig *g, const char *row);

/* All that is wanted by now is known. */
void unit_rig_know_all(struct rep_rig *g);

/* Unit web/3 of guid u-1 on this cell, that has started, and its service, by the charm c. */
void unit_rig_put_unit(struct rep_rig *g);
