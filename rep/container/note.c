#include "rep/container/note.h"

#include "common/base/message.h"
#include "common/codec/scan.h"
#include "rep/container/health_note.h"
#include "rep/steps/tree.h"

#include <assert.h>
#include <string.h>

enum { NOTE_DECODED_MAX = 16 * 1024 * 1024 };
enum { NAME_MAX_CHARACTERS = 64 }; /* of a container, common/contract/driver.h */

int note_read(struct bytes bytes, const char *guid, Rep__Note **ret_note, struct err *err)
{
    int code = scan_message(&rep__note__descriptor, bytes, NOTE_DECODED_MAX, NULL, err);
    if (code < 0) {
        return code;
    }
    Rep__Note *note = rep__note__unpack(NULL, bytes.size, bytes.data);
    if (!note) {
        return err_set(err, ERR_INVALID, "the note of %zu bytes is malformed", bytes.size);
    }
    bool whole = note->key || (note->task && note->task->guid[0] && note->task->attempt[0]) ||
                 (note->unit && note->unit->service[0]);
    if (note->format != NOTE_FORMAT || !whole || strcmp(note->instance_guid, guid) != 0 ||
        note->memory_mb < 0 || note->disk_mb < 0) {
        code = err_set(err, ERR_INVALID, "the note has format %u and is of container \"%.64s\"",
                       note->format, note->instance_guid);
    }
    code = code < 0 ? code : tree_check(note->steps, note->n_steps, err);
    code = code < 0 ? code : tree_check(note->monitor, note->n_monitor, err);
    code = code < 0 ? code : health_check(note, err);
    if (code < 0) {
        rep__note__free_unpacked(note, NULL);
        return code;
    }
    *ret_note = note;
    return 0;
}

struct bytes note_pack(struct arena *a, const Rep__Note *note)
{
    return message_packed(a, &note->base);
}

Rep__Note *note_copy(const Rep__Note *note)
{
    SCOPED_BUF(packed);
    buf_message(&packed, &note->base);
    Rep__Note *copy = rep__note__unpack(NULL, packed.size, packed.data);
    assert(copy);
    return copy;
}

static uint64_t hash_of(const char *text, uint64_t basis)
{
    for (; *text; text++) {
        basis = (basis ^ (uint8_t)*text) * 1099511628211U; /* FNV-1a */
    }
    return basis;
}

const char *note_name_of_task(struct arena *a, const char *task_guid)
{
    enum { HEAD = NAME_MAX_CHARACTERS - 33 };
    if (strlen(task_guid) <= NAME_MAX_CHARACTERS) {
        return arena_strdup(a, task_guid);
    }
    return arena_printf(a, "%.*s-%016llx%016llx", HEAD, task_guid,
                        (unsigned long long)hash_of(task_guid, 14695981039346656037U),
                        (unsigned long long)hash_of(task_guid + HEAD, 0x9e3779b97f4a7c15U));
}

const char *note_label(struct arena *a, const char *process_guid, int32_t index)
{
    return arena_printf(a, "%s/%d", process_guid, (int)index);
}
