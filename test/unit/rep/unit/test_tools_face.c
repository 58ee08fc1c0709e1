/* The face of hooks: what a body of words asks, who may, and what waits for the disk
 * (rep/unit/tools_face.h). */
#include "rep/unit/tools_face.h"

#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

#include <string.h>

enum { GREAT_VALUE = 65536, KEYS = 64 };

/* Units of the test: the token of a hook is "hook-GUID", that of a unit "unit-GUID". */
struct units {
    struct tools_owner owner;
    Rep__UnitNote *journal;
    struct arena arena; /* of the journal */
    uint64_t write;     /* of the next answer; 0: it is not to wait */
    size_t taken;
    bool later; /* they cannot tell it now */
    struct tools_face face;
    uint64_t asked;
};

static enum tools_found found(const struct units *u, bool so)
{
    return u->later ? TOOLS_LATER : so ? TOOLS_FOUND : TOOLS_NONE;
}

static enum tools_found hook(void *context, const char *token, uint32_t run, struct arena *a,
                             struct tools_hook *ret)
{
    static const struct name_value env[] = {{"CORKBOARD_UNIT", "web/3"}, {"EMPTY", ""}};
    (void)a;
    *ret = (struct tools_hook){.token = "hook-one", .path = "", .script = "exit 0\n", env, 2};
    return found(context, strcmp(token, "unit-one") == 0 && run == RUN_FIRST + 3);
}

static enum tools_found world(void *context, const char *token, struct arena *a,
                              struct tool_world *ret, const char **ret_guid)
{
    struct units *u = context;
    struct tool_relation *relation = ARENA_NEW(a, struct tool_relation);
    *relation = (struct tool_relation){.number = 7, .endpoint = "db"};
    *ret = (struct tool_world){.journal = u->journal,
                               .unit = "web/3",
                               .remote_unit = "db/0",
                               .relations = relation,
                               .relation_count = 1,
                               .address = "10.0.0.3",
                               .ports = "",
                               .machine = "2",
                               .principal = ""};
    *ret_guid = strncmp(token, "hook-", 5) == 0 ? arena_strdup(a, token + 5) : "";
    return found(u, **ret_guid != '\0');
}

static uint64_t take(void *context, const char *guid, const struct tool_answer *answer,
                     struct effects *out)
{
    struct units *u = context;
    (void)guid;
    (void)out;
    u->taken++;
    assert_int_equal(answer->exit, TOOL_DONE);
    if (answer->journal) {
        u->journal = answer->journal;
    }
    return answer->journal ? u->write : 0;
}

static void units_init(struct units *u)
{
    *u = (struct units){.owner = {u, hook, world, take}};
    arena_init(&u->arena);
    tools_face_init(&u->face);
    Rep__UnitNote *j = journal_new(&u->arena, "e");
    j->relations = ARENA_ARRAY(&u->arena, 1, Rep__UnitNoteRelation *);
    j->relations[0] = arena_message(&u->arena, &rep__unit_note_relation__descriptor);
    j->relations[0]->number = 7;
    j->n_relations = 1;
    const struct hook_step step = {HOOK_RUN, {HOOK_CHANGED, 7, 0}, 1};
    u->journal = journal_begin(&u->arena, j, &step, "d", "hook-one");
}

