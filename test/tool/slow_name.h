/* A name server that is away: a program that calls these has a getaddrinfo() that looks for
 * SLOW_NAME, or whatever ends in it, for as long as the test wants, and for other names as ever. */
#pragma once

#define SLOW_NAME "slow.invalid"

/* From here on nobody finds it. A test that waits for one who waits for it is ended by a signal. */
void slow_name_begin(void);

/* How many look for it, or have; and how many of them came to an end. */
int slow_name_sought(void);
int slow_name_ended(void);

/* All who look for it end now: it was not found. Returns when they have. */
void slow_name_end(void);
