/* The key file of a bbs: `bbs serve --keys FILE` (docs/systems.md, Secrets). A line is a number,
 * from 1 up, and the base64 of 64 bytes; empty lines and those that begin with # are passed over.
 * The key with the highest number is the active one, all open. */
#pragma once

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/contract/seal.h"

enum { SEAL_KEY_BYTES = 64, SEAL_FILE_BYTES_MAX = 64 * 1024 };

/* Reads the file, which must be its owner's alone to read (0600). ERR_INVALID, ERR_NOT_FOUND, ...,
 * which tell the file and the line, and no key. seal_file_free() ends it. */
int seal_file_read(const char *path, struct seal **ret, struct err *err);

/* The same from a text. */
int seal_text_read(struct bytes text, const char *name, struct seal **ret, struct err *err);

/* Wipes the keys. NULL is accepted. */
void seal_file_free(struct seal *s);
