#include "bbs/rest/log_query.h"

#include "common/base/query.h"
#include "common/base/time_text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_SHOWN = 40 };

static const char *const names[] = {"instance",   "sidecar", "follow", "previous",
                                    "timestamps", "tail",    "since",  "sinceTime"};

/* The name of a parameter that there is not; NULL = all are known. */
static const char *unknown(struct arena *a, const char *query)
{
    for (const char *at = query; *at; at += *at == '&') {
        size_t size = strcspn(at, "&"), name = strcspn(at, "=&");
        bool known = size == 0;
        for (size_t i = 0; !known && i < sizeof(names) / sizeof(names[0]); i++) {
            known = strlen(names[i]) == name && memcmp(names[i], at, name) == 0;
        }
        if (!known) {
            return arena_strndup(a, at, name);
        }
        at += size;
    }
    return NULL;
}

static int read_switch(struct arena *a, const char *query, const char *name, bool *ret,
                       struct err *err)
{
    const char *value = query_value(a, query, name);
    bool on = value && (strcmp(value, "true") == 0 || strcmp(value, "1") == 0);
    if (value && !on && strcmp(value, "false") != 0 && strcmp(value, "0") != 0) {
        return err_set(err, ERR_INVALID, "%s is true or false, not \"%.*s\"", name, WORDS_SHOWN,
                       value);
    }
    *ret = on;
    return 0;
}

/* A number of 1 to `most`, in digits alone; -1 = it is none. */
static int64_t number_in(const char *text, size_t digits, int64_t most)
{
    int64_t value = digits > 0 && digits <= 10 ? strtoll(text, NULL, 10) : -1;
    return value > most ? -1 : value;
}

static int read_tail(struct arena *a, const char *query, const char **words, struct err *err)
{
    const char *tail = query_value(a, query, "tail");
    size_t digits = tail ? strspn(tail, "0123456789") : 0;
    int64_t lines = tail && !tail[digits] ? number_in(tail, digits, LOG_TAIL_MAX) : -1;
    if (tail && lines < 1) {
        return err_set(err, ERR_INVALID, "tail is a number from 1 to %d, not \"%.*s\"",
                       LOG_TAIL_MAX, WORDS_SHOWN, tail);
    }
    *words = tail ? arena_printf(a, "%s&tail=%lld", *words, (long long)lines) : *words;
    return 0;
}

/* "90s", "10m", "2h" */
static bool is_ago(const char *text)
{
    int64_t ns;
    size_t digits = strspn(text, "0123456789");
    return digits > 0 && text[digits] && strchr("smh", text[digits]) && !text[digits + 1] &&
           duration_parse(text, &ns);
}

static int read_since(struct arena *a, const char *query, const char **words, struct err *err)
{
    const char *since = query_value(a, query, "since"), *at = query_value(a, query, "sinceTime");
    int64_t ns;
    if (since && at) {
        return err_set(err, ERR_INVALID, "since and sinceTime: give one of them");
    }
    if (since && !is_ago(since)) {
        return err_set(err, ERR_INVALID, "since is how long ago, as 90s, 10m or 2h, not \"%.*s\"",
                       WORDS_SHOWN, since);
    }
    if (at && !wall_parse(at, &ns)) {
        return err_set(err, ERR_INVALID,
                       "sinceTime is a time in UTC, as 2026-01-02T03:04:05Z, not \"%.*s\"",
                       WORDS_SHOWN, at);
    }
    since = since ? since : at;
    *words = since ? arena_printf(a, "%s&since=%s", *words, since) : *words;
    return 0;
}

int log_query_read(struct arena *a, const char *query, struct log_query *ret, struct err *err)
{
    struct log_query q = {.index = -1,
                          .instance = query_value(a, query, "instance"),
                          .sidecar = query_value(a, query, "sidecar")};
    const char *other = unknown(a, query);
    bool times = false;
    if (other) {
        return err_set(err, ERR_INVALID,
                       "there is no parameter \"%.*s\", but instance, sidecar, follow, previous, "
                       "timestamps, tail, since and sinceTime",
                       WORDS_SHOWN, other);
    }
    int r = read_switch(a, query, "follow", &q.follow, err);
    r = r < 0 ? r : read_switch(a, query, "previous", &q.previous, err);
    r = r < 0 ? r : read_switch(a, query, "timestamps", &times, err);
    if (r == 0 && q.follow && q.previous) {
        r = err_set(err, ERR_INVALID,
                    "what has ended writes no more: previous or follow, not both");
    }
    q.words = arena_printf(a, "follow=%d%s", q.follow, times ? "&times=1" : "");
    r = r < 0 ? r : read_tail(a, query, &q.words, err);
    r = r < 0 ? r : read_since(a, query, &q.words, err);
    if (r < 0) {
        return r;
    }
    size_t digits = q.instance ? strspn(q.instance, "0123456789") : 0;
    q.index =
        digits > 0 && !q.instance[digits] ? (int32_t)number_in(q.instance, digits, INT32_MAX) : -1;
    assert(q.words[0] && q.index >= -1);
    *ret = q;
    return 0;
}
