#include "common/cli/cli_io.h"
#include "rep/cli/commands_io.h"
#include "rep/cli/destroy_io.h"
#include "rep/cli/driver_options_io.h"
#include "rep/state_dir_io.h"

/* Longer than a container's grace and its kill. */
#define DESTROY_LIMIT_NS (INT64_C(60) * 1000 * 1000 * 1000)

int rep_destroy_run(const struct invocation *call, struct err *err)
{
    struct state_dir state;
    struct driver_config config;
    int r = state_dir_open(&state, cli_text(call, "state-dir"), NULL, err);
    if (r < 0) {
        return r;
    }
    r = driver_config_from(call, state.path, &config, err);
    r = r < 0 ? r : rep_destroy(&config, DESTROY_LIMIT_NS, err);
    if (r >= 0) {
        const char *text = arena_printf(call->arena, "removed %d containers\n", r);
        r = cli_print(bytes_of(text), err);
    }
    state_dir_close(&state);
    return r;
}
