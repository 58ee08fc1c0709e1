/* The server of a user's to which completion callbacks go, as a model: it hears them, notes what it
 * heard, and fails in every way there is (behaviour.md 13.4). */
#pragma once

#include "common/base/map.h"
#include "common/base/random.h"
#include "models/task_requests.pb-c.h"
#include "test/sim/world/world.h"

/* What it makes of a request. */
enum callback_deed {
    DEED_OK,
    DEED_503,
    DEED_504,
    DEED_SILENT,   /* hears it and never answers */
    DEED_CLOSES,   /* hears it and closes the connection */
    DEED_REFUSES,  /* takes no connection */
    DEED_404,
    DEED_500,
    DEED_SLOW,     /* 200 after CALLBACK_SLOW_NS */
    DEED_LATE,     /* 200 after CALLBACK_LATE_NS: nobody waits so long */
    DEED_MOVED,    /* 307 to where it answers 200 */
    DEED_SEE,      /* 302 to where a GET is answered 200 */
    DEED_MOVED_503, /* 307 to where it answers 503 */
    DEED_CIRCLE,   /* 307 to itself, for ever */
    DEED_COUNT
};

#define CALLBACK_SLOW_NS (6 * SECOND_NS)
#define CALLBACK_LATE_NS (12 * SECOND_NS)

/* The callback URL of the task `guid` is this with the guid behind it. */
#define CALLBACK_URL "https://cc.example/tasks/"

struct callback_server {
    struct world *world;
    struct map heard;    /* task_guid -> how often it was told of it, a pointer to unsigned */
    const enum callback_deed *script; /* of the requests to come; then it is OK */
    size_t script_left;
    struct random *random; /* else it draws: `trouble` of a hundred requests fail */
    unsigned trouble;
    unsigned deeds[DEED_COUNT];
    bool garbled; /* it was told something that is no outcome of a task */
    /* What was told, each time; may be NULL. */
    void (*on_heard)(void *context, const Models__TaskCallbackResponse *told);
    void *context;
};

/* Plays all servers outside of this world. */
void callback_server_init(struct callback_server *s, struct world *w);
void callback_server_done(struct callback_server *s);

/* How often it was told of the task: by each POST that it did not refuse. */
unsigned callback_server_heard(struct callback_server *s, const char *task_guid);

const char *callback_deed_name(enum callback_deed deed);
