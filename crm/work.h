/* A work of a CRM: brings the site to what the centre's record says of one object, by moves on the
 * site's board. Each step follows from where the site stands, so that a CRM that died goes on
 * there, and each may be made twice (docs/edge.md, What the CRM does). Pure; time is monotonic. */
#pragma once

#include "common/contract/moment.h"
#include "crm/harmonise.h"

/* An attempt that came to nothing is made again after so long, then after twice as long each time.
 */
#define WORK_AGAIN_FIRST_NS (100 * MILLISECOND_NS)
#define WORK_AGAIN_MOST_NS (10 * SECOND_NS)
/* So long the site's feed may lag behind the answer to a move, before that is made once more. */
#define WORK_SETTLES_NS (1 * SECOND_NS)

enum {
    WORK_GIVES_UP_TENTHS = 9, /* of the operation's limit: before the centre's deadline */
    WORK_ERROR_MAX = 512,     /* bytes of what it says when it fails, without the end */
};

enum crm_step_kind {
    STEP_WAIT, /* for the site, or until `again_ns` of the work */
    STEP_MAKE_SLICE,
    STEP_RESIZE_SLICE,
    STEP_DROP_SLICE,
    STEP_DESIRE, /* a DesiredLRP with the record's digest */
    STEP_REMOVE, /* the DesiredLRP `process_guid` */
    STEP_DONE,   /* the site is as the record says */
    STEP_FAILED, /* and what it made is removed again, but for what the error says */
    CRM_STEP_KIND_COUNT
};

struct crm_step {
    enum crm_step_kind kind;
    const char *process_guid; /* of REMOVE; borrowed from the site */
    /* A line of progress, in the arena; NULL = none. */
    unsigned number, of;
    const char *text;
    const char *error; /* of FAILED, and of WAIT what keeps it, if anything does; in the arena */
};

/* What the site's board has of the object; borrowed. */
struct crm_site_slice {
    bool stands;
    const char *digest;
};

/* A definition of an app instance: one that is desired, or what is left of one that is not. */
struct crm_site_lrp {
    const char *process_guid, *digest;
    bool desired;
    uint32_t wanted;    /* instances */
    uint32_t ran;       /* of these: that have been RUNNING once */
    uint32_t instances; /* that stand on the board */
    const char *why;    /* one of them does not run: the placement error, or the crash; NULL =
                           nobody says */
};

struct crm_site {
    struct crm_site_slice slice;     /* of a cluster */
    const struct crm_site_lrp *lrps; /* of an app instance */
    size_t lrp_count;
};

struct crm_work {
    enum crm_kind kind;
    enum crm_task task;
    char *uid, *name, *digest; /* the record's; of a removal: digest "" */
    uint64_t request;
    /* Of a READY object, which the site lost or is behind with, or of one without a record: no
     * operation waits, so it does not give up, and does not undo. */
    bool lasts;
    bool undoing; /* it fails; what it made is being removed */
    int64_t gives_up_ns, ends_ns;
    int64_t again_ns; /* not before: the next attempt; 0 = at once */
    unsigned attempts;
    enum crm_step_kind last; /* move; done, it is seen at the latest at: */
    int64_t settles_ns;
    char error[WORK_ERROR_MAX + 1]; /* why it fails, or the last attempt came to nothing */
};

/* One that begins now, or goes on after its CRM began anew: it gives up at 9/10 of the operation's
 * limit. Texts are copied. */
void crm_work_init(struct crm_work *w, const struct crm_planned *planned, uint64_t request,
                   int64_t limit_ns, int64_t now_ns);
void crm_work_done(struct crm_work *w);

/* Whether it does what is planned now; otherwise another one takes its place, and nobody hears how
 * it would have ended. */
bool crm_work_serves(const struct crm_work *w, const struct crm_planned *planned, uint64_t request);

/* What it does next. After DONE and FAILED it is over. */
void crm_work_next(struct crm_work *w, struct arena *a, const struct crm_site *site, int64_t now_ns,
                   struct crm_step *ret);

/* When it wants to be asked again, though nothing changed. */
int64_t crm_work_due_ns(const struct crm_work *w);

/* What became of the move that it asked for last. REFUSED is the site's bbs's word, which says why:
 * what is to come for an operation then fails, all else is tried again, for something may be in its
 * way yet. AGAIN: it is not known, or the bbs could not be reached. What is so already is DONE:
 * that there is such a DesiredLRP, or none any more. */
enum crm_answer { ANSWER_DONE, ANSWER_REFUSED, ANSWER_AGAIN };
void crm_work_answered(struct crm_work *w, enum crm_answer answer, const char *why, int64_t now_ns);

/* ---- for work.c: the kinds ------------------------------------------------------------------- */

/* Without time-outs: what the site's state asks for. With `undoing` what the work made goes. */
void crm_slice_step(const struct crm_work *w, struct arena *a, const struct crm_site *site,
                    struct crm_step *ret);
void crm_app_step(const struct crm_work *w, struct arena *a, const struct crm_site *site,
                  struct crm_step *ret);

/* What of the object would be left at the site if the work ended now: "slice u1"; NULL = nothing.
 */
const char *crm_slice_leaves(const struct crm_work *w, struct arena *a,
                             const struct crm_site *site);
const char *crm_app_leaves(const struct crm_work *w, struct arena *a, const struct crm_site *site);
