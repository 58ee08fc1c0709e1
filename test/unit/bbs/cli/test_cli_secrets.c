/* What the command line shows of secrets, and of the keys that they are sealed by. */
#include "bbs/cli/secrets.h"

#include "common/contract/moment.h"
#include "test/tool/cmocka.h"

static void a_secret_is_shown_without_its_value(void **state)
{
    (void)state;
    SCOPED_ARENA(a);
    SCOPED_BUF(out);
    Board__SecretInfo one = BOARD__SECRET_INFO__INIT, other = BOARD__SECRET_INFO__INIT;
    Board__SecretInfo *list[] = {&one, &other};
    Board__SecretsResponse all = BOARD__SECRETS_RESPONSE__INIT;
    one.name = (char *)"/:registry";
    one.set_at = 100 * SECOND_NS;
    one.set_by = (char *)"olga";
    other.name = (char *)"/api:key";
    other.set_at = 880 * SECOND_NS;
    all.n_secrets = 2;
    all.secrets = list;
    secrets_table(&a, &all, 1000 * SECOND_NS, &out);
    assert_string_equal(buf_string(&out), "NAME        SET      BY\n"
                                          "/:registry  15m ago  olga\n"
                                          "/api:key    2m ago   -\n");
}

/* Each row of the ladder. */
static void a_key_says_what_is_to_be_done(void **state)
{
    (void)state;
    SCOPED_ARENA(a);
    SCOPED_BUF(out);
    Board__KeyUse keys[] = {BOARD__KEY_USE__INIT, BOARD__KEY_USE__INIT, BOARD__KEY_USE__INIT,
                            BOARD__KEY_USE__INIT};
    Board__KeyUse *list[] = {&keys[0], &keys[1], &keys[2], &keys[3]};
    Board__KeysResponse all = BOARD__KEYS_RESPONSE__INIT;
    for (uint32_t i = 0; i < 4; i++) {
        keys[i].number = i + 1;
        keys[i].held = i < 3;
    }
    keys[1].systems = 2;
    keys[2].systems = 12;
    keys[3].systems = 1;
    all.n_keys = 4;
    all.keys = list;
    keys_table(&a, &all, &out);
    assert_string_equal(buf_string(&out),
                        "KEY  HERE  SYSTEMS  USE\n"
                        "1    yes   0        not needed: it may go from each key file\n"
                        "2    yes   2        when each bbs has key 3: bbs keys rewrap\n"
                        "3    yes   12       active\n"
                        "4    no    1        put key 4 into the key file of this bbs\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_secret_is_shown_without_its_value),
        cmocka_unit_test(a_key_says_what_is_to_be_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
