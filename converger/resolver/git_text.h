/* What the program git says, read: it is made of names and messages that strangers chose. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"

/* Of `git ls-tree -z`, the entry that was asked for: *ret_blob is the hash of the plain file that
 * stands there. ERR_NOT_FOUND: nothing does; ERR_INVALID: something else; the text says what. */
int git_text_blob(struct arena *a, struct bytes output, const char **ret_blob, struct err *err);

/* Lines of 1 to 255 bytes, at most `max`, in the arena; others are left out. */
size_t git_text_lines(struct arena *a, struct bytes output, size_t max, const char ***ret_lines);

/* Of `git rev-parse`: the hash of a commit; NULL = it is none. */
const char *git_text_commit(struct arena *a, struct bytes output);

/* What a failed program complained of, in one line of at most 160 bytes that no terminal obeys:
 * what git calls fatal, else the last line that says something; "" = it said nothing. */
const char *git_text_complaint(struct arena *a, struct bytes complaint);
