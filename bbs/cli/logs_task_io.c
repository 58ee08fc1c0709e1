/* bbs logs --task: one that is over is on no cell any more, and then all of them are asked. */
#include "bbs/cli/logs_io.h"
#include "bbs/cli/task_calls_io.h"
#include "common/cli/cli_io.h"

#include <stdio.h>

enum {
    RETRY_MS = 500,
    RESUME_MS = 30 * 1000, /* for a cell that went silent while it was followed */
};

static int not_kept(const struct logs *l, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "no output of a task \"%.60s\" is kept; bbs tasks shows all",
                   l->name);
}

/* A rep that was restarted is followed on: its container runs on. What was written meanwhile is in
 * its files only. */
static void read_on(struct log_reader *r)
{
    int64_t lost_ms = cli_now_ms();
    fprintf(stderr, "bbs: %s: its cell does not answer; trying on, lines may be missing\n",
            r->text.source->label);
    while (r->result == -ERR_UNAVAILABLE && !cli_interrupted() &&
           cli_now_ms() - lost_ms < RESUME_MS) {
        size_t taken = r->taken;
        cli_sleep_ms(RETRY_MS);
        log_reader_read(r, 0, true, RESUME_MS);
        lost_ms = r->taken > taken || r->answered ? cli_now_ms() : lost_ms;
    }
}

/* What the cell of this source has of it; *ret_taken says if that was something. */
static int read_stream(struct logs *l, const struct log_source *source, bool follow,
                       pthread_mutex_t *printing, bool *ret_taken, struct err *err)
{
    struct log_reader r;
    log_reader_init(&r, l, source);
    r.printing = printing;
    log_reader_read(&r, l->lines, follow, session_left_ms(l->s));
    if (follow && r.result == -ERR_UNAVAILABLE && r.answered) {
        read_on(&r);
    }
    *ret_taken = r.taken > 0;
    log_reader_done(&r);
    if (cli_interrupted()) {
        return err_set(err, ERR_UNKNOWN, "interrupted");
    }
    return r.result < 0 ? err_set(err, (enum err_code) - r.result, "%.60s on %.60s: %.150s",
                                  source->label, source->cell_id, r.err.text)
                        : 0;
}

/* The second stream, when both are followed at once. */
struct beside {
    struct logs *logs;
    struct log_source source;
    pthread_mutex_t *printing;
    bool taken;
    int result;
    struct err err;
};

static void *read_beside(void *beside)
{
    struct beside *b = beside;
    b->result = read_stream(b->logs, &b->source, true, b->printing, &b->taken, &b->err);
    return NULL;
}

/* One after the other, but for those that are followed. */
static int read_one(struct logs *l, const struct log_source *source, bool follow, bool *ret_taken,
                    struct err *err)
{
    const char *streams[LOGS_STREAMS];
    size_t count = logs_streams(l, streams);
    struct log_source one = *source;
    pthread_mutex_t printing = PTHREAD_MUTEX_INITIALIZER;
    struct beside b = {.logs = l, .source = *source, .printing = &printing};
    pthread_t thread;
    b.source.stream = streams[1];
    bool begun = follow && count == 2 && pthread_create(&thread, NULL, read_beside, &b) == 0;
    one.stream = streams[0];
    int r = read_stream(l, &one, follow, begun ? &printing : NULL, ret_taken, err);
    if (begun) {
        pthread_join(thread, NULL);
    } else if (count == 2 && r == 0) {
        b.result = read_stream(l, &b.source, follow, NULL, &b.taken, &b.err);
    }
    *ret_taken = *ret_taken || b.taken;
    if (r == 0 && b.result < 0) {
        *err = b.err;
        return b.result;
    }
    return r;
}

/* Cell after cell until one has it. One that does not answer may have had it, so this is what is
 * reported when none has. */
static int read_anywhere(struct logs *l, const char *guid, struct err *err)
{
    struct err kept;
    int worst = 0;
    for (size_t i = 0; i < l->cell_count; i++) {
        bool taken;
        const struct log_source source = {.label = l->name,
                                          .instance_guid = guid,
                                          .cell_id = l->cells[i]->cell_id,
                                          .url = l->cells[i]->rep_url,
                                          .index = -1};
        int r = read_one(l, &source, false, &taken, err);
        if (r == 0 || taken || cli_interrupted()) {
            return r;
        }
        if (r != -ERR_NOT_FOUND) {
            worst = r;
            kept = *err;
        }
    }
    if (worst < 0) {
        *err = kept;
        return worst;
    }
    return not_kept(l, err);
}

int logs_of_one(struct logs *l, struct log_source source, struct err *err)
{
    bool taken;
    int r = logs_add(l, source, err);
    return r < 0 ? r : read_one(l, &l->sources[0], l->follow, &taken, err);
}

int logs_task(struct logs *l, struct err *err)
{
    Models__Task *task = NULL;
    bool taken;
    const char *name = l->name;
    int r = session_task(l->s, name, &task, err);
    if (r < 0 && r != -ERR_NOT_FOUND) {
        return r;
    }
    const char *guid = task ? task->task_guid : name;
    if (task && task->state == MODELS__TASK__STATE__Pending) {
        return err_set(err, ERR_NOT_FOUND, "%.60s waits for a cell: bbs why --task %.60s", name,
                       guid);
    }
    if (!task || !*task->cell_id) {
        return read_anywhere(l, guid, err);
    }
    r = logs_add(l,
                 (struct log_source){
                     .label = name, .instance_guid = guid, .cell_id = task->cell_id, .index = -1},
                 err);
    r = r < 0 ? r : read_one(l, &l->sources[0], l->follow, &taken, err);
    return r == -ERR_NOT_FOUND ? not_kept(l, err) : r;
}
