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
    char site_why[CENTRE_WHY_BYTES]; /* why this cluster cannot be the site; "" = it can */
};

/* What the site says of itself now; borrowed from the arena. */
struct centre_site crm_site(const struct crm *x, struct arena *a);

/* What an upgrade goes by; borrowed from the arena. */
struct upgrade_facts crm_upgrade_facts(const struct crm *x, struct arena *a);

/* site/identity as the site's board has it, in the arena; NULL = none. */
const Board__SiteRecord *crm_identity(const struct crm *x, struct arena *a);

/* What it is asked: GET /state. */
extern const struct path_table crm_questions;
