/* rep-courier fetch, send and sweep, the real program, against a file server that misbehaves: each
 * case ends with its text, within its bounds, and with nothing left but the cache. */
#include "common/base/bytes.h"
#include "rep/courier/checksum.h"
#include "test/tool/certs.h"
#include "test/tool/cmocka.h"
#include "test/tool/courier_rig.h"
#include "test/tool/file_server.h"
#include "test/tool/patience.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 300000, NOBODY = 65534 };

static struct courier_rig rig;
static struct file_server server;
static const char *const fetch[] = {"fetch", NULL};

static int set_up(void **state)
{
    courier_rig_up(&rig);
    file_server_serve(&server, SIZE, "\"one\"");
    return 0;
}

static int tear_down(void **state)
{
    courier_rig_down(&rig);
    return 0;
}

static int begin_server(void **state)
{
    file_server_start(&server);
    return 0;
}

static int end_server(void **state)
{
    file_server_stop(&server);
    return 0;
}

static void use_url(const char *path)
{
    char url[256];
    int n = snprintf(url, sizeof(url), "http://user:secret@127.0.0.1:%d%s?sig=secret\n",
                     server.port, path);
    file_put(rig.url, url, (size_t)n);
}

/* "alg:hex" of what the server serves. */
static const char *sum(enum checksum_kind kind, char separator)
{
    static char text[CHECKSUM_TEXT_BYTES + 1];
    struct summing s = {0};
    summing_begin(&s, kind);
    summing_add(&s, server.shared->content, server.shared->size);
    struct checksum c = summing_end(&s);
    summing_done(&s);
    checksum_print(&c, separator, text);
    return text;
}

static void assert_fetched(void)
{
    size_t size;
    assert_true(rig.answered && rig.told.done);
    assert_string_equal(rig.told.digest, sum(CHECKSUM_SHA256, '-'));
    assert_int_equal(rig.told.size, server.shared->size);
    char *text = file_text(courier_path(&rig, "cache/objects/%s", rig.told.digest), &size);
    assert_non_null(text);
    assert_int_equal(size, server.shared->size);
    assert_memory_equal(text, server.shared->content, size);
    free(text);
    assert_int_equal(names_in(courier_path(&rig, "cache/part")), 0);
}

/* What it tells is one clear line, without the URL; nothing is left. */
static void assert_failed(const char *text)
{
    assert_true(rig.answered && !rig.told.done);
    if (!strstr(rig.told.text, text)) {
        fail_msg("it said \"%s\", not \"%s\"", rig.told.text, text);
    }
    assert_null(strstr(rig.told.text, "secret"));
    assert_null(strstr(rig.told.text, "127.0.0.1"));
    assert_int_equal(names_in(courier_path(&rig, "cache/objects")), 0);
    assert_int_equal(names_in(courier_path(&rig, "cache/keys")), 0);
    assert_int_equal(names_in(courier_path(&rig, "cache/part")), 0);
}

/* ---- what goes well ---- */

static void brings_content(void **state)
{
    use_url("/content");
    assert_int_equal(courier(&rig, "fetch", "--max-bytes=300000"), COURIER_DONE);
    assert_fetched();
    assert_int_equal(rig.told.moved, SIZE);
    assert_int_equal(names_in(courier_path(&rig, "cache/keys")), 1);
    use_url("/redirect");
    assert_int_equal(courier(&rig, "fetch", "--redirects=1"), COURIER_DONE);
    assert_fetched();
}

static void brings_nothing_and_what_has_no_validator(void **state)
{
    file_server_serve(&server, 0, "");
    use_url("/content");
    assert_int_equal(courier(&rig, "fetch", "--max-bytes=0"), COURIER_DONE);
    assert_fetched();
}

static void asks_whether_it_changed(void **state)
{
    use_url("/content");
    assert_int_equal(courier(&rig, "fetch"), COURIER_DONE);
    long long sent = atomic_load(&server.shared->sent);
    assert_int_equal(courier(&rig, "fetch"), COURIER_DONE);
    assert_fetched();
    assert_int_equal(rig.told.moved, 0);
    assert_int_equal(atomic_load(&server.shared->sent), sent);
    assert_int_equal(atomic_load(&server.shared->requests), 2);
    assert_non_null(strstr(server.shared->request, "If-None-Match: \"one\""));
    assert_non_null(strstr(server.shared->request, "If-Modified-Since: Mon, 01 Jan 2024"));

    strcpy(server.shared->etag, "\"two\""); /* now it did */
    server.shared->size = SIZE - 1;
    assert_int_equal(courier(&rig, "fetch"), COURIER_DONE);
    assert_fetched();
    assert_int_equal(rig.told.moved, SIZE - 1);
}

