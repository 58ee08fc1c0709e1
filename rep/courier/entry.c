#include "rep/courier/entry.h"

#include "common/base/memory.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sets of paths ---- */

static const uint64_t HASH_START = 0xcbf29ce484222325;

static uint64_t hashed(uint64_t hash, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3;
    }
    return hash;
}

/* The hash's slot, or the free one where it would stand. */
static size_t slot_of(const struct path_set *s, uint64_t hash)
{
    size_t at = (size_t)(hash >> 20) & (s->capacity - 1);
    while (s->slots[at] != 0 && s->slots[at] != hash) {
        at = (at + 1) & (s->capacity - 1);
    }
    return at;
}

static bool set_has(const struct path_set *s, uint64_t hash)
{
    return s->capacity > 0 && hash != 0 && s->slots[slot_of(s, hash)] == hash;
}

static void set_add(struct path_set *s, uint64_t hash)
{
    if (2 * (s->count + 1) > s->capacity) {
        struct path_set wider = {.capacity = s->capacity ? 2 * s->capacity : 64};
        wider.slots = mem_array(wider.capacity, sizeof(uint64_t));
        for (size_t i = 0; i < s->capacity; i++) {
            if (s->slots[i] != 0) {
                wider.slots[slot_of(&wider, s->slots[i])] = s->slots[i];
                wider.count++;
            }
        }
        free(s->slots);
        *s = wider;
    }
    size_t at = slot_of(s, hash);
    s->count += s->slots[at] == 0;
    s->slots[at] = hash;
    assert(2 * s->count <= s->capacity);
}

void judging_init(struct judging *j, int64_t bytes_max)
{
    assert(bytes_max >= 0);
    *j = (struct judging){.bytes_max = bytes_max};
}

void judging_done(struct judging *j)
{
    free(j->links.slots);
    free(j->files.slots);
    *j = (struct judging){0};
}

/* ---- paths ---- */

struct shown_path path_shown(const char *path)
{
    struct shown_path shown;
    size_t n = 0;
    for (; path[n] && n < 80; n++) {
        shown.text[n] = path[n] >= 0x20 && path[n] < 0x7f ? path[n] : '?';
    }
    snprintf(shown.text + n, sizeof(shown.text) - n, "%s", path[n] ? "..." : "");
    return shown;
}

/* The next component, taken off the front: false at the end. "." and double slashes are none. */
static bool component(const char **at, const char **ret, size_t *ret_size)
{
    for (;;) {
        *at += strspn(*at, "/");
        size_t n = strcspn(*at, "/");
        *ret = *at;
        *ret_size = n;
        *at += n;
        if (n != 1 || **ret != '.') {
            return n > 0;
        }
    }
}

bool path_is_destination(const char *path)
{
    const char *name;
    size_t n;
    return !component(&path, &name, &n);
}

/* What a path is, as far as its components say. */
struct path_facts {
    uint64_t hash;   /* of all of it; 0: it is the destination itself */
    bool below_link; /* a link of the archive stands in its way */
};

static int component_check(const char *what, const char *path, const char *name, size_t n,
                           struct err *err)
{
    if (n == 2 && memcmp(name, "..", 2) == 0) {
        return err_set(err, ERR_INVALID, "%s \"%s\" leads out by \"..\"", what,
                       path_shown(path).text);
    }
    if (n > ARCHIVE_NAME_BYTES) {
        return err_set(err, ERR_TOO_LARGE, "%s \"%s\" has a name of more than %d bytes", what,
                       path_shown(path).text, ARCHIVE_NAME_BYTES);
    }
    return 0;
}

static int path_check(const struct judging *j, const char *what, const char *path,
                      struct path_facts *ret, struct err *err)
{
    struct path_facts facts = {0};
    uint64_t hash = HASH_START;
    const char *name, *at = path;
    size_t n;
    if (path[0] == '/') {
        return err_set(err, ERR_INVALID, "%s \"%s\" is absolute", what, path_shown(path).text);
    }
    if (strlen(path) > ARCHIVE_PATH_BYTES) {
        return err_set(err, ERR_TOO_LARGE, "%s \"%s\" has more than %d bytes", what,
                       path_shown(path).text, ARCHIVE_PATH_BYTES);
    }
    while (component(&at, &name, &n)) {
        int rc = component_check(what, path, name, n, err);
        if (rc) {
            return rc;
        }
        facts.below_link = facts.below_link || set_has(&j->links, facts.hash);
        hash = hashed(hashed(hash, "/", 1), name, n);
        facts.hash = hash ? hash : 1;
    }
    *ret = facts;
    return 0;
}

/* ---- entries ---- */

