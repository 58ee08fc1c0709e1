/* The CRM's object: its subjects side by side. For crm/ only. */
#pragma once

#include "common/client/mover.h"
#include "common/client/questions.h"
#include "crm/centre.h"
#include "crm/crm.h"
#include "crm/follow.h"
#include "crm/upgrade.h"

/* Of the record that says which site this is. */
#define SITE_KEY "site/identity"

struct crm {
    struct leading life; /* first: a struct role * is a struct crm *. It follows the site's board */
    const char *cloudlet, *version;
    struct centre centre;
    struct follow follow;
    struct upgrade upgrade;
    struct mover mover; /* of moves at the site */
    struct mover_owner owner;
    bool moving;                     /* a move about site/identity is on its way */
    int64_t again_ns;                /* no other before */
    int64_t lost_ns;                 /* its feed does not tell since then; 0 = it does */
    char site_why[CENTRE_WHY_BYTES]; /* why this cluster cannot be the site; "" = it can */
};

/* So long the site's feed does not tell before the centre hears of it: a bbs that begins again is
 * back by then. */
#define SITE_LOST_NS (15 * SECOND_NS)
bool crm_site_is_lost(const struct crm *x);

/* What the site says of itself now; borrowed from the arena. */
struct centre_site crm_standing(const struct crm *x, struct arena *a);

/* What an upgrade goes by; borrowed from the arena. */
struct upgrade_facts crm_upgrade_facts(const struct crm *x, struct arena *a);

/* site/identity as the site's board has it, in the arena; NULL = none. */
const Board__SiteRecord *crm_identity(const struct crm *x, struct arena *a);

/* What it is asked: GET /state, GET /plan. */
extern const struct path_table crm_questions;
