#include "test/fuzz/bending.h"

#include <string.h>

/* How many things may happen at one moment of virtual time. */
enum { AT_ONE_MOMENT_MAX = 20000, PIECE_MAX = 4096 };

/* ---- bytes ----------------------------------------------------------------------------------- */

static size_t place_in(struct bytes *in, size_t size)
{
    size_t place = fuzz_byte(in);
    place |= (size_t)fuzz_byte(in) << 8;
    return size ? place % size : 0;
}

/* What stands before `from`, the piece, and what stands from `to` on. */
static struct bytes spliced(struct arena *a, struct bytes b, size_t from, struct bytes piece,
                            size_t to)
{
    SCOPED_BUF(out);
    buf_append(&out, b.data, from);
    buf_append(&out, piece.data, piece.size);
    buf_append(&out, b.data + to, b.size - to);
    struct bytes made = {arena_copy(a, out.data, out.size), out.size};
    return made;
}

enum bend { BEND_BYTE, BEND_CUT, BEND_OUT, BEND_IN, BEND_TWICE, BEND_WHOLE, BEND_COUNT };

struct bytes fuzz_bent_bytes(struct arena *a, struct bytes b, struct bytes *in)
{
    enum bend how = b.size ? (enum bend)(fuzz_byte(in) % BEND_COUNT) : BEND_WHOLE;
    size_t at = place_in(in, b.size);
    struct bytes piece = {0};
    uint8_t byte;
    switch (how) {
    case BEND_BYTE:
        byte = fuzz_byte(in);
        piece = (struct bytes){&byte, 1};
        return spliced(a, b, at, piece, at + 1);
    case BEND_CUT:
        return spliced(a, b, at, piece, b.size);
    case BEND_OUT:
        return spliced(a, b, at, piece, at + place_in(in, b.size - at + 1));
    case BEND_TWICE:
        piece = (struct bytes){b.data + at, b.size - at < PIECE_MAX ? b.size - at : PIECE_MAX};
        return spliced(a, b, at, piece, at);
    case BEND_IN:
        return spliced(a, b, at, fuzz_piece(in), at);
    default:
        piece = fuzz_piece(in);
        return (struct bytes){arena_copy(a, piece.data, piece.size), piece.size};
    }
}

const char *fuzz_bent_text(struct arena *a, const char *text, struct bytes *in)
{
    struct bytes b = fuzz_bent_bytes(a, bytes_of(text), in);
    return arena_strndup(a, (const char *)b.data, b.size);
}

/* ---- events and time ---------------------------------------------------------------------------
 */

void fuzz_bend_response(struct response *r, struct arena *a, struct bytes *in)
{
    static const int statuses[] = {200, 202, 204, 304, 400, 401, 403, 404, 409, 500, 503, 599};
    unsigned how = fuzz_byte(in);
    if (how < 8) {
        r->outcome = how % 2 ? CALL_REFUSED : CALL_UNKNOWN;
        r->status = 0;
        r->body = (struct bytes){0};
    } else if (r->outcome == CALL_ANSWERED) {
        if (how < 64) {
            r->status = statuses[how % (sizeof(statuses) / sizeof(statuses[0]))];
        }
        r->body = fuzz_bent_bytes(a, r->body, in);
        r->etag = how % 4 == 0 ? fuzz_bent_text(a, r->etag, in) : r->etag;
        r->content_type = how % 8 == 1 ? fuzz_bent_text(a, r->content_type, in) : r->content_type;
    }
}

void fuzz_go_on(struct world *w, int64_t duration_ns)
{
    int64_t until_ns = world_now(w) + duration_ns;
    int64_t at_ns = world_now(w);
    unsigned steps = 0;
    while (world_step(w, until_ns)) {
        steps = world_now(w) > at_ns ? 0 : steps + 1;
        at_ns = world_now(w);
        FUZZ_REQUIRE(steps < AT_ONE_MOMENT_MAX);
    }
}

void fuzz_restart(struct world *w, struct node *n)
{
    if (node_up(n)) {
        world_kill(w, n);
    }
    world_start(w, n);
}
