#include "rep/driver/cni_words.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>
#include <string.h>

#define CNI_VERSION "0.4.0"

json_t *cni_list(const struct subnet *s, const char *address)
{
    char block[ADDRESS_TEXT_BYTES + 4], gateway[ADDRESS_TEXT_BYTES];
    snprintf(block, sizeof(block), "%s/%d", address, s->prefix);
    assert(s->prefix > 0 && s->prefix <= 32 && address[0]);
    subnet_text(subnet_gateway(s), gateway);
    return json_pack("{s:s, s:s, s:[{s:s, s:{s:s, s:[{s:s, s:s}], s:[{s:s}]}}]}",
                     "cniVersion", CNI_VERSION, "name", "corkboard", "plugins",
                     "type", "ptp",
                     "ipam", "type", "static",
                     "addresses", "address", block, "gateway", gateway,
                     "routes", "dst", "0.0.0.0/0");
}

/* A file of one plugin alone is a list of one. */
static json_t *as_list(json_t *read)
{
    if (json_object_get(read, "plugins")) {
        return read;
    }
    json_t *version = json_object_get(read, "cniVersion"), *name = json_object_get(read, "name");
    json_t *list = json_pack("{s:O?, s:O?, s:[O]}", "cniVersion", version, "name", name,
                             "plugins", read);
    json_decref(read);
    return list;
}

static const char *check(const json_t *list)
{
    size_t count = cni_count(list);
    const char *name = json_string_value(json_object_get(list, "name"));
    if (!name || !name[0]) {
        return "it has no name";
    }
    if (count == 0 || count > CNI_PLUGINS_MAX) {
        return "it has no plugins, or too many";
    }
    for (size_t i = 0; i < count; i++) {
        if (!cni_program(list, i)[0]) {
            return "a plugin of it has no type";
        }
    }
    return NULL;
}

json_t *cni_read(const char *text, struct err *err)
{
    json_error_t error;
    json_t *read = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!read || !json_is_object(read)) {
        err_set(err, ERR_INVALID, "not JSON of a network: %s", read ? "no object" : error.text);
        json_decref(read);
        return NULL;
    }
    json_t *list = as_list(read);
    const char *why = list ? check(list) : "it is not complete";
    if (why) {
        err_set(err, ERR_INVALID, "no list of network plugins: %s", why);
        json_decref(list);
        return NULL;
    }
    return list;
}

size_t cni_count(const json_t *list)
{
    return json_array_size(json_object_get(list, "plugins"));
}

static json_t *plugin_of(const json_t *list, size_t plugin)
{
    return json_array_get(json_object_get(list, "plugins"), plugin);
}

const char *cni_program(const json_t *list, size_t plugin)
{
    const char *type = json_string_value(json_object_get(plugin_of(list, plugin), "type"));
    return type && type[0] != '.' && !strchr(type, '/') ? type : "";
}

static bool maps_ports(const json_t *plugin)
{
    return json_is_true(json_object_get(json_object_get(plugin, "capabilities"), "portMappings"));
}

bool cni_maps_ports(const json_t *list)
{
    for (size_t i = 0; i < cni_count(list); i++) {
        if (maps_ports(plugin_of(list, i))) {
            return true;
        }
    }
    return false;
}

static json_t *mappings(const struct port_pair *ports, size_t count)
{
    json_t *all = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(all, json_pack("{s:i, s:i, s:s}",
                                             "hostPort", (int)ports[i].host_port,
                                             "containerPort", (int)ports[i].container_port,
                                             "protocol", "tcp"));
    }
    return all;
}

json_t *cni_input(const json_t *list, size_t plugin, json_t *before, const struct port_pair *ports,
                  size_t port_count)
{
    json_t *part = plugin_of(list, plugin), *input = json_copy(part);
    json_t *version = json_object_get(list, "cniVersion");
    assert(plugin < cni_count(list));
    json_object_set(input, "name", json_object_get(list, "name"));
    json_object_set_new(input, "cniVersion",
                        version ? json_incref(version) : json_string(CNI_VERSION));
    json_object_del(input, "capabilities");
    if (maps_ports(part)) {
        json_object_set_new(input, "runtimeConfig",
                            json_pack("{s:o}", "portMappings", mappings(ports, port_count)));
    }
    if (before) {
        json_object_set(input, "prevResult", before);
    }
    return input;
}

bool cni_address(const json_t *result, char out[ADDRESS_TEXT_BYTES])
{
    size_t i;
    json_t *ip;
    json_array_foreach(json_object_get(result, "ips"), i, ip) {
        const char *text = json_string_value(json_object_get(ip, "address"));
        struct in_addr a;
        size_t size = text ? strcspn(text, "/") : 0;
        if (size > 0 && size < ADDRESS_TEXT_BYTES) {
            snprintf(out, ADDRESS_TEXT_BYTES, "%.*s", (int)size, text);
            if (inet_pton(AF_INET, out, &a) == 1) {
                return true;
            }
        }
    }
    return false;
}

const char *cni_host_interface(const json_t *result, size_t n)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(result, "interfaces"), i, one) {
        const char *name = json_string_value(json_object_get(one, "name"));
        const char *sandbox = json_string_value(json_object_get(one, "sandbox"));
        if (name && !strchr(name, '/') && !(sandbox && sandbox[0]) && n-- == 0) {
            return name;
        }
    }
    return NULL;
}

void cni_failure(const char *said, char *out, size_t size)
{
    json_t *all = json_loads(said, 0, NULL);
    const char *message = json_string_value(json_object_get(all, "msg"));
    const char *details = json_string_value(json_object_get(all, "details"));
    snprintf(out, size, "%s%s%s", message ? message : said[0] ? said : "it said nothing",
             details && details[0] ? ": " : "", details ? details : "");
    json_decref(all);
    for (char *at = out; (at = strpbrk(at, "\n\r\t"));) {
        *at = ' ';
    }
}
