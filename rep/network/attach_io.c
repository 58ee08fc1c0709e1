/* attach and detach: namespace, interface, ports and rules of one container, in an order in which
 * nothing runs before its rules are in force, and no address is given back while it is in use. */
#include "rep/driver/cni_words.h"
#include "rep/driver/lease_io.h"
#include "rep/driver/nft_words.h"
#include "rep/network/network.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Bound to a name, it outlives its processes until its interface has been taken out of it. */
static int pin(const char *dir, long pid, char *space, size_t size, struct err *err)
{
    char from[64];
    snprintf(from, sizeof(from), "/proc/%ld/ns/net", pid);
    snprintf(space, size, "%s/" NETWORK_NAMESPACE_FILE, dir);
    int fd = open(space, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0) {
        close(fd);
    }
    if (fd < 0 || mount(from, space, NULL, MS_BIND, NULL) < 0) {
        return err_set(err, ERR_IO, "cannot bind %s to %s: %s", from, space, strerror(errno));
    }
    return 0;
}

static void put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        /* What it is for then does not work, and is asked for by nobody else. */
        (void)!write(fd, text, strlen(text));
        close(fd);
    }
}

/* On the machine's side: whose it is, for the sweep, and that it is a container's, for the filter;
 * and a program of the machine that calls a host port at 127.0.0.1 is answered through it. */
static int mark_interfaces(const struct network_plan *plan, const json_t *result, struct err *err)
{
    SCOPED_ARENA(a);
    const char *name;
    for (size_t i = 0; (name = cni_host_interface(result, i)); i++) {
        if (strncmp(name, "veth", 4) == 0 && link_mark(name, plan->id, NFT_LINK_GROUP) < 0) {
            return err_set(err, ERR_IO, "cannot mark the interface %s: %s", name, strerror(errno));
        }
        put(arena_printf(&a, "/proc/sys/net/ipv4/conf/%s/route_localnet", name), "1");
    }
    return 0;
}

static int keep_result(const char *dir, const json_t *result, struct err *err)
{
    char *text = json_dumps(result, JSON_COMPACT);
    int rc = text ? plan_write(dir, NETWORK_RESULT_FILE, text, false, err)
                  : err_set(err, ERR_IO, "the plugins' answer is not UTF-8");
    free(text);
    return rc;
}

/* An address that a plugin has chosen is only known now. */
static int learn_address(const char *dir, const struct network_plan *plan, const json_t *result,
                         char address[ADDRESS_TEXT_BYTES], struct err *err)
{
    SCOPED_ARENA(a);
    if (!cni_address(result, address)) {
        return err_set(err, ERR_UNAVAILABLE, "the network's plugins gave no IPv4 address");
    }
    if (plan->address) {
        return 0;
    }
    const char *line = arena_printf(&a, "%s %s\n", address, plan->guid);
    int rc = plan_write(dir, NETWORK_HOSTS_FILE, line, true, err);
    return rc < 0 ? rc : plan_write(dir, NETWORK_ADDRESS_FILE, address, false, err);
}

static struct nft_container filtered(const struct network_plan *plan, const char *address)
{
    bool elsewhere = cni_maps_ports(plan->list);
    return (struct nft_container){
        .table = plan->table,
        .guid = plan->guid,
        .address = address,
        .ports = plan->ports,
        .port_count = elsewhere ? 0 : plan->port_count,
        .egress = plan->egress,
    };
}

static int attach(const char *dir, long pid, const struct network_plan *plan, struct err *err)
{
    char space[4096], address[ADDRESS_TEXT_BYTES];
    SCOPED_BUF(words);
    int rc = pin(dir, pid, space, sizeof(space), err);
    json_t *result = rc < 0 ? NULL : plugins_add(plan, space, err);
    if (!result) {
        return -(int)err->code;
    }
    rc = keep_result(dir, result, err);
    rc = rc < 0 ? rc : mark_interfaces(plan, result, err);
    rc = rc < 0 ? rc : learn_address(dir, plan, result, address, err);
    json_decref(result);
    if (rc == 0) {
        struct nft_container c = filtered(plan, address);
        nft_attach(&c, &words);
        rc = filter_run(buf_string(&words), NULL, err);
    }
    return rc;
}

int network_attach(const char *dir, long pid, struct err *err)
{
    SCOPED_ARENA(a);
    struct network_plan plan;
    json_t *read;
    int rc = plan_load(&a, dir, &plan, &read, err);
    if (rc == 0) {
        rc = attach(dir, pid, &plan, err);
        json_decref(read);
    }
    return rc;
}

/* Whether the namespace is still bound there: after a restart of the machine it is a plain file. */
static bool is_bound(const char *space)
{
    struct statfs fs;
    return statfs(space, &fs) == 0 && fs.f_type == NSFS_MAGIC;
}

static int unpin(const char *space, struct err *err)
{
    while (is_bound(space)) {
        if (umount2(space, MNT_DETACH | UMOUNT_NOFOLLOW) < 0) {
            return err_set(err, ERR_IO, "cannot unmount %s: %s", space, strerror(errno));
        }
    }
    return 0;
}

static int unfilter(const struct network_plan *plan, const char *address, struct err *err)
{
    SCOPED_BUF(words);
    struct nft_container c = filtered(plan, address);
    nft_detach(&c, &words);
    return filter_run(buf_string(&words), NULL, err);
}

/* Where the plugins never came to an end of adding they may fail to delete as well, for the same
 * reason, and that holds nothing up. */
static int remove_interface(const struct network_plan *plan, const char *dir, const char *space,
                            struct err *err)
{
    struct err why;
    json_t *result = plan_json(dir, NETWORK_RESULT_FILE);
    int rc = plugins_delete(plan, is_bound(space) ? space : "", result, &why);
    bool added = result != NULL;
    json_decref(result);
    return rc < 0 && added ? err_set(err, why.code, "%s", why.text) : 0;
}

/* What was never attached has a lease, and nothing else. */
static int detach(struct arena *a, const char *dir, const struct network_plan *plan,
                  struct err *err)
{
    const char *space = arena_printf(a, "%s/" NETWORK_NAMESPACE_FILE, dir);
    const char *address = plan_text(a, dir, NETWORK_ADDRESS_FILE);
    int rc = 0;
    if (access(space, F_OK) == 0) {
        rc = unfilter(plan, address, err);
        rc = rc < 0 ? rc : remove_interface(plan, dir, space, err);
        rc = rc < 0 ? rc : unpin(space, err);
    }
    if (rc == 0 && plan->lease && !lease_give(plan->lease, plan->id)) {
        rc = err_set(err, ERR_IO, "cannot delete %s: %s", plan->lease, strerror(errno));
    }
    return rc;
}

int network_detach(const char *dir, struct err *err)
{
    SCOPED_ARENA(a);
    struct network_plan plan;
    json_t *read;
    int rc = plan_load(&a, dir, &plan, &read, err);
    if (rc < 0) {
        return rc == -(int)ERR_NOT_FOUND ? 0 : rc;
    }
    rc = detach(&a, dir, &plan, err);
    json_decref(read);
    return rc;
}
