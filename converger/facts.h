/* What the passes need to know of the board, kept up on each piece of news, so that a look decodes
 * nothing: of each ActualLRP record some 110 bytes (struct instance), of each process what its
 * DesiredLRP asks for, of each cell whether it is present and which records name it. Pure. */
#ifndef CONVERGER_FACTS_H
#define CONVERGER_FACTS_H

#include "common/base/map.h"
#include "common/client/follower.h"
#include "converger/domains.h"
#include "converger/passes.h"

#include <bsd/sys/queue.h>
#include <bsd/sys/tree.h>

/* A domain's name, shared by the records that bear it, and what was found out about it last. */
struct domain_name {
    size_t bearers;
    uint64_t asked; /* in which round of looks */
    bool fresh;
    char name[];
};

struct instance;
struct task;
LIST_HEAD(instance_list, instance);
LIST_HEAD(task_list, task);
RB_HEAD(instance_tree, instance);

/* A cell that is on the board, or that a record names. */
struct cell_facts {
    struct instance_list instances;
    struct task_list tasks; /* those that run on it */
    bool present;           /* its record says so; without a record it is absent */
    bool known;             /* it has a record */
    struct sighting seen;   /* of its record: of state or session */
    char id[];
};

/* An ActualLRP record, of any presence. */
struct instance {
    RB_ENTRY(instance) node;
    LIST_ENTRY(instance) neighbour; /* while `cell` */
    struct process *process;
    struct cell_facts *cell;    /* NULL = none */
    struct domain_name *domain; /* NULL = a record of a newer version */
    uint64_t routing;           /* digest of the routes and tags it shows */
    struct instance_view view;  /* but for what is said of a look */
};

/* A process; part of struct process. */
struct process_facts {
    struct instance_tree instances; /* by index, then presence */
    size_t count;
    size_t unreadable; /* records of a newer version, the desired one included */
    bool has_desired;  /* a record, readable or not */
    bool has_job;
    struct desired_view desired;
    /* The digest that its instances should have: that of index 0, with these tags, which follow the
     * index. */
    uint64_t routing;
    char **index_tags;
    size_t index_tag_count;
};

struct facts {
    struct map cells;   /* id -> struct cell_facts */
    struct map domains; /* name -> struct domain_name */
    uint64_t round;
};

void facts_init(struct facts *f);
/* When all processes and tasks are cleared. */
void facts_done(struct facts *f);

/* News of a record; NULL = it is gone. */
void facts_actual(struct facts *f, struct process *p, int32_t index, int presence,
                  const struct followed *record);
void facts_desired(struct process *p, const struct followed *record);
void facts_job(struct process *p, bool at_work);

/* News of a cell. True if it is present now and was not, or the other way round: what is decided
 * about the records that name it may change. They are `(*ret_cell)->instances` and its `tasks`;
 * *ret_cell is NULL when nothing names it. */
bool facts_cell(struct facts *f, const char *id, const struct followed *record,
                const struct cell_facts **ret_cell);

/* For whoever lists a record with a cell: an unknown one is made, and it goes when nothing is
 * listed with it and it has no record. */
struct cell_facts *facts_cell_named(struct facts *f, const char *id);
void facts_drop_unused(struct facts *f, struct cell_facts *c);

/* Nothing is known of the process, or of any cell, any more. */
void facts_clear(struct facts *f, struct process *p);
void facts_clear_cells(struct facts *f);

/* Whether anything of it is on the board. */
bool facts_any(const struct process *p);

/* A round of looks at one moment begins: freshness is found out once a domain. */
void facts_begin_round(struct facts *f);

/* The indices from `first` to `last` of a process, for passes_run(). The caller fills in the rest
 * of `ret`: what is the same for every process. The arena holds the list. */
void facts_view(struct facts *f, const struct domains *domains, struct moment now, struct arena *a,
                const struct process *p, int32_t first, int32_t last, struct process_view *ret);

#endif
