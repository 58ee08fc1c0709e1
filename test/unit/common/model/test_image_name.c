/* Names of root filesystems, and the registry of those without a host. */
#include "common/model/image_name.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

#include <string.h>

#define DIGITS "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct good_row {
    const char *text;
    enum image_scheme scheme;
    const char *host, *repository, *path, *tag, *digest, *source;
} good[] = {
    {"docker:///busybox", IMAGE_DOCKER, "", "busybox", "", "latest", "",
     "docker://docker.io/busybox:latest"},
    {"docker:///library/busy_box#1.2-x", IMAGE_DOCKER, "", "library/busy_box", "", "1.2-x", "",
     "docker://docker.io/library/busy_box:1.2-x"},
    {"docker://host:5000/a/b#t", IMAGE_DOCKER, "host:5000", "a/b", "", "t", "",
     "docker://host:5000/a/b:t"},
    {"docker://[::1]:5000/a", IMAGE_DOCKER, "[::1]:5000", "a", "", "latest", "",
     "docker://[::1]:5000/a:latest"},
    {"docker:///a@sha256:" DIGITS, IMAGE_DOCKER, "", "a", "", "", "sha256:" DIGITS,
     "docker://docker.io/a@sha256:" DIGITS},
    {"docker:///a--b__c", IMAGE_DOCKER, "", "a--b__c", "", "latest", "",
     "docker://docker.io/a--b__c:latest"},
    {"oci:///srv/images/web", IMAGE_OCI, "", "", "/srv/images/web", "latest", "",
     "oci:/srv/images/web:latest"},
    {"oci:///srv/web#v1", IMAGE_OCI, "", "", "/srv/web", "v1", "", "oci:/srv/web:v1"},
};

static void names_are_read(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct image_name n;
        assert_int_equal(image_name_parse(&f->arena, good[i].text, &n, &f->err), 0);
        assert_int_equal(n.scheme, good[i].scheme);
        assert_string_equal(n.host, good[i].host);
        assert_string_equal(n.repository, good[i].repository);
        assert_string_equal(n.path, good[i].path);
        assert_string_equal(n.tag, good[i].tag);
        assert_string_equal(n.digest, good[i].digest);
        assert_string_equal(image_source(&f->arena, &n, "docker.io", n.digest), good[i].source);
        assert_true(image_name_is_pulled(good[i].text));
    }
}

static void other_schemes_are_read(void **state)
{
    struct fixture *f = *state;
    struct image_name n;
    assert_int_equal(image_name_parse(&f->arena, "preloaded:busybox?x=1", &n, &f->err), 0);
    assert_int_equal(n.scheme, IMAGE_PRELOADED);
    assert_string_equal(n.name, "busybox");
    assert_int_equal(image_name_parse(&f->arena,
                                      "preloaded+layer:c?layer=http%3A%2F%2Fh%2Fl&layer_path=%2Fl"
                                      "&layer_digest=sha256:" DIGITS,
                                      &n, &f->err),
                     0);
    assert_int_equal(n.scheme, IMAGE_PRELOADED_LAYER);
    assert_string_equal(n.layer_url, "http://h/l");
    assert_string_equal(n.layer_path, "/l");
    assert_false(image_name_is_pulled("preloaded:busybox"));
}

