#include "rep/courier/archive_io.h"

#include "rep/courier/paths_io.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_BYTES = 64 * 1024, ERRNO_MAX = 4096 };

/* ---- entries ---- */

static enum entry_kind kind_of(struct archive_entry *e)
{
    switch (archive_entry_filetype(e)) {
    case AE_IFREG:
        return ENTRY_FILE;
    case AE_IFDIR:
        return ENTRY_DIRECTORY;
    case AE_IFLNK:
        return ENTRY_LINK;
    case AE_IFCHR:
    case AE_IFBLK:
        return ENTRY_DEVICE;
    case AE_IFIFO:
        return ENTRY_FIFO;
    case AE_IFSOCK:
        return ENTRY_SOCKET;
    default:
        return ENTRY_UNKNOWN;
    }
}

/* A link whose target cannot be read has one all the same: it must not pass for a file. */
static struct archive_member member_of(struct archive_entry *e)
{
    return (struct archive_member){
        .path = archive_entry_pathname(e),
        .kind = kind_of(e),
        .hard_link = archive_entry_hardlink(e),
        .target = archive_entry_symlink(e),
        .size = archive_entry_size_is_set(e) ? archive_entry_size(e) : 0,
        .encrypted = archive_entry_is_encrypted(e) == 1,
    };
}

/* libarchive's text of what went wrong. */
static int wrong(struct archive *a, const char *what, struct err *err)
{
    const char *text = archive_error_string(a);
    int error = archive_errno(a);
    bool full = error == ENOSPC || error == EDQUOT, system = error > 0 && error < ERRNO_MAX;
    return err_set(err, full ? ERR_TOO_LARGE : ERR_INVALID, "%s: %s%s%s", what,
                   path_shown(text ? text : "out of memory?").text, system ? ": " : "",
                   system ? strerror(error) : "");
}

static int broken(struct archive *in, struct err *err)
{
    return wrong(in, "the archive is broken", err);
}

/* ---- one entry ---- */

/* The content of an entry; nothing is left of it for the next. */
static int content(struct archive_walk *w, struct archive *in, struct err *err)
{
    const void *data;
    size_t size;
    la_int64_t offset;
    int r, rc = 0;
    while (rc == 0 && (r = archive_read_data_block(in, &data, &size, &offset)) != ARCHIVE_EOF) {
        if (r < ARCHIVE_OK) { /* of a zip whose content has not its checksum it only warns */
            return broken(in, err);
        }
        rc = judging_bytes(&w->judging, (int64_t)size, err);
        if (rc == 0 && w->writer &&
            archive_write_data_block(w->writer, data, size, offset) < ARCHIVE_OK) {
            /* A full disk, too, is a warning: the file would have its size, and holes in it. */
            rc = wrong(w->writer, "cannot write the content", err);
        }
        if (w->moved) {
            w->moved(w->context, w->judging.bytes);
        }
    }
    return rc;
}

/* A directory that a job before left closed, as the archive has it, must take its files once more;
 * its mode comes last. */
static void open_up(const char *path)
{
    int fd = open_straight(path, O_RDONLY | O_DIRECTORY);
    if (fd >= 0) {
        (void)!fchmod(fd, 0700);
        close(fd);
    }
}

/* What it becomes is of whoever writes: its own owner is of no interest, and set-id bits that are
 * kept are the writer's. */
static int write_entry(struct archive_walk *w, struct archive *in, struct archive_entry *e,
                       struct err *err)
{
    archive_entry_set_perm(e, (mode_t)entry_mode(archive_entry_perm(e), w->set_id));
    archive_entry_set_uid(e, geteuid());
    archive_entry_set_gid(e, getegid());
    if (archive_entry_filetype(e) == AE_IFDIR) {
        open_up(archive_entry_pathname(e));
    }
    if (archive_write_header(w->writer, e) < ARCHIVE_WARN) {
        return wrong(w->writer, path_shown(archive_entry_pathname(e)).text, err);
    }
    int rc = content(w, in, err);
    if (rc == 0 && archive_write_finish_entry(w->writer) < ARCHIVE_WARN) {
        rc = wrong(w->writer, path_shown(archive_entry_pathname(e)).text, err);
    }
    return rc;
}

static int one_entry(struct archive_walk *w, struct archive *in, struct archive_entry *e,
                     struct err *err)
{
    struct archive_member member = member_of(e);
    int rc = judging_entry(&w->judging, &member, err);
    if (rc) {
        return rc;
    }
    bool itself = path_is_destination(member.path); /* whose mode is not the archive's to say */
    return w->writer && !itself ? write_entry(w, in, e, err) : content(w, in, err);
}

/* ---- all of it ---- */

static int walk(struct archive_walk *w, struct archive *in, struct err *err)
{
    struct archive_entry *e;
    int r, rc = 0;
    while (rc == 0 && (r = archive_read_next_header(in, &e)) != ARCHIVE_EOF) {
        rc = r < ARCHIVE_WARN ? broken(in, err) : one_entry(w, in, e, err);
    }
    return rc;
}

static struct archive *reader_new(void)
{
    struct archive *in = archive_read_new();
    if (in) {
        archive_read_support_filter_gzip(in);
        archive_read_support_filter_zstd(in);
        archive_read_support_format_tar(in);
        archive_read_support_format_zip(in);
    }
    return in;
}

/* `opened` is what opening gave. */
static int walk_opened(struct archive_walk *w, struct archive *in, int opened, struct err *err)
{
    int rc = opened < ARCHIVE_WARN ? broken(in, err) : walk(w, in, err);
    bool none = rc < 0 && w->judging.entries == 0 && archive_format(in) == 0;
    archive_read_free(in);
    return none ? err_set(err, ERR_INVALID,
                          "it is no archive that can be unpacked (tar, tar.gz, tar.zst, zip)")
                : rc;
}

int archive_walk_file(struct archive_walk *w, int fd, struct err *err)
{
    struct archive *in = reader_new();
    if (!in || lseek(fd, 0, SEEK_SET) < 0) {
        archive_read_free(in);
        return err_set(err, ERR_IO, "cannot read the archive");
    }
    return walk_opened(w, in, archive_read_open_fd(in, fd, BLOCK_BYTES), err);
}

int archive_walk_bytes(struct archive_walk *w, struct bytes in, struct err *err)
{
    struct archive *a = reader_new();
    if (!a) {
        return err_set(err, ERR_IO, "cannot read the archive");
    }
    return walk_opened(w, a, archive_read_open_memory(a, in.data, in.size), err);
}

struct archive *archive_writer_new(void)
{
    struct archive *out = archive_write_disk_new();
    if (out) {
        archive_write_disk_set_options(
            out, ARCHIVE_EXTRACT_PERM | ARCHIVE_EXTRACT_TIME | ARCHIVE_EXTRACT_SECURE_NODOTDOT |
                     ARCHIVE_EXTRACT_SECURE_SYMLINKS | ARCHIVE_EXTRACT_SECURE_NOABSOLUTEPATHS);
    }
    return out;
}

int archive_writer_end(struct archive *writer, struct err *err)
{
    int rc = archive_write_close(writer) < ARCHIVE_WARN
                 ? wrong(writer, "cannot end the writing", err)
                 : 0;
    archive_write_free(writer);
    return rc;
}
