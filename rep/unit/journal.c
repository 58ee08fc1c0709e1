#include "rep/unit/journal.h"

#include "common/base/message.h"
#include "common/codec/scan.h"
#include "common/lifecycle/hook.h"
#include "common/model/unit_settings.h"

#include <assert.h>
#include <string.h>

/* ---- Copies that share ----------------------------------------------------------------------- */

static Rep__UnitNote *changed_journal(struct arena *a, const Rep__UnitNote *j)
{
    assert(j->format == JOURNAL_FORMAT);
    return arena_copy(a, j, sizeof(*j));
}

static Rep__UnitNoteHook *changed_hook(struct arena *a, const Rep__UnitNoteHook *h)
{
    return arena_copy(a, h, sizeof(*h));
}

/* A list of pointers, with room for one more. */
static void *longer_list(struct arena *a, const void *list, size_t count)
{
    void **to = ARENA_ARRAY(a, count + 1, void *);
    if (count) {
        memcpy(to, list, count * sizeof(void *));
    }
    return to;
}

/* The relation of that number, as one that may be changed; NULL if there is none. */
static Rep__UnitNoteRelation *changed_relation(struct arena *a, Rep__UnitNote *j, uint32_t number)
{
    j->relations = longer_list(a, j->relations, j->n_relations);
    for (size_t i = 0; i < j->n_relations; i++) {
        if (j->relations[i]->number == number) {
            j->relations[i] = arena_copy(a, j->relations[i], sizeof(*j->relations[i]));
            return j->relations[i];
        }
    }
    return NULL;
}

static const Rep__UnitNoteRelation *relation_numbered(const Rep__UnitNote *j, uint32_t number)
{
    for (size_t i = 0; i < j->n_relations; i++) {
        if (j->relations[i]->number == number) {
            return j->relations[i];
        }
    }
    return NULL;
}

/* Where the member of that unit is, or belongs. */
static size_t member_at(const Rep__UnitNoteRelation *r, uint32_t unit)
{
    size_t low = 0, high = r->n_members;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->members[middle]->unit < unit) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* ---- The run of a hook ----------------------------------------------------------------------- */

/* The state to which the lifecycle leads; it does, or we have a bug. */
static const char *hook_moved(const char *from, int trigger, uint32_t guards)
{
    int state = lifecycle_state(&hook_lifecycle, from);
    int to = lifecycle_transition(&hook_lifecycle, state, ACTOR_REP, trigger, guards);
    assert(state >= 0 && to >= 0);
    return hook_lifecycle.states[to];
}

static void move_hook(struct arena *a, Rep__UnitNoteHook *h, int trigger, uint32_t guards)
{
    h->state = arena_strdup(a, hook_moved(h->state, trigger, guards));
}

static bool hook_runs(const Rep__UnitNote *j)
{
    return j->hook && lifecycle_state(&hook_lifecycle, j->hook->state) == HOOK_RUN_NOTED;
}

/* ---- What a hook told ------------------------------------------------------------------------ */

static void tell_joined(struct arena *a, Rep__UnitNoteRelation *r, uint32_t unit)
{
    size_t at = member_at(r, unit);
    if (at < r->n_members && r->members[at]->unit == unit) {
        return; /* it is known already: it ran again */
    }
    Rep__UnitNoteMember *m = arena_message(a, &rep__unit_note_member__descriptor);
    m->unit = unit;
    m->owes_changed = true;
    r->members = longer_list(a, r->members, r->n_members);
    memmove(&r->members[at + 1], &r->members[at], (r->n_members - at) * sizeof(*r->members));
    r->members[at] = m;
    r->n_members++;
}

static void tell_changed(struct arena *a, Rep__UnitNoteRelation *r, size_t at, uint64_t version)
{
    r->members = longer_list(a, r->members, r->n_members);
    Rep__UnitNoteMember *m = arena_copy(a, r->members[at], sizeof(*r->members[at]));
    m->owes_changed = false;
    m->version = version;
    r->members[at] = m;
}

static void tell_departed(struct arena *a, Rep__UnitNoteRelation *r, size_t at)
{
    r->members = longer_list(a, r->members, r->n_members);
    memmove(&r->members[at], &r->members[at + 1], (r->n_members - at - 1) * sizeof(*r->members));
    r->n_members--;
}

