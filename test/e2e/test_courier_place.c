/* rep-courier place and pack, the real program: archives of each kind, and hostile ones, which end
 * with a clear text and leave nothing, neither in the destination nor outside. */
#include "rep/courier/checksum.h"
#include "rep/courier/entry.h"
#include "test/tool/cmocka.h"
#include "test/tool/courier_rig.h"
#include "test/tool/patience.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of memory a sanitizer takes most. */
enum { USER = 12345, GROUP = 12346, ARCHIVE_BYTES = 64 << 20, MEMORY_KB = 200 * 1024 };

static struct courier_rig rig;

static int set_up(void **state)
{
    courier_rig_up(&rig);
    file_put(courier_path(&rig, "outside"), "outside\n", 8);
    return 0;
}

static int tear_down(void **state)
{
    courier_rig_down(&rig);
    return 0;
}

static bool by_root(void)
{
    return geteuid() == 0;
}

/* ---- archives ---- */

enum kind { TAR, TGZ, ZST, ZIP };

struct making {
    struct archive *a;
    uint8_t *data;
    size_t size;
};

static void begin(struct making *m, enum kind kind)
{
    *m = (struct making){archive_write_new(), malloc(ARCHIVE_BYTES)};
    assert_non_null(m->data);
    if (kind == ZIP) {
        archive_write_set_format_zip(m->a);
    } else {
        archive_write_set_format_pax_restricted(m->a);
    }
    if (kind == TGZ) {
        archive_write_add_filter_gzip(m->a);
        archive_write_set_filter_option(m->a, "gzip", "compression-level", "1");
    } else if (kind == ZST) {
        archive_write_add_filter_zstd(m->a);
    }
    archive_write_set_bytes_in_last_block(m->a, 1);
    assert_int_equal(archive_write_open_memory(m->a, m->data, ARCHIVE_BYTES, &m->size), ARCHIVE_OK);
}

static struct archive_entry *entry(const char *path, mode_t type, mode_t mode)
{
    struct archive_entry *e = archive_entry_new();
    archive_entry_set_pathname(e, path);
    archive_entry_set_filetype(e, type);
    archive_entry_set_perm(e, mode);
    archive_entry_set_mtime(e, 1000000000, 0);
    archive_entry_set_uid(e, 0);
    archive_entry_set_gid(e, 0);
    archive_entry_set_size(e, 0);
    return e;
}

static void add(struct making *m, struct archive_entry *e, const void *data, size_t size)
{
    archive_entry_set_size(e, (la_int64_t)size);
    assert_int_equal(archive_write_header(m->a, e), ARCHIVE_OK);
    assert_int_equal(archive_write_data(m->a, data, size), size);
    archive_entry_free(e);
}

static void add_file(struct making *m, const char *path, mode_t mode, const char *text)
{
    add(m, entry(path, AE_IFREG, mode), text, strlen(text));
}

static void add_directory(struct making *m, const char *path, mode_t mode)
{
    add(m, entry(path, AE_IFDIR, mode), "", 0);
}

static void add_link(struct making *m, const char *path, const char *to)
{
    struct archive_entry *e = entry(path, AE_IFLNK, 0777);
    archive_entry_set_symlink(e, to);
    add(m, e, "", 0);
}

static void add_hard_link(struct making *m, const char *path, const char *to)
{
    struct archive_entry *e = entry(path, AE_IFREG, 0644);
    archive_entry_set_hardlink(e, to);
    add(m, e, "", 0);
}

static void add_device(struct making *m, const char *path, mode_t type)
{
    struct archive_entry *e = entry(path, type, 0666);
    archive_entry_set_rdev(e, makedev(1, 3));
    add(m, e, "", 0);
}

/* ---- the cache ---- */

static char digest[CHECKSUM_TEXT_BYTES + 1], digest_option[CHECKSUM_TEXT_BYTES + 16];

