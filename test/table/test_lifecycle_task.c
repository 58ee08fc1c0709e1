/* The whole matrix of common/lifecycle/task.def. */
#include "common/lifecycle/task.h"
#include "test/table/matrix.h"

int main(int argc, char **argv)
{
    return matrix_main(&task_lifecycle, argc, argv);
}