/* The relation may have gone meanwhile, and the member with it. */
static void tell_of_relation(struct arena *a, Rep__UnitNote *j, const Rep__UnitNoteHook *h)
{
    Rep__UnitNoteRelation *r = changed_relation(a, j, h->relation);
    size_t at = r ? member_at(r, h->unit) : 0;
    bool known = r && at < r->n_members && r->members[at]->unit == h->unit;
    if (r && h->hook == HOOK_BROKEN) {
        r->broken = true;
    } else if (r && h->hook == HOOK_JOINED) {
        tell_joined(a, r, h->unit);
    } else if (known && h->hook == HOOK_CHANGED) {
        tell_changed(a, r, at, h->version);
    } else if (known && h->hook == HOOK_DEPARTED) {
        tell_departed(a, r, at);
    }
}

/* What it was about is known to the unit; the hook goes. */
static void tell(struct arena *a, Rep__UnitNote *j, uint32_t guard)
{
    Rep__UnitNoteHook *h = changed_hook(a, j->hook);
    move_hook(a, h, HOOK_RUN_TRIGGER_TELL, guard);
    j->hook = NULL;
    switch ((enum unit_hook)h->hook) {
    case HOOK_INSTALL:
        j->installed = true;
        j->charm = h->charm;
        break;
    case HOOK_START:
        j->started = true;
        break;
    case HOOK_STOP:
        j->stopped = true;
        break;
    case HOOK_UPGRADE:
        j->charm = h->charm;
        j->config_owed = true;
        break;
    case HOOK_CONFIG_CHANGED:
        j->configured = true;
        j->config_owed = j->config_again = false;
        j->config_version = h->version;
        break;
    default:
        tell_of_relation(a, j, h);
    }
}

/* ---- From one to the next -------------------------------------------------------------------- */

Rep__UnitNote *journal_new(struct arena *a, const char *epoch)
{
    Rep__UnitNote *j = arena_message(a, &rep__unit_note__descriptor);
    j->format = JOURNAL_FORMAT;
    j->epoch = arena_strdup(a, epoch);
    return j;
}

/* In another epoch, or another container, no version is as it was. 0 is no version that a member
 * can have. */
static Rep__UnitNoteRelation *forget_versions(struct arena *a, const Rep__UnitNoteRelation *from)
{
    Rep__UnitNoteRelation *r = arena_copy(a, from, sizeof(*from));
    r->members = longer_list(a, from->members, from->n_members);
    for (size_t i = 0; i < r->n_members; i++) {
        Rep__UnitNoteMember *m = arena_copy(a, r->members[i], sizeof(*m));
        m->version = 0;
        r->members[i] = m;
    }
    return r;
}

static Rep__UnitNoteRelation *taken_up(struct arena *a, const struct sight_relation *seen)
{
    Rep__UnitNoteRelation *r = arena_message(a, &rep__unit_note_relation__descriptor);
    r->number = seen->number;
    r->guid = arena_strdup(a, seen->guid);
    return r;
}

/* Writes whose relation the unit is in. */
static size_t keep_writes(struct arena *a, const Rep__UnitNote *j, Rep__UnitNoteWrite **list,
                          size_t count, Rep__UnitNoteWrite ***ret)
{
    size_t kept = 0;
    *ret = ARENA_ARRAY(a, count, Rep__UnitNoteWrite *);
    for (size_t i = 0; i < count; i++) {
        if (relation_numbered(j, list[i]->relation)) {
            (*ret)[kept++] = list[i];
        }
    }
    return kept;
}

