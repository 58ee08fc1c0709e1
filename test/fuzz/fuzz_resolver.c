/* Targets: what a converger and its resolver read of each other, and of the program git. */
#include "common/definition/answer.h"
#include "common/definition/semver.h"
#include "converger/resolver/frames.h"
#include "converger/resolver/git_text.h"
#include "test/fuzz/fuzz.h"

#include <string.h>

/* No repository is there. */
static int read_nothing(void *context, struct arena *a, const struct definition_ask *ask,
                        struct definition_file *ret, struct err *err)
{
    (void)context, (void)a, (void)ask, (void)ret;
    return err_set(err, ERR_NOT_FOUND, "there is no such repository");
}

static int list_nothing(void *context, struct arena *a, const char *url, const char ***ret_tags,
                        size_t *ret_count, struct err *err)
{
    (void)context, (void)a, (void)url, (void)ret_tags, (void)ret_count;
    return err_set(err, ERR_NOT_FOUND, "there is no such repository");
}

/* What was read goes back as it came. */
static void try_answer(struct arena *a, const struct resolved *r, enum resolve_what what)
{
    SCOPED_BUF(packed);
    struct err err = {0};
    Board__ResolverAnswer m = resolver_answer_of(a, r);
    buf_message(&packed, &m.base);
    struct resolved again;
    FUZZ_REQUIRE(resolver_answer_read(a, 7, what, buf_bytes(&packed), &again, &err) == 0);
    FUZZ_REQUIRE(again.done == r->done && strcmp(again.fault, r->fault) == 0);
    FUZZ_REQUIRE(again.component_count == r->component_count);
    FUZZ_REQUIRE(again.version_count == r->version_count);
}

/* As the child does with it, but for git. */
static void try_request(struct arena *a, struct bytes frame)
{
    const Board__ResolverRequest *m;
    struct resolve_request request;
    struct err err = {0};
    struct definition_repositories none = {.read = read_nothing, .tags = list_nothing};
    if (resolver_request_read(a, frame, &m, &request, &err) < 0) {
        FUZZ_REQUIRE(err.text[0]);
        return;
    }
    none.system_domain = m->system_domain;
    struct resolved r = definition_answer(a, &request, &none);
    FUZZ_REQUIRE(r.done ? !*r.fault && !*r.needs : *r.fault || *r.needs);
    try_answer(a, &r, request.what);
}

void fuzz_resolver(struct bytes in)
{
    SCOPED_ARENA(a);
    uint8_t word = fuzz_byte(&in);
    enum resolve_what what = (enum resolve_what)(word / 2 % RESOLVE_WHAT_COUNT);
    struct resolved r;
    struct err err = {0};
    if (word & 1) {
        try_request(&a, in);
    } else if (resolver_answer_read(&a, 7, what, in, &r, &err) < 0) {
        FUZZ_REQUIRE(err.text[0]);
    } else {
        FUZZ_REQUIRE(r.id == 7 && r.done == (!*r.fault && !*r.needs));
        FUZZ_REQUIRE(!r.done || what == RESOLVE_TAGS || r.index->n_entries == r.component_count);
        try_answer(&a, &r, what);
    }
}

void fuzz_git_output(struct bytes in)
{
    SCOPED_ARENA(a);
    enum { LINES_MAX = 64 };
    const char *blob = NULL, **lines;
    struct err err = {0};
    if (git_text_blob(&a, in, &blob, &err) == 0) {
        FUZZ_REQUIRE(strlen(blob) == 40 && strspn(blob, "0123456789abcdef") == 40);
    } else {
        FUZZ_REQUIRE(err.text[0]);
    }
    const char *commit = git_text_commit(&a, in);
    FUZZ_REQUIRE(!commit || strspn(commit, "0123456789abcdef") == 40);
    size_t count = git_text_lines(&a, in, LINES_MAX, &lines);
    FUZZ_REQUIRE(count <= LINES_MAX);
    for (size_t i = 0; i < count; i++) {
        FUZZ_REQUIRE(strlen(lines[i]) <= 255 && !strchr(lines[i], '\n'));
        (void)semver_is_valid(lines[i]);
    }
    const char *complaint = git_text_complaint(&a, in);
    FUZZ_REQUIRE(strlen(complaint) <= 160);
    for (; *complaint; complaint++) {
        FUZZ_REQUIRE(*complaint >= ' ' && *complaint <= '~');
    }
}
