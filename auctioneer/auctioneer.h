/* The auctioneer: decides which cell starts what (design.md 1, 5). A role; one leads, others stand
 * by. */
#pragma once

#include "common/contract/role.h"

struct auctioneer_config {
    const char *name;
    const char *boards;  /* "https://...,https://..." */
    const char *url;     /* where it listens, reported in lead/auctioneer */
    const char *zones;   /* "a,b,c": docs/instances.md, Zones; "" = fewest first */
    const char *scoring; /* "default" or "diego" */
    /* Settings; 0 = default. */
    int32_t starting_container_maximum; /* 0 = none */
    double starting_container_weight;   /* negative = default: diego 0.25, default scoring 0 */
    double bin_pack_first_fit_weight;   /* 0: cells are not filled one after another */
    int64_t retry_interval_ns;          /* of what stays unplaced: 10 s */
    int64_t unclaimed_after_ns;         /* placed but unchanged: auctioned again: 5 s */
    size_t backlog_max;                 /* 1,048,576 */
};

/* Strings are copied. With a wrong configuration the role's first step is EFFECT_EXIT with code 2
 * and a text that says what is wrong. */
struct role *auctioneer_new(const struct auctioneer_config *config);
