/* The subcommands of the chaos harness (docs/chaos.md). A cluster of real processes is made by
 * test/chaos/cluster; these look at it, disturb it and judge what came of it. */
#pragma once

/* Exit statuses, of each subcommand and of test/chaos/run. */
enum {
    CHAOS_GOOD = 0,
    CHAOS_VIOLATION = 1,  /* of a promise of the product, or a fault that was not there */
    CHAOS_USAGE = 2,
    CHAOS_IMPOSSIBLE = 3, /* on this machine, or of this target; nothing was judged */
};

/* Each is main() of its subcommand: argv[0] is its name; the exit status is what it gives back. */
#define COMMAND(name, what) int chaos_##name(int argc, char **argv);
#include "test/chaos/commands.def"
#undef COMMAND
