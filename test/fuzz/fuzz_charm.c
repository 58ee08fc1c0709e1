/* Target: charm files. The first byte says YAML or JSON; the first piece is a second charm, to
 * which the first may be related. */
#include "common/charmfile/endpoints.h"
#include "test/fuzz/fuzz.h"

#include <string.h>

static bool read_fuzzed_charm(struct arena *a, const char *file, struct bytes text,
                              struct charm *ret)
{
    struct err err = {.text = ""};
    if (charm_parse(a, file, text, ret, &err) < 0) {
        FUZZ_REQUIRE(*err.text); /* every mistake is told */
        return false;
    }
    FUZZ_REQUIRE(charm_name_is_valid(ret->name));
    FUZZ_REQUIRE(ret->endpoint_count <= CHARM_ENDPOINTS_MAX);
    FUZZ_REQUIRE(ret->hook_count <= CHARM_HOOKS_MAX);
    FUZZ_REQUIRE(protobuf_c_message_check(&ret->container->base));
    for (size_t i = 0; i < ret->hook_count; i++) {
        FUZZ_REQUIRE(!*ret->hooks[i].path != !*ret->hooks[i].script);
        FUZZ_REQUIRE(i == 0 || strcmp(ret->hooks[i - 1].name, ret->hooks[i].name) < 0);
    }
    return true;
}

static void try_fit(struct arena *a, const struct charm *x, const struct charm *y, const char *end)
{
    const struct charm_end ends[2] = {{"x", x, ""}, {"y", y, end}};
    const struct charm_end turned[2] = {ends[1], ends[0]};
    struct charm_fit fit, back;
    struct err err = {.text = ""};
    int r = charm_ends_fit(a, ends, &fit, &err);
    FUZZ_REQUIRE(r == 0 || *err.text);
    FUZZ_REQUIRE((charm_ends_fit(a, turned, &back, &err) < 0) == (r < 0));
    if (r == 0) {
        FUZZ_REQUIRE(fit.container == back.container);
        FUZZ_REQUIRE(strcmp(fit.ends[0].name, back.ends[1].name) == 0);
        FUZZ_REQUIRE(strcmp(fit.ends[0].interface, fit.ends[1].interface) == 0);
        FUZZ_REQUIRE(!charm_lacks_end(a, x, &fit.ends[0], fit.container));
        FUZZ_REQUIRE(!charm_lacks_end(a, y, &fit.ends[1], fit.container));
    }
}

void fuzz_charm(struct bytes in)
{
    SCOPED_ARENA(a);
    const char *file = fuzz_byte(&in) % 2 ? "charm.json" : "charm.yaml";
    struct bytes second = fuzz_piece(&in);
    const char *end = fuzz_text(&a, &in);
    struct charm x, y;
    struct err err = {.text = ""};
    if (!read_fuzzed_charm(&a, file, in, &x)) {
        return;
    }
    const struct charm_value given = {end, "value"};
    const struct charm_value *values;
    size_t count;
    int r = charm_configuration(&a, &x, &given, 1, &values, &count, &err);
    FUZZ_REQUIRE(r == 0 ? count == x.config_count : *err.text);
    if (read_fuzzed_charm(&a, file, second, &y)) {
        try_fit(&a, &x, &y, "");
        try_fit(&a, &x, &y, end);
    }
}
