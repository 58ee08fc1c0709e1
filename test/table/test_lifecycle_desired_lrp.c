/* The whole matrix of common/lifecycle/desired_lrp.def. */
#include "common/lifecycle/desired_lrp.h"
#include "test/table/matrix.h"

int main(int argc, char **argv)
{
    return matrix_main(&desired_lrp_lifecycle, argc, argv);
}
