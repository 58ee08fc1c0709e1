/* The journal of a unit: what each thing that happens makes of it, and its bounds. What hooks
 * follow from it is in test/decide/test_hook_next.c. */
#include "rep/unit/journal.h"

#include "common/base/message.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

#include <string.h>

static const struct sight_member two[] = {{0, 5, false}, {3, 6, false}};
static const struct sight_relation relation = {7, "g7", true, false, two, 2};

static struct unit_sight sight_with(const struct sight_relation *r, size_t count)
{
    return (struct unit_sight){.epoch = "e1",
                               .alive = true,
                               .charm = "a",
                               .config_version = 3,
                               .relations = r,
                               .relation_count = count};
}

static Rep__UnitNote *begun(struct fixture *f, const Rep__UnitNote *j, enum unit_hook hook,
                            uint32_t unit, uint64_t version)
{
    const struct hook_step step = {HOOK_RUN, {hook, 7, unit}, version};
    return journal_begin(&f->arena, j, &step, "a", "token");
}

static Rep__UnitNote *run_well(struct fixture *f, const Rep__UnitNote *j, enum unit_hook hook,
                               uint32_t unit, uint64_t version)
{
    return journal_end(&f->arena, begun(f, j, hook, unit, version), JOURNAL_GOOD, "");
}

/* Of a unit that has started, is in relation 7 and was told of units 0 and 3 there. */
static Rep__UnitNote *at_work(struct fixture *f)
{
    const struct unit_sight seen = sight_with(&relation, 1);
    Rep__UnitNote *j = journal_new(&f->arena, "e1");
    j = run_well(f, j, HOOK_INSTALL, 0, 0);
    j = run_well(f, j, HOOK_CONFIG_CHANGED, 0, 3);
    j = run_well(f, j, HOOK_START, 0, 0);
    j = journal_adopt(&f->arena, j, &seen, false);
    j = run_well(f, j, HOOK_JOINED, 3, 0);
    j = run_well(f, j, HOOK_CHANGED, 3, 6);
    j = run_well(f, j, HOOK_JOINED, 0, 0);
    return run_well(f, j, HOOK_CHANGED, 0, 5);
}

static struct hook_step next_of(struct fixture *f, const Rep__UnitNote *j, struct unit_sight seen)
{
    struct hook_world w = journal_world(&f->arena, j, &seen);
    return hook_next(&w);
}

static void what_a_hook_told_is_noted(void **state)
{
    struct fixture *f = *state;
    Rep__UnitNote *j = at_work(f), *before = j;
    assert_true(j->installed && j->configured && j->started && !j->stopped && !j->hook);
    assert_string_equal(j->charm, "a");
    assert_int_equal(j->config_version, 3);
    assert_int_equal(j->relations[0]->n_members, 2);
    assert_int_equal(j->relations[0]->members[0]->unit, 0); /* by unit */
    assert_int_equal(j->relations[0]->members[1]->version, 6);
    assert_int_equal(next_of(f, j, sight_with(&relation, 1)).act, HOOK_WAIT);
    j = run_well(f, j, HOOK_DEPARTED, 0, 0);
    assert_int_equal(j->relations[0]->n_members, 1);
    assert_int_equal(j->relations[0]->members[0]->unit, 3);
    assert_int_equal(before->relations[0]->n_members, 2); /* the one before stays as it was */
    j = run_well(f, j, HOOK_DEPARTED, 3, 0);
    j = run_well(f, j, HOOK_BROKEN, 0, 0);
    assert_true(j->relations[0]->broken);
    j = run_well(f, j, HOOK_UPGRADE, 0, 0);
    assert_true(j->config_owed);
    j = run_well(f, j, HOOK_STOP, 0, 0);
    assert_true(j->stopped);
}

