/* The words of a cell's own network: addresses, egress rules, the packet filter, plugins, names. */
#include "rep/driver/cni_words.h"
#include "rep/driver/egress_ranges.h"
#include "rep/driver/network_plan.h"
#include "rep/driver/nft_words.h"
#include "rep/driver/oci_spec.h"
#include "rep/driver/resolver_words.h"

#include <stdlib.h>
#include <string.h>

#include "test/tool/cmocka.h"

/* ---- Addresses ---- */

static void a_subnet_is_a_block_from_8_to_29(void **state)
{
    static const char *const wrong[] = {"",           "10.0.0.0",    "10.0.0.0/7",  "10.0.0.0/30",
                                        "10.0.0.1/8", "10.0.0.0/8x", "fd00::/64",   "x/24",
                                        "10.0.0/24",  "10.0.0.0/-1", "10.0.4.0/21"};
    struct subnet s;
    struct err err;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(subnet_parse(wrong[i], &s, &err), -ERR_INVALID);
    }
    assert_int_equal(subnet_parse("10.254.0.0/22", &s, &err), 0);
    assert_int_equal(subnet_size(&s), 1021);
    char text[ADDRESS_TEXT_BYTES];
    subnet_text(subnet_gateway(&s), text);
    assert_string_equal(text, "10.254.0.1");
    subnet_text(subnet_address(&s, 0), text);
    assert_string_equal(text, "10.254.0.2");
    subnet_text(subnet_address(&s, 1020), text); /* the last but one; then round */
    assert_string_equal(text, "10.254.3.254");
    assert_int_equal(subnet_address(&s, 1021), subnet_address(&s, 0));
}

/* ---- Ranges ---- */

static void ranges_are_merged(void **state)
{
    static const struct {
        const char *words[3], *expected;
    } rows[] = {
        {{"10.0.0.1"}, "10.0.0.1-10.0.0.1 "},
        {{"10.0.0.7/24"}, "10.0.0.0-10.0.0.255 "},
        {{"0.0.0.0/0"}, "0.0.0.0-255.255.255.255 "},
        {{"10.0.0.5-10.0.0.9,10.0.0.1"}, "10.0.0.1-10.0.0.1 10.0.0.5-10.0.0.9 "},
        {{"10.0.0.5-10.0.0.9", "10.0.0.7-10.0.0.20"}, "10.0.0.5-10.0.0.20 "},
        {{"10.0.0.0/25", "10.0.0.128/25"}, "10.0.0.0-10.0.0.255 "}, /* they touch */
        {{"10.0.0.0/8", "10.1.0.0/16"}, "10.0.0.0-10.255.255.255 "},
        {{"255.255.255.255", "255.255.255.254"}, "255.255.255.254-255.255.255.255 "},
        {{"fd00::/8"}, ""},
        {{"::1,10.0.0.1"}, "10.0.0.1-10.0.0.1 "},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        SCOPED_BUF(out);
        struct address_range *list;
        size_t given = 0;
        while (rows[i].words[given]) {
            given++;
        }
        int count = egress_ranges(&a, rows[i].words, given, &list, NULL);
        for (int k = 0; k < count; k++) {
            char first[ADDRESS_TEXT_BYTES], last[ADDRESS_TEXT_BYTES];
            subnet_text(list[k].first, first);
            subnet_text(list[k].last, last);
            buf_printf(&out, "%s-%s ", first, last);
        }
        assert_string_equal(buf_string(&out), rows[i].expected);
    }
}

static void what_is_no_destination_is_refused(void **state)
{
    static const char *const wrong[] = {"", "x", "10.0.0.1,", "10.0.0.9-10.0.0.1", "10.0.0.0/33",
                                        "10.0.0.0/", "10.0.0.1-fd00::1", "fd00::/129"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        SCOPED_ARENA(a);
        struct address_range *list;
        struct err err;
        assert_int_equal(egress_ranges(&a, &wrong[i], 1, &list, &err), -ERR_INVALID);
    }
}

/* ---- Egress ---- */

static const char *egress_of(struct buf *out, const struct egress_rule *rule)
{
    const struct container_spec spec = {.egress = rule, .egress_count = 1};
    struct err err;
    buf_clear(out);
    assert_int_equal(nft_egress(&spec, "g-1", NULL, 7, out, &err), 0);
    return buf_string(out);
}

