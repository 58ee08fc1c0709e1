/* bbs backup: a snapshot of etcd in a file, whole or not at all (docs/restore.md). Talks to etcd
 * itself, so it works while no bbs does. */
#include "bbs/cli/commands_io.h"
#include "bbs/cli/snapshot.h"
#include "common/cli/cli_io.h"
#include "common/codec/json.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PART_BYTES = 64 * 1024, PROGRESS_MS = 200 };
#define BYTES_A_MB 1e6

const struct cli_option bbs_backup_options[] = {
    {.name = "etcd", .value = "URLS", .help = "etcd's servers, comma-separated"},
    {.name = "force", .help = "replace the file if it exists"},
    {.name = "verify", .help = "look whether FILE is a whole snapshot; asks no etcd"},
    {0},
};

struct backup {
    const struct invocation *call;
    const char *file;
    char *part; /* beside the file, until it is whole; in the call's arena */
    int fd;
    struct snapshot_file snapshot;
    struct cli_progress progress;
    int64_t shown_ms;
};

static int file_error(const struct backup *b, const char *what, struct err *err)
{
    return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "cannot %s %.120s: %s", what,
                   b->file, strerror(errno));
}

/* ---- What is told ---- */

static int print_snapshot(struct backup *b, struct err *err)
{
    char hash[2 * SNAPSHOT_HASH_BYTES + 1];
    const char *output = "table";
    int r = cli_choice(b->call, "output", &output, err);
    if (r < 0) {
        return r;
    }
    snapshot_hash_text(&b->snapshot, hash);
    SCOPED_BUF(text);
    if (strcmp(output, "json") == 0) {
        buf_append_string(&text, "{\"file\":");
        json_string_text((struct bytes){.data = (const uint8_t *)b->file, .size = strlen(b->file)},
                         &text);
        buf_printf(&text, ",\"bytes\":%llu,\"sha256\":\"%s\"}\n",
                   (unsigned long long)b->snapshot.size, hash);
    } else {
        buf_printf(&text, "%s: a whole snapshot of etcd, %.1f MB, SHA-256 %s\n", b->file,
                   (double)b->snapshot.size / BYTES_A_MB, hash);
    }
    return cli_print(buf_bytes(&text), err);
}

static void show_progress(struct backup *b, uint64_t left)
{
    int64_t now_ms = cli_now_ms();
    if (now_ms - b->shown_ms < PROGRESS_MS) {
        return;
    }
    char text[80];
    double taken = (double)b->snapshot.size / BYTES_A_MB;
    snprintf(text, sizeof(text), "%.1f of %.1f MB", taken, taken + (double)left / BYTES_A_MB);
    cli_progress(&b->progress, text);
    b->shown_ms = now_ms;
}

/* ---- Verify ---- */

static int read_all(struct backup *b, struct err *err)
{
    uint8_t part[PART_BYTES];
    ssize_t n;
    while ((n = read(b->fd, part, sizeof(part))) > 0 && !cli_interrupted()) {
        snapshot_take(&b->snapshot, (struct bytes){.data = part, .size = (size_t)n});
    }
    if (n < 0) {
        return file_error(b, "read", err);
    }
    return n > 0 ? err_set(err, ERR_UNKNOWN, "interrupted") : 0;
}

