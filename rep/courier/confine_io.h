/* What takes privileges and room from a courier's child, before it touches what others made. */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct confinement {
    uid_t uid; /* taken if the process is root's; else it stays who it is */
    gid_t gid;
    int64_t file_bytes;   /* no file that it writes becomes longer */
    int64_t memory_bytes; /* of address space */
    bool network;         /* opens sockets, and loads what names of hosts need; else neither */
};

/* Whether the process is root's, and so can take another user. */
bool confine_by_root(void);

/* Enters a directory as its root, if by root; else it only becomes the working directory. */
int confine_enter(int root, struct err *err);

/* Takes user and groups, without any capability (of root those remain that writing files needs);
 * bounds memory, file size and descriptors; no new privileges; without `network` it can from here
 * on load no code, run no program and open no socket. */
int confine_drop(const struct confinement *c, struct err *err);
