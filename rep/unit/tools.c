#include "rep/unit/tools.h"

#include "common/charmfile/charm.h"
#include "common/codec/json_text.h"
#include "common/model/unit_settings.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A call while it is answered. */
struct tool_turn {
    struct arena *a;
    const struct tool_world *w;
    const struct tool *tool;
    const char *const *arguments; /* without the tool's name and its option */
    size_t count;
    const char *relation_id; /* of -r; NULL = not said */
    struct tool_answer answer;
};

struct tool {
    const char *name, *usage;
    size_t least, most; /* arguments */
    bool takes_relation;
    void (*run)(struct tool_turn *c);
};

static void say(struct tool_turn *c, const char *text)
{
    c->answer.out = text;
}

static void refuse(struct tool_turn *c, enum tool_exit exit, const char *text)
{
    c->answer = (struct tool_answer){.exit = exit,
                                     .out = arena_printf(c->a, "%s: %s\n", c->tool->name, text)};
}

/* ---- Which relation, which unit -------------------------------------------------------------- */

/* "db:7" */
static const char *relation_text(struct arena *a, const struct tool_relation *r)
{
    return arena_printf(a, "%s:%u", r->endpoint, r->number);
}

/* The relation that is meant: by -r, or the hook's; NULL = refused. */
static const struct tool_relation *relation_meant(struct tool_turn *c)
{
    const struct tool_world *w = c->w;
    const Rep__UnitNoteHook *hook = w->journal->hook;
    bool of_hook = *w->remote_unit || hook->hook == HOOK_BROKEN;
    for (size_t i = 0; i < w->relation_count; i++) {
        const struct tool_relation *r = &w->relations[i];
        if (c->relation_id ? strcmp(c->relation_id, relation_text(c->a, r)) == 0
                           : of_hook && r->number == hook->relation) {
            return r;
        }
    }
    if (!c->relation_id && !of_hook) {
        refuse(c, TOOL_USAGE,
               "this hook is about no relation: say which with -r ID; relation-ids lists them");
    } else {
        const char *which = c->relation_id ? arena_printf(c->a, "relation %s", c->relation_id)
                                           : "the relation of this hook";
        refuse(
            c, TOOL_REFUSED,
            arena_printf(c->a, "the unit is not in %s: relation-ids lists those it is in", which));
    }
    return NULL;
}

/* Its own settings as they will be once all that its hooks have set is published. */
static size_t own_settings(struct tool_turn *c, const struct tool_relation *r,
                           Board__UnitSetting ***ret_list)
{
    const Rep__UnitNote *j = c->w->journal;
    Rep__UnitNoteWrite *const *const lists[] = {j->unpublished, j->hook->writes};
    const size_t counts[] = {j->n_unpublished, j->hook->n_writes};
    Board__UnitSetting *const *list = r->own;
    size_t count = r->own_count;
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < counts[k]; i++) {
            const Rep__UnitNoteWrite *write = lists[k][i];
            if (write->relation == r->number) {
                Board__UnitSetting **to;
                count = unit_setting_put(c->a, list, count, write->key, write->value, &to);
                list = to;
            }
        }
    }
    *ret_list = (Board__UnitSetting **)list;
    return count;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* The value of a key, or of "-" all of them, a line each as key=value; a line's end and a backslash
 * within a value are written as \n and \\. */
static const char *settings_text(struct arena *a, Board__UnitSetting *const *list, size_t count,
                                 const char *key)
{
    if (strcmp(key, "-") != 0) {
        const char *value = unit_setting(list, count, key);
        return value ? arena_printf(a, "%s\n", value) : "";
    }
    SCOPED_BUF(text);
    for (size_t i = 0; i < count; i++) {
        buf_printf(&text, "%s=", list[i]->key);
        for (const char *at = list[i]->value; *at; at++) {
            const char *escaped = *at == '\n' ? "\\n" : *at == '\\' ? "\\\\" : NULL;
            escaped ? buf_append_string(&text, escaped) : buf_printf(&text, "%c", *at);
        }
        buf_append_string(&text, "\n");
    }
    return arena_strdup(a, buf_string(&text));
}

/* "db, log and juju-info": the endpoints of its charm, and the one that each has. */
static const char *endpoints_text(struct arena *a, const Board__Charm *charm)
{
    const char *text = "";
    for (size_t i = 0; i < charm->n_endpoints; i++) {
        text = arena_printf(a, "%s%s%s", text, i ? ", " : "", charm->endpoints[i]->name);
    }
    return arena_printf(a, "%s%s" CHARM_IMPLICIT, text, charm->n_endpoints ? " and " : "");
}

static bool has_endpoint(const Board__Charm *charm, const char *name)
{
    bool has = strcmp(name, CHARM_IMPLICIT) == 0;
    for (size_t i = 0; i < charm->n_endpoints && !has; i++) {
        has = strcmp(charm->endpoints[i]->name, name) == 0;
    }
    return has;
}

