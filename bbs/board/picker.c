#include "bbs/board/picker.h"

#include <string.h>

struct picker picker_of_topic(const char *topic)
{
    size_t size = strlen(topic);
    return (struct picker){.type = RECORD_TYPE_COUNT,
                           .key_prefix = topic,
                           .whole_key = !size || topic[size - 1] != '/',
                           .tags = {"", "", "", ""}};
}

struct picker picker_of(struct arena *a, const Board__Selector *s)
{
    struct picker p = {.type = RECORD_TYPE_COUNT};
    p.key_prefix = arena_strdup(a, s->key_prefix);
    p.whole_key = s->whole_key;
    if (*s->type) {
        p.type = record_type_named(s->type);
        p.impossible = p.type == RECORD_UNKNOWN;
        if (!p.impossible && !*p.key_prefix && !p.whole_key) {
            p.key_prefix = arena_printf(a, "%s/", record_type_name(p.type));
        }
    }
    p.tags[TAG_DOMAIN] = arena_strdup(a, s->domain);
    p.tags[TAG_CELL] = arena_strdup(a, s->cell_id);
    p.tags[TAG_STATE] = arena_strdup(a, s->state);
    p.tags[TAG_OWNER] = s->owner ? owner_text(a, s->owner->kind, s->owner->uid) : "";
    return p;
}

static bool key_matches(const struct picker *p, const char *key)
{
    return p->whole_key ? strcmp(key, p->key_prefix) == 0 : text_begins(key, p->key_prefix);
}

bool picker_matches(const struct picker *p, const struct version *item)
{
    if (p->impossible || (p->type != RECORD_TYPE_COUNT && p->type != item->type) ||
        !key_matches(p, version_key(item))) {
        return false;
    }
    for (int t = 0; t < TAG_COUNT; t++) {
        if (*p->tags[t] && strcmp(p->tags[t], version_tag(item, (enum tag)t)) != 0) {
            return false;
        }
    }
    return true;
}

struct picker_walk picker_begin(const struct picker *p, const struct copy *c)
{
    struct picker_walk w = {.picker = p, .tag = TAG_COUNT};
    if (p->impossible) {
        return w;
    }
    if (*p->tags[TAG_CELL]) {
        w.tag = TAG_CELL;
    } else if (*p->tags[TAG_OWNER]) {
        w.tag = TAG_OWNER;
    }
    w.at = w.tag == TAG_COUNT ? copy_from(c, p->key_prefix) : copy_tagged(c, w.tag, p->tags[w.tag]);
    return w;
}

struct version *picker_next(struct picker_walk *w)
{
    while (w->at) {
        struct version *item = copied_version(w->at);
        if (w->tag == TAG_COUNT && !key_matches(w->picker, version_key(item))) {
            w->at = NULL;
            break;
        }
        w->at = w->tag == TAG_COUNT ? copy_next(w->at) : copied_next_tagged(w->at, w->tag);
        if (picker_matches(w->picker, item)) {
            return item;
        }
    }
    return NULL;
}