/* Its object was lost, or is not what it was: nobody is asked whether that changed. */
static void lost_object_comes_again(void **state)
{
    use_url("/content");
    assert_int_equal(courier(&rig, "fetch"), COURIER_DONE);
    const char *object = courier_path(&rig, "cache/objects/%s", rig.told.digest);
    file_put(object, "cut", 3);
    assert_int_equal(unlink(object), 0);
    assert_int_equal(courier(&rig, "fetch"), COURIER_DONE);
    assert_fetched();
    assert_int_equal(rig.told.moved, SIZE);
}

static void takes_a_known_checksum_for_an_answer(void **state)
{
    char option[256];
    for (int kind = CHECKSUM_MD5; kind <= CHECKSUM_SHA512; kind++) {
        snprintf(option, sizeof(option), "--checksum=%s", sum((enum checksum_kind)kind, ':'));
        use_url("/content");
        assert_int_equal(courier(&rig, "fetch", option), COURIER_DONE);
        assert_fetched();
        assert_int_equal(courier(&rig, "fetch", option), COURIER_DONE);
        assert_fetched();
        assert_int_equal(rig.told.moved, 0);
    }
    int requests = atomic_load(&server.shared->requests);
    snprintf(option, sizeof(option), "--checksum=%s", sum(CHECKSUM_SHA256, ':'));
    use_url("/elsewhere"); /* the content alone counts */
    assert_int_equal(courier(&rig, "fetch", option), COURIER_DONE);
    assert_fetched();
    assert_int_equal(atomic_load(&server.shared->requests), requests);
}

static void a_key_may_have_many_urls(void **state)
{
    file_put(rig.key, "the key\n", 8);
    char option[128];
    snprintf(option, sizeof(option), "--key-file=%s", rig.key);
    use_url("/content");
    assert_int_equal(courier(&rig, "fetch", option), COURIER_DONE);
    use_url("/redirect");
    assert_int_equal(courier(&rig, "fetch", option), COURIER_DONE);
    assert_fetched();
    assert_int_equal(rig.told.moved, 0);
    assert_int_equal(names_in(courier_path(&rig, "cache/keys")), 1);
}

static void goes_on_where_it_was_cut(void **state)
{
    use_url("/cut");
    assert_int_equal(courier(&rig, "fetch"), COURIER_DONE);
    assert_fetched();
    assert_int_equal(rig.told.moved, SIZE);
    assert_int_equal(atomic_load(&server.shared->requests), 2);
    assert_non_null(strstr(server.shared->request, "Range: bytes=150000-"));
    assert_non_null(strstr(server.shared->request, "If-Range: \"one\""));
}

static void begins_anew_without_a_strong_etag(void **state)
{
    use_url("/cut-weak");
    assert_int_equal(courier(&rig, "fetch"), COURIER_DONE);
    assert_fetched();
    assert_int_equal(rig.told.moved, SIZE + SIZE / 2);
    assert_null(strstr(server.shared->request, "Range:"));
}

static void mixes_no_contents(void **state)
{
    use_url("/cut-changed");
    assert_int_equal(courier(&rig, "fetch"), COURIER_DONE);
    assert_fetched();
    assert_int_equal(atomic_load(&server.shared->requests), 3);
}

static void tries_again(void **state)
{
    use_url("/500-then-well");
    assert_int_equal(courier(&rig, "fetch"), COURIER_DONE);
    assert_fetched();
    assert_int_equal(atomic_load(&server.shared->requests), 2);
}

static void takes_what_was_said_and_no_more(void **state)
{
    use_url("/more");
    assert_int_equal(courier(&rig, "fetch"), COURIER_DONE);
    assert_fetched();
}

/* ---- what does not ---- */