static void bad_names_are_refused(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"", "is no root filesystem's name"},
        {"dockerx:///a", "is no root filesystem's name"},
        {"docker:a", "SCHEME://[HOST]/NAME"},
        {"docker://a", "SCHEME://[HOST]/NAME"},
        {"docker:///", "repository"},
        {"docker:///A", "repository"},
        {"docker:///a//b", "repository"},
        {"docker:///a/", "repository"},
        {"docker:///-a", "repository"},
        {"docker:///a/../b", "repository"},
        {"docker:///a:b", "repository"},
        {"docker:///a b", "repository"},
        {"docker:///a#", "tag"},
        {"docker:///a#.x", "tag"},
        {"docker:///a#x y", "tag"},
        {"docker:///a@sha256:0", "digest"},
        {"docker:///a@md5:" DIGITS, "digest"},
        {"docker://me:secret@h/a", "password"},
        {"docker://../a", "host"},
        {"docker://.h/a", "host"},
        {"docker://h./a", "host"},
        {"docker://h..i/a", "host"},
        {"docker://-h/a", "host"},
        {"docker://h:/a", "host"},
        {"docker://h:123456/a", "host"},
        {"docker://:5000/a", "host"},
        {"docker://[::1/a", "host"},
        {"docker://h\n/a", "host"},
        {"oci://h/a", "no host"},
        {"oci:///a/../b", "path"},
        {"oci:///a/..", "path"},
        {"oci:///a:b", "path"},
        {"oci:///a b", "path"},
        {"preloaded+layer:a?layer=x", "layer_digest"},
        {"preloaded+layer:a?layer=x&layer_path=y&layer_digest=sha256:" DIGITS, "absolute"},
        {"preloaded+layer:a?layer=x&layer_path=/y&layer_digest=z", "layer_digest"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct image_name n;
        assert_int_equal(image_name_parse(&f->arena, rows[i].text, &n, &f->err), -ERR_INVALID);
        assert_non_null(strstr(f->err.text, rows[i].why));
        assert_null(strstr(f->err.text, "secret"));
    }
}

static void references_become_names(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *reference, *name; /* NULL: it is none */
    } rows[] = {
        {"busybox", "docker:///busybox"},
        {"busybox:1.36", "docker:///busybox#1.36"},
        {"library/busybox:1", "docker:///library/busybox#1"},
        {"localhost/a", "docker://localhost/a"},
        {"localhosts/a", "docker:///localhosts/a"},
        {"h.example/a/b:v1", "docker://h.example/a/b#v1"},
        {"h:5000/a", "docker://h:5000/a"},
        {"[::1]:5000/a:x", "docker://[::1]:5000/a#x"},
        {"a@sha256:" DIGITS, "docker:///a@sha256:" DIGITS},
        {"h:1/a:v1@sha256:" DIGITS, "docker://h:1/a@sha256:" DIGITS},
        {"docker:///a#v", "docker:///a#v"},
        {"oci:///srv/a#v", "oci:///srv/a#v"},
        {"preloaded:a", "docker:///preloaded#a"},
        {"", NULL},
        {":x", NULL},
        {"a:", NULL},
        {"a:b:c", NULL},
        {"a@", NULL},
        {"A", NULL},
        {"https://h/a", NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *name = NULL;
        int rc = image_name_of(&f->arena, rows[i].reference, &name, &f->err);
        assert_int_equal(rc, rows[i].name ? 0 : -ERR_INVALID);
        if (rows[i].name) {
            assert_string_equal(name, rows[i].name);
        }
    }
}

static void the_default_registry(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *file, *registry;
    } rows[] = {
        {"", "docker.io"},
        {"# nothing\n", "docker.io"},
        {"unqualified-search-registries = [\"h:1\", \"other\"]\n", "h:1"},
        {"  unqualified-search-registries=[ 'h' ]", "h"},
        {"unqualified-search-registries = []\n", "docker.io"},
        {"#unqualified-search-registries = [\"h\"]\n", "docker.io"},
        {"[[registry]]\nunqualified-search-registries = [\"h\"]\n", "docker.io"},
        {"a = 1\nunqualified-search-registries = [\n  \"h\",\n]\n", "h"},
        {"unqualified-search-registries = [\"h", "docker.io"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(image_default_registry(&f->arena, bytes_of(rows[i].file)),
                            rows[i].registry);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(names_are_read),
        CASE(other_schemes_are_read),
        CASE(bad_names_are_refused),
        CASE(references_become_names),
        CASE(the_default_registry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
