/* A real CRM between a real centre and a real site, each with an etcd, a bbs and a CA of its own:
 * from nothing to READY, killed, stood by for, displaced by its like, and refused. */
#include "board.pb-c.h"
#include "common/base/version.h"
#include "common/cli/cli_io.h"
#include "common/model/keys.h"
#include "crm/crm.h"
#include "test/api/edge_rig.h"
#include "test/tool/cmocka.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PARIS "acme/paris"

/* The site; bbs_rig is the centre. */
static struct {
    struct certs certs;
    struct tls_files server, client, crm;
    struct etcd_server etcd;
    struct bbs_process bbs;
} site;

static struct tls_files crm_at_centre;

/* ---- A CRM ---------------------------------------------------------------------------------- */

struct crm_process {
    pid_t pid;
    int port;
    char log_path[128];
};

/* Lives in a process of its own. */
static void run_crm(const char *name, const char *version, const char *site_url,
                    const struct tls_files *own, const struct tls_files *centre)
{
    char centres[128];
    struct err err;
    snprintf(centres, sizeof(centres), "https://127.0.0.1:%d,https://127.0.0.1:%d",
             bbs_rig.bbs[0].port, bbs_rig.bbs[1].port);
    const struct crm_config config = {.name = name,
                                      .cloudlet = PARIS,
                                      .version = version,
                                      .boards = site_url,
                                      .centres = centres,
                                      .url = "https://127.0.0.1:1"};
    const struct host_config host = {
        .name = name, .listen = "127.0.0.1:0", .tls = *own, .centre_tls = *centre};
    struct role *role = crm_new(&config);
    int r = host_run(role, &host, &err);
    role_free(role);
    certs_forget(&site.certs);
    certs_forget(&bbs_rig.certs);
    exit(r < 0 ? 100 : r);
}

