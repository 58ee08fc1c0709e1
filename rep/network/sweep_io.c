/* What of a cell is there for nobody: elements and chains of its table, leases and interfaces of
 * containers that have no directory. The directory is looked for after the thing was seen, and goes
 * last when a container is removed: what has none is nobody's. */
#include "rep/driver/lease_io.h"
#include "rep/driver/nft_words.h"
#include "rep/network/network.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct stray_search {
    const struct network_cell *cell;
    bool mend;
    void (*tell)(const char *line);
    struct arena arena;
    const char *prefix; /* of ids */
    struct err *err;
    int result;
};

static void say(struct stray_search *s, const char *what, const char *name)
{
    s->tell(arena_printf(&s->arena, "%s %s", what, name));
}

static bool lives(void *sweep, const char *guid)
{
    struct stray_search *s = sweep;
    const char *dir = arena_printf(&s->arena, "%s/%s", s->cell->containers, guid);
    return access(dir, F_OK) == 0 || errno != ENOENT;
}

/* ---- The table ---- */

/* The list of objects that the filter gives, as JSON; a new reference, NULL: there are none. */
static json_t *list_of(const char *words)
{
    SCOPED_BUF(out);
    return filter_run(words, &out, NULL) < 0 ? NULL : json_loads(buf_string(&out), 0, NULL);
}

/* The elements of a map: [[key, value], ...]; borrowed from `all`. */
static const json_t *elements_of(const json_t *all)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(all, "nftables"), i, one) {
        json_t *map = json_object_get(one, "map");
        if (map) {
            return json_object_get(map, "elem");
        }
    }
    return NULL;
}

/* The ports that lead to this address, in the sweep's arena. */
static void ports_of(struct stray_search *s, const json_t *ports, struct nft_container *c)
{
    size_t i;
    json_t *one;
    struct port_pair *list =
        ARENA_ARRAY(&s->arena, json_array_size(elements_of(ports)), struct port_pair);
    c->ports = list;
    json_array_foreach(elements_of(ports), i, one) {
        json_t *to = json_object_get(json_array_get(one, 1), "concat");
        const char *address = json_string_value(json_array_get(to, 0));
        if (c->address && address && strcmp(address, c->address) == 0) {
            list[c->port_count++] = (struct port_pair){
                (uint32_t)json_integer_value(json_array_get(to, 1)),
                (uint32_t)json_integer_value(json_array_get(one, 0)),
            };
        }
    }
}

static const char *address_of(const json_t *egress, const char *chain)
{
    size_t i;
    json_t *one;
    json_array_foreach(elements_of(egress), i, one) {
        json_t *to = json_object_get(json_object_get(json_array_get(one, 1), "goto"), "target");
        if (to && strcmp(json_string_value(to), chain) == 0) {
            return json_string_value(json_array_get(one, 0));
        }
    }
    return NULL;
}

static void take_out(struct stray_search *s, const char *chain, const json_t *egress,
                     const json_t *ports)
{
    SCOPED_BUF(words);
    struct nft_container c = {
        .table = s->cell->table,
        .guid = chain + 2,
        .address = address_of(egress, chain),
    };
    ports_of(s, ports, &c);
    say(s, "chain", chain);
    if (c.address) {
        say(s, "element", c.address);
    }
    if (s->mend) {
        nft_detach(&c, &words);
        int rc = filter_run(buf_string(&words), NULL, s->err);
        s->result = s->result < 0 ? s->result : rc;
    }
}

static void sweep_table(struct stray_search *s)
{
    const char *table = s->cell->table;
    size_t i;
    json_t *one;
    json_t *chains = list_of("list chains inet");
    json_t *egress = list_of(arena_printf(&s->arena, "list map inet %s egress", table));
    json_t *ports = list_of(arena_printf(&s->arena, "list map inet %s ports", table));
    json_array_foreach(json_object_get(chains, "nftables"), i, one) {
        json_t *chain = json_object_get(one, "chain");
        const char *name = json_string_value(json_object_get(chain, "name"));
        const char *of = json_string_value(json_object_get(chain, "table"));
        if (name && of && strcmp(of, table) == 0 && strncmp(name, "i-", 2) == 0 &&
            !lives(s, name + 2)) {
            take_out(s, name, egress, ports);
        }
    }
    json_decref(chains);
    json_decref(egress);
    json_decref(ports);
}

/* ---- Interfaces ---- */

/* Its other end goes with it. */
static void judge_interface(void *search, const char *name, const char *alias)
{
    struct stray_search *s = search;
    size_t size = strlen(s->prefix);
    if (strncmp(alias, s->prefix, size) != 0 || lives(s, alias + size)) {
        return;
    }
    say(s, "interface", name);
    if (s->mend && link_delete(name) < 0) {
        s->result = err_set(s->err, ERR_IO, "cannot delete the interface %s: %s", name,
                            strerror(errno));
    }
}

/* ---- Leases ---- */

static bool told_only(void *sweep, const char *guid)
{
    struct stray_search *s = sweep;
    bool alive = lives(s, guid);
    if (!alive) {
        say(s, "address of", guid);
    }
    return alive || !s->mend;
}

static void sweep_leases(struct stray_search *s)
{
    char dir[256];
    struct subnet net;
    if (s->cell->subnet && subnet_parse(s->cell->subnet, &net, NULL) == 0 &&
        lease_dir(&net, dir, sizeof(dir), NULL) == 0) {
        lease_sweep(dir, s->prefix, told_only, s);
    }
}

int network_sweep(const struct network_cell *cell, bool mend, void (*tell)(const char *line),
                  struct err *err)
{
    struct stray_search s = {.cell = cell, .mend = mend, .tell = tell, .err = err};
    SCOPED_BUF(words);
    s.prefix = network_id(&s.arena, cell->table, "");
    if (mend) {
        nft_base(cell->table, cell->subnet, &words);
        s.result = filter_run(buf_string(&words), NULL, err);
    }
    if (s.result == 0) {
        sweep_table(&s);
        link_each(judge_interface, &s);
        sweep_leases(&s);
    }
    arena_done(&s.arena);
    return s.result;
}
