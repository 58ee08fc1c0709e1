/* Notes beside those that their containers have. A REMOVE that keeps one leaves it as notes/GUID in
 * the state directory, on the disk before anything else goes, until the guid is prepared, or
 * removed without keeping it. And one on its way to a container is a file of its own there, until
 * the child that syncs it gives it the name. */
#include "common/base/memory.h"
#include "common/contract/moment.h"
#include "rep/driver/driver_parts.h"

#include <ctype.h>
#include <dirent.h>
#include <time.h>

#define NOTE_ON_ITS_WAY "note."

void note_name_new(char *name, size_t size)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    snprintf(name, size, NOTE_ON_ITS_WAY "%lld", (long long)(t.tv_sec * SECOND_NS + t.tv_nsec));
}

/* Not one of PREPARE, which is no number. */
static bool is_on_its_way(const char *name)
{
    size_t n = strlen(NOTE_ON_ITS_WAY);
    return strncmp(name, NOTE_ON_ITS_WAY, n) == 0 && isdigit((unsigned char)name[n]);
}

int notes_withdraw(const char *dir)
{
    DIR *all = opendir(dir);
    if (!all) {
        return -1;
    }
    for (struct dirent *e; (e = readdir(all));) {
        if (is_on_its_way(e->d_name)) {
            unlinkat(dirfd(all), e->d_name, 0);
        }
    }
    closedir(all);
    return 0;
}

void notes_free(void *note)
{
    blob_unref(note);
}

char *note_kept_path(const struct driver *d, const char *guid)
{
    return mem_printf("%s/%s", d->notes_dir, guid);
}

void note_learn(struct driver *d, const char *guid)
{
    SCOPED_BUF(note);
    if (file_read(d->notes_dir, guid, NOTE_BYTES_MAX, &note, NULL) == 0) {
        notes_free(map_put(&d->notes, guid, blob_new(note.data, note.size)));
    }
}

void note_drop(struct driver *d, const char *guid)
{
    char *path = note_kept_path(d, guid);
    unlink(path);
    free(path);
    notes_free(map_remove(&d->notes, guid));
}

void notes_load(struct driver *d)
{
    DIR *all = opendir(d->notes_dir);
    for (struct dirent *e; all && (e = readdir(all));) {
        if (guid_valid(e->d_name)) {
            note_learn(d, e->d_name);
        }
    }
    if (all) {
        closedir(all);
    }
}

struct container_status note_status(const struct map_node *n, struct arena *a)
{
    struct bytes note = blob_bytes(map_value(n));
    return (struct container_status){
        .guid = arena_strdup(a, map_key(n)),
        .state = CONTAINER_KEPT,
        .text = "",
        .note = {.data = arena_copy(a, note.data, note.size), .size = note.size},
    };
}