static void relation_ids(struct tool_turn *c)
{
    SCOPED_BUF(text);
    const Board__Charm *charm = c->w->charm;
    assert(c->count <= 1);
    if (c->count > 0 && charm && !has_endpoint(charm, c->arguments[0])) {
        refuse(c, TOOL_REFUSED,
               arena_printf(c->a, "the charm has no endpoint \"%.63s\": it has %s", c->arguments[0],
                            endpoints_text(c->a, charm)));
        return;
    }
    for (size_t i = 0; i < c->w->relation_count; i++) {
        const struct tool_relation *r = &c->w->relations[i];
        if (c->count == 0 || strcmp(c->arguments[0], r->endpoint) == 0) {
            buf_printf(&text, "%s\n", relation_text(c->a, r));
        }
    }
    say(c, arena_strdup(c->a, buf_string(&text)));
}

static void relation_list(struct tool_turn *c)
{
    const struct tool_relation *r = relation_meant(c);
    SCOPED_BUF(text);
    for (size_t i = 0; r && i < r->member_count; i++) {
        if (r->members[i].present) {
            buf_printf(&text, "%s\n", r->members[i].unit);
        }
    }
    if (r) {
        say(c, arena_strdup(c->a, buf_string(&text)));
    }
}

static const struct tool_member *member_named(const struct tool_relation *r, const char *unit)
{
    for (size_t i = 0; i < r->member_count; i++) {
        if (strcmp(r->members[i].unit, unit) == 0) {
            return &r->members[i];
        }
    }
    return NULL;
}

/* 1. Of the unit itself: with what its hooks have set.
 * 2. Of another one of the scope, though it has left: as it was when the hook began. */
static void relation_get(struct tool_turn *c)
{
    const struct tool_relation *r = relation_meant(c);
    const char *unit = c->count > 1 ? c->arguments[1] : c->w->remote_unit;
    if (!r) {
        return;
    }
    if (!*unit) {
        refuse(c, TOOL_USAGE, "this hook is about no other unit: say which");
        return;
    }
    const struct tool_member *m = member_named(r, unit);
    if (strcmp(unit, c->w->unit) == 0) { /* 1 */
        Board__UnitSetting **own;
        size_t count = own_settings(c, r, &own);
        say(c, settings_text(c->a, own, count, c->arguments[0]));
    } else if (m) { /* 2 */
        say(c, settings_text(c->a, m->settings, m->setting_count, c->arguments[0]));
    } else {
        refuse(c, TOOL_REFUSED,
               arena_printf(c->a, "%s is not in %s: relation-list lists who is", unit,
                            relation_text(c->a, r)));
    }
}

static void config_get(struct tool_turn *c)
{
    const struct tool_world *w = c->w;
    say(c, settings_text(c->a, w->config, w->config_count, c->count ? c->arguments[0] : "-"));
}

static void unit_get(struct tool_turn *c)
{
    const struct {
        const char *name, *value;
    } facts[] = {{"address", c->w->address},
                 {"ports", c->w->ports},
                 {"machine", c->w->machine},
                 {"principal", c->w->principal}};
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        if (strcmp(facts[i].name, c->arguments[0]) == 0) {
            say(c, *facts[i].value ? arena_printf(c->a, "%s\n", facts[i].value) : "");
            return;
        }
    }
    refuse(c, TOOL_USAGE,
           arena_printf(c->a, "a unit has address, ports, machine and principal, and no %s",
                        c->arguments[0]));
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* "key=value"; NULL = said why it is none. */
static const char *parted(struct tool_turn *c, const char *pair, const char **ret_value)
{
    const char *equals = strchr(pair, '=');
    const char *key =
        equals ? arena_strndup(c->a, pair, (size_t)(equals - pair)) : arena_strdup(c->a, pair);
    if (!equals) {
        refuse(c, TOOL_USAGE, arena_printf(c->a, "\"%.128s\" is no KEY=VALUE", pair));
        return NULL;
    }
    if (!charm_value_key_is_valid(key)) {
        refuse(c, TOOL_USAGE, arena_printf(c->a, "key \"%.128s\" %s", key, CHARM_VALUE_KEY_RULE));
        return NULL;
    }
    if (!utf8_valid((struct bytes){(const unsigned char *)equals, strlen(equals)})) {
        refuse(c, TOOL_REFUSED, arena_printf(c->a, "the value of %s is not UTF-8", key));
        return NULL;
    }
    *ret_value = equals + 1;
    return key;
}

/* What the unit tells the others stays within its bounds. */
static bool within_bounds(struct tool_turn *c, Board__UnitSetting *const *list, size_t count)
{
    if (count > CHARM_VALUES_MAX) {
        refuse(c, TOOL_REFUSED,
               arena_printf(c->a, "a unit has %d keys in a relation at most", CHARM_VALUES_MAX));
    } else if (unit_settings_bytes(list, count) > CHARM_VALUES_BYTES_MAX) {
        refuse(c, TOOL_REFUSED,
               arena_printf(c->a, "a unit tells %d KiB in a relation at most",
                            CHARM_VALUES_BYTES_MAX >> 10));
    }
    return c->answer.exit == TOOL_DONE;
}

