/* Which of its two uses is meant. */
#include "rep/hook/hook_program.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char program[] = "rep-hook";

void hook_say(const char *format, ...)
{
    va_list args;
    fprintf(stderr, "%s: ", program);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

static int usage(void)
{
    fprintf(stderr, "usage: %s run NUMBER\n       %s TOOL [WORD...]\n", program, program);
    return HOOK_USAGE;
}

int main(int argc, char **argv)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *name = slash ? slash + 1 : argc > 0 ? argv[0] : program;
    if (strcmp(name, program) != 0) {
        argv[0] = (char *)name;
        return hook_tool(argc, argv);
    }
    if (argc < 2 || strcmp(argv[1], "--help") == 0) {
        return usage();
    }
    if (strcmp(argv[1], "run") == 0) {
        return argc == 3 ? hook_run(argv[2]) : usage();
    }
    return hook_tool(argc - 1, argv + 1);
}
