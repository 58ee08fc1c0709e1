/* The whole matrix of common/lifecycle/container.def. */
#include "common/lifecycle/container.h"
#include "test/table/matrix.h"

int main(int argc, char **argv)
{
    return matrix_main(&container_lifecycle, argc, argv);
}
