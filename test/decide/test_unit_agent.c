/* What a unit's agent does next: the table of rep/unit/agent.c row by row, with its numbers; and
 * what it reports. test_unit_agent_worlds.c tries each order of events. */
#include "rep/unit/agent.h"

#include "common/base/message.h"
#include "common/lifecycle/unit_agent.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

enum { RELATION = 7, OTHER_RELATION = 9 };

/* The facts of a row, and what they point to. */
struct laid {
    struct arena *arena;
    struct agent_facts f;
    Board__UnitRecord unit, principal;
    Board__UnitServiceRecord service, other;
    Board__UnitStatusRecord status;
    Board__RelationRecord relations[2];
    Board__RelationEnd ends[2][2];
    Board__RelationEnd *end_list[2][2];
    Board__Endpoint endpoints[2][2];
    struct agent_relation list[2];
    struct sight_relation seen[HOOK_RELATIONS_MAX];
    struct agent_child children[AGENT_CHILDREN_MAX];
    Rep__UnitNote *journal;
};

static bool says(const char *words, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = strstr(words, word); at; at = strstr(at + 1, word)) {
        if ((at == words || at[-1] == ' ') && (!at[size] || at[size] == ' ')) {
            return true;
        }
    }
    return false;
}

static char *text(struct laid *l, const char *s)
{
    return arena_strdup(l->arena, s);
}

/* ---- What a row lays ------------------------------------------------------------------------- */

/* web's relation with `other`. */
static void lay_relation(struct laid *l, size_t i, uint32_t number, const char *other, bool alive,
                         bool container)
{
    Board__RelationRecord *r = &l->relations[i];
    board__relation_record__init(r);
    for (size_t k = 0; k < 2; k++) {
        board__relation_end__init(&l->ends[i][k]);
        board__endpoint__init(&l->endpoints[i][k]);
        l->end_list[i][k] = &l->ends[i][k];
        l->ends[i][k].service = text(l, k ? other : "web");
        l->ends[i][k].service_guid = arena_printf(l->arena, "%s-guid", k ? other : "web");
        l->ends[i][k].endpoint = &l->endpoints[i][k];
        l->endpoints[i][k].name = text(l, k ? "serve" : other);
    }
    r->number = number;
    r->guid = arena_printf(l->arena, "r%u", number);
    r->state = text(l, alive ? "alive" : "dying");
    r->ends = l->end_list[i];
    r->n_ends = 2;
    r->scope = container ? BOARD__ENDPOINT__SCOPE__CONTAINER : BOARD__ENDPOINT__SCOPE__GLOBAL;
    l->list[i] = (struct agent_relation){.record = r, .revision = 20 + i};
}

/* "scope": in relation 7, with db. "enters": relation 9 may be entered, with db; "container" with
 * logger, a subordinate, or as one with the principal app. "trap": as a subordinate of app, in 9,
 * where 7 joins its service with the principals of db. */
static void lay_relations(struct laid *l, const char *is)
{
    bool subordinate = says(is, "subordinate");
    bool container = says(is, "container") || subordinate;
    lay_relation(l, 0, RELATION, "db", !says(is, "ended"), says(is, "trap"));
    lay_relation(l, 1, OTHER_RELATION,
                 !container            ? "db"
                 : !subordinate        ? "logger"
                 : says(is, "strange") ? "db"
                                       : "app",
                 !says(is, "unjoined"), container);
    board__unit_service_record__init(&l->other);
    l->other.name = text(l, "logger");
    l->other.state = text(l, says(is, "other_dying") ? "dying" : "alive");
    l->other.subordinate = !subordinate;
    l->list[1].other = says(is, "other_unknown") ? NULL : &l->other;
    l->list[1].other_revision = 30;
    l->list[1].has_number = says(is, "numbered");
    l->list[1].number = 5;
    bool first = says(is, "scope") || says(is, "trap"), second = says(is, "enters") || container;
    l->f.relations = first ? l->list : l->list + 1;
    l->f.relation_count = (size_t)first + second;
    if (says(is, "trap")) {
        l->seen[0] = (struct sight_relation){.number = OTHER_RELATION, .guid = "r9", .alive = true};
        l->f.sight.relation_count = 1;
    }
    if (says(is, "scope")) {
        l->seen[0] =
            (struct sight_relation){.number = RELATION, .guid = "r7", .alive = !says(is, "ended")};
        l->f.sight.relation_count = 1;
    }
}

static void lay_unit(struct laid *l, const char *is)
{
    board__unit_record__init(&l->unit);
    board__unit_record__init(&l->principal);
    board__unit_service_record__init(&l->service);
    l->unit.service = text(l, "web");
    l->unit.number = 3;
    l->unit.guid = text(l, says(is, "namesake") ? "another" : "guid");
    l->unit.service_guid = text(l, "web-guid");
    l->unit.state = text(l, says(is, "dead") ? "dead" : says(is, "dying") ? "dying" : "alive");
    l->unit.cell_id = text(l, says(is, "elsewhere") ? "cell-2" : "cell-1");
    l->unit.identity = text(l, says(is, "reborn") ? "old" : "id");
    l->unit.principal = text(l, says(is, "subordinate") ? "app/1" : "");
    l->principal.service = text(l, "app");
    l->principal.service_guid = text(l, "app-guid");
    l->principal.state = text(l, says(is, "principal_dying")  ? "dying"
                                 : says(is, "principal_dead") ? "dead"
                                                              : "alive");
    l->service.state = text(l, says(is, "service_dying") ? "dying" : "alive");
    l->f.unit = says(is, "absent") ? NULL : &l->unit;
    l->f.revision = 10;
    l->f.service = &l->service;
    bool subordinate = says(is, "subordinate") && !says(is, "principal_gone");
    l->f.principal = subordinate || says(is, "had") ? &l->principal : NULL;
    l->children[0] = (struct agent_child){{"logger", 4}, says(is, "child"), .revision = 40};
    l->f.children = l->children;
    l->f.child_count = says(is, "child") || says(is, "child_dying");
}