Rep__UnitNote *journal_adopt(struct arena *a, const Rep__UnitNote *old,
                             const struct unit_sight *seen, bool restarted)
{
    Rep__UnitNote *j = changed_journal(a, old);
    bool moved = strcmp(old->epoch, seen->epoch) != 0;
    assert(seen->relation_count <= HOOK_RELATIONS_MAX);
    j->epoch = arena_strdup(a, seen->epoch);
    j->started = old->started && !(old->stopped && seen->alive);
    j->stopped = old->stopped && !seen->alive;
    j->config_again = old->config_again || restarted || moved;
    j->relations = ARENA_ARRAY(a, seen->relation_count, Rep__UnitNoteRelation *);
    j->n_relations = 0;
    for (size_t i = 0; i < seen->relation_count; i++) {
        const struct sight_relation *s = &seen->relations[i];
        const Rep__UnitNoteRelation *r = relation_numbered(old, s->number);
        /* A board that was restored may have ended less than the unit did: that begins anew. */
        bool again = r && r->broken && s->alive && seen->alive;
        bool same = r && strcmp(r->guid, s->guid) == 0 && !again;
        assert(i == 0 || seen->relations[i - 1].number < s->number);
        j->relations[j->n_relations++] = !same   ? taken_up(a, s)
                                         : moved ? forget_versions(a, r)
                                                 : (Rep__UnitNoteRelation *)r;
    }
    j->n_unpublished = keep_writes(a, j, old->unpublished, old->n_unpublished, &j->unpublished);
    if (old->hook) {
        j->hook = changed_hook(a, old->hook);
        j->hook->n_writes =
            keep_writes(a, j, old->hook->writes, old->hook->n_writes, &j->hook->writes);
    }
    if (old->lost && old->lost->hook >= HOOK_JOINED && !relation_numbered(j, old->lost->relation)) {
        j->lost = NULL;
    }
    return j;
}

/* The hook that its container took along. One that never began has lost no attempt. */
static Rep__UnitNoteLost *lost_with_it(struct arena *a, const Rep__UnitNoteHook *h)
{
    uint32_t attempt = h->lost ? h->attempt : h->attempt - 1;
    if (attempt == 0) {
        return NULL;
    }
    Rep__UnitNoteLost *lost = arena_message(a, &rep__unit_note_lost__descriptor);
    lost->hook = h->hook;
    lost->relation = h->relation;
    lost->unit = h->unit;
    lost->attempt = attempt;
    return lost;
}

Rep__UnitNote *journal_anew(struct arena *a, const Rep__UnitNote *old)
{
    Rep__UnitNote *j = changed_journal(a, old);
    assert(!old->hook || old->hook->attempt);
    j->installed = j->configured = j->started = j->config_owed = j->config_again = false;
    j->charm = arena_strdup(a, "");
    j->config_version = 0;
    if (old->hook) {
        j->lost = hook_runs(old) || old->hook->lost ? lost_with_it(a, old->hook) : NULL;
        j->hook = NULL;
    }
    j->relations = ARENA_ARRAY(a, old->n_relations, Rep__UnitNoteRelation *);
    for (size_t i = 0; i < old->n_relations; i++) {
        j->relations[i] = forget_versions(a, old->relations[i]);
    }
    return j;
}

/* Members that were told of, and those that are there, by unit. */
static size_t join_members(struct arena *a, const Rep__UnitNoteRelation *told,
                           const struct sight_relation *seen, const struct hook_member **ret)
{
    size_t t = 0, s = 0, count = 0;
    struct hook_member *out =
        ARENA_ARRAY(a, told->n_members + seen->member_count, struct hook_member);
    while (t < told->n_members || s < seen->member_count) {
        const Rep__UnitNoteMember *x = t < told->n_members ? told->members[t] : NULL;
        const struct sight_member *y = s < seen->member_count ? &seen->members[s] : NULL;
        bool known = x && (!y || x->unit <= y->unit), there = y && (!x || y->unit <= x->unit);
        struct hook_member *m = &out[count++];
        assert(!there || y->version);
        m->unit = known ? x->unit : y->unit;
        m->present = there && !y->departing;
        m->version = m->present ? y->version : 0;
        m->told = known;
        m->owes_changed = known && x->owes_changed;
        m->told_version = known ? x->version : 0;
        t += known;
        s += there;
    }
    *ret = out;
    return count;
}

struct hook_world journal_world(struct arena *a, const Rep__UnitNote *j,
                                const struct unit_sight *seen)
{
    struct hook_relation *relations = ARENA_ARRAY(a, seen->relation_count, struct hook_relation);
    assert(j->n_relations == seen->relation_count);
    for (size_t i = 0; i < seen->relation_count; i++) {
        const struct sight_relation *s = &seen->relations[i];
        const Rep__UnitNoteRelation *r = j->relations[i];
        assert(r->number == s->number && strcmp(r->guid, s->guid) == 0);
        relations[i] = (struct hook_relation){
            .number = s->number, .alive = s->alive, .silent = s->silent, .broken = r->broken};
        relations[i].member_count = join_members(a, r, s, &relations[i].members);
    }
    struct hook_world w = {.alive = seen->alive,
                           .installed = j->installed,
                           .configured = j->configured,
                           .started = j->started,
                           .stopped = j->stopped,
                           .charm = seen->charm,
                           .charm_told = j->charm,
                           .config_version = seen->config_version,
                           .config_told = j->config_version,
                           .config_owed = j->config_owed,
                           .config_again = j->config_again,
                           .relations = relations,
                           .relation_count = seen->relation_count};
    if (j->hook) {
        w.current =
            (struct hook_subject){(enum unit_hook)j->hook->hook, j->hook->relation, j->hook->unit};
        w.error = !hook_runs(j);
        w.resolution = j->hook->lost ? HOOK_RETRY : seen->resolution;
    }
    return w;
}

