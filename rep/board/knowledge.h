/* What the rep knows of the records of its instances and tasks: the feed's copy of this cell's, and
 * on top of it the answers of bbs that the feed has not caught up with yet, so that nothing is done
 * twice on stale knowledge. */
#pragma once

#include "common/client/feed_client.h"
#include "models/actual_lrp.pb-c.h"
#include "rep/container/harmonise_task.h"
#include "rep_note.pb-c.h"

struct knowledge {
    const struct feed_client *feed_client; /* of this cell's actual LRPs */
    const char *cell_id;
    struct map answers; /* record key -> the newer answer */
    char board_generation[FEED_CLIENT_BOARD_GENERATION_BYTES]; /* theirs; "" = none known */
};

/* The feed client and the text are borrowed. */
void knowledge_init(struct knowledge *k, const struct feed_client *feed_client,
                    const char *cell_id);
void knowledge_done(struct knowledge *k);

/* A bbs answered at `revision` that `record` (NULL: none) stands at this key. */
void knowledge_answer(struct knowledge *k, const char *key, const ProtobufCMessage *record,
                      int64_t revision);

/* Forgets answers that the feed has caught up with. */
void knowledge_trim(struct knowledge *k);

/* The feed or an answer is of this board generation ("" says nothing). Answers of another mean
 * nothing and are forgotten; those of this one are kept, also when they came before the feed's
 * first snapshot, which may be older. True if the board generation before was another one. */
bool knowledge_board_generation(struct knowledge *k, const char *board_generation);

/* How the record of this index looks to the container `guid`: the one that bears its instance key,
 * else the ORDINARY one (design.md 5). *ret_record gets the record itself, decoded into the arena,
 * or NULL; who needs none gives NULL for both, and nothing stays in memory. UNSEEN when neither
 * the feed nor an answer says anything. */
enum harmony_record knowledge_of(const struct knowledge *k, struct arena *a,
                                 const Models__ActualLRPKey *key, const char *guid,
                                 const Models__ActualLRP **ret_record);

/* The record at a key of the feed as it stands to the best of our knowledge, decoded into the
 * arena; NULL if it is gone or unreadable. */
const Models__ActualLRP *knowledge_at(const struct knowledge *k, struct arena *a, const char *key);

/* The task as it stands, to the best of our knowledge, decoded into the arena; NULL if there is
 * none or nothing is known. *ret_seen: how it looks to the container that this note
 * is of; without an attempt in it: to a cell that has no container of it. */
const Models__Task *knowledge_task(const struct knowledge *k, struct arena *a,
                                   const Rep__TaskNote *note, enum harmony_task_record *ret_seen);

/* Only how it looks: nothing stays in memory. */
enum harmony_task_record knowledge_task_seen(const struct knowledge *k, const Rep__TaskNote *note);
