/* The whole matrix of common/lifecycle/brake.def. */
#include "common/lifecycle/brake.h"
#include "test/table/matrix.h"

int main(int argc, char **argv)
{
    return matrix_main(&brake_lifecycle, argc, argv);
}