static const struct bad {
    const char *path, *option, *text;
    int requests; /* -1: does not matter */
} bad[] = {
    {"/404", "--attempts=3", "the server answered with status 404", 1},
    {"/503", "--attempts=3", "3 attempts failed: the server answered with status 503", 3},
    {"/cut-always", "--attempts=2",
     "2 attempts failed: the connection ended before the content did", 2},
    {"/redirect-ring", "--redirects=5", "the server redirects too often", 6},
    {"/redirect-file", "--file-root=/",
     "the server redirects to another protocol than http and https", 1},
    {"/headers", "--attempts=1", "failed", -1},
    {"/hang", "--idle=500ms", "no byte moved for 0.5 s", 3},
    {"/hang-half", "--idle=500ms", "no byte moved for 0.5 s", 3},
    {"/drip", "--whole=2s", "it took longer than it may", 1},
    {"/endless", "--max-bytes=1000000", "it is larger than 1000000 bytes", 1},
    {"/content", "--max-bytes=299999", "it is larger than 299999 bytes", 1},
    {"/no-http", "--attempts=1", "the server does not speak HTTP", -1},
    {"/content", "--checksum=md5:00000000000000000000000000000000",
     "not 00000000000000000000000000000000", 1},
    {"/content", "--cache-bytes=1000",
     "300000 bytes are more than the whole cache may have (1000 bytes)", 1},
};

static void fails_clearly(void **state)
{
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        file_server_serve(&server, SIZE, "\"one\"");
        use_url(bad[i].path);
        assert_int_equal(courier(&rig, "fetch", bad[i].option), COURIER_FAILED);
        assert_failed(bad[i].text);
        if (bad[i].requests >= 0) {
            assert_int_equal(atomic_load(&server.shared->requests), bad[i].requests);
        }
        assert_true(rig.used.ru_maxrss < 200 * 1024); /* a sanitizer takes most of it */
    }
}

static void refuses_what_is_no_url_of_its_own(void **state)
{
    static const char *const urls[] = {"ftp://secret/x", "gopher://127.0.0.1/x", "secret", "/etc"};
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        file_put(rig.url, urls[i], strlen(urls[i]));
        assert_int_equal(courier(&rig, "fetch"), COURIER_FAILED);
        assert_failed("the URL must be one of http:, https: or file:");
    }
    file_put(rig.url, "http://127.0.0.1:1/secret", 25);
    assert_int_equal(courier(&rig, "fetch", "--attempts=1"), COURIER_FAILED);
    assert_failed("cannot connect to the server: Connection refused");
    file_put(rig.url, "http://no-such-host.invalid/secret", 34);
    assert_int_equal(courier(&rig, "fetch", "--attempts=1"), COURIER_FAILED);
    assert_failed("the server's name is unknown");
}

static void says_what_is_wrong_with_its_words(void **state)
{
    use_url("/content");
    int err = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(null, STDERR_FILENO);
    assert_int_equal(courier(&rig, "fetch", "--checksum=crc:00"), COURIER_USAGE);
    assert_false(rig.answered);
    assert_int_equal(courier(&rig, "fetch", "--idle=x"), COURIER_USAGE);
    assert_int_equal(courier(&rig, "fetch", "--user=root"), COURIER_USAGE);
    assert_int_equal(courier(&rig, "place", "--digest=sha256-0"), COURIER_USAGE);
    assert_int_equal(courier(&rig, "fetch", "--url-file=/nonexistent"), COURIER_USAGE);
    dup2(err, STDERR_FILENO);
    close(err);
    close(null);
}

/* ---- TLS ---- */

static int free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    close(fd);
    return ntohs(address.sin_port);
}

static pid_t tls_server(const struct tls_files *files, int port)
{
    char accept[32];
    snprintf(accept, sizeof(accept), "127.0.0.1:%d", port);
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        if (chdir(rig.top) == 0) {
            execlp("openssl", "openssl", "s_server", "-WWW", "-accept", accept, "-cert",
                   files->cert, "-key", files->key, (char *)NULL);
        }
        _exit(127);
    }
    return pid;
}

static void believes_only_whom_it_is_told_to(void **state)
{
    struct certs certs;
    char url[64], option[128];
    int port = free_port();
    certs_init(&certs);
    struct tls_files files = certs_make(&certs, "server", "server", "server", 3600);
    file_put(courier_path(&rig, "served"), server.shared->content, SIZE);
    pid_t pid = tls_server(&files, port);
    snprintf(url, sizeof(url), "https://127.0.0.1:%d/served", port);
    file_put(rig.url, url, strlen(url));
    snprintf(option, sizeof(option), "--fetch-ca=%s", files.ca);
    int status = COURIER_FAILED;
    for (struct patience p = {0}; status == COURIER_FAILED && patience(&p);) {
        status = courier(&rig, "fetch", option, "--attempts=1"); /* once the server listens */
    }
    assert_int_equal(status, COURIER_DONE);
    assert_fetched();
    assert_int_equal(courier(&rig, "sweep", "--cache-bytes=0"), COURIER_DONE);
    assert_int_equal(courier(&rig, "fetch"), COURIER_FAILED);
    assert_failed("the server's certificate is not good");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    certs_done(&certs);
}

