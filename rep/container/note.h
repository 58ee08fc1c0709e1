/* The note that a container carries through a restart of its rep (proto/rep_note.proto). */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"
#include "rep_note.pb-c.h"

enum { NOTE_FORMAT = 1 };

/* What the text of a process's end begins with where nothing else is said (design.md 7, Exit
 * texts). */
#define LOG_SOURCE_DEFAULT "LOG"

/* Reads what the driver gave back for this guid. The note is the caller's (default allocator).
 * ERR_INVALID: malformed, of another format, or of another container. */
int note_read(struct bytes bytes, const char *guid, Rep__Note **ret_note, struct err *err);

/* Its bytes, in the arena. */
struct bytes note_pack(struct arena *a, const Rep__Note *note);

/* A deep copy by the default allocator; the caller frees it or hands it on. */
Rep__Note *note_copy(const Rep__Note *note);

/* The name of a task's container: its guid, or what stands for one that is longer than the names
 * that drivers take (common/contract/driver.h). In the arena. */
const char *note_name_of_task(struct arena *a, const char *task_guid);

/* The name under which the output of an index's containers is kept. */
const char *note_label(struct arena *a, const char *process_guid, int32_t index);