static void start_version(struct crm_process *p, const char *name, const char *version,
                          int site_port, const struct tls_files *own,
                          const struct tls_files *centre)
{
    char url[64];
    snprintf(url, sizeof(url), "https://127.0.0.1:%d", site_port);
    snprintf(p->log_path, sizeof(p->log_path), "%s/%s-%s.log", site.certs.dir, name, version);
    int fd = open(p->log_path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    p->pid = fork();
    if (p->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nothing behind */
        dup2(fd, STDERR_FILENO);
        run_crm(name, version, url, own, centre);
    }
    close(fd);
    p->port = patience_port_in_log(p->log_path, "\"listens\"");
}

static void start_crm(struct crm_process *p, const char *name, int site_port,
                      const struct tls_files *own, const struct tls_files *centre)
{
    start_version(p, name, CORKBOARD_VERSION, site_port, own, centre);
}

/* Gives the exit status, or minus the signal. */
static int end_crm(struct crm_process *p, int number)
{
    int status = 0;
    kill(p->pid, number);
    for (struct patience w = {0}; waitpid(p->pid, &status, WNOHANG) == 0;) {
        assert_true(patience(&w));
    }
    unlink(p->log_path);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Waits until its state has this part; gives the whole. */
static const char *wait_for_state(const struct crm_process *p, const struct tls_files *client,
                                  const char *part, struct buf *state)
{
    for (struct patience w = {0};;) {
        struct tls_client c;
        bool there = client_open(&c, p->port, client, 0) &&
                     client_ask(&c, "GET", "/state", "", 0, state) == 200;
        client_close(&c);
        if (there && strstr(buf_string(state), part)) {
            return buf_string(state);
        }
        if (!patience(&w)) {
            fail_msg("no %s in %s", part, there ? buf_string(state) : "no answer");
        }
    }
}

static uint64_t session_in(const char *state)
{
    const char *at = strstr(state, "\"session\":");
    assert_non_null(at);
    at += strlen("\"session\":");
    return strtoull(at + (*at == '"'), NULL, 10);
}

/* ---- The two boards ------------------------------------------------------------------------- */

/* As a client makes it. */
static void make_cloudlet(void)
{
    SCOPED_ARENA(a);
    Board__CloudletRecord c = BOARD__CLOUDLET_RECORD__INIT;
    Board__MaintenanceRecord m = BOARD__MAINTENANCE_RECORD__INIT;
    c.name = m.name = arena_strdup(&a, PARIS);
    c.uid = m.uid = arena_strdup(&a, "uid-of-paris");
    c.state = arena_strdup(&a, "CREATING");
    c.request = 1;
    m.state = arena_strdup(&a, "NORMAL_OPERATION");
    edge_lay(key_edge(&a, RECORD_MAINTENANCE, PARIS), &m.base);
    edge_lay(key_edge(&a, RECORD_CLOUDLET, PARIS), &c.base);
}

static int setup(void **state)
{
    struct err err;
    if (bbs_rig_setup(state) < 0) {
        return -1;
    }
    certs_init(&site.certs);
    site.server = certs_make(&site.certs, "server", "bbs", "bbs", 3600);
    site.client = certs_make(&site.certs, "client", "client", "somebody", 3600);
    site.crm = certs_make(&site.certs, "site", "site", "crm", 3600);
    crm_at_centre = certs_make(&bbs_rig.certs, "crm-paris", "crm", PARIS, 3600);
    if (etcd_server_start(&(struct etcd_server_config){.tls = true}, &site.etcd, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return -1;
    }
    bbs_process_start(&site.bbs, site.certs.dir, "site-bbs", &site.etcd, &site.server,
                      &site.client);
    bbs_process_wait_ready(&site.bbs);
    return 0;
}

static int teardown(void **state)
{
    int r = bbs_process_end(&site.bbs);
    etcd_server_done(&site.etcd);
    certs_done(&site.certs);
    return bbs_rig_teardown(state) == 0 && r == 0 ? 0 : -1;
}

/* ---- The tests follow one another on the same boards ----------------------------------------- */

static struct crm_process first, second;

static void it_waits_for_its_cloudlet_and_becomes_ready(void **state)
{
    SCOPED_BUF(told);
    start_crm(&first, "crm-1", site.bbs.port, &site.crm, &crm_at_centre);
    wait_for_state(&first, &site.client, "bbs cloudlets create acme/paris", &told);
    make_cloudlet();
    const char *is = wait_for_state(&first, &site.client, "\"session_state\":\"READY\"", &told);
    assert_non_null(strstr(is, "\"cloudlet_state\":\"READY\""));
    assert_non_null(strstr(is, "\"leads\":true"));
    assert_int_equal(session_in(is), 1);
    wait_for_state(&first, &site.client, "\"follows\":\"", &told); /* the centre's board */
}

static void one_more_stands_by(void **state)
{
    SCOPED_BUF(told);
    start_crm(&second, "crm-2", site.bbs.port, &site.crm, &crm_at_centre);
    const char *is = wait_for_state(&second, &site.client, "stands by", &told);
    assert_null(strstr(is, "\"leads\":true"));
    is = wait_for_state(&first, &site.client, "\"session_state\":\"READY\"", &told);
    assert_int_equal(session_in(is), 1); /* nobody came between */
}

/* kill -9: the standby leads when the silence was long enough, in a session of its own. */
static void when_it_is_killed_the_other_goes_on(void **state)
{
    SCOPED_BUF(told);
    assert_int_equal(end_crm(&first, SIGKILL), -SIGKILL);
    const char *is = wait_for_state(&second, &site.client, "\"session_state\":\"READY\"", &told);
    assert_int_equal(session_in(is), 2);
}

/* As asked, it gives the lead back: the next one need not wait. */
static void when_it_is_ended_the_next_goes_on(void **state)
{
    SCOPED_BUF(told);
    start_crm(&first, "crm-1", site.bbs.port, &site.crm, &crm_at_centre);
    wait_for_state(&first, &site.client, "stands by", &told);
    assert_int_equal(end_crm(&second, SIGTERM), 0);
    const char *is = wait_for_state(&first, &site.client, "\"session_state\":\"READY\"", &told);
    assert_int_equal(session_in(is), 3);
}

/* By hand: it stands by until the one that runs is ended, and is the version that is to run then.
 */
static void a_newer_version_takes_over_by_hand(void **state)
{
    SCOPED_BUF(told);
    start_version(&second, "crm-2", "9.0.0", site.bbs.port, &site.crm, &crm_at_centre);
    wait_for_state(&second, &site.client, "stands by", &told);
    assert_int_equal(end_crm(&first, SIGTERM), 0);
    const char *is = wait_for_state(&second, &site.client, "\"session_state\":\"READY\"", &told);
    assert_int_equal(session_in(is), 4);
    assert_non_null(strstr(is, "\"version\":\"9.0.0\""));
    first = second;
}

/* The same certificate at another cluster: the centre knows the site by its identity, and the one
 * that it knows goes on. (The other cluster is the centre's own here.) */
static void another_site_is_refused(void **state)
{
    SCOPED_BUF(told);
    struct tls_files other = certs_make(&bbs_rig.certs, "other-site", "site", "crm", 3600);
    start_crm(&second, "crm-2", bbs_rig.bbs[1].port, &other, &crm_at_centre);
    wait_for_state(&second, &bbs_rig.client, "is at another site", &told);
    const char *is = wait_for_state(&first, &site.client, "\"session_state\":\"READY\"", &told);
    assert_int_equal(session_in(is), 4);
    assert_int_equal(end_crm(&second, SIGTERM), 0);
}

/* The site's certificate at the centre, and the centre's at the site, are worth nothing. */
static void neither_certificate_is_the_other(void **state)
{
    SCOPED_BUF(told);
    start_crm(&second, "crm-2", site.bbs.port, &site.crm, &site.crm);
    wait_for_state(&second, &site.client, "the centre: no feed of", &told);
    assert_int_equal(end_crm(&second, SIGTERM), 0);
    struct tls_files nobody = certs_make(&bbs_rig.certs, "nobody", "crm", "acme/nowhere", 3600);
    start_crm(&second, "crm-2", site.bbs.port, &site.crm, &nobody);
    /* One of another cloudlet follows, and is told of nothing. */
    wait_for_state(&second, &site.client, "bbs cloudlets create acme/paris", &told);
    assert_int_equal(end_crm(&second, SIGTERM), 0);
    assert_int_equal(end_crm(&first, SIGTERM), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_waits_for_its_cloudlet_and_becomes_ready),
        cmocka_unit_test(one_more_stands_by),
        cmocka_unit_test(when_it_is_killed_the_other_goes_on),
        cmocka_unit_test(when_it_is_ended_the_next_goes_on),
        cmocka_unit_test(a_newer_version_takes_over_by_hand),
        cmocka_unit_test(another_site_is_refused),
        cmocka_unit_test(neither_certificate_is_the_other),
    };
    return bbs_rig_possible("crm_link")
               ? cmocka_run_group_tests_name("crm_link", tests, setup, teardown)
               : 0;
}
