/* How the hook of a unit has ended, for people (docs/units.md, On its cell). Pure. */
#pragma once

#include "common/base/arena.h"

enum { HOOK_LAST_LINE_MAX = 160 }; /* bytes of the last line that a reason quotes */

/* What it wrote, and below that the reason in one line: how it ended, and the last line that it
 * wrote, or as much as a line bears of its beginning: "Exited with status 1: no such table". The
 * reason is last, for the end of a long text is what is kept. In the arena, or `how`. */
const char *hook_end_text(struct arena *a, const char *how, const char *output);

/* The reason out of such a text. */
const char *hook_end_reason(const char *text);
