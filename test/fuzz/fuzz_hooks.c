/* Targets: calls of the face that hooks have, one after the other, with a unit that has one
 * relation; and what rep-hook reads of the rep's answers. */
#include "common/base/message.h"
#include "rep/hook/answer.h"
#include "rep/unit/tools_face.h"
#include "test/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { CALLS_MAX = 48, WORDS_MAX_DRAWN = 8, ASKED_MAX = CALLS_MAX + 1 };

struct fuzzed_unit {
    struct arena arena; /* of the journal */
    Rep__UnitNote *journal;
    uint64_t write;
    bool waits;
    uint8_t answered[ASKED_MAX];
};

static enum tools_found hook(void *context, const char *token, uint32_t run, struct arena *a,
                             struct tools_hook *ret)
{
    static const struct name_value env[] = {{"CORKBOARD_UNIT", "web/3"}};
    (void)context;
    (void)a;
    FUZZ_REQUIRE(run >= RUN_FIRST && run <= RUN_LAST);
    *ret = (struct tools_hook){.token = "hook", .path = "", .script = "true\n", env, 1};
    return strcmp(token, "unit") == 0 ? TOOLS_FOUND : TOOLS_NONE;
}

static enum tools_found world(void *context, const char *token, struct arena *a,
                              struct tool_world *ret, const char **ret_guid)
{
    static Board__UnitSetting setting;
    static Board__UnitSetting *settings[] = {&setting};
    static const struct tool_member member = {"db/0", true, settings, 1};
    struct fuzzed_unit *u = context;
    struct tool_relation *relation = ARENA_NEW(a, struct tool_relation);
    board__unit_setting__init(&setting);
    setting.key = arena_strdup(a, "port");
    setting.value = arena_strdup(a, "80");
    *relation = (struct tool_relation){
        .number = 7, .endpoint = "db", .members = &member, .member_count = 1};
    *ret = (struct tool_world){.journal = u->journal,
                               .unit = "web/3",
                               .remote_unit = "db/0",
                               .relations = relation,
                               .relation_count = 1,
                               .config = settings,
                               .config_count = 1,
                               .address = "10.0.0.3",
                               .ports = "8080",
                               .machine = "2",
                               .principal = ""};
    *ret_guid = "guid";
    return strcmp(token, "hook") == 0 ? TOOLS_FOUND : TOOLS_NONE;
}

/* What is noted is a journal that the next rep reads. */
static uint64_t take(void *context, const char *guid, const struct tool_answer *answer,
                     struct effects *out)
{
    struct fuzzed_unit *u = context;
    (void)guid;
    (void)out;
    FUZZ_REQUIRE(answer->exit == TOOL_DONE);
    FUZZ_REQUIRE(!answer->status || strlen(answer->status) <= TOOL_STATUS_TEXT_MAX);
    FUZZ_REQUIRE(!answer->log || strlen(answer->log) <= TOOL_LOG_TEXT_MAX);
    if (answer->journal) {
        struct err err;
        struct bytes packed = message_packed(&u->arena, &answer->journal->base);
        FUZZ_REQUIRE(packed.size <= JOURNAL_BYTES_MAX);
        FUZZ_REQUIRE(journal_read(&u->arena, packed, &u->journal, &err) == 0);
        return u->waits ? ++u->write : 0;
    }
    return 0;
}

static void unit_init(struct fuzzed_unit *u)
{
    *u = (struct fuzzed_unit){.write = 0};
    arena_init(&u->arena);
    Rep__UnitNote *j = journal_new(&u->arena, "e");
    j->installed = j->configured = j->started = true;
    j->relations = ARENA_ARRAY(&u->arena, 1, Rep__UnitNoteRelation *);
    j->relations[0] = arena_message(&u->arena, &rep__unit_note_relation__descriptor);
    j->relations[0]->number = 7;
    j->n_relations = 1;
    const struct hook_step step = {HOOK_RUN, {HOOK_CHANGED, 7, 0}, 1};
    u->journal = journal_begin(&u->arena, j, &step, "d", "hook");
}

/* A byte for the token, one for how many words, and each: a tool, a word that tools know, or a
 * piece.
 */
