/* Egress rules (behaviour.md 9). */
#include "bbs/lrp/validate.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

/* An address as 16 bytes, IPv4 mapped into IPv6, so that a range's ends can be compared. */
static bool parse_address(const char *text, size_t size, uint8_t out[16], bool *ret_v4)
{
    char copy[INET6_ADDRSTRLEN];
    if (size >= sizeof(copy)) {
        return false;
    }
    memcpy(copy, text, size);
    copy[size] = '\0';
    if (inet_pton(AF_INET, copy, out + 12) == 1) {
        memset(out, 0, 10);
        memset(out + 10, 0xff, 2);
        *ret_v4 = true;
        return true;
    }
    *ret_v4 = false;
    return inet_pton(AF_INET6, copy, out) == 1;
}

static bool parse_prefix(const char *text, size_t size, unsigned max)
{
    unsigned value = 0;
    if (size == 0 || size > 3) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
        value = value * 10 + (unsigned)(text[i] - '0');
    }
    return value <= max;
}

static bool parse_cidr(const char *text, size_t size, size_t slash)
{
    uint8_t address[16];
    bool v4;
    return parse_address(text, slash, address, &v4) &&
           parse_prefix(text + slash + 1, size - slash - 1, v4 ? 32 : 128);
}

static bool parse_range(const char *text, size_t size, size_t dash)
{
    uint8_t first[16], last[16];
    bool v4;
    return parse_address(text, dash, first, &v4) &&
           parse_address(text + dash + 1, size - dash - 1, last, &v4) &&
           memcmp(first, last, sizeof(first)) <= 0;
}

static void say_invalid_ip(struct validation *v)
{
    say(v, "Invalid IP");
}

/* An address, a CIDR block, or first-last. */
static void valid_destination(struct validation *v, const char *text, size_t size)
{
    uint8_t address[16];
    bool v4;
    size_t n = 0;
    while (n < size && text[n] != '-' && text[n] != '/') {
        n++;
    }
    if (n == size) {
        if (!parse_address(text, size, address, &v4)) {
            say_invalid_ip(v);
        }
    } else if (text[n] == '-') {
        if (!parse_range(text, size, n)) {
            say_invalid_ip(v);
        }
    } else if (!parse_cidr(text, size, n)) {
        char message[160];
        int length = size > 64 ? 64 : (int)size;
        snprintf(message, sizeof(message), "invalid CIDR address: %.*s", length, text);
        say(v, message);
    }
}

static void valid_each_destination(struct validation *v, const Models__SecurityGroupRule *rule)
{
    if (rule->n_destinations == 0) {
        say(v, "Must have at least 1 destination");
    }
    for (size_t i = 0; i < rule->n_destinations; i++) {
        const char *text = rule->destinations[i];
        for (;;) {
            size_t size = strcspn(text, ",");
            valid_destination(v, text, size);
            if (!text[size]) {
                break;
            }
            text += size + 1;
        }
    }
}

static void valid_destinations(struct validation *v, const Models__SecurityGroupRule *rule)
{
    struct validation inner = {0};
    valid_each_destination(&inner, rule);
    if (!validation_ok(&inner)) {
        SCOPED_BUF(field);
        buf_printf(&field, "destinations [ %s ]", validation_text(&inner));
        say_field(v, buf_string(&field));
    }
    validation_done(&inner);
}

static void valid_range(struct validation *v, const Models__PortRange *range)
{
    if (range->start < 1) {
        say_field(v, "port_range");
    }
    if (range->end < 1) {
        say_field(v, "port_range");
    }
    if (range->start > range->end) {
        say_field(v, "port_range");
    }
}

static void valid_ports(struct validation *v, const Models__SecurityGroupRule *rule)
{
    if (!rule->port_range && rule->n_ports == 0) {
        say(v, "Missing required field: ports or port_range");
        return;
    }
    if (rule->port_range && rule->n_ports > 0) {
        say(v, "Invalid: ports and port_range provided");
        return;
    }
    if (rule->port_range) {
        valid_range(v, rule->port_range);
    }
    for (size_t i = 0; i < rule->n_ports; i++) {
        if (rule->ports[i] < 1) {
            say_field(v, "ports");
        }
    }
}

static void no_ports(struct validation *v, const Models__SecurityGroupRule *rule)
{
    if (rule->port_range) {
        say_field(v, "port_range");
    }
    if (rule->n_ports > 0) {
        say_field(v, "ports");
    }
}

void valid_egress_rule(struct validation *v, const Models__SecurityGroupRule *rule)
{
    const char *protocol = rule->protocol;
    if (strcmp(protocol, "tcp") == 0 || strcmp(protocol, "udp") == 0) {
        valid_ports(v, rule);
        if (rule->icmp_info) {
            say_field(v, "icmp_info");
        }
    } else if (strcmp(protocol, "icmp") == 0) {
        no_ports(v, rule);
        if (!rule->icmp_info) {
            say_field(v, "icmp_info");
        }
    } else if (strcmp(protocol, "all") == 0) {
        no_ports(v, rule);
        if (rule->icmp_info) {
            say_field(v, "icmp_info");
        }
    } else {
        say_field(v, "protocol");
    }
    valid_destinations(v, rule);
}
