#include "common/shell/etcd_parts_io.h"

#include <assert.h>
#include <string.h>

#define METHOD "/etcdserverpb.Maintenance/Snapshot"

/* etcd sends pieces of 32 KiB. A stream of which nothing comes for STALL_S is given up. */
enum { PIECE_BYTES_MAX = 4 * 1024 * 1024, STALL_S = 20 };

struct download {
    struct exchange *exchange;
    const struct etcd_snapshot_sink *sink;
    struct err err;
    int code; /* the first error of what came, or of the sink; 0 = none */
    bool begun;
    uint64_t left; /* bytes that the server said will follow */
};

static int take_piece(struct download *d, struct bytes message)
{
    Etcd__SnapshotResponse *r =
        etcd__snapshot_response__unpack(NULL, message.size, message.data);
    if (!r) {
        return err_set(&d->err, ERR_IO, "etcd sent a piece of a snapshot that is none");
    }
    d->begun = true;
    d->left = r->remaining_bytes;
    const struct bytes blob = {.data = r->blob.data, .size = r->blob.len};
    int code = d->sink->take(d->sink->context, blob, d->left, &d->err);
    etcd__snapshot_response__free_unpacked(r, NULL);
    return code;
}

static int take_frames(struct download *d)
{
    struct buf *received = &d->exchange->received;
    struct bytes message;
    int64_t size;
    int code = 0;
    while (code == 0 && (size = grpc_frame_next(buf_bytes(received), PIECE_BYTES_MAX, &message))) {
        code = size < 0 ? err_set(&d->err, ERR_IO, "etcd sent a frame that is none")
                        : take_piece(d, message);
        buf_consume(received, size > 0 ? (size_t)size : 0);
    }
    return code;
}

static size_t on_bytes(char *data, size_t size, size_t count, void *download)
{
    struct download *d = download;
    buf_append(&d->exchange->received, data, size * count);
    d->code = take_frames(d);
    return d->code ? CURL_WRITEFUNC_ERROR : size * count;
}

static int on_turn(void *download, curl_off_t all, curl_off_t now, curl_off_t up, curl_off_t upped)
{
    (void)all, (void)now, (void)up, (void)upped;
    const struct etcd_snapshot_sink *sink = ((struct download *)download)->sink;
    return sink->stop(sink->context);
}

static void set_up(struct download *d, const char *url)
{
    Etcd__SnapshotRequest request = ETCD__SNAPSHOT_REQUEST__INIT;
    CURL *easy = d->exchange->easy;
    exchange_fill(d->exchange, &request.base, false);
    exchange_aim(d->exchange, url, 0);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, d);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_turn);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, d);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)STALL_S);
}

/* What the end of the exchange says. */
static int outcome(struct download *d, CURLcode result, const char *url, struct err *err)
{
    struct grpc_trailers *t = &d->exchange->trailers;
    if (d->code) {
        *err = d->err;
        return d->code;
    }
    if (d->sink->stop(d->sink->context)) {
        return err_set(err, ERR_UNKNOWN, "interrupted");
    }
    if (t->status == 0 && result == CURLE_OK && d->begun && d->left == 0) {
        return 0;
    }
    SCOPED_BUF(why);
    if (t->status > 0) {
        buf_append_string(&why, buf_string(&t->text));
    } else if (t->status == 0) {
        buf_printf(&why, "%llu bytes are missing", (unsigned long long)d->left);
    } else {
        exchange_explain(d->exchange, result, &why);
    }
    return err_set(err, ERR_UNAVAILABLE, d->begun ? "%.80s broke off: %.100s" : "%.80s: %.100s",
                   url, buf_string(&why));
}

/* Gives whether bytes were taken in *ret_begun. */
static int ask_one(struct etcd *e, size_t endpoint, const struct etcd_snapshot_sink *sink,
                   bool *ret_begun, struct err *err)
{
    SCOPED_BUF(url);
    struct download d = {.exchange = exchange_new(&e->options, NULL), .sink = sink};
    set_up(&d, etcd_url(e, endpoint, METHOD, &url));
    CURLcode result = curl_easy_perform(d.exchange->easy);
    int code = outcome(&d, result, e->endpoints[endpoint], err);
    *ret_begun = d.begun;
    exchange_free(d.exchange);
    return code;
}

int etcd_snapshot(struct etcd *e, const struct etcd_snapshot_sink *sink, struct err *err)
{
    int code = -ERR_UNAVAILABLE;
    bool begun = false;
    for (size_t i = 0; i < e->endpoint_count && code == -ERR_UNAVAILABLE && !begun; i++) {
        code = ask_one(e, i, sink, &begun, err);
    }
    return code;
}
