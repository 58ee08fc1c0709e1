#include "bbs/route/crm.h"

#include "common/base/bytes.h"
#include "common/base/message.h"
#include "common/model/keys.h"
#include "common/model/moves.h"

#include <assert.h>
#include <string.h>

/* What a cloudlet owns: the record of its name, or all whose names begin with its own. */
static const struct {
    enum record_type type;
    bool all;
} owned[] = {
    {RECORD_CLOUDLET, false},   {RECORD_CLOUDLETINFO, false}, {RECORD_MAINTENANCE, false},
    {RECORD_CLUSTERINST, true}, {RECORD_APPINST, true},
};
enum { OWNED = sizeof(owned) / sizeof(owned[0]) };

static const char *owned_topic(struct arena *a, size_t i, const char *cloudlet)
{
    assert(i < OWNED && *cloudlet);
    return (owned[i].all ? key_edge_all : key_edge)(a, owned[i].type, cloudlet);
}

bool crm_owns(struct arena *a, const char *cloudlet, const char *key)
{
    for (size_t i = 0; i < OWNED; i++) {
        const char *topic = owned_topic(a, i, cloudlet);
        if (owned[i].all ? text_begins(key, topic) && key[strlen(topic)]
                         : strcmp(key, topic) == 0) {
            return true;
        }
    }
    return false;
}

const Board__FeedRequest *crm_feed(struct arena *a, const char *cloudlet,
                                   const Board__FeedRequest *asked)
{
    Board__FeedRequest *r = arena_message(a, &board__feed_request__descriptor);
    r->board_generation = asked->board_generation;
    r->revision = asked->revision;
    r->boot_id = asked->boot_id;
    r->heartbeat_revision = asked->heartbeat_revision;
    r->topics = ARENA_ARRAY(a, OWNED, char *);
    for (size_t i = 0; i < OWNED; i++) {
        r->topics[r->n_topics++] = (char *)(uintptr_t)owned_topic(a, i, cloudlet);
    }
    assert(r->n_selectors == 0 && r->n_topics == OWNED);
    return r;
}

const char *crm_foreign(struct arena *a, const char *cloudlet, const Board__ApplyRequest *moves)
{
    for (size_t i = 0; i < moves->n_moves; i++) {
        const char *key = move_key(a, moves->moves[i]);
        if (!crm_owns(a, cloudlet, key)) {
            return key;
        }
    }
    return NULL;
}

const char *session_refused(struct arena *a, const char *cloudlet,
                            const Board__CloudletInfoRecord *info, uint64_t session)
{
    if (!info || !info->session) {
        return arena_printf(a, "cloudlet %s has no session: open one", cloudlet);
    }
    return info->session == session
               ? NULL
               : arena_printf(a, "session %llu of cloudlet %s is over: the board's is %llu",
                              (unsigned long long)session, cloudlet,
                              (unsigned long long)info->session);
}