/* ---- files ---- */

static void use_file(const char *name)
{
    char url[256];
    int n = snprintf(url, sizeof(url), "file://%s/%s", rig.top, name);
    file_put(rig.url, url, (size_t)n);
}

static void takes_files_below_their_root_only(void **state)
{
    char option[128];
    snprintf(option, sizeof(option), "--file-root=%s/files/", rig.top);
    assert_int_equal(mkdir(courier_path(&rig, "files"), 0755), 0);
    file_put(courier_path(&rig, "files/a b"), server.shared->content, SIZE);
    file_put(courier_path(&rig, "outside"), "secret", 6);
    assert_int_equal(symlink("../outside", courier_path(&rig, "files/out")), 0);
    assert_int_equal(mkfifo(courier_path(&rig, "files/fifo"), 0644), 0);
    static const struct {
        const char *name, *text;
    } rows[] = {{"outside", "the file is not below --file-root"},
                {"files/../outside", "the file is not below --file-root"},
                {"files/out", "the file is not below --file-root"},
                {"files/fifo", "it is no regular file"},
                {"files/none", "cannot open the file: No such file or directory"},
                {"files%00/x", "the file is not below --file-root"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        use_file(rows[i].name);
        assert_int_equal(courier(&rig, "fetch", option), COURIER_FAILED);
        assert_failed(rows[i].text);
    }
    use_file("files/a%20b");
    assert_int_equal(courier(&rig, "fetch"), COURIER_FAILED);
    assert_failed("file: URLs are not allowed (--file-root)");
    assert_int_equal(courier(&rig, "fetch", option), COURIER_DONE);
    assert_fetched();
}

/* ---- the cache ---- */

static void digest_at(size_t size, char ret[80])
{
    server.shared->size = size;
    snprintf(ret, 80, "%.71s", sum(CHECKSUM_SHA256, '-'));
}

static bool has_object(const char *digest)
{
    return access(courier_path(&rig, "cache/objects/%s", digest), F_OK) == 0;
}

static void fetch_size(size_t size, const char *path)
{
    server.shared->size = size;
    use_url(path);
    assert_int_equal(courier(&rig, "fetch", "--cache-bytes=250000"), COURIER_DONE);
    usleep(20 * 1000); /* so that times of use differ on a coarse clock */
}

static void the_least_used_goes(void **state)
{
    char a[80], b[80], c[80];
    digest_at(100000, a);
    digest_at(100001, b);
    digest_at(100002, c);
    file_server_serve(&server, 100000, "\"one\"");
    fetch_size(100000, "/content");
    fetch_size(100001, "/redirect");
    fetch_size(100000, "/content"); /* used again */
    fetch_size(100002, "/more");
    assert_true(has_object(a) && !has_object(b) && has_object(c));
    assert_int_equal(names_in(courier_path(&rig, "cache/keys")), 2);
    assert_int_equal(courier(&rig, "sweep", "--cache-bytes=0"), COURIER_DONE);
    assert_int_equal(names_in(courier_path(&rig, "cache/objects")), 0);
    assert_int_equal(names_in(courier_path(&rig, "cache/keys")), 0);
}

static void same_keys_take_turns(void **state)
{
    pid_t all[4];
    struct courier_rig rigs[4];
    use_url("/500-then-well"); /* the first takes half a second */
    for (int i = 0; i < 4; i++) {
        rigs[i] = rig;
        snprintf(rigs[i].answer, sizeof(rig.answer), "%s/answer-%d", rig.top, i);
        all[i] = courier_begin(&rigs[i], fetch);
    }
    int moved = 0;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(courier_end(&rigs[i], all[i]), COURIER_DONE);
        rig.told = rigs[i].told;
        rig.answered = rigs[i].answered;
        moved += rig.told.moved > 0;
    }
    assert_fetched();
    assert_int_equal(moved, 1); /* the others asked, and nothing had changed */
    assert_int_equal(atomic_load(&server.shared->sent), SIZE);
}

