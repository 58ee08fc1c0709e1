#include "rep/driver/network_io.h"

#include "common/base/memory.h"
#include "rep/driver/cni_words.h"
#include "rep/driver/driver_parts.h"
#include "rep/driver/lease_io.h"
#include "rep/driver/network_plan.h"
#include "rep/driver/nft_words.h"
#include "rep/driver/resolver_words.h"

#include <event2/event.h>
#include <limits.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

enum { WORDS_BYTES_MAX = 1 << 20, HELPER_MS = 30000 };

/* ---- Settings ---- */

static const char *const *copy_list(struct arena *a, const char *const *list)
{
    size_t count = 0;
    while (list && list[count]) {
        count++;
    }
    const char **copy = ARENA_ARRAY(a, count + 1, const char *);
    for (size_t i = 0; i < count; i++) {
        copy[i] = arena_strdup(a, list[i]);
    }
    return copy;
}

static void read_resolvers(struct driver_network *n, const char *const *dns)
{
    SCOPED_BUF(machine);
    SCOPED_BUF(text);
    file_read("/etc", "resolv.conf", WORDS_BYTES_MAX, &machine, NULL);
    resolver_words(&n->arena, buf_string(&machine), dns, &text, &n->servers);
    n->resolv = arena_strdup(&n->arena, buf_string(&text));
    n->no_resolver = !strstr(n->resolv, "nameserver");
}

static int read_list(struct driver_network *n, const char *path, struct err *err)
{
    SCOPED_BUF(text);
    int result = file_read("", path, WORDS_BYTES_MAX, &text, err);
    n->list = result < 0 ? NULL : cni_read(buf_string(&text), err);
    return n->list ? 0 : -(int)err->code;
}

static int read_addresses(struct driver_network *n, const struct driver_network_config *config,
                          struct err *err)
{
    if (config->config) {
        return read_list(n, config->config, err);
    }
    n->subnet_text = arena_strdup(&n->arena, config->subnet ? config->subnet : NETWORK_SUBNET);
    int result = subnet_parse(n->subnet_text, &n->subnet, err);
    return result < 0 ? result : lease_dir(&n->subnet, n->leases, sizeof(n->leases), err);
}

int network_init(struct driver *d, const struct driver_network_config *config, struct err *err)
{
    enum { GROUPS = 65000 };
    struct driver_network *n = &d->network;
    struct arena *a = &n->arena;
    n->own = config->own;
    n->program =
        config->program ? arena_strdup(a, config->program) : program_beside(a, "rep-network");
    n->table = arena_printf(a, "corkboard-%08x", (unsigned)d->hash);
    n->plugins = arena_strdup(a, config->plugins ? config->plugins : NETWORK_PLUGINS);
    n->group = 1 + d->hash % GROUPS;
    if (!n->own) {
        return 0;
    }
    if (access(n->program, X_OK) < 0) {
        return err_set(err, ERR_NOT_FOUND, "cannot run %s: %s", n->program, strerror(errno));
    }
    n->hosts = copy_list(a, config->hosts);
    read_resolvers(n, config->dns);
    return read_addresses(n, config, err);
}

void network_done(struct driver_network *n)
{
    json_decref(n->list);
    arena_done(&n->arena);
}

/* ---- A container ---- */

/* Programs of any user read it in the container. */
static int write_open(const char *dir, const char *name, struct buf *text, struct err *err)
{
    char path[4300];
    int result = file_write(dir, name, buf_bytes(text), err);
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    if (result == 0 && chmod(path, 0644) < 0) {
        result = err_set(err, ERR_IO, "chmod %s: %s", path, strerror(errno));
    }
    return result;
}

static int write_names(const struct driver_network *n, const char *guid, const char *dir,
                       const char *address, struct err *err)
{
    SCOPED_BUF(resolv);
    SCOPED_BUF(hosts);
    buf_append_string(&resolv, n->resolv);
    hosts_words(n->hosts, address, guid, &hosts);
    int result = write_open(dir, NETWORK_RESOLV_FILE, &resolv, err);
    result = result < 0 ? result : write_open(dir, NETWORK_HOSTS_FILE, &hosts, err);
    if (result == 0 && address) {
        result = file_write(dir, NETWORK_ADDRESS_FILE, bytes_of(address), err);
    }
    return result;
}

static size_t mapped_ports(struct arena *a, const struct container_spec *spec,
                           const struct port_pair **ret)
{
    struct port_pair *ports = ARENA_ARRAY(a, spec->port_count, struct port_pair);
    size_t count = 0;
    for (size_t i = 0; i < spec->port_count; i++) {
        if (spec->ports[i].host_port > 0 && spec->ports[i].container_port <= UINT16_MAX) {
            ports[count++] = spec->ports[i];
        }
    }
    *ret = ports;
    return count;
}