/* Makes it an object, as a fetch would. */
static void put_bytes(const void *data, size_t size)
{
    struct summing s = {0};
    summing_begin(&s, CHECKSUM_SHA256);
    summing_add(&s, data, size);
    struct checksum c = summing_end(&s);
    summing_done(&s);
    checksum_print(&c, '-', digest);
    snprintf(digest_option, sizeof(digest_option), "--digest=%s", digest);
    mkdir(rig.cache, 0700);
    mkdir(courier_path(&rig, "cache/objects"), 0700);
    file_put(courier_path(&rig, "cache/objects/%s", digest), data, size);
}

/* Ends the archive; `cut` bytes of its end are left out. */
static void put_cut(struct making *m, size_t cut)
{
    assert_int_equal(archive_write_close(m->a), ARCHIVE_OK);
    archive_write_free(m->a);
    assert_true(m->size > cut);
    put_bytes(m->data, m->size - cut);
    free(m->data);
}

static void put(struct making *m)
{
    put_cut(m, 0);
}

/* Makes one in a process of its own: what a courier is started from counts as its memory, so this
 * one stays small. */
static void made_apart(void (*make)(void))
{
    size_t size;
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        make();
        file_put(courier_path(&rig, "digest"), digest, strlen(digest));
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    char *text = file_text(courier_path(&rig, "digest"), &size);
    assert_non_null(text);
    snprintf(digest, sizeof(digest), "%s", text);
    snprintf(digest_option, sizeof(digest_option), "--digest=%s", digest);
    free(text);
}

static int place(const char *to, const char *option)
{
    char root[128], destination[4200], user[64];
    snprintf(root, sizeof(root), "--root=%s", rig.root);
    snprintf(destination, sizeof(destination), "--to=%s", to);
    snprintf(user, sizeof(user), "--user=%d:%d", USER, GROUP);
    return courier(&rig, "place", digest_option, root, destination, user,
                   option ? option : "--max-bytes=100000000");
}

/* ---- what is there ---- */

static void assert_file(const char *path, const char *text)
{
    size_t size;
    char *has = file_text(courier_path(&rig, "%s", path), &size);
    assert_non_null(has);
    assert_string_equal(has, text);
    free(has);
}

static struct stat stat_of(const char *path)
{
    struct stat st;
    if (lstat(courier_path(&rig, "%s", path), &st) < 0) {
        fail_msg("%s: %s", path, strerror(errno));
    }
    return st;
}

static void assert_failed(const char *text)
{
    assert_true(rig.answered && !rig.told.done);
    if (!strstr(rig.told.text, text)) {
        fail_msg("it said \"%s\", not \"%s\"", rig.told.text, text);
    }
    assert_file("outside", "outside\n");
    assert_true(names_in(courier_path(&rig, "cache/part")) <= 0);
}

/* ---- what goes well ---- */

static void make_tree(struct making *m, enum kind kind)
{
    begin(m, kind);
    add_directory(m, "./", 0700);
    add_directory(m, "./bin", 0755);
    add_file(m, "./bin/run", 0755, "#!/bin/sh\n");
    add_file(m, "data//./text", 0640, "text\n");
    add_file(m, "empty", 0600, "");
    add_link(m, "link", "/etc/passwd");
    if (kind != ZIP) {
        add_hard_link(m, "hard", "data/text");
    }
    add_directory(m, "closed", 0500);
    add_file(m, "closed/file", 0400, "in it\n");
}

static void assert_tree(enum kind kind)
{
    assert_file("root/app/bin/run", "#!/bin/sh\n");
    assert_file("root/app/data/text", "text\n");
    assert_file("root/app/closed/file", "in it\n");
    assert_int_equal(stat_of("root/app/bin/run").st_mode, S_IFREG | 0755);
    assert_int_equal(stat_of("root/app/data/text").st_mode, S_IFREG | 0640);
    assert_int_equal(stat_of("root/app/closed").st_mode, S_IFDIR | 0500);
    assert_int_equal(stat_of("root/app/bin/run").st_mtime, 1000000000);
    assert_int_equal(stat_of("root/app/link").st_mode & S_IFMT, S_IFLNK);
    if (kind != ZIP) {
        assert_int_equal(stat_of("root/app/hard").st_ino, stat_of("root/app/data/text").st_ino);
    }
    if (by_root()) {
        assert_int_equal(stat_of("root/app").st_uid, USER);
        assert_int_equal(stat_of("root/app/bin/run").st_uid, USER);
        assert_int_equal(stat_of("root/app/bin/run").st_gid, GROUP);
        assert_int_equal(stat_of("root/app/link").st_uid, USER);
    }
}

