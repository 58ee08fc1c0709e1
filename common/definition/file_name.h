/* Names that a definition may give: of files in a repository, of repositories, of branches and
 * tags. They come from strangers, and go to the program git. Pure. */
#pragma once

#include "common/base/arena.h"

#include <stdbool.h>

/* NULL = it is good; else what is wrong, a sentence in the arena. */

/* A path in a repository: relative, without "..", control characters, or a part that begins with
 * "-" or is ".git". */
const char *definition_file_name_fault(struct arena *a, const char *file);

/* https://, ssh://, user@host:path, and file:// where `allow_file`. */
const char *definition_url_fault(struct arena *a, const char *url, bool allow_file);

/* The name of a branch or a tag, as git has them. */
const char *definition_ref_fault(struct arena *a, const char *ref);

/* 40 hex digits in lower case. */
const char *definition_commit_fault(struct arena *a, const char *commit);
