/* Which addresses of a subnet are in use, by all cells of this machine: a file an address, whose
 * content is its holder's id. They stand where a boot of the machine finds none of them. */
#pragma once

#include "common/base/err.h"
#include "rep/driver/subnet.h"

#include <stdbool.h>
#include <stddef.h>

/* Below it a directory a subnet. */
#define LEASES_DIR "/run/corkboard/addresses"

/* The directory of a subnet's leases, made with those above it. -ERR_IO with err. */
int lease_dir(const struct subnet *s, char *out, size_t size, struct err *err);

/* Takes the next address from *cursor on that nobody has, and moves the cursor behind it. Its file
 * is "<dir>/<address>". -ERR_TOO_LARGE when all are in use, -ERR_IO; with err. */
int lease_take(const char *dir, const struct subnet *s, uint32_t *cursor, const char *id,
               char ret_address[ADDRESS_TEXT_BYTES], struct err *err);

/* Takes this file, unless somebody has it: for a container whose lease a restart of the machine has
 * forgotten. */
void lease_keep(const char *file, const char *id);

/* Gives an address back, if the file is this holder's; true also when there is none. */
bool lease_give(const char *file, const char *id);

/* Gives back what is held by ids with this prefix, and what follows it is nobody of `lives`. How
 * many. */
size_t lease_sweep(const char *dir, const char *prefix,
                   bool (*lives)(void *context, const char *guid), void *context);
