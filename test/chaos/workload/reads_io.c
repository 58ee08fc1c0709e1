/* The board's feed of one bbs, from its first snapshot to the end of the run, with each break and
 * each snapshot marked. */
#include "test/chaos/workload/work.h"

#include "bbs/cli/frames.h"
#include "board.pb-c.h"
#include "common/model/keys.h"
#include "test/chaos/workload/event_line.h"

#include <stdio.h>
#include <string.h>

enum { SILENCE_MS = 3500, AGAIN_MS = 250 };

struct feed_reader {
    struct worker *worker;
    struct recorder *recorder;
    struct frames frames;
    char generation[64];
    int64_t position; /* all up to it is recorded */
    uint64_t mark;    /* of the snapshot that comes; 0 = none */
    bool bad;
};

static void tell(struct feed_reader *r, const char *kind, const char *name, const char *text)
{
    json_t *line = json_pack("{s:s, s:s, s:I}", "kind", kind, "bbs", r->worker->bbs->name, "at",
                             (json_int_t)chaos_now_ns());
    json_object_set_new(line, name, json_string(text));
    json_object_set_new(line, "revision", json_integer((json_int_t)r->position));
    record(r->recorder, line);
}

static void take_record(struct feed_reader *r, struct arena *a, const Board__FeedFrame *frame)
{
    struct route route;
    json_t *line = event_line(a, frame, &route);
    json_object_set_new(line, "bbs", json_string(r->worker->bbs->name));
    json_object_set_new(line, "at", json_integer((json_int_t)chaos_now_ns()));
    record(r->recorder, line);
    if (route.process[0] && frame->kind == BOARD__FEED_FRAME__KIND__DELETE) {
        routes_drop(r->worker->work->routes, frame->key, frame->revision);
    } else if (route.process[0]) {
        routes_put(r->worker->work->routes, frame->key, &route, r->mark);
    }
    if (strcmp(frame->key, "lead/converger") == 0 &&
        frame->kind != BOARD__FEED_FRAME__KIND__DELETE) {
        lead_note(r->worker->work, r->generation, frame->create_revision);
    }
    if (frame->kind != BOARD__FEED_FRAME__KIND__RECORD && frame->revision > r->position) {
        r->position = frame->revision - 1; /* more of the same revision may follow */
    }
}

static void take_frame(void *reader, struct arena *a, const Board__FeedFrame *frame)
{
    struct feed_reader *r = reader;
    switch (frame->kind) {
    case BOARD__FEED_FRAME__KIND__RESET:
        r->mark = routes_mark(r->worker->work->routes);
        snprintf(r->generation, sizeof(r->generation), "%s", frame->board_generation);
        tell(r, "reset", "generation", r->generation);
        break;
    case BOARD__FEED_FRAME__KIND__CURRENT:
        r->position = frame->revision;
        routes_sweep(r->worker->work->routes, r->mark, frame->revision);
        r->mark = 0;
        tell(r, "current", "generation", frame->board_generation);
        break;
    case BOARD__FEED_FRAME__KIND__HEARTBEAT:
        r->position = frame->revision;
        break;
    case BOARD__FEED_FRAME__KIND__NONE:
        break;
    default:
        take_record(r, a, frame);
    }
}

static int take(void *reader, struct bytes bytes)
{
    struct feed_reader *r = reader;
    struct err err = {0};
    int result = frames_take(&r->frames, bytes, take_frame, r, &err);
    r->bad = result < 0;
    return result;
}

static void follow(struct feed_reader *r)
{
    static const enum record_type types[] = {RECORD_ACTUAL, RECORD_DESIRED, RECORD_TASK,
                                             RECORD_DOMAIN, RECORD_CELL,    RECORD_LEADER_LOCK,
                                             RECORD_LIMITER};
    enum { TYPES = sizeof(types) / sizeof(types[0]) };
    Board__Selector selectors[TYPES], *list[TYPES];
    Board__FeedRequest request = BOARD__FEED_REQUEST__INIT;
    for (int i = 0; i < TYPES; i++) {
        board__selector__init(&selectors[i]);
        selectors[i].type = (char *)record_type_name(types[i]);
        list[i] = &selectors[i];
    }
    request.selectors = list;
    request.n_selectors = TYPES;
    request.board_generation = r->generation;
    request.revision = r->position;
    frames_connect(&r->frames);
    struct worker *w = r->worker;
    const char *why = caller_stream(w->caller, w->bbs->url, "/v1/board/feed", &request.base,
                                    SILENCE_MS, take, r, &w->work->stop);
    tell(r, "gap", "why", r->bad ? "no feed" : why);
}

void *work_reads(void *worker)
{
    struct worker *w = worker;
    char name[80];
    snprintf(name, sizeof(name), "feed-%s", w->bbs->name);
    struct feed_reader r = {.worker = w, .recorder = recorder_open(w->work->dir, name)};
    frames_init(&r.frames);
    while (!atomic_load(&w->work->stop)) {
        follow(&r);
        chaos_sleep_ms(AGAIN_MS);
    }
    frames_done(&r.frames);
    recorder_close(r.recorder);
    return NULL;
}
