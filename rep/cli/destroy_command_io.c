#include "common/cli/cli_io.h"
#include "rep/cli/commands_io.h"
#include "rep/cli/destroy_io.h"
#include "rep/cli/driver_options_io.h"
#include "rep/state_dir_io.h"

#include <string.h>

/* Longer than a container's grace and its kill. */
#define DESTROY_LIMIT_NS (INT64_C(60) * 1000 * 1000 * 1000)

const struct cli_option rep_destroy_options[] = {
    {.name = "output",
     .value = "table|json",
     .help = "for people or for programs",
     .fallback = "table"},
    {0},
};

int rep_destroy_run(const struct invocation *call, struct err *err)
{
    struct state_dir state;
    struct driver_config config;
    const char *output = "table";
    int r = cli_choice(call, "output", &output, err);
    r = r < 0 ? r : state_dir_open(&state, cli_text(call, "state-dir"), NULL, err);
    if (r < 0) {
        return r;
    }
    r = driver_config_from(call, state.path, &config, err);
    r = r < 0 ? r : rep_destroy(&config, DESTROY_LIMIT_NS, err);
    if (r >= 0) {
        bool json = strcmp(output, "json") == 0;
        const char *text =
            arena_printf(call->arena, json ? "{\"removed\":%d}\n" : "removed %d containers\n", r);
        r = cli_print(bytes_of(text), err);
    }
    state_dir_close(&state);
    return r;
}
