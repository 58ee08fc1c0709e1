/* chaos: the programs of the chaos harness in one, by subcommand (docs/chaos.md). */
#include "test/chaos/chaos.h"

#include <stdio.h>
#include <string.h>

struct command {
    const char *name;
    const char *what;
    int (*run)(int argc, char **argv);
};

static const struct command commands[] = {
#define COMMAND(name, what) {#name, what, chaos_##name},
#include "test/chaos/commands.def"
#undef COMMAND
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void print_help(FILE *to)
{
    fprintf(to, "chaos SUBCOMMAND ...: parts of the chaos harness, which test/chaos/run puts "
                "together\n\n");
    for (int i = 0; i < COMMANDS; i++) {
        fprintf(to, "  chaos %-10s %s\n", commands[i].name, commands[i].what);
    }
    fprintf(to, "\nchaos SUBCOMMAND --help says all about one.\n");
}

int main(int argc, char **argv)
{
    for (int i = 0; argc > 1 && i < COMMANDS; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    int asked = argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    print_help(asked ? stdout : stderr);
    return asked ? CHAOS_GOOD : CHAOS_USAGE;
}
