/* Reads what containers wrote from their reps. */
#include "bbs/cli/logs_io.h"
#include "common/cli/cli_io.h"

#include <stdio.h>
#include <string.h>

const char *logs_url_of(const struct logs *l, const char *cell_id)
{
    for (size_t i = 0; i < l->cell_count; i++) {
        if (strcmp(l->cells[i]->cell_id, cell_id) == 0) {
            return l->cells[i]->rep_url;
        }
    }
    return NULL;
}

size_t logs_streams(const struct logs *l, const char *ret_streams[LOGS_STREAMS])
{
    bool each = l->s->json && !l->stream;
    ret_streams[0] = each ? "stdout" : l->stream;
    ret_streams[1] = each ? "stderr" : NULL;
    return each ? 2 : 1;
}

int logs_add(struct logs *l, struct log_source source, struct err *err)
{
    source.url = logs_url_of(l, source.cell_id);
    if (!source.url) {
        return err_set(err, ERR_UNAVAILABLE, "%.60s was on cell %.60s, which is not present",
                       source.label, source.cell_id);
    }
    const char *streams[LOGS_STREAMS];
    size_t count = logs_streams(l, streams);
    if (l->count == LOGS_FOLLOWED_MAX * count) {
        return err_set(err, ERR_TOO_LARGE, "more than %d instances; give an index",
                       LOGS_FOLLOWED_MAX);
    }
    for (size_t i = 0; i < count; i++) {
        source.stream = streams[i];
        l->sources[l->count++] = source;
    }
    return 0;
}

/* ---- One ---- */

void log_reader_init(struct log_reader *r, struct logs *l, const struct log_source *source)
{
    *r = (struct log_reader){.logs = l, .err = {.code = ERR_IO, .text = ""}};
    log_text_init(&r->text, source);
    r->text.json = l->s->json;
    r->text.times = l->times;
    r->text.terminal = l->terminal;
}

void log_reader_done(struct log_reader *r)
{
    log_text_done(&r->text);
}

static int show(struct log_reader *r, struct bytes bytes, bool end)
{
    SCOPED_BUF(out);
    int result = 0;
    if (r->printing) {
        pthread_mutex_lock(r->printing);
    }
    r->text.labelled = r->labelled ? *r->labelled : r->text.labelled;
    log_text_take(&r->text, bytes, &out);
    if (end) {
        log_text_end(&r->text, &out);
    }
    if (out.size && r->ahead) {
        buf_append(r->ahead, out.data, out.size);
    } else if (out.size) {
        result = cli_print(buf_bytes(&out), &r->err);
    }
    if (r->printing) {
        pthread_mutex_unlock(r->printing);
    }
    return result;
}

static int take(void *reader, struct bytes bytes)
{
    struct log_reader *r = reader;
    r->taken += bytes.size;
    int result = show(r, bytes, false);
    r->unwritable = result < 0;
    r->full = r->ahead && r->ahead->size > LOGS_AHEAD_MAX;
    return r->full ? err_set(&r->err, ERR_TOO_LARGE, "more than is read ahead") : result;
}

void log_reader_read(struct log_reader *r, int64_t lines, bool follow, int64_t limit_ms)
{
    const struct logs *l = r->logs;
    const struct log_source *source = r->text.source;
    struct cli_client *c = NULL;
    char number[32] = "";
    SCOPED_ARENA(a);
    if (lines < 0 && l->tail > 0) {
        snprintf(number, sizeof(number), "&tail=%lld", (long long)l->tail);
    } else if (lines >= 0) {
        snprintf(number, sizeof(number), "&lines=%lld", (long long)lines);
    }
    const char *path = arena_printf(
        &a, "/v1/logs/%.100s?follow=%d%s%s%s%s", source->instance_guid, follow, number,
        source->stream ? "&stream=" : "", source->stream ? source->stream : "", l->choice);
    r->answered = false;
    r->result = cli_client_open(l->call, source->url, &c, &r->err);
    if (r->result == 0) {
        cli_client_limit(c, limit_ms);
        cli_client_stop(c, r->stop);
        int64_t silence_ms = follow ? LOGS_SILENCE_MS : l->s->timeout_ms;
        r->result = cli_client_get_stream(c, path, silence_ms, take, r, &r->err);
        r->answered = cli_client_answered(c);
    }
    cli_client_close(c);
    if (r->result == 0) {
        r->result = show(r, (struct bytes){0}, true);
    }
}

/* ---- All ---- */

struct ahead {
    struct log_reader reader;
    struct buf out;
    pthread_t thread;
    bool begun;
};

static void *read_ahead(void *ahead)
{
    struct log_reader *r = &((struct ahead *)ahead)->reader;
    log_reader_read(r, r->logs->lines, false, session_left_ms(r->logs->s));
    return NULL;
}

/* In its turn. What was too much to be read ahead is read again, and shown as it comes. */
static int show_one(struct logs *l, struct ahead *one, struct err *err)
{
    const struct log_source *source = one->reader.text.source;
    /* Of two streams of a container, which stand beside each other, the first tells of it. */
    bool reported = source > l->sources && source[-1].instance_guid == source->instance_guid;
    if (source->removed_ns && !reported) {
        fprintf(stderr, "bbs: %s\n", logs_ended_text(&l->s->arena, source, cli_wall_ns()));
    }
    if (one->reader.full) {
        bool labelled = one->reader.text.labelled;
        log_reader_done(&one->reader);
        log_reader_init(&one->reader, l, source);
        one->reader.text.labelled = labelled;
        log_reader_read(&one->reader, l->lines, false, l->s->timeout_ms);
    } else if (one->out.size && cli_print(buf_bytes(&one->out), err) < 0) {
        return -ERR_IO;
    }
    return one->reader.result < 0
               ? err_set(err, (enum err_code) - one->reader.result, "%.60s on %.60s: %.150s",
                         source->label, source->cell_id, one->reader.err.text)
               : 0;
}

static void begin_all(struct logs *l, struct ahead *all)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, LOGS_STACK_BYTES);
    for (size_t i = 0; i < l->count; i++) {
        log_reader_init(&all[i].reader, l, &l->sources[i]);
        all[i].reader.text.labelled = l->count > 1;
        buf_init(&all[i].out);
        all[i].reader.ahead = &all[i].out;
        all[i].begun = pthread_create(&all[i].thread, &attributes, read_ahead, &all[i]) == 0;
        all[i].reader.full = !all[i].begun; /* then in its turn */
    }
    pthread_attr_destroy(&attributes);
}

int logs_read_all(struct logs *l, struct err *err)
{
    struct ahead *all = ARENA_ARRAY(&l->s->arena, l->count, struct ahead);
    int result = 0;
    begin_all(l, all);
    for (size_t i = 0; i < l->count; i++) {
        if (all[i].begun) {
            pthread_join(all[i].thread, NULL);
        }
        struct err one;
        int r = cli_interrupted() || result == -ERR_IO ? 0 : show_one(l, &all[i], &one);
        if (r < 0 && result < 0 && strcmp(err->text, one.text) != 0) {
            fprintf(stderr, "bbs: %s\n", err->text); /* the last one is reported by the caller */
        }
        if (r < 0) {
            result = r;
            *err = one;
        }
        log_reader_done(&all[i].reader);
        buf_done(&all[i].out);
    }
    return cli_interrupted() ? err_set(err, ERR_UNKNOWN, "interrupted") : result;
}