/* Also over what it placed before: a job that was begun anew. */
static void places_each_kind_and_again(void **state)
{
    for (enum kind kind = TAR; kind <= ZIP; kind++) {
        struct making m;
        make_tree(&m, kind);
        put(&m);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(place("/app", NULL), COURIER_DONE);
            assert_string_equal(rig.told.digest, digest);
            assert_int_equal(rig.told.entries, kind == ZIP ? 8 : 9);
            assert_int_equal(rig.told.size, 21);
            assert_tree(kind);
        }
        assert_int_equal(names_in(courier_path(&rig, "root")), 1);
    }
}

static void makes_the_way_inside_only(void **state)
{
    struct making m;
    begin(&m, TGZ);
    add_file(&m, "file", 0644, "text\n");
    put(&m);
    assert_int_equal(mkdir(courier_path(&rig, "root/data"), 0777), 0);
    assert_int_equal(chmod(courier_path(&rig, "root/data"), 0777), 0);
    assert_int_equal(mkdir(courier_path(&rig, "data"), 0777), 0);
    assert_int_equal(symlink("/data", courier_path(&rig, "root/absolute")), 0);
    assert_int_equal(symlink("../../../data", courier_path(&rig, "root/up")), 0);
    file_put(courier_path(&rig, "root/file"), "", 0);
    assert_int_equal(place("/absolute/a/b", NULL), COURIER_DONE);
    assert_file("root/data/a/b/file", "text\n");
    assert_int_equal(place("up/c/../d", NULL), COURIER_DONE);
    assert_file("root/data/d/file", "text\n");
    assert_int_equal(place("/../../e/", NULL), COURIER_DONE);
    assert_file("root/e/file", "text\n");
    assert_int_equal(names_in(courier_path(&rig, "data")), 0);
    if (by_root()) {
        assert_int_equal(stat_of("root/data/a").st_uid, USER);
        assert_int_equal(stat_of("root/data").st_uid, 0);
        assert_int_equal(place("/", NULL), COURIER_FAILED); /* root's, and the user is not */
        assert_failed("ermission denied");
    }
    assert_int_equal(place("/file/x", NULL), COURIER_FAILED);
    assert_failed("the destination \"/file\": Not a directory");
}

static void cuts_set_id_bits(void **state)
{
    struct making m;
    begin(&m, TGZ);
    add_directory(&m, "dir", 02775);
    add_file(&m, "suid", 06755, "x");
    add_directory(&m, "sticky", 01777);
    put(&m);
    assert_int_equal(place("/a", NULL), COURIER_DONE);
    assert_int_equal(stat_of("root/a/suid").st_mode, S_IFREG | 0755);
    assert_int_equal(stat_of("root/a/dir").st_mode, S_IFDIR | 0775);
    assert_int_equal(stat_of("root/a/sticky").st_mode, S_IFDIR | 01777);
    assert_int_equal(place("/b", "--root-inside"), COURIER_DONE);
    assert_int_equal(stat_of("root/b/suid").st_mode, S_IFREG | 06755);
    assert_int_equal(stat_of("root/b/dir").st_mode, S_IFDIR | 02775);
}