static void a_bad_end_is_resolved(void **state)
{
    struct fixture *f = *state;
    struct unit_sight seen = sight_with(&relation, 1);
    Rep__UnitNote *j = begun(f, at_work(f), HOOK_CHANGED, 3, 9);
    assert_int_equal(journal_set(&f->arena, j, 7, "port", "1", &j, &f->err), 0);
    j = journal_end(&f->arena, j, JOURNAL_BAD, "Exited with status 1");
    assert_string_equal(j->hook->text, "Exited with status 1");
    assert_int_equal(j->hook->n_writes, 0);
    assert_int_equal(j->n_unpublished, 0);
    assert_int_equal(next_of(f, j, seen).act, HOOK_WAIT);
    assert_int_equal(journal_set(&f->arena, j, 7, "port", "1", &j, &f->err), -ERR_CONFLICT);
    seen.resolution = HOOK_RETRY;
    assert_int_equal(next_of(f, j, seen).act, HOOK_RUN);
    Rep__UnitNote *again = begun(f, j, HOOK_CHANGED, 3, 6);
    assert_int_equal(again->hook->attempt, 1);
    assert_string_equal(again->hook->state, "noted");
    seen.resolution = HOOK_SKIP;
    assert_int_equal(next_of(f, j, seen).act, HOOK_ACCEPT);
    j = journal_accept(&f->arena, j);
    assert_null(j->hook);
    assert_int_equal(j->relations[0]->members[1]->version, 9);
}

static void an_end_that_is_lost_is_tried_again(void **state)
{
    struct fixture *f = *state;
    const struct unit_sight seen = sight_with(&relation, 1);
    Rep__UnitNote *j = begun(f, at_work(f), HOOK_CHANGED, 3, 9);
    for (unsigned attempt = 1; attempt < JOURNAL_ATTEMPTS_MAX; attempt++) {
        assert_int_equal(j->hook->attempt, attempt);
        j = journal_end(&f->arena, j, JOURNAL_LOST, "its cell was started anew");
        struct hook_step step = next_of(f, j, seen);
        assert_int_equal(step.act, HOOK_RUN);
        j = journal_begin(&f->arena, j, &step, "a", "token");
    }
    j = journal_end(&f->arena, j, JOURNAL_LOST, "its cell was started anew");
    assert_int_equal(next_of(f, j, seen).act, HOOK_WAIT); /* in error */
    assert_false(j->hook->lost);
}

static void what_is_set_is_published_after_a_good_end(void **state)
{
    struct fixture *f = *state;
    Rep__UnitNote *j = begun(f, at_work(f), HOOK_CONFIG_CHANGED, 0, 4);
    assert_int_equal(journal_set(&f->arena, j, 7, "port", "1", &j, &f->err), 0);
    assert_int_equal(journal_set(&f->arena, j, 7, "port", "2", &j, &f->err), 0);
    assert_int_equal(journal_set(&f->arena, j, 8, "port", "2", &j, &f->err), -ERR_NOT_FOUND);
    assert_string_equal(f->err.text, "the unit is not in relation 8");
    assert_int_equal(j->hook->n_writes, 1);
    j = journal_end(&f->arena, j, JOURNAL_GOOD, "");
    assert_int_equal(j->n_unpublished, 1);
    j = begun(f, j, HOOK_CONFIG_CHANGED, 0, 5);
    assert_int_equal(journal_set(&f->arena, j, 7, "port", "", &j, &f->err), 0);
    j = journal_end(&f->arena, j, JOURNAL_GOOD, "");
    assert_int_equal(j->n_unpublished, 1); /* the later word */
    assert_string_equal(j->unpublished[0]->value, "");
    assert_int_equal(journal_published(&f->arena, j, 8)->n_unpublished, 1);
    assert_int_equal(journal_published(&f->arena, j, 7)->n_unpublished, 0);
}

/* "port=8081 private-address=10.0.0.2": what is to be published in relation 7. */
static const char *to_be_told(struct fixture *f, const Rep__UnitNote *j)
{
    const char *all = "";
    for (size_t i = 0; i < j->n_unpublished; i++) {
        assert_int_equal(j->unpublished[i]->relation, 7);
        all = arena_printf(&f->arena, "%s%s%s=%s", all, i ? " " : "", j->unpublished[i]->key,
                           j->unpublished[i]->value);
    }
    return all;
}

