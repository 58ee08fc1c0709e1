/* The child: one request from standard input, one answer to standard output. */
#include "common/base/message.h"
#include "common/definition/answer.h"
#include "converger/resolver/git_io.h"
#include "converger/resolver/mirrors_io.h"
#include "converger/resolver/resolver_io.h"
#include "resolver.pb-c.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CHUNK_BYTES = 64 * 1024, REQUEST_BYTES_MAX = 4 * 1024 * 1024 };

/* Of this process, and of each git that it starts. */
#define MEMORY_BYTES_MAX (INT64_C(512) * 1024 * 1024)

static void limit(int what, rlim_t value)
{
    struct rlimit l = {value, value};
    setrlimit(what, &l);
}

/* It ends with its converger, by its time, and by its memory. */
static void bound_oneself(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#ifndef __SANITIZE_ADDRESS__ /* whose shadow takes more */
    limit(RLIMIT_AS, (rlim_t)MEMORY_BYTES_MAX);
#endif
    limit(RLIMIT_CPU, RESOLVE_TIME_S);
    limit(RLIMIT_FSIZE, (rlim_t)GIT_MIRROR_BYTES_MAX);
    limit(RLIMIT_CORE, 0); /* keys are in it */
}

static int read_request(struct buf *into, struct err *err)
{
    char chunk[CHUNK_BYTES];
    for (ssize_t n; (n = read(STDIN_FILENO, chunk, sizeof(chunk))) != 0;) {
        if (n < 0 && errno != EINTR) {
            return err_set(err, ERR_IO, "the request cannot be read: %s", strerror(errno));
        }
        buf_append(into, chunk, n < 0 ? 0 : (size_t)n);
        if (into->size > REQUEST_BYTES_MAX) {
            return err_set(err, ERR_TOO_LARGE, "a request has at most %d bytes", REQUEST_BYTES_MAX);
        }
    }
    return 0;
}

static struct resolve_request request_of(struct arena *a, const Board__ResolverRequest *m)
{
    struct resolve_key *keys = ARENA_ARRAY(a, m->n_keys + 1, struct resolve_key);
    for (size_t i = 0; i < m->n_keys; i++) {
        keys[i] = (struct resolve_key){m->keys[i]->name, m->keys[i]->value};
    }
    return (struct resolve_request){.what = (enum resolve_what)m->what,
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
}

static Board__ResolverAnswer answer_of(struct arena *a, const struct resolved *r)
{
    Board__ResolverAnswer m = BOARD__RESOLVER_ANSWER__INIT;
    m.done = r->done;
    m.fault = arena_strdup(a, r->fault ? r->fault : "");
    m.needs = arena_strdup(a, r->needs ? r->needs : "");
    m.commit = arena_strdup(a, r->commit ? r->commit : "");
    m.version = arena_strdup(a, r->version ? r->version : "");
    m.n_components = r->component_count;
    m.components = r->components;
    m.index = r->index;
    m.n_versions = r->version_count;
    m.versions = (char **)r->versions;
    return m;
}

static int write_answer(const Board__ResolverAnswer *m, struct err *err)
{
    SCOPED_BUF(packed);
    buf_message(&packed, &m->base);
    for (size_t at = 0; at < packed.size;) {
        ssize_t n = write(STDOUT_FILENO, packed.data + at, packed.size - at);
        if (n < 0 && errno != EINTR) {
            return err_set(err, ERR_IO, "the answer cannot be written: %s", strerror(errno));
        }
        at += n < 0 ? 0 : (size_t)n;
    }
    return 0;
}

static int answer_to(struct arena *a, const Board__ResolverRequest *m, struct err *err)
{
    struct resolve_request request = request_of(a, m);
    struct git_key *keys = ARENA_ARRAY(a, m->n_keys + 1, struct git_key);
    for (size_t i = 0; i < m->n_keys; i++) {
        keys[i] = (struct git_key){m->keys[i]->name, m->keys[i]->value};
    }
    if (m->git_dir[0]) {
        mirrors_make_room(m->git_dir, GIT_MIRROR_BYTES_MAX);
    }
    struct git_config config = {.dir = m->git_dir[0] ? m->git_dir : NULL,
                                .no_git = m->no_git,
                                .work_dir = m->work_dir,
                                .allow_file = m->allow_file,
                                .keys = keys,
                                .key_count = m->n_keys,
                                .url = m->url,
                                .url_key = m->ssh_key};
    struct git *git = git_new(&config);
    struct definition_repositories repositories = {
        .read = git_read, .tags = git_tags, .context = git, .system_domain = m->system_domain};
    struct resolved r = definition_answer(a, &request, &repositories);
    git_free(git);
    Board__ResolverAnswer answer = answer_of(a, &r);
    return write_answer(&answer, err);
}

int resolver_child_run(const struct invocation *call, struct err *err)
{
    (void)call;
    bound_oneself();
    SCOPED_BUF(packed);
    struct arena a;
    arena_init(&a);
    int r = read_request(&packed, err);
    if (r == 0) {
        ProtobufCAllocator allocator = arena_protobuf(&a);
        const Board__ResolverRequest *m =
            board__resolver_request__unpack(&allocator, packed.size, packed.data);
        r = m && m->what < RESOLVE_WHAT_COUNT
                ? answer_to(&a, m, err)
                : err_set(err, ERR_INVALID,
                          "standard input is no request of a converger, which starts this itself");
    }
    arena_done(&a);
    return r;
}
