/* What a test of codecs and texts works with: memory, a text, an error. For cmocka, which makes one
 * for each test. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"

struct fixture {
    struct arena arena;
    struct buf out;
    struct err err;
};

/* `*state` becomes a struct fixture; the teardown frees it with all that it holds. */
int fixture_setup(void **state);
int fixture_teardown(void **state);