static void where_it_is_reached_is_told_again_when_that_is_another(void **state)
{
    struct fixture *f = *state;
    struct arena *a = &f->arena;
    Rep__UnitNote *none = journal_reached(a, journal_new(a, "e1"), "10.0.0.1", 8080);
    assert_int_equal(none->n_unpublished, 0); /* it is in no relation: who enters says it */
    Rep__UnitNote *j = at_work(f);
    j->address = none->address, j->port = none->port;
    assert_string_equal(to_be_told(f, journal_reached(a, j, "10.0.0.1", 8080)), "");
    assert_string_equal(to_be_told(f, journal_reached(a, j, "10.0.0.1", 8081)), "port=8081");
    assert_string_equal(to_be_told(f, journal_reached(a, j, "10.0.0.1", 0)), "port=");
    Rep__UnitNote *moved = journal_reached(a, j, "10.0.0.2", 8081);
    assert_string_equal(to_be_told(f, moved), "private-address=10.0.0.2 port=8081");
    moved = journal_published(a, moved, 7);
    assert_string_equal(to_be_told(f, journal_reached(a, moved, "10.0.0.2", 8081)), "");
    /* Its container is made anew: what its hooks have set there stands. */
    j = begun(f, j, HOOK_CONFIG_CHANGED, 0, 4);
    assert_int_equal(journal_set(a, j, 7, "port", "443", &j, &f->err), 0);
    Rep__UnitNote *bad = journal_end(a, j, JOURNAL_BAD, "");
    j = journal_published(a, journal_end(a, j, JOURNAL_GOOD, ""), 7);
    j = journal_anew(a, j);
    assert_string_equal(to_be_told(f, journal_reached(a, j, "10.0.0.2", 8081)),
                        "private-address=10.0.0.2");
    bad = journal_anew(a, bad); /* nobody was told of that one */
    assert_string_equal(to_be_told(f, journal_reached(a, bad, "10.0.0.1", 8081)), "port=8081");
    j = begun(f, run_well(f, j, HOOK_INSTALL, 0, 0), HOOK_CONFIG_CHANGED, 0, 4);
    assert_int_equal(journal_set(a, j, 7, "private-address", "db.test", &j, &f->err), 0);
    j = journal_published(a, journal_end(a, j, JOURNAL_GOOD, ""), 7);
    assert_string_equal(to_be_told(f, journal_reached(a, j, "10.0.0.3", 8082)), "");
}

static void memberships_on_the_board_win(void **state)
{
    struct fixture *f = *state;
    const struct sight_relation other[] = {{5, "g5", true, false, NULL, 0},
                                           {7, "another", true, false, two, 2}};
    struct unit_sight seen = sight_with(&relation, 1);
    Rep__UnitNote *j = begun(f, at_work(f), HOOK_CONFIG_CHANGED, 0, 4);
    assert_int_equal(journal_set(&f->arena, j, 7, "port", "1", &j, &f->err), 0);
    j = journal_end(&f->arena, j, JOURNAL_GOOD, "");
    /* restarted: config-changed once, and nothing else */
    Rep__UnitNote *restarted = journal_adopt(&f->arena, j, &seen, true);
    seen.config_version = 4;
    assert_int_equal(next_of(f, restarted, seen).subject.hook, HOOK_CONFIG_CHANGED);
    restarted = run_well(f, restarted, HOOK_CONFIG_CHANGED, 0, 4);
    assert_int_equal(next_of(f, restarted, seen).act, HOOK_WAIT);
    /* another epoch: each version is another one */
    seen.epoch = "e2";
    Rep__UnitNote *restored = journal_adopt(&f->arena, j, &seen, false);
    assert_int_equal(next_of(f, restored, seen).subject.hook, HOOK_CHANGED);
    assert_int_equal(j->relations[0]->members[0]->version, 5);
    /* another relation of that number, and one that it did not know */
    struct unit_sight elsewhere = sight_with(other, 2);
    Rep__UnitNote *moved = journal_adopt(&f->arena, j, &elsewhere, false);
    assert_int_equal(moved->n_relations, 2);
    assert_int_equal(moved->relations[1]->n_members, 0);
    assert_int_equal(next_of(f, moved, elsewhere).subject.hook, HOOK_JOINED);
    /* it is in none */
    struct unit_sight none = sight_with(NULL, 0);
    Rep__UnitNote *gone = journal_adopt(&f->arena, begun(f, j, HOOK_JOINED, 4, 0), &none, false);
    assert_int_equal(gone->n_relations, 0);
    assert_int_equal(gone->n_unpublished, 0);
    gone = journal_end(&f->arena, gone, JOURNAL_GOOD, ""); /* what it told is of nothing */
    assert_int_equal(gone->n_relations, 0);
}

