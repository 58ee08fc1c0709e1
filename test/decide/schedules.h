/* Which schedules a test of schedules runs, and how many of them break something.
 *
 *   test_X [--schedules N] [--seed S]   N from S on, in this process, until the first that fails
 *   test_X --seeds A-B                  each in a process of its own, all of them; those that fail
 *                                       are told, and how many they are */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct schedules {
    unsigned first, count;
    bool apart; /* each in a process of its own */
};

/* As the arguments say, else as it is. False = they say something else; stderr has the usage. */
bool schedules_parse(struct schedules *s, int argc, char **argv);

/* Runs them, apart or not. Those that fail are told apart; the number of them. What was counted in
 * this process is there afterwards only where they are not apart. */
unsigned schedules_run(const struct schedules *s, void (*live)(uint64_t seed));