static void root_inside_may_write_all_of_it(void **state)
{
    struct making m;
    begin(&m, TGZ);
    add_file(&m, "usr/file", 0644, "text\n");
    put(&m);
    if (!by_root()) {
        return; /* nothing to take from root */
    }
    char root[128];
    snprintf(root, sizeof(root), "--root=%s", rig.root);
    assert_int_equal(mkdir(courier_path(&rig, "root/usr"), 0555), 0);
    assert_int_equal(chown(courier_path(&rig, "root/usr"), USER, USER), 0);
    assert_int_equal(courier(&rig, "place", digest_option, root, "--to=/", "--user=0:0"),
                     COURIER_DONE);
    assert_file("root/usr/file", "text\n");
}

static void names_are_bytes(void **state)
{
    static const char *const names[] = {"caf\xc3\xa9", "caf\xe9", "\xff\xfe\x80", "a\nb", "a\\b"};
    struct making m;
    begin(&m, TGZ);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct archive_entry *e = entry("", AE_IFREG, 0644);
        archive_entry_copy_pathname(e, names[i]);
        archive_entry_set_size(e, 0);
        assert_true(archive_write_header(m.a, e) >= ARCHIVE_WARN);
        archive_entry_free(e);
    }
    put(&m);
    assert_int_equal(place("/app", NULL), COURIER_DONE);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[64];
        snprintf(path, sizeof(path), "root/app/%s", names[i]);
        stat_of(path);
    }
}

static void deep_directories_are_made_and_removed(void **state)
{
    char path[4100] = "";
    struct making m;
    begin(&m, TGZ);
    for (int i = 0; i < 2000; i++) {
        strcat(path, "d/");
    }
    strcat(path, "file");
    add_file(&m, path, 0644, "deep\n");
    put(&m);
    assert_int_equal(place("/app", NULL), COURIER_DONE);
    assert_int_equal(names_in(courier_path(&rig, "root/app/d/d/d")), 1);
}

/* ---- what does not ---- */

static void absolute(struct making *m)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/outside", rig.top);
    add_file(m, path, 0644, "hostile\n");
}

static void dots(struct making *m)
{
    add_file(m, "a/../../outside", 0644, "hostile\n");
}

static void through_a_link(struct making *m)
{
    add_link(m, "out", "../..");
    add_file(m, "out/outside", 0644, "hostile\n");
}

static void through_a_link_by_other_words(struct making *m)
{
    add_link(m, "a/out", "../../..");
    add_file(m, "./a//out/./outside", 0644, "hostile\n");
}

static void hard_link_out(struct making *m)
{
    add_hard_link(m, "x", "../outside");
}

static void hard_link_absolute(struct making *m)
{
    add_hard_link(m, "x", "/etc/passwd");
}

static void hard_link_to_a_link(struct making *m)
{
    add_link(m, "l", "../../outside");
    add_hard_link(m, "x", "l");
    add_file(m, "x", 0644, "hostile\n");
}

static void device(struct making *m)
{
    add_device(m, "null", AE_IFCHR);
}

static void block_device(struct making *m)
{
    add_device(m, "disk", AE_IFBLK);
}

static void fifo(struct making *m)
{
    add(m, entry("fifo", AE_IFIFO, 0666), "", 0);
}

static void long_path(struct making *m)
{
    char *path = malloc(200001);
    for (int i = 0; i < 100000; i++) {
        memcpy(path + 2 * i, "d/", 3);
    }
    add_directory(m, path, 0755);
    free(path);
}

static void long_name(struct making *m)
{
    char name[300];
    memset(name, 'x', sizeof(name));
    name[256] = '\0';
    add_file(m, name, 0644, "");
}

static void large(struct making *m)
{
    char *much = calloc(1, 1 << 20);
    add(m, entry("large", AE_IFREG, 0644), much, 1 << 20);
    free(much);
}

static void many_small(struct making *m)
{
    char name[32], text[1001];
    memset(text, 'x', 1000);
    text[1000] = '\0';
    for (int i = 0; i < 1001; i++) {
        snprintf(name, sizeof(name), "%d", i);
        add_file(m, name, 0644, text);
    }
}

