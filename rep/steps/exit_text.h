/* The texts of ends (design.md 7, Exit texts): how a process ended, and how long something took or
 * may take. Pure. */
#pragma once

#include "common/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* What was short when a process ended. */
struct shortage {
    bool memory, disk; /* the former is told, of both */
};

/* "APP: Exited with status 3", "APP: Exited with status 137 (out of memory)": a signal (0 = none)
 * counts as 128 + its number, as shells do; "" as source stands for LOG. In the arena. */
const char *exit_text(struct arena *a, const char *source, int code, int signal,
                      struct shortage of);

/* The same without its source. In the arena. */
const char *exit_status_text(struct arena *a, int code, int signal, struct shortage of);

/* As Go prints a duration: "0s", "500ms", "1.5s", "1m0s", "2540400h10m0s". In the arena. */
const char *duration_text(struct arena *a, int64_t ns);

/* As Diego's log prints bytes: "17B", "1.2M", "1G". In the arena. */
const char *size_text(struct arena *a, int64_t bytes);

/* Both, and what lies between if neither is "": "a; b". In the arena, or one of the two. */
const char *texts_joined(struct arena *a, const char *first, const char *second);
