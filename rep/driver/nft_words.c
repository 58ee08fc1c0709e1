#include "rep/driver/nft_words.h"

#include "rep/driver/egress_ranges.h"

#include <arpa/inet.h>
#include <assert.h>
#include <string.h>

/* ---- The table ---- */

static void declare(const char *table, struct buf *out)
{
    buf_printf(out, "add table inet %s\n", table);
    buf_printf(out, "add map inet %s ports { type inet_service : ipv4_addr . inet_service ; }\n",
               table);
    buf_printf(out, "add map inet %s egress { type ipv4_addr : verdict ; }\n", table);
    buf_printf(out, "add set inet %s addresses { type ipv4_addr ; }\n", table);
}

/* Judged between the tracking of connections (-200) and the translation (-100). What a container
 * sends to a loopback address cannot be meant for anybody here; the kernel lets it pass where its
 * interface may use such addresses, as it must for "127.0.0.1:PORT" on the cell. */
void nft_base(const char *table, const char *subnet, struct buf *out)
{
    static const struct hook {
        const char *name, *type, *hook;
        int priority;
    } hooks[] = {
        {"leaving", "filter", "prerouting", -150},
        {"coming", "nat", "prerouting", -100},
        {"own", "nat", "output", -100},
        {"going", "nat", "postrouting", 100},
    };
    /* No route goes back over the link to an address that is not the container's. */
    static const char *const of_links[] = {"meta nfproto ipv6", "fib saddr . iif oif missing"};
    static const struct rule {
        const char *chain, *words;
    } rules[] = {
        {"leaving", "ip saddr @addresses ip daddr 127.0.0.0/8 drop"},
        {"leaving", "ct state established,related accept"},
        {"leaving", "ip saddr vmap @egress"},
        {"coming", "fib daddr type local dnat ip to tcp dport map @ports"},
        {"own", "fib daddr type local dnat ip to tcp dport map @ports"},
        {"going", "ip saddr 127.0.0.0/8 ip daddr @addresses masquerade"},
        {"going", "ct status dnat ip saddr @addresses ip daddr @addresses masquerade"},
    };
    assert(table[0]);
    declare(table, out);
    for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
        const struct hook *h = &hooks[i];
        buf_printf(out, "add chain inet %s %s { type %s hook %s priority %d ; policy accept ; }\n",
                   table, h->name, h->type, h->hook, h->priority);
        buf_printf(out, "flush chain inet %s %s\n", table, h->name);
    }
    for (size_t i = 0; i < sizeof(of_links) / sizeof(of_links[0]); i++) {
        buf_printf(out, "add rule inet %s leaving iifgroup %d %s drop\n", table, NFT_LINK_GROUP,
                   of_links[i]);
    }
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        buf_printf(out, "add rule inet %s %s %s\n", table, rules[i].chain, rules[i].words);
    }
    if (subnet) {
        buf_printf(out, "add rule inet %s going ip saddr @addresses ip daddr != %s masquerade\n",
                   table, subnet);
    }
}

void nft_drop(const char *table, struct buf *out)
{
    buf_printf(out, "add table inet %s\ndelete table inet %s\n", table, table);
}

/* ---- Egress ---- */

static void put_address(uint32_t address, struct buf *out)
{
    char text[INET_ADDRSTRLEN];
    struct in_addr a = {htonl(address)};
    buf_append_string(out, inet_ntop(AF_INET, &a, text, sizeof(text)));
}

/* Nothing where all addresses are meant. */
static void put_ranges(const struct address_range *list, int count, struct buf *out)
{
    if (count == 1 && list[0].first == 0 && list[0].last == UINT32_MAX) {
        return;
    }
    buf_append_string(out, "ip daddr { ");
    for (int i = 0; i < count; i++) {
        buf_append_string(out, i ? ", " : "");
        put_address(list[i].first, out);
        if (list[i].last > list[i].first) {
            buf_append_string(out, "-");
            put_address(list[i].last, out);
        }
    }
    buf_append_string(out, " } ");
}

/* Ports above 65535 pass the board's validation, and nobody listens there. */
static bool put_ports(const struct egress_rule *rule, struct buf *out)
{
    uint8_t seen[(UINT16_MAX + 1) / 8] = {0};
    bool any = false;
    assert(rule->port_count == 0 || rule->ports);
    buf_printf(out, "%s dport { ", rule->protocol);
    for (size_t i = 0; i < rule->port_count; i++) {
        uint32_t port = rule->ports[i];
        if (port <= UINT16_MAX && !(seen[port / 8] >> port % 8 & 1)) {
            seen[port / 8] |= (uint8_t)(1U << port % 8);
            buf_printf(out, "%s%u", any ? ", " : "", port);
            any = true;
        }
    }
    if (rule->port_count == 0 && rule->first_port <= UINT16_MAX) {
        uint32_t last = rule->last_port < UINT16_MAX ? rule->last_port : UINT16_MAX;
        buf_printf(out, last > rule->first_port ? "%u-%u" : "%u", rule->first_port, last);
        any = true;
    }
    buf_append_string(out, " } ");
    return any;
}

