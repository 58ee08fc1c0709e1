/* The program bbs: the server, and the command line for clients. */
#include "bbs/cli/commands_io.h"
#include "common/cli/cli_io.h"

int main(int argc, char **argv)
{
    return cli_main(&bbs_program, argc, argv);
}
