/* Containers with networks of their own: addresses that are theirs alone, and what is left. */
#include "test/e2e/driver_trials.h"
#include "test/tool/cmocka.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* A server of one word, at the same port in each container. */
#define SERVES "while true; do echo word | nc -l -p 8080 >/dev/null; done"

static struct verb_answer prepare(struct rig *r, struct arena *a, const char *guid,
                                  const char *script, uint32_t host_port)
{
    const char *args[4];
    const struct port_pair ports[] = {{8080, host_port}};
    struct container_spec spec = rig_shell(r, script, args);
    spec.ports = ports;
    spec.port_count = 1;
    return subject_prepare(&r->subject, a, guid, &spec);
}

static const char *start(struct rig *r, struct arena *a, const char *guid)
{
    struct verb_answer answer = subject_plain(&r->subject, a, VERB_START, guid);
    rig_done(answer);
    assert_non_null(answer.address);
    return answer.address;
}

/* Tried for a while: the program may not listen yet. */
static bool reached(const char *address, uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    assert_int_equal(inet_pton(AF_INET, address, &to.sin_addr), 1);
    for (int i = 0; i < 100; i++) {
        char word[8] = "";
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        bool got = connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 &&
                   read(fd, word, sizeof(word) - 1) > 0 && strcmp(word, "word\n") == 0;
        close(fd);
        if (got) {
            return true;
        }
        rig_pause_ms(100);
    }
    return false;
}

void trial_addresses(void **state)
{
    struct rig *r = *state;
    SCOPED_ARENA(a);
    rig_done(prepare(r, &a, "one", SERVES, 41000));
    rig_done(prepare(r, &a, "two", SERVES, 41001));
    assert_null(subject_find(&r->subject, &a, "one").address); /* before it was started */
    const char *one = start(r, &a, "one"), *two = start(r, &a, "two");
    assert_string_not_equal(one, two);
    assert_true(reached("127.0.0.1", 41000) && reached("127.0.0.1", 41001));
    assert_true(reached(one, 8080) && reached(two, 8080));
    rig_restart(r);
    assert_string_equal(subject_find(&r->subject, &a, "one").address, one);
    assert_string_equal(subject_find(&r->subject, &a, "two").address, two);
    assert_true(reached("127.0.0.1", 41001));
    subject_remove(&r->subject, "one");
    assert_true(reached("127.0.0.1", 41001));
    subject_remove(&r->subject, "two");
}

/* A restart of the machine forgets who has which address, and its packet filter. Whoever is made
 * before what is left of a container is removed has another address, and keeps its ways. */
void trial_rebooted_network(void **state)
{
    struct rig *r = *state;
    SCOPED_ARENA(a);
    char command[512];
    rig_done(prepare(r, &a, "old", SERVES, 41000));
    const char *old = start(r, &a, "old");
    rig_suspend(r);
    rig_fall(r, "old");
    snprintf(command, sizeof(command),
             "nft flush ruleset && rm $(grep -o '/run/corkboard/addresses/[^\"]*' %s)",
             rig_path(r, "old", "network.json"));
    assert_int_equal(system(command), 0);
    rig_resume(r);
    rig_done(prepare(r, &a, "new", SERVES, 41001));
    const char *new = start(r, &a, "new");
    assert_string_not_equal(new, old);
    subject_remove(&r->subject, "old");
    assert_true(reached("127.0.0.1", 41001) && reached(new, 8080));
    subject_remove(&r->subject, "new");
    assert_int_equal(rig_leftovers(r), 0);
}

/* All that a subnet of eight has; one that is given back is somebody's again, and not before. */
void trial_addresses_run_out(void **state)
{
    enum { ALL = 5 };
    struct rig *r = *state;
    SCOPED_ARENA(a);
    rig_suspend(r);
    r->config.network.subnet = "10.253.9.0/29";
    rig_resume(r);
    for (int i = 0; i < ALL; i++) {
        rig_done(prepare(r, &a, arena_printf(&a, "c-%d", i), SERVES, 41000 + (uint32_t)i));
    }
    struct verb_answer full = prepare(r, &a, "late", SERVES, 41100);
    assert_int_equal(full.outcome, VERB_FAILED);
    assert_string_equal(full.text, "all 5 addresses of its network are in use");
    const char *was = start(r, &a, "c-0");
    subject_remove(&r->subject, "c-0");
    rig_done(prepare(r, &a, "late", SERVES, 41100));
    assert_string_equal(start(r, &a, "late"), was);
    assert_true(reached("127.0.0.1", 41100));
    for (int i = 1; i < ALL; i++) {
        subject_remove(&r->subject, arena_printf(&a, "c-%d", i));
    }
    subject_remove(&r->subject, "late");
}

