/* What the passes need to know of a process, kept up with each change, so that a look decodes
 * nothing: of each ActualLRP record some 110 bytes (struct cached_instance), and what its
 * DesiredLRP asks for. Pure. */
#pragma once

#include "converger/cache.h"
#include "converger/passes.h"

#include <bsd/sys/tree.h>

struct cached_instance;
RB_HEAD(instance_tree, cached_instance);

/* An ActualLRP record, of any presence. */
struct cached_instance {
    RB_ENTRY(cached_instance) node;
    struct cell_user on;
    struct process *process;
    struct cached_domain *domain; /* NULL = a record of a newer version */
    uint64_t routing;             /* digest of the routes and tags it shows */
    bool routed, untold;          /* as of struct routing */
    struct instance_view view;    /* but for what is said of a look */
};

/* A process; part of struct process. */
struct process_cache {
    struct instance_tree instances; /* by index, then presence */
    size_t count;
    size_t unreadable; /* records of a newer version, the desired one included */
    bool has_desired;  /* a record, readable or not */
    bool has_job;
    struct desired_view desired;
    /* The digest that its instances should have: that of index 0, with these tags, which follow the
     * index. */
    uint64_t routing;
    bool routed; /* it has routes */
    char **index_tags;
    size_t index_tag_count;
};

/* A record; NULL = it is gone. */
void process_cache_actual(struct cache *c, struct process *p, int32_t index, int presence,
                          const struct followed *record);
void process_cache_desired(struct process *p, const struct followed *record);
void process_cache_job(struct process *p, bool at_work);

/* Nothing is known of the process any more. */
void process_cache_clear(struct cache *c, struct process *p);

/* Whether anything of it is on the board. */
bool process_cache_any(const struct process *p);

/* The indices from `first` to `last` of a process, for passes_run(). The caller fills in the rest
 * of `ret`: what is the same for every process. The arena holds the list. */
void process_cache_view(const struct cache *c, struct moment now, struct arena *a,
                        const struct process *p, int32_t first, int32_t last,
                        struct process_view *ret);
