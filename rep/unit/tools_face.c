#include "rep/unit/tools_face.h"

#include "common/base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_TYPE "text/plain; charset=utf-8"
#define WORDS_TYPE "application/octet-stream"

enum { WORDS_MAX = 2 + TOOL_ARGUMENTS_MAX };

void tools_face_init(struct tools_face *f)
{
    f->count = 0;
}

void tools_face_done(struct tools_face *f)
{
    for (size_t i = 0; i < f->count; i++) {
        free(f->list[i].text);
    }
    f->count = 0;
}

/* ---- What is asked --------------------------------------------------------------------------- */

struct tools_words {
    const char *list[WORDS_MAX];
    size_t count;
};

/* Each ends with a zero byte, which the last byte is. False: it is not so, or there are more. */
static bool read_words(struct bytes body, struct tools_words *ret)
{
    const char *at = (const char *)body.data, *end = at + body.size;
    ret->count = 0;
    if (body.size > 0 && end[-1] != '\0') {
        return false;
    }
    for (; body.size > 0 && at < end; at += strlen(at) + 1) {
        if (ret->count == WORDS_MAX) {
            return false;
        }
        ret->list[ret->count++] = at;
    }
    return true;
}

static bool token_fits(const char *token)
{
    size_t size = strlen(token);
    return size > 0 && size <= TOOLS_TOKEN_MAX;
}

/* "1024"; false: it is no run's number. */
static bool read_run(const char *text, uint32_t *ret)
{
    uint64_t number = 0;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 9 || text[digits]) {
        return false;
    }
    number = strtoul(text, NULL, 10);
    *ret = (uint32_t)number;
    return number >= RUN_FIRST && number <= RUN_LAST;
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void answer(const struct request *q, int status, const char *text, struct effects *out)
{
    effects_reply(out, q->id, status, TEXT_TYPE, bytes_of(text));
}

static void add_word(struct buf *body, const char *word)
{
    buf_append(body, word, strlen(word) + 1);
}

static void answer_hook(const struct request *q, const struct tools_hook *hook, struct effects *out)
{
    SCOPED_BUF(body);
    add_word(&body, hook->token);
    add_word(&body, hook->path);
    add_word(&body, hook->script);
    for (size_t i = 0; i < hook->env_count; i++) {
        add_word(&body, arena_printf(out->arena, "%s=%s", hook->env[i].name, hook->env[i].value));
    }
    effects_reply(out, q->id, 200, WORDS_TYPE, buf_bytes(&body));
}

static size_t open_of(const struct tools_face *f, const char *guid)
{
    size_t count = 0;
    for (size_t i = 0; i < f->count; i++) {
        count += strcmp(f->list[i].guid, guid) == 0;
    }
    return count;
}

static void wait_for(struct tools_face *f, const struct request *q, const char *guid,
                     uint64_t write, const char *text)
{
    struct tools_waiting *w = &f->list[f->count++];
    *w = (struct tools_waiting){.request = q->id, .write = write, .text = mem_printf("%s", text)};
    size_t size = strlen(guid);
    assert(size < sizeof(w->guid));
    memcpy(w->guid, guid, size + 1);
}

/* ---- Routes ---------------------------------------------------------------------------------- */

#define LATER_TEXT "the cell does not know all of the unit yet: ask again\n"

static void ask_run(struct tools_face *f, const struct tools_owner *owner, const struct request *q,
                    const struct tools_words *words, struct effects *out)
{
    struct tools_hook hook;
    uint32_t run;
    (void)f;
    if (words->count != 2 || !read_run(words->list[1], &run)) {
        answer(q, 400, "want a token and the number of a run\n", out);
        return;
    }
    enum tools_found found =
        !token_fits(words->list[0])
            ? TOOLS_NONE
            : owner->hook(owner->context, words->list[0], run, out->arena, &hook);
    if (found == TOOLS_FOUND) {
        answer_hook(q, &hook, out);
    } else if (found == TOOLS_LATER) {
        answer(q, 503, LATER_TEXT, out);
    } else {
        answer(q, 403, "no hook of this unit runs under that number\n", out);
    }
}

