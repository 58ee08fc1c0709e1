/* The portions of the jobs by which a unit ends (unit_jobs.h opens them). Pure. */
#pragma once

#include "bbs/board/op.h"

#include "board.pb-c.h"

enum { DEPARTED_AT_ONCE = 50 };
