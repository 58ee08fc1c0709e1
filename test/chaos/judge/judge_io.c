#include "test/chaos/chaos.h"

int chaos_judge(int argc, char **argv)
{
    (void)argc, (void)argv;
    return CHAOS_USAGE;
}