static const struct hostile {
    void (*make)(struct making *m);
    const char *text;
} hostile[] = {
    {absolute, "\" is absolute"},
    {dots, "the path \"a/../../outside\" leads out by \"..\""},
    {through_a_link, "\"out/outside\" stands below a link"},
    {through_a_link_by_other_words, "\"./a//out/./outside\" stands below a link"},
    {hard_link_out, "the hard link to \"../outside\" leads out by \"..\""},
    {hard_link_absolute, "the hard link to \"/etc/passwd\" is absolute"},
    {hard_link_to_a_link, "\"x\" is a hard link to what is no file of the archive"},
    {device, "\"null\" is a device"},
    {block_device, "\"disk\" is a device"},
    {fifo, "\"fifo\" is a fifo"},
    {long_path, "has more than 4096 bytes"},
    {long_name, "has a name of more than 255 bytes"},
    {large, "the archive unpacks to more than 1000000 bytes"},
    {many_small, "the archive unpacks to more than 1000000 bytes"},
};

/* Each behind a good entry: nothing of it is left either. */
static void hostile_archives_leave_nothing(void **state)
{
    for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
        struct making m;
        begin(&m, i % 2 ? TGZ : ZST);
        add_file(&m, "good", 0644, "good\n");
        hostile[i].make(&m);
        put(&m);
        assert_int_equal(place("/app", "--max-bytes=1000000"), COURIER_FAILED);
        assert_failed(hostile[i].text);
        assert_int_equal(names_in(courier_path(&rig, "root/app")), 0);
        assert_int_equal(
            courier(&rig, "place", digest_option, "--tree", "--user=1:1", "--max-bytes=1000000"),
            COURIER_FAILED);
        assert_failed(hostile[i].text);
        assert_int_equal(names_in(courier_path(&rig, "cache/trees")), 0);
    }
}

/* What is in the way in the container is not gone through, and not replaced but by its own kind. */
static void goes_through_no_link_of_the_container(void **state)
{
    struct making m;
    begin(&m, TGZ);
    add_file(&m, "sub/file", 0644, "hostile\n");
    put(&m);
    assert_int_equal(mkdir(courier_path(&rig, "root/app"), 0777), 0);
    assert_int_equal(chmod(courier_path(&rig, "root/app"), 0777), 0);
    assert_int_equal(mkdir(courier_path(&rig, "root/etc"), 0777), 0);
    assert_int_equal(symlink("../etc", courier_path(&rig, "root/app/sub")), 0);
    assert_int_equal(place("/app", NULL), COURIER_FAILED);
    assert_failed("sub/file");
    assert_int_equal(names_in(courier_path(&rig, "root/etc")), 0);
}

static void cut_and_wrong_ones_leave_nothing(void **state)
{
    static const char *const texts[] = {"", "no archive", "PK\x03\x04 no zip", "\x1f\x8b no gzip",
                                        "\x28\xb5\x2f\xfd no zstd"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        put_bytes(texts[i], strlen(texts[i]));
        assert_int_equal(place("/app", NULL), COURIER_FAILED);
        assert_failed("archive");
        assert_int_equal(names_in(courier_path(&rig, "root/app")), 0);
    }
    for (enum kind kind = TAR; kind <= ZIP; kind++) {
        struct making m;
        begin(&m, kind);
        char text[60000];
        uint64_t random = 1;
        for (size_t i = 0; i < sizeof(text) - 1; i++) {
            random = random * 6364136223846793005 + 1442695040888963407;
            text[i] = (char)('a' + (random >> 40) % 26);
        }
        text[sizeof(text) - 1] = '\0';
        add_file(&m, "first", 0644, "first\n");
        add_file(&m, "second", 0644, text);
        put_cut(&m, kind == TAR ? 20000 : kind == ZIP ? 1000 : 200);
        assert_int_equal(place("/app", NULL), COURIER_FAILED);
        assert_failed(" archive "); /* it is broken, or none, as far as the rest of it shows */
        assert_int_equal(names_in(courier_path(&rig, "root/app")), 0);
    }
}

