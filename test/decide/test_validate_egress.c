/* Validation of egress rules (behaviour.md 9): a row for each. */
#include "test/decide/validate_rows.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

static void egress_rules(void **state)
{
    struct fixture *f = *state;
    struct arena *a = &f->arena;
    static const struct {
        const char *protocol, *destination;
        uint32_t port, start, end; /* port 0 of one; PORT_NONE = no ports; start NONE = no range */
        bool icmp;
        const char *text;
    } rows[] = {
#define NONE UINT32_MAX
        {"tcp", "1.2.3.4", 80, NONE, 0, false, ""},
        {"udp", "1.2.3.4", NONE, 80, 90, false, ""},
        {"icmp", "1.2.3.4", NONE, NONE, 0, true, ""},
        {"all", "1.2.3.4", NONE, NONE, 0, false, ""},
        {"TCP", "1.2.3.4", 80, NONE, 0, false, FIELD("protocol")},
        {"tcp", "1.2.3.4", NONE, NONE, 0, false, "Missing required field: ports or port_range"},
        {"tcp", "1.2.3.4", 80, 80, 90, false, "Invalid: ports and port_range provided"},
        {"tcp", "1.2.3.4", 0, 90, 80, false, "Invalid: ports and port_range provided"},
        {"tcp", "1.2.3.4", NONE, 90, 80, false, FIELD("port_range")},
        {"tcp", "1.2.3.4", NONE, 0, 0, false, FIELD("port_range") ", " FIELD("port_range")},
        {"tcp", "1.2.3.4", NONE, 1, 0, false, FIELD("port_range") ", " FIELD("port_range")},
        {"tcp", "1.2.3.4", NONE, 0, 80, false, FIELD("port_range")},
        {"tcp", "1.2.3.4", 0, NONE, 0, false, FIELD("ports")},
        {"udp", "1.2.3.4", 80, NONE, 0, true, FIELD("icmp_info")},
        {"icmp", "1.2.3.4", NONE, NONE, 0, false, FIELD("icmp_info")},
        {"icmp", "1.2.3.4", 80, 1, 2, true, FIELD("port_range") ", " FIELD("ports")},
        {"all", "1.2.3.4", 80, 1, 2, true,
         FIELD("port_range") ", " FIELD("ports") ", " FIELD("icmp_info")},
        {"all", NULL, NONE, NONE, 0, false,
         FIELD("destinations [ Must have at least 1 destination ]")},
        {"all", "1.2.3.4,::1,10.0.0.0/8,fe80::/10,1.1.1.1-1.1.1.9", NONE, NONE, 0, false, ""},
        {"all", "1.2.3.4-1.2.3.4", NONE, NONE, 0, false, ""},
        {"all", "1.2.3.256", NONE, NONE, 0, false, FIELD("destinations [ Invalid IP ]")},
        {"all", "", NONE, NONE, 0, false, FIELD("destinations [ Invalid IP ]")},
        {"all", "1.2.3.4,x", NONE, NONE, 0, false, FIELD("destinations [ Invalid IP ]")},
        {"all", "1.2.3.4-1.2.3.3", NONE, NONE, 0, false, FIELD("destinations [ Invalid IP ]")},
        {"all", "1.2.3.4/33", NONE, NONE, 0, false,
         FIELD("destinations [ invalid CIDR address: 1.2.3.4/33 ]")},
        {"all", "x,1.2.3.4,y,1.2.3/8", NONE, NONE, 0, false,
         FIELD("destinations [ Invalid IP, Invalid IP, invalid CIDR address: 1.2.3/8 ]")},
        {"all", "1.2.3/8", NONE, NONE, 0, false,
         FIELD("destinations [ invalid CIDR address: 1.2.3/8 ]")},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct validation v = {0};
        Models__SecurityGroupRule *r = NEW(a, Models__SecurityGroupRule,
                                           models__security_group_rule);
        uint32_t port = rows[i].port;
        r->protocol = TEXT(rows[i].protocol);
        r->ports = &port;
        r->n_ports = port == NONE ? 0 : 1;
        if (rows[i].start != NONE) {
            r->port_range = NEW(a, Models__PortRange, models__port_range);
            r->port_range->start = rows[i].start;
            r->port_range->end = rows[i].end;
        }
        r->icmp_info = rows[i].icmp ? NEW(a, Models__ICMPInfo, models__icmpinfo) : NULL;
        char *destination = TEXT(rows[i].destination ? rows[i].destination : "");
        r->destinations = &destination;
        r->n_destinations = rows[i].destination ? 1 : 0;
        valid_egress_rule(&v, r);
        assert_string_equal(said(a, &v), rows[i].text);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(egress_rules),
    };
    return cmocka_run_group_tests_name("validate egress", tests, NULL, NULL);
}