#define ANYWHERE .destinations = anywhere, .destination_count = 1

static void each_kind_of_rule(void **state)
{
    static const char *const anywhere[] = {"0.0.0.0/0"}, *const two[] = {"10.0.0.0/31,10.1.0.1"};
    static const char *const six[] = {"fd00::1"};
    static const uint32_t ports[] = {443, 80, 443, 70000}, high[] = {70000};
    static const struct {
        struct egress_rule rule;
        const char *expected;
    } rows[] = {
        {{"all", ANYWHERE}, "accept\n"},
        {{"all", ANYWHERE, .log = true}, "log prefix \"g-1\" group 7 accept\n"},
        {{"all", two, 1}, "ip daddr { 10.0.0.0-10.0.0.1, 10.1.0.1 } accept\n"},
        {{"all", six, 1}, ""},
        {{"tcp", ANYWHERE, .ports = ports, .port_count = 4}, "tcp dport { 443, 80 } accept\n"},
        {{"udp", two, 1, .first_port = 53, .last_port = 53},
         "ip daddr { 10.0.0.0-10.0.0.1, 10.1.0.1 } udp dport { 53 } accept\n"},
        {{"tcp", ANYWHERE, .first_port = 1, .last_port = 99999},
         "tcp dport { 1-65535 } accept\n"},
        {{"tcp", ANYWHERE, .ports = high, .port_count = 1}, ""},
        {{"icmp", ANYWHERE, .icmp_type = -1, .icmp_code = -1}, "ip protocol icmp accept\n"},
        {{"icmp", ANYWHERE, .icmp_type = 8, .icmp_code = 0},
         "ip protocol icmp icmp type 8 icmp code 0 accept\n"},
        {{"icmp", ANYWHERE, .icmp_type = 3, .icmp_code = -1},
         "ip protocol icmp icmp type 3 accept\n"},
        {{"icmp", ANYWHERE, .icmp_type = 256, .icmp_code = 0}, ""},
    };
    SCOPED_BUF(out);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(egress_of(&out, &rows[i].rule), rows[i].expected);
    }
}

static void resolvers_come_first_and_destinations_have_a_bound(void **state)
{
    static const char *const servers[] = {"10.0.0.53", NULL};
    char **many = calloc(EGRESS_DESTINATIONS_MAX + 1, sizeof(*many));
    for (size_t i = 0; i <= EGRESS_DESTINATIONS_MAX; i++) {
        many[i] = (char *)(uintptr_t)"10.0.0.1";
    }
    struct egress_rule rule = {"all", (const char *const *)many, EGRESS_DESTINATIONS_MAX};
    const struct container_spec spec = {.egress = &rule, .egress_count = 1};
    SCOPED_BUF(out);
    struct err err;
    assert_int_equal(nft_egress(&spec, "g", servers, 7, &out, &err), 0);
    assert_string_equal(buf_string(&out),
                        "ip daddr 10.0.0.53 meta l4proto { tcp, udp } th dport 53 accept\n"
                        "ip daddr { 10.0.0.1 } accept\n");
    rule.destination_count++;
    assert_int_equal(nft_egress(&spec, "g", servers, 7, &out, &err), -ERR_TOO_LARGE);
    assert_string_equal(err.text, "egress rules with more than 10000 destinations");
    free(many);
}

/* ---- A container in the filter ---- */

static void a_container_comes_and_goes_in_one_transaction(void **state)
{
    static const struct port_pair ports[] = {{8080, 61000}, {9090, 61001}};
    const struct nft_container c = {"corkboard-1", "g-1", "10.254.0.5", ports, 2, "accept\n"};
    SCOPED_BUF(out);
    nft_attach(&c, &out);
    assert_string_equal(buf_string(&out),
                        "add chain inet corkboard-1 i-g-1\n"
                        "flush chain inet corkboard-1 i-g-1\n"
                        "add rule inet corkboard-1 i-g-1 accept\n"
                        "add rule inet corkboard-1 i-g-1 reject with icmpx type admin-prohibited\n"
                        "add element inet corkboard-1 addresses { 10.254.0.5 }\n"
                        "add element inet corkboard-1 egress { 10.254.0.5 : goto i-g-1 }\n"
                        "add element inet corkboard-1 ports { 61000 : 10.254.0.5 . 8080 }\n"
                        "add element inet corkboard-1 ports { 61001 : 10.254.0.5 . 9090 }\n");
    buf_clear(&out);
    nft_detach(&c, &out);
    const char *words = buf_string(&out), *chain = strstr(words, "delete chain");
    assert_non_null(strstr(words, "delete element inet corkboard-1 egress { 10.254.0.5 : goto"));
    assert_non_null(strstr(words, "delete element inet corkboard-1 ports { 61001 : 10.254.0.5"));
    assert_true(strstr(words, "delete element") < chain); /* it is used until then */
}

