/* A DesiredLRP as its readers see it: its scheduling part and its run part, two records, and a few
 * fields that are harmonised (behaviour.md 8.5). */
#pragma once

#include "bbs/board/view.h"
#include "bbs/route/records.h"

/* Adds the DesiredLRP whose scheduling part this is, as one message; r2: without image layers.
 * Decodes in `scratch` for the time of the call. One of which a part is missing or of a newer
 * version is left out. */
void whole_desired_add(struct records *records, struct view *v, struct arena *scratch,
                       const struct picked *scheduling, bool r2);

/* The same decoded, in the view's arena; NULL if it is left out. */
Models__DesiredLRP *whole_desired_decoded(struct view *v, const struct picked *scheduling);