static void killed_it_leaves_a_part(void **state)
{
    use_url("/hang-half");
    pid_t pid = courier_begin(&rig, fetch), child = courier_child(pid);
    for (struct patience p = {0}; atomic_load(&server.shared->requests) == 0 && patience(&p);) {
    }
    kill(pid, SIGKILL);
    assert_int_equal(courier_end(&rig, pid), 128 + SIGKILL);
    assert_false(rig.answered);
    bool gone = false;
    for (struct patience p = {0}; !gone && patience(&p);) {
        gone = kill(child, 0) < 0;
    }
    assert_true(gone);
    assert_int_equal(names_in(courier_path(&rig, "cache/objects")), 0);
    assert_int_equal(names_in(courier_path(&rig, "cache/keys")), 0);
    assert_int_equal(names_in(courier_path(&rig, "cache/part")), 1);
    use_url("/hang");
    pid = courier_begin(&rig, fetch);
    courier_child(pid); /* whose part is in use */
    struct courier_rig other = rig;
    snprintf(other.answer, sizeof(other.answer), "%s/other", rig.top);
    assert_int_equal(courier(&other, "sweep"), COURIER_DONE);
    assert_int_equal(names_in(courier_path(&rig, "cache/part")), 1);
    kill(pid, SIGKILL);
    courier_end(&rig, pid);
    for (struct patience p = {0}; names_in(courier_path(&rig, "cache/part")) > 0 && patience(&p);) {
        assert_int_equal(courier(&rig, "sweep"), COURIER_DONE); /* once its child is gone, too */
    }
    assert_int_equal(names_in(courier_path(&rig, "cache/part")), 0);
    use_url("/content");
    assert_int_equal(courier(&rig, "fetch"), COURIER_DONE);
    assert_fetched();
}

/* ---- who it is ---- */

static void line_of(pid_t pid, const char *name, char ret[128])
{
    char path[64];
    size_t size, n = strlen(name);
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    char *text = file_text(path, &size);
    assert_non_null(text);
    char *at = strstr(text, name);
    assert_non_null(at);
    snprintf(ret, 128, "%.*s", (int)strcspn(at + n, "\n"), at + n);
    free(text);
}

static void its_child_has_no_privileges(void **state)
{
    char text[128];
    use_url("/hang");
    pid_t pid = courier_begin(&rig, fetch), child = courier_child(pid);
    for (struct patience p = {0}; atomic_load(&server.shared->requests) == 0 && patience(&p);) {
    }
    line_of(child, "NoNewPrivs:\t", text);
    assert_string_equal(text, "1");
    if (geteuid() == 0) {
        line_of(child, "\nUid:\t", text);
        assert_string_equal(text, "65534\t65534\t65534\t65534");
        line_of(child, "\nGroups:\t", text);
        assert_string_equal(text, " ");
        line_of(child, "CapEff:\t", text);
        assert_string_equal(text, "0000000000000000");
    }
    char cmdline[64];
    size_t size;
    snprintf(cmdline, sizeof(cmdline), "/proc/%d/cmdline", (int)pid);
    char *words = file_text(cmdline, &size);
    assert_null(memmem(words, size, "secret", 6));
    free(words);
    kill(pid, SIGKILL);
    courier_end(&rig, pid);
}

static void anybody_may_run_it(void **state)
{
    if (geteuid() == 0) {
        assert_int_equal(chown(rig.top, NOBODY, NOBODY), 0);
        rig.as = NOBODY;
    }
    use_url("/content");
    assert_int_equal(courier(&rig, "fetch"), COURIER_DONE);
    assert_fetched();
}

static void tells_how_far_it_is(void **state)
{
    int ends[2];
    char text[4096];
    long long bytes = 0, total = 0, last = -1;
    int lines = 0;
    assert_int_equal(pipe(ends), 0);
    rig.progress_fd = ends[1];
    use_url("/drip");
    static const char *const words[] = {"fetch", "--whole=4s", NULL};
    pid_t pid = courier_begin(&rig, words);
    close(ends[1]);
    courier_end(&rig, pid);
    ssize_t n = read(ends[0], text, sizeof(text) - 1);
    close(ends[0]);
    assert_true(n > 0);
    text[n] = '\0';
    for (char *at = text; sscanf(at, "%lld %lld", &bytes, &total) == 2; lines++) {
        assert_true(bytes > last && total == -1);
        last = bytes;
        at = strchr(at, '\n') + 1;
    }
    assert_true(lines >= 2 && lines <= 4);
}

