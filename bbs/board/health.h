/* Compaction, and what is done when etcd is out of quota */
#pragma once

#include "common/contract/effect.h"

#include <stdbool.h>

struct board;

enum { HEALTH_SAMPLES = 16 };

struct etcd_health {
    struct {
        int64_t mono_ns;
        int64_t revision;
    } samples[HEALTH_SAMPLES]; /* positions of the copy, one each half minute */
    unsigned sample_count;
    int64_t sample_ns;
    int64_t compact_ns;
    uint64_t compact_id;
    bool read_only;
    int64_t full_ns;         /* since when */
    int64_t recover_ns;
    int64_t recover_wait_ns; /* before the first try */
    int64_t recovered_ns;    /* when writes were last taken again; 0 = never */
    unsigned recover_failures;
    uint64_t recover_id;
    uint64_t alarm_member;
};

/* Does what is due. */
void health_timer(struct board *b, struct effects *out);
/* The board generation is another: revisions noted so far are of another history. */
void health_reset(struct board *b);
int64_t health_due_ns(const struct board *b);
void health_out_of_space(struct board *b, struct effects *out);
/* A write that was sent then has landed. */
void health_wrote(struct board *b, int64_t sent_ns, struct effects *out);
