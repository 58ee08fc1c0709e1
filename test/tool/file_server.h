/* A file server on loopback whose paths misbehave, each in its own way, in a process of its own.
 * What it serves and what it saw stands in memory that it shares with the test:
 *
 *   /content          well: ETag, 304, ranges
 *   /redirect         leads to /content
 *   /cut              the first time the half of it and the end; later well
 *   /cut-weak         likewise, with a weak ETag
 *   /cut-changed      the half, then a range of other content, then all of it
 *   /cut-always       always the half
 *   /more             more bytes than Content-Length said
 *   /500-then-well    500 once; then well
 *   /503 /404         always
 *   /redirect-ring    leads to itself
 *   /redirect-file    leads to file:///etc/passwd
 *   /headers          headers without end
 *   /hang             takes the request and says nothing
 *   /hang-half        the half, and then nothing
 *   /drip             a byte each 10 ms, without end
 *   /endless          bytes as fast as they go, without end or length
 *   /no-http          speaks something else
 *   /upload           takes a POST: 200
 *   /upload-late      500 once; then 200
 *   /upload-404       404 */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { FILE_SERVER_BYTES = 1 << 20, FILE_SERVER_REQUEST = 4096 };

struct file_server_shared {
    uint8_t content[FILE_SERVER_BYTES]; /* what it serves */
    size_t size;
    char etag[64]; /* with its quotes; "": none */
    atomic_int requests;
    atomic_llong sent;                 /* bytes of content, in full or in part */
    char request[FILE_SERVER_REQUEST]; /* the head of the last one */
    uint8_t upload[FILE_SERVER_BYTES]; /* the body of the last POST */
    atomic_size_t upload_size;
};

struct file_server {
    pid_t pid;
    int port;
    struct file_server_shared *shared;
};

/* Any free port of 127.0.0.1. Ends the test program when it does not start. */
void file_server_start(struct file_server *s);
void file_server_stop(struct file_server *s); /* with all connections */

/* Forgets what it saw; serves this many bytes of a pattern, with this ETag. */
void file_server_serve(struct file_server *s, size_t size, const char *etag);
