#include "common/base/memory.h"
#include "test/chaos/chaos.h"
#include "test/chaos/judge/report.h"
#include "test/chaos/workload/recorder_io.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 256 };

static int read_file(struct history *h, const char *dir, const char *name, struct err *err)
{
    char file[4096];
    char *line = NULL;
    size_t room = 0;
    ssize_t size;
    int r = 0;
    snprintf(file, sizeof(file), "%s/history/%s", dir, name);
    FILE *from = fopen(file, "r");
    if (!from) {
        return err_set(err, ERR_IO, "cannot read %.120s: %s", file, strerror(errno));
    }
    struct place place = {chaos_history_text(h, name), 0};
    while (r == 0 && (size = getline(&line, &room, from)) > 0) {
        place.line++;
        if (line[size - 1] != '\n') {
            r = err_set(err, ERR_INVALID, "%.80s:%d: the last line is not whole", name, place.line);
        } else {
            r = chaos_history_take(h, place, line, (size_t)size - 1, err);
        }
    }
    if (r == 0 && ferror(from)) {
        r = err_set(err, ERR_IO, "cannot read %.120s: %s", file, strerror(errno));
    }
    free(line);
    fclose(from);
    return r;
}

static int is_history(const struct dirent *d)
{
    size_t size = strlen(d->d_name);
    return size > 6 && strcmp(d->d_name + size - 6, ".jsonl") == 0;
}

static int read_all(struct history *h, const char *dir, struct err *err)
{
    char path[4096];
    struct dirent **files;
    int r = 0;
    snprintf(path, sizeof(path), "%s/history", dir);
    int count = scandir(path, &files, is_history, alphasort);
    if (count < 0) {
        return err_set(err, ERR_IO, "cannot read %.160s: %s", path, strerror(errno));
    }
    if (count == 0 || count > FILES_MAX) {
        r = err_set(err, ERR_INVALID, "%.160s has %d files of history; 1 to %d are well", path,
                    count, FILES_MAX);
    }
    for (int i = 0; i < count; i++) {
        r = r < 0 ? r : read_file(h, dir, files[i]->d_name, err);
        free(files[i]);
    }
    free(files);
    return r;
}

static int write_file(const char *dir, const char *name, const struct buf *text)
{
    char file[4096];
    snprintf(file, sizeof(file), "%s/%s", dir, name);
    FILE *to = fopen(file, "w");
    if (!to || fwrite(text->data, 1, text->size, to) != text->size || fclose(to) != 0) {
        fprintf(stderr, "chaos judge: cannot write %s: %s\n", file, strerror(errno));
        return -1;
    }
    return 0;
}

static int judge(struct history *h, const char *dir, int64_t begun_ns)
{
    struct verdict v;
    struct board b;
    SCOPED_BUF(text);
    SCOPED_BUF(table);
    SCOPED_BUF(drawing);
    chaos_history_close(h);
    verdict_init(&v);
    chaos_board_init(&b, h);
    chaos_check_calls(h, &v);
    chaos_check_containers(h, &b, &v);
    chaos_check_orphans(h, &b, &v);
    chaos_check_board(h, &b, &v);
    chaos_check_rest(h, &b, &v);
    struct recovery *recoveries = chaos_check_recoveries(h, &b, &v);
    report_table(h, &b, recoveries, &table);
    report_drawing(h, &b, recoveries, &drawing);
    report_text(h, &v, recoveries, (double)(chaos_now_ns() - begun_ns) / 1e9, &text);
    fwrite(text.data, 1, text.size, stdout);
    int wrote = write_file(dir, "timeline.txt", &table) + write_file(dir, "timeline.svg", &drawing);
    int found = verdict_count(&v);
    printf("%s: %d violations\n", found ? "VIOLATED" : "good", found);
    free(recoveries);
    chaos_board_done(&b);
    verdict_done(&v);
    return found ? CHAOS_VIOLATION : wrote ? CHAOS_USAGE : CHAOS_GOOD;
}

int chaos_judge(int argc, char **argv)
{
    struct err err = {0};
    struct history h;
    if (argc != 2 || argv[1][0] == '-') {
        bool asked = argc == 2 && strcmp(argv[1], "--help") == 0;
        fprintf(asked ? stdout : stderr,
                "chaos judge DIR\n\nJudges the history in DIR/history, and writes DIR/timeline.svg "
                "and DIR/timeline.txt.\nExit status: 0 good, 1 a promise was broken, 2 the history "
                "cannot be read.\n");
        return asked ? CHAOS_GOOD : CHAOS_USAGE;
    }
    int64_t begun_ns = chaos_now_ns();
    chaos_history_init(&h);
    int status = CHAOS_USAGE;
    if (read_all(&h, argv[1], &err) < 0) {
        fprintf(stderr, "chaos judge: %s\n", err.text);
    } else {
        status = judge(&h, argv[1], begun_ns);
    }
    chaos_history_done(&h);
    return status;
}
