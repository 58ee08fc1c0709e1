/* bbs units status, why, machines, relations. */
#include "bbs/cli/leader_io.h"
#include "bbs/cli/units/unit_tree.h"
#include "bbs/cli/units/units_io.h"
#include "bbs/cli/why.h"
#include "common/base/query.h"
#include "common/cli/cli_io.h"
#include "common/cli/commands.h"
#include "common/cli/printable.h"
#include "common/codec/json.h"

#include <unistd.h>

static int ask_status(struct session *s, const struct invocation *call,
                      const Board__UnitsStatus **ret, struct err *err)
{
    Board__UnitsStatusRequest request = BOARD__UNITS_STATUS_REQUEST__INIT;
    ProtobufCMessage *m;
    request.n_services = call ? call->argument_count : 0;
    request.services = ARENA_ARRAY(&s->arena, request.n_services, char *);
    for (size_t i = 0; i < request.n_services; i++) {
        request.services[i] = arena_strdup(&s->arena, call->arguments[i]);
    }
    int r = units_call(s, "status", &request.base, &board__units_status__descriptor, &m, err);
    if (r == 0) {
        *ret = (const Board__UnitsStatus *)m;
    }
    return r;
}

static int status(struct session *s, const struct invocation *call, struct err *err)
{
    const Board__UnitsStatus *all;
    SCOPED_BUF(out);
    int r = ask_status(s, call, &all, err);
    const char *verb = r == -ERR_NOT_FOUND ? cli_verb_near(call, call->arguments[0]) : NULL;
    if (verb) {
        struct err inner = *err;
        return err_set(err, inner.code, "%.180s; did you mean bbs units %.30s?", inner.text, verb);
    }
    if (r < 0) {
        return r;
    }
    for (size_t i = 0; s->json && i < all->n_services; i++) {
        session_json(s, &all->services[i]->base, &out);
    }
    for (size_t i = 0; s->json && i < all->n_relations; i++) {
        session_json(s, &all->relations[i]->base, &out);
    }
    for (size_t i = 0; s->json && i < all->n_beside; i++) {
        session_json(s, &all->beside[i]->base, &out);
    }
    if (!s->json) {
        units_tree(&s->arena, all, isatty(STDOUT_FILENO), cli_columns(), &out);
    }
    return cli_print(buf_bytes(&out), err);
}

static int machines(struct session *s, const struct invocation *call, struct err *err)
{
    const Board__UnitsStatus *all;
    SCOPED_BUF(out);
    (void)call;
    int r = ask_status(s, NULL, &all, err);
    if (r < 0) {
        return r;
    }
    for (size_t i = 0; s->json && i < all->n_machines; i++) {
        session_json(s, &all->machines[i]->base, &out);
    }
    if (!s->json) {
        unit_machines_table(&s->arena, all->machines, all->n_machines, cli_wall_ns(), cli_columns(),
                            &out);
    }
    return cli_print(buf_bytes(&out), err);
}

static int relations(struct session *s, const struct invocation *call, struct err *err)
{
    const Board__UnitsStatus *all;
    SCOPED_BUF(out);
    (void)call;
    int r = ask_status(s, NULL, &all, err);
    if (r < 0) {
        return r;
    }
    for (size_t i = 0; s->json && i < all->n_relations; i++) {
        session_json(s, &all->relations[i]->base, &out);
    }
    if (!s->json) {
        unit_relations_table(&s->arena, all->relations, all->n_relations, cli_wall_ns(),
                             cli_columns(), &out);
    }
    return cli_print(buf_bytes(&out), err);
}

static int why(struct session *s, const struct invocation *call, struct err *err)
{
    Board__UnitsWhyRequest request = BOARD__UNITS_WHY_REQUEST__INIT;
    ProtobufCMessage *m;
    SCOPED_BUF(out);
    request.name = arena_strdup(&s->arena, call->arguments[0]);
    request.machine = cli_switch(call, "machine");
    int r = units_call(s, "why", &request.base, &board__units_why__descriptor, &m, err);
    if (r < 0) {
        return r;
    }
    const Board__UnitsWhy *told = (const Board__UnitsWhy *)m;
    struct leader_asker auctioneer = {.s = s, .role = "auctioneer"};
    struct bytes says = {0};
    const char *lack = NULL;
    if (told->unplaced) {
        says = leader_ask(&auctioneer, arena_printf(&s->arena, "/why?unit=%s",
                                                    percent_encoded(&s->arena, request.name)));
        lack = says.size ? NULL : leader_lack(&auctioneer);
    }
    if (s->json) {
        session_json(s, m, &out);
        if (says.size && json_compact(says, &out, NULL) == 0) {
            buf_append_string(&out, "\n");
        }
        if (lack) {
            buf_append_string(&out, "{\"explanation\":[");
            json_string_text(bytes_of(lack), &out);
            buf_append_string(&out, "]}\n");
        }
    } else {
        unit_why_show(&s->arena, told, cli_wall_ns(), &out);
        if (lack) {
            buf_append_string(&out, "    ");
            printable_append(&out, lack);
            buf_append_string(&out, "\n");
        }
        why_auctioneer_print(&s->arena, says, &out);
    }
    return cli_print(buf_bytes(&out), err);
}

SESSION_RUN(bbs_units_status_run, status)
SESSION_RUN(bbs_units_machines_run, machines)
SESSION_RUN(bbs_units_relations_run, relations)
SESSION_RUN(bbs_units_why_run, why)
