#include "bbs/cli/units/units_io.h"

#include "bbs/cli/units/unit_words.h"
#include "common/cli/cli_io.h"
#include "common/codec/json.h"

int units_call(struct session *s, const char *path, const ProtobufCMessage *request,
               const ProtobufCMessageDescriptor *answer_type, ProtobufCMessage **ret_answer,
               struct err *err)
{
    return cli_client_call(s->client, &s->arena, arena_printf(&s->arena, "/v1/units/%s", path),
                           request, answer_type, ret_answer, err);
}

int units_change(struct session *s, const char *path, const ProtobufCMessage *request,
                 struct err *err)
{
    ProtobufCMessage *answer;
    return units_call(s, path, request, &board__units_changed__descriptor, &answer, err);
}

int units_about(struct session *s, const char *name, int r, struct err *err)
{
    bool answered = r != -ERR_UNAVAILABLE && r != -ERR_TIMEOUT && r != -ERR_UNKNOWN;
    return answered && unit_text_names(err->text, name) ? r : session_about(s, name, r, err);
}

int units_done(struct session *s, const char *name, const char *result, const char *sentence,
               struct err *err)
{
    SCOPED_BUF(out);
    if (s->json) {
        buf_append_string(&out, "{\"name\":");
        json_string_text(bytes_of(name), &out);
        buf_printf(&out, ",\"result\":\"%s\"}\n", result);
    } else {
        buf_printf(&out, "%s %s\n", name, sentence);
    }
    return cli_print(buf_bytes(&out), err);
}

int units_needs_read(struct session *s, const struct invocation *call, Board__UnitNeeds **ret_needs,
                     struct err *err)
{
    const char *to = cli_text(call, "to");
    Board__UnitNeeds *needs = arena_message(&s->arena, &board__unit_needs__descriptor);
    needs->on_machine = to != NULL;
    needs->unused = cli_switch(call, "unused");
    if (to && needs->unused) {
        return err_set(err, ERR_INVALID,
                       "--to names a machine, and --unused wants one that never "
                       "had a unit: give one of them");
    }
    int r = to ? machine_number_read(to, &needs->machine, err) : 0;
    *ret_needs = to || needs->unused ? needs : NULL;
    return r;
}

int units_force_read(const struct invocation *call, bool *ret_forced, int64_t *ret_max_wait_ms,
                     struct err *err)
{
    *ret_forced = cli_switch(call, "force");
    *ret_max_wait_ms = 0;
    if (cli_text(call, "max-wait") && !*ret_forced) {
        return err_set(err, ERR_INVALID, "--max-wait is of --force: how long the agents have");
    }
    int r = cli_duration_ms(call, "max-wait", ret_max_wait_ms, err);
    if (r == 0 && cli_text(call, "max-wait") && *ret_max_wait_ms == 0) {
        *ret_max_wait_ms = 1; /* 0 is the bbs's own */
    }
    return r;
}