/* All of it, or nothing. What stands already is not set again, and wakes nobody. */
static void relation_set(struct tool_turn *c)
{
    const struct tool_relation *r = relation_meant(c);
    Rep__UnitNote *j = NULL;
    Board__UnitSetting **own = NULL;
    size_t count = r ? own_settings(c, r, &own) : 0;
    for (size_t i = 0; r && i < c->count; i++) {
        const char *value, *key = parted(c, c->arguments[i], &value);
        struct err err;
        if (!key) {
            return;
        }
        const char *is = unit_setting(own, count, key);
        if (strcmp(is ? is : "", value) == 0) {
            continue;
        }
        count = unit_setting_put(c->a, own, count, key, value, &own);
        if (journal_set(c->a, j ? j : c->w->journal, r->number, key, value, &j, &err) < 0) {
            refuse(c, TOOL_REFUSED, err.text);
            return;
        }
    }
    if (r && within_bounds(c, own, count)) {
        c->answer.journal = j;
    }
}

static bool is_text(struct tool_turn *c, const char *text, size_t most)
{
    struct bytes bytes = {(const unsigned char *)text, strlen(text)};
    if (bytes.size > most) {
        refuse(c, TOOL_REFUSED,
               arena_printf(c->a, "the text has %zu bytes, and may have %zu", bytes.size, most));
    } else if (!utf8_valid(bytes)) {
        refuse(c, TOOL_REFUSED, "the text is not UTF-8");
    }
    return c->answer.exit == TOOL_DONE;
}

static void status_set(struct tool_turn *c)
{
    if (is_text(c, c->arguments[0], TOOL_STATUS_TEXT_MAX)) {
        c->answer.status = c->arguments[0];
    }
}

static void hook_log(struct tool_turn *c)
{
    if (is_text(c, c->arguments[0], TOOL_LOG_TEXT_MAX)) {
        c->answer.log = c->arguments[0];
    }
}

static void workload_restart(struct tool_turn *c)
{
    c->answer.restart = true;
}

/* ---- The tools ------------------------------------------------------------------------------- */

static const struct tool tools[] = {
    {"config-get", "config-get [KEY]", 0, 1, false, config_get},
    {"hook-log", "hook-log TEXT", 1, 1, false, hook_log},
    {"relation-get", "relation-get [-r ID] KEY|- [UNIT]", 1, 2, true, relation_get},
    {"relation-ids", "relation-ids [ENDPOINT]", 0, 1, false, relation_ids},
    {"relation-list", "relation-list [-r ID]", 0, 0, true, relation_list},
    {"relation-set", "relation-set [-r ID] KEY=VALUE...", 1, TOOL_ARGUMENTS_MAX, true,
     relation_set},
    {"status-set", "status-set TEXT", 1, 1, false, status_set},
    {"unit-get", "unit-get address|ports|machine|principal", 1, 1, false, unit_get},
    {"workload-restart", "workload-restart", 0, 0, false, workload_restart},
};
enum { TOOLS = sizeof(tools) / sizeof(tools[0]) };

const char *tool_name(size_t n)
{
    return n < TOOLS ? tools[n].name : NULL;
}

static const struct tool *tool_named(const char *name)
{
    for (size_t i = 0; i < TOOLS; i++) {
        if (strcmp(tools[i].name, name) == 0) {
            return &tools[i];
        }
    }
    return NULL;
}

/* Takes -r ID away; false: its ID is missing. */
static bool take_relation(struct tool_turn *c)
{
    bool said = c->tool->takes_relation && c->count && strcmp(c->arguments[0], "-r") == 0;
    if (said && c->count == 1) {
        return false;
    }
    if (said) {
        c->relation_id = c->arguments[1];
        c->arguments += 2;
        c->count -= 2;
    }
    return true;
}

struct tool_answer tool_call(struct arena *a, const struct tool_world *w, size_t count,
                             const char *const *arguments)
{
    struct tool_turn c = {.a = a, .w = w, .answer = {.out = ""}};
    c.tool = count ? tool_named(arguments[0]) : NULL;
    if (!c.tool) {
        return (struct tool_answer){
            .exit = TOOL_USAGE,
            .out = arena_printf(a, "%s is no tool of a hook\n", count ? arguments[0] : "nothing")};
    }
    c.arguments = arguments + 1;
    c.count = count - 1;
    if (!take_relation(&c) || c.count < c.tool->least || c.count > c.tool->most) {
        refuse(&c, TOOL_USAGE, arena_printf(a, "usage: %s", c.tool->usage));
        return c.answer;
    }
    assert(w->journal->hook);
    c.tool->run(&c);
    assert(c.answer.exit == TOOL_DONE || !c.answer.journal);
    return c.answer;
}
