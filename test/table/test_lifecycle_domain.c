/* The whole matrix of common/lifecycle/domain.def. */
#include "common/lifecycle/domain.h"
#include "test/table/matrix.h"

int main(int argc, char **argv)
{
    return matrix_main(&domain_lifecycle, argc, argv);
}
