/* Targets: what a courier reads that others made: its files, a server's headers, archives. */
#include "common/model/image_name.h"
#include "rep/container/cache_plan.h"
#include "rep/container/image_plan.h"
#include "rep/courier/answer.h"
#include "rep/courier/archive_io.h"
#include "rep/courier/checksum.h"
#include "rep/courier/entry.h"
#include "rep/courier/image_words.h"
#include "rep/courier/response.h"
#include "rep/courier/url.h"
#include "test/fuzz/fuzz.h"

#include <string.h>

/* ---- files, headers, URLs ---- */

/* What is taken is said again in the same words. */
static void record(struct bytes in)
{
    struct cache_record r;
    SCOPED_BUF(again);
    if (cache_record_parse(in, &r, NULL) == 0) {
        cache_record_print(&r, &again);
        FUZZ_REQUIRE(bytes_equal(buf_bytes(&again), in));
        FUZZ_REQUIRE(r.etag[0] == '\0' || cache_validator_valid(bytes_of(r.etag)));
    }
}

static void answer(struct bytes in)
{
    struct courier_answer a;
    SCOPED_BUF(again);
    if (answer_parse(in, &a, NULL) == 0) {
        answer_print(&a, &again);
        FUZZ_REQUIRE(bytes_equal(buf_bytes(&again), in));
    }
}

static void uses(struct arena *a, struct bytes in)
{
    struct cache_uses u;
    if (cache_uses_parse(a, in, &u, NULL) == 0) {
        for (size_t i = 0; i < u.count; i++) {
            FUZZ_REQUIRE(cache_digest_valid(u.digests[i]));
            FUZZ_REQUIRE(cache_uses_has(&u, u.digests[i]));
        }
    }
}

static void headers(struct bytes in)
{
    struct server_response r = {.range_start = -1};
    while (in.size > 0) {
        const uint8_t *end = memchr(in.data, '\n', in.size);
        size_t n = end ? (size_t)(end - in.data) + 1 : in.size;
        response_line(&r, (struct bytes){in.data, n});
        in = (struct bytes){in.data + n, in.size - n};
    }
    FUZZ_REQUIRE(r.status >= 0 && r.status <= 999 && r.range_start >= -1);
    struct part_asked all = {0, "", false};
    FUZZ_REQUIRE((response_take(&r, &all) == TAKE_ANEW) == (r.status == 200));
    FUZZ_REQUIRE(response_verdict(&r, &all) != VERDICT_ANEW);
    struct part_asked part = {5, "\"a\"", false};
    if (response_take(&r, &part) == TAKE_ON) {
        FUZZ_REQUIRE(r.status == 206 && r.range_start == 5 && strcmp(r.etag, "\"a\"") == 0);
    }
}

static void words(struct arena *a, const char *text)
{
    struct checksum c, back;
    char printed[CHECKSUM_TEXT_BYTES + 1];
    const char *path;
    if (checksum_parse(text, &c, NULL) == 0) {
        checksum_print(&c, ':', printed);
        FUZZ_REQUIRE(strcasecmp(printed, text) == 0);
        FUZZ_REQUIRE(checksum_parse(printed, &back, NULL) == 0 && checksum_equal(&c, &back));
    }
    if (url_way(text) == URL_FILE && url_file_path(a, text, &path, NULL) == 0) {
        FUZZ_REQUIRE(path[0] == '/');
    }
}

void fuzz_courier(struct bytes in)
{
    SCOPED_ARENA(a);
    unsigned which = fuzz_byte(&in) % 5;
    if (which == 0) {
        record(in);
    } else if (which == 1) {
        answer(in);
    } else if (which == 2) {
        uses(&a, in);
    } else if (which == 3) {
        headers(in);
    } else {
        words(&a, fuzz_text(&a, &in));
    }
}

/* ---- images ---- */

static void image_names(struct arena *a, const char *text)
{
    struct image_name n;
    struct err err = {0};
    if (image_name_parse(a, text, &n, &err) < 0) {
        FUZZ_REQUIRE(err.text[0]);
    } else if (image_name_is_pulled(text)) {
        const char *source = image_source(a, &n, "docker.io", n.digest);
        FUZZ_REQUIRE(!strpbrk(source, " \n\t") && !strstr(source, "/../"));
    }
}

/* All is bounded, whatever they say. */
void fuzz_images(struct bytes in)
{
    SCOPED_ARENA(a);
    struct manifest m;
    Rep__Image image = REP__IMAGE__INIT;
    unsigned which = fuzz_byte(&in) % 5;
    if (which == 0) {
        image_names(&a, fuzz_text(&a, &in));
    } else if (which == 1 && manifest_parse(&a, in, "amd64", &m, NULL) == 0) {
        FUZZ_REQUIRE(m.chosen || (m.layer_count > 0 && m.layer_count <= IMAGE_LAYERS_MAX));
    } else if (which == 2 && image_config_parse(&a, in, &image, NULL) == 0) {
        FUZZ_REQUIRE(image.n_env <= IMAGE_WORDS_MAX && image.n_cmd <= IMAGE_WORDS_MAX);
    } else if (which == 3) {
        image.id = (char *)"i";
        const struct bytes images = bytes_of("[{\"id\":\"i\",\"layer\":\"l\"}]");
        if (image_layers_parse(&a, images, in, &image, NULL) == 0) {
            FUZZ_REQUIRE(image.n_layers > 0 && image.n_layers <= IMAGE_LAYERS_MAX);
        }
    } else if (which == 4) {
        FUZZ_REQUIRE(image_default_registry(&a, in)[0]);
        pull_failure(&a, in);
    }
}

/* ---- archives ---- */

/* A good archive has only what its rules allow; every other one has a reason. */
void fuzz_archives(struct bytes in)
{
    enum { UNPACKED_MAX = 1 << 20 };
    struct archive_walk w = {0};
    struct err err = {0};
    judging_init(&w.judging, UNPACKED_MAX);
    int rc = archive_walk_bytes(&w, in, &err);
    FUZZ_REQUIRE(w.judging.bytes <= UNPACKED_MAX);
    FUZZ_REQUIRE(w.judging.entries <= ARCHIVE_ENTRIES_MAX + 1);
    FUZZ_REQUIRE(rc == 0 || (rc == -(int)err.code && err.text[0]));
    judging_done(&w.judging);
}

/* Entries that no format can say: the judge alone. */
void fuzz_entries(struct bytes in)
{
    SCOPED_ARENA(a);
    struct judging j;
    struct err err = {0};
    judging_init(&j, 1 << 20);
    while (in.size > 0) {
        unsigned kind = fuzz_byte(&in);
        const char *path = fuzz_text(&a, &in), *to = kind & 8 ? fuzz_text(&a, &in) : NULL;
        struct archive_member m = {
            path, (enum entry_kind)(kind % (ENTRY_UNKNOWN + 1)), NULL, to, fuzz_byte(&in), false};
        if (kind & 16) {
            m.hard_link = to;
        }
        if (judging_entry(&j, &m, &err) == 0) {
            FUZZ_REQUIRE(path[0] != '/' && strcmp(path, "..") != 0 && strncmp(path, "../", 3) != 0);
            FUZZ_REQUIRE(!strstr(path, "/../") && strlen(path) <= ARCHIVE_PATH_BYTES);
            FUZZ_REQUIRE(m.kind <= ENTRY_LINK || m.hard_link);
        } else {
            FUZZ_REQUIRE(err.text[0]);
        }
        path_shown(path);
    }
    judging_done(&j);
}