/* What was never attached is taken out all the same. */
static void without_an_address_only_the_chain_goes(void **state)
{
    const struct nft_container c = {.table = "corkboard-1", .guid = "g"};
    SCOPED_BUF(out);
    nft_detach(&c, &out);
    assert_null(strstr(buf_string(&out), "element"));
    assert_non_null(strstr(buf_string(&out), "delete chain inet corkboard-1 i-g\n"));
}

static void the_table_translates_for_its_own_subnet_only(void **state)
{
    SCOPED_BUF(own);
    SCOPED_BUF(others);
    nft_base("corkboard-1", "10.254.0.0/22", &own);
    nft_base("corkboard-1", NULL, &others);
    assert_non_null(strstr(buf_string(&own), "ip daddr != 10.254.0.0/22 masquerade"));
    assert_null(strstr(buf_string(&others), "!="));
    const char *answers = strstr(buf_string(&own), "ct state established,related accept");
    assert_non_null(answers);
    assert_true(answers < strstr(buf_string(&own), "ip saddr vmap @egress"));
}

/* Before anything is let through for belonging to a connection, or by the address it claims. */
static void what_comes_over_a_link_must_be_the_containers(void **state)
{
    SCOPED_BUF(out);
    nft_base("corkboard-1", NULL, &out);
    const char *words = buf_string(&out);
    const char *six = strstr(words, "leaving iifgroup 25451 meta nfproto ipv6 drop\n");
    const char *forged = strstr(words, "leaving iifgroup 25451 fib saddr . iif oif missing drop\n");
    const char *answers = strstr(words, "ct state established,related accept");
    assert_true(six && forged && answers && six < answers && forged < answers);
}

/* ---- Plugins ---- */

static void a_list_of_plugins_is_looked_through(void **state)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"{", "not JSON"},
        {"[]", "no object"},
        {"{\"plugins\":[{\"type\":\"bridge\"}]}", "no name"},
        {"{\"name\":\"x\",\"plugins\":[]}", "no plugins"},
        {"{\"name\":\"x\",\"plugins\":[{}]}", "no type"},
        {"{\"name\":\"x\",\"plugins\":[{\"type\":\"../bridge\"}]}", "no type"},
    };
    struct err err;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_null(cni_read(rows[i].text, &err));
        assert_non_null(strstr(err.text, rows[i].why));
    }
    json_t *one = cni_read("{\"cniVersion\":\"0.4.0\",\"name\":\"x\",\"type\":\"bridge\"}", &err);
    assert_int_equal(cni_count(one), 1);
    assert_string_equal(cni_program(one, 0), "bridge");
    json_decref(one);
}

