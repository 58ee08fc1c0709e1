/* What older routes and streams show of a definition (behaviour.md 8.5, 13.3). Rows are JSON: the
 * definition as stored, and the members that the view changes. */
#include "common/model/definition_views.h"

#include "common/codec/json.h"
#include "test/tool/cmocka.h"

#include <string.h>

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* The parts of which rows are made. */
#define RUN "{\"run\":{\"path\":\"p\",\"user\":\"u\"}}"
#define OTHER "{\"run\":{\"path\":\"q\",\"user\":\"u\"}}"
#define SHARED                                                                                     \
    "{\"name\":\"s\",\"url\":\"s-url\",\"destination_path\":\"/s\",\"layer_type\":\"SHARED\","     \
    "\"media_type\":\"TGZ\""
#define SHARED_256 SHARED ",\"digest_algorithm\":\"SHA256\",\"digest_value\":\"d1\"}"
#define SHARED_PLAIN SHARED "}"
#define EXCLUSIVE(value)                                                                           \
    "{\"name\":\"x\",\"url\":\"x-url\",\"destination_path\":\"/x\",\"layer_type\":\"EXCLUSIVE\","  \
    "\"media_type\":\"TAR\",\"digest_algorithm\":\"SHA512\",\"digest_value\":\"" value "\"}"
#define DEPENDENCY                                                                                 \
    "{\"name\":\"c\",\"from\":\"f\",\"to\":\"t\",\"cache_key\":\"k\",\"log_source\":\"l\","        \
    "\"checksum_algorithm\":\"md5\",\"checksum_value\":\"v\"}"
#define SHARED_256_DEPENDENCY                                                                      \
    "{\"name\":\"s\",\"from\":\"s-url\",\"to\":\"/s\",\"cache_key\":\"sha256:d1\","                \
    "\"checksum_algorithm\":\"sha256\",\"checksum_value\":\"d1\"}"
#define SHARED_PLAIN_DEPENDENCY                                                                    \
    "{\"name\":\"s\",\"from\":\"s-url\",\"to\":\"/s\",\"cache_key\":\"s-url\"}"
#define DOWNLOAD(value)                                                                            \
    "{\"download\":{\"artifact\":\"x\",\"from\":\"x-url\",\"to\":\"/"                              \
    "x\",\"cache_key\":\"sha512:" value                                                            \
    "\",\"user\":\"legacy\",\"checksum_algorithm\":\"sha512\",\"checksum_value\":\"" value "\"}}"
#define DEPENDENCY_DOWNLOAD                                                                        \
    "{\"download\":{\"artifact\":\"c\",\"from\":\"f\",\"to\":\"t\",\"cache_key\":\"k\","           \
    "\"log_source\":\"l\",\"user\":\"legacy\"}}"
#define PARALLEL(actions) "{\"parallel\":{\"actions\":[" actions "]}}"
#define SERIAL(actions) "{\"serial\":{\"actions\":[" actions "]}}"
#define CODEPENDENT(actions) "{\"codependent\":{\"actions\":[" actions "]}}"
#define TIMEOUT(action) "{\"timeout\":{\"action\":" action ",\"timeout_ms\":1500}}"
#define OLD_TIMEOUT(action)                                                                        \
    "{\"timeout\":{\"action\":" action ",\"timeout_ms\":1500,\"timeout\":1500000000}}"
#define TRY(action) "{\"try\":{\"action\":" action "}}"
#define PROGRESS(action) "{\"emit_progress\":{\"action\":" action ",\"start_message\":\"go\"}}"

struct row {
    const char *name;
    const char *before; /* members of the definition */
    const char *after;
};

/* Both as the codec prints them, so that only what differs shows. */
static const char *printed(struct buf *out, const ProtobufCMessage *m)
{
    buf_clear(out);
    assert_int_equal(json_encode(m, 0, out, NULL), 0);
    return buf_string(out);
}

static ProtobufCMessage *parsed(struct arena *a, const ProtobufCMessageDescriptor *type,
                                const char *members)
{
    ProtobufCMessage *m;
    struct err err;
    const char *text = arena_printf(a, "{\"legacy_download_user\":\"legacy\"%s%s}",
                                    members[0] ? "," : "", members);
    if (json_decode(a, type, bytes_of(text), CODEC_STRICT, &m, &err) < 0) {
        fail_msg("%s: %s", text, err.text);
    }
    return m;
}

typedef void view(struct arena *a, ProtobufCMessage *m);

static void check(const struct row *rows, size_t count, const ProtobufCMessageDescriptor *type,
                  view *change)
{
    for (size_t i = 0; i < count; i++) {
        SCOPED_ARENA(a);
        struct buf is, expected;
        buf_init(&is);
        buf_init(&expected);
        ProtobufCMessage *m = parsed(&a, type, rows[i].before);
        change(&a, m);
        if (strcmp(printed(&is, m), printed(&expected, parsed(&a, type, rows[i].after))) != 0) {
            fail_msg("%s:\n is       %s\n expected %s", rows[i].name, buf_string(&is),
                     buf_string(&expected));
        }
        /* It goes over the wire as it is. */
        assert_true(protobuf_c_message_check(m));
        buf_done(&expected);
        buf_done(&is);
    }
}

static void desired_r2(struct arena *a, ProtobufCMessage *m)
{
    desired_as_r2(a, (Models__DesiredLRP *)m);
}

static void desired_r0(struct arena *a, ProtobufCMessage *m)
{
    desired_as_r0(a, (Models__DesiredLRP *)m);
}

static void task_r2(struct arena *a, ProtobufCMessage *m)
{
    task_as_r2(a, (Models__Task *)m);
}