static int verify(struct backup *b, struct err *err)
{
    struct stat is;
    b->fd = open(b->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (b->fd < 0 || fstat(b->fd, &is) < 0) {
        return file_error(b, "read", err);
    }
    if (!S_ISREG(is.st_mode)) {
        return err_set(err, ERR_INVALID, "%.120s is no file", b->file);
    }
    int r = read_all(b, err);
    if (r == 0 && (r = snapshot_end(&b->snapshot, err)) < 0) {
        err_prefix(err, "%.100s", b->file);
    }
    return r;
}

/* ---- Save ---- */

static int check_absent(const struct backup *b, struct err *err)
{
    struct stat is;
    if (lstat(b->file, &is) < 0) {
        return 0; /* or what is wrong with the path shows as the part is made */
    }
    if (!S_ISREG(is.st_mode)) {
        return err_set(err, ERR_INVALID, "%.120s exists and is no file", b->file);
    }
    return cli_switch(b->call, "force")
               ? 0
               : err_set(err, ERR_EXISTS,
                         "%.120s exists already: name another file, or say --force", b->file);
}

static int make_part(struct backup *b, struct err *err)
{
    static const char ending[] = ".part";
    b->part = arena_printf(b->call->arena, "%s.XXXXXX%s", b->file, ending);
    b->fd = mkostemps(b->part, (int)strlen(ending), O_CLOEXEC); /* mode 0600 */
    if (b->fd < 0) {
        b->part = NULL;
        return file_error(b, "make", err);
    }
    return 0;
}

static int take(void *backup, struct bytes bytes, uint64_t left, struct err *err)
{
    struct backup *b = backup;
    snapshot_take(&b->snapshot, bytes);
    while (bytes.size > 0) {
        ssize_t n = write(b->fd, bytes.data, bytes.size);
        if (n < 0 && errno != EINTR) {
            return file_error(b, "write", err);
        }
        bytes.data += n > 0 ? n : 0;
        bytes.size -= n > 0 ? (size_t)n : 0;
    }
    show_progress(b, left);
    return 0;
}

static bool stop(void *backup)
{
    (void)backup;
    return cli_interrupted();
}

static int download(struct backup *b, struct err *err)
{
    const struct etcd_config config = bbs_etcd_config(b->call);
    const struct etcd_handlers none = {0}; /* no call and no watch is made */
    const struct etcd_snapshot_sink sink = {.take = take, .stop = stop, .context = b};
    struct event_base *base = event_base_new();
    struct etcd *etcd = NULL;
    int r = base ? etcd_new(&config, base, &none, &etcd, err)
                 : err_set(err, ERR_IO, "no event loop");
    r = r < 0 ? r : etcd_snapshot(etcd, &sink, err);
    etcd_free(etcd);
    if (base) {
        event_base_free(base);
    }
    cli_progress(&b->progress, NULL);
    return r;
}

/* The name is on the disk as well. */
static int sync_directory(const struct backup *b, struct err *err)
{
    const char *directory = dirname(arena_strdup(b->call->arena, b->file));
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int r = fd < 0 || fsync(fd) < 0 ? file_error(b, "sync the directory of", err) : 0;
    if (fd >= 0) {
        close(fd);
    }
    return r;
}

/* Without --force a file that somebody made meanwhile stays. Where the file system cannot promise
 * that (NFS) it is looked for once more. */
static int rename_part(const struct backup *b, struct err *err)
{
    bool force = cli_switch(b->call, "force");
    int r = renameat2(AT_FDCWD, b->part, AT_FDCWD, b->file, force ? 0 : RENAME_NOREPLACE);
    if (r < 0 && errno == EINVAL && !force) {
        int absent = check_absent(b, err);
        if (absent < 0) {
            return absent;
        }
        r = rename(b->part, b->file);
    }
    return r < 0 ? file_error(b, "make", err) : 0;
}

static int give_name(struct backup *b, struct err *err)
{
    int r = fsync(b->fd) < 0 ? file_error(b, "sync", err) : rename_part(b, err);
    if (r < 0) {
        return r;
    }
    b->part = NULL; /* it has the file's name now */
    return sync_directory(b, err);
}

static int save(struct backup *b, struct err *err)
{
    if (!cli_text(b->call, "etcd")) {
        return err_set(err, ERR_INVALID, "--etcd URLS is missing (or --verify): bbs backup FILE");
    }
    int r = check_absent(b, err);
    r = r < 0 ? r : make_part(b, err);
    r = r < 0 ? r : download(b, err);
    if (r == 0 && (r = snapshot_end(&b->snapshot, err)) < 0) {
        err_prefix(err, "what etcd sent is not kept");
    }
    r = r < 0 ? r : give_name(b, err);
    if (b->part) {
        unlink(b->part);
    }
    return r;
}

int bbs_backup_run(const struct invocation *call, struct err *err)
{
    struct backup b = {
        .call = call, .file = call->arguments[0], .fd = -1, .shown_ms = cli_now_ms()};
    cli_catch_interrupts();
    snapshot_init(&b.snapshot);
    int r = cli_switch(call, "verify") ? verify(&b, err) : save(&b, err);
    r = r < 0 ? r : print_snapshot(&b, err);
    snapshot_done(&b.snapshot);
    if (b.fd >= 0) {
        close(b.fd);
    }
    return r;
}