static void make_bomb(void)
{
    enum { PIECE = 1 << 20 };
    static const char zeros[PIECE];
    struct making m;
    begin(&m, TGZ);
    struct archive_entry *e = entry("bomb", AE_IFREG, 0644);
    archive_entry_set_size(e, (la_int64_t)3000 * PIECE);
    assert_int_equal(archive_write_header(m.a, e), ARCHIVE_OK);
    archive_entry_free(e);
    for (int i = 0; i < 3000; i++) {
        assert_int_equal(archive_write_data(m.a, zeros, PIECE), PIECE);
    }
    put(&m);
}

static void make_very_many(void)
{
    struct making m;
    char name[32];
    begin(&m, ZST);
    for (int i = 0; i <= ARCHIVE_ENTRIES_MAX; i++) {
        snprintf(name, sizeof(name), "%d", i);
        add_file(&m, name, 0644, "");
    }
    put(&m);
}

static const struct {
    void (*make)(void);
    const char *text;
} heavy[] = {{make_bomb, "the archive unpacks to more than 100000000 bytes"},
             {make_very_many, "the archive has more than 1000000 entries"}};

static void heavy_archives_are_bounded(void **state)
{
    for (size_t i = 0; i < sizeof(heavy) / sizeof(heavy[0]); i++) {
        made_apart(heavy[i].make);
        assert_int_equal(place("/app", NULL), COURIER_FAILED);
        assert_failed(heavy[i].text);
        if (rig.used.ru_maxrss > MEMORY_KB) {
            fail_msg("it took %ld KiB", rig.used.ru_maxrss);
        }
        assert_int_equal(names_in(courier_path(&rig, "root/app")), 0);
    }
}

/* While it reads what others made it has no privileges and no sockets. */
static void its_child_is_confined(void **state)
{
    char root[128], status[64], *text = NULL;
    size_t size;
    made_apart(make_bomb);
    snprintf(root, sizeof(root), "--root=%s", rig.root);
    const char *const words[] = {"place",     digest_option,        root,
                                 "--to=/app", "--user=12345:12346", NULL};
    pid_t pid = courier_begin(&rig, words), child = courier_child(pid);
    bool filtered = false;
    snprintf(status, sizeof(status), "/proc/%d/status", (int)child);
    for (struct patience p = {0}; !filtered && patience(&p);) {
        free(text);
        text = file_text(status, &size);
        assert_non_null(text);
        filtered = strstr(text, "Seccomp:\t2") != NULL;
    }
    assert_true(filtered);
    assert_non_null(strstr(text, "NoNewPrivs:\t1"));
    if (by_root()) {
        assert_non_null(strstr(text, "\nUid:\t12345\t12345\t12345\t12345\n"));
        assert_non_null(strstr(text, "\nGid:\t12346\t12346\t12346\t12346\n"));
        assert_non_null(strstr(text, "CapEff:\t0000000000000000"));
    }
    free(text);
    kill(pid, SIGKILL);
    courier_end(&rig, pid);
    bool gone = false;
    for (struct patience p = {0}; !gone && patience(&p);) {
        gone = kill(child, 0) < 0;
    }
    assert_true(gone);
}

static void what_is_not_cached_is_said_so(void **state)
{
    put_bytes("x", 1);
    unlink(courier_path(&rig, "cache/objects/%s", digest));
    assert_int_equal(place("/app", NULL), COURIER_NOT_CACHED);
    assert_failed("the cache does not have it any more");
}

/* ---- trees ---- */

static int place_tree(const char *more)
{
    return courier(&rig, "place", digest_option, "--tree", "--user=0:0", "--cache-bytes=1000",
                   more);
}

