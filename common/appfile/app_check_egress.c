/* Egress rules, which bbs/lrp/validate_egress.c refuses in Diego's words. */
#include "common/appfile/app_checks.h"

#include "common/model/egress_destination.h"

#include <assert.h>
#include <string.h>

enum { PORT_MAX = 65535, ICMP_MAX = 255 };

#define PORTS_RULE "must be from 1 to 65535"

/* What is wrong with the member `name` of the rule at `path`. */
static int wrong(const struct app_source *s, const struct node *from, const char *path,
                 const char *name, const char *what)
{
    const char *at = arena_printf(s->arena, "%s.%s", path, name);
    return app_mistake(s, node_at(from, at), at, what);
}

/* One text may hold several. */
static int check_destination(const struct app_source *s, const struct node *from, const char *path,
                             const char *name, const char *text)
{
    for (;; text++) {
        size_t size = strcspn(text, EGRESS_DESTINATION_DIVIDE);
        if (egress_destination_of(text, size) != EGRESS_DESTINATION_GOOD) {
            return wrong(s, from, path, name,
                         arena_printf(s->arena,
                                      "\"%.*s\" must be an address, a block like 10.0.0.0/8 or a "
                                      "range like 10.0.0.1-10.0.0.9",
                                      size > 64 ? 64 : (int)size, text));
        }
        text += size;
        if (!*text) {
            return 0;
        }
    }
}

static int check_destinations(const struct app_source *s, const struct node *from,
                              const char *path, const Models__SecurityGroupRule *rule)
{
    if (rule->n_destinations == 0) {
        return app_mistake(s, node_at(from, path), path,
                           "destinations are missing: what may be reached, as in [10.0.0.0/8]");
    }
    for (size_t i = 0; i < rule->n_destinations; i++) {
        const char *name = arena_printf(s->arena, "destinations[%zu]", i);
        int r = check_destination(s, from, path, name, rule->destinations[i]);
        if (r < 0) {
            return r;
        }
    }
    return 0;
}

static bool good_port(uint32_t port)
{
    return port >= 1 && port <= PORT_MAX;
}

static int check_ports(const struct app_source *s, const struct node *from, const char *path,
                       const Models__SecurityGroupRule *rule)
{
    const Models__PortRange *range = rule->port_range;
    if (!range && rule->n_ports == 0) {
        return app_mistake(s, node_at(from, path), path,
                           "ports are missing: ports: [443], or port_range: {start: 1, end: 9}");
    }
    if (range && rule->n_ports > 0) {
        return wrong(s, from, path, "port_range", "ports say it already; leave one out");
    }
    for (size_t i = 0; i < rule->n_ports; i++) {
        if (!good_port(rule->ports[i])) {
            return wrong(s, from, path, arena_printf(s->arena, "ports[%zu]", i), PORTS_RULE);
        }
    }
    if (range && !(good_port(range->start) && good_port(range->end))) {
        return wrong(s, from, path,
                     good_port(range->start) ? "port_range.end" : "port_range.start", PORTS_RULE);
    }
    return !range || range->start <= range->end
               ? 0
               : wrong(s, from, path, "port_range", "its end is before its start");
}

static int check_no_ports(const struct app_source *s, const struct node *from, const char *path,
                          const Models__SecurityGroupRule *rule)
{
    if (!rule->port_range && rule->n_ports == 0) {
        return 0;
    }
    return wrong(s, from, path, rule->port_range ? "port_range" : "ports",
                 arena_printf(s->arena, "goes with tcp and udp, not with %s", rule->protocol));
}

/* A cell takes what is negative as any, and lets nothing through by what no packet can have. */
static int check_icmp(const struct app_source *s, const struct node *from, const char *path,
                      const Models__SecurityGroupRule *rule)
{
    bool icmp = strcmp(rule->protocol, "icmp") == 0;
    const Models__ICMPInfo *info = rule->icmp_info;
    if (!icmp) {
        return info ? wrong(s, from, path, "icmp_info", "goes with icmp alone") : 0;
    }
    if (!info) {
        return app_mistake(s, node_at(from, path), path,
                           "icmp_info is missing: {type: 8, code: 0}; -1 is any");
    }
    if (info->type <= ICMP_MAX && info->code <= ICMP_MAX) {
        return 0;
    }
    return wrong(s, from, path, info->type > ICMP_MAX ? "icmp_info.type" : "icmp_info.code",
                 "must be from 0 to 255, or -1 for any");
}

static int check_rule(const struct app_source *s, const struct node *from, const char *path,
                      const Models__SecurityGroupRule *rule)
{
    const char *protocol = rule->protocol;
    bool ports = strcmp(protocol, "tcp") == 0 || strcmp(protocol, "udp") == 0;
    if (!ports && strcmp(protocol, "icmp") != 0 && strcmp(protocol, "all") != 0) {
        return *protocol ? wrong(s, from, path, "protocol", "must be tcp, udp, icmp or all")
                         : app_mistake(s, node_at(from, path), path,
                                       "protocol is missing: tcp, udp, icmp or all");
    }
    int r = ports ? check_ports(s, from, path, rule) : check_no_ports(s, from, path, rule);
    r = r < 0 ? r : check_icmp(s, from, path, rule);
    return r < 0 ? r : check_destinations(s, from, path, rule);
}

int app_check_egress(const struct app_source *s, const struct node *from,
                     Models__SecurityGroupRule *const *rules, size_t count)
{
    assert(count == 0 || rules);
    const char *key = node_given(from, "egress_rules") ? "egress_rules" : "egress";
    for (size_t i = 0; i < count; i++) {
        int r = check_rule(s, from, arena_printf(s->arena, "%s[%zu]", key, i), rules[i]);
        if (r < 0) {
            return r;
        }
    }
    return 0;
}