static void a_plugin_gets_its_part(void **state)
{
    static const struct port_pair ports[] = {{8080, 61000}};
    struct err err;
    json_t *list = cni_read("{\"cniVersion\":\"0.4.0\",\"name\":\"x\",\"plugins\":[{\"type\":"
                            "\"bridge\"},{\"type\":\"portmap\",\"capabilities\":"
                            "{\"portMappings\":true}}]}",
                            &err);
    json_t *before = json_pack("{s:[]}", "ips");
    assert_true(cni_maps_ports(list));
    json_t *first = cni_input(list, 0, NULL, ports, 1);
    json_t *second = cni_input(list, 1, before, ports, 1);
    char *text = json_dumps(first, JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(text, "{\"cniVersion\":\"0.4.0\",\"name\":\"x\",\"type\":\"bridge\"}");
    free(text);
    text = json_dumps(second, JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(text, "{\"cniVersion\":\"0.4.0\",\"name\":\"x\","
                              "\"prevResult\":{\"ips\":[]},"
                              "\"runtimeConfig\":{\"portMappings\":[{\"containerPort\":8080,"
                              "\"hostPort\":61000,\"protocol\":\"tcp\"}]},\"type\":\"portmap\"}");
    free(text);
    json_decref(first);
    json_decref(second);
    json_decref(before);
    json_decref(list);
}

static void what_plugins_say_is_understood(void **state)
{
    char address[ADDRESS_TEXT_BYTES], why[64];
    json_t *r = json_loads("{\"interfaces\":[{\"name\":\"veth1\"},{\"name\":\"eth0\",\"sandbox\":"
                           "\"/x\"},{\"name\":\"br0\"}],\"ips\":[{\"address\":\"fd00::2/64\"},"
                           "{\"address\":\"10.1.2.3/24\"}]}",
                           0, NULL);
    assert_true(cni_address(r, address));
    assert_string_equal(address, "10.1.2.3");
    assert_string_equal(cni_host_interface(r, 0), "veth1");
    assert_string_equal(cni_host_interface(r, 1), "br0");
    assert_null(cni_host_interface(r, 2));
    json_decref(r);
    cni_failure("{\"code\":7,\"msg\":\"no room\",\"details\":\"a\\nb\"}", why, sizeof(why));
    assert_string_equal(why, "no room: a b");
    cni_failure("panic\n", why, sizeof(why));
    assert_string_equal(why, "panic ");
    cni_failure("", why, sizeof(why));
    assert_string_equal(why, "it said nothing");
}

/* ---- The plan ---- */

static void a_plan_is_read_as_it_was_written(void **state)
{
    SCOPED_ARENA(a);
    static const struct port_pair ports[] = {{8080, 61000}, {9090, 61001}};
    struct subnet s;
    struct network_plan read;
    struct err err;
    subnet_parse("10.254.0.0/22", &s, &err);
    json_t *list = cni_list(&s, "10.254.0.5");
    const struct network_plan plan = {
        .table = "corkboard-1", .guid = "g", .id = network_id(&a, "corkboard-1", "g"), .path = "/p",
        .list = list, .address = "10.254.0.5", .ports = ports, .port_count = 2, .egress = "x\n"};
    json_t *packed = network_plan_pack(&plan);
    assert_int_equal(network_plan_read(&a, packed, &read, &err), 0);
    assert_string_equal(read.id, "corkboard-1-g");
    assert_string_equal(read.address, "10.254.0.5");
    assert_null(read.lease);
    assert_int_equal(read.port_count, 2);
    assert_int_equal(read.ports[1].host_port, 61001);
    assert_int_equal(read.ports[1].container_port, 9090);
    assert_true(json_equal(read.list, list));
    json_object_del(packed, "egress");
    assert_int_equal(network_plan_read(&a, packed, &read, &err), -ERR_INVALID);
    json_decref(packed);
    json_decref(list);
}

/* ---- Names ---- */

static void loopback_servers_are_left_out(void **state)
{
    SCOPED_ARENA(a);
    SCOPED_BUF(out);
    static const char *const dns[] = {"10.0.0.1", "fd00::1", NULL};
    const char *const *servers;
    resolver_words(&a, "search x.org\nnameserver 127.0.0.53\nnameserver\t10.9.9.9 \n"
                       "nameserver ::1\nnameserver fd00::2\n#x",
                   NULL, &out, &servers);
    assert_string_equal(buf_string(&out),
                        "search x.org\nnameserver\t10.9.9.9 \nnameserver fd00::2\n#x\n");
    assert_string_equal(servers[0], "10.9.9.9");
    assert_null(servers[1]);
    buf_clear(&out);
    resolver_words(&a, "nameserver 10.9.9.9\n", dns, &out, &servers);
    assert_string_equal(buf_string(&out), "nameserver 10.0.0.1\nnameserver fd00::1\n");
    assert_string_equal(servers[0], "10.0.0.1");
    assert_null(servers[1]);
}

static void hosts_have_the_containers_own_name(void **state)
{
    SCOPED_BUF(out);
    static const char *const more[] = {"db.internal=10.0.0.9", NULL};
    hosts_words(more, "10.254.0.5", "g-1", &out);
    assert_non_null(strstr(buf_string(&out), "\n10.0.0.9 db.internal\n10.254.0.5 g-1\n"));
    buf_clear(&out);
    hosts_words(NULL, NULL, "g-1", &out);
    assert_null(strstr(buf_string(&out), "g-1"));
    assert_true(host_valid("db.internal=10.0.0.9"));
    assert_true(host_valid("a=fd00::1"));
    assert_false(host_valid("=10.0.0.9"));
    assert_false(host_valid("a b=10.0.0.9"));
    assert_false(host_valid("a=10.0.0"));
    assert_false(host_valid("a"));
}

/* ---- The runtime's words ---- */

static json_t *config_with(const char *network, const char *address)
{
    static const struct name_value env[] = {{"CF_INSTANCE_INTERNAL_IP", "(its own)"}};
    const struct container_spec spec = {.path = "/x", .env = env, .env_count = 1,
                                        .address_variable = "CF_INSTANCE_INTERNAL_IP"};
    const struct oci_params p = {.guid = "g", .cgroup = "/g", .init = "/i", .network = network,
                                 .network_program = "/n", .address = address,
                                 .facts = {.resolv_conf = true, .hosts = true}};
    return oci_config(&spec, &p);
}

static bool says(json_t *config, const char *words)
{
    char *text = json_dumps(config, JSON_COMPACT);
    bool found = strstr(text, words) != NULL;
    free(text);
    json_decref(config);
    return found;
}

static void a_network_of_its_own_has_a_hook_and_files(void **state)
{
    assert_true(says(config_with("/d", NULL), "{\"type\":\"network\"}"));
    assert_true(says(config_with("/d", NULL),
                     "\"hooks\":{\"createRuntime\":[{\"path\":\"/n\",\"args\":"
                     "[\"rep-network\",\"attach\",\"/d\"],\"timeout\":60}]}"));
    assert_true(says(config_with("/d", NULL), "\"source\":\"/d/resolv.conf\""));
    assert_false(says(config_with("/d", NULL), "\"source\":\"/etc/hosts\""));
    assert_true(says(config_with("/d", "10.1.1.1"), "\"CF_INSTANCE_INTERNAL_IP=10.1.1.1\""));
    assert_false(says(config_with(NULL, NULL), "hooks"));
    assert_false(says(config_with(NULL, NULL), "{\"type\":\"network\"}"));
    assert_true(says(config_with(NULL, NULL), "\"source\":\"/etc/hosts\""));
}

/* Both namespaces are there; the network is attached already. */
static void a_network_that_is_joined_is_named_by_its_path(void **state)
{
    const struct container_spec spec = {.path = "/x"};
    const struct oci_params p = {.guid = "g", .cgroup = "/g", .init = "/i", .network = "/d",
                                 .dir = "/d", .network_program = "/n", .join = "/o/netns",
                                 .ids = id_range_of(1000000000)};
    assert_true(says(oci_config(&spec, &p), "{\"type\":\"network\",\"path\":\"/o/netns\"}"));
    assert_true(says(oci_config(&spec, &p), "{\"type\":\"user\",\"path\":\"/d/userns\"}"));
    assert_true(says(oci_config(&spec, &p), "\"hostID\":1000000000"));
    assert_true(says(oci_config(&spec, &p), "\"source\":\"/d/resolv.conf\""));
    assert_true(says(oci_config(&spec, &p), "\"type\":\"sysfs\""));
    assert_false(says(oci_config(&spec, &p), "hooks"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_subnet_is_a_block_from_8_to_29),
        cmocka_unit_test(ranges_are_merged),
        cmocka_unit_test(what_is_no_destination_is_refused),
        cmocka_unit_test(each_kind_of_rule),
        cmocka_unit_test(resolvers_come_first_and_destinations_have_a_bound),
        cmocka_unit_test(a_container_comes_and_goes_in_one_transaction),
        cmocka_unit_test(without_an_address_only_the_chain_goes),
        cmocka_unit_test(the_table_translates_for_its_own_subnet_only),
        cmocka_unit_test(what_comes_over_a_link_must_be_the_containers),
        cmocka_unit_test(a_list_of_plugins_is_looked_through),
        cmocka_unit_test(a_plugin_gets_its_part),
        cmocka_unit_test(what_plugins_say_is_understood),
        cmocka_unit_test(a_plan_is_read_as_it_was_written),
        cmocka_unit_test(loopback_servers_are_left_out),
        cmocka_unit_test(hosts_have_the_containers_own_name),
        cmocka_unit_test(a_network_of_its_own_has_a_hook_and_files),
        cmocka_unit_test(a_network_that_is_joined_is_named_by_its_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
