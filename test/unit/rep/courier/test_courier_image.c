/* What registries and images say. */
#include "rep/container/image_plan.h"
#include "rep/courier/image_words.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

#include <string.h>

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define LAYER "{\"digest\":\"sha256:" HEX "\",\"size\":7}"
#define CONFIG "\"config\":{\"digest\":\"sha256:" HEX "\"}"

static int parse(struct fixture *f, const char *text, struct manifest *m)
{
    return manifest_parse(&f->arena, bytes_of(text), "amd64", m, &f->err);
}

static void manifests_are_read(void **state)
{
    struct fixture *f = *state;
    struct manifest m;
    assert_int_equal(parse(f, "{" CONFIG ",\"layers\":[" LAYER "," LAYER "]}", &m), 0);
    assert_string_equal(m.config, HEX);
    assert_int_equal(m.layer_count, 2);
    assert_int_equal(m.size, 14);
    assert_null(m.chosen);
    assert_int_equal(parse(f,
                           "{\"manifests\":[{\"digest\":\"sha256:x\",\"platform\":{"
                           "\"architecture\":\"arm\",\"os\":\"linux\"}},{\"digest\":\"sha256:" HEX
                           "\",\"platform\":{\"architecture\":\"amd64\",\"os\":\"linux\"}}]}",
                           &m),
                     0);
    assert_string_equal(m.chosen, "sha256:" HEX);
}

static void other_manifests_are_refused(void **state)
{
    struct fixture *f = *state;
    struct manifest m;
    static const struct {
        const char *text;
        enum err_code code;
    } rows[] = {
        {"", ERR_INVALID},
        {"{", ERR_INVALID},
        {"[]", ERR_INVALID},
        {"{\"layers\":[]}", ERR_INVALID},
        {"{" CONFIG "}", ERR_INVALID},
        {"{" CONFIG ",\"layers\":[]}", ERR_INVALID},
        {"{" CONFIG ",\"layers\":[1]}", ERR_INVALID},
        {"{" CONFIG ",\"layers\":[{\"digest\":\"sha256:" HEX "\",\"size\":-1}]}", ERR_INVALID},
        {"{\"manifests\":[]}", ERR_NOT_FOUND},
        {"{\"manifests\":[{\"digest\":\"sha256:" HEX
         "\",\"platform\":{\"architecture\":\"arm\",\"os\":\"linux\"}}]}",
         ERR_NOT_FOUND},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(parse(f, rows[i].text, &m), -(int)rows[i].code);
    }
}

static void layers_are_bounded(void **state)
{
    struct fixture *f = *state;
    for (int count = IMAGE_LAYERS_MAX; count <= IMAGE_LAYERS_MAX + 1; count++) {
        struct manifest m;
        buf_clear(&f->out);
        buf_append_string(&f->out, "{" CONFIG ",\"layers\":[");
        for (int i = 0; i < count; i++) {
            buf_append_string(&f->out, i ? "," LAYER : LAYER);
        }
        buf_append_string(&f->out, "]}");
        assert_int_equal(parse(f, buf_string(&f->out), &m),
                         count > IMAGE_LAYERS_MAX ? -ERR_TOO_LARGE : 0);
    }
}

static void configurations_are_read(void **state)
{
    struct fixture *f = *state;
    Rep__Image image = REP__IMAGE__INIT;
    static const char good[] =
        "{\"config\":{\"Env\":[\"A=b\",\"C=\"],\"Entrypoint\":[\"/e\"],\"Cmd\":null,"
        "\"WorkingDir\":\"/w\",\"User\":\"u\"}}";
    assert_int_equal(image_config_parse(&f->arena, bytes_of(good), &image, &f->err), 0);
    assert_int_equal(image.n_env, 2);
    assert_string_equal(image.env[1], "C=");
    assert_string_equal(image.entrypoint[0], "/e");
    assert_int_equal(image.n_cmd, 0);
    assert_string_equal(image.working_dir, "/w");
    assert_string_equal(image.user, "u");
    static const char *const bad[] = {
        "", "[]", "{\"config\":1}", "{\"config\":{\"Env\":[\"A\"]}}",
        "{\"config\":{\"Env\":[\"=b\"]}}",
        "{\"config\":{\"Env\":[1]}}",
        "{\"config\":{\"Cmd\":{}}}",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(image_config_parse(&f->arena, bytes_of(bad[i]), &image, &f->err),
                         -ERR_INVALID);
    }
}

static void chains_are_followed(void **state)
{
    struct fixture *f = *state;
    Rep__Image image = REP__IMAGE__INIT;
    struct bytes images = bytes_of("[{\"id\":\"i\",\"layer\":\"b\"},{\"id\":\"j\",\"layer\":\"c\"},"
                                   "{\"id\":\"k\",\"layer\":\"none\"}]");
    struct bytes layers = bytes_of(
        "[{\"id\":\"a\",\"diff-size\":5,\"compressed-diff-digest\":\"sha256:x\"},"
        "{\"id\":\"b\",\"parent\":\"a\",\"diff-size\":7},{\"id\":\"c\",\"parent\":\"c\"}]");
    image.id = (char *)"i";
    assert_int_equal(image_layers_parse(&f->arena, images, layers, &image, &f->err), 0);
    assert_int_equal(image.n_layers, 2);
    assert_string_equal(image.layers[0]->id, "a"); /* the lowest first */
    assert_int_equal(image.layers[1]->size, 7);
    assert_true(image_layer_known(layers, "sha256:x"));
    assert_false(image_layer_known(layers, "sha256:y"));
    for (const char *const *id = (const char *const[]){"j", "k", "l", NULL}; *id; id++) {
        image.id = (char *)(uintptr_t)*id;
        assert_int_equal(image_layers_parse(&f->arena, images, layers, &image, &f->err),
                         -ERR_NOT_FOUND);
    }
}

static void failures_are_told(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *said, *told;
        bool silent;
    } rows[] = {
        {"", "the program that pulls ended without a word", false},
        {"first\nsecond\n", "second", false},
        {"time=\"x\" level=fatal msg=\"Error parsing image name \\\"docker://h/a:b\\\": "
         "manifest unknown\"\n",
         "manifest unknown", false},
        {"level=fatal msg=\"dial tcp 127.0.0.1:1: connect: connection refused\"\n",
         "dial tcp 127.0.0.1:1: connect: connection refused", true},
        {"level=fatal msg=\"pinging h: Get \\\"https://h/v2/\\\": no such host\"\n",
         "pinging h: Get \"https://h/v2/\": no such host", true},
        {"level=fatal msg=\"Get \\\"https://h/x?a=b\\\": c:\\\\d\"",
         "Get \"https://h/x?...\": c:\\d", false},
        {"GET https://h/x?sig=secret: 500", "GET https://h/x?........... 500", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(pull_failure(&f->arena, bytes_of(rows[i].said)), rows[i].told);
        assert_int_equal(registry_is_silent(rows[i].said), rows[i].silent);
    }
}

static void passwords_are_written(void **state)
{
    struct fixture *f = *state;
    auth_file_print("h:5000", "me", "a\"b", &f->out);
    assert_string_equal(buf_string(&f->out),
                        "{\"auths\":{\"h:5000\":{\"auth\":\"bWU6YSJi\"}}}");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(manifests_are_read),      CASE(other_manifests_are_refused),
        CASE(layers_are_bounded),      CASE(configurations_are_read),
        CASE(chains_are_followed),     CASE(failures_are_told),
        CASE(passwords_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