static int write_plan(struct driver_network *n, const char *dir, struct arena *a,
                      struct network_plan *plan, const struct container_spec *spec,
                      struct err *err)
{
    SCOPED_BUF(egress);
    int result = nft_egress(spec, plan->guid, n->servers, n->group, &egress, err);
    if (result < 0) {
        return result;
    }
    plan->egress = buf_string(&egress);
    plan->port_count = mapped_ports(a, spec, &plan->ports);
    plan->list = n->list ? json_incref(n->list) : cni_list(&n->subnet, plan->address);
    result = json_write(dir, NETWORK_PLAN_FILE, network_plan_pack(plan), err);
    json_decref(plan->list);
    return result;
}

int network_prepare(struct driver *d, const char *guid, const char *dir,
                    const struct container_spec *spec, char ret_address[ADDRESS_TEXT_BYTES],
                    struct err *err)
{
    SCOPED_ARENA(a);
    struct driver_network *n = &d->network;
    struct network_plan plan = {
        .table = n->table,
        .guid = guid,
        .id = network_id(&a, n->table, guid),
        .path = n->plugins,
    };
    ret_address[0] = '\0';
    if (!n->list) {
        int result =
            lease_take(n->leases, &n->subnet, &n->cursor, plan.id, ret_address, err);
        if (result < 0) {
            return result;
        }
        plan.address = ret_address;
        plan.lease = arena_printf(&a, "%s/%s", n->leases, ret_address);
    }
    int result = write_plan(n, dir, &a, &plan, spec, err);
    if (result < 0 && plan.lease) {
        lease_give(plan.lease, plan.id); /* without a plan nobody would */
    }
    return result < 0 ? result : write_names(n, guid, dir, plan.address, err);
}

void network_keep(struct driver *d, const char *guid)
{
    SCOPED_ARENA(a);
    SCOPED_BUF(address);
    struct driver_network *n = &d->network;
    const char *dir = arena_printf(&a, "%s/%s", d->containers_dir, guid);
    if (n->own && !n->list &&
        file_read(dir, NETWORK_ADDRESS_FILE, ADDRESS_TEXT_BYTES - 1, &address, NULL) == 0) {
        lease_keep(arena_printf(&a, "%s/%s", n->leases, buf_string(&address)),
                   network_id(&a, n->table, guid));
    }
}

/* ---- A container that joins another one ---- */

static int copy_open(const char *from, const char *name, const char *more, const char *dir,
                     struct err *err)
{
    SCOPED_BUF(text);
    int result = file_read(from, name, WORDS_BYTES_MAX, &text, err);
    buf_append_string(&text, more);
    return result < 0 ? result : write_open(dir, name, &text, err);
}

int network_join(struct driver *d, const char *guid, const char *dir, const char *join,
                 char ret_address[ADDRESS_TEXT_BYTES], struct err *err)
{
    SCOPED_ARENA(a);
    SCOPED_BUF(address);
    const char *from = arena_printf(&a, "%s/%s", d->containers_dir, join);
    if (!guid_valid(join) || access(from, F_OK) < 0 ||
        file_read(from, NETWORK_ADDRESS_FILE, ADDRESS_TEXT_BYTES - 1, &address, NULL) < 0) {
        return err_set(err, ERR_NOT_FOUND,
                       "container %.64s, whose network it is to join, is not there", join);
    }
    snprintf(ret_address, ADDRESS_TEXT_BYTES, "%s", buf_string(&address));
    const char *own = arena_printf(&a, "%s %s\n", ret_address, guid);
    int result = file_write(dir, NETWORK_JOIN_FILE, bytes_of(join), err);
    result = result < 0 ? result : copy_open(from, NETWORK_RESOLV_FILE, "", dir, err);
    result = result < 0 ? result : copy_open(from, NETWORK_HOSTS_FILE, own, dir, err);
    return result < 0 ? result
                      : file_write(dir, NETWORK_ADDRESS_FILE, bytes_of(ret_address), err);
}

char *network_join_read(const char *dir)
{
    SCOPED_BUF(text);
    bool joined = file_read(dir, NETWORK_JOIN_FILE, 64, &text, NULL) == 0;
    return joined ? mem_text(buf_string(&text)) : NULL;
}

int network_joined(struct driver *d, const char *dir, char **ret_space, struct err *err)
{
    struct statfs fs;
    char *join = network_join_read(dir);
    int result = 0;
    *ret_space = NULL;
    if (!join) {
        return 0;
    }
    char *space = mem_printf("%s/%s/" NETWORK_NAMESPACE_FILE, d->containers_dir, join);
    if (statfs(space, &fs) < 0 || fs.f_type != NSFS_MAGIC) {
        result = err_set(err, ERR_NOT_FOUND,
                         "the network of container %s is not there any more", join);
        free(space);
    } else {
        *ret_space = space;
    }
    free(join);
    return result;
}

/* ---- The program ---- */

static void helper_command(struct driver *d, struct command *c, const char *verb)
{
    command_init(c);
    command_add(c, "%s", d->network.program);
    command_add(c, "%s", verb);
}

