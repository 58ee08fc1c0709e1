/* A small role for tests of the shells. Its paths:
 *   /echo           the body back, with Content-Type and ETag "tag"
 *   /who            "unit name method path query trace_id accept content_type if_none_match"
 *   /status?N       status N without body, Retry-After 1
 *   /answer?N       status N with the body
 *   /unsure         status 503 as of a change that may have been done
 *   /lost           status 503 with ECHO_LOST
 *   /never          no answer
 *   /list?N         N bytes from a cursor, length announced; /chunks?N likewise in chunks
 *   /short?N        announces N bytes and gives one less
 *   /flood          a stream without end that always has more
 *   /stream         a stream that gives what is published; /publish wakes it, POST body = the
 *                   bytes; /cut makes every stream break off at the next chunk
 *   /call?URL       calls URL with the body, answers "outcome status body"
 *   /relay?URL      relays the answer of URL; or answers as /call does
 *   /subscribe?URL  subscribes and answers when it closes: "status bytes"
 *   /cancel         ends these without an event
 *   /counts         "requests hangups cursors fills timers sums" as numbers
 *   /tick?MS        answers after that time, by the role's timer
 *   /stop?CODE      answers, then EFFECT_EXIT with that code
 * A too_large request is answered "too large". EVENT_STOP gives EFFECT_EXIT 0, unless /stubborn was
 * asked. Bodies are limited to 1 MiB, 16 bytes on /small. */
#pragma once

#include "common/contract/role.h"

enum { ECHO_BODY_BYTES = 1024 * 1024, ECHO_SMALL_BYTES = 16 };

/* As long as what a bbs says of an etcd that lost writes. */
#define ECHO_LOST                                                                                  \
    "not done: etcd lost acknowledged writes or was restored: run `bbs restore`, see "            \
    "docs/restore.md (bbs-1 has seen revision 1251, etcd is at 1223)"

struct role *echo_new(void);
