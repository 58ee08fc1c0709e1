#include "auctioneer/cli/message_list_io.h"

#include "common/appfile/app_file_io.h"
#include "common/codec/json.h"

#include <string.h>

enum { MESSAGE_LIST_READ = CODEC_OWN | CODEC_SNAKE_CASE };

static int read_lines(struct arena *a, const char *at, struct message_list *l, struct err *err)
{
    size_t lines = 1;
    for (const char *c = at; *c; c++) {
        lines += *c == '\n';
    }
    l->list = ARENA_ARRAY(a, lines, ProtobufCMessage *);
    for (; *at; at += strspn(at, " \t\r\n")) {
        size_t size = strcspn(at, "\n");
        struct bytes line = {.data = (const uint8_t *)at, .size = size};
        if (json_decode(a, l->type, line, MESSAGE_LIST_READ, &l->list[l->count], err) < 0) {
            return err_prefix(err, "%s %zu", l->noun, l->count + 1);
        }
        l->count++;
        at += size;
    }
    return 0;
}

int message_list_read(struct arena *a, const char *file, struct message_list *l, struct err *err)
{
    struct bytes text;
    int r = app_file_read(a, file, &text, err);
    if (r < 0) {
        return r;
    }
    const char *at = arena_strndup(a, (const char *)text.data, text.size);
    at += strspn(at, " \t\r\n");
    r = *at == '[' ? json_decode_list(a, l->type, bytes_of(at), MESSAGE_LIST_READ, &l->list,
                                      &l->count, err)
                   : read_lines(a, at, l, err);
    return r < 0 ? err_prefix(err, "%.100s", file) : 0;
}
