/* Capabilities as the kernel numbers them, and which of them a container usually has. Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Numbers below it have a name here. */
enum { CAPABILITY_COUNT = 41 };

/* "CAP_CHOWN" is 0; NULL and -1 for what is not known here. */
const char *capability_name(int number);
int capability_number(const char *name);

/* One bit for each: what a container gets of those that the cell has itself, for the kernel refuses
 * more. A privileged one gets all. */
uint64_t capabilities_of(bool privileged, uint64_t own);