static void lay_status(struct laid *l, const char *is)
{
    Board__UnitStatusRecord *s = &l->status;
    board__unit_status_record__init(s);
    bool fresh = says(is, "uninstalled");
    s->guid = text(l, "guid");
    s->cell_id = text(l, "cell-1");
    s->charm = text(l, fresh ? "" : "charm");
    s->state = text(l, says(is, "board_error")        ? "error"
                       : says(is, "board_stopped")    ? "stopped"
                       : fresh || says(is, "pending") ? "pending"
                                                      : "started");
    s->stopped = says(is, "board_stopped");
    s->resolved = says(is, "retry")  ? BOARD__UNIT_STATUS_RECORD__RESOLVED__RETRY
                  : says(is, "skip") ? BOARD__UNIT_STATUS_RECORD__RESOLVED__SKIP
                                     : BOARD__UNIT_STATUS_RECORD__RESOLVED__NOT;
    if (says(is, "board_error")) {
        s->before = text(l, "started");
        s->hook = text(l, "config-changed");
        s->output = text(l, "why");
    }
    l->f.status = s;
}

static Rep__UnitNoteWrite *write_of(struct laid *l)
{
    Rep__UnitNoteWrite *w = arena_message(l->arena, &rep__unit_note_write__descriptor);
    w->relation = RELATION;
    w->key = w->value = text(l, "k");
    return w;
}

/* All is told, but for what the words say. */
static void lay_journal(struct laid *l, const char *is)
{
    struct arena *a = l->arena;
    Rep__UnitNote *j = journal_new(a, says(is, "restored") ? "old" : "e");
    bool fresh = says(is, "uninstalled");
    l->f.sight.epoch = "e";
    l->f.sight.charm = says(is, "upgraded") ? "newer" : "charm";
    l->f.sight.config_version = says(is, "config") ? 2 : 1;
    l->f.sight.relations = l->seen;
    j->installed = j->configured = j->started = !fresh;
    j->charm = text(l, fresh ? "" : "charm");
    j->config_version = fresh ? 0 : 1;
    j->stopped = says(is, "stopped");
    if (says(is, "scope")) {
        Rep__UnitNoteRelation *r = arena_message(a, &rep__unit_note_relation__descriptor);
        r->number = RELATION;
        r->guid = text(l, "r7");
        r->broken = says(is, "broken");
        j->relations = ARENA_ARRAY(a, 1, Rep__UnitNoteRelation *);
        j->relations[j->n_relations++] = r;
    }
    if (says(is, "unpublished")) {
        j->unpublished = ARENA_ARRAY(a, 1, Rep__UnitNoteWrite *);
        j->unpublished[j->n_unpublished++] = write_of(l);
    }
    bool failed = says(is, "error");
    if (failed || says(is, "noted")) {
        struct hook_step step = {HOOK_RUN, {HOOK_CONFIG_CHANGED, 0, 0}, 1};
        j = journal_begin(a, j, &step, "charm", "t");
        j = failed ? journal_end(a, j, JOURNAL_BAD, "why") : j;
    }
    l->journal = j;
}