/* Its container went with its files, and a hook with it. */
static void the_next_container_begins_with_it(void **state)
{
    struct fixture *f = *state;
    const struct unit_sight seen = sight_with(&relation, 1);
    Rep__UnitNote *before = begun(f, at_work(f), HOOK_CONFIG_CHANGED, 0, 4), *j, *back;
    assert_int_equal(journal_set(&f->arena, before, 7, "k", "v", &before, &f->err), 0);
    before = journal_end(&f->arena, before, JOURNAL_GOOD, "");
    before = journal_end(&f->arena, begun(f, before, HOOK_CHANGED, 3, 6), JOURNAL_LOST, "");
    j = journal_anew(&f->arena, before);
    struct bytes packed = message_packed(&f->arena, &j->base);
    assert_int_equal(journal_read(&f->arena, packed, &back, &f->err), 0);
    assert_null(j->hook);
    assert_int_equal(j->n_unpublished, 1);
    assert_true(before->installed && before->hook && before->relations[0]->members[0]->version);
    static const enum unit_hook hooks[] = {HOOK_INSTALL, HOOK_CONFIG_CHANGED, HOOK_START};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(next_of(f, j, seen).subject.hook, hooks[i]);
        j = begun(f, j, hooks[i], 0, seen.config_version);
        assert_int_equal(j->hook->attempt, 1);
        j = journal_end(&f->arena, j, JOURNAL_GOOD, "");
    }
    /* nobody is joined anew, and the attempts of the hook that was lost go on */
    assert_int_equal(next_of(f, j, seen).subject.hook, HOOK_CHANGED);
    assert_int_equal(next_of(f, j, seen).subject.unit, 0);
    j = run_well(f, j, HOOK_CHANGED, 0, 5);
    assert_int_equal(next_of(f, j, seen).subject.hook, HOOK_CHANGED);
    assert_int_equal(next_of(f, j, seen).subject.unit, 3);
    for (uint32_t attempt = 2; attempt <= JOURNAL_ATTEMPTS_MAX; attempt++) {
        j = begun(f, j, HOOK_CHANGED, 3, 6);
        assert_int_equal(j->hook->attempt, attempt);
        assert_null(j->lost);
        j = journal_end(&f->arena, j, JOURNAL_LOST, "");
        assert_int_equal(j->hook->lost, attempt < JOURNAL_ATTEMPTS_MAX);
        j = attempt < JOURNAL_ATTEMPTS_MAX ? journal_anew(&f->arena, j) : j;
        j = attempt < JOURNAL_ATTEMPTS_MAX ? run_well(f, j, HOOK_INSTALL, 0, 0) : j;
        j = attempt < JOURNAL_ATTEMPTS_MAX ? run_well(f, j, HOOK_CONFIG_CHANGED, 0, 3) : j;
        j = attempt < JOURNAL_ATTEMPTS_MAX ? run_well(f, j, HOOK_START, 0, 0) : j;
    }
    /* one in error is the board's to tell; one that never began has lost nothing */
    assert_null(journal_anew(&f->arena, j)->lost);
    assert_null(journal_anew(&f->arena, begun(f, at_work(f), HOOK_CHANGED, 3, 6))->lost);
    /* its relation goes, and with it what was lost there */
    j = journal_end(&f->arena, begun(f, at_work(f), HOOK_CHANGED, 3, 6), JOURNAL_LOST, "");
    j = journal_anew(&f->arena, j);
    assert_non_null(j->lost);
    struct unit_sight none = sight_with(NULL, 0);
    assert_null(journal_adopt(&f->arena, j, &none, false)->lost);
}

