/* Notes that outlive their containers: a REMOVE that keeps one leaves it as notes/GUID in the state
 * directory, on the disk before anything else goes, until the guid is prepared, or removed without
 * keeping it. */
#include "common/base/memory.h"
#include "rep/driver/driver_parts.h"

#include <dirent.h>

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
