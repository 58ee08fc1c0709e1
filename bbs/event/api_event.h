/* The events of Diego's API (behaviour.md 16), before anybody reads them: which ones a change of
 * the board makes. Pure. */
#pragma once

#include "common/base/arena.h"
#include "models/events.pb-c.h"

#include <stdbool.h>

/* What is reported to whom (behaviour.md 16.2). DesiredLRPs are reported in both of the LRPs'
 * streams. */
enum stream_kind { STREAM_GROUPS, STREAM_INSTANCES, STREAM_TASKS, STREAM_KIND_COUNT };

/* Cells of one event: a group that changed has that of before and that of after. */
enum { API_EVENT_CELLS = 2 };

struct api_event {
    const char *name; /* "actual_lrp_created", ...: constant */
    const ProtobufCMessage *message;
    bool of_all_cells; /* passes every cell filter */
    const char *cells[API_EVENT_CELLS]; /* passes the filters of these; "" or NULL = none */
};

/* One revision's changes at an index make ten at most, in one stream. */
enum { API_EVENTS_MAX = 12 };

struct api_events {
    struct api_event list[API_EVENTS_MAX];
    size_t count;
};
