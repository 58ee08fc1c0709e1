#include "rep/driver/output_parts.h"

#include "rep/driver/driver_io.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_BYTES = 64 * 1024 };

static int open_number(const struct output_file *f, int number)
{
    char name[64];
    snprintf(name, sizeof(name), number ? "%s.%d" : "%s", f->name, number);
    return openat(f->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/* Which number the file that is read has now: -1 when it was deleted; then *ret_oldest is the
 * highest there is. */
static int number_of(const struct output_file *f, int *ret_oldest)
{
    struct stat mine, st;
    int found = -1;
    *ret_oldest = 0;
    if (fstat(f->fd, &mine) < 0) {
        return -1;
    }
    for (int i = 0; i < DRIVER_LOG_FILES_MAX; i++) {
        int fd = open_number(f, i);
        if (fd < 0) {
            continue; /* amid a rotation the newest is missing for a moment */
        }
        *ret_oldest = i;
        if (fstat(fd, &st) == 0 && same_file(&mine, &st)) {
            found = i;
        }
        close(fd);
    }
    return found;
}

/* ---- Where to begin ---- */

/* How many line feeds stand before `end` of a file, from its end on, until there are `wanted`;
 * *ret_at is where the line begins that follows the last one found. */
static int64_t count_back(int fd, off_t end, int64_t wanted, int64_t *budget, off_t *ret_at)
{
    static const off_t block = BLOCK_BYTES;
    char data[BLOCK_BYTES];
    int64_t found = 0;
    while (end > 0 && *budget > 0) {
        off_t from = end > block ? end - block : 0;
        ssize_t n = pread(fd, data, (size_t)(end - from), from);
        if (n <= 0) {
            break;
        }
        *budget -= n;
        for (ssize_t i = n; i > 0; i--) {
            if (data[i - 1] == '\n' && ++found == wanted) {
                *ret_at = from + i;
                return found;
            }
        }
        end = from;
    }
    *ret_at = end;
    return found;
}

/* Without its last byte, which ends the last line if it is a line feed. */
static off_t end_of(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? st.st_size : 0;
}

static void begin_at(struct output_file *f, int fd, off_t at)
{
    if (f->fd >= 0) {
        close(f->fd);
    }
    f->fd = fd;
    lseek(fd, at, SEEK_SET);
}

static void begin_before(struct output_file *f, int64_t lines)
{
    int64_t budget = OUTPUT_TAIL_BYTES;
    bool newest = true;
    for (int i = 0; i < DRIVER_LOG_FILES_MAX; i++) {
        int fd = open_number(f, i);
        if (fd < 0) {
            continue;
        }
        off_t end = end_of(fd), at = end;
        off_t last = newest && end > 0 ? end - 1 : end;
        if (lines > 0) {
            lines -= count_back(fd, last, lines, &budget, &at);
        }
        newest = false;
        begin_at(f, fd, at);
        if (lines <= 0 || budget <= 0) {
            return;
        }
    }
}

static void begin_at_oldest(struct output_file *f)
{
    for (int i = DRIVER_LOG_FILES_MAX - 1; i >= 0 && f->fd < 0; i--) {
        f->fd = open_number(f, i);
    }
}

void output_file_open(struct output_file *f, int dir, const char *name, int64_t lines)
{
    *f = (struct output_file){.dir = dir, .name = name, .fd = -1};
    buf_init(&f->rest);
    if (lines >= 0) {
        begin_before(f, lines);
        return;
    }
    begin_at_oldest(f);
}

/* ---- Where to begin in a log of both streams ---- */

/* How many lines were passed on the way back, of each stream or of all that is wanted. */
struct passed {
    const struct output_choice *choice;
    int64_t wanted;
    bool together;
    bool needed[2];
    bool seen[2];     /* something of it was; what ends the log without an end is a line, too */
    int64_t count[2]; /* of which one may be where it stopped */
    int last;         /* the stream of that */
};

static bool has_all(const struct passed *p)
{
    for (int i = 0; i < 2; i++) {
        if (p->needed[i] && p->count[i] <= p->wanted) {
            return false;
        }
    }
    return true;
}

static bool pass(void *passed, struct bytes line)
{
    struct passed *p = passed;
    struct log_line_parts parts;
    if (!log_line_parse(line, &parts)) {
        return false;
    }
    if (p->choice->since[0] && memcmp(parts.time, p->choice->since, LOG_TIME_SIZE) < 0) {
        p->last = -1;
        return true;
    }
    if (!output_chosen(p->choice, &parts)) {
        return false;
    }
    int which = p->together ? 0 : parts.to_stderr;
    p->count[which] += parts.whole || !p->seen[which];
    p->seen[which] = true;
    p->last = which;
    return has_all(p);
}

/* Of the stream that has more than it needs the first ones are left out. */
static void leave_out(const struct passed *p, bool stopped, struct output_text *text)
{
    for (int i = 0; i < 2 && !p->together; i++) {
        int64_t after = p->count[i] - (stopped && p->last == i);
        text->skip[i] = after > p->wanted ? after - p->wanted : 0;
    }
}

static void begin_before_last(struct output_file *f, struct passed *p, struct output_text *text)
{
    int64_t budget = OUTPUT_TAIL_BYTES;
    bool stopped = false;
    for (int i = 0; i < DRIVER_LOG_FILES_MAX && !stopped && budget > 0; i++) {
        int fd = open_number(f, i);
        if (fd >= 0) {
            off_t at = end_of(fd);
            stopped = output_walk_back(fd, at, &budget, pass, p, &at);
            begin_at(f, fd, at);
        }
    }
    leave_out(p, stopped, text);
}

static void begin_at_time(struct output_file *f, const char *since)
{
    for (int i = 0; i < DRIVER_LOG_FILES_MAX; i++) {
        int fd = open_number(f, i);
        if (fd >= 0 && output_begins_before(fd, since)) {
            begin_at(f, fd, output_since(fd, end_of(fd), since));
            return;
        } else if (fd >= 0) {
            begin_at(f, fd, 0);
        }
    }
}

void output_file_open_log(struct output_file *f, int dir, const struct output_request *wanted,
                          struct output_text *text)
{
    *f = (struct output_file){.dir = dir, .name = LOG_FILE, .fd = -1};
    buf_init(&f->rest);
    if (wanted->tail > 0 || wanted->lines > 0) {
        struct passed p = {
            .choice = &text->choice,
            .wanted = wanted->tail > 0 ? wanted->tail : wanted->lines,
            .together = wanted->tail > 0,
        };
        p.needed[0] = p.together || wanted->stream != OUTPUT_STDERR;
        p.needed[1] = !p.together && wanted->stream != OUTPUT_STDOUT;
        begin_before_last(f, &p, text);
    } else if (wanted->lines == 0) {
        begin_before(f, 0);
    } else if (text->choice.since[0]) {
        begin_at_time(f, text->choice.since);
    } else {
        begin_at_oldest(f);
    }
}

void output_file_close(struct output_file *f)
{
    if (f->fd >= 0) {
        close(f->fd);
    }
    f->fd = -1;
    buf_done(&f->rest);
}

/* ---- Reading ---- */

static void give_lines(struct output_file *f, struct buf *out)
{
    const uint8_t *end = f->rest.size ? memrchr(f->rest.data, '\n', f->rest.size) : NULL;
    size_t size = end ? (size_t)(end - f->rest.data) + 1 : 0;
    if (f->rest.size - size >= OUTPUT_LINE_BYTES) {
        size = f->rest.size;
    }
    if (size > 0) {
        buf_append(out, f->rest.data, size);
        buf_consume(&f->rest, size);
    }
}

static void give_rest(struct output_file *f, struct buf *out)
{
    if (f->rest.size > 0) {
        buf_append(out, f->rest.data, f->rest.size);
        buf_append_string(out, "\n");
        buf_clear(&f->rest);
    }
}

/* At the end of a file: the one that was begun after it, if there is one. Whoever began before
 * there
 * was any begins with the first: that may have been rotated since. */
static bool next_file(struct output_file *f, struct buf *out)
{
    if (f->fd < 0) {
        begin_at_oldest(f);
        return f->fd >= 0;
    }
    int oldest, number = number_of(f, &oldest);
    if (number == 0) {
        return false;
    }
    int next = number > 0 ? number - 1 : oldest;
    int fd = open_number(f, next);
    if (fd < 0) {
        return false;
    }
    if (number < 0) {
        give_rest(f, out);
        buf_append_string(out, "-- corkboard: lines were rotated away here, unread --\n");
    }
    begin_at(f, fd, 0);
    return true;
}

bool output_file_read(struct output_file *f, struct buf *out, size_t max, bool last)
{
    size_t before = out->size;
    bool moved = true; /* since the end of the file was seen last */
    while (out->size - before < max && !f->done) {
        uint8_t block[BLOCK_BYTES];
        ssize_t n = f->fd < 0 ? 0 : read(f->fd, block, sizeof(block));
        if (n > 0) {
            buf_append(&f->rest, block, (size_t)n);
            give_lines(f, out);
            moved = true;
        } else if (moved && f->fd >= 0) {
            moved = false; /* once more: the last words before a rotation */
            int oldest;
            if (number_of(f, &oldest) == 0) {
                break;
            }
        } else if (next_file(f, out)) {
            moved = true;
        } else {
            break;
        }
    }
    if (last && out->size - before < max) {
        give_rest(f, out);
        f->done = true;
    }
    return out->size > before;
}
