/* Egress rules (behaviour.md 9). */
#include "bbs/lrp/validate.h"

#include "common/model/egress_destination.h"

#include <stdio.h>
#include <string.h>

static void valid_destination(struct validation *v, const char *text, size_t size)
{
    enum egress_destination is = egress_destination_of(text, size);
    if (is == EGRESS_DESTINATION_NO_ADDRESS) {
        say(v, "Invalid IP");
    } else if (is == EGRESS_DESTINATION_NO_BLOCK) {
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
            size_t size = strcspn(text, EGRESS_DESTINATION_DIVIDE);
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
