#include "converger/resolver/frames.h"

#include "common/codec/scan.h"
#include "common/definition/semver.h"

#include <assert.h>
#include <string.h>

static char *text(struct arena *a, const char *t)
{
    return arena_strdup(a, t ? t : "");
}

int resolver_request_read(struct arena *a, struct bytes frame,
                          const Board__ResolverRequest **ret_message,
                          struct resolve_request *ret, struct err *err)
{
    ProtobufCMessage *message;
    int r = frame.size > RESOLVER_REQUEST_BYTES_MAX
                ? err_set(err, ERR_TOO_LARGE, "a request has at most %d bytes",
                          RESOLVER_REQUEST_BYTES_MAX)
                : scan_and_unpack(a, &board__resolver_request__descriptor, frame,
                                  RESOLVER_DECODED_MAX, &message, err);
    if (r < 0) {
        return r;
    }
    const Board__ResolverRequest *m = (const Board__ResolverRequest *)message;
    if (m->what >= RESOLVE_WHAT_COUNT) {
        return err_set(err, ERR_INVALID, "nothing is asked for by the number %u", m->what);
    }
    struct resolve_key *keys = ARENA_ARRAY(a, m->n_keys + 1, struct resolve_key);
    for (size_t i = 0; i < m->n_keys; i++) {
        keys[i] = (struct resolve_key){m->keys[i]->name, m->keys[i]->value};
    }
    *ret_message = m;
    *ret = (struct resolve_request){.what = (enum resolve_what)m->what,
                                    .system = m->system,
                                    .uid = m->uid,
                                    .url = m->url,
                                    .version = m->version,
                                    .commit = m->commit,
                                    .path = m->path,
                                    .ssh_key = m->ssh_key,
                                    .source = {m->source.data, m->source.len},
                                    .tree = m->tree,
                                    .key_count = m->n_keys,
                                    .keys = keys};
    assert(ret->what < RESOLVE_WHAT_COUNT);
    return 0;
}

/* ---- Answers --------------------------------------------------------------------------------- */

Board__ResolverAnswer resolver_answer_of(struct arena *a, const struct resolved *r)
{
    Board__ResolverAnswer m = BOARD__RESOLVER_ANSWER__INIT;
    assert(r->done || (r->fault && *r->fault) || (r->needs && *r->needs));
    m.done = r->done;
    m.fault = text(a, r->fault);
    m.needs = text(a, r->needs);
    m.commit = text(a, r->commit);
    m.version = text(a, r->version);
    m.n_components = r->component_count;
    m.components = r->components;
    m.index = r->index;
    m.n_versions = r->version_count;
    m.versions = (char **)r->versions;
    return m;
}

static const char *versions_fault(const Board__ResolverAnswer *m)
{
    if (m->index || m->n_components > 0 || m->n_versions > RESOLVE_VERSIONS_MAX) {
        return "a list of versions is too long, or no list";
    }
    for (size_t i = 0; i < m->n_versions; i++) {
        if (!semver_is_valid(m->versions[i])) {
            return "a version is none";
        }
    }
    return NULL;
}

static const char *tree_fault(const Board__ResolverAnswer *m)
{
    if (!m->index || m->n_components == 0 || m->index->n_entries != m->n_components) {
        return "the index and the components do not fit";
    }
    for (size_t i = 0; i < m->n_components; i++) {
        const Board__IndexRecord__Entry *e = m->index->entries[i];
        const Board__ComponentRecord *c = m->components[i];
        if (strcmp(e->path, c->path) != 0 || strcmp(c->tree, m->index->tree) != 0) {
            return "the index names other components";
        }
    }
    return m->n_versions == 0 ? NULL : "a tree has no list of versions";
}

static const char *answer_fault(const Board__ResolverAnswer *m, enum resolve_what what)
{
    if (m->done != (!*m->fault && !*m->needs)) {
        return "it is done and is not";
    } else if (!m->done) {
        return m->index || m->n_components + m->n_versions > 0 ? "what is not done is given" : NULL;
    }
    return what == RESOLVE_TAGS ? versions_fault(m) : tree_fault(m);
}

int resolver_answer_read(struct arena *a, uint64_t id, enum resolve_what what, struct bytes frame,
                         struct resolved *ret, struct err *err)
{
    ProtobufCMessage *message;
    assert(id != 0 && what < RESOLVE_WHAT_COUNT);
    int r = scan_and_unpack_answer(a, &board__resolver_answer__descriptor, frame,
                                   RESOLVER_DECODED_MAX, &message, err);
    if (r < 0) {
        return r;
    }
    const Board__ResolverAnswer *m = (const Board__ResolverAnswer *)message;
    const char *fault = answer_fault(m, what);
    if (fault) {
        return err_set(err, ERR_INVALID, "%s", fault);
    }
    *ret = (struct resolved){.id = id,
                             .done = m->done,
                             .fault = m->fault,
                             .needs = m->needs,
                             .commit = m->commit,
                             .version = m->version,
                             .component_count = m->n_components,
                             .components = m->components,
                             .index = m->index,
                             .version_count = m->n_versions,
                             .versions = (const char **)m->versions};
    return 0;
}