static bool is_lost(const Rep__UnitNote *j, const struct hook_subject *s)
{
    return j->lost && j->lost->hook == (uint32_t)s->hook && j->lost->relation == s->relation &&
           j->lost->unit == s->unit;
}

static void add_write(struct arena *a, Rep__UnitNote *j, uint32_t relation, const char *key,
                      const char *value)
{
    Rep__UnitNoteWrite *w = arena_message(a, &rep__unit_note_write__descriptor);
    w->relation = relation;
    w->key = arena_strdup(a, key);
    w->value = arena_strdup(a, value);
    j->unpublished = longer_list(a, j->unpublished, j->n_unpublished);
    j->unpublished[j->n_unpublished++] = w;
}

Rep__UnitNote *journal_reached(struct arena *a, const Rep__UnitNote *old, const char *address,
                               uint32_t port)
{
    Rep__UnitNote *j = changed_journal(a, old);
    bool moved = strcmp(old->address, address) != 0, other_port = old->port != port;
    assert(*address && old->n_unpublished == 0);
    for (size_t i = 0; i < old->n_relations && (moved || other_port); i++) {
        const Rep__UnitNoteRelation *r = old->relations[i];
        if (moved && !r->own_address) {
            add_write(a, j, r->number, UNIT_SETTING_ADDRESS, address);
        }
        if (other_port && !r->own_port) {
            const char *text = port ? arena_printf(a, "%u", port) : "";
            add_write(a, j, r->number, UNIT_SETTING_PORT, text);
        }
    }
    j->address = arena_strdup(a, address);
    j->port = port;
    return j;
}

Rep__UnitNote *journal_begin(struct arena *a, const Rep__UnitNote *old,
                             const struct hook_step *step, const char *charm, const char *token)
{
    Rep__UnitNote *j = changed_journal(a, old);
    Rep__UnitNoteHook *h = arena_message(a, &rep__unit_note_hook__descriptor);
    assert(step->act == HOOK_RUN && step->subject.hook && *token);
    if (old->hook) {
        bool lost = old->hook->lost;
        h->state = arena_strdup(a, hook_moved(old->hook->state, HOOK_RUN_TRIGGER_AGAIN,
                                              lost ? HOOK_RUN_IF_LOST : HOOK_RUN_IF_RETRIED));
        h->attempt = lost ? old->hook->attempt + 1 : 1;
    } else {
        const char *none = hook_lifecycle.states[HOOK_RUN_NONE];
        bool again = is_lost(old, &step->subject);
        h->state = arena_strdup(a, hook_moved(none, HOOK_RUN_TRIGGER_NOTE, 0));
        h->attempt = again ? old->lost->attempt + 1 : 1;
        j->lost = again ? NULL : old->lost;
    }
    h->hook = step->subject.hook;
    h->relation = step->subject.relation;
    h->unit = step->subject.unit;
    h->version = step->version;
    h->charm = arena_strdup(a, charm);
    h->token = arena_strdup(a, token);
    j->hook = h;
    return j;
}

/* What it has set where the unit is reached stands, wherever the container comes to be. */
static void keep_own(struct arena *a, Rep__UnitNote *j, const Rep__UnitNoteWrite *w)
{
    bool address = strcmp(w->key, UNIT_SETTING_ADDRESS) == 0;
    bool port = strcmp(w->key, UNIT_SETTING_PORT) == 0;
    Rep__UnitNoteRelation *r = address || port ? changed_relation(a, j, w->relation) : NULL;
    if (r) {
        r->own_address = r->own_address || address;
        r->own_port = r->own_port || port;
    }
}