/* A board that was restored has a unit and a relation that had ended. */
static void what_is_alive_again_begins_anew(void **state)
{
    struct fixture *f = *state;
    const struct unit_sight seen = sight_with(&relation, 1);
    Rep__UnitNote *j = run_well(f, at_work(f), HOOK_DEPARTED, 0, 0);
    j = run_well(f, run_well(f, j, HOOK_DEPARTED, 3, 0), HOOK_BROKEN, 0, 0);
    j = journal_adopt(&f->arena, run_well(f, j, HOOK_STOP, 0, 0), &seen, false);
    assert_int_equal(next_of(f, j, seen).subject.hook, HOOK_START);
    j = run_well(f, j, HOOK_START, 0, 0);
    assert_int_equal(next_of(f, j, seen).subject.hook, HOOK_JOINED);
    assert_false(j->relations[0]->broken);
}

static const char *repeated(struct fixture *f, char c, size_t count)
{
    char *text = memset(arena_alloc(&f->arena, count + 1), c, count);
    text[count] = 0;
    return text;
}

static void what_hooks_set_has_bounds(void **state)
{
    struct fixture *f = *state;
    Rep__UnitNote *j = begun(f, at_work(f), HOOK_CONFIG_CHANGED, 0, 4);
    for (int i = 0; i < JOURNAL_WRITES_MAX; i++) {
        const char *key = arena_printf(&f->arena, "k%d", i);
        assert_int_equal(journal_set(&f->arena, j, 7, key, "v", &j, &f->err), 0);
    }
    assert_int_equal(journal_set(&f->arena, j, 7, "k", "v", &j, &f->err), -ERR_TOO_LARGE);
    assert_string_equal(f->err.text, "relation 7: a hook sets 64 keys at most");
    assert_int_equal(journal_set(&f->arena, j, 7, "k0", "w", &j, &f->err), 0);
    const char *large = repeated(f, 'x', JOURNAL_WRITES_BYTES_MAX);
    assert_int_equal(journal_set(&f->arena, j, 7, "k0", large, &j, &f->err), -ERR_TOO_LARGE);
    assert_string_equal(f->err.text, "relation 7: what the unit's hooks have set, and nobody was "
                                     "told yet, is more than 128 KiB");
    assert_string_equal(j->hook->writes[0]->value, "w");
    const char *text =
        arena_printf(&f->arena, "a\xc3\xa4%s", repeated(f, 'x', JOURNAL_TEXT_MAX - 1));
    j = journal_end(&f->arena, j, JOURNAL_BAD, text);
    assert_int_equal(strlen(j->hook->text), JOURNAL_TEXT_MAX - 1); /* no half a letter */
}

