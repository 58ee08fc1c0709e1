/* A subscriber to an event stream, as a client sees it (behaviour.md 16.1). */
#pragma once

#include "test/tool/tls_client.h"

struct diego_stream {
    struct tls_client client;
    struct buf body; /* of the chunks taken so far, without what was read */
    unsigned next_id;
    bool ended; /* the terminating chunk came, or the connection closed */
};

/* Subscribes and waits for the head. Gives the status, 0 when nothing comes; head (may be NULL)
 * gets the head's lines. */
int diego_stream_open(struct diego_stream *s, int port, const struct tls_files *files,
                    const char *method, const char *path, struct bytes body, struct buf *head);

/* The next event, waited for: its name and its message's bytes. False with a sentence in `why` when
 * none comes, or what comes is not framed as Diego frames it. */
bool diego_stream_next(struct diego_stream *s, struct buf *name, struct buf *message,
                       struct buf *why);

void diego_stream_close(struct diego_stream *s);