static void units_done(struct units *u)
{
    tools_face_done(&u->face);
    arena_done(&u->arena);
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static const char *const run_path = "/v1/hooks/run", *const tool_path = "/v1/hooks/tool";

/* The answer of this step: status and body; status 0: it waits. */
struct said {
    int status;
    struct bytes body;
};

static struct said said_of(const struct effects *out)
{
    assert_true(out->count <= 1);
    if (out->count == 0) {
        return (struct said){0};
    }
    assert_int_equal(out->list[0].kind, EFFECT_REPLY);
    return (struct said){out->list[0].reply.status, out->list[0].reply.body};
}

static struct said ask_bytes(struct units *u, const char *path, struct bytes body)
{
    struct effects out;
    effects_init(&out, &u->arena);
    const struct request q = {
        .id = ++u->asked, .method = "POST", .path = path, .body = body, .tools = true};
    tools_face_request(&u->face, &u->owner, &q, &out);
    struct said s = said_of(&out);
    return s;
}

/* Words by "|". */
static struct said ask(struct units *u, const char *path, const char *words)
{
    char *body = arena_strdup(&u->arena, words);
    size_t size = strlen(body) + 1;
    for (size_t i = 0; i < size; i++) {
        body[i] = body[i] == '|' ? '\0' : body[i];
    }
    return ask_bytes(u, path, (struct bytes){(const uint8_t *)body, size});
}

static void says(struct said s, int status, const char *text)
{
    assert_int_equal(s.status, status);
    assert_int_equal(s.body.size, strlen(text));
    assert_memory_equal(s.body.size ? (const char *)s.body.data : "", text, s.body.size);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void a_run_is_told_its_hook(void **state)
{
    struct units u;
    units_init(&u);
    struct said s = ask(&u, run_path, "unit-one|1027");
    static const char wanted[] = "hook-one\0\0exit 0\n\0CORKBOARD_UNIT=web/3\0EMPTY=";
    assert_int_equal(s.status, 200);
    assert_int_equal(s.body.size, sizeof(wanted));
    assert_memory_equal(s.body.data, wanted, sizeof(wanted));
    assert_int_equal(ask(&u, run_path, "unit-one|1028").status, 403);
    assert_int_equal(ask(&u, run_path, "hook-one|1027").status, 403);
    assert_int_equal(ask(&u, run_path, "|1027").status, 403);
    static const char *const malformed[] = {
        "unit-one",    "unit-one|1027|1", "unit-one|",
        "unit-one|x",  "unit-one|1023",   "unit-one|10270000000",
        "unit-one|-1", "unit-one|1027x",  ""};
    for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
        assert_int_equal(ask(&u, run_path, malformed[i]).status, 400);
    }
    units_done(&u);
}

static void a_tool_answers_by_the_token_of_its_hook(void **state)
{
    struct units u;
    units_init(&u);
    says(ask(&u, tool_path, "hook-one|unit-get|address"), 200, "10.0.0.3\n");
    assert_int_equal(u.taken, 1);
    assert_int_equal(ask(&u, tool_path, "unit-one|unit-get|address").status, 403);
    assert_int_equal(ask(&u, tool_path, "|unit-get|address").status, 403);
    char token[TOOLS_TOKEN_MAX + 2] = "hook-";
    memset(token + 5, 'x', sizeof(token) - 6);
    token[sizeof(token) - 1] = '\0';
    assert_int_equal(ask(&u, tool_path, arena_printf(&u.arena, "%s|unit-get", token)).status, 403);
    assert_int_equal(ask(&u, tool_path, "hook-one").status, 400);
    assert_int_equal(ask(&u, tool_path, "hook-one|rm").status, 400);
    assert_int_equal(ask(&u, tool_path, "hook-one|unit-get|address|ports").status, 400);
    assert_int_equal(ask(&u, tool_path, "hook-one|relation-get|-r|db:9|a").status, 409);
    assert_int_equal(u.taken, 1); /* what is refused changes nothing */
    units_done(&u);
}

/* 503, which is asked again; 403 would be final. */
static void what_cannot_be_told_now_is_asked_again(void **state)
{
    struct units u;
    units_init(&u);
    u.later = true;
    assert_int_equal(ask(&u, run_path, "unit-one|1027").status, 503);
    assert_int_equal(ask(&u, tool_path, "hook-one|unit-get|address").status, 503);
    assert_int_equal(ask(&u, tool_path, "|unit-get|address").status, 403);
    assert_int_equal(u.taken, 0);
    u.later = false;
    assert_int_equal(ask(&u, run_path, "unit-one|1027").status, 200);
    units_done(&u);
}

static void other_paths_are_not_there(void **state)
{
    struct units u;
    struct effects out;
    units_init(&u);
    assert_int_equal(ask(&u, "/v1/hooks", "hook-one|unit-get|address").status, 404);
    assert_int_equal(ask(&u, "/state", "").status, 404);
    effects_init(&out, &u.arena);
    struct request q = {.id = 1, .method = "GET", .path = tool_path};
    tools_face_request(&u.face, &u.owner, &q, &out);
    assert_int_equal(said_of(&out).status, 405);
    effects_init(&out, &u.arena);
    q.method = "POST";
    q.too_large = true;
    tools_face_request(&u.face, &u.owner, &q, &out);
    assert_int_equal(said_of(&out).status, 413);
    effects_init(&out, &u.arena);
    q = (struct request){.id = 1, .method = "POST", .path = tool_path, .body = bytes_of("a")};
    tools_face_request(&u.face, NULL, &q, &out);
    assert_int_equal(said_of(&out).status, 400); /* its last word has no end */
    effects_init(&out, &u.arena);
    q.body = (struct bytes){(const uint8_t *)"a", 2};
    tools_face_request(&u.face, NULL, &q, &out);
    assert_int_equal(said_of(&out).status, 403); /* a cell without units */
    units_done(&u);
}

static struct said ask_many(struct units *u, size_t arguments)
{
    SCOPED_BUF(body);
    buf_append(&body, "hook-one\0hook-log", 18);
    for (size_t i = 0; i < arguments; i++) {
        buf_append(&body, "a", 2);
    }
    return ask_bytes(u, tool_path, buf_bytes(&body));
}

static void words_have_bounds(void **state)
{
    struct units u;
    units_init(&u);
    struct said s = ask_many(&u, TOOL_ARGUMENTS_MAX);
    assert_true(s.body.size == 0 || !strstr((const char *)s.body.data, "malformed"));
    says(ask_many(&u, TOOL_ARGUMENTS_MAX + 1), 400, "malformed, or too many arguments\n");
    uint8_t *great = arena_array(&u.arena, TOOLS_BODY_MAX + 1, 1);
    assert_int_equal(ask_bytes(&u, tool_path, (struct bytes){great, TOOLS_BODY_MAX + 1}).status,
                     413);
    units_done(&u);
}

static struct said set_keys(struct units *u, unsigned count)
{
    SCOPED_BUF(body);
    buf_append(&body, "hook-one\0relation-set", 22);
    for (unsigned i = 0; i < count; i++) {
        buf_printf(&body, "key%u=1", i);
        buf_append(&body, "", 1);
    }
    return ask_bytes(u, tool_path, buf_bytes(&body));
}

static struct said set_value(struct units *u, size_t size)
{
    SCOPED_BUF(body);
    buf_append(&body, "hook-one\0relation-set\0k=", 24);
    for (size_t i = 0; i < size; i++) {
        buf_append(&body, "v", 1);
    }
    buf_append(&body, "", 1);
    return ask_bytes(u, tool_path, buf_bytes(&body));
}

/* What tool_call() bounds goes through the face as it is. */
static void what_is_set_has_bounds(void **state)
{
    struct units u;
    units_init(&u);
    says(set_keys(&u, KEYS), 200, "");
    assert_int_equal(set_keys(&u, KEYS + 1).status, 409);
    units_done(&u);
    units_init(&u);
    assert_int_equal(set_value(&u, GREAT_VALUE).status, 409);
    assert_int_equal(u.taken, 0);
    says(set_value(&u, GREAT_VALUE - 100), 200, "");
    says(ask(&u, tool_path, "hook-one|relation-set|k=a=b=c|l==|m=\xc3\xa4"), 200, "");
    says(ask(&u, tool_path, "hook-one|relation-get|k|web/3"), 200, "a=b=c\n");
    says(ask(&u, tool_path, "hook-one|relation-get|l|web/3"), 200, "=\n");
    size_t taken = u.taken;
    assert_int_equal(ask(&u, tool_path, "hook-one|relation-set|k=\xff").status, 409);
    assert_int_equal(ask(&u, tool_path, "hook-one|relation-set|=k").status, 400);
    assert_int_equal(u.taken, taken);
    units_done(&u);
}

static size_t written(struct units *u, const char *guid, uint64_t write, const char *why,
                      struct said *ret_last)
{
    struct effects out;
    effects_init(&out, &u->arena);
    tools_face_written(&u->face, guid, write, why, &out);
    for (size_t i = 0; i < out.count; i++) {
        assert_int_equal(out.list[i].kind, EFFECT_REPLY);
        *ret_last = (struct said){out.list[i].reply.status, out.list[i].reply.body};
    }
    return out.count;
}

static void what_is_set_is_on_the_disk_before_it_is_answered(void **state)
{
    struct units u;
    struct said last;
    units_init(&u);
    u.write = 5;
    assert_int_equal(ask(&u, tool_path, "hook-one|relation-set|a=1").status, 0);
    u.write = 6;
    assert_int_equal(ask(&u, tool_path, "hook-one|relation-set|a=2").status, 0);
    says(ask(&u, tool_path, "hook-one|relation-get|a|web/3"), 200, "2\n"); /* its own, at once */
    assert_int_equal(written(&u, "other", 9, "", &last), 0);
    assert_int_equal(written(&u, "one", 4, "", &last), 0);
    assert_int_equal(written(&u, "one", 5, "", &last), 1);
    says(last, 200, "");
    assert_int_equal(written(&u, "one", 6, "the disk is full", &last), 1);
    says(last, 503, "the disk is full\n");
    assert_int_equal(written(&u, "one", 9, "", &last), 0);
    units_done(&u);
}

static void who_has_gone_is_not_answered(void **state)
{
    struct units u;
    struct said last;
    struct effects out;
    units_init(&u);
    u.write = 5;
    ask(&u, tool_path, "hook-one|relation-set|a=1");
    ask(&u, tool_path, "hook-one|relation-set|a=2");
    tools_face_hangup(&u.face, u.asked - 1);
    tools_face_hangup(&u.face, 77);
    assert_int_equal(written(&u, "one", 5, "", &last), 1);
    ask(&u, tool_path, "hook-one|relation-set|a=3");
    effects_init(&out, &u.arena);
    tools_face_dropped(&u.face, "other", &out);
    assert_int_equal(out.count, 0);
    tools_face_dropped(&u.face, "one", &out);
    assert_int_equal(said_of(&out).status, 503);
    units_done(&u);
}

/* Another value each time: what changes nothing waits for nothing. */
static struct said set_another(struct units *u, const char *guid)
{
    return ask(u, tool_path,
               arena_printf(&u->arena, "hook-%s|relation-set|a=%u", guid, (unsigned)u->asked));
}

static void so_many_wait_of_a_unit_and_of_a_cell(void **state)
{
    struct units u;
    struct said last;
    units_init(&u);
    u.write = 1;
    for (int i = 0; i < TOOLS_OPEN_OF_UNIT_MAX; i++) {
        assert_int_equal(set_another(&u, "one").status, 0);
    }
    size_t taken = u.taken;
    assert_int_equal(set_another(&u, "one").status, 503);
    assert_int_equal(u.taken, taken);
    for (int unit = 1; unit < TOOLS_OPEN_MAX / TOOLS_OPEN_OF_UNIT_MAX; unit++) {
        for (int i = 0; i < TOOLS_OPEN_OF_UNIT_MAX; i++) {
            assert_int_equal(set_another(&u, arena_printf(&u.arena, "u%d", unit)).status, 0);
        }
    }
    assert_int_equal(set_another(&u, "last").status, 503);
    assert_int_equal(written(&u, "one", 1, "", &last), TOOLS_OPEN_OF_UNIT_MAX);
    assert_int_equal(set_another(&u, "last").status, 0);
    units_done(&u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_told_its_hook),
        cmocka_unit_test(a_tool_answers_by_the_token_of_its_hook),
        cmocka_unit_test(what_cannot_be_told_now_is_asked_again),
        cmocka_unit_test(other_paths_are_not_there),
        cmocka_unit_test(words_have_bounds),
        cmocka_unit_test(what_is_set_has_bounds),
        cmocka_unit_test(what_is_set_is_on_the_disk_before_it_is_answered),
        cmocka_unit_test(who_has_gone_is_not_answered),
        cmocka_unit_test(so_many_wait_of_a_unit_and_of_a_cell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
