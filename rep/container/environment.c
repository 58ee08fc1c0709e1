#include "rep/container/environment.h"

#include "common/base/map.h"

#include <assert.h>
#include <string.h>

/* An environment in the making: a name set again keeps its place and takes the new value. */
struct environment {
    struct arena *arena;
    struct map places; /* name -> struct name_value in list */
    struct name_value *list;
    size_t count;
};

static void environment_set(struct environment *e, const char *name, const char *value)
{
    struct name_value *place = map_get(&e->places, name);
    if (!place) {
        place = &e->list[e->count++];
        place->name = name;
        map_put(&e->places, name, place);
    }
    place->value = value;
}

static void environment_add(struct environment *e, struct variable_list v)
{
    for (size_t i = 0; i < v.count; i++) {
        environment_set(e, v.list[i]->name, v.list[i]->value);
    }
}

static void environment_image(struct environment *e, char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t name = strcspn(words[i], "=");
        if (name > 0 && words[i][name] == '=') {
            environment_set(e, arena_strndup(e->arena, words[i], name), words[i] + name + 1);
        }
    }
}

static void environment_instance(struct environment *e, const Rep__Note *about)
{
    const char *index = arena_printf(e->arena, "%d", (int)about->key->index);
    environment_set(e, "INSTANCE_GUID", about->instance_guid);
    environment_set(e, "INSTANCE_INDEX", index);
    environment_set(e, "CF_INSTANCE_GUID", about->instance_guid);
    environment_set(e, "CF_INSTANCE_INDEX", index);
}

static void environment_unit(struct environment *e, const Rep__Note *about)
{
    const Rep__UnitOf *u = about->unit;
    environment_set(e, "CORKBOARD_UNIT",
                    arena_printf(e->arena, "%s/%u", u->service, (unsigned)u->number));
    environment_set(e, "CORKBOARD_SERVICE", u->service);
    environment_set(e, "CORKBOARD_PRINCIPAL", u->principal);
}

/* With a network of its own an app listens where it said it would; the ports of a network that it
 * joined are not for it to listen at. */
static void environment_own_port(struct environment *e, const Rep__Note *about)
{
    if (about->own_network && about->n_ports > 0 && !about->joined[0]) {
        environment_set(e, "PORT", arena_printf(e->arena, "%u", about->ports[0]->container_port));
    }
}

static void environment_ports(struct environment *e, const Rep__Note *about)
{
    if (about->own_network || about->joined[0]) {
        return;
    }
    for (size_t i = 0; i < about->n_ports; i++) {
        const char *host = arena_printf(e->arena, "%u", about->ports[i]->host_port);
        if (i == 0) {
            environment_set(e, "PORT", host);
        }
        environment_set(e, arena_printf(e->arena, "PORT_%u", about->ports[i]->container_port),
                        host);
    }
}

/* A JSON list of objects of numbers, as Diego's executor writes it: what is 0 is left out, but for
 * the container's own port. */
static const char *ports_text(struct arena *a, const Rep__Note *about)
{
    SCOPED_BUF(b);
    buf_append_string(&b, "[");
    for (size_t i = 0; i < about->n_ports; i++) {
        const Models__PortMapping *p = about->ports[i];
        buf_append_string(&b, i ? ",{" : "{");
        if (p->host_port) {
            buf_printf(&b, "\"external\":%u,", p->host_port);
        }
        buf_printf(&b, "\"internal\":%u", p->container_port);
        if (p->host_tls_proxy_port) {
            buf_printf(&b, ",\"external_tls_proxy\":%u", p->host_tls_proxy_port);
        }
        if (p->container_tls_proxy_port) {
            buf_printf(&b, ",\"internal_tls_proxy\":%u", p->container_tls_proxy_port);
        }
        buf_append_string(&b, "}");
    }
    buf_append_string(&b, "]");
    return arena_strdup(a, buf_string(&b));
}

/* Where it can be reached. A mapping without host port, and a container without mappings, has ""
 * for both words. */
static void environment_network(struct environment *e, const Rep__Note *about, const char *address)
{
    uint32_t port = about->n_ports > 0 ? about->ports[0]->host_port : 0;
    bool six = strchr(address, ':') != NULL;
    environment_set(e, "CF_INSTANCE_IP", address);
    environment_set(e, ADDRESS_VARIABLE, about->own_network ? "" : address);
    environment_set(e, "CF_INSTANCE_PORT", port ? arena_printf(e->arena, "%u", port) : "");
    environment_set(e, "CF_INSTANCE_ADDR",
                    port ? arena_printf(e->arena, six ? "[%s]:%u" : "%s:%u", address, port) : "");
    environment_set(e, "CF_INSTANCE_PORTS", ports_text(e->arena, about));
}

/* The numbers are those of the header. */
size_t environment_make(struct arena *a, const struct environment_facts *facts,
                        const struct name_value **ret_list)
{
    enum { OF_INSTANCE = 4, OF_UNIT = 3, OF_PORT = 1, OF_NETWORK = 5 };
    const Rep__Note *about = facts->about;
    struct environment e = {.arena = a};
    size_t room = facts->image_count + OF_INSTANCE + OF_UNIT + OF_PORT + facts->definition.count +
                  about->n_ports + facts->step.count + OF_NETWORK;
    map_init(&e.places);
    e.list = ARENA_ARRAY(a, room, struct name_value);
    environment_image(&e, facts->image, facts->image_count); /* 1 */
    if (about->key) {
        environment_instance(&e, about); /* 2 */
    }
    if (about->unit) {
        environment_unit(&e, about); /* 2 */
    }
    environment_own_port(&e, about);                /* 3 */
    environment_add(&e, facts->definition);         /* 4 */
    environment_ports(&e, about);                   /* 5 */
    environment_add(&e, facts->step);               /* 6 */
    environment_network(&e, about, facts->address); /* 7 */
    map_done(&e.places, NULL);
    assert(e.count <= room);
    *ret_list = e.list;
    return e.count;
}