/* A kind of ICMP; false: none that a packet could have. */
static bool put_icmp(const struct egress_rule *rule, struct buf *out)
{
    if (rule->icmp_type > UINT8_MAX || rule->icmp_code > UINT8_MAX) {
        return false;
    }
    buf_append_string(out, "ip protocol icmp ");
    if (rule->icmp_type >= 0) {
        buf_printf(out, "icmp type %d ", rule->icmp_type);
    }
    if (rule->icmp_code >= 0) {
        buf_printf(out, "icmp code %d ", rule->icmp_code);
    }
    return true;
}

static int put_rule(const struct egress_rule *rule, const char *guid, unsigned group,
                    struct buf *out, struct err *err)
{
    SCOPED_ARENA(scratch);
    SCOPED_BUF(line);
    struct address_range *ranges;
    int count = egress_ranges(&scratch, rule->destinations, rule->destination_count, &ranges, err);
    if (count <= 0) {
        return count; /* IPv6 alone: no packet could match */
    }
    put_ranges(ranges, count, &line);
    bool can = true;
    if (strcmp(rule->protocol, "icmp") == 0) {
        can = put_icmp(rule, &line);
    } else if (strcmp(rule->protocol, "all") != 0) {
        can = put_ports(rule, &line);
    }
    if (rule->log) {
        buf_printf(&line, "log prefix \"%s\" group %u ", guid, group);
    }
    if (can) {
        buf_printf(out, "%saccept\n", buf_string(&line));
    }
    return 0;
}

int nft_egress(const struct container_spec *spec, const char *guid,
               const char *const *resolvers, unsigned group, struct buf *out, struct err *err)
{
    size_t destinations = 0;
    for (const char *const *r = resolvers; r && *r; r++) {
        buf_printf(out, "ip daddr %s meta l4proto { tcp, udp } th dport 53 accept\n", *r);
    }
    for (size_t i = 0; i < spec->egress_count; i++) {
        const struct egress_rule *rule = &spec->egress[i];
        destinations += egress_destinations(rule->destinations, rule->destination_count);
        if (destinations > EGRESS_DESTINATIONS_MAX) {
            return err_set(err, ERR_TOO_LARGE, "egress rules with more than %d destinations",
                           EGRESS_DESTINATIONS_MAX);
        }
        int result = put_rule(rule, guid, group, out, err);
        if (result < 0) {
            return result;
        }
    }
    return 0;
}

/* ---- A container ---- */

static void put_elements(const struct nft_container *c, const char *verb, struct buf *out)
{
    assert(c->address && c->guid[0]);
    buf_printf(out, "%s element inet %s addresses { %s }\n", verb, c->table, c->address);
    buf_printf(out, "%s element inet %s egress { %s : goto i-%s }\n", verb, c->table, c->address,
               c->guid);
    for (size_t i = 0; i < c->port_count; i++) {
        buf_printf(out, "%s element inet %s ports { %u : %s . %u }\n", verb, c->table,
                   c->ports[i].host_port, c->address, c->ports[i].container_port);
    }
}

void nft_attach(const struct nft_container *c, struct buf *out)
{
    buf_printf(out, "add chain inet %s i-%s\nflush chain inet %s i-%s\n", c->table, c->guid,
               c->table, c->guid);
    for (const char *line = c->egress; *line;) {
        size_t size = strcspn(line, "\n");
        buf_printf(out, "add rule inet %s i-%s %.*s\n", c->table, c->guid, (int)size, line);
        line += size + (line[size] == '\n');
    }
    buf_printf(out, "add rule inet %s i-%s reject with icmpx type admin-prohibited\n", c->table,
               c->guid);
    put_elements(c, "add", out);
}

/* What is not there cannot be deleted, so it is added first. An address or port that is somebody
 * else's by now makes the whole transaction fail, hence takes nothing away from him. */
void nft_detach(const struct nft_container *c, struct buf *out)
{
    declare(c->table, out);
    buf_printf(out, "add chain inet %s i-%s\n", c->table, c->guid);
    if (c->address) {
        put_elements(c, "add", out);
        put_elements(c, "delete", out);
    }
    buf_printf(out, "flush chain inet %s i-%s\ndelete chain inet %s i-%s\n", c->table, c->guid,
               c->table, c->guid);
}