/* What a hook has set goes to what is to be published; the later word of a key counts. */
static void publish_later(struct arena *a, Rep__UnitNote *j, const Rep__UnitNoteHook *h)
{
    Rep__UnitNoteWrite **list =
        ARENA_ARRAY(a, j->n_unpublished + h->n_writes, Rep__UnitNoteWrite *);
    size_t count = 0;
    for (size_t i = 0; i < j->n_unpublished; i++) {
        bool older = false;
        for (size_t k = 0; k < h->n_writes && !older; k++) {
            older = h->writes[k]->relation == j->unpublished[i]->relation &&
                    strcmp(h->writes[k]->key, j->unpublished[i]->key) == 0;
        }
        if (!older) {
            list[count++] = j->unpublished[i];
        }
    }
    for (size_t i = 0; i < h->n_writes; i++) {
        list[count++] = h->writes[i];
        keep_own(a, j, h->writes[i]);
    }
    j->unpublished = list;
    j->n_unpublished = count;
}

/* The last JOURNAL_TEXT_MAX bytes, from the beginning of a letter on. */
static const char *last_of(const char *text)
{
    size_t size = strlen(text);
    text += size > JOURNAL_TEXT_MAX ? size - JOURNAL_TEXT_MAX : 0;
    while (size > JOURNAL_TEXT_MAX && ((unsigned char)*text & 0xc0) == 0x80) {
        text++;
    }
    return text;
}

Rep__UnitNote *journal_end(struct arena *a, const Rep__UnitNote *old, enum journal_end end,
                           const char *text)
{
    Rep__UnitNote *j = changed_journal(a, old);
    assert(hook_runs(old));
    Rep__UnitNoteHook *h = changed_hook(a, old->hook);
    move_hook(a, h, HOOK_RUN_TRIGGER_END, 0);
    h->lost = end == JOURNAL_LOST && h->attempt < JOURNAL_ATTEMPTS_MAX;
    h->text = arena_strdup(a, last_of(text));
    j->hook = h;
    if (end == JOURNAL_GOOD) {
        publish_later(a, j, h);
        tell(a, j, HOOK_RUN_IF_GOOD);
        return j;
    }
    h->n_writes = 0;
    return j;
}

Rep__UnitNote *journal_accept(struct arena *a, const Rep__UnitNote *old)
{
    Rep__UnitNote *j = changed_journal(a, old);
    assert(old->hook && !hook_runs(old) && old->hook->n_writes == 0);
    tell(a, j, HOOK_RUN_IF_SKIPPED);
    return j;
}

static size_t bytes_of_writes(Rep__UnitNoteWrite *const *list, size_t count)
{
    enum { HEADER = 4 }; /* of each, in the list */
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += HEADER + rep__unit_note_write__get_packed_size(list[i]);
    }
    return bytes;
}

static int put_write(struct arena *a, Rep__UnitNoteHook *h, uint32_t relation, const char *key,
                     const char *value, struct err *err)
{
    Rep__UnitNoteWrite *w = arena_message(a, &rep__unit_note_write__descriptor);
    size_t at = h->n_writes, here = 0;
    for (size_t i = 0; i < h->n_writes; i++) {
        bool same = h->writes[i]->relation == relation;
        here += same;
        at = same && strcmp(h->writes[i]->key, key) == 0 ? i : at;
    }
    if (at == h->n_writes && here == JOURNAL_WRITES_MAX) {
        return err_set(err, ERR_TOO_LARGE, "relation %u: a hook sets %d keys at most", relation,
                       JOURNAL_WRITES_MAX);
    }
    w->relation = relation;
    w->key = arena_strdup(a, key);
    w->value = arena_strdup(a, value);
    h->writes = longer_list(a, h->writes, h->n_writes);
    h->writes[at] = w;
    h->n_writes += at == h->n_writes;
    return 0;
}

