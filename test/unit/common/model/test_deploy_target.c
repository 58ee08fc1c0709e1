/* What a deploy may be aimed at: each rule, and the bound of the head. */
#include "common/model/deploy_target.h"
#include "common/model/head.h"
#include "test/tool/cmocka.h"

#include <string.h>

struct facts {
    Board__DeployRecord deploy, undone;
    Board__SystemRecord system;
    Board__BuildRecord build;
    Board__HeadRecord head;
    Board__HoldRecord hold;
};

static struct facts facts_of(const char *target)
{
    struct facts f = {BOARD__DEPLOY_RECORD__INIT, BOARD__DEPLOY_RECORD__INIT,
                      BOARD__SYSTEM_RECORD__INIT, BOARD__BUILD_RECORD__INIT,
                      BOARD__HEAD_RECORD__INIT,   BOARD__HOLD_RECORD__INIT};
    f.deploy.id = (char *)"D1";
    f.deploy.system = (char *)"shop";
    f.deploy.target = (char *)(uintptr_t)target;
    f.system.definition_url = (char *)"git";
    return f;
}

static const char *fault(struct arena *a, const struct facts *f, bool deployed, bool own)
{
    struct deploy_target_facts t = {
        .deploy = &f->deploy, .system = &f->system, .deployed = deployed,
        .own = own ? &f->build : NULL, .head = &f->head, .hold = &f->hold,
    };
    return deploy_target_fault(a, &t);
}

static void a_build_of_its_id_stands_in_its_way(void **state)
{
    SCOPED_ARENA(a);
    static const char want[] = "build D1 is another one: deploy again with another id";
    struct facts version = facts_of("version"), path = facts_of("path");
    assert_null(fault(&a, &version, false, false));
    assert_string_equal(fault(&a, &version, false, true), want);
    assert_string_equal(fault(&a, &path, true, true), want);
    struct facts definition = facts_of("definition"); /* which made it */
    assert_null(fault(&a, &definition, false, true));
}

static void the_head_has_a_bound(void **state)
{
    SCOPED_ARENA(a);
    struct facts f = facts_of("version");
    f.head.n_roots = HEAD_ROOTS_MAX - 1;
    assert_null(fault(&a, &f, false, false));
    f.head.n_roots++;
    assert_string_equal(fault(&a, &f, false, false),
                        "4096 paths of system shop were deployed for themselves, which is the "
                        "most: deploy one above them");
    f.head.n_roots -= 3; /* others will add theirs first */
    f.hold.n_holds = 2;
    assert_null(fault(&a, &f, false, false));
    f.hold.n_holds++;
    assert_non_null(fault(&a, &f, false, false));
}

static void an_undo_brings_as_many_roots_as_there_were(void **state)
{
    SCOPED_ARENA(a);
    struct facts f = facts_of("undo");
    f.undone.state = (char *)"succeeded";
    f.undone.generation = 1;
    f.undone.n_before = 5;
    f.head.n_roots = HEAD_ROOTS_MAX - 5;
    struct deploy_target_facts t = {.deploy = &f.deploy, .system = &f.system,
                                    .undone = &f.undone, .head = &f.head, .hold = &f.hold};
    assert_null(deploy_target_fault(&a, &t));
    f.undone.n_before++;
    assert_non_null(deploy_target_fault(&a, &t));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_build_of_its_id_stands_in_its_way),
        cmocka_unit_test(the_head_has_a_bound),
        cmocka_unit_test(an_undo_brings_as_many_roots_as_there_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
