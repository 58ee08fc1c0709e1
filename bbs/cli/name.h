/* Which instances `bbs ps`, `bbs why`, `bbs logs` and `bbs restart` mean. Pure. */
#ifndef BBS_CLI_NAME_H
#define BBS_CLI_NAME_H

#include "common/base/arena.h"
#include "common/base/err.h"

#include <stdint.h>

/* "web/2" is web and 2, "web" is web and -1; so is "web" with the index "2", for those who write it so
 * (NULL = there is none). ERR_INVALID when the index is none, or said twice. */
int target_read(struct arena *a, const char *text, const char *index, const char **ret_name,
                int32_t *ret_index, struct err *err);

/* "web/2", "web" of -1 */
const char *target_text(struct arena *a, const char *name, int32_t index);

#endif
