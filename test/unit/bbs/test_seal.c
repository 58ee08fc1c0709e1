/* The keys of a bbs: sealed and opened by AES-256-SIV, rotated, and the file that they stand in
 * (docs/systems.md, Secrets). */
#include "bbs/seal_io.h"

#include "test/tool/cmocka.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Base64 of 64 bytes: all 0x00, all 0x01, 0x02. */
#define ZEROS                                                                                      \
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="
#define ONES                                                                                       \
    "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQ=="
#define KEY_1 "1 " ZEROS "\n"
#define KEY_2 "2 " ONES "\n"

static struct seal *keys(const char *text)
{
    struct seal *s = NULL;
    struct err err;
    if (seal_text_read(bytes_of(text), "keys", &s, &err) < 0) {
        fail_msg("%s: %s", text, err.text);
    }
    return s;
}

static Models__Sealed value_of(const char *uid, const char *name, const char *version)
{
    Models__Sealed s = MODELS__SEALED__INIT;
    s.uid = (char *)(uintptr_t)uid;
    s.name = (char *)(uintptr_t)name;
    s.version = (char *)(uintptr_t)version;
    return s;
}

static bool opens(const struct seal *s, struct arena *a, const Board__WrappedKey *key,
                  const Models__Sealed *sealed, const char *text)
{
    struct bytes got;
    if (!seal_open(s, a, key, sealed, &got)) {
        return false;
    }
    assert_int_equal(got.size, strlen(text));
    assert_string_equal((const char *)got.data, text);
    return true;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static void a_value_opens_under_its_names_alone(void **state)
{
    (void)state;
    SCOPED_ARENA(a);
    struct seal *s = keys(KEY_1);
    Board__WrappedKey key = BOARD__WRAPPED_KEY__INIT, other = BOARD__WRAPPED_KEY__INIT;
    seal_draw(s, &a, "u1", "n", &key);
    seal_draw(s, &a, "u1", "m", &other);
    static const char *const texts[] = {"", "geheim", "l\303\266ng, with\nlines\n"};
    for (size_t i = 0; i < 3; i++) {
        Models__Sealed sealed = value_of("u1", "/api:key", "v1");
        assert_true(seal_close(s, &a, &key, bytes_of(texts[i]), &sealed));
        assert_int_equal(sealed.key, 1);
        assert_int_equal(sealed.text.len, strlen(texts[i]) + 17);
        assert_null(memmem(sealed.text.data, sealed.text.len, "geheim", 6));
        assert_true(opens(s, &a, &key, &sealed, texts[i]));
        Models__Sealed wrong = sealed;
        wrong.name = (char *)(uintptr_t)"/api:yek";
        assert_false(opens(s, &a, &key, &wrong, texts[i]));
        wrong = sealed;
        wrong.version = (char *)(uintptr_t)"v2";
        assert_false(opens(s, &a, &key, &wrong, texts[i]));
        wrong = sealed;
        wrong.uid = (char *)(uintptr_t)"u2";
        assert_false(opens(s, &a, &key, &wrong, texts[i]));
        assert_false(opens(s, &a, &other, &sealed, texts[i]));
        assert_false(opens(s, &a, NULL, &sealed, texts[i]));
        assert_false(opens(NULL, &a, &key, &sealed, texts[i]));
    }
    seal_file_free(s);
}

static void what_was_changed_does_not_open(void **state)
{
    (void)state;
    SCOPED_ARENA(a);
    struct seal *s = keys(KEY_1);
    Board__WrappedKey key = BOARD__WRAPPED_KEY__INIT;
    Models__Sealed sealed = value_of("u1", "/api:key", "v1");
    seal_draw(s, &a, "u1", "n", &key);
    assert_true(seal_close(s, &a, &key, bytes_of("geheim"), &sealed));
    for (size_t i = 0; i < sealed.text.len; i++) {
        sealed.text.data[i] ^= 1;
        assert_false(opens(s, &a, &key, &sealed, "geheim"));
        sealed.text.data[i] ^= 1;
    }
    for (size_t size = 0; size < sealed.text.len; size++) {
        Models__Sealed cut = sealed;
        cut.text.len = size;
        assert_false(opens(s, &a, &key, &cut, "geheim"));
    }
    for (size_t i = 0; i < key.text.len; i++) {
        key.text.data[i] ^= 1;
        assert_false(opens(s, &a, &key, &sealed, "geheim"));
        key.text.data[i] ^= 1;
    }
    assert_true(opens(s, &a, &key, &sealed, "geheim"));
    seal_file_free(s);
}

/* Sealed again it is the same bytes: a decision that is made again says the same. */
static void the_same_is_sealed_the_same(void **state)
{
    (void)state;
    SCOPED_ARENA(a);
    struct seal *s = keys(KEY_1);
    Board__WrappedKey key = BOARD__WRAPPED_KEY__INIT, again = BOARD__WRAPPED_KEY__INIT;
    seal_draw(s, &a, "u1", "n", &key);
    seal_draw(s, &a, "u1", "n", &again);
    assert_int_equal(key.text.len, again.text.len);
    assert_memory_equal(key.text.data, again.text.data, key.text.len);
    Models__Sealed one = value_of("u1", "/:a", "v"), two = value_of("u1", "/:a", "v");
    assert_true(seal_close(s, &a, &key, bytes_of("x"), &one));
    assert_true(seal_close(s, &a, &again, bytes_of("x"), &two));
    assert_memory_equal(one.text.data, two.text.data, one.text.len);
    seal_file_free(s);
}

/* ---- Rotation -------------------------------------------------------------------------------- */

static void a_data_key_is_wrapped_anew_and_opens_the_same(void **state)
{
    (void)state;
    SCOPED_ARENA(a);
    struct seal *old = keys(KEY_1), *both = keys(KEY_2 KEY_1), *new = keys(KEY_2);
    Board__WrappedKey key = BOARD__WRAPPED_KEY__INIT, anew = BOARD__WRAPPED_KEY__INIT;
    Models__Sealed sealed = value_of("u1", "/api:key", "v1");
    assert_int_equal(seal_newest(old), 1);
    assert_int_equal(seal_newest(both), 2);
    assert_int_equal(seal_newest(NULL), 0);
    seal_draw(old, &a, "u1", "n", &key);
    assert_true(seal_close(old, &a, &key, bytes_of("geheim"), &sealed));
    assert_true(opens(both, &a, &key, &sealed, "geheim"));
    assert_false(opens(new, &a, &key, &sealed, "geheim"));
    assert_false(seal_rewrap(new, &a, "u1", &key, &anew));
    assert_false(seal_rewrap(both, &a, "u2", &key, &anew));
    assert_true(seal_rewrap(both, &a, "u1", &key, &anew));
    assert_int_equal(anew.key, 2);
    assert_true(opens(new, &a, &anew, &sealed, "geheim"));
    assert_true(opens(both, &a, &anew, &sealed, "geheim"));
    assert_false(opens(old, &a, &anew, &sealed, "geheim"));
    seal_file_free(old);
    seal_file_free(both);
    seal_file_free(new);
}

/* Two bbs whose keys of one number differ. */
static void another_key_of_the_same_number_opens_nothing(void **state)
{
    (void)state;
    SCOPED_ARENA(a);
    struct seal *one = keys(KEY_1), *other = keys("1 " ONES);
    Board__WrappedKey key = BOARD__WRAPPED_KEY__INIT;
    Models__Sealed sealed = value_of("u1", "/api:key", "v1");
    seal_draw(one, &a, "u1", "n", &key);
    assert_true(seal_close(one, &a, &key, bytes_of("geheim"), &sealed));
    assert_false(opens(other, &a, &key, &sealed, "geheim"));
    assert_false(seal_close(other, &a, &key, bytes_of("geheim"), &sealed));
    assert_false(seal_rewrap(other, &a, "u1", &key, &key));
    seal_file_free(one);
    seal_file_free(other);
}

/* ---- The file -------------------------------------------------------------------------------- */

#define LINE(n)                                                                                    \
    "k:" n ": a line is a number from 1 to 4294967295 and the base64 of 64 bytes: "               \
    "echo \"1 $(head -c 64 /dev/urandom | base64 -w 0)\""

static void lines_of_a_file(void **state)
{
    (void)state;
    static const struct {
        const char *text, *wrong;
        uint32_t newest;
    } rows[] = {
        {KEY_1, NULL, 1},
        {"1 " ZEROS, NULL, 1},
        {"# keys of test\n\n  \n1\t" ZEROS "  \r\n" KEY_2, NULL, 2},
        {"4294967295 " ONES "\n" KEY_1 KEY_2, NULL, UINT32_MAX},
        {"", "k: there is no key in it", 0},
        {"# none\n", "k: there is no key in it", 0},
        {"0 " ZEROS, LINE("1"), 0},
        {"4294967296 " ZEROS, LINE("1"), 0},
        {"99999999999 " ZEROS, LINE("1"), 0},
        {"1" ZEROS, LINE("1"), 0},
        {"1 ", LINE("1"), 0},
        {ZEROS, LINE("1"), 0},
        {"-1 " ZEROS, LINE("1"), 0},
        {KEY_1 "2 AAAA", LINE("2"), 0},
        {KEY_1 "2 " ZEROS "AAAA", LINE("2"), 0},
        {KEY_1 "2 ???", LINE("2"), 0},
        {KEY_1 "# again\n1 " ONES, "k:3: key 1 stands there twice", 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct seal *s = NULL;
        struct err err = {0};
        int r = seal_text_read(bytes_of(rows[i].text), "k", &s, &err);
        if (rows[i].wrong) {
            assert_int_equal(r, -ERR_INVALID);
            assert_string_equal(err.text, rows[i].wrong);
            assert_null(strstr(err.text, "AAAA"));
        } else {
            assert_int_equal(r, 0);
            assert_int_equal(seal_newest(s), rows[i].newest);
        }
        seal_file_free(s);
    }
}

static void a_file_has_at_most_64_keys(void **state)
{
    (void)state;
    for (unsigned count = SEAL_KEYS_MAX; count <= SEAL_KEYS_MAX + 1; count++) {
        SCOPED_BUF(text);
        struct seal *s = NULL;
        struct err err = {0};
        for (unsigned i = 1; i <= count; i++) {
            buf_printf(&text, "%u " ZEROS "\n", i);
        }
        int r = seal_text_read(buf_bytes(&text), "k", &s, &err);
        assert_int_equal(r, count > SEAL_KEYS_MAX ? -ERR_INVALID : 0);
        if (r < 0) {
            assert_string_equal(err.text, "k:65: more than 64 keys: take out those that no system "
                                          "uses (bbs keys)");
        }
        seal_file_free(s);
    }
}

static void write_file(const char *path, const char *text, size_t size, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, size), size);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static void only_its_owner_may_read_the_file(void **state)
{
    (void)state;
    char path[] = "/tmp/seal-XXXXXX";
    int fd = mkstemp(path);
    struct seal *s = NULL;
    struct err err = {0};
    assert_true(fd >= 0);
    close(fd);
    write_file(path, KEY_1, strlen(KEY_1), 0640);
    assert_int_equal(seal_file_read(path, &s, &err), -ERR_INVALID);
    assert_non_null(strstr(err.text, "others may read it (mode 640): chmod 600 "));
    write_file(path, KEY_1, strlen(KEY_1), 0600);
    assert_int_equal(seal_file_read(path, &s, &err), 0);
    assert_int_equal(seal_newest(s), 1);
    seal_file_free(s);
    char *large = calloc(1, SEAL_FILE_BYTES_MAX + 1);
    write_file(path, large, SEAL_FILE_BYTES_MAX + 1, 0600);
    free(large);
    assert_int_equal(seal_file_read(path, &s, &err), -ERR_TOO_LARGE);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(seal_file_read(path, &s, &err), -ERR_NOT_FOUND);
    assert_int_equal(seal_file_read("/tmp", &s, &err), -ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_opens_under_its_names_alone),
        cmocka_unit_test(what_was_changed_does_not_open),
        cmocka_unit_test(the_same_is_sealed_the_same),
        cmocka_unit_test(a_data_key_is_wrapped_anew_and_opens_the_same),
        cmocka_unit_test(another_key_of_the_same_number_opens_nothing),
        cmocka_unit_test(lines_of_a_file),
        cmocka_unit_test(a_file_has_at_most_64_keys),
        cmocka_unit_test(only_its_owner_may_read_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
