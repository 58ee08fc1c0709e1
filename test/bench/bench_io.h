/* The clients of a benchmark: closed-loop load against a running bbs, its feed, and bare etcd. */
#pragma once

#include "board.pb-c.h"
#include "common/base/arena.h"
#include "common/base/bytes.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stdint.h>

struct bench;
struct etcd_bench;
struct event_base;

/* No benchmark waits longer for one answer, or for the end of one load. */
enum { BENCH_ANSWER_MS = 30 * 1000, BENCH_LOAD_MS = 300 * 1000 };

struct bench_result {
    double per_second;     /* units; records for etcd */
    double p50_ms, p99_ms; /* of a unit; 0 for etcd */
    int failures;          /* the first one is told on stderr */
};

/* Reads BENCH_BBS_URLS, CA_CERT_FILE, CLIENT_CERT_FILE and CLIENT_KEY_FILE; ends the process when
 * one is missing. */
struct bench *bench_new(void);
void bench_free(struct bench *b);

int64_t bench_now_ns(void);

/* The value of an environment variable; ends the process when it is missing. */
const char *bench_needed(const char *name);

/* Processor time of all threads of a process so far, in microseconds; ends this process when there
 * is no such process. */
double bench_processor_us(int pid);

/* The request of one step of one unit, in the arena. */
typedef const ProtobufCMessage *bench_request(void *context, struct arena *a, int unit, int step,
                                              const char **ret_path);

/* `width` clients, each doing one unit of `steps` calls (at most BENCH_STEPS) after the other,
 * `units` in all. */
enum { BENCH_STEPS = 16 };
struct bench_result bench_load(struct bench *b, int width, int units, int steps,
                               bench_request *request, void *context);

/* From now on sees the body of each good answer of a load: false = it is a failure; the look tells
 * it. NULL = nobody looks. */
typedef bool bench_look(void *context, struct bytes body);
void bench_look_at_answers(struct bench *b, bench_look *look, void *context);

/* What the first bbs has done since it started: ops, transactions that carried them, and how often
 * one had to be decided again. */
struct bench_counts {
    double ops, transactions, conflicts;
};
struct bench_counts bench_count(struct bench *b);

/* Follows the records of these kinds ("actual unit"): `on_frame` sees each frame, also during a
 * load. bench_wait() runs the loop until bench_done() was called since the last bench_wait(); false
 * after BENCH_ANSWER_MS. */
typedef void bench_frame(void *context, const Board__FeedFrame *frame);
void bench_follow(struct bench *b, const char *kinds, bench_frame *on_frame, void *context);
bool bench_wait(struct bench *b);
void bench_done(struct bench *b);

/* One call outside of a load; its failure is told on stderr and ends the process. */
void bench_call(struct bench *b, const char *path, const ProtobufCMessage *m);

/* One long answer of the first bbs, read as it comes: when its first byte came, when its last, and
 * how many there were. Its failure is told on stderr and ends the process. */
struct bench_answer {
    double first_ms, last_ms;
    double bytes;
};
struct bench_answer bench_read(const char *path, const ProtobufCMessage *m);

/* A client of the etcd at BENCH_ETCD (certificate: BENCH_ETCD_CERT, BENCH_ETCD_KEY). */
struct etcd_bench *etcd_bench_new(void);
void etcd_bench_free(struct etcd_bench *b);

/* `width` transactions in flight, each of `records` compares and puts (at most BENCH_RECORDS) of
 * fresh keys. Nobody else should be looking at this etcd. */
enum { BENCH_RECORDS = 64 };
struct bench_result etcd_bench_load(struct etcd_bench *b, int width, int transactions, int records);

/* One Range over all keys of the last load; it has no first byte of its own to tell. */
struct bench_answer etcd_bench_range(struct etcd_bench *b);