/* A call that may change something is answered only where its answer could wait. */
static bool has_room(const struct tools_face *f, const char *guid)
{
    return f->count < TOOLS_OPEN_MAX && open_of(f, guid) < TOOLS_OPEN_OF_UNIT_MAX;
}

static void ask_tool(struct tools_face *f, const struct tools_owner *owner, const struct request *q,
                     const struct tools_words *words, struct effects *out)
{
    static const int statuses[] = {[TOOL_DONE] = 200, [TOOL_REFUSED] = 409, [TOOL_USAGE] = 400};
    struct tool_world world;
    const char *guid;
    if (words->count < 2) {
        answer(q, 400, "want a token and a tool\n", out);
        return;
    }
    enum tools_found found =
        !token_fits(words->list[0])
            ? TOOLS_NONE
            : owner->world(owner->context, words->list[0], out->arena, &world, &guid);
    if (found != TOOLS_FOUND) {
        bool later = found == TOOLS_LATER;
        answer(q, later ? 503 : 403, later ? LATER_TEXT : "no hook runs that has this token\n",
               out);
        return;
    }
    if (!has_room(f, guid)) {
        answer(q, 503, "too many calls wait for the disk\n", out);
        return;
    }
    struct tool_answer said = tool_call(out->arena, &world, words->count - 1, words->list + 1);
    uint64_t write = said.exit == TOOL_DONE ? owner->take(owner->context, guid, &said, out) : 0;
    const char *text = said.out ? said.out : "";
    if (write > 0) {
        wait_for(f, q, guid, write, text);
    } else {
        answer(q, statuses[said.exit], text, out);
    }
}

static const struct tools_route {
    const char *path;
    void (*ask)(struct tools_face *f, const struct tools_owner *owner, const struct request *q,
                const struct tools_words *words, struct effects *out);
} routes[] = {{"/v1/hooks/run", ask_run}, {"/v1/hooks/tool", ask_tool}};

void tools_face_request(struct tools_face *f, const struct tools_owner *owner,
                        const struct request *q, struct effects *out)
{
    const struct tools_route *route = NULL;
    struct tools_words words;
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
        route = strcmp(routes[i].path, q->path) == 0 ? &routes[i] : route;
    }
    if (!route) {
        answer(q, 404, "no such path\n", out);
    } else if (strcmp(q->method, "POST") != 0) {
        answer(q, 405, "want POST\n", out);
    } else if (q->too_large || q->body.size > TOOLS_BODY_MAX) {
        answer(q, 413, "more than 1 MiB\n", out);
    } else if (!read_words(q->body, &words)) {
        answer(q, 400, "malformed, or too many arguments\n", out);
    } else if (!owner) {
        answer(q, 403, "this cell has no units\n", out);
    } else {
        route->ask(f, owner, q, &words, out);
    }
}

/* ---- The disk -------------------------------------------------------------------------------- */

/* Those of the container up to this write; in order. */
static void answer_waiting(struct tools_face *f, const char *guid, uint64_t write, const char *why,
                           struct effects *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->count; i++) {
        struct tools_waiting *w = &f->list[i];
        if (strcmp(w->guid, guid) != 0 || w->write > write) {
            f->list[kept++] = *w;
            continue;
        }
        const struct request q = {.id = w->request};
        answer(&q, *why ? 503 : 200, *why ? why : arena_strdup(out->arena, w->text), out);
        free(w->text);
    }
    f->count = kept;
}

void tools_face_written(struct tools_face *f, const char *guid, uint64_t write, const char *why,
                        struct effects *out)
{
    answer_waiting(f, guid, write, *why ? arena_printf(out->arena, "%s\n", why) : "", out);
}

void tools_face_dropped(struct tools_face *f, const char *guid, struct effects *out)
{
    answer_waiting(f, guid, UINT64_MAX, "its container has gone\n", out);
}

void tools_face_hangup(struct tools_face *f, uint64_t request)
{
    for (size_t i = 0; i < f->count; i++) {
        if (f->list[i].request == request) {
            free(f->list[i].text);
            memmove(&f->list[i], &f->list[i + 1], (f->count - i - 1) * sizeof(f->list[0]));
            f->count--;
            return;
        }
    }
}
