/* Where a definition has secret values: found, filled with what the board has, opened
 * (docs/systems.md, Secrets). */
#include "common/model/sealed_values.h"

#include "common/codec/json.h"
#include "systems.pb-c.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

#define REFERENCE(variable, secret)                                                                \
    "{\"name\":\"" variable "\",\"value\":\"\",\"sealed\":{\"name\":\"" secret "\"}}"
#define PLAIN "{\"name\":\"LOG\",\"value\":\"info\"}"
#define RUN(env) "{\"run\":{\"path\":\"p\",\"user\":\"u\",\"env\":[" env "]}}"

/* Each place that a definition may have, and what looks like one. */
#define LRP                                                                                        \
    "{\"env\":[" PLAIN "," REFERENCE("KEY", "/api:key") "],"                                       \
    "\"setup\":{\"serial\":{\"actions\":[{\"try\":{\"action\":" RUN(REFERENCE("A", "/api:a"))      \
    "}}]}},\"action\":{\"timeout\":{\"action\":" RUN(REFERENCE("KEY", "/api:key"))                 \
    "}},\"monitor\":{\"parallel\":{\"actions\":[" RUN(PLAIN) "," RUN(REFERENCE("B", "/b:b"))       \
    "]}},\"image_username\":\"me\",\"image_password\":\"\","                                       \
    "\"sidecars\":[{\"action\":{\"codependent\":{\"actions\":[" RUN(REFERENCE("C", "/c:c"))        \
    "]}}}],\"sealed_image_password\":{\"name\":\"/:registry\"}}"

static ProtobufCMessage *parsed(struct arena *a, const ProtobufCMessageDescriptor *type,
                                const char *text)
{
    ProtobufCMessage *m;
    struct err err;
    if (json_decode(a, type, bytes_of(text), CODEC_STRICT | CODEC_OWN, &m, &err) < 0) {
        fail_msg("%s: %s", text, err.text);
    }
    return m;
}

static Models__DesiredLRP *lrp(struct arena *a)
{
    return (Models__DesiredLRP *)parsed(a, &models__desired_lrp__descriptor, LRP);
}

/* ---- a board of values, of which one may be missing ------------------------------------------ */

struct held {
    struct arena *arena;
    const char *missing; /* NULL = none */
    unsigned asked;
};

static const Models__Sealed *lookup(void *context, const char *name)
{
    struct held *h = context;
    h->asked++;
    if (h->missing && strcmp(h->missing, name) == 0) {
        return NULL;
    }
    Models__Sealed *s = arena_message(h->arena, &models__sealed__descriptor);
    s->key = 3;
    s->name = arena_strdup(h->arena, name);
    s->version = arena_strdup(h->arena, "v1");
    s->text = (ProtobufCBinaryData){3, (uint8_t *)arena_strdup(h->arena, "xyz")};
    return s;
}

static const char *open(void *context, struct arena *a, const Models__Sealed *sealed,
                        const char **ret_why)
{
    struct held *h = context;
    if (h->missing && strcmp(h->missing, sealed->name) == 0) {
        *ret_why = "no such key";
        return NULL;
    }
    return arena_printf(a, "open %s %s", sealed->name, sealed->version);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void every_place_is_found(void **state)
{
    (void)state;
    SCOPED_ARENA(a);
    struct sealed_place *places;
    assert_int_equal(sealed_places(&a, &lrp(&a)->base, &places), 6);
    const char **names;
    assert_int_equal(sealed_names(&a, &lrp(&a)->base, &names), 5); /* one stands twice */
    const char *sorted[] = {"/:registry", "/api:a", "/api:key", "/b:b", "/c:c"};
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(names[i], sorted[i]);
    }
    assert_true(sealed_values_any(&lrp(&a)->base));
}

static void a_definition_without_secrets_has_none(void **state)
{
    (void)state;
    SCOPED_ARENA(a);
    ProtobufCMessage *m = parsed(&a, &models__desired_lrp__descriptor,
                                 "{\"env\":[" PLAIN "],\"action\":" RUN(PLAIN) "}");
    struct held h = {.arena = &a};
    const char **names, *why = NULL;
    assert_int_equal(sealed_names(&a, m, &names), 0);
    assert_false(sealed_values_any(m));
    assert_null(sealed_values_fill_lrp(&a, (Models__DesiredLRP *)m, lookup, &h));
    assert_null(sealed_values_open(&a, m, open, &h, &why));
    assert_int_equal(h.asked, 0);
}