/* ---- send ---- */

static void use_file_to_send(char option[128])
{
    file_put(courier_path(&rig, "file"), "hello, world", 12);
    snprintf(option, 128, "--file=%s/file", rig.top);
}

static void assert_sent(void)
{
    assert_true(rig.answered && rig.told.done);
    assert_int_equal(rig.told.size, 12);
    assert_int_equal(atomic_load(&server.shared->upload_size), 12);
    assert_memory_equal(server.shared->upload, "hello, world", 12);
}

static void sends_with_its_checksums(void **state)
{
    char option[128];
    use_file_to_send(option);
    use_url("/upload");
    assert_int_equal(courier(&rig, "send", option), COURIER_DONE);
    assert_sent();
    static const char *const lines[] = {
        "POST /upload?sig=secret HTTP/1.1\r\n", "\r\nContent-Type: application/octet-stream\r\n",
        "\r\nContent-Length: 12\r\n", "\r\nContent-MD5: 5NfxtO0uQtFYmPSyewGdpA==\r\n",
        "\r\nContent-Digest: sha-256=:Ccp+TqpuiunH0mEWcSkYSINkTQffuny/vEyKLgg2DVs=:\r\n"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        assert_non_null(strstr(server.shared->request, lines[i]));
    }
    assert_null(strstr(server.shared->request, "Expect"));
}

static void sends_again_and_takes_a_redirect_for_success(void **state)
{
    char option[128];
    use_file_to_send(option);
    use_url("/upload-late");
    assert_int_equal(courier(&rig, "send", option), COURIER_DONE);
    assert_sent();
    assert_int_equal(rig.told.moved, 24);
    use_url("/redirect");
    assert_int_equal(courier(&rig, "send", option), COURIER_DONE);
    assert_null(strstr(server.shared->request, "/content"));
}

static void a_failed_send_says_why(void **state)
{
    static const struct {
        const char *path, *option, *text;
        int requests;
    } rows[] = {
        {"/upload-404", "--attempts=3", "3 attempts failed: the server answered with status 404",
         3},
        {"/hang", "--idle=500ms", "no byte moved for 0.5 s", 3},
        {"/upload", "--max-bytes=11", "it is larger than 11 bytes", 0},
        {"/no-http", "--attempts=1", "the server does not speak HTTP", 1},
    };
    char option[128];
    use_file_to_send(option);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        file_server_serve(&server, SIZE, "");
        use_url(rows[i].path);
        assert_int_equal(courier(&rig, "send", option, rows[i].option), COURIER_FAILED);
        if (!strstr(rig.told.text, rows[i].text)) {
            fail_msg("it said \"%s\", not \"%s\"", rig.told.text, rows[i].text);
        }
        assert_null(strstr(rig.told.text, "secret"));
        assert_int_equal(atomic_load(&server.shared->requests), rows[i].requests);
    }
    use_file("file");
    assert_int_equal(courier(&rig, "send", option), COURIER_FAILED);
    assert_string_equal(rig.told.text, "the URL must be http: or https:");
    assert_int_equal(courier(&rig, "send", "--file=/dev/null"), COURIER_FAILED);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(brings_content),
        CASE(brings_nothing_and_what_has_no_validator),
        CASE(asks_whether_it_changed),
        CASE(lost_object_comes_again),
        CASE(takes_a_known_checksum_for_an_answer),
        CASE(a_key_may_have_many_urls),
        CASE(goes_on_where_it_was_cut),
        CASE(begins_anew_without_a_strong_etag),
        CASE(mixes_no_contents),
        CASE(tries_again),
        CASE(takes_what_was_said_and_no_more),
        CASE(fails_clearly),
        CASE(refuses_what_is_no_url_of_its_own),
        CASE(says_what_is_wrong_with_its_words),
        CASE(believes_only_whom_it_is_told_to),
        CASE(takes_files_below_their_root_only),
        CASE(the_least_used_goes),
        CASE(same_keys_take_turns),
        CASE(killed_it_leaves_a_part),
        CASE(its_child_has_no_privileges),
        CASE(anybody_may_run_it),
        CASE(tells_how_far_it_is),
        CASE(sends_with_its_checksums),
        CASE(sends_again_and_takes_a_redirect_for_success),
        CASE(a_failed_send_says_why),
    };
    return cmocka_run_group_tests(tests, begin_server, end_server);
}
