/* Waiting in tests. No test may depend on how fast the machine is: what must come is waited for,
 * with a limit so generous that only what never comes exceeds it, and no test asserts that
 * something took less than a time of its own choosing. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Until what must come has not come. */
enum { PATIENCE_MS = 120 * 1000 };

/* Monotonic. */
int64_t patience_now_ms(void);

/* Rests a moment between two looks: `for (struct patience p = {0}; !condition && patience(&p);)`.
 * False when PATIENCE_MS are over since the first rest. */
struct patience {
    int64_t end_ms; /* 0: not begun */
};
bool patience(struct patience *p);

/* The same without the rest, where the look itself waits. */
bool patience_lasts(struct patience *p);

/* Waits until `mark` stands in a log with a whole line after it; gives the number behind "port=" of
 * that line. Fails the test, with what the log says, when it does not come. */
int patience_port_in_log(const char *path, const char *mark);
