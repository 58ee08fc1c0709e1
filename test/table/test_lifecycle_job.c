/* The whole matrix of common/lifecycle/job.def. */
#include "common/lifecycle/job.h"
#include "test/table/matrix.h"

int main(int argc, char **argv)
{
    return matrix_main(&job_lifecycle, argc, argv);
}
