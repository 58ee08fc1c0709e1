/* The errors of the API: one text for each type (behaviour.md 4). */
#pragma once

#include "common/contract/plan.h"

/* The constant text of a type, or that of UnknownError for a type that has none. */
const char *error_text(Models__Error__Type type);

/* Refuses with the type's constant text. */
void plan_refuse_as(struct plan *p, Models__Error__Type type);

/* A committed plan whose answer is an error nonetheless (behaviour.md 10.3: crash of an instance
 * that nobody desires any more). */
void plan_answer_error(struct plan *p, Models__Error__Type type);

/* The error that the answer to this plan carries, in `out`; false if it carries none. Both strings
 * are the plan's. */
bool plan_error(const struct plan *p, Models__Error *out);
