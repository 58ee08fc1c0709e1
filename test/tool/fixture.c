#include "test/tool/fixture.h"

#include <stdlib.h>

int fixture_setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    arena_init(&f->arena);
    buf_init(&f->out);
    *state = f;
    return 0;
}

int fixture_teardown(void **state)
{
    struct fixture *f = *state;
    arena_done(&f->arena);
    buf_done(&f->out);
    free(f);
    return 0;
}
