/* The whole matrix of common/lifecycle/actual_lrp.def. */
#include "common/lifecycle/actual_lrp.h"
#include "test/table/matrix.h"

int main(int argc, char **argv)
{
    return matrix_main(&actual_lrp_lifecycle, argc, argv);
}
