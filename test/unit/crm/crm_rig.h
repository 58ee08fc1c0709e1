/* A CRM between its site and the centre, driven by hand: the frames of both boards, and what it
 * asks of them. For unit tests. */
#pragma once

#include "crm/inside.h"
#include "test/unit/bbs/board/feed_frames.h"
#include "test/unit/drive.h"

#define PARIS "acme/paris"
#define IDENTITY "11111111-2222-3333-4444-555555555555"

struct crm_rig {
    struct drive drive;
    struct arena arena;
    struct crm *crm;
    struct buf sent;
    int64_t site_revision, centre_revision;
    const char *generation;     /* of the centre's board */
    const char *former_version; /* that the centre shows with a session */
    uint64_t former_session;    /* the same */
    const char *target_version; /* of an upgrade that is under way; NULL = none is */
    bool another_leads;         /* at the site, when its snapshot is told */
    bool leads_on;              /* the snapshot has this one's lock */
};

struct crm_config crm_rig_config_of(const char *version);
void crm_rig_begin(struct crm_rig *x, const struct crm_config *config);
void crm_rig_end(struct crm_rig *x);
int crm_rig_setup(void **state);
int crm_rig_teardown(void **state);
char *crm_rig_text(const char *t);
void crm_rig_send_to(struct crm_rig *x, const struct feed_client *f);
void crm_rig_put_cell(struct crm_rig *x, Board__FeedFrame__Kind kind, const char *key,
                      int32_t memory, bool present);
void crm_rig_frame_identity(struct crm_rig *x, Board__FeedFrame__Kind kind, const char *cloudlet,
                            const char *follows);
void crm_rig_frame_lead(struct crm_rig *x, Board__FeedFrame__Kind kind);
/* The site's snapshot: two cells of three are there. `cloudlet` NULL: it has never been a site. */
void crm_rig_site_snapshot(struct crm_rig *x, const char *cloudlet, const char *follows);

void crm_rig_frame_cloudlet(struct crm_rig *x, Board__FeedFrame__Kind kind,
                            const Board__CloudletRecord *c);
void crm_rig_frame_info(struct crm_rig *x, Board__FeedFrame__Kind kind, uint64_t session,
                        const char *state, const char *version);
Board__CloudletRecord crm_rig_cloudlet_in(const char *state);
/* The centre's snapshot; session 0: no CRM has ever come. */
void crm_rig_centre_snapshot(struct crm_rig *x, const Board__CloudletRecord *c, uint64_t session,
                             const char *state, const char *version);

/* What was written is all told. */
void crm_rig_centre_heartbeat(struct crm_rig *x);

void crm_rig_centre_shows(struct crm_rig *x, uint64_t session, const char *state);
Board__CloudletRecord crm_rig_cloudlet_in_upgrade(const struct crm_rig *x, const char *state);
void crm_rig_cloudlet_becomes(struct crm_rig *x, const char *state);
const char *crm_rig_waits_for(struct crm_rig *x);
/* The move of the last step at this place, "centre" or "site"; NULL = none. */
const Board__Move *crm_rig_move_at(struct crm_rig *x, const char *place, const struct call **ret);

const Board__Move *crm_rig_expect_move(struct crm_rig *x, const char *place, const char *name,
                                       const struct call **ret);
/* The same, now or within 5 s. */
const Board__Move *crm_rig_await_move(struct crm_rig *x, const char *place, const char *name,
                                      const struct call **ret);
void crm_rig_expect_none(struct crm_rig *x, const char *place);
void crm_rig_answer_move(struct crm_rig *x, uint64_t id, const char *refusal, int64_t revision);
/* It asks for lead/site and is given it. */
void crm_rig_lead_site(struct crm_rig *x);

/* Started, leading at a site that has its name. */
void crm_rig_begin_at_site(struct crm_rig *x);

/* The move is done, and the centre shows what came of it. */
void crm_rig_done(struct crm_rig *x, const char *name, uint64_t session, const char *shows);

void crm_rig_become_ready(struct crm_rig *x);
/* Both boards go on to be heard, unless the site's is cut off. */
void crm_rig_pass(struct crm_rig *x, int64_t seconds);
void crm_rig_pass_ms(struct crm_rig *x, int64_t ms);
