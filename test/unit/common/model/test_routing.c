/* Internal routes and metric tags, as desired and as shown. */
#include "common/model/internal_routes.h"
#include "common/model/routing.h"
#include "test/tool/cmocka.h"

#include <string.h>

/* "host host;key=value key=value" */
static struct routing routing(struct arena *a, const char *text)
{
    char *rest = arena_strdup(a, text), *tags = strchr(rest, ';');
    struct routing r = {.hostnames = ARENA_ARRAY(a, strlen(text) + 1, const char *),
                        .tags = ARENA_ARRAY(a, strlen(text) + 1, struct routing_tag)};
    *tags++ = '\0';
    for (char *save, *word = strtok_r(rest, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        r.hostnames[r.hostname_count++] = word;
    }
    for (char *save, *word = strtok_r(tags, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        r.tags[r.tag_count++] = (struct routing_tag){word, value};
    }
    return r;
}

static void names_are_a_set_and_tags_a_map(void **state)
{
    static const struct {
        const char *x, *y;
        bool equal;
    } rows[] = {
        {";", ";", true},
        {"a b;", "b a;", true},
        {"a b a;", "b a b b;", true},
        {"a;", ";", false},
        {"a b;", "a;", false},
        {"a b;", "a c;", false},
        {"a;", ";a=", false},
        {"ab;", "a b;", false},
        {";k=v l=w", ";l=w k=v", true},
        {";k=v l=w", ";k=w l=v", false},
        {";k=v", ";k=v l=w", false},
        {";k=v", ";k=", false},
        {";kv=", ";k=v", false},
        {"a;k=v", "a;k=v", true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        struct routing x = routing(&a, rows[i].x), y = routing(&a, rows[i].y);
        bool equal = routing_equal(&x, &y);
        bool same = routing_digest(&x, "") == routing_digest(&y, "");
        if (equal != rows[i].equal || same != rows[i].equal) {
            fail_msg("\"%s\" and \"%s\": equal %d, the same digest %d", rows[i].x, rows[i].y, equal,
                     same);
        }
    }
}

/* One digest for all instances: the own guid is told apart, a tag can be exchanged. */
static void a_digest_is_of_every_instance(void **state)
{
    SCOPED_ARENA(a);
    struct routing desired = {
        .tags = (struct routing_tag[]){{"guid", ROUTING_OWN_GUID}, {"index", "0"}}, .tag_count = 2};
    struct routing one = routing(&a, ";guid=g-1 index=0"), two = routing(&a, ";guid=g-2 index=7");
    uint64_t digest = routing_digest(&desired, "");
    assert_true(routing_digest(&one, "g-1") == digest);
    assert_true(routing_digest(&one, "g-2") != digest);
    digest += routing_digest_tag("index", "7") - routing_digest_tag("index", "0");
    assert_true(routing_digest(&two, "g-2") == digest);
}

static void what_is_desired_of_an_instance(void **state)
{
    SCOPED_ARENA(a);
    Models__DesiredLRP lrp = MODELS__DESIRED_LRP__INIT;
    Models__ProtoRoutes routes = MODELS__PROTO_ROUTES__INIT;
    Models__ProtoRoutes__RoutesEntry cf = MODELS__PROTO_ROUTES__ROUTES_ENTRY__INIT,
                                     internal = MODELS__PROTO_ROUTES__ROUTES_ENTRY__INIT;
    char json[] = "[{\"hostname\":\"a.internal\"},{\"other\":1},7,{\"hostname\":\"b.internal\"}]";
    cf.key = arena_strdup(&a, "cf-router");
    cf.value = (ProtobufCBinaryData){.data = (uint8_t *)json, .len = strlen(json)};
    internal.key = arena_strdup(&a, "internal-router");
    internal.value = cf.value;
    routes.routes = (Models__ProtoRoutes__RoutesEntry *[]){&cf, &internal};
    routes.n_routes = 1;
    lrp.routes = &routes;
    struct routing r, expected = routing(&a, "a.internal b.internal;");
    expected.routed = true;
    routing_desired(&a, &lrp, 3, "g", &r);
    assert_int_equal(r.hostname_count, 0);
    assert_true(r.routed && !r.untold);
    routes.n_routes = 2;
    routing_desired(&a, &lrp, 3, "g", &r);
    assert_true(routing_equal(&r, &expected));
    internal.value.len--; /* not JSON any more */
    routing_desired(&a, &lrp, 3, "g", &r);
    assert_int_equal(r.hostname_count, 0);

    Models__MetricTagValue values[3] = {MODELS__METRIC_TAG_VALUE__INIT,
                                        MODELS__METRIC_TAG_VALUE__INIT,
                                        MODELS__METRIC_TAG_VALUE__INIT};
    Models__DesiredLRP__MetricTagsEntry entries[3], *list[3];
    for (int i = 0; i < 3; i++) {
        list[i] = &entries[i];
        models__desired_lrp__metric_tags_entry__init(list[i]);
        entries[i].key = arena_printf(&a, "k%d", i);
        entries[i].value = &values[i];
    }
    values[0].static_ = arena_strdup(&a, "v");
    values[1].dynamic = MODELS__METRIC_TAG_VALUE__DYNAMIC_VALUE__INDEX;
    values[2].dynamic = MODELS__METRIC_TAG_VALUE__DYNAMIC_VALUE__INSTANCE_GUID;
    lrp.metric_tags = list;
    lrp.n_metric_tags = 3;
    expected = routing(&a, ";k0=v k1=3 k2=g");
    expected.routed = true;
    routing_desired(&a, &lrp, 3, "g", &r);
    assert_true(routing_equal(&r, &expected));
}

/* Nobody is said to know it otherwise who does not tell. */
static void whether_it_is_routed_counts_where_it_is_told(void **state)
{
    for (int x = 0; x < 8; x++) {
        struct routing known = {.routed = x & 1}, shown = {.routed = x & 2, .untold = x & 4};
        bool equal = shown.untold || known.routed == shown.routed;
        assert_int_equal(routing_equal(&known, &shown), equal);
        assert_int_equal(routing_equal(&shown, &known), equal);
        assert_true(routing_digest(&known, "") == routing_digest(&shown, ""));
    }
    Models__ActualLRP record = MODELS__ACTUAL_LRP__INIT;
    SCOPED_ARENA(a);
    struct routing r;
    routing_actual(&a, &record, &r);
    assert_true(r.untold);
    record.optional_routed_case = MODELS__ACTUAL_LRP__OPTIONAL_ROUTED_ROUTED;
    record.routed = true;
    routing_actual(&a, &record, &r);
    assert_true(r.routed && !r.untold);
}

/* What is accepted as JSON is read, as Go reads it; and what Go could not read is no reason to read
 * beyond its end. */
static void internal_routes_are_read_as_by_go(void **state)
{
    static const struct {
        const char *json, *wanted; /* the names, a space behind each */
    } rows[] = {
        {"[{\"hostname\":\"a\"}]", "a "},
        {" [ { \"hostname\" : \"a\" } ,\n{\"hostname\":\"b\"}\t] ", "a b "},
        {"[]", ""},
        {"[{}]", ""},
        {"null", ""},
        {"7", ""},
        {"\"[{\\\"hostname\\\":\\\"a\\\"}]\"", ""},
        {"{\"hostname\":\"a\"}", ""},
        {"[[{\"hostname\":\"a\"}],{\"hostname\":\"b\"},null,\"hostname\",{\"hostname\":\"c\"}]",
         "b c "},
        {"[{\"x\":{\"hostname\":\"in\"},\"hostname\":\"a\",\"y\":[{\"hostname\":\"in\"}]}]", "a "},
        {"[{\"w\":1e400,\"hostname\":\"a\",\"n\":123456789012345678901234567890}]", "a "},
        {"[{\"Hostname\":\"a\"},{\"HOSTNAME\":\"b\"},{\"host\\u006eame\":\"c\"}]", "a b c "},
        {"[{\"hostnames\":\"a\"},{\"hostnam\":\"b\"}]", ""},
        {"[{\"hostname\":\"a\",\"hostname\":\"b\"}]", "b "},
        {"[{\"hostname\":\"a\",\"hostname\":null}]", "a "},
        {"[{\"hostname\":5},{\"hostname\":[\"x\"]},{\"hostname\":\"a\"}]", "a "},
        {"[{\"x\":\"\\u0000\",\"hostname\":\"a\"},{\"hostname\":\"b\\u0000c\"}]", "a "},
        {"[{\"x\":\"\\ud800\",\"hostname\":\"a\"},{\"hostname\":\"b\\udc00\"}]",
         "a b\xef\xbf\xbd "},
        {"[{\"x\":\"\xff\",\"hostname\":\"a\"},{\"hostname\":\"b\xff\"}]", "a b\xef\xbf\xbd "},
        {"[{\"hostname\":\"\\u00e9\\u20ac\\ud83d\\ude00\\/\\\\\\\"\\n<\"}]",
         "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80/\\\"\n< "},
        {"[{\"hostname\":\"\\ud83d\\u0041\"}]", "\xef\xbf\xbd" "A "},
        {"[{\"hostname\":\"a\"}", ""},
        {"[{\"hostname\":\"a\"}]x", ""},
        {"[{\"hostname\":\"a", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        const char **list;
        size_t count;
        SCOPED_BUF(got);
        internal_hostnames(&a, bytes_of(rows[i].json), &list, &count);
        for (size_t n = 0; n < count; n++) {
            buf_printf(&got, "%s ", list[n]);
        }
        if (strcmp(buf_string(&got), rows[i].wanted) != 0) {
            fail_msg("%s: wanted %s, got %s", rows[i].json, rows[i].wanted, buf_string(&got));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_a_set_and_tags_a_map),
        cmocka_unit_test(a_digest_is_of_every_instance),
        cmocka_unit_test(what_is_desired_of_an_instance),
        cmocka_unit_test(whether_it_is_routed_counts_where_it_is_told),
        cmocka_unit_test(internal_routes_are_read_as_by_go),
    };
    return cmocka_run_group_tests_name("routing", tests, NULL, NULL);
}
