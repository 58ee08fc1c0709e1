/* What is said of a leader that is missed. */
#include "bbs/cli/leader_words.h"
#include "test/tool/cmocka.h"

#include <string.h>

static void a_leader_that_is_missed_is_told(void **state)
{
    static const struct {
        bool leads, complete;
        const char *silence, *want; /* NULL = nothing is said */
    } rows[] = {
        {false, true, NULL,
         "no converger leads: nothing of this goes on before one runs (converger serve), and what "
         "runs, runs on"},
        {false, false, NULL, NULL}, /* nobody can tell */
        {true, true, NULL, NULL},
        {true, true, "no answer in 2s",
         "the leading converger does not answer (no answer in 2s): nothing of this goes on before "
         "it does, or another one leads; its log, and whoever supervises it, tell more"},
        {true, false, "no answer in 2s",
         "the leading converger does not answer (no answer in 2s): nothing of this goes on before "
         "it does, or another one leads; its log, and whoever supervises it, tell more"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        const char *is =
            leader_lack_text(&a, "converger", rows[i].leads, rows[i].complete, rows[i].silence);
        assert_int_equal(is != NULL, rows[i].want != NULL);
        if (is) {
            assert_string_equal(is, rows[i].want);
        }
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_leader_that_is_missed_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
