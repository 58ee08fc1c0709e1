/* What a log says of packets, and how much. */
#include "common/contract/moment.h"
#include "rep/driver/egress_line.h"
#include "test/tool/cmocka.h"

#include <stdint.h>
#include <string.h>

#define HEAD(first, fragment, protocol)                                                            \
    first, 0, 0, 60, 0, 0, (fragment) >> 8, (fragment)&255, 64, protocol, 0, 0, 10, 254, 0, 2,    \
        192, 0, 2, 1
#define PORTS 0xa8, 0x70, 0x01, 0xbb

static const struct {
    uint8_t packet[40];
    size_t size;
    const char *line; /* NULL: it is none */
} rows[] = {
    {{HEAD(0x45, 0, 6), PORTS}, 24, "tcp 10.254.0.2:43120 to 192.0.2.1:443"},
    {{HEAD(0x45, 0, 17), PORTS}, 24, "udp 10.254.0.2:43120 to 192.0.2.1:443"},
    {{HEAD(0x45, 0x2000, 17), PORTS}, 24, "udp 10.254.0.2:43120 to 192.0.2.1:443"},
    {{HEAD(0x45, 1, 17), PORTS}, 24, "udp 10.254.0.2 to 192.0.2.1"}, /* a later fragment */
    {{HEAD(0x45, 0, 6), PORTS}, 23, "tcp 10.254.0.2 to 192.0.2.1"},
    {{HEAD(0x45, 0, 1), 8, 0}, 22, "icmp 10.254.0.2 to 192.0.2.1"},
    {{HEAD(0x45, 0, 132), PORTS}, 24, "protocol 132 10.254.0.2 to 192.0.2.1"},
    {{HEAD(0x46, 0, 6), 0, 0, 0, 0, PORTS}, 28, "tcp 10.254.0.2:43120 to 192.0.2.1:443"},
    {{HEAD(0x4f, 0, 6), PORTS}, 24, "tcp 10.254.0.2 to 192.0.2.1"}, /* options without end */
    {{HEAD(0x45, 0, 6)}, 19, NULL},
    {{HEAD(0x44, 0, 6), PORTS}, 24, NULL},
    {{HEAD(0x65, 0, 6), PORTS}, 24, NULL},
    {{0}, 0, NULL},
};

static void packets_are_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char line[EGRESS_LINE_BYTES];
        struct bytes packet = {rows[i].packet, rows[i].size};
        assert_int_equal(egress_line(packet, line), rows[i].line != NULL);
        if (rows[i].line) {
            assert_string_equal(line, rows[i].line);
        }
    }
}

static void the_longest_line_fits(void **state)
{
    (void)state;
    uint8_t packet[24];
    char line[EGRESS_LINE_BYTES];
    memset(packet, 0xff, sizeof(packet));
    packet[0] = 0x45;
    packet[6] = packet[7] = 0;
    packet[9] = 17;
    assert_true(egress_line((struct bytes){packet, sizeof(packet)}, line));
    assert_string_equal(line, "udp 255.255.255.255:65535 to 255.255.255.255:65535");
}

/* Ten a second; how many were left out is told with the next one that is said. */
static void a_second_has_ten_lines(void **state)
{
    (void)state;
    struct egress_limit l = {0};
    unsigned unsaid, said = 0;
    for (int i = 0; i < 25; i++) {
        said += egress_limit_take(&l, SECOND_NS + i, &unsaid);
        assert_int_equal(unsaid, 0);
    }
    assert_int_equal(said, EGRESS_LINES_A_SECOND);
    assert_false(egress_limit_take(&l, 2 * SECOND_NS - 1, &unsaid));
    assert_true(egress_limit_take(&l, 2 * SECOND_NS, &unsaid));
    assert_int_equal(unsaid, 16);
    assert_true(egress_limit_take(&l, 2 * SECOND_NS, &unsaid));
    assert_int_equal(unsaid, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_are_told),
        cmocka_unit_test(the_longest_line_fits),
        cmocka_unit_test(a_second_has_ten_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
