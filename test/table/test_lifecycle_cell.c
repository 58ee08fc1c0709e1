/* The whole matrix of common/lifecycle/cell.def. */
#include "common/lifecycle/cell.h"
#include "test/table/matrix.h"

int main(int argc, char **argv)
{
    return matrix_main(&cell_lifecycle, argc, argv);
}
