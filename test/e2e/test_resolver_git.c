/* The resolver, the real program (`converger resolve`), against real git repositories on a disk:
 * tags, branches, commits, ranges, paths, and what hostile ones bring. */
#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/contract/resolver.h"
#include "resolver.pb-c.h"
#include "test/tool/cmocka.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char work[256], program[512], top[512];
static struct arena arena;
static const char *before_program = ""; /* said to the shell before it is run */
static const char *git_ca = "";

#define SERVICE                                                                                    \
    "{type: v1/service, instance_type: shared, build: {rootfs: preloaded:busybox}, exec: "         \
    "{command: [/bin/web]}, num_instances: 1}"

#define SYSTEM "{type: v1/system, components: {x: " SERVICE "}}"

/* Runs a line of the shell in the directory of the test. */
static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *line = arena_vprintf(&arena, format, args);
    va_end(args);
    line = arena_printf(&arena,
                        "cd '%s' && export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=t "
                        "GIT_AUTHOR_EMAIL=t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t && { %s; }",
                        work, line);
    int status = system(line);
    if (status != 0) {
        fail_msg("status %d of: %s", status, line);
    }
}

static void put_text(const char *file, const char *text)
{
    FILE *f = fopen(arena_printf(&arena, "%s/%s", work, file), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static const char *url(const char *name)
{
    return arena_printf(&arena, "file://%s/%s", work, name);
}

static char *or_empty(const char *text)
{
    return (char *)(text ? text : "");
}

/* What the program answers to a request. */
static struct resolved ask(struct resolve_request q, bool allow_file)
{
    Board__ResolverRequest m = BOARD__RESOLVER_REQUEST__INIT;
    SCOPED_BUF(call);
    SCOPED_BUF(answer);
    m.what = q.what;
    m.system = (char *)"shop";
    m.uid = (char *)"u1";
    m.tree = (char *)"t1";
    m.url = or_empty(q.url);
    m.version = or_empty(q.version);
    m.commit = or_empty(q.commit);
    m.path = q.path ? (char *)q.path : (char *)"/";
    m.source = (ProtobufCBinaryData){.data = (uint8_t *)q.source.data, .len = q.source.size};
    m.git_dir = arena_printf(&arena, "%s/mirrors", work);
    m.work_dir = arena_printf(&arena, "%s/child", work);
    m.allow_file = allow_file;
    m.git_ca = or_empty(git_ca);
    m.ssh_key = or_empty(q.ssh_key);
    shell("rm -f child/*"); /* each child has a directory of its own */
    buf_message(&call, &m.base);
    FILE *in = fopen(arena_printf(&arena, "%s/call", work), "w");
    assert_non_null(in);
    fwrite(call.data, 1, call.size, in);
    fclose(in);
    FILE *out = popen(arena_printf(&arena, "%s'%s' resolve <'%s/call'", before_program, program,
                                   work), "r");
    assert_non_null(out);
    char piece[4096];
    for (size_t n; (n = fread(piece, 1, sizeof(piece), out)) > 0;) {
        buf_append(&answer, piece, n);
    }
    assert_int_equal(pclose(out), 0);
    ProtobufCAllocator allocator = arena_protobuf(&arena);
    const Board__ResolverAnswer *r =
        board__resolver_answer__unpack(&allocator, answer.size, answer.data);
    assert_non_null(r);
    return (struct resolved){.done = r->done,
                             .fault = r->fault,
                             .needs = r->needs,
                             .commit = r->commit,
                             .version = r->version,
                             .components = r->components,
                             .component_count = r->n_components,
                             .index = r->index,
                             .versions = (const char **)r->versions,
                             .version_count = r->n_versions};
}

static struct resolved version(const char *name, const char *tag)
{
    return ask((struct resolve_request){.what = RESOLVE_VERSION, .url = url(name), .version = tag},
               true);
}

static void expect(const struct resolved *r, size_t components)
{
    assert_string_equal(r->fault, "");
    assert_true(r->done);
    assert_int_equal(r->component_count, components);
}

static void expect_fault(const struct resolved *r, const char *fault)
{
    if (r->done || !strstr(r->fault, fault)) {
        fail_msg("\"%s\" and not \"%s\"", r->done ? "it is done" : r->fault, fault);
    }
}

static int set_up(void **state)
{
    (void)state;
    const char *temporary = getenv("TMPDIR");
    snprintf(work, sizeof(work), "%s/resolver-XXXXXX", temporary ? temporary : "/tmp");
    assert_non_null(mkdtemp(work));
    shell("mkdir mirrors child && git init -q -b main shop && git init -q -b main store");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    int status = system(arena_printf(&arena, "rm -rf '%s'", work));
    arena_done(&arena);
    return status;
}

static void a_version_is_read_at_its_tag(void **state)
{
    (void)state;
    put_text("shop/lattice.yaml", "type: v1/system\ncomponents: {web: " SERVICE "}\n");
    shell("cd shop && git add . && git commit -qm 1 && git tag v1.0.0 && git tag newest");
    put_text("shop/lattice.yaml",
             "type: v1/system\ncomponents: {web: " SERVICE ", api: " SERVICE "}\n");
    shell("cd shop && git commit -qam 2 && git tag -a -m two 1.1.0");
    struct resolved one = version("shop", "v1.0.0");
    expect(&one, 2);
    struct resolved two = version("shop", "1.1.0");
    expect(&two, 3);
    assert_string_equal(two.version, "1.1.0");
    assert_int_equal(strlen(two.commit), 40);
    assert_string_not_equal(one.commit, two.commit);
    assert_string_equal(two.index->commits[0],
                        arena_printf(&arena, "%s %s", url("shop"), two.commit));
    struct resolved none = version("shop", "3.0.0");
    expect_fault(&none, "has no version 3.0.0: its highest are");
}

static void references_lead_to_other_repositories(void **state)
{
    (void)state;
    put_text("store/lattice.yaml", "type: v1/system\ncomponents: {cart: " SERVICE "}\n");
    shell("cd store && git add . && git commit -qm 1 && git tag 1.0.0");
    put_text("store/lattice.yaml",
             "type: v1/system\ncomponents: {cart: " SERVICE ", pay: " SERVICE "}\n");
    shell("cd store && git commit -qam 2 && git tag 1.4.0 && git tag 2.0.0-rc.1");
    shell("cd store && git rev-parse HEAD~1 >../first");
    char first[41] = "";
    FILE *f = fopen(arena_printf(&arena, "%s/first", work), "r");
    assert_non_null(f);
    assert_int_equal(fread(first, 1, 40, f), 40);
    fclose(f);
    put_text("shop/web.yaml", SERVICE);
    put_text(
        "shop/lattice.yaml",
        arena_printf(&arena,
                     "type: v1/system\ncomponents:\n"
                     "  range: {type: v1/reference, git_repository: {url: '%s', version: 1.x}}\n"
                     "  old: {type: v1/reference, git_repository: {url: '%s', commit: %s}}\n"
                     "  head: {type: v1/reference, git_repository: {url: '%s', branch: main}}\n"
                     "  web: {type: v1/reference, file: web.yaml}\n",
                     url("store"), url("store"), first, url("store")));
    shell("cd shop && git add . && git commit -qm 3 && git tag 1.2.0");
    struct resolved r = version("shop", "1.2.0");
    expect(&r, 1 + 3 + 2 + 3 + 1);
    assert_int_equal(r.index->n_commits, 3);
    /* A branch moves: the path at the same commit of the root has what it leads to now. */
    put_text("store/lattice.yaml", "type: v1/system\ncomponents: {cart: " SERVICE "}\n");
    shell("cd store && git commit -qam 3");
    struct resolved again = ask(
        (struct resolve_request){
            .what = RESOLVE_PATH, .url = url("shop"), .commit = r.commit, .path = "/head"},
        true);
    expect(&again, 2);
    assert_string_equal(again.index->path, "/head");
}

static void tags_are_listed(void **state)
{
    (void)state;
    struct resolved r =
        ask((struct resolve_request){.what = RESOLVE_TAGS, .url = url("store")}, true);
    assert_true(r.done);
    assert_int_equal(r.version_count, 3);
    assert_string_equal(r.versions[0], "1.0.0");
    assert_string_equal(r.versions[2], "2.0.0-rc.1");
}

static void what_is_not_there_is_told(void **state)
{
    (void)state;
    struct resolved none = version("nowhere", "1.0.0");
    expect_fault(&none, "nowhere");
    shell("git init -q -b main empty && cd empty && git commit -q --allow-empty -m 1 && git tag "
          "1.0.0");
    struct resolved empty = version("empty", "1.0.0");
    expect_fault(&empty, "it has no lattice.yaml");
    struct resolved closed = ask(
        (struct resolve_request){.what = RESOLVE_VERSION, .url = url("shop"), .version = "1.1.0"},
        false);
    expect_fault(&closed, "--allow-file");
}

static void hostile_repositories_bring_nothing_in(void **state)
{
    (void)state;
    shell("git init -q -b main bad && cd bad && ln -s /etc/passwd lattice.yaml && git add . && git "
          "commit -qm 1 && git tag 1.0.0");
    struct resolved link = version("bad", "1.0.0");
    expect_fault(&link, "lattice.yaml: it is a symbolic link");
    shell("cd bad && git rm -qf lattice.yaml && mkdir lattice.yaml && touch lattice.yaml/x && git "
          "add . && git commit -qm 2 && git tag 1.0.1");
    struct resolved directory = version("bad", "1.0.1");
    expect_fault(&directory, "directory");
    shell(
        "cd bad && git rm -qrf lattice.yaml && git -c protocol.file.allow=always submodule --quiet "
        "add '%s' lattice.yaml && git commit -qm 3 && git tag 1.0.2",
        url("store"));
    struct resolved submodule = version("bad", "1.0.2");
    expect_fault(&submodule, "submodule");
    static const char *const files[] = {"../store/lattice.yaml", "/etc/passwd", "--help",
                                        ".git/config"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct resolved r = ask(
            (struct resolve_request){
                .what = RESOLVE_SOURCE,
                .source = bytes_of(arena_printf(
                    &arena,
                    "{type: v1/system, components: {a: {type: v1/reference, git_repository: "
                    "{url: '%s', file: '%s'}}}}",
                    url("shop"), files[i]))},
            true);
        assert_false(r.done);
        expect_fault(&r, "a file's path is relative to the repository");
    }
    static const char *const refs[] = {"--upload-pack=touch /tmp/x", "-x", "a..b", "main:x"};
    for (size_t i = 0; i < sizeof(refs) / sizeof(refs[0]); i++) {
        struct resolved r = ask(
            (struct resolve_request){
                .what = RESOLVE_SOURCE,
                .source = bytes_of(arena_printf(
                    &arena,
                    "{type: v1/system, components: {a: {type: v1/reference, git_repository: "
                    "{url: '%s', branch: '%s'}}}}",
                    url("shop"), refs[i]))},
            true);
        expect_fault(&r, "is no name of a branch or tag");
    }
}

/* Its converger was killed: there is nobody to tell, and nothing to complain of. */
static void whoever_has_gone_needs_no_answer(void **state)
{
    int ends[2];
    (void)state;
    (void)version("shop", "1.0.0"); /* leaves its request in a file */
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    shell("trap '' PIPE; cd '%s' && '%s' resolve <'%s/call' >&%d 2>'%s/said'", top, program, work,
          ends[1], work); /* a converger ignores that signal, and so does its child */
    close(ends[1]);
    shell("test ! -s '%s/said'", work);
}

static void hooks_do_not_run(void **state)
{
    (void)state;
    shell("mkdir -p store/.git/hooks && for h in post-upload-pack reference-transaction "
          "post-checkout; do printf '#!/bin/sh\\ntouch %s/ran\\n' >store/.git/hooks/$h; chmod +x "
          "store/.git/hooks/$h; done; rm -rf mirrors/mirror-*",
          work);
    struct resolved r = version("store", "1.4.0");
    expect(&r, 3);
    assert_int_not_equal(access(arena_printf(&arena, "%s/ran", work), F_OK), 0);
}

static void large_files_are_refused(void **state)
{
    (void)state;
    shell("git init -q -b main large && cd large && head -c 1100000 /dev/zero | tr '\\0' '#' "
          ">lattice.yaml && git add . && git commit -qm 1 && git tag 1.0.0");
    struct resolved file = version("large", "1.0.0");
    expect_fault(&file, "more than 1048576 bytes");
}

/* By a bound that the resolver is started with, which is lower than its own. */
static void large_repositories_are_refused(void **state)
{
    (void)state;
    shell("git init -q -b main huge && cd huge && echo '" SYSTEM "' >lattice.yaml && git add . && "
          "git commit -qm 1 && git tag 1.0.0");
    before_program = "ulimit -f 1024; "; /* 512 KiB in sh, 1 MiB in bash */
    struct resolved small = version("huge", "1.0.0");
    expect(&small, 2);
    shell("cd huge && head -c 3000000 /dev/urandom >noise && git add . && git commit -qm 2 && git "
          "tag 1.1.0");
    struct resolved large = version("huge", "1.1.0");
    before_program = "";
    expect_fault(&large, "huge cannot be read: it is larger than ");
    struct resolved again = version("huge", "1.1.0");
    expect(&again, 2);
}

/* ---- From a server --------------------------------------------------------------------------- */

static FILE *server;

/* Gives the port. The certificate is of an authority that no machine knows. */
static unsigned serve(const char *options)
{
    unsigned port = 0;
    shell("test -f key.pem || openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out "
          "cert.pem -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 2>errors");
    server = popen(arena_printf(&arena,
                                "cd '%s' && echo $$ >server && exec '%s/test/tool/git_server' . "
                                "cert.pem key.pem %s",
                                work, top, options), "r");
    assert_non_null(server);
    assert_int_equal(fscanf(server, "%u", &port), 1);
    return port;
}

static void stop_serving(void)
{
    shell("kill $(cat server)");
    pclose(server);
}

static struct resolved version_at(const char *address)
{
    return ask((struct resolve_request){.what = RESOLVE_VERSION, .url = address,
                                        .version = "1.0.0"}, false);
}

static struct resolved tags_at(const char *address, const char *key)
{
    return ask((struct resolve_request){.what = RESOLVE_TAGS, .url = address, .ssh_key = key},
               false);
}

static void a_server_is_trusted_by_its_authority(void **state)
{
    (void)state;
    shell("git init -q -b main far && cd far && echo '" SYSTEM "' >lattice.yaml && git add . && "
          "git commit -qm 1 && git tag 1.0.0");
    const char *address = arena_printf(&arena, "https://127.0.0.1:%u/far", serve(""));
    struct resolved stranger = version_at(address);
    git_ca = arena_printf(&arena, "%s/cert.pem", work);
    struct resolved known = version_at(address);
    struct resolved tags = tags_at(address, NULL);
    stop_serving();
    expect_fault(&stranger, "certificate");
    expect(&known, 2);
    assert_int_equal(tags.version_count, 1);
    struct resolved away = version_at(address);
    expect_fault(&away, "https://127.0.0.1:");
}

/* Nobody is asked for one, and the build says so at once. */
static void a_password_is_asked_of_nobody(void **state)
{
    (void)state;
    git_ca = arena_printf(&arena, "%s/cert.pem", work);
    const char *address =
        arena_printf(&arena, "https://127.0.0.1:%u/far", serve("--user a:b"));
    struct resolved r = version_at(address), tags = tags_at(address, NULL);
    stop_serving();
    expect_fault(&r, "a user's name and password, which are asked of nobody");
    expect_fault(&tags, "a user's name and password, which are asked of nobody");
}

/* A program of the name ssh, that runs what it is told here: the key is a file of its own for this
 * child alone, and nothing is asked. */
static void a_key_opens_a_repository(void **state)
{
    (void)state;
    shell("mkdir -p bin && cat >bin/ssh <<'SH'\n#!/bin/sh\necho \"$@\" >'%s/said'\n"
          "while [ $# -gt 0 ]; do case $1 in -i) key=$2; shift 2 ;; -o) shift 2 ;; -*) shift ;; "
          "*) break ;; esac; done\n"
          "[ \"$(cat \"$key\")\" = open ] || { echo 'Permission denied (publickey).' >&2; "
          "exit 255; }\n"
          "stat -c %%a \"$key\" >'%s/mode'; shift; exec sh -c \"$*\"\nSH\nchmod +x bin/ssh",
          work, work);
    before_program = arena_printf(&arena, "PATH='%s/bin':$PATH ", work);
    struct resolve_request q = {.what = RESOLVE_VERSION,
                                .url = arena_printf(&arena, "ssh://git@host.test%s/far", work),
                                .version = "1.0.0",
                                .ssh_key = "shut"};
    struct resolved shut = ask(q, false);
    expect_fault(&shut, "cannot be read");
    q.ssh_key = "open";
    struct resolved open = ask(q, false);
    before_program = "";
    expect(&open, 2);
    shell("test \"$(cat mode)\" = 600 && grep -q BatchMode=yes said");
}

/* ---- By ssh ---------------------------------------------------------------------------------- */

static unsigned free_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, size), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    close(fd);
    return ntohs(at.sin_port);
}

