/* The moves that the converger plans, as the board wants them: all but the term. In the arena;
 * what is named is borrowed. Pure. */
#pragma once

#include "board.pb-c.h"
#include "common/base/arena.h"

/* Of the index, whichever record of it stands. */
Board__Move *move_of_instance(struct arena *a, const char *move, const char *process_guid,
                              int32_t index);
/* `after_ns` is the limit by which the move was found. */
Board__Move *move_of_task(struct arena *a, const char *move, const char *task_guid,
                          int64_t after_ns);
/* The end of a domain; of a lock, at the revision that was judged. */
Board__Move *move_of_domain(struct arena *a, const char *domain);
Board__Move *move_of_lock(struct arena *a, const char *name, int64_t revision);
/* `cell_id` is "" for a move about the limiter; `cells` are those of "hold". */
Board__Move *move_of_cell(struct arena *a, const char *move, const char *cell_id,
                          uint64_t incarnation, Board__CellHeartbeat **cells, size_t cell_count);