void trial_attach_fails(void **state)
{
    struct rig *r = *state;
    SCOPED_ARENA(a);
    rig_suspend(r);
    r->config.network.plugins = "/nowhere";
    rig_resume(r);
    rig_done(prepare(r, &a, "no-plugin", SERVES, 41000));
    struct verb_answer answer = subject_plain(&r->subject, &a, VERB_START, "no-plugin");
    assert_int_equal(answer.outcome, VERB_FAILED);
    assert_non_null(strstr(answer.text, "no network plugin ptp in /nowhere"));
    subject_remove(&r->subject, "no-plugin");
}

/* The rep dies while containers are attached; its successor removes them, whatever had been done
 * by then. */
void trial_killed_amid_attach(void **state)
{
    enum { TIMES = 12, STEP_MS = 12 };
    struct rig *r = *state;
    struct subject *s = &r->subject;
    SCOPED_ARENA(a);
    for (int i = 0; i < TIMES; i++) {
        const char *guid = arena_printf(&a, "amid-%d", i);
        rig_done(prepare(r, &a, guid, SERVES, 41000 + (uint32_t)i));
        struct verb_call c = {.id = ++s->ids,
                              .verb = VERB_START,
                              .guid = guid,
                              .deadline_ns = s->now_ns(s) + 60 * SECOND_NS};
        s->call(s, &c);
        struct event ev;
        s->next(s, i * STEP_MS * MILLISECOND_NS, &a, &ev);
        rig_restart(r);
        subject_remove(s, guid);
    }
}

/* A power failure, or a rep that was killed, leaves of the plan what had been written. */
void trial_plan_cut(void **state)
{
    static const int kept[] = {0, 1, 100};
    struct rig *r = *state;
    SCOPED_ARENA(a);
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        rig_done(prepare(r, &a, "cut", SERVES, 41000));
        assert_int_equal(truncate(rig_path(r, "cut", "network.json"), kept[i]), 0);
        rig_restart(r);
        subject_remove(&r->subject, "cut");
    }
    rig_restart(r); /* the sweep gives its addresses back, which no plan names */
}

/* ---- Join ---- */

static uint32_t ids_of(struct rig *r, const char *guid)
{
    char line[64] = "";
    FILE *f = fopen(rig_path(r, guid, "ids"), "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof(line), f));
    fclose(f);
    return (uint32_t)strtoul(line, NULL, 10);
}

/* What `of` was made with, or whoever joined it. */
static struct verb_answer prepare_joined(struct rig *r, struct arena *a, const char *guid,
                                         const char *of, uint32_t ids, const char *script)
{
    const char *args[4];
    struct container_spec spec = rig_shell(r, script, args);
    spec.join = of;
    spec.ids_first = ids;
    return subject_prepare(&r->subject, a, guid, &spec);
}

static int exec(struct rig *r, struct arena *a, const char *guid, const char *script)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    struct verb_answer answer = subject_verb(
        &r->subject, a, (struct verb_call){.verb = VERB_EXEC, .guid = guid, .argv = argv});
    rig_done(answer);
    return answer.exit_code;
}

static void assert_one_network(struct rig *r, const char *one, const char *other)
{
    static const char *const spaces[] = {"net", "user"};
    SCOPED_ARENA(a);
    for (size_t i = 0; i < 2; i++) {
        char links[2][64] = {"", ""};
        for (size_t k = 0; k < 2; k++) {
            const char *guid = k ? other : one;
            int64_t pid = subject_find(&r->subject, &a, guid).pid;
            const char *path = arena_printf(&a, "/proc/%lld/ns/%s", (long long)pid, spaces[i]);
            assert_true(readlink(path, links[k], sizeof(links[k]) - 1) > 0);
        }
        assert_string_equal(links[0], links[1]);
    }
}

#define REACHES_IT                                                                                 \
    "for i in 1 2 3 4 5 6 7 8 9; do "                                                              \
    "[ \"$(nc -w 2 127.0.0.1 8080 </dev/null)\" = word ] && exit 0; sleep 0.2; done; exit 1"
#define SEES_IT "grep -q second /etc/hosts && test -d /sys/class/net/eth0"

/* The network is there until the last of them has gone, whoever was first; a rep that comes between
 * any two of these goes on. */
