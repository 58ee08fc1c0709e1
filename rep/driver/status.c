/* Reading what a shim writes. */
#include "rep/driver/status.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

int status_parse(struct bytes file, struct ending *ret, struct err *err)
{
    char text[STATUS_TEXT_BYTES + 256];
    struct ending e = {0};
    int oom = 0, at = 0;
    if (file.size == 0 || file.size >= sizeof(text)) {
        return err_set(err, ERR_INVALID, "a status of %zu bytes is none", file.size);
    }
    memcpy(text, file.data, file.size);
    text[file.size] = '\0';
    int fields = sscanf(text, "code %d signal %d oom %d%n", &e.code, &e.signal, &oom, &at);
    if (fields == 3 && strncmp(text + at, "\ndisk 1", 7) == 0) { /* only if it is so */
        e.disk_full = true;
        at += 7;
    }
    if (fields != 3 || strncmp(text + at, "\ntext ", 6) != 0) {
        return err_set(err, ERR_INVALID, "the status is not what a shim writes");
    }
    e.oom_killed = oom != 0;
    snprintf(e.text, sizeof(e.text), "%.*s", (int)strcspn(text + at + 6, "\n"), text + at + 6);
    *ret = e;
    return 0;
}

static struct bytes rest(struct bytes sent, size_t from)
{
    assert(from <= sent.size);
    return (struct bytes){sent.data + from, sent.size - from};
}

static int64_t number_at(struct bytes text)
{
    int64_t n = 0;
    for (size_t i = 0; i < text.size && text.data[i] >= '0' && text.data[i] <= '9' && i < 18; i++) {
        n = n * 10 + (text.data[i] - '0');
    }
    return n;
}

struct shim_report report_parse(struct bytes sent, bool whole)
{
    struct shim_report r = {REPORT_NONE};
    const uint8_t *end = sent.size ? memchr(sent.data, '\n', sent.size) : NULL;
    size_t line = end ? (size_t)(end - sent.data) : sent.size;
    if (sent.size == 0 || (!end && !whole)) {
        return r;
    }
    if (sent.data[0] == 'F') {
        return (struct shim_report){REPORT_FAILED, 0, rest(sent, sent.size > 1 ? 2 : 1)};
    }
    if (sent.data[0] == 'S') {
        r = (struct shim_report){REPORT_STARTED, number_at(rest(sent, line > 1 ? 2 : line))};
        if (end && whole) {
            struct shim_report last = report_parse(rest(sent, line + 1), true);
            return last.kind == REPORT_NONE ? r : last;
        }
        return r;
    }
    if (sent.data[0] == 'X' && line > 2 && whole) {
        return (struct shim_report){REPORT_EXITED, number_at(rest(sent, 2)),
                               rest(sent, end ? line + 1 : line)};
    }
    return r;
}
