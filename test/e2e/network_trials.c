/* Containers with networks of their own: addresses that are theirs alone, and what is left. */
#include "test/e2e/driver_trials.h"
#include "test/tool/cmocka.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
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