static void all_places_are_filled_and_opened(void **state)
{
    (void)state;
    SCOPED_ARENA(a);
    struct held h = {.arena = &a};
    Models__DesiredLRP *d = lrp(&a);
    const char *why = NULL;
    assert_null(sealed_values_fill_lrp(&a, d, lookup, &h));
    struct sealed_place *places;
    size_t count = sealed_places(&a, &d->base, &places);
    assert_int_equal(count, 6);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal((*places[i].sealed)->key, 3);
        assert_string_equal((*places[i].sealed)->version, "v1");
        assert_string_equal(*places[i].text, "");
    }
    assert_null(sealed_values_open(&a, &d->base, open, &h, &why));
    assert_string_equal(d->environment_variables[0]->value, "info");
    assert_string_equal(d->environment_variables[1]->value, "open /api:key v1");
    assert_string_equal(d->image_password, "open /:registry v1");
    assert_false(sealed_values_any(&d->base));
}

static void without_one_value_nothing_changes(void **state)
{
    (void)state;
    SCOPED_ARENA(a);
    struct held h = {.arena = &a, .missing = "/c:c"};
    Models__DesiredLRP *d = lrp(&a);
    const char *why = NULL;
    assert_string_equal(sealed_values_fill_lrp(&a, d, lookup, &h), "/c:c");
    assert_int_equal(d->sealed_image_password->key, 0);
    assert_int_equal(d->environment_variables[1]->sealed->key, 0);
    assert_string_equal(sealed_values_open(&a, &d->base, open, &h, &why), "/c:c");
    assert_string_equal(why, "no such key");
    assert_string_equal(d->image_password, "");
    assert_string_equal(d->environment_variables[1]->value, "");
    assert_non_null(d->environment_variables[1]->sealed);
}

static void a_task_has_places_too(void **state)
{
    (void)state;
    SCOPED_ARENA(a);
    struct held h = {.arena = &a};
    Models__Task *task = (Models__Task *)parsed(
        &a, &models__task__descriptor,
        "{\"env\":[" REFERENCE("KEY", "/db:key") "],\"action\":" RUN(REFERENCE("A", "/db:a")) ","
        "\"sealed_image_password\":{\"name\":\"/:registry\"}}");
    const char *why = NULL;
    assert_null(sealed_values_fill_task(&a, task->task_definition, lookup, &h));
    assert_int_equal(h.asked, 3);
    assert_null(sealed_values_open(&a, &task->base, open, &h, &why));
    assert_string_equal(task->task_definition->image_password, "open /:registry v1");
    assert_string_equal(task->task_definition->action->run_action->env[0]->value,
                        "open /db:a v1");
}

/* What is filled again takes the value that stands then. */
static void a_value_set_anew_replaces_the_old_one(void **state)
{
    (void)state;
    SCOPED_ARENA(a);
    struct held h = {.arena = &a};
    Models__DesiredLRP *d = lrp(&a);
    assert_null(sealed_values_fill_lrp(&a, d, lookup, &h));
    d->environment_variables[1]->sealed->version = arena_strdup(&a, "v0");
    assert_null(sealed_values_fill_lrp(&a, d, lookup, &h));
    assert_string_equal(d->environment_variables[1]->sealed->version, "v1");
}

/* Components hold definitions, and are walked as they are. */
static void a_component_has_the_places_of_its_definition(void **state)
{
    (void)state;
    SCOPED_ARENA(a);
    Board__ComponentRecord *c = arena_message(&a, &board__component_record__descriptor);
    const char **names;
    assert_int_equal(sealed_names(&a, &c->base, &names), 0);
    c->run = lrp(&a);
    assert_int_equal(sealed_names(&a, &c->base, &names), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_place_is_found),
        cmocka_unit_test(a_definition_without_secrets_has_none),
        cmocka_unit_test(all_places_are_filled_and_opened),
        cmocka_unit_test(without_one_value_nothing_changes),
        cmocka_unit_test(a_task_has_places_too),
        cmocka_unit_test(a_value_set_anew_replaces_the_old_one),
        cmocka_unit_test(a_component_has_the_places_of_its_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
