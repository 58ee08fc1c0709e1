/* What clients are told of units (bbs/route/units.def). All is looked at through the view, and
 * nothing is decided by it; results live in the view's arena. Pure. */
#pragma once

#include "bbs/board/view.h"
#include "common/base/err.h"

#include "board.pb-c.h"

/* Units and their statuses, those for whom all holds that is asked. */
size_t units_pick(struct view *v, const Board__UnitsRequest *request, struct picked **ret_list);

/* The same as a whole answer. */
Board__UnitsResponse *units_told(struct view *v, const Board__UnitsRequest *request);

/* Services by name, with their units and relations; without names all of them, and the machines.
 * Of whatever is not as it should be the first thing that holds it. A name that no service has is
 * the answer's error. */
Board__UnitsStatus *units_status_told(struct view *v, const Board__UnitsStatusRequest *request);

/* One service, whole; there is none: the answer's error. */
Board__UnitServiceWhole *unit_service_told(struct view *v, const char *service);

/* All that holds a thing (why.h); there is none: the answer's error. */
Board__UnitsWhy *units_why_told(struct view *v, const Board__UnitsWhyRequest *request);

/* What people name: for sentences about what is not there. */
enum units_noun { NOUN_UNIT, NOUN_SERVICE, NOUN_RELATION, NOUN_MACHINE };

/* "there is no unit web: that is a unit service"; of a name that nothing has, how to find those
 * that are. */
const char *units_unknown(struct view *v, enum units_noun noun, const char *name);

/* The ends that a client means who leaves an endpoint out, complete, in the other arena.
 * ERR_INVALID says why none fits, or which there are; ERR_NOT_FOUND which service is not there. */
int units_ends_meant(struct view *v, const Board__RelateUnitsRequest *asked, struct arena *a,
                     Board__RelateUnitsRequest **ret_request, struct err *err);

/* The relation between two ends, of which an endpoint may be left out. ERR_NOT_FOUND; ERR_INVALID
 * names those that there are. */
int units_relation_meant(struct view *v, const Board__UnitRelationRequest *asked,
                         uint32_t *ret_number, struct err *err);
