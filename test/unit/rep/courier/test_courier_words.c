/* What a courier reads and says: answers, checksums, URLs, responses of a server. */
#include "rep/courier/answer.h"
#include "rep/courier/checksum.h"
#include "rep/courier/response.h"
#include "rep/courier/url.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

#include <stdio.h>
#include <string.h>

#define DIGEST "sha256-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* ---- answers ---- */

static void answers_come_back(void **state)
{
    struct fixture *f = *state;
    const struct courier_answer answers[] = {
        {.done = true, .digest = DIGEST, .size = 999999999999999999, .moved = 1, .entries = 2},
        {.done = true},
        {.code = ERR_INVALID, .text = "the path \"\xff\" is absolute"},
        {.code = ERR_UNKNOWN, .text = ""},
    };
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct courier_answer back;
        buf_clear(&f->out);
        answer_print(&answers[i], &f->out);
        assert_true(f->out.size <= COURIER_ANSWER_BYTES);
        assert_int_equal(answer_parse(buf_bytes(&f->out), &back, &f->err), 0);
        assert_memory_equal(&back, &answers[i], sizeof(back));
        for (size_t n = 0; n < f->out.size; n++) { /* and not when it is cut */
            assert_int_equal(answer_parse((struct bytes){f->out.data, n}, &back, &f->err),
                             -ERR_INVALID);
        }
    }
}

static void a_text_stays_a_line(void **state)
{
    struct fixture *f = *state;
    struct courier_answer back, answer = {.code = ERR_IO, .text = "a\nb\x7f\tc"};
    answer_print(&answer, &f->out);
    assert_int_equal(answer_parse(buf_bytes(&f->out), &back, &f->err), 0);
    assert_string_equal(back.text, "a b  c");
}

static void other_answers_are_refused(void **state)
{
    struct fixture *f = *state;
    static const char *const bad[] = {
        "done\n",
        "done\ndigest x\nsize 1\nmoved 1\nentries 1\n",
        "done\ndigest \nsize -1\nmoved 1\nentries 1\n",
        "done\ndigest \nsize 01\nmoved 1\nentries 1\n",
        "done\ndigest \nsize 1\nmoved 1\nentries 1\nmore 1\n",
        "done\ndigest \nmoved 1\nsize 1\nentries 1\n",
        "failed\ncode 0\ntext x\n",
        "failed\ncode 99\ntext x\n",
        "failed\ncode 1\ntext x\nx\n",
        "failed\ncode 1\ntext \x01\n",
        "well\n",
    };
    struct courier_answer back;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(answer_parse(bytes_of(bad[i]), &back, &f->err), -ERR_INVALID);
    }
    buf_printf(&f->out, "failed\ncode 1\ntext %0240d\n", 1);
    assert_int_equal(answer_parse(buf_bytes(&f->out), &back, &f->err), -ERR_INVALID);
}

/* ---- checksums ---- */

static const struct sum_row {
    const char *name, *hex, *base64; /* of "abc" */
} sums[] = {
    {"md5", "900150983cd24fb0d6963f7d28e17f72", "kAFQmDzST7DWlj99KOF/cg=="},
    {"sha1", "a9993e364706816aba3e25717850c26c9cd0d89d", "qZk+NkcGgWq6PiVxeFDCbJzQ2J0="},
    {"sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
     "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="},
    {"sha512",
     "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3fee"
     "b"
     "bd454d4423643ce80e2a9ac94fa54ca49f",
     "3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4qmslPpUyknw=="},
};

static void sums_are_those_of_everybody(void **state)
{
    struct fixture *f = *state;
    struct summing s = {0};
    for (int kind = CHECKSUM_MD5; kind <= CHECKSUM_SHA512; kind++) {
        char text[CHECKSUM_TEXT_BYTES + 1];
        struct checksum parsed;
        summing_begin(&s, (enum checksum_kind)kind);
        summing_add(&s, "x", 1);
        summing_begin(&s, (enum checksum_kind)kind); /* anew */
        summing_add(&s, "a", 1);
        summing_add(&s, "bc", 2);
        struct checksum c = summing_end(&s);
        checksum_print(&c, ':', text);
        const char *whole = arena_printf(&f->arena, "%s:%s", sums[kind].name, sums[kind].hex);
        assert_string_equal(text, whole);
        assert_int_equal(checksum_parse(whole, &parsed, &f->err), 0);
        assert_true(checksum_equal(&c, &parsed));
        parsed.bytes[parsed.size - 1] ^= 1;
        assert_false(checksum_equal(&c, &parsed));
        buf_clear(&f->out);
        checksum_base64(&c, &f->out);
        assert_string_equal(buf_string(&f->out), sums[kind].base64);
    }
    summing_done(&s);
}