int journal_set(struct arena *a, const Rep__UnitNote *old, uint32_t relation, const char *key,
                const char *value, Rep__UnitNote **ret_journal, struct err *err)
{
    Rep__UnitNote *j = changed_journal(a, old);
    if (!hook_runs(old)) {
        return err_set(err, ERR_CONFLICT, "the hook has ended: what it sets now reaches nobody");
    }
    if (!relation_numbered(old, relation)) {
        return err_set(err, ERR_NOT_FOUND, "the unit is not in relation %u", relation);
    }
    j->hook = changed_hook(a, old->hook);
    int r = put_write(a, j->hook, relation, key, value, err);
    if (r < 0) {
        return r;
    }
    size_t bytes = bytes_of_writes(j->unpublished, j->n_unpublished) +
                   bytes_of_writes(j->hook->writes, j->hook->n_writes);
    if (bytes > JOURNAL_WRITES_BYTES_MAX) {
        return err_set(
            err, ERR_TOO_LARGE,
            "relation %u: what the unit's hooks have set, and nobody was told yet, is more "
            "than %d KiB",
            relation, JOURNAL_WRITES_BYTES_MAX >> 10);
    }
    *ret_journal = j;
    return 0;
}

Rep__UnitNote *journal_published(struct arena *a, const Rep__UnitNote *old, uint32_t relation)
{
    Rep__UnitNote *j = changed_journal(a, old);
    j->unpublished = ARENA_ARRAY(a, old->n_unpublished, Rep__UnitNoteWrite *);
    j->n_unpublished = 0;
    for (size_t i = 0; i < old->n_unpublished; i++) {
        if (old->unpublished[i]->relation != relation) {
            j->unpublished[j->n_unpublished++] = old->unpublished[i];
        }
    }
    return j;
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* Whether that hook may run by what has run before. */
static bool hook_is_sound(const Rep__UnitNote *j, const Rep__UnitNoteHook *h)
{
    const Rep__UnitNoteRelation *r = relation_numbered(j, h->relation);
    bool ended = strcmp(h->state, "ended") == 0;
    bool known = h->hook > HOOK_NONE && h->hook < HOOK_KIND_COUNT && *h->token;
    bool in_order = h->hook == HOOK_INSTALL          ? !j->installed
                    : h->hook == HOOK_CONFIG_CHANGED ? j->installed
                    : h->hook == HOOK_START          ? j->configured
                                                     : j->started;
    return known && in_order && (ended || (strcmp(h->state, "noted") == 0 && !h->lost)) &&
           !(ended && h->n_writes) && /* they were given up, or wait to be told */
           !(h->hook == HOOK_BROKEN && r && r->n_members) &&
           !(h->hook == HOOK_JOINED && r && r->broken);
}

/* What a journal promises beyond its form. */
static bool is_sound(const Rep__UnitNote *j)
{
    bool sound = j->format == JOURNAL_FORMAT && j->n_relations <= HOOK_RELATIONS_MAX &&
                 (j->installed || !j->configured) && (j->configured || !j->started) &&
                 !(j->stopped && j->hook); /* after stop nothing comes */
    for (size_t i = 0; i < j->n_relations; i++) {
        const Rep__UnitNoteRelation *r = j->relations[i];
        sound = sound && (i == 0 || j->relations[i - 1]->number < r->number) &&
                r->n_members <= HOOK_SCOPE_TOLD_MAX && !(r->broken && r->n_members);
        for (size_t k = 1; k < r->n_members; k++) {
            sound = sound && r->members[k - 1]->unit < r->members[k]->unit;
        }
    }
    const Rep__UnitNoteLost *l = j->lost;
    sound = sound && (!l || (l->hook > HOOK_NONE && l->hook < HOOK_KIND_COUNT && l->attempt > 0 &&
                             l->attempt < JOURNAL_ATTEMPTS_MAX));
    return sound && (!j->hook || hook_is_sound(j, j->hook));
}

int journal_read(struct arena *a, struct bytes text, Rep__UnitNote **ret_journal, struct err *err)
{
    ProtobufCMessage *m = NULL;
    if (text.size > JOURNAL_BYTES_MAX) {
        return err_set(err, ERR_TOO_LARGE, "a unit's journal of %zu bytes; it has %d at most",
                       text.size, JOURNAL_BYTES_MAX);
    }
    int r = scan_and_unpack(a, &rep__unit_note__descriptor, text, 16 * JOURNAL_BYTES_MAX, &m, err);
    if (r < 0) {
        return err_prefix(err, "a unit's journal");
    }
    if (!is_sound((Rep__UnitNote *)m)) {
        return err_set(err, ERR_INVALID,
                       "a unit's journal that no rep of this version wrote: its format is %u, and "
                       "%d is known",
                       ((Rep__UnitNote *)m)->format, JOURNAL_FORMAT);
    }
    *ret_journal = (Rep__UnitNote *)m;
    return 0;
}