static const char *forbidden(enum entry_kind kind)
{
    static const char *const names[] = {[ENTRY_DEVICE] = "a device",
                                        [ENTRY_FIFO] = "a fifo",
                                        [ENTRY_SOCKET] = "a socket",
                                        [ENTRY_UNKNOWN] = "of an unknown kind"};
    assert(kind > ENTRY_LINK && kind <= ENTRY_UNKNOWN);
    return names[kind];
}

/* Rules 1 and 2. */
static int readable(struct judging *j, const struct archive_member *e, struct err *err)
{
    if (++j->entries > ARCHIVE_ENTRIES_MAX) {
        return err_set(err, ERR_TOO_LARGE, "the archive has more than %d entries",
                       ARCHIVE_ENTRIES_MAX);
    }
    if (!e->path || !e->path[0]) {
        return err_set(err, ERR_INVALID, "entry %lld of the archive has no name that can be read",
                       (long long)j->entries);
    }
    if (e->encrypted) {
        return err_set(err, ERR_INVALID, "\"%s\" is encrypted", path_shown(e->path).text);
    }
    return 0;
}

/* Rule 6. */
static int hard_link_check(const struct judging *j, const struct archive_member *e, struct err *err)
{
    struct path_facts to;
    int rc = path_check(j, "the hard link to", e->hard_link, &to, err);
    if (rc) {
        return rc;
    }
    bool file = set_has(&j->files, to.hash) && !set_has(&j->links, to.hash);
    return file && !to.below_link
               ? 0
               : err_set(err, ERR_INVALID,
                         "\"%s\" is a hard link to what is no file of the archive",
                         path_shown(e->path).text);
}

/* Rule 7. */
static int link_check(const struct archive_member *e, struct err *err)
{
    if (!e->target || !e->target[0] || strlen(e->target) >= ARCHIVE_PATH_BYTES) {
        return err_set(err, ERR_INVALID, "the link \"%s\" leads nowhere that can be read",
                       path_shown(e->path).text);
    }
    return 0;
}

/* Rule 8. */
static int sizes_check(struct judging *j, const struct archive_member *e, struct err *err)
{
    j->directory_bytes += e->kind == ENTRY_DIRECTORY ? (int64_t)strlen(e->path) + 1 : 0;
    if (j->directory_bytes > ARCHIVE_DIRECTORY_BYTES) {
        return err_set(err, ERR_TOO_LARGE,
                       "the names of the archive's directories have more than %d bytes",
                       ARCHIVE_DIRECTORY_BYTES);
    }
    return e->size > j->bytes_max - j->bytes ? judging_bytes(j, e->size, err) : 0;
}

/* 1. There are not too many entries.
 * 2. An entry has a name, and can be read.
 * 3. Its path is not absolute, does not lead out, and is not too long.
 * 4. It is a file, a directory or a link. What else there is ends the job.
 * 5. Nothing stands below a link of the archive: it would be written through it.
 * 6. A hard link leads to a file that the archive had before.
 * 7. A link leads somewhere. Where to is no matter, for nothing goes through it, and who follows it
 *    later does so inside.
 * 8. It is not too large together with those before it. */
int judging_entry(struct judging *j, const struct archive_member *e, struct err *err)
{
    struct path_facts facts;
    int rc = readable(j, e, err); /* 1, 2 */
    if (rc == 0) {
        rc = path_check(j, "the path", e->path, &facts, err); /* 3 */
    }
    if (rc) {
        return rc;
    }
    if (e->kind > ENTRY_LINK && !e->hard_link) { /* 4 */
        return err_set(err, ERR_INVALID, "\"%s\" is %s", path_shown(e->path).text,
                       forbidden(e->kind));
    }
    if (facts.below_link) { /* 5 */
        return err_set(err, ERR_INVALID, "\"%s\" stands below a link", path_shown(e->path).text);
    }
    bool link = e->kind == ENTRY_LINK && !e->hard_link;
    bool file = e->kind == ENTRY_FILE || e->hard_link;
    rc = e->hard_link ? hard_link_check(j, e, err) : /* 6 */
             link ? link_check(e, err)               /* 7 */
                  : sizes_check(j, e, err);          /* 8 */
    if (rc == 0 && facts.hash && (link || file)) {
        set_add(link ? &j->links : &j->files, facts.hash);
    }
    return rc;
}

int judging_bytes(struct judging *j, int64_t count, struct err *err)
{
    assert(count >= 0);
    if (count > j->bytes_max - j->bytes) {
        return err_set(err, ERR_TOO_LARGE, "the archive unpacks to more than %lld bytes",
                       (long long)j->bytes_max);
    }
    j->bytes += count;
    return 0;
}

unsigned entry_mode(unsigned mode, bool set_id)
{
    enum { PERMISSIONS = 0777, STICKY = 01000, SET_ID = 06000 };
    return mode & (PERMISSIONS | STICKY | (set_id ? SET_ID : 0));
}