/* The largest that there can be. */
static void a_full_journal_can_be_read(void **state)
{
    struct fixture *f = *state;
    Rep__UnitNote *j = begun(f, at_work(f), HOOK_CONFIG_CHANGED, 0, 4), *back;
    Rep__UnitNoteMember m = REP__UNIT_NOTE_MEMBER__INIT;
    enum { SCOPES = HOOK_UNIT_TOLD_MAX / HOOK_SCOPE_TOLD_MAX };
    j->relations = ARENA_ARRAY(&f->arena, HOOK_RELATIONS_MAX, Rep__UnitNoteRelation *);
    for (j->n_relations = 0; j->n_relations < HOOK_RELATIONS_MAX; j->n_relations++) {
        Rep__UnitNoteRelation *r = arena_message(&f->arena, &rep__unit_note_relation__descriptor);
        r->number = UINT32_MAX - HOOK_RELATIONS_MAX + (uint32_t)j->n_relations;
        r->guid = (char *)repeated(f, 'g', 36);
        r->own_address = r->own_port = true;
        r->members = ARENA_ARRAY(&f->arena, HOOK_SCOPE_TOLD_MAX, Rep__UnitNoteMember *);
        while (j->n_relations < SCOPES && r->n_members < HOOK_SCOPE_TOLD_MAX) {
            m.unit = UINT32_MAX - HOOK_SCOPE_TOLD_MAX + (uint32_t)r->n_members;
            m.version = UINT64_MAX;
            m.owes_changed = true;
            r->members[r->n_members++] = arena_copy(&f->arena, &m, sizeof(m));
        }
        j->relations[j->n_relations] = r;
    }
    uint32_t last = j->relations[HOOK_RELATIONS_MAX - 1]->number;
    size_t room = JOURNAL_WRITES_BYTES_MAX - 32;
    assert_int_equal(journal_set(&f->arena, j, last, "k", repeated(f, 'v', room), &j, &f->err), 0);
    j->hook->text = (char *)repeated(f, 't', JOURNAL_TEXT_MAX);
    j->address = (char *)repeated(f, 'a', 253), j->port = UINT16_MAX;
    struct bytes packed = message_packed(&f->arena, &j->base);
    assert_true(packed.size <= JOURNAL_BYTES_MAX);
    assert_int_equal(journal_read(&f->arena, packed, &back, &f->err), 0);
    assert_true(message_equal(&back->base, &j->base));
    packed.size = JOURNAL_BYTES_MAX + 1;
    assert_int_equal(journal_read(&f->arena, packed, &back, &f->err), -ERR_TOO_LARGE);
}

static void another_format_is_refused(void **state)
{
    struct fixture *f = *state;
    Rep__UnitNote *j = at_work(f), *back = NULL;
    j->format = JOURNAL_FORMAT + 1;
    assert_int_equal(journal_read(&f->arena, message_packed(&f->arena, &j->base), &back, &f->err),
                     -ERR_INVALID);
    assert_string_equal(f->err.text, "a unit's journal that no rep of this version wrote: its "
                                     "format is 2, and 1 is known");
    assert_true(journal_read(&f->arena, bytes_of("\xff"), &back, &f->err) < 0);
    assert_null(back);
}

/* A hook's end leaves nothing that it set: it goes to be told, or is given up. */
static void what_an_ended_hook_set_is_nowhere(void **state)
{
    struct fixture *f = *state;
    Rep__UnitNote *j = begun(f, at_work(f), HOOK_CHANGED, 3, 9), *back = NULL;
    assert_int_equal(journal_set(&f->arena, j, 7, "port", "1", &j, &f->err), 0);
    assert_int_equal(journal_read(&f->arena, message_packed(&f->arena, &j->base), &back, &f->err),
                     0);
    j->hook->state = arena_strdup(&f->arena, "ended");
    assert_int_equal(journal_read(&f->arena, message_packed(&f->arena, &j->base), &back, &f->err),
                     -ERR_INVALID);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_a_hook_told_is_noted),
        TEST(a_bad_end_is_resolved),
        TEST(an_end_that_is_lost_is_tried_again),
        TEST(what_is_set_is_published_after_a_good_end),
        TEST(memberships_on_the_board_win),
        TEST(what_is_alive_again_begins_anew),
        TEST(the_next_container_begins_with_it),
        TEST(what_hooks_set_has_bounds),
        TEST(where_it_is_reached_is_told_again_when_that_is_another),
        TEST(a_full_journal_can_be_read),
        TEST(another_format_is_refused),
        TEST(what_an_ended_hook_set_is_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