/* The real server, as the user who runs the test, whom the key "client" opens it. */
static void serve_ssh(unsigned port, const char *host_key)
{
    shell("mkdir -p ssh && cd ssh && for k in client stranger %s; do test -f $k || ssh-keygen -q "
          "-t ed25519 -N '' -f $k; done && cp client.pub authorized && { test \"$(id -u)\" != 0 || "
          "mkdir -p /run/sshd; } && printf '%%s\\n' 'ListenAddress 127.0.0.1' \"HostKey $PWD/%s\" "
          "\"AuthorizedKeysFile $PWD/authorized\" 'StrictModes no' 'UsePAM no' "
          "'PasswordAuthentication no' 'PermitRootLogin prohibit-password' 'PidFile none' >config",
          host_key, host_key);
    char line[256] = "";
    server = popen(arena_printf(&arena,
                                "cd '%s' && echo $$ >server && exec /usr/sbin/sshd -D -e -p %u -f "
                                "ssh/config 2>&1",
                                work, port),
                   "r");
    assert_non_null(server);
    assert_non_null(fgets(line, sizeof(line), server));
    assert_non_null(strstr(line, "Server listening on 127.0.0.1"));
}

static const char *text_of(const char *file)
{
    char text[4096];
    FILE *f = fopen(arena_printf(&arena, "%s/%s", work, file), "r");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof(text) - 1, f);
    fclose(f);
    return arena_strndup(&arena, text, n);
}

