/* Destinations of egress rules, as a bbs takes them. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Texts that stand in one member of `destinations` are parted by this. */
#define EGRESS_DESTINATION_DIVIDE ","

enum egress_destination {
    EGRESS_DESTINATION_GOOD,
    EGRESS_DESTINATION_NO_ADDRESS, /* nor a range of them */
    EGRESS_DESTINATION_NO_BLOCK,   /* though it has a slash */
};

/* What text[0..size) is: an address, a block like 10.0.0.0/8, or first-last. */
enum egress_destination egress_destination_of(const char *text, size_t size);
