/* What a snapshot of etcd in a file must be: whole, a database of etcd, with the right hash. */
#include "bbs/cli/snapshot.h"
#include "test/tool/cmocka.h"

#include <openssl/evp.h>
#include <string.h>

enum { DATABASE_BYTES = 300, WHOLE_BYTES = DATABASE_BYTES + SNAPSHOT_HASH_BYTES };

/* As etcd makes it: the magic of bbolt in the first page, and the hash at the end. */
static void make_snapshot(uint8_t whole[WHOLE_BYTES], size_t database_bytes)
{
    static const uint8_t magic[] = {0xed, 0xda, 0x0c, 0xed, 2, 0, 0, 0};
    for (size_t i = 0; i < database_bytes; i++) {
        whole[i] = (uint8_t)(i * 7);
    }
    memcpy(whole + 16, magic, sizeof(magic));
    EVP_Digest(whole, database_bytes, whole + database_bytes, NULL, EVP_sha256(), NULL);
}

/* Takes the bytes in parts of `part` bytes; gives the end's code. */
static int judge(const uint8_t *bytes, size_t size, size_t part, struct err *err)
{
    struct snapshot_file s;
    snapshot_init(&s);
    for (size_t at = 0; at < size; at += part) {
        size_t n = size - at < part ? size - at : part;
        snapshot_take(&s, (struct bytes){.data = (uint8_t *)(uintptr_t)bytes + at, .size = n});
    }
    assert_int_equal(s.size, size);
    int code = snapshot_end(&s, err);
    char text[2 * SNAPSHOT_HASH_BYTES + 1];
    snapshot_hash_text(&s, text);
    assert_int_equal(strlen(text), 2 * SNAPSHOT_HASH_BYTES);
    snapshot_done(&s);
    return code;
}

static void a_snapshot_is_whole_however_it_is_cut(void **state)
{
    uint8_t whole[WHOLE_BYTES];
    make_snapshot(whole, DATABASE_BYTES);
    for (size_t part = 1; part <= WHOLE_BYTES; part++) {
        assert_int_equal(judge(whole, WHOLE_BYTES, part, NULL), 0);
    }
}

static void two_parts_cut_anywhere(void **state)
{
    uint8_t whole[WHOLE_BYTES];
    make_snapshot(whole, DATABASE_BYTES);
    for (size_t cut = 0; cut <= WHOLE_BYTES; cut++) {
        struct snapshot_file s;
        snapshot_init(&s);
        snapshot_take(&s, (struct bytes){.data = whole, .size = cut});
        snapshot_take(&s, (struct bytes){.data = whole + cut, .size = WHOLE_BYTES - cut});
        assert_int_equal(snapshot_end(&s, NULL), 0);
        assert_memory_equal(s.tail, whole + DATABASE_BYTES, SNAPSHOT_HASH_BYTES);
        snapshot_done(&s);
    }
}

static void every_changed_byte_is_found(void **state)
{
    uint8_t whole[WHOLE_BYTES];
    for (size_t i = 0; i < WHOLE_BYTES; i++) {
        struct err err = {0};
        make_snapshot(whole, DATABASE_BYTES);
        whole[i] ^= 1;
        assert_int_equal(judge(whole, WHOLE_BYTES, 64, &err), -ERR_INVALID);
        bool magic = i >= 16 && i < 24;
        assert_non_null(strstr(err.text, magic ? "no snapshot of etcd" : "its hash is wrong"));
    }
}

static void every_shorter_and_longer_one_is_refused(void **state)
{
    uint8_t whole[WHOLE_BYTES + 1];
    make_snapshot(whole, DATABASE_BYTES);
    whole[WHOLE_BYTES] = 0;
    for (size_t size = 0; size < WHOLE_BYTES; size++) {
        struct err err = {0};
        assert_int_equal(judge(whole, size, 50, &err), -ERR_INVALID);
        assert_non_null(strstr(err.text, size == 0   ? "it is empty"
                                         : size < 56 ? "no snapshot of etcd"
                                                     : "its hash is wrong"));
    }
    assert_int_equal(judge(whole, WHOLE_BYTES + 1, 50, NULL), -ERR_INVALID);
}

static void the_smallest_is_a_head_and_a_hash(void **state)
{
    uint8_t whole[WHOLE_BYTES];
    make_snapshot(whole, SNAPSHOT_HEAD_BYTES);
    assert_int_equal(judge(whole, SNAPSHOT_HEAD_BYTES + SNAPSHOT_HASH_BYTES, 5, NULL), 0);
}

static void the_hash_is_given_as_text(void **state)
{
    struct snapshot_file s = {.tail = {0x00, 0x0f, 0xab}};
    char text[2 * SNAPSHOT_HASH_BYTES + 1];
    snapshot_hash_text(&s, text);
    assert_memory_equal(text, "000fab00", 8);
    snapshot_done(&s); /* one that never began */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_snapshot_is_whole_however_it_is_cut),
        cmocka_unit_test(two_parts_cut_anywhere),
        cmocka_unit_test(every_changed_byte_is_found),
        cmocka_unit_test(every_shorter_and_longer_one_is_refused),
        cmocka_unit_test(the_smallest_is_a_head_and_a_hash),
        cmocka_unit_test(the_hash_is_given_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
