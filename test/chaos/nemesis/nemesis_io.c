#include "test/chaos/chaos.h"
#include "test/chaos/nemesis/schedule.h"

#include <stdio.h>
#include <string.h>

static int list_kinds(void)
{
    for (int i = 0; i < fault_kind_count; i++) {
        printf("%-18s %s\n", fault_kinds[i].name, fault_kinds[i].what);
    }
    return CHAOS_GOOD;
}

int chaos_nemesis(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        return list_kinds();
    }
    fprintf(stderr, "chaos nemesis --list\n");
    return CHAOS_USAGE;
}
