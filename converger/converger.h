/* The converger finds what got lost and plans the repair (design.md 1, 5). A role; one leads,
 * others stand by. It writes nothing itself: its repairs are named moves, and a bbs decides each
 * again on what it reads. */
#pragma once

#include "common/contract/role.h"
#include "common/model/settings.h"

struct converger_config {
    const char *name;
    const char *boards; /* "https://...,https://..." */
    const char *url;    /* where it listens, reported in lead/converger */
    /* 0 = default. */
    int64_t interval_ns;       /* between two full passes: 30 s */
    int64_t unplaced_after_ns; /* UNCLAIMED for longer: the auctioneer is asked again: 30 s */
    struct task_times tasks; /* 0 = the cluster's setting */
};

/* Strings are copied. With a wrong configuration the role's first step is EFFECT_EXIT with code 2
 * and a text that says what is wrong. */
struct role *converger_new(const struct converger_config *config);
