/* The child: one request from standard input, one answer to standard output. */
#include "common/base/message.h"
#include "common/definition/answer.h"
#include "converger/resolver/frames.h"
#include "converger/resolver/git_io.h"
#include "converger/resolver/mirrors_io.h"
#include "converger/resolver/resolver_io.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CHUNK_BYTES = 64 * 1024 };

/* Of this process, and of each git that it starts. */
#define MEMORY_BYTES_MAX (INT64_C(512) * 1024 * 1024)

/* Never more than it was started with. */
static void limit(int what, rlim_t value)
{
    struct rlimit l;
    if (getrlimit(what, &l) == 0 && l.rlim_cur < value) {
        value = l.rlim_cur;
    }
    l = (struct rlimit){value, value};
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
    limit(RLIMIT_FSIZE, (rlim_t)GIT_REPOSITORY_BYTES_MAX); /* what is fetched is one file */
    signal(SIGXFSZ, SIG_IGN);                              /* git is told so, and says so */
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
        if (into->size > RESOLVER_REQUEST_BYTES_MAX) {
            return 0; /* it is read no further, and refused */
        }
    }
    return 0;
}

static int write_answer(const Board__ResolverAnswer *m, struct err *err)
{
    SCOPED_BUF(packed);
    buf_message(&packed, &m->base);
    for (size_t at = 0; at < packed.size;) {
        ssize_t n = write(STDOUT_FILENO, packed.data + at, packed.size - at);
        if (n < 0 && errno == EPIPE) {
            return 0; /* its converger was killed, and another one asks anew */
        }
        if (n < 0 && errno != EINTR) {
            return err_set(err, ERR_IO, "the answer cannot be written: %s", strerror(errno));
        }
        at += n < 0 ? 0 : (size_t)n;
    }
    return 0;
}

static int answer_to(struct arena *a, const Board__ResolverRequest *m,
                     const struct resolve_request *request, struct err *err)
{
    struct git_key *keys = ARENA_ARRAY(a, m->n_keys + 1, struct git_key);
    for (size_t i = 0; i < m->n_keys; i++) {
        keys[i] = (struct git_key){m->keys[i]->name, m->keys[i]->value};
    }
    if (m->git_dir[0]) {
        mirrors_make_room(m->git_dir, GIT_MIRRORS_BYTES_MAX);
    }
    struct git_config config = {.dir = m->git_dir[0] ? m->git_dir : NULL,
                                .no_git = m->no_git,
                                .work_dir = m->work_dir,
                                .ca = m->git_ca[0] ? m->git_ca : NULL,
                                .allow_file = m->allow_file,
                                .keys = keys,
                                .key_count = m->n_keys,
                                .url = m->url,
                                .url_key = m->ssh_key};
    struct git *git = git_new(&config);
    struct definition_repositories repositories = {
        .read = git_read, .tags = git_tags, .context = git, .system_domain = m->system_domain};
    struct resolved r = definition_answer(a, request, &repositories);
    git_free(git);
    Board__ResolverAnswer answer = resolver_answer_of(a, &r);
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
        const Board__ResolverRequest *m;
        struct resolve_request request;
        r = resolver_request_read(&a, buf_bytes(&packed), &m, &request, err);
        r = r < 0 ? err_prefix(err, "standard input is no request of a converger, which starts "
                                    "this itself")
                  : answer_to(&a, m, &request, err);
    }
    arena_done(&a);
    return r;
}
