#include "common/client/boards.h"

#include "common/codec/scan.h"

#include <assert.h>
#include <string.h>

/* Takes one entry of the list: without surrounding blanks and trailing slashes. */
static int add(struct boards *b, struct arena *a, const char *from, size_t size, struct err *err)
{
    static const char scheme[] = "https://";
    while (size && *from == ' ') {
        from++;
        size--;
    }
    while (size && (from[size - 1] == ' ' || from[size - 1] == '/')) {
        size--;
    }
    if (size < sizeof(scheme) || strncmp(from, scheme, sizeof(scheme) - 1) != 0) {
        return err_set(err, ERR_INVALID, "bbs address \"%.*s\" is not https://HOST:PORT",
                       (int)(size < 100 ? size : 100), from);
    }
    if (b->count == BOARDS_MAX) {
        return err_set(err, ERR_INVALID, "more than %d bbs addresses", BOARDS_MAX);
    }
    b->urls[b->count++] = arena_strndup(a, from, size);
    return 0;
}

int boards_init(struct boards *b, struct arena *a, const char *list, uint64_t *next_call_id,
                struct err *err)
{
    struct boards made = {.next_call_id = next_call_id};
    if (!list || !*list) {
        return err_set(err, ERR_INVALID, "no bbs address is given");
    }
    for (const char *at = list; at;) {
        const char *comma = strchr(at, ',');
        int code = add(&made, a, at, comma ? (size_t)(comma - at) : strlen(at), err);
        if (code < 0) {
            return code;
        }
        at = comma ? comma + 1 : NULL;
    }
    assert(made.count > 0);
    *b = made;
    return 0;
}

const char *boards_url(const struct boards *b)
{
    assert(b->current < b->count);
    return b->urls[b->current];
}

void boards_failed(struct boards *b, const char *url)
{
    if (url && strcmp(boards_url(b), url) == 0) {
        b->current = (b->current + 1) % b->count;
    }
}

uint64_t boards_next_id(struct boards *b)
{
    assert(*b->next_call_id != 0);
    return (*b->next_call_id)++;
}

uint64_t boards_call(struct boards *b, struct effects *out, const char *path, const char *trace_id,
                     const ProtobufCMessage *m, int64_t deadline_ns)
{
    uint64_t id = boards_next_id(b);
    const char *url = arena_printf(out->arena, "%s%s", boards_url(b), path);
    effects_call_message(out, id, url, trace_id, m, deadline_ns);
    out->list[out->count - 1].call.identity = b->identity;
    return id;
}

const ProtobufCMessage *boards_answer(struct arena *a, const struct response *response,
                                      const ProtobufCMessageDescriptor *descriptor,
                                      size_t decoded_max, const char **ret_why)
{
    ProtobufCMessage *m;
    struct err err;
    if (response->outcome != CALL_ANSWERED) {
        *ret_why = response->text;
    } else if (response->status != 200) {
        *ret_why = arena_printf(a, "answered %d", response->status);
    } else if (scan_and_unpack_answer(a, descriptor, response->body, decoded_max, &m, &err) < 0) {
        *ret_why = arena_strdup(a, err.text);
    } else {
        return m;
    }
    return NULL;
}
