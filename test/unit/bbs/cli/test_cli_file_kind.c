/* Of what a file is that was given to the wrong command (bbs/cli/file_kind.c). */
#include "bbs/cli/file_kind.h"
#include "test/tool/cmocka.h"

#include <string.h>

static void kinds_are_told_by_keys(void **state)
{
    static const struct {
        const char *file, *text;
        enum file_kind kind;
    } rows[] = {
        {"web.yaml", "name: web\nhooks: {start: x}\n", FILE_OF_CHARM},
        {"web.yaml", "name: web\nprovides: {}\n", FILE_OF_CHARM},
        {"web.yaml", "name: web\nrequires: {db: {interface: kv}}\nreqires: 1\n", FILE_OF_CHARM},
        {"web.yaml", "peers: {}\n", FILE_OF_CHARM},
        {"web.yaml", "subordinate: true\n", FILE_OF_CHARM},
        {"web.json", "{\"hooks\": {}}", FILE_OF_CHARM},
        {"web.yaml", "name: web\ninstances: 2\n", FILE_OF_APPS},
        {"web.json", "{\"name\": \"web\", \"routes\": {}}", FILE_OF_APPS},
        {"web.yaml", "organization: dev\ninstances: 2\n", FILE_OF_EDGE},
        {"web.yaml", "name: web\npublic_ports: [80]\n", FILE_OF_EDGE},
        {"shop.yaml", "type: v1/system\ncomponents: {}\n", FILE_OF_SYSTEM},
        {"shop.yaml", "type: v1/service\nnum_instances: 1\n", FILE_OF_SYSTEM},
        {"shop.yaml", "type: other\n", FILE_OF_NOTHING},
        {"shop.yaml", "type: {v1/system: 1}\n", FILE_OF_NOTHING},
        {"web.yaml", "name: web\ncommand: exec sleep 9\n", FILE_OF_NOTHING},
        {"web.yaml", "name: [\n", FILE_OF_NOTHING},
        {"web.yaml", "", FILE_OF_NOTHING},
        {"web.yaml", "- hooks\n", FILE_OF_NOTHING},
        {"web.json", "hooks: {}\n", FILE_OF_NOTHING},
        {"n", "hooks: {}\n", FILE_OF_CHARM},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        enum file_kind is = file_kind_of(&a, rows[i].file, bytes_of(rows[i].text));
        if (is != rows[i].kind) {
            fail_msg("%s: %d, not %d", rows[i].text, is, rows[i].kind);
        }
    }
    (void)state;
}

static void the_command_that_takes_it_is_named(void **state)
{
    SCOPED_ARENA(a);
    assert_string_equal(file_kind_text(&a, "w.yaml", FILE_OF_CHARM, "apply takes files of apps"),
                        "w.yaml is a charm, and apply takes files of apps: bbs units deploy "
                        "w.yaml");
    assert_string_equal(file_kind_text(&a, "w.yaml", FILE_OF_APPS, "units deploy takes a charm"),
                        "w.yaml is of an app, and units deploy takes a charm: bbs apply w.yaml");
    assert_string_equal(
        file_kind_text(&a, "w.yaml", FILE_OF_SYSTEM, "units deploy takes a charm"),
        "w.yaml defines a system, and units deploy takes a charm: bbs deploy SYSTEM --file w.yaml");
    assert_string_equal(file_kind_text(&a, "w.yaml", FILE_OF_EDGE, "apply takes files of apps"),
                        "w.yaml is of an app of edge sites, and apply takes files of apps: bbs "
                        "edge-apps apply w.yaml");
    assert_null(file_kind_text(&a, "w.yaml", FILE_OF_NOTHING, "it takes another"));
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_told_by_keys),
        cmocka_unit_test(the_command_that_takes_it_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
