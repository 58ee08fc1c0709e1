/* A file of the history: an object of JSON a line (docs/chaos.md, The history). */
#pragma once

#include <jansson.h>
#include <stdint.h>

struct recorder;

/* Nanoseconds of CLOCK_MONOTONIC. */
int64_t chaos_now_ns(void);

/* Waits that long, or less when a signal comes. */
void chaos_sleep_ms(int64_t ms);

/* Appends to DIR/history/NAME.jsonl, whose directory is made; ends the program with a sentence if
 * that is not possible. Each line is written at once: what was recorded is there after a kill -9.
 */
struct recorder *recorder_open(const char *dir, const char *name);
void recorder_close(struct recorder *r);

/* Takes the object over. For any thread. */
void record(struct recorder *r, json_t *line);