static void checksums_are_read_strictly(void **state)
{
    struct fixture *f = *state;
    struct checksum c;
    assert_int_equal(checksum_parse("MD5:900150983CD24FB0D6963F7D28E17F72", &c, &f->err), 0);
    assert_int_equal(c.kind, CHECKSUM_MD5);
    static const char *const bad[] = {"",
                                      ":",
                                      "md5",
                                      "md5:",
                                      "md5:900150983cd24fb0d6963f7d28e17f7",
                                      "md5:900150983cd24fb0d6963f7d28e17f720",
                                      "md5:900150983cd24fb0d6963f7d28e17f7g",
                                      "sha1:900150983cd24fb0d6963f7d28e17f72",
                                      "crc32:00000000",
                                      "sha:00",
                                      "md5 :00"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        f->err.text[0] = '\0';
        assert_int_equal(checksum_parse(bad[i], &c, &f->err), -ERR_INVALID);
        assert_true(f->err.text[0]);
    }
}

/* ---- URLs ---- */

static void urls_have_a_way(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *url;
        enum url_way way;
        const char *path; /* of a file; NULL: none */
    } rows[] = {
        {"http://x", URL_HTTP, NULL},      {"HTTPS://x/y", URL_HTTP, NULL},
        {"httpx://x", URL_UNKNOWN, NULL},  {"ftp://x", URL_UNKNOWN, NULL},
        {"", URL_UNKNOWN, NULL},           {"/etc/passwd", URL_UNKNOWN, NULL},
        {"file:///a/b", URL_FILE, "/a/b"}, {"FILE:///a", URL_FILE, "/a"},
        {"file:/a%20b", URL_FILE, "/a b"}, {"file://localhost/a", URL_FILE, "/a"},
        {"file://host/a", URL_FILE, NULL}, {"file://", URL_FILE, NULL},
        {"file:a", URL_FILE, NULL},        {"file:", URL_FILE, NULL},
        {"file:////a", URL_FILE, NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *path = NULL;
        assert_int_equal(url_way(rows[i].url), rows[i].way);
        if (rows[i].way != URL_FILE) {
            continue;
        }
        int rc = url_file_path(&f->arena, rows[i].url, &path, &f->err);
        assert_int_equal(rc, rows[i].path ? 0 : -ERR_INVALID);
        if (rows[i].path) {
            assert_string_equal(path, rows[i].path);
        }
    }
}

/* ---- responses ---- */

static void lines(struct server_response *r, const char *text)
{
    *r = (struct server_response){.range_start = -1};
    while (*text) {
        size_t n = strcspn(text, "\n") + 1;
        response_line(r, (struct bytes){(const uint8_t *)text, n});
        text += n;
    }
}

static void headers_are_read(void **state)
{
    struct server_response r;
    lines(&r, "HTTP/1.1 302 Found\r\nETag: \"old\"\r\nLast-Modified: then\r\n\r\n"
              "HTTP/2 206\r\netag:\"new\" \r\nContent-Range: bytes 100-199/200\r\nX: y\r\n");
    assert_int_equal(r.status, 206);
    assert_string_equal(r.etag, "\"new\"");
    assert_string_equal(r.modified, "");
    assert_int_equal(r.range_start, 100);
    static const char *const no_ranges[] = {"bytes */200",
                                            "bytes -1-2/3",
                                            "items 1-2/3",
                                            "bytes 1",
                                            "bytes ",
                                            "",
                                            "bytes 9999999999999999999-1/2"};
    for (size_t i = 0; i < sizeof(no_ranges) / sizeof(no_ranges[0]); i++) {
        char text[128];
        snprintf(text, sizeof(text), "HTTP/1.1 206 x\r\nContent-Range: %s\r\n", no_ranges[i]);
        lines(&r, text);
        assert_int_equal(r.range_start, -1);
    }
    lines(&r, "HTTP/1.1 2x0 OK\r\nHTTP/1.1\r\nHTTP/1.1 \r\nHTTP/1.1 20\n\r\n");
    assert_int_equal(r.status, 0);
    lines(&r, "HTTP/1.1 200 OK\r\nETag: a\x01z\r\nLast-Modified:\r\n");
    assert_string_equal(r.etag, "");
}