/* Waits for it. */
static int helper_run(struct driver *d, struct command *c, struct err *err)
{
    SCOPED_BUF(said);
    struct job_plan plan = {.dir = d->state_dir, .argv = c->argv.list};
    int result = job_run(&plan, HELPER_MS, &said, err);
    if (result > 0) {
        const char *text = buf_string(&said);
        result = err_set(err, ERR_UNAVAILABLE, "%.*s", (int)strcspn(text, "\n"), text);
    }
    return result;
}

static void add_cell(struct driver *d, struct command *c)
{
    command_add(c, "%s", d->network.table);
    command_add(c, "%s", d->containers_dir);
    if (d->network.subnet_text) {
        command_add(c, "%s", d->network.subnet_text);
    }
}

/* Tells that the cell has a table, also when it has no network of its own any more. */
#define MARK_FILE "network"

int network_begin(struct driver *d, struct err *err)
{
    struct command c;
    if (!d->network.own) {
        return 0;
    }
    int result = file_write(d->state_dir, MARK_FILE, bytes_of(d->network.table), err);
    helper_command(d, &c, "sweep");
    add_cell(d, &c);
    result = result < 0 ? result : helper_run(d, &c, err);
    command_done(&c);
    network_sweep_soon(d);
    return result;
}

static void on_swept(struct driver_job *j, enum job_event event)
{
    if (event == JOB_ENDED) {
        network_sweep_soon(job_owner(j));
    }
}

static void sweep(evutil_socket_t fd, short what, void *driver)
{
    struct driver *d = driver;
    struct command c;
    struct timespec now;
    (void)fd;
    (void)what;
    clock_gettime(CLOCK_MONOTONIC, &now);
    helper_command(d, &c, "sweep");
    add_cell(d, &c);
    struct job_plan plan = {
        .dir = d->state_dir,
        .argv = c.argv.list,
        .deadline_ns = now.tv_sec * SECOND_NS + now.tv_nsec + HELPER_MS * MILLISECOND_NS,
        .on_event = on_swept,
        .owner = d,
    };
    if (jobs_add(d->jobs, &plan, NULL) < 0) {
        network_sweep_soon(d);
    }
    command_done(&c);
}

void network_sweep_soon(struct driver *d)
{
    const struct timeval pause = {.tv_sec = NETWORK_SWEEP_MS / 1000};
    if (!d->sweep) {
        d->sweep = event_new(d->loop, -1, 0, sweep, d);
    }
    event_add(d->sweep, &pause);
}

int network_drop(struct driver *d, struct err *err)
{
    struct command c;
    char *mark = mem_printf("%s/" MARK_FILE, d->state_dir);
    int result = 0;
    if (access(mark, F_OK) == 0) {
        helper_command(d, &c, "drop");
        command_add(&c, "%s", d->network.table);
        result = helper_run(d, &c, err);
        command_done(&c);
        if (result == 0) {
            unlink(mark);
        }
    }
    free(mark);
    return result;
}

/* ---- The probe ---- */

static int try_it(struct driver *d, const char *dir, struct err *err)
{
    static const struct port_pair ports[] = {{8080, 61000}};
    static const char *const everywhere[] = {"0.0.0.0/0"};
    static const struct egress_rule all = {
        .protocol = "all", .destinations = everywhere, .destination_count = 1, .log = true};
    const struct container_spec spec = {
        .ports = ports, .port_count = 1, .egress = &all, .egress_count = 1};
    char address[ADDRESS_TEXT_BYTES];
    struct command c;
    int result = network_prepare(d, "probe", dir, &spec, address, err);
    if (result < 0) {
        return result;
    }
    helper_command(d, &c, "probe");
    command_add(&c, "%s", dir);
    if (d->network.subnet_text) {
        command_add(&c, "%s", d->network.subnet_text);
    }
    result = helper_run(d, &c, err);
    command_done(&c);
    return result;
}

static void clear_dir(const char *dir)
{
    static const char *const names[] = {NETWORK_PLAN_FILE,      NETWORK_ADDRESS_FILE,
                                        NETWORK_RESULT_FILE,    NETWORK_NAMESPACE_FILE,
                                        NETWORK_HOSTS_FILE,     NETWORK_RESOLV_FILE};
    char path[4300];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
        unlink(path);
    }
    rmdir(dir);
}

int network_probe(const struct driver_network_config *config, const char *state_dir,
                  struct err *err)
{
    struct driver d = {.state_dir = (char *)(uintptr_t)state_dir};
    char *dir = mem_printf("%s/network-probe", state_dir);
    struct driver_network_config own = *config;
    own.own = true;
    int result = geteuid() == 0 ? network_init(&d, &own, err)
                                : err_set(err, ERR_UNAVAILABLE, "only root can make networks");
    result = result < 0 ? result : dir_make(dir, err);
    if (result == 0) {
        result = try_it(&d, dir, err);
        clear_dir(dir);
    }
    network_done(&d.network);
    free(dir);
    return result;
}
