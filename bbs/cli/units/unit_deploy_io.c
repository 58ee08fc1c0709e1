/* bbs units deploy, add-unit, upgrade, config. */
#include "bbs/cli/file_kind.h"
#include "bbs/cli/units/unit_tree.h"
#include "bbs/cli/units/unit_words.h"
#include "bbs/cli/units/units_io.h"
#include "common/appfile/app_file_io.h"
#include "common/charmfile/charm.h"
#include "common/cli/cli_io.h"

enum { UNITS_ASKED_MOST = 100000 };

static int read_charm(struct session *s, const char *file, Board__Charm **ret_charm,
                      struct err *err)
{
    struct bytes text;
    struct charm charm;
    int r = app_file_read(&s->arena, file, &text, err);
    if (r < 0) {
        return r;
    }
    r = charm_parse(&s->arena, file, text, &charm, err);
    if (r == 0) {
        *ret_charm = charm_message(&s->arena, &charm);
        return 0;
    }
    enum file_kind kind = file_kind_of(&s->arena, file, text);
    const char *why = kind == FILE_OF_CHARM
                          ? NULL
                          : file_kind_text(&s->arena, file, kind, "units deploy takes a charm");
    return why ? err_set(err, ERR_INVALID, "%s", why) : r;
}

static size_t list_size(const char *const *list)
{
    size_t count = 0;
    while (list[count]) {
        count++;
    }
    return count;
}

static const char *units_text(struct arena *a, int64_t count)
{
    return count == 1 ? "1 unit" : arena_printf(a, "%lld units", (long long)count);
}

/* ---- Deploy, add-unit ------------------------------------------------------------------------ */

static int deploy_request(struct session *s, const struct invocation *call,
                          Board__DeployUnitsRequest *r, struct err *err)
{
    const char *name = cli_text(call, "name");
    const char *const *config = cli_list(call, "config");
    int e = read_charm(s, call->arguments[0], &r->charm, err);
    int64_t count = e == 0 && r->charm->subordinate ? 0 : 1;
    r->name = arena_strdup(&s->arena, name ? name : "");
    e = e < 0 ? e : cli_number(call, "units", 0, UNITS_ASKED_MOST, &count, err);
    r->count = (uint32_t)count;
    r->n_settings = list_size(config);
    e = e < 0 ? e : unit_settings_read(&s->arena, config, r->n_settings, &r->settings, err);
    return e < 0 ? e : units_needs_read(s, call, &r->needs, err);
}

static int deploy(struct session *s, const struct invocation *call, struct err *err)
{
    Board__DeployUnitsRequest request = BOARD__DEPLOY_UNITS_REQUEST__INIT;
    int r = deploy_request(s, call, &request, err);
    if (r < 0) {
        return r;
    }
    const char *name = *request.name ? request.name : request.charm->name;
    r = units_change(s, "deploy", &request.base, err);
    if (r == -ERR_EXISTS && cli_client_may_have_done(s->client)) {
        r = 0; /* an earlier try of ours, whose answer was lost */
    }
    return r < 0 ? units_about(s, name, r, err)
                 : units_done(s, name, "deployed",
                              arena_printf(&s->arena, "deployed with %s: bbs units status %s",
                                           units_text(&s->arena, request.count), name),
                              err);
}

static int add(struct session *s, const struct invocation *call, struct err *err)
{
    Board__AddUnitsRequest request = BOARD__ADD_UNITS_REQUEST__INIT;
    int64_t count = 1;
    int r = cli_number(call, "units", 1, UNITS_ASKED_MOST, &count, err);
    r = r < 0 ? r : units_needs_read(s, call, &request.needs, err);
    if (r < 0) {
        return r;
    }
    request.service = arena_strdup(&s->arena, call->arguments[0]);
    request.count = (uint32_t)count;
    r = units_change(s, "add", &request.base, err);
    return r < 0 ? units_about(s, request.service, r, err)
                 : units_done(s, request.service, "added",
                              arena_printf(&s->arena, "has %s more", units_text(&s->arena, count)),
                              err);
}

/* ---- Upgrade, config ------------------------------------------------------------------------- */

static int upgrade(struct session *s, const struct invocation *call, struct err *err)
{
    Board__UpgradeUnitsRequest request = BOARD__UPGRADE_UNITS_REQUEST__INIT;
    request.service = arena_strdup(&s->arena, call->arguments[0]);
    int r = read_charm(s, call->arguments[1], &request.charm, err);
    if (r < 0) {
        return r;
    }
    r = units_change(s, "upgrade", &request.base, err);
    return r < 0 ? units_about(s, request.service, r, err)
                 : units_done(s, request.service, "upgraded",
                              "has the charm: each unit follows when it is idle", err);
}

static int show_config(struct session *s, const char *service, struct err *err)
{
    Board__UnitServiceWholeRequest request = BOARD__UNIT_SERVICE_WHOLE_REQUEST__INIT;
    ProtobufCMessage *m;
    SCOPED_BUF(out);
    request.service = arena_strdup(&s->arena, service);
    int r = units_call(s, "get", &request.base, &board__unit_service_whole__descriptor, &m, err);
    if (r < 0) {
        return r;
    }
    if (s->json) {
        session_json(s, m, &out);
    } else {
        unit_config_table(&s->arena, (const Board__UnitServiceWhole *)m, &out);
    }
    return cli_print(buf_bytes(&out), err);
}

static int config(struct session *s, const struct invocation *call, struct err *err)
{
    Board__ConfigureUnitsRequest request = BOARD__CONFIGURE_UNITS_REQUEST__INIT;
    const char *const *unset = cli_list(call, "unset");
    const char *service = call->arguments[0];
    request.n_settings = call->argument_count - 1;
    request.n_unset = list_size(unset);
    if (request.n_settings + request.n_unset == 0) {
        return show_config(s, service, err);
    }
    request.service = arena_strdup(&s->arena, service);
    request.unset = ARENA_ARRAY(&s->arena, request.n_unset, char *);
    for (size_t i = 0; i < request.n_unset; i++) {
        request.unset[i] = arena_strdup(&s->arena, unset[i]);
    }
    int r = unit_settings_read(&s->arena, call->arguments + 1, request.n_settings,
                               &request.settings, err);
    if (r < 0) {
        return r;
    }
    r = units_change(s, "configure", &request.base, err);
    return r < 0 ? units_about(s, service, r, err)
                 : units_done(s, service, "configured", "is configured: its units hear of it", err);
}

SESSION_RUN(bbs_units_deploy_run, deploy)
SESSION_RUN(bbs_units_add_run, add)
SESSION_RUN(bbs_units_upgrade_run, upgrade)
SESSION_RUN(bbs_units_config_run, config)