/* A key opens it, another one does not, and neither does none. A host is believed the first time,
 * and by its key from then on. */
static void a_server_of_ssh_is_read_by_its_key(void **state)
{
    (void)state;
    unsigned port = free_port();
    serve_ssh(port, "host");
    struct resolve_request q = {
        .what = RESOLVE_VERSION,
        .url = arena_printf(&arena, "ssh://%s@127.0.0.1:%u%s/far", getpwuid(getuid())->pw_name,
                            port, work),
        .version = "1.0.0",
        .ssh_key = text_of("ssh/stranger")};
    struct resolved stranger = ask(q, false);
    q.ssh_key = NULL;
    struct resolved nobody = ask(q, false);
    q.ssh_key = text_of("ssh/client");
    struct resolved known = ask(q, false), tags = tags_at(q.url, q.ssh_key);
    stop_serving();
    serve_ssh(port, "other");
    struct resolved other = ask(q, false);
    stop_serving();
    expect_fault(&stranger, "no key that was given opens it");
    expect_fault(&nobody, "no key that was given opens it");
    expect(&known, 2);
    assert_int_equal(tags.version_count, 1);
    expect_fault(&other, "its host has another key than before");
}

int main(int argc, char **argv)
{
    (void)argc;
    const char *slash = strrchr(argv[0], '/');
    snprintf(program, sizeof(program), "%.*s/../../bin/converger",
             slash ? (int)(slash - argv[0]) : 1, slash ? argv[0] : ".");
    assert_non_null(getcwd(top, sizeof(top)));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_version_is_read_at_its_tag),
        cmocka_unit_test(references_lead_to_other_repositories),
        cmocka_unit_test(tags_are_listed),
        cmocka_unit_test(what_is_not_there_is_told),
        cmocka_unit_test(hostile_repositories_bring_nothing_in),
        cmocka_unit_test(whoever_has_gone_needs_no_answer),
        cmocka_unit_test(hooks_do_not_run),
        cmocka_unit_test(large_files_are_refused),
        cmocka_unit_test(large_repositories_are_refused),
        cmocka_unit_test(a_server_is_trusted_by_its_authority),
        cmocka_unit_test(a_password_is_asked_of_nobody),
        cmocka_unit_test(a_key_opens_a_repository),
        cmocka_unit_test(a_server_of_ssh_is_read_by_its_key),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