static struct bytes words(struct arena *a, struct bytes *in)
{
    static const char *const known[] = {"relation-get",
                                        "relation-ids",
                                        "relation-list",
                                        "relation-set",
                                        "config-get",
                                        "unit-get",
                                        "status-set",
                                        "hook-log",
                                        "workload-restart",
                                        "-r",
                                        "db:7",
                                        "7",
                                        "-",
                                        "port",
                                        "db/0",
                                        "a=b",
                                        "db",
                                        "address",
                                        "--",
                                        "1024"};
    enum { KNOWN = sizeof(known) / sizeof(known[0]) };
    static const char *const tokens[] = {"hook", "unit", "another", ""};
    struct buf body;
    buf_init(&body);
    const char *word = tokens[fuzz_byte(in) & 3];
    buf_append(&body, word, strlen(word) + 1);
    unsigned count = fuzz_byte(in) % WORDS_MAX_DRAWN;
    for (unsigned i = 0; i < count; i++) {
        uint8_t of = fuzz_byte(in);
        word = of < KNOWN ? known[of] : fuzz_text(a, in);
        buf_append(&body, word, strlen(word) + 1);
    }
    struct bytes copy = {arena_copy(a, body.data, body.size), body.size};
    buf_done(&body);
    return copy;
}

static void see(struct fuzzed_unit *u, const struct effects *out)
{
    for (size_t i = 0; i < out->count; i++) {
        FUZZ_REQUIRE(out->list[i].kind == EFFECT_REPLY);
        uint64_t id = out->list[i].reply.id;
        FUZZ_REQUIRE(id < ASKED_MAX && u->answered[id] == 0);
        u->answered[id] = 1;
    }
}

void fuzz_tools(struct bytes in)
{
    static const char *const paths[] = {"/v1/hooks/tool", "/v1/hooks/tool", "/v1/hooks/run", "/"};
    struct fuzzed_unit u;
    struct tools_face face;
    const struct tools_owner owner = {&u, hook, world, take};
    unit_init(&u);
    tools_face_init(&face);
    for (uint64_t id = 1; in.size > 0 && id < ASKED_MAX; id++) {
        SCOPED_ARENA(a);
        struct effects out;
        effects_init(&out, &a);
        uint8_t what = fuzz_byte(&in);
        u.waits = what & 16;
        if ((what & 7) == 7) {
            tools_face_written(&face, "guid", fuzz_byte(&in), what & 32 ? "the disk is full" : "",
                               &out);
        } else if ((what & 7) == 6) {
            tools_face_hangup(&face, fuzz_byte(&in) % ASKED_MAX);
        } else {
            bool raw = what & 32;
            const struct request q = {.id = id,
                                      .method = what & 64 ? "GET" : "POST",
                                      .path = paths[what & 3],
                                      .body = raw ? fuzz_piece(&in) : words(&a, &in),
                                      .tools = true};
            tools_face_request(&face, &owner, &q, &out);
        }
        see(&u, &out);
    }
    FUZZ_REQUIRE(face.count <= TOOLS_OPEN_OF_UNIT_MAX);
    SCOPED_ARENA(a);
    struct effects out;
    effects_init(&out, &a);
    tools_face_dropped(&face, "guid", &out);
    see(&u, &out);
    FUZZ_REQUIRE(face.count == 0);
    tools_face_done(&face);
    arena_done(&u.arena);
}

void fuzz_hook_answers(struct bytes in)
{
    char *data = malloc(in.size + 1);
    FUZZ_REQUIRE(data);
    if (in.size > 0) {
        memcpy(data, in.data, in.size);
    }
    data[in.size] = '\0';
    size_t size = in.size;
    int status = hook_read_http(data, &size);
    FUZZ_REQUIRE(size <= in.size && data[size] == '\0');
    static struct hook_answer answer;
    if (status == 200 && hook_read_words(&answer, data, size) == 0) {
        size_t length = strlen(answer.token) + strlen(answer.path) + strlen(answer.script) + 3;
        for (size_t i = 0; i < answer.count; i++) {
            length += strlen(answer.environment[i]) + 1;
        }
        FUZZ_REQUIRE(length == size || length == size + 1);
        FUZZ_REQUIRE(answer.count <= HOOK_ENVIRONMENT_MAX);
    }
    free(data);
}