static void r2_of_a_desired_lrp_has_no_image_layers(void **state)
{
    static const struct row rows[] = {
        {"nothing to do", "\"setup\":" RUN, "\"setup\":" RUN},
        {"a shared layer is a cached dependency, before the others",
         "\"image_layers\":[" SHARED_256 "],\"cached_dependencies\":[" DEPENDENCY "]",
         "\"cached_dependencies\":[" SHARED_256_DEPENDENCY "," DEPENDENCY "]"},
        {"without a digest its key is its url", "\"image_layers\":[" SHARED_PLAIN "]",
         "\"cached_dependencies\":[" SHARED_PLAIN_DEPENDENCY "]"},
        {"an exclusive layer is a download", "\"image_layers\":[" EXCLUSIVE("d2") "]",
         "\"setup\":" PARALLEL(DOWNLOAD("d2"))},
        {"several are downloaded in parallel, before the setup",
         "\"setup\":" RUN ",\"image_layers\":[" EXCLUSIVE("d2") "," SHARED_256
                                                                "," EXCLUSIVE("d3") "]",
         "\"cached_dependencies\":[" SHARED_256_DEPENDENCY
         "],\"setup\":" SERIAL(PARALLEL(DOWNLOAD("d2") "," DOWNLOAD("d3")) "," RUN)},
        {"time-outs and wrappers stay", "\"action\":" TRY(TIMEOUT(RUN)),
         "\"action\":" TRY(TIMEOUT(RUN))},
    };
    check(rows, COUNT(rows), &models__desired_lrp__descriptor, desired_r2);
}

static void r2_of_a_task_downloads_before_its_action(void **state)
{
    static const struct row rows[] = {
        {"nothing to do", "\"action\":" RUN, "\"action\":" RUN},
        {"a shared layer",
         "\"action\":" RUN ",\"image_layers\":[" SHARED_256 "],"
         "\"cached_dependencies\":[" DEPENDENCY "]",
         "\"action\":" RUN ",\"cached_dependencies\":[" SHARED_256_DEPENDENCY "," DEPENDENCY "]"},
        {"an exclusive layer", "\"action\":" RUN ",\"image_layers\":[" EXCLUSIVE("d2") "]",
         "\"action\":" SERIAL(PARALLEL(DOWNLOAD("d2")) "," RUN)},
        {"no action, as validation would not have it", "\"image_layers\":[" EXCLUSIVE("d2") "]",
         "\"action\":" PARALLEL(DOWNLOAD("d2"))},
    };
    check(rows, COUNT(rows), &models__task__descriptor, task_r2);
}

static void a_task_without_definition_stays(void **state)
{
    SCOPED_ARENA(a);
    Models__Task task = MODELS__TASK__INIT;
    task_as_r2(&a, &task);
    assert_null(task.task_definition);
}

static void version_0_has_old_units_and_no_cached_dependencies(void **state)
{
    static const struct row rows[] = {
        {"nothing to do", "", ""},
        {"the start time-out, in whole seconds", "\"start_timeout_ms\":61999",
         "\"start_timeout_ms\":61999,\"deprecated_timeout_ns\":61"},
        {"a time-out, in nanoseconds",
         "\"setup\":" TIMEOUT(RUN) ",\"action\":" TIMEOUT(RUN) ",\"monitor\":" TIMEOUT(RUN),
         "\"setup\":" OLD_TIMEOUT(RUN) ",\"action\":" OLD_TIMEOUT(RUN) ",\"monitor\":" OLD_TIMEOUT(
             RUN)},
        {"at any depth",
         "\"action\":" PARALLEL(
             SERIAL(TIMEOUT(TIMEOUT(RUN))) "," CODEPENDENT(TIMEOUT(RUN) "," OTHER)),
         "\"action\":" PARALLEL(
             SERIAL(OLD_TIMEOUT(OLD_TIMEOUT(RUN))) "," CODEPENDENT(OLD_TIMEOUT(RUN) "," OTHER))},
        {"wrappers are left out",
         "\"action\":" TRY(PROGRESS(TIMEOUT(TRY(RUN)))) ",\"monitor\":" SERIAL(
             PROGRESS(RUN) "," TRY(OTHER)),
         "\"action\":" OLD_TIMEOUT(RUN) ",\"monitor\":" SERIAL(RUN "," OTHER)},
        {"no hole is left of what wraps nothing",
         "\"setup\":{\"try\":{}},\"action\":" SERIAL(
             "{\"emit_progress\":{}}," RUN ",{\"try\":{}}"),
         "\"action\":" SERIAL(RUN)},
        {"cached dependencies are downloads of the setup, without checksums",
         "\"cached_dependencies\":[" DEPENDENCY "," DEPENDENCY "]",
         "\"setup\":" SERIAL(PARALLEL(DEPENDENCY_DOWNLOAD "," DEPENDENCY_DOWNLOAD))},
        {"before what it had",
         "\"setup\":" TRY(TIMEOUT(RUN)) ",\"cached_dependencies\":[" DEPENDENCY
                                        "],\"image_layers\":[" EXCLUSIVE("d2") "]",
         "\"setup\":" SERIAL(PARALLEL(DEPENDENCY_DOWNLOAD) "," SERIAL(
             PARALLEL(DOWNLOAD("d2")) "," OLD_TIMEOUT(RUN)))},
    };
    check(rows, COUNT(rows), &models__desired_lrp__descriptor, desired_r0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(r2_of_a_desired_lrp_has_no_image_layers),
        cmocka_unit_test(r2_of_a_task_downloads_before_its_action),
        cmocka_unit_test(a_task_without_definition_stays),
        cmocka_unit_test(version_0_has_old_units_and_no_cached_dependencies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