static const struct verdict_row {
    const char *what;
    int status;
    const char *etag;
    int64_t range_start;
    struct part_asked asked;
    enum take take;
    enum fetch_verdict verdict;
} verdict_rows[] = {
    {"all", 200, "", -1, {0, "", false}, TAKE_ANEW, VERDICT_DONE},
    {"all, where a part was asked for",
     200,
     "\"b\"",
     -1,
     {5, "\"a\"", false},
     TAKE_ANEW,
     VERDICT_DONE},
    {"all, where it changed", 200, "\"b\"", -1, {0, "", true}, TAKE_ANEW, VERDICT_DONE},
    {"the part", 206, "\"a\"", 5, {5, "\"a\"", false}, TAKE_ON, VERDICT_DONE},
    {"a part of other content", 206, "\"b\"", 5, {5, "\"a\"", false}, TAKE_NOT, VERDICT_ANEW},
    {"a part of nobody knows what", 206, "", 5, {5, "\"a\"", false}, TAKE_NOT, VERDICT_ANEW},
    {"another part", 206, "\"a\"", 4, {5, "\"a\"", false}, TAKE_NOT, VERDICT_ANEW},
    {"weak ones are not the same",
     206,
     "W/\"a\"",
     5,
     {5, "W/\"a\"", false},
     TAKE_NOT,
     VERDICT_ANEW},
    {"a part that nobody asked for", 206, "\"a\"", 0, {0, "", false}, TAKE_NOT, VERDICT_FAILED},
    {"no such part", 416, "", -1, {5, "\"a\"", false}, TAKE_NOT, VERDICT_ANEW},
    {"no such part, of all", 416, "", -1, {0, "", false}, TAKE_NOT, VERDICT_FAILED},
    {"unchanged", 304, "", -1, {0, "", true}, TAKE_NOT, VERDICT_UNCHANGED},
    {"unchanged, unasked", 304, "", -1, {0, "", false}, TAKE_NOT, VERDICT_FAILED},
    {"not there", 404, "", -1, {0, "", false}, TAKE_NOT, VERDICT_FAILED},
    {"other good ones are none", 204, "", -1, {0, "", false}, TAKE_NOT, VERDICT_FAILED},
    {"a redirect that leads nowhere", 302, "", -1, {0, "", false}, TAKE_NOT, VERDICT_FAILED},
    {"broken", 500, "", -1, {5, "\"a\"", false}, TAKE_NOT, VERDICT_AGAIN},
    {"busy", 503, "", -1, {0, "", false}, TAKE_NOT, VERDICT_AGAIN},
    {"too slow", 408, "", -1, {0, "", false}, TAKE_NOT, VERDICT_AGAIN},
    {"too often", 429, "", -1, {0, "", false}, TAKE_NOT, VERDICT_AGAIN},
};

static void verdicts_by_rows(void **state)
{
    for (size_t i = 0; i < sizeof(verdict_rows) / sizeof(verdict_rows[0]); i++) {
        const struct verdict_row *row = &verdict_rows[i];
        struct server_response r = {.status = row->status, .range_start = row->range_start};
        snprintf(r.etag, sizeof(r.etag), "%s", row->etag);
        enum take take = response_take(&r, &row->asked);
        enum fetch_verdict verdict = response_verdict(&r, &row->asked);
        if (take != row->take || verdict != row->verdict) {
            fail_msg("%s: take %d, verdict %d", row->what, take, verdict);
        }
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(answers_come_back),
        CASE(a_text_stays_a_line),
        CASE(other_answers_are_refused),
        CASE(sums_are_those_of_everybody),
        CASE(checksums_are_read_strictly),
        CASE(urls_have_a_way),
        CASE(headers_are_read),
        CASE(verdicts_by_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
