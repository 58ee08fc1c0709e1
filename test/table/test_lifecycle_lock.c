/* The whole matrix of common/lifecycle/lock.def. */
#include "common/lifecycle/lock.h"
#include "test/table/matrix.h"

int main(int argc, char **argv)
{
    return matrix_main(&lock_lifecycle, argc, argv);
}
