/* The whole matrix of common/lifecycle/lead.def. */
#include "common/lifecycle/lead.h"
#include "test/table/matrix.h"

int main(int argc, char **argv)
{
    return matrix_main(&lead_lifecycle, argc, argv);
}