static void lay(struct laid *l, struct arena *a, const char *is)
{
    memset(l, 0, sizeof(*l));
    l->arena = a;
    lay_unit(l, is);
    lay_status(l, is);
    lay_relations(l, is);
    lay_journal(l, is);
    struct agent_facts *f = &l->f;
    f->cell_id = "cell-1";
    f->identity = "id";
    f->guid = "guid";
    f->now_ns = 1000;
    f->confirmed = !says(is, "unconfirmed");
    f->room = !says(is, "no_room") && !says(is, "room_lacking");
    f->room_lacking = says(is, "room_lacking");
    f->container = says(is, "none")     ? AGENT_CONTAINER_NONE
                   : says(is, "down")   ? AGENT_CONTAINER_DOWN
                   : says(is, "making") ? AGENT_CONTAINER_MAKING
                   : says(is, "ending") ? AGENT_CONTAINER_ENDING
                                        : AGENT_CONTAINER_UP;
    f->anew = says(is, "anew");
    f->remake = says(is, "remake");
    f->make_failures = says(is, "failed_twice") ? 2 : says(is, "failed_thrice") ? 3 : 0;
    f->make_error = f->make_failures ? "no image" : "";
    f->make_again_ns = says(is, "later") ? 5000 : 0;
    f->recall_asked = says(is, "asked");
    f->shared = says(is, "shared");
    f->gone = says(is, "kept");
    f->principal_container = says(is, "base_down")   ? AGENT_PRINCIPAL_DOWN
                             : says(is, "base_gone") ? AGENT_PRINCIPAL_GONE
                                                     : AGENT_PRINCIPAL_UP;
    f->noting = says(is, "noting");
    f->group_busy = says(is, "group_busy");
    f->cell_busy = says(is, "cell_busy");
    bool kept = f->container != AGENT_CONTAINER_NONE && !says(is, "unreadable");
    f->journal = kept ? l->journal : NULL;
    f->run = says(is, "goes")   ? AGENT_RUN_GOES
             : says(is, "good") ? AGENT_RUN_GOOD
             : says(is, "bad")  ? AGENT_RUN_BAD
             : says(is, "lost") ? AGENT_RUN_LOST
                                : AGENT_RUN_NONE;
    f->run_text = "why";
    f->run_limit_ns = says(is, "late") ? 1000 : 1001;
    f->token = "t2";
    f->text = f->address = "";
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static const struct row {
    const char *is, *expected;
} rows[] = {
    /* 0: nothing is known for certain: what runs goes on */
    {"unconfirmed", "0 wait"},
    {"unconfirmed absent", "0 wait"},
    {"unconfirmed dead", "0 wait"},
    {"unconfirmed dying uninstalled none", "0 wait"},
    {"unconfirmed noted", "0 wait"},
    {"unconfirmed noted goes", "0 wait until 1001"},
    {"unconfirmed noted goes late", "0 cut"},
    {"unconfirmed noted good", "0 end config-changed"},
    {"unreadable", "0 wait"},
    {"unreadable dying", "0 wait"},
    /* 1: another's unit is nobody's: recall, and nothing else */
    {"absent", "1 recall"},
    {"absent ending", "1 wait"},
    {"absent none", "1 wait"},
    {"elsewhere", "1 recall"},
    {"reborn", "1 recall"},
    {"namesake", "1 recall"},
    {"namesake dead", "1 recall"},
    {"namesake dead none", "1 wait"},
    {"namesake dying uninstalled none", "1 wait"},
    {"absent noted goes", "1 recall"},
    {"absent restored", "1 wait"},
    {"namesake restored", "1 wait"},
    {"absent restored asked", "1 recall"},
    {"absent unreadable", "1 wait"},
    {"absent unreadable asked", "1 recall"},
    {"absent shared", "1 wait"}, /* subordinates have its network */
    /* what a restored board forgot, of a principal that it had, and has */
    {"absent restored had", "1 wait"},
    {"absent restored had principal_dead", "1 recall"},
    {"namesake restored had principal_dead", "1 recall"},
    {"absent unreadable had principal_dead", "1 recall"},
    {"absent restored had principal_dead ending", "1 wait"},
    {"absent restored had base_down", "1 remake"},
    {"absent restored had base_down down", "1 remake"},
    {"absent restored had base_down noted goes", "1 remake"},
    {"absent restored had base_down ending", "1 wait"},
    {"absent restored had base_down down kept", "1 wait"},
    {"absent restored had principal_dead down kept", "1 recall"},
    {"absent restored had principal_dying base_down", "1 remake"},
    {"absent unreadable had base_down", "1 wait"},
    {"absent restored base_down", "1 wait"}, /* it is forgotten too */
    {"absent unconfirmed restored had principal_dead", "0 wait"},
    /* 2: Dead */
    {"dead", "2 recall"},
    {"dead noted goes", "2 recall"},
    {"dead unreadable", "2 recall"},
    {"dead ending", "2 wait"},
    {"dead none", "2 remove"},
    {"dead shared", "2 wait"},
    {"dead none shared", "2 remove"},
    /* 3: undeployed */
    {"dying uninstalled none", "3 die"},
    {"dying uninstalled", "3 die"},
    {"dying uninstalled noting", "3 wait"},
    {"dying uninstalled noting child", "5 destroy_child logger/4"},
    {"dying uninstalled making", "3 die"},
    {"dying uninstalled none room_lacking", "3 die, report pending"},
    {"dying uninstalled none child_dying", "3 wait"},
    {"dying uninstalled none child", "5 destroy_child logger/4"},
    {"dying none", "3 die, report started"}, /* what was installed went with it */
    /* 4: a reason */
    {"service_dying", "4 destroy"},
    {"service_dying uninstalled none", "4 destroy"},
    {"service_dying error board_error", "4 destroy"},
    {"subordinate principal_dying", "4 destroy"},
    {"subordinate principal_gone", "4 destroy"},
    {"subordinate unjoined", "4 destroy"},
    {"subordinate strange", "4 destroy"},
    {"dying service_dying", "11 note stop"},
    /* 5: subordinates go first, also while a hook is in error */
    {"dying child", "5 destroy_child logger/4"},
    {"dying child error board_error", "5 destroy_child logger/4"},
    {"dying child stopped", "5 destroy_child logger/4, report stopped"},
    /* 6: room */
    {"uninstalled none no_room", "6 set_aside"},
    {"uninstalled none room_lacking", "6 wait, report pending"},
    {"dying scope none no_room", "6 set_aside, report started"},
    {"dying scope none room_lacking", "7 leave 7, report started"},
    {"down no_room", "6 set_aside"},
    {"down room_lacking", "6 wait, report started"},
    {"no_room", "13 wait"}, /* it is there, and has it */
    /* 7: the container */
    {"uninstalled none", "7 make"},
    {"uninstalled making", "7 wait"},
    {"ending", "7 wait"},
    {"down", "7 make"},
    {"down failed_twice later", "7 wait until 5000, report started"},
    {"down failed_thrice", "7 make, report started"}, /* one that is Alive is tried for ever */
    {"down noted lost", "7 make"},
    {"down anew", "7 make"},
    {"down anew noted", "7 make"},
    {"down anew noted good", "7 end config-changed"},
    {"down anew noted bad", "7 end config-changed"},
    {"down anew noted lost", "7 end config-changed"},
    {"down anew noted lost no_room", "7 end config-changed"},
    {"down anew error", "7 report, fail error"}, /* the next journal forgets it */
    {"down anew error board_error", "7 make"},
    {"down anew error board_error retry", "7 make"},
    {"dying scope down anew", "7 make"},
    {"dying scope down anew noted lost", "7 end config-changed"},
    {"dying down", "7 make"},
    {"dying down failed_twice", "7 make, report started"},
    {"dying down failed_thrice", "12 die, report started"},
    {"dying down failed_thrice child_dying", "12 wait, report started"},
    {"dying scope none", "7 make, report started"},
    {"dying scope none failed_thrice", "7 leave 7, report started"},
    {"dying scope down failed_thrice unpublished", "7 publish 7, report started"},
    {"dying scope down failed_thrice error board_error", "7 leave 7, fail error"},
    {"dying scope down broken", "11 leave 7"}, /* owes no hook: none is made */
    {"dying down stopped board_stopped", "12 die"},
    /* 7: a principal's container, and those that have its network */
    {"down shared", "7 wait"},
    {"none uninstalled shared", "7 wait"},
    {"none uninstalled no_room shared", "6 set_aside"},
    {"shared", "13 wait"}, /* it runs */
    {"subordinate none uninstalled base_down", "7 wait, report pending"},
    {"subordinate none uninstalled no_room base_down", "7 wait, report pending"},
    {"subordinate none uninstalled base_gone", "7 wait, report pending"},
    {"subordinate base_down", "7 remake"},
    {"subordinate base_gone", "7 remake"},
    {"subordinate making base_down", "7 remake, report started"},
    {"subordinate down base_down", "7 remake, report started"},
    {"subordinate down kept base_down", "7 wait, report started"}, /* its note is there alone */
    {"subordinate ending base_down", "7 wait, report started"},
    {"subordinate noted goes base_down", "7 remake"},
    {"subordinate noted error board_error base_down", "7 remake"},
    {"subordinate dying base_down", "7 remake"},
    {"subordinate dying base_gone", "11 note stop"}, /* nothing else comes */
    {"subordinate dying none scope base_down", "7 wait, report started"},
    {"subordinate dying none scope base_gone", "7 leave 7, report started"},
    {"subordinate dying down base_gone", "12 die, report started"},
    {"subordinate dying down stopped board_stopped base_down", "12 die, report stopped"},
    /* 8: one at a time */
    {"noted", "8 execute config-changed"},
    {"noted goes", "8 wait until 1001"},
    {"noted goes late", "8 cut"},
    {"noted good", "8 end config-changed"},
    {"noted bad", "8 end config-changed"},
    {"noted lost", "8 end config-changed"},
    {"noted group_busy", "8 wait config-changed"},
    {"noted cell_busy", "8 wait config-changed"},
    {"noted goes config", "8 wait until 1001"},
    {"dying noted goes", "8 wait until 1001"},
    {"dying stopped noted goes", "8 wait until 1001, report stopped"},
    {"noted board_error retry", "8 report, report started"},
    {"noted board_error", "8 wait"},
    {"restored", "8 adopt"},
    /* a note alone is not adopted */
    {"dying down kept anew stopped board_stopped restored", "12 die"},
    /* 9: in error nothing goes on, not even die */
    {"error", "9 wait, fail error"},
    {"error board_error", "9 wait"},
    {"dying error board_error", "9 wait"},
    {"dying scope error board_error", "9 wait"},
    {"dying error", "9 wait, fail error"},
    {"error board_error config enters", "9 wait"},
    {"board_error", "9 wait"},
    /* 10: resolved */
    {"error board_error retry", "10 note config-changed"},
    {"error board_error skip", "10 accept config-changed"},
    {"error board_error retry group_busy", "10 wait"},
    {"dying error board_error retry", "10 note config-changed"},
    {"board_error retry", "10 report, report started"},
    {"board_error skip", "10 report, report started"},
    /* so too where its container went with it, and it is Dying */
    {"dying down anew error board_error", "7 make"},
    {"dying uninstalled making board_error", "9 wait"},
    {"dying uninstalled board_error", "9 wait"},
    {"dying uninstalled board_error retry", "10 report, report started"},
    {"dying uninstalled board_error skip", "10 report, report started"},
    /* 11: the hook that comes next, or the scope that owes none */
    {"uninstalled", "11 note install"},
    {"config", "11 note config-changed"},
    {"upgraded", "11 note upgrade"},
    {"upgraded remake", "11 remake"},
    {"upgraded remake group_busy", "11 wait"},
    {"upgraded remake config", "11 remake"},
    {"upgraded remake noted goes", "8 wait until 1001"},
    {"upgraded remake error board_error", "9 wait"},
    {"dying upgraded remake", "11 note stop"},
    {"uninstalled remake", "11 remake"},
    {"remake config", "11 note config-changed"}, /* it is told of the charm before */
    {"config group_busy", "11 wait"},
    {"config cell_busy", "11 wait"},
    {"scope unpublished config", "11 publish 7"},
    {"scope ended", "11 note broken 7"},
    {"scope ended broken", "11 leave 7"},
    {"scope ended broken unpublished", "11 publish 7"},
    {"dying scope", "11 note broken 7"},
    {"dying scope broken", "11 leave 7"},
    {"dying", "11 note stop"},
    /* 12: the end */
    {"dying stopped", "12 report, report stopped"},
    {"dying stopped board_stopped", "12 die"},
    {"dying stopped board_stopped child_dying", "12 wait"},
    /* 13: what it enters */
    {"enters", "13 enter 9"},
    {"enters unjoined", "13 wait"},
    {"scope", "13 wait"},
    {"container numbered", "13 enter 9 logger/5"},
    {"container", "13 numbers logger"},
    {"container child", "13 enter 9"},
    {"container child_dying numbered", "13 wait"},
    {"container other_dying numbered", "13 wait"},
    {"container other_unknown numbered", "13 wait"},
    {"subordinate", "13 enter 9"},
    {"subordinate trap", "13 wait"},
    {"", "13 wait"},
};

static void print_step(const struct agent_step *s, struct buf *out)
{
    buf_printf(out, "%d %s", s->row, agent_act_name(s->act));
    if (s->hook.hook) {
        buf_printf(out, " %s", hook_name(s->hook.hook));
    }
    if (s->relation || s->hook.relation) {
        buf_printf(out, " %u", s->relation ? s->relation : s->hook.relation);
    }
    if (s->child.service) {
        buf_printf(out, " %s/%u", s->child.service, s->child.number);
    }
    if (s->service) {
        buf_printf(out, " %s", s->service);
    }
    if (s->look_again_ns != NEVER_NS) {
        buf_printf(out, " until %lld", (long long)s->look_again_ns);
    }
    if (s->status) {
        buf_printf(out, ", %s %s", s->fails ? "fail" : "report", s->status->state);
    }
}

static void each_row_says_what_it_says(void **state)
{
    (void)state;
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        SCOPED_BUF(out);
        struct laid l;
        lay(&l, &a, rows[i].is);
        struct agent_step s = agent_next(&a, &l.f);
        print_step(&s, &out);
        assert_true(s.why && *s.why);
        if (strcmp(buf_string(&out), rows[i].expected) != 0) {
            print_error("%s: \"%s\", not \"%s\"\n", rows[i].is, buf_string(&out), rows[i].expected);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static struct agent_step next_of(struct laid *l, struct arena *a)
{
    return agent_next(a, &l->f);
}

/* "Cannot": what the board judged it by is as it was, so it is not asked again; one whose cause is
 * another is. */
static void a_refused_enter_waits_for_another_cause(void **state)
{
    (void)state;
    SCOPED_ARENA(a);
    struct laid l;
    lay(&l, &a, "container numbered");
    struct agent_relation *r = &l.list[1];
    assert_int_equal(next_of(&l, &a).act, AGENT_ENTER);
    r->refused = agent_cause_of(&l.f, r);
    assert_int_equal(next_of(&l, &a).act, AGENT_ENTER); /* the answer was another one */
    r->was_refused = true;
    assert_int_equal(next_of(&l, &a).act, AGENT_WAIT);
    uint64_t *const revisions[] = {&l.f.revision, &r->revision, &r->other_revision,
                                   &l.f.incarnation}; /* of a cell that was lost, and is back */
    for (size_t i = 0; i < sizeof(revisions) / sizeof(revisions[0]); i++) {
        ++*revisions[i];
        assert_int_equal(next_of(&l, &a).act, AGENT_ENTER);
        --*revisions[i];
    }
    r->number++; /* the number was taken */
    assert_int_equal(next_of(&l, &a).act, AGENT_ENTER);
}

/* "Cannot yet": its subordinate was alive here, and the board knew better. */
static void an_enter_refused_for_a_child_waits_until_that_is_gone(void **state)
{
    (void)state;
    SCOPED_ARENA(a);
    struct laid l;
    lay(&l, &a, "container child");
    l.list[1].refused = agent_cause_of(&l.f, &l.list[1]);
    l.list[1].was_refused = true;
    assert_int_equal(next_of(&l, &a).act, AGENT_WAIT);
    l.children[0].alive = false; /* the news */
    l.children[0].revision++;
    assert_int_equal(next_of(&l, &a).act, AGENT_WAIT);
    l.f.child_count = 0;
    assert_int_equal(next_of(&l, &a).act, AGENT_NUMBERS);
    l.list[1].has_number = true;
    assert_int_equal(next_of(&l, &a).act, AGENT_ENTER);
}

/* A relation that cannot be entered does not keep it from another one. */
static void one_that_is_refused_holds_no_other(void **state)
{
    (void)state;
    SCOPED_ARENA(a);
    struct laid l;
    lay(&l, &a, "container child_dying scope");
    l.f.sight.relation_count = 0;
    lay_relation(&l, 0, RELATION, "db", true, false);
    l.f.relations = l.list;
    l.list[1].refused = agent_cause_of(&l.f, &l.list[1]);
    l.list[1].was_refused = true;
    l.f.relation_count = 2;
    struct agent_step s = next_of(&l, &a);
    assert_int_equal(s.act, AGENT_ENTER);
    assert_int_equal(s.relation, RELATION);
    assert_string_equal(s.relation_guid, "r7");
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

static void it_has_so_many_subordinates(void **state)
{
    (void)state;
    SCOPED_ARENA(a);
    struct laid l;
    lay(&l, &a, "container numbered");
    for (uint32_t i = 0; i < AGENT_CHILDREN_MAX; i++) {
        l.children[i] = (struct agent_child){{"other", i}, true, 1, "o"};
    }
    l.f.child_count = AGENT_CHILDREN_MAX - 1;
    assert_int_equal(next_of(&l, &a).act, AGENT_ENTER);
    l.f.child_count = AGENT_CHILDREN_MAX;
    assert_int_equal(next_of(&l, &a).act, AGENT_WAIT);
    l.children[0].name.service = "logger"; /* which it has */
    assert_int_equal(next_of(&l, &a).act, AGENT_ENTER);
    assert_false(next_of(&l, &a).brings_child);
}

static void it_is_in_so_many_relations(void **state)
{
    (void)state;
    SCOPED_ARENA(a);
    struct laid l;
    lay(&l, &a, "enters");
    for (uint32_t i = 0; i < HOOK_RELATIONS_MAX; i++) {
        l.seen[i] = (struct sight_relation){.number = 100 + i, .guid = "g", .alive = true};
    }
    l.f.sight.relation_count = HOOK_RELATIONS_MAX - 1;
    assert_int_equal(next_of(&l, &a).act, AGENT_ENTER);
    l.f.sight.relation_count = HOOK_RELATIONS_MAX;
    assert_int_equal(next_of(&l, &a).act, AGENT_WAIT);
}

/* ---- What is reported ------------------------------------------------------------------------ */

static void a_text_is_cut_to_the_end_of_a_letter(void **state)
{
    (void)state;
    SCOPED_ARENA(a);
    struct laid l;
    static char longer[AGENT_STATUS_TEXT_MAX + 3];
    lay(&l, &a, "");
    memset(longer, 'x', AGENT_STATUS_TEXT_MAX);
    l.f.text = longer;
    assert_int_equal(strlen(next_of(&l, &a).status->text), AGENT_STATUS_TEXT_MAX);
    memcpy(longer + AGENT_STATUS_TEXT_MAX - 1, "\xc3\xa4", 3);
    assert_int_equal(strlen(next_of(&l, &a).status->text), AGENT_STATUS_TEXT_MAX - 1);
}

static void every_fact_that_differs_is_reported(void **state)
{
    (void)state;
    SCOPED_ARENA(a);
    struct laid l;
    Models__PortMapping port = MODELS__PORT_MAPPING__INIT, *ports[] = {&port};
    lay(&l, &a, "");
    assert_null(next_of(&l, &a).status);
    l.f.text = "ready";
    l.f.address = "10.0.0.1";
    l.f.crash_count = 2;
    l.f.crash_reason = "APP: Exited with status 3";
    l.f.upgrade_error = "no manifest";
    l.f.wall_ns = 70 * SECOND_NS;
    l.f.ports = ports;
    l.f.port_count = 1;
    struct agent_step s = next_of(&l, &a);
    assert_false(s.fails);
    assert_string_equal(s.status->text, "ready");
    assert_string_equal(s.status->address, "10.0.0.1");
    assert_int_equal(s.status->crash_count, 2);
    assert_string_equal(s.status->crash_reason, "APP: Exited with status 3");
    assert_string_equal(s.status->upgrade_error, "no manifest");
    int64_t stays_since = s.status->upgrade_since;
    assert_int_equal(stays_since, l.f.wall_ns);
    assert_int_equal(s.status->n_ports, 1);
    assert_string_equal(s.status->charm, "charm");
    l.f.status = s.status; /* it is told */
    l.f.wall_ns += 1;
    assert_null(next_of(&l, &a).status);
    l.f.upgrade_error = "no answer"; /* since then, whatever the reason is by now */
    assert_int_equal(next_of(&l, &a).status->upgrade_since, stays_since);
    l.f.upgrade_error = "";
    assert_int_equal(next_of(&l, &a).status->upgrade_since, 0);
    l.f.upgrade_error = "no manifest";
    l.status.guid = text(&l, "another");
    l.f.status = &l.status; /* of a namesake */
    assert_null(next_of(&l, &a).status);
}

/* The first hook of a container that was made anew takes along where it is reached by now, to be
 * published when it has ended. */
static void who_is_reached_elsewhere_says_so_in_its_relations(void **state)
{
    (void)state;
    SCOPED_ARENA(a);
    struct laid l;
    Models__PortMapping port = MODELS__PORT_MAPPING__INIT, *ports[] = {&port};
    lay(&l, &a, "scope");
    l.f.ports = ports, l.f.port_count = 1;
    l.f.address = "10.0.0.1", port.host_port = 61002;
    l.journal->address = text(&l, "10.0.0.1"), l.journal->port = 61001;
    l.f.journal = journal_anew(&a, l.journal);
    struct agent_step s = next_of(&l, &a);
    assert_int_equal(s.act, AGENT_NOTE);
    assert_int_equal(s.hook.hook, HOOK_INSTALL);
    assert_int_equal(s.journal->n_unpublished, 1);
    assert_string_equal(s.journal->unpublished[0]->key, "port");
    assert_string_equal(s.journal->unpublished[0]->value, "61002");
    assert_int_equal(s.journal->port, 61002);
    l.f.journal = journal_end(&a, s.journal, JOURNAL_GOOD, "");
    s = next_of(&l, &a);
    assert_int_equal(s.act, AGENT_PUBLISH);
    assert_int_equal(s.relation, RELATION);
}

static void what_keeps_its_container_away_is_told(void **state)
{
    (void)state;
    SCOPED_ARENA(a);
    struct laid l;
    lay(&l, &a, "uninstalled none room_lacking");
    assert_string_equal(next_of(&l, &a).status->text, "no room on its cell");
    lay(&l, &a, "uninstalled none no_room"); /* it is tried again: that is no news */
    l.f.room_lacked = true;
    assert_string_equal(next_of(&l, &a).status->text, "no room on its cell");
    assert_int_equal(next_of(&l, &a).act, AGENT_SET_ASIDE);
    lay(&l, &a, "uninstalled none failed_twice");
    assert_string_equal(next_of(&l, &a).status->text,
                        "its container could not be made, 2 times: no image");
    l.f.make_failures = 1;
    assert_string_equal(next_of(&l, &a).status->text,
                        "its container could not be made, once: no image");
    lay(&l, &a, "dying scope none failed_thrice");
    assert_string_equal(
        next_of(&l, &a).status->text,
        "its container could not be made, 3 times: its hooks count as done: no image");
}

/* A hook in error: which, about whom, and what it said; what was resolved stands until it is done.
 */
static void a_failure_names_its_hook(void **state)
{
    (void)state;
    SCOPED_ARENA(a);
    struct laid l;
    lay(&l, &a, "scope");
    struct hook_step step = {HOOK_RUN, {HOOK_JOINED, RELATION, 4}, 0};
    l.f.journal = journal_end(&a, journal_begin(&a, l.journal, &step, "charm", "t"), JOURNAL_BAD,
                              "no such host");
    struct agent_step s = next_of(&l, &a);
    assert_true(s.fails);
    assert_string_equal(s.status->hook, "db-relation-joined");
    assert_string_equal(s.status->relation, "db:7");
    assert_string_equal(s.status->remote_unit, "db/4");
    assert_string_equal(s.status->output, "no such host");
    assert_string_equal(s.status->before, "started");
    l.f.status = s.status;
    assert_null(next_of(&l, &a).status);
    s.status->resolved = BOARD__UNIT_STATUS_RECORD__RESOLVED__RETRY;
    struct agent_step again = next_of(&l, &a);
    assert_int_equal(again.act, AGENT_NOTE);
    assert_null(again.status);
    l.f.address = "10.0.0.1"; /* is news, and not that the hook ran again */
    assert_int_equal(next_of(&l, &a).status->resolved, BOARD__UNIT_STATUS_RECORD__RESOLVED__NOT);
    l.f.address = "";
    l.f.journal = again.journal;
    again = next_of(&l, &a);
    assert_int_equal(again.act, AGENT_REPORT); /* before it runs: what was resolved counts once */
    assert_string_equal(again.status->state, "started");
    assert_string_equal(again.status->hook, "");
    assert_int_equal(again.status->resolved, BOARD__UNIT_STATUS_RECORD__RESOLVED__RETRY);
    again.status->resolved = BOARD__UNIT_STATUS_RECORD__RESOLVED__NOT; /* the board takes it */
    l.f.status = again.status;
    assert_int_equal(next_of(&l, &a).act, AGENT_EXECUTE);
}

/* A hook that takes its time is told, once, until it has ended; which run of it counts. */
static void a_hook_that_runs_for_a_while_is_told(void **state)
{
    (void)state;
    SCOPED_ARENA(a);
    struct laid l;
    lay(&l, &a, "scope goes");
    struct hook_step step = {HOOK_RUN, {HOOK_CHANGED, RELATION, 4}, 0};
    l.f.journal = journal_begin(&a, l.journal, &step, "charm", "t");
    l.f.journal->hook->run = 5;
    l.f.run_begun_ns = 1000;
    l.f.run_limit_ns = 300 * SECOND_NS;
    l.f.now_ns = 1000 + AGENT_HOOK_TOLD_NS - 1;
    l.f.wall_ns = 70 * SECOND_NS;
    struct agent_step s = next_of(&l, &a);
    assert_null(s.status);
    assert_int_equal(s.look_again_ns, 1000 + AGENT_HOOK_TOLD_NS);
    l.f.now_ns++;
    s = next_of(&l, &a);
    assert_int_equal(s.act, AGENT_WAIT);
    assert_int_equal(s.look_again_ns, l.f.run_limit_ns);
    assert_string_equal(s.status->state, "started");
    assert_string_equal(s.status->running->hook, "db-relation-changed");
    assert_string_equal(s.status->running->relation, "db:7");
    assert_string_equal(s.status->running->remote_unit, "db/4");
    assert_int_equal(s.status->running->attempt, 1);
    assert_int_equal(s.status->running->since, 70 * SECOND_NS - AGENT_HOOK_TOLD_NS);
    l.f.status = s.status;    /* it is told */
    l.f.wall_ns += SECOND_NS; /* and stands, whatever the clocks say */
    assert_null(next_of(&l, &a).status);
    l.f.journal->hook->run = 6;
    assert_int_equal(next_of(&l, &a).status->running->run, 6);
    l.f.journal->hook->run = 5;
    l.f.run = AGENT_RUN_GOOD;
    assert_null(next_of(&l, &a).status->running);
    l.f.run = AGENT_RUN_GOES;
    l.f.run_begun_ns = NEVER_NS; /* it is being begun */
    assert_null(next_of(&l, &a).status->running);
}

static void what_it_lacks_is_told(void **state)
{
    static const struct {
        const char *is;
        int kind;
    } lacks[] = {
        {"uninstalled none room_lacking", BOARD__UNIT_LACK__KIND__ROOM},
        {"none room_lacking", BOARD__UNIT_LACK__KIND__ROOM}, /* it was started */
        {"none failed_twice", BOARD__UNIT_LACK__KIND__CONTAINER},
        {"none base_down", BOARD__UNIT_LACK__KIND__PRINCIPAL},
        {"", -1},
        {"none", -1},
        {"room_lacking", -1}, /* it has its container */
    };
    for (size_t i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++) {
        SCOPED_ARENA(a);
        struct laid l;
        lay(&l, &a, lacks[i].is);
        l.f.wall_ns = 70 * SECOND_NS;
        struct agent_step s = next_of(&l, &a);
        const Board__UnitLack *is = s.status ? s.status->lack : NULL;
        assert_int_equal(is ? (int)is->kind : -1, lacks[i].kind);
        assert_true(!is || is->since == 70 * SECOND_NS);
        if (is) {
            l.f.status = s.status; /* it is told, and stands, whatever the clock says */
            l.f.wall_ns += SECOND_NS;
            assert_null(next_of(&l, &a).status);
        }
    }
    (void)state;
}

/* Of a moment nothing is said. */
static void a_hook_that_waits_for_its_turn_is_told(void **state)
{
    SCOPED_ARENA(a);
    struct laid l;
    lay(&l, &a, "config cell_busy");
    l.f.hooks_at_once = 4;
    l.f.wall_ns = 70 * SECOND_NS;
    l.f.turn_since_ns = NEVER_NS; /* it begins to wait */
    assert_null(next_of(&l, &a).status);
    l.f.turn_since_ns = 1000;
    l.f.now_ns = 1000 + AGENT_HOOK_TOLD_NS - 1;
    assert_null(next_of(&l, &a).status);
    l.f.now_ns++;
    struct agent_step s = next_of(&l, &a);
    assert_int_equal(s.act, AGENT_WAIT);
    assert_int_equal(s.status->lack->kind, BOARD__UNIT_LACK__KIND__TURN);
    assert_string_equal(s.status->lack->hook, "config-changed");
    assert_int_equal(s.status->lack->hooks, 4);
    assert_int_equal(s.status->lack->since, 70 * SECOND_NS - AGENT_HOOK_TOLD_NS);
    l.f.status = s.status; /* it is told, and a rep that comes later leaves it so */
    l.f.turn_since_ns = NEVER_NS;
    l.f.wall_ns += SECOND_NS;
    assert_null(next_of(&l, &a).status);
    l.f.group_busy = true; /* one of its own group runs */
    l.f.turn_since_ns = 1000;
    s = next_of(&l, &a);
    assert_int_equal(s.status->lack->hooks, 0);
    assert_int_equal(s.status->lack->since, 70 * SECOND_NS - AGENT_HOOK_TOLD_NS);
    l.f.group_busy = l.f.cell_busy = false; /* it is its turn */
    s = next_of(&l, &a);
    assert_int_equal(s.act, AGENT_NOTE);
    assert_null(s.status->lack);
    lay(&l, &a, "noted group_busy"); /* one that is noted, and never began */
    l.f.hooks_at_once = 4;
    l.f.turn_since_ns = 0;
    l.f.now_ns = l.f.wall_ns = AGENT_HOOK_TOLD_NS;
    s = next_of(&l, &a);
    assert_string_equal(s.status->lack->hook, "config-changed");
    assert_int_equal(s.status->lack->hooks, 0);
    lay(&l, &a, "noted goes cell_busy"); /* it is among those that run */
    l.f.turn_since_ns = 0;
    l.f.now_ns = l.f.wall_ns = AGENT_HOOK_TOLD_NS;
    l.f.run_begun_ns = AGENT_HOOK_TOLD_NS;
    l.f.run_limit_ns = NEVER_NS;
    assert_null(next_of(&l, &a).status);
    (void)state;
}

/* ---- How far it is --------------------------------------------------------------------------- */

static void each_state_is_seen(void **state)
{
    (void)state;
    static const struct {
        const char *is;
        int state;
    } seen[] = {
        {"absent none", UNIT_AGENT_NONE},
        {"absent", UNIT_AGENT_RECALLED},
        {"dead", UNIT_AGENT_RECALLED},
        {"dead none", UNIT_AGENT_UNDEPLOYED},
        {"uninstalled none", UNIT_AGENT_UNDEPLOYED},
        {"making", UNIT_AGENT_UNDEPLOYED},
        {"down", UNIT_AGENT_UNDEPLOYED},
        {"unreadable", UNIT_AGENT_UNDEPLOYED},
        {"uninstalled", UNIT_AGENT_MADE},
        {"uninstalled noted", UNIT_AGENT_INSTALLING},
        {"", UNIT_AGENT_IDLE},
        {"noted", UNIT_AGENT_HOOK},
        {"error", UNIT_AGENT_ERROR},
        {"scope ended broken", UNIT_AGENT_LEAVING},
        {"dying stopped", UNIT_AGENT_STOPPED},
    };
    for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++) {
        SCOPED_ARENA(a);
        struct laid l;
        lay(&l, &a, seen[i].is);
        int found = agent_state(&a, &l.f);
        if (found != seen[i].state) {
            fail_msg("%s: %s", seen[i].is, unit_agent_lifecycle.states[found]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_says_what_it_says),
        cmocka_unit_test(a_refused_enter_waits_for_another_cause),
        cmocka_unit_test(an_enter_refused_for_a_child_waits_until_that_is_gone),
        cmocka_unit_test(one_that_is_refused_holds_no_other),
        cmocka_unit_test(it_has_so_many_subordinates),
        cmocka_unit_test(it_is_in_so_many_relations),
        cmocka_unit_test(a_text_is_cut_to_the_end_of_a_letter),
        cmocka_unit_test(every_fact_that_differs_is_reported),
        cmocka_unit_test(who_is_reached_elsewhere_says_so_in_its_relations),
        cmocka_unit_test(what_keeps_its_container_away_is_told),
        cmocka_unit_test(what_it_lacks_is_told),
        cmocka_unit_test(a_hook_that_waits_for_its_turn_is_told),
        cmocka_unit_test(a_failure_names_its_hook),
        cmocka_unit_test(a_hook_that_runs_for_a_while_is_told),
        cmocka_unit_test(each_state_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
