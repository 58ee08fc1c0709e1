/* The rep's state directory, and what rep and auctioneer show of themselves. */
#include "common/cli/state_text.h"
#include "cell.pb-c.h"
#include "common/codec/json.h"
#include "rep/cli/state_table.h"
#include "rep/state_dir_io.h"
#include "test/tool/cmocka.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[64];

static int setup(void **state)
{
    snprintf(directory, sizeof(directory), "/tmp/corkboard-test-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    return system(command);
}

static const char *below(const char *name)
{
    static char path[256];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

static void put_file(const char *name, const char *text)
{
    FILE *f = fopen(below(name), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void identity_stays_and_incarnation_rises(void **state)
{
    struct state_dir s;
    struct err err;
    char identity[STATE_IDENTITY_BYTES];
    assert_int_equal(state_dir_open(&s, below("a/b/c"), "cell-1", &err), 0);
    assert_int_equal(s.incarnation, 1);
    assert_int_equal(strlen(s.identity), 36);
    memcpy(identity, s.identity, sizeof(identity));
    struct stat st;
    assert_int_equal(stat(below("a/b/c"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    state_dir_close(&s);
    for (unsigned i = 2; i < 5; i++) {
        assert_int_equal(state_dir_open(&s, below("a/b/c"), "cell-1", &err), 0);
        assert_int_equal(s.incarnation, i);
        assert_string_equal(s.identity, identity);
        state_dir_close(&s);
    }
    assert_int_equal(state_dir_open(&s, below("a/b/c"), NULL, &err), 0); /* only looks */
    assert_int_equal(s.incarnation, 4);
    state_dir_close(&s);
    assert_int_equal(state_dir_open(&s, below("other"), "cell-1", &err), 0);
    assert_string_not_equal(s.identity, identity);
    state_dir_close(&s);
}

/* What a lost cell asks for: above the present one, and the next start goes on from there. */
static void an_incarnation_is_raised_by_more(void **state)
{
    struct state_dir s;
    struct err err;
    assert_int_equal(state_dir_open(&s, below("raised"), "cell-1", &err), 0);
    assert_int_equal(state_dir_raise(&s, 1, &err), -ERR_CONFLICT);
    assert_int_equal(state_dir_raise(&s, 9, &err), 0);
    assert_int_equal(s.incarnation, 9);
    assert_int_equal(state_dir_raise(&s, 9, &err), -ERR_CONFLICT);
    assert_int_equal(state_dir_raise(&s, UINT64_C(1000000000000000000), &err), -ERR_CONFLICT);
    assert_int_equal(s.incarnation, 9);
    state_dir_close(&s);
    assert_int_equal(state_dir_open(&s, below("raised"), "cell-1", &err), 0);
    assert_int_equal(s.incarnation, 10);
    state_dir_close(&s);
}

static struct kept_evacuation until(int64_t wall_ns, int64_t mono_ns, const char *boot_id)
{
    return (struct kept_evacuation){
        .on = true, .until_wall_ns = wall_ns, .until_mono_ns = mono_ns, .boot_id = boot_id};
}

static void opens(struct state_dir *s, const char *name, uint64_t incarnation)
{
    struct err err;
    assert_int_equal(state_dir_open(s, below(name), "cell-1", &err), 0);
    assert_int_equal(s->incarnation, incarnation);
}

static void an_evacuation_is_kept_and_dropped(void **state)
{
    struct state_dir s;
    struct err err;
    opens(&s, "e", 1);
    assert_false(s.evacuation.on);
    struct kept_evacuation e = until(1770000000000000000, 77, "boot-1");
    assert_int_equal(state_dir_keep(&s, &e, &err), 0);
    state_dir_close(&s);
    for (unsigned i = 2; i < 4; i++) { /* its rep keeps it again; here nobody does */
        opens(&s, "e", i);
        assert_true(s.evacuation.on);
        assert_int_equal(s.evacuation.until_wall_ns, 1770000000000000000);
        assert_int_equal(s.evacuation.until_mono_ns, 77);
        assert_string_equal(s.evacuation.boot_id, "boot-1");
        assert_int_equal(s.evacuation.handed_on, i == 2);
        state_dir_close(&s);
    }
    opens(&s, "e", 4);
    assert_int_equal(state_dir_keep(&s, &(struct kept_evacuation){.on = false}, &err), 0);
    assert_int_equal(state_dir_keep(&s, &(struct kept_evacuation){.on = false}, &err), 0);
    state_dir_close(&s);
    opens(&s, "e", 5);
    assert_false(s.evacuation.on);
    e = until(INT64_MAX, 0, "");
    assert_int_equal(state_dir_keep(&s, &e, &err), 0);
    state_dir_close(&s);
    opens(&s, "e", 6);
    assert_int_equal(s.evacuation.until_wall_ns, INT64_MAX);
    assert_string_equal(s.evacuation.boot_id, "");
    state_dir_close(&s);
}

/* A cell that comes back lost has an incarnation far above: what it keeps is no less its own. */
static void a_raised_incarnation_keeps_its_evacuation(void **state)
{
    struct state_dir s;
    struct err err;
    opens(&s, "er", 1);
    struct kept_evacuation e = until(5, 6, "boot-1");
    assert_int_equal(state_dir_keep(&s, &e, &err), 0);
    assert_int_equal(state_dir_raise(&s, 9, &err), 0);
    state_dir_close(&s);
    opens(&s, "er", 10);
    assert_true(s.evacuation.handed_on);
    assert_int_equal(state_dir_keep(&s, &e, &err), 0);
    assert_int_equal(state_dir_raise(&s, 20, &err), 0);
    state_dir_close(&s);
    put_file("er/incarnation", "10\n"); /* the raise was cut short after the evacuation */
    opens(&s, "er", 11);
    assert_true(s.evacuation.on && s.evacuation.handed_on);
    assert_int_equal(s.evacuation.until_wall_ns, 5);
    assert_int_equal(s.evacuation.until_mono_ns, 6);
    state_dir_close(&s);
}

static void an_evacuation_that_cannot_be_kept(void **state)
{
    struct state_dir s;
    struct err err;
    opens(&s, "en", 1);
    char boot[STATE_BOOT_BYTES + 1] = "";
    memset(boot, 'b', STATE_BOOT_BYTES - 1);
    struct kept_evacuation e = until(5, 6, boot);
    assert_int_equal(state_dir_keep(&s, &e, &err), 0);
    state_dir_close(&s);
    opens(&s, "en", 2);
    assert_string_equal(s.evacuation.boot_id, boot);
    boot[STATE_BOOT_BYTES - 1] = 'b';
    static const struct kept_evacuation none = {.on = false};
    const struct kept_evacuation bad[] = {until(5, 6, boot), until(5, 6, "two words"),
                                          until(-1, 6, "b"), until(5, -1, "b")};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(state_dir_keep(&s, &bad[i], &err), -ERR_INVALID);
    }
    assert_int_equal(mkdir(below("en/evacuation.new"), 0700), 0);
    e = until(5, 7, "b");
    assert_int_equal(state_dir_keep(&s, &e, &err), -ERR_IO);
    assert_non_null(strstr(err.text, "evacuation.new"));
    assert_int_equal(state_dir_raise(&s, 9, &err), -ERR_IO); /* not without it */
    assert_int_equal(s.incarnation, 2);
    assert_int_equal(s.evacuation.until_mono_ns, 6);
    assert_int_equal(unlink(below("en/evacuation")), 0);
    assert_int_equal(mkdir(below("en/evacuation"), 0700), 0);
    assert_int_equal(state_dir_keep(&s, &none, &err), -ERR_IO);
    assert_non_null(strstr(err.text, "cannot remove"));
    state_dir_close(&s);
}

static void a_damaged_evacuation_is_refused(void **state)
{
    struct state_dir s;
    struct err err;
    opens(&s, "ed", 1);
    state_dir_close(&s);
    static const char *const rows[] = {
        "", "\n", "1 2 3 boot", "1 2 3\n", "1 2 3 \n", "1 2 boot\n", "1  2 3 b\n", " 1 2 3 b\n",
        "-1 2 3 b\n", "1 -2 3 b\n", "1 2 -3 b\n", "+1 2 3 b\n", "1 2 3 two words\n", "0x1 2 3 b\n",
        "1 9223372036854775808 3 b\n", "{\"on\":true}\n", "\177ELF\002\001\001\n",
        "1 2 3 0123456789012345678901234567890123456789012345678901234567890123\n",
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        put_file("ed/evacuation", rows[i]);
        assert_int_equal(state_dir_open(&s, below("ed"), "cell-1", &err), -ERR_IO);
        assert_non_null(strstr(err.text, "ed/evacuation is damaged: remove it, and ask again"));
    }
    /* Who only looks is not held up. */
    assert_int_equal(state_dir_open(&s, below("ed"), NULL, &err), 0);
    assert_false(s.evacuation.on);
    state_dir_close(&s);
    put_file("ed/evacuation", "1 9223372036854775807 3 b\n");
    opens(&s, "ed", 2); /* the refused ones raised nothing */
    assert_true(s.evacuation.on);
    state_dir_close(&s);
}

static void one_rep_at_a_time(void **state)
{
    struct state_dir s, second;
    struct err err;
    assert_int_equal(state_dir_open(&s, below("d"), "cell-1", &err), 0);
    assert_int_equal(state_dir_open(&second, below("d"), "cell-1", &err), -ERR_CONFLICT);
    assert_non_null(strstr(err.text, "another rep runs"));
    /* A child inherits nothing of it: the lock is closed on exec, as the pipe is that tells when.
     */
    int ends[2];
    char byte;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl("/bin/sleep", "sleep", "1000", (char *)NULL);
        (void)!write(ends[1], "x", 1);
        _exit(1);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
    state_dir_close(&s);
    assert_int_equal(state_dir_open(&second, below("d"), "cell-1", &err), 0);
    assert_int_equal(second.incarnation, 2); /* the refused one raised nothing */
    state_dir_close(&second);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void strange_directories_are_refused(void **state)
{
    struct state_dir s;
    struct err err;
    assert_int_equal(state_dir_open(&s, below("none"), NULL, &err), -ERR_NOT_FOUND);
    assert_int_equal(state_dir_open(&s, below("d"), "cell-1", &err), 0);
    state_dir_close(&s);
    assert_int_equal(state_dir_open(&s, below("d"), "cell-2", &err), -ERR_CONFLICT);
    assert_non_null(strstr(err.text, "is of cell cell-1, not cell-2"));
    put_file("d/incarnation", "12x\n");
    assert_int_equal(state_dir_open(&s, below("d"), "cell-1", &err), -ERR_IO);
    put_file("d/incarnation", "12"); /* cut short */
    assert_int_equal(state_dir_open(&s, below("d"), "cell-1", &err), -ERR_IO);
    put_file("d/incarnation", "12\n");
    put_file("d/incarnation.new", "rubbish of a crash");
    assert_int_equal(state_dir_open(&s, below("d"), "cell-1", &err), 0);
    assert_int_equal(s.incarnation, 13);
    state_dir_close(&s);
    put_file("d/identity", "short\n");
    assert_int_equal(state_dir_open(&s, below("d"), "cell-1", &err), -ERR_IO);
    put_file("file", "");
    assert_int_equal(state_dir_open(&s, below("file"), "cell-1", &err), -ERR_IO);
    assert_int_equal(state_dir_open(&s, below("file/x"), "cell-1", &err), -ERR_IO);
}

static void cell_state_for_people(void **state)
{
    SCOPED_ARENA(a);
    struct err err;
    SCOPED_BUF(out);
    ProtobufCMessage *m;
    const char *text =
        "{\"cell_id\":\"c1\",\"rep_url\":\"https://r\",\"Zone\":\"z\",\"RootFSProviders\":{"
        "\"preloaded\":{\"type\":\"fixed_set\",\"set\":{\"a\":{},\"b\":{}}},\"docker\":{\"type\":"
        "\"arbitrary\"}},\"AvailableResources\":{\"MemoryMB\":5,\"DiskMB\":6,\"Containers\":7},"
        "\"LRPs\":[{\"instance_guid\":\"g\",\"process_guid\":\"p\",\"index\":2,\"state\":"
        "\"RUNNING\","
        "\"MemoryMB\":32,\"DiskMB\":16}],\"Tasks\":[{\"TaskGuid\":\"t\",\"state\":\"Running\"}]}";
    assert_int_equal(
        json_decode(&a, &cell__cell_state__descriptor, bytes_of(text), CODEC_STRICT, &m, &err), 0);
    rep_state_table(&a, (const Cell__CellState *)m, &out);
    assert_string_equal(buf_string(&out), "CELL              c1\n"
                                          "url               https://r\n"
                                          "zone              z\n"
                                          "evacuating        no\n"
                                          "memory            5 of 0 MB free\n"
                                          "disk              6 of 0 MB free\n"
                                          "containers        7 of 0 free\n"
                                          "starting          0\n"
                                          "failed starts     0 lately, in a row\n"
                                          "root filesystems  docker preloaded:a preloaded:b\n"
                                          "volume drivers    -\n"
                                          "isolation         not known\n"
                                          "network           host\n"
                                          "lrps              1\n"
                                          "tasks             1\n"
                                          "units             0\n");
    buf_clear(&out);
    rep_containers_table(&a, (const Cell__CellState *)m, 0, &out);
    assert_string_equal(buf_string(&out), "CONTAINER  PROCESS  INDEX  STATE    MEMORY  DISK\n"
                                          "g          p        2      RUNNING  32 MB   16 MB\n"
                                          "t          task     -      RUNNING  0 MB    0 MB\n");
    buf_clear(&out);
    buf_clear(&out);
    text =
        "{\"cell_id\":\"c1\",\"lrps\":[{\"instance_guid\":\"g\",\"process_guid\":\"p\",\"index\":2,"
        "\"metric_guid\":\"m\",\"cpu_usage_fraction\":1.255,\"disk_usage_bytes\":1048576,"
        "\"disk_quota_bytes\":0,\"memory_usage_bytes\":1572864,\"memory_quota_bytes\":33554432}],"
        "\"tasks\":[{\"task_guid\":\"t\"}]}";
    assert_int_equal(
        json_decode(&a, &cell__cell_metrics__descriptor, bytes_of(text), CODEC_STRICT, &m, &err),
        0);
    rep_metrics_table(&a, (const Cell__CellMetrics *)m, &out);
    assert_string_equal(buf_string(&out),
                        "CONTAINER  PROCESS  INDEX  CPU     MEMORY        DISK\n"
                        "g          p        2      125.5%  1.5 of 32 MB  1.0 MB\n"
                        "t          task     -      0.0%    0.0 MB        0.0 MB\n");
    buf_clear(&out);
    Cell__CellState empty = CELL__CELL_STATE__INIT;
    rep_state_table(&a, &empty, &out);
}

static void auctioneer_state_for_people(void **state)
{
    SCOPED_BUF(out);
    struct err err;
    struct bytes body = bytes_of("{\"leader\":true, \"pool\":[{\"guid\":\"a\\n\",\"n\":[1,2]},3],"
                                 "\"none\":[],\"x\":null}");
    assert_int_equal(cli_state_text(body, false, &out, &err), 0);
    assert_string_equal(buf_string(&out),
                        "leader: true\npool:\n  -\n    guid: a?\n    n:\n      - 1\n"
                        "      - 2\n  - 3\nnone: none\nx: null\n");
    buf_clear(&out);
    assert_int_equal(cli_state_text(body, true, &out, &err), 0);
    assert_string_equal(buf_string(&out),
                        "{\"leader\":true,\"pool\":[{\"guid\":\"a\\n\",\"n\":[1,2]},"
                        "3],\"none\":[],\"x\":null}\n");
    assert_int_equal(cli_state_text(bytes_of("{"), false, &out, &err), -ERR_INVALID);
}

/* What is false, empty or 0 is left out of the JSON. */
static void a_standby_is_told_from_a_leader(void **state)
{
    static const struct {
        const char *body;
        enum state_role role;
        const char *name, *leader_url;
    } rows[] = {
        {"{\"name\":\"a-1\",\"leads\":true,\"leader_url\":\"https://x\"}", STATE_LEADS, "a-1",
         "https://x"},
        {"{\"name\":\"a-2\",\"leader_url\":\"https://x\"}", STATE_STANDS_BY, "a-2", "https://x"},
        {"{\"name\":\"a-2\",\"leads\":false}", STATE_STANDS_BY, "a-2", ""},
        {"{\"name\":\"a-2\",\"leader_url\":7}", STATE_STANDS_BY, "a-2", ""},
        {"{\"name\":\"a-2\",\"leads\":\"true\"}", STATE_STANDS_BY, "a-2", ""},
        {"{\"leader_url\":\"https://x\"}", STATE_LEADS, "", "https://x"},
        {"{}", STATE_LEADS, "", ""},
        {"[]", STATE_LEADS, "", ""},
        {"7", STATE_LEADS, "", ""},
        {"{", STATE_LEADS, "", ""},
        {"", STATE_LEADS, "", ""},
    };
    SCOPED_ARENA(a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *name = NULL, *url = NULL;
        assert_int_equal(cli_state_role(&a, bytes_of(rows[i].body), &name, &url), rows[i].role);
        assert_string_equal(name, rows[i].name);
        assert_string_equal(url, rows[i].leader_url);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(identity_stays_and_incarnation_rises), TEST(an_incarnation_is_raised_by_more),
        TEST(an_evacuation_is_kept_and_dropped),
        TEST(a_raised_incarnation_keeps_its_evacuation),
        TEST(an_evacuation_that_cannot_be_kept),
        TEST(a_damaged_evacuation_is_refused),
        TEST(one_rep_at_a_time),
        TEST(strange_directories_are_refused),  TEST(cell_state_for_people),
        TEST(auctioneer_state_for_people),
        TEST(a_standby_is_told_from_a_leader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