static void a_tree_is_made_once(void **state)
{
    struct making m;
    make_tree(&m, TGZ);
    put(&m);
    assert_int_equal(place_tree(NULL), COURIER_DONE);
    assert_int_equal(rig.told.size, 21);
    assert_int_equal(rig.told.entries, 9);
    char path[256], copy[256];
    snprintf(path, sizeof(path), "cache/trees/%s/root/data/text", digest);
    assert_file(path, "text\n");
    snprintf(copy, sizeof(copy), "cache/trees/%s/root", digest);
    assert_int_equal(stat_of(copy).st_mode, S_IFDIR | 0755);
    ino_t first = stat_of(path).st_ino;
    assert_int_equal(place_tree(NULL), COURIER_DONE);
    assert_int_equal(rig.told.size, 21);
    assert_int_equal(rig.told.entries, 0);
    assert_int_equal(stat_of(path).st_ino, first);
    assert_int_equal(names_in(courier_path(&rig, "cache/part")), 0);
}

static void a_tree_in_use_stays(void **state)
{
    struct making m;
    char line[160];
    make_tree(&m, TGZ);
    put(&m);
    assert_int_equal(place_tree("--for=c1"), COURIER_DONE);
    assert_int_equal(place_tree("--for=c2"), COURIER_DONE);
    snprintf(line, sizeof(line), "%s\n", digest);
    assert_file("cache/uses/c1", line);
    assert_int_equal(courier(&rig, "sweep", "--cache-bytes=0"), COURIER_DONE);
    assert_int_equal(names_in(courier_path(&rig, "cache/trees")), 1);
    unlink(courier_path(&rig, "cache/uses/c1"));
    file_put(courier_path(&rig, "cache/uses/c3"), "nonsense", 8);
    assert_int_equal(courier(&rig, "sweep", "--cache-bytes=0"), COURIER_FAILED);
    assert_int_equal(names_in(courier_path(&rig, "cache/trees")), 1); /* nobody knows who uses it */
    unlink(courier_path(&rig, "cache/uses/c3"));
    assert_int_equal(courier(&rig, "sweep", "--cache-bytes=0"), COURIER_DONE);
    assert_int_equal(names_in(courier_path(&rig, "cache/trees")), 1); /* c2 does */
    unlink(courier_path(&rig, "cache/uses/c2"));
    assert_int_equal(courier(&rig, "sweep", "--cache-bytes=0"), COURIER_DONE);
    assert_int_equal(names_in(courier_path(&rig, "cache/trees")), 0);
    assert_int_equal(names_in(courier_path(&rig, "cache/part")), 0);
}

/* Killed at many moments: there is a whole tree, or none and a part, and the next one makes it. */
static void killed_it_leaves_a_part(void **state)
{
    struct making m;
    begin(&m, ZST);
    char name[32], user[64];
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof(name), "d%d/%d", i % 50, i);
        add_file(&m, name, 0644, "some text\n");
    }
    put(&m);
    snprintf(user, sizeof(user), "--user=%d:%d", USER, GROUP);
    const char *const words[] = {"place", digest_option, "--tree", user, NULL};
    for (int i = 0; i < 10; i++) {
        pid_t pid = courier_begin(&rig, words);
        usleep((useconds_t)(i * 30000));
        kill(pid, SIGKILL);
        int status = courier_end(&rig, pid);
        assert_true(status == 128 + SIGKILL || status == COURIER_DONE);
        bool whole = names_in(courier_path(&rig, "cache/trees")) == 1;
        if (whole) {
            assert_int_equal(names_in(courier_path(&rig, "cache/trees/%s/root", digest)), 50);
        }
    }
    assert_int_equal(courier_end(&rig, courier_begin(&rig, words)), COURIER_DONE);
    assert_int_equal(names_in(courier_path(&rig, "cache/trees/%s/root", digest)), 50);
    for (struct patience p = {0}; names_in(courier_path(&rig, "cache/part")) > 0 && patience(&p);) {
        assert_int_equal(courier(&rig, "sweep"), COURIER_DONE);
    }
    assert_int_equal(names_in(courier_path(&rig, "cache/part")), 0);
}

/* ---- pack ---- */

