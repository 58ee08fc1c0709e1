#include "rep/driver/egress_line.h"

#include "common/contract/moment.h"

#include <assert.h>
#include <stdio.h>

enum { IPV4_HEAD = 20, ICMP = 1, TCP = 6, UDP = 17 };

static unsigned number_at(struct bytes p, size_t at)
{
    return (unsigned)p.data[at] << 8 | p.data[at + 1];
}

static int print_address(struct bytes p, size_t at, char *out, size_t size)
{
    const uint8_t *a = p.data + at;
    return snprintf(out, size, "%u.%u.%u.%u", a[0], a[1], a[2], a[3]);
}

/* Ports stand at the beginning of what a datagram carries; only its first fragment has them. */
static bool has_ports(struct bytes p, size_t head, unsigned protocol)
{
    bool first = (number_at(p, 6) & 0x1fff) == 0;
    return first && (protocol == TCP || protocol == UDP) && p.size >= head + 4;
}

bool egress_line(struct bytes packet, char out[EGRESS_LINE_BYTES])
{
    char from[16], to[16], name[16];
    size_t head = packet.size > 0 ? (packet.data[0] & 15u) * 4 : 0;
    if (packet.size < IPV4_HEAD || packet.data[0] >> 4 != 4 || head < IPV4_HEAD) {
        return false;
    }
    unsigned protocol = packet.data[9];
    print_address(packet, 12, from, sizeof(from));
    print_address(packet, 16, to, sizeof(to));
    snprintf(name, sizeof(name), "protocol %u", protocol);
    const char *word = protocol == TCP    ? "tcp"
                       : protocol == UDP  ? "udp"
                       : protocol == ICMP ? "icmp"
                                          : name;
    int n = has_ports(packet, head, protocol)
                ? snprintf(out, EGRESS_LINE_BYTES, "%s %s:%u to %s:%u", word, from,
                           number_at(packet, head), to, number_at(packet, head + 2))
                : snprintf(out, EGRESS_LINE_BYTES, "%s %s to %s", word, from, to);
    assert(n > 0 && n < EGRESS_LINE_BYTES);
    return true;
}

bool egress_limit_take(struct egress_limit *l, int64_t now_ns, unsigned *ret_unsaid)
{
    *ret_unsaid = 0;
    if (l->since_ns == 0 || now_ns - l->since_ns >= SECOND_NS) {
        l->since_ns = now_ns;
        l->said = 0;
        *ret_unsaid = l->unsaid;
        l->unsaid = 0;
    }
    if (l->said == EGRESS_LINES_A_SECOND) {
        l->unsaid++;
        return false;
    }
    l->said++;
    assert(l->said <= EGRESS_LINES_A_SECOND);
    return true;
}