void trial_join(void **state)
{
    struct rig *r = *state;
    struct subject *s = &r->subject;
    SCOPED_ARENA(a);
    rig_done(prepare(r, &a, "first", SERVES, 41000));
    uint32_t ids = ids_of(r, "first");
    assert_true(!r->choice.user_namespaces || ids > 0);
    const char *address = start(r, &a, "first");
    rig_done(prepare_joined(r, &a, "second", "first", ids, SERVES));
    rig_restart(r);
    assert_string_equal(start(r, &a, "second"), address);
    assert_one_network(r, "first", "second");
    assert_int_equal(exec(r, &a, "second", REACHES_IT), 0);
    assert_int_equal(exec(r, &a, "second", SEES_IT), 0);
    rig_restart(r);
    subject_remove(s, "first");
    rig_restart(r); /* which clears what is nobody's */
    assert_string_equal(subject_find(s, &a, "second").address, address);
    assert_null(subject_find(s, &a, "first").guid);
    assert_true(reached("127.0.0.1", 41000)); /* it is the second that serves there now */
    rig_done(prepare(r, &a, "other", SERVES, 41001));
    assert_string_not_equal(start(r, &a, "other"), address);
    /* One more comes to a network whose first container has gone. */
    rig_done(prepare_joined(r, &a, "third", "first", ids, "exec sleep 1000"));
    assert_string_equal(start(r, &a, "third"), address);
    assert_one_network(r, "third", "second");
    subject_remove(s, "second");
    subject_remove(s, "second");
    assert_int_equal(exec(r, &a, "third", "grep -q third /etc/hosts"), 0);
    assert_int_equal(access(rig_path(r, "first", "netns"), F_OK), 0);
    subject_remove(s, "third");
    assert_int_equal(access(rig_path(r, "first", ""), F_OK), -1);
    subject_remove(s, "first"); /* asked again */
    subject_remove(s, "other");

    struct verb_answer none = prepare_joined(r, &a, "late", "first", ids, SERVES);
    assert_int_equal(none.outcome, VERB_FAILED);
    assert_string_equal(none.text, "container first, whose network it is to join, is not there");
}

static void cut_off(struct rig *r, enum verb verb, const char *guid, int ms)
{
    struct subject *s = &r->subject;
    SCOPED_ARENA(a);
    struct event ev;
    struct verb_call c = {.id = ++s->ids,
                          .verb = verb,
                          .guid = guid,
                          .deadline_ns = s->now_ns(s) + 60 * SECOND_NS};
    s->call(s, &c);
    s->next(s, ms * MILLISECOND_NS, &a, &ev);
    rig_restart(r);
}

/* The rep is killed while they go, one after the other; its successor removes what is left. */
void trial_join_killed(void **state)
{
    enum { TIMES = 8, STEP_MS = 15 };
    struct rig *r = *state;
    struct subject *s = &r->subject;
    SCOPED_ARENA(a);
    for (int i = 0; i < TIMES; i++) {
        const char *one = i % 2 ? "joined" : "has-it", *other = i % 2 ? "has-it" : "joined";
        rig_done(prepare(r, &a, "has-it", SERVES, 41000));
        start(r, &a, "has-it");
        rig_done(prepare_joined(r, &a, "joined", "has-it", ids_of(r, "has-it"), SERVES));
        cut_off(r, VERB_START, "joined", i * STEP_MS);
        cut_off(r, VERB_REMOVE, one, i * STEP_MS);
        subject_remove(s, one);
        cut_off(r, VERB_REMOVE, other, i * STEP_MS);
        subject_remove(s, other);
        assert_int_equal(rig_leftovers(r), 0);
    }
}

int churn_containers = 12, churn_rounds = 2;

static void all(struct rig *r, enum verb verb, const struct container_spec *specs)
{
    struct subject *s = &r->subject;
    SCOPED_ARENA(a);
    struct event ev;
    int answers = 0;
    for (int i = 0; i < churn_containers; i++) {
        struct verb_call c = {.id = ++s->ids,
                              .verb = verb,
                              .guid = arena_printf(&a, "churn-%d", i),
                              .spec = &specs[i],
                              .deadline_ns = s->now_ns(s) + 600 * SECOND_NS};
        s->call(s, &c);
    }
    while (answers < churn_containers && s->next(s, 600 * SECOND_NS, &a, &ev)) {
        if (ev.kind == EVENT_VERB) {
            rig_done(ev.verb);
            answers++;
        }
    }
    assert_int_equal(answers, churn_containers);
}

void trial_churn(void **state)
{
    struct rig *r = *state;
    SCOPED_ARENA(a);
    const char *args[4];
    struct container_spec *specs = ARENA_ARRAY(&a, churn_containers, struct container_spec);
    struct port_pair *ports = ARENA_ARRAY(&a, churn_containers, struct port_pair);
    for (int i = 0; i < churn_containers; i++) {
        specs[i] = rig_shell(r, "exec sleep 1000", args);
        ports[i] = (struct port_pair){8080, 42000 + (uint32_t)i};
        specs[i].ports = &ports[i];
        specs[i].port_count = 1;
    }
    for (int round = 0; round < churn_rounds; round++) {
        all(r, VERB_PREPARE, specs);
        all(r, VERB_START, specs);
        all(r, VERB_REMOVE, specs);
        assert_int_equal(rig_processes(r), 0);
        assert_int_equal(rig_leftovers(r), 0);
    }
}
