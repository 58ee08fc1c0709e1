/* Calls of the command line to a bbs, a rep or an auctioneer: one after the other, over libcurl's
 * easy interface with mutual TLS. */
#pragma once

#include "common/cli/options.h"

#include <stdatomic.h>

enum {
    CLIENT_URLS_MAX = 16,
    CLIENT_CONNECT_MS = 2000,
    CLIENT_ATTEMPT_MS = 5000,  /* then the next bbs is asked, if there is one; sooner when there is
                                * less time for each, */
    CLIENT_ATTEMPT_LEAST_MS = 500, /* but not before this */
    CLIENT_PATIENCE_MS = 3000, /* how long a whole round of refusals is repeated */
    CLIENT_PAUSE_MS = 200,     /* after all of them were refused */
    CLIENT_ANSWER_MAX = 512 * 1024 * 1024,
};

/* --bbs-url, and the three files; with the environment's names that Diego's command line reads. */
extern const struct cli_option cli_bbs_options[];
extern const struct cli_option cli_tls_options[];

/* Of --timeout, where nothing but an answer is waited for (CLIENT_PATIENCE_MS). */
#define CLIENT_TIMEOUT_HELP "how long to wait for answers; refusals are retried for 3s"

struct cli_client;

/* Opens with the options of the call. `urls`: a comma-separated list, tried in order. Refuses what
 * is no https URL and files that cannot be read. Catches interrupts. */
int cli_client_open(const struct invocation *call, const char *urls, struct cli_client **ret_client,
                    struct err *err);
void cli_client_close(struct cli_client *c);

/* All later calls together end by now + limit_ms; -1 = no limit. Of a stream: it has begun by then.
 */
void cli_client_limit(struct cli_client *c, int64_t limit_ms);

/* From when *stop is true on a call that waits ends, within a second, as if interrupted. NULL =
 * never. For a caller with threads; `stop` outlives the client. */
void cli_client_stop(struct cli_client *c, const atomic_bool *stop);

/* POSTs a message and decodes the answer into the arena. A bbs that is refused, gone, or not ready
 * (503) leads to the next one, and from the first again until the limit. An error in the answer's
 * field 1 becomes ours: ResourceNotFound is ERR_NOT_FOUND, ResourceExists ERR_EXISTS, and so on. */
int cli_client_call(struct cli_client *c, struct arena *a, const char *path,
                    const ProtobufCMessage *request, const ProtobufCMessageDescriptor *answer_type,
                    ProtobufCMessage **ret_answer, struct err *err);

/* Whether an earlier try of the last call may have been carried out, though its answer was lost, or
 * a bbs could not tell (a 503 that is not empty and does not begin with NOT_DONE): then "exists",
 * or "not found" of a removal, may be about the caller's own doing; and a call that failed may have
 * been done. */
bool cli_client_may_have_done(const struct cli_client *c);

/* POSTs an empty body; the answer's lives in the arena. */
int cli_client_post(struct cli_client *c, struct arena *a, const char *path,
                    struct bytes *ret_body, struct err *err);

/* GETs a path; the body lives in the arena. */
int cli_client_get(struct cli_client *c, struct arena *a, const char *path, struct bytes *ret_body,
                   struct err *err);

/* Asks for a path of JSON (docs/rest.md) by any method; `body` is JSON, or empty for none. The
 * answer's body lives in the arena. A refusal, {"code":...,"message":...}, becomes an error with
 * the server's words: 400 is ERR_INVALID, 403 ERR_DENIED, 404 ERR_NOT_FOUND, 409 ERR_CONFLICT.
 * Repeated as cli_client_call(): what makes something carries an id, by which it is made once. */
int cli_client_rest(struct cli_client *c, struct arena *a, const char *method, const char *path,
                    struct bytes body, struct bytes *ret_body, struct err *err);

/* GETs a path and hands the answer's bytes on, likewise to cli_client_stream(), but once only. What
 * is not there is ERR_NOT_FOUND with the server's words. */
int cli_client_get_stream(struct cli_client *c, const char *path, int64_t silence_ms,
                          int (*take)(void *owner, struct bytes bytes), void *owner,
                          struct err *err);

/* After a cli_client_stream(): the next call goes to the same server, not to the next one. */
void cli_client_stay(struct cli_client *c);

/* Whether the last answer began well, with a 200, even if it broke off before a byte had come. */
bool cli_client_answered(const struct cli_client *c);

/* POSTs and hands the answer's bytes on as they come, until it ends, `take` gives a negative code
 * (passed on), or an interrupt. No repeats: the caller knows where to resume; each call begins with
 * the next URL. Nothing for `silence_ms` ends it with ERR_TIMEOUT. */
int cli_client_stream(struct cli_client *c, const char *path, const ProtobufCMessage *request,
                      int64_t silence_ms, int (*take)(void *owner, struct bytes bytes), void *owner,
                      struct err *err);
