/* The services at and below a path, held against what is to stand there. Pure. */
#pragma once

#include "bbs/system/parts.h"

/* Whether every service that is to stand at and below the path by this head was told by this
 * deploy, and is stable, and no other one is there. What it rests on is noted, the head by the
 * caller. */
bool services_settled(struct view *v, const Board__HeadRecord *head, const char *uid,
                      const char *path, const char *deploy);

/* Whether a service that is to stand there by this head, and that this deploy did not tell yet,
 * needs the secret of this name. Noted as above. */
bool services_lack(struct view *v, const Board__HeadRecord *head, const char *uid,
                   const char *path, const char *deploy, const char *secret);