static int pack(const char *from, const char *option)
{
    char root[128], path[256], out[128], user[64];
    snprintf(root, sizeof(root), "--root=%s", rig.root);
    snprintf(path, sizeof(path), "--from=%s", from);
    snprintf(out, sizeof(out), "--out=%s/out", rig.top);
    snprintf(user, sizeof(user), "--user=%d:%d", USER, GROUP);
    return courier(&rig, "pack", root, path, out, user, option ? option : "--max-bytes=1000");
}

static void packs_a_file(void **state)
{
    put_bytes("packed\n", 7); /* for its digest */
    assert_int_equal(mkdir(courier_path(&rig, "root/one"), 0755), 0);
    file_put(courier_path(&rig, "root/one/result"), "packed\n", 7);
    assert_int_equal(symlink("/one/result", courier_path(&rig, "root/link")), 0);
    static const char *const paths[] = {"/one/result", "one/../../one/result", "/one", "/link"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        assert_int_equal(pack(paths[i], "--max-bytes=7"), COURIER_DONE);
        assert_int_equal(rig.told.size, 7);
        assert_string_equal(rig.told.digest, digest);
        assert_file("out", "packed\n");
        assert_int_equal(unlink(courier_path(&rig, "out")), 0);
    }
    assert_true(access(courier_path(&rig, "out.part"), F_OK) < 0);
}

static void packs_nothing_else(void **state)
{
    assert_int_equal(mkdir(courier_path(&rig, "root/two"), 0755), 0);
    assert_int_equal(mkdir(courier_path(&rig, "root/empty"), 0755), 0);
    file_put(courier_path(&rig, "root/two/a"), "a", 1);
    file_put(courier_path(&rig, "root/two/b"), "b", 1);
    assert_int_equal(mkfifo(courier_path(&rig, "root/fifo"), 0666), 0);
    assert_int_equal(symlink("../../outside", courier_path(&rig, "root/out")), 0);
    file_put(courier_path(&rig, "root/large"), "0123456789", 10);
    file_put(courier_path(&rig, "root/closed"), "secret", 6);
    assert_int_equal(chmod(courier_path(&rig, "root/closed"), 0600), 0);
    static const struct {
        const char *path, *option, *text;
    } rows[] = {
        {"/none", NULL, "cannot open \"/none\": No such file or directory"},
        {"/two", NULL, "\"/two\" is neither a regular file nor a directory with nothing but one"},
        {"/empty", NULL, "\"/empty\" is neither a regular file"},
        {"/fifo", NULL, "\"/fifo\" is neither a regular file"},
        {"/out", NULL, "cannot open \"/out\": No such file or directory"},
        {"/large", "--max-bytes=9", "it is larger than 9 bytes"},
        {"/closed", NULL, "cannot open \"/closed\": Permission denied"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!by_root() && strcmp(rows[i].path, "/closed") == 0) {
            continue; /* its owner runs the test */
        }
        assert_int_equal(pack(rows[i].path, rows[i].option), COURIER_FAILED);
        assert_failed(rows[i].text);
        assert_true(access(courier_path(&rig, "out"), F_OK) < 0);
        assert_true(access(courier_path(&rig, "out.part"), F_OK) < 0);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(heavy_archives_are_bounded), /* first, as long as this process is small */
        CASE(places_each_kind_and_again),
        CASE(makes_the_way_inside_only),
        CASE(cuts_set_id_bits),
        CASE(root_inside_may_write_all_of_it),
        CASE(names_are_bytes),
        CASE(deep_directories_are_made_and_removed),
        CASE(hostile_archives_leave_nothing),
        CASE(goes_through_no_link_of_the_container),
        CASE(cut_and_wrong_ones_leave_nothing),
        CASE(its_child_is_confined),
        CASE(what_is_not_cached_is_said_so),
        CASE(a_tree_is_made_once),
        CASE(a_tree_in_use_stays),
        CASE(killed_it_leaves_a_part),
        CASE(packs_a_file),
        CASE(packs_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
