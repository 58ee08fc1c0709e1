/* Cells for tests of placing: made in an arena, with one root filesystem "busybox". */
#pragma once

#include "board.pb-c.h"
#include "cell.pb-c.h"
#include "common/base/arena.h"

/* A cell in a zone with this much of memory and disk in all and 100 containers, all free. */
Cell__CellState *cell_row_new(struct arena *a, const char *cell_id, const char *zone,
                              int32_t memory_mb, int32_t disk_mb);

/* Adds what the cell has; lists are words with blanks between. */
void cell_row_provider(struct arena *a, Cell__CellState *s, const char *scheme, const char *type,
                       const char *set);
void cell_row_tags(struct arena *a, Cell__CellState *s, const char *tags, const char *optional);
void cell_row_drivers(struct arena *a, Cell__CellState *s, const char *drivers);
void cell_row_lrp(struct arena *a, Cell__CellState *s, const char *process_guid); /* RUNNING */
void cell_row_unit(struct arena *a, Cell__CellState *s, const char *service_guid);
void cell_row_lrp_is(struct arena *a, Cell__CellState *s, const char *process_guid,
                     const char *state);
void cell_row_tasks(struct arena *a, Cell__CellState *s, size_t count);

/* A quota of so many nodes with this memory, no disk and one container each; its owner is "owner of
 * UID". And what is in it: each of no size. */
Board__SliceRecord *slice_row_new(struct arena *a, const char *uid, uint32_t nodes,
                                  int32_t memory_mb, const char *tags);
void slice_row_use(struct arena *a, Board__SliceRecord *s, const char *process_guid);

/* "a b c" to a list; gives its length. */
size_t cell_row_words(struct arena *a, const char *words, char ***ret_list);
