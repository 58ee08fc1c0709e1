/* What a CRM tells people of its works: those under way, and what it would do now. Pure. */
#pragma once

#include "crm.pb-c.h"
#include "crm/inside.h"

/* The rows of the table (crm/harmonise.def) that act now, by what this CRM knows: also of a
 * standby, which does nothing. An object of which health and use alone are reported is no row. In
 * the arena. */
void crm_tell_plan(const struct crm *x, struct arena *a, Crm__Plan *ret);

/* What is under way, or failed, and why; in the arena. */
size_t crm_tell_works(const struct crm *x, struct arena *a, Crm__Item ***ret_list);
