#include "bbs/cli/settings.h"

#include "bbs/cli/commands_io.h"
#include "bbs/cli/session_io.h"
#include "common/cli/cli_io.h"
#include "common/cli/commands.h"
#include "common/codec/json.h"

/* What a verb does with the settings as they are; it appends what is printed. */
typedef int verb(struct session *s, const struct invocation *call,
                 const Board__SettingsResponse *all, struct buf *out, struct err *err);

static int ask(struct session *s, const Board__SettingsResponse **ret_all, struct err *err)
{
    ProtobufCMessage *m;
    int r = cli_client_call(s->client, &s->arena, "/v1/board/settings/list", NULL,
                            &board__settings_response__descriptor, &m, err);
    if (r == 0) {
        *ret_all = (const Board__SettingsResponse *)m;
    }
    return r;
}

static int run(const struct invocation *call, verb *does, struct err *err)
{
    struct session s;
    struct buf out;
    const Board__SettingsResponse *all = NULL;
    buf_init(&out);
    int r = session_open(call, &s, err);
    r = r < 0 ? r : ask(&s, &all, err);
    r = r < 0 ? r : does(&s, call, all, &out, err);
    r = r < 0 ? r : cli_print(buf_bytes(&out), err);
    session_close(&s);
    buf_done(&out);
    return r;
}

static void json_line(const Board__Setting *setting, struct buf *out)
{
    if (json_encode(&setting->base, CODEC_OWN | CODEC_SNAKE_CASE, out, NULL) == 0) {
        buf_append_string(out, "\n");
    }
}

static void show_one(struct session *s, const Board__Setting *setting, struct buf *out)
{
    if (s->json) {
        json_line(setting, out);
    } else {
        setting_show(&s->arena, setting, cli_wall_ns(), out);
    }
}

static int show(struct session *s, const struct invocation *call,
                const Board__SettingsResponse *all, struct buf *out, struct err *err)
{
    const Board__Setting *one;
    const char *name = call->argument_count ? call->arguments[0] : NULL;
    if (name) {
        int r = setting_named(all, name, cli_verb_near(call, name), &one, err);
        if (r == 0) {
            show_one(s, one, out);
        }
        return r;
    }
    for (size_t i = 0; s->json && i < all->n_settings; i++) {
        json_line(all->settings[i], out);
    }
    if (!s->json) {
        settings_table(&s->arena, all->settings, all->n_settings, cli_wall_ns(), out);
    }
    return 0;
}

/* Tells the setting as it stands after the change; the change is done, whether that can be asked
 * or not. */
static int done(struct session *s, const char *name, const char *sentence, struct buf *out)
{
    const Board__SettingsResponse *all;
    const Board__Setting *one;
    if (!s->json) {
        buf_printf(out, "%s\n", sentence);
    } else if (ask(s, &all, NULL) == 0 && setting_named(all, name, NULL, &one, NULL) == 0) {
        json_line(one, out);
    }
    return 0;
}

static int change(struct session *s, const char *path, const ProtobufCMessage *request,
                  struct err *err)
{
    ProtobufCMessage *m;
    return cli_client_call(s->client, &s->arena, path, request,
                           &board__setting_response__descriptor, &m, err);
}

static int set(struct session *s, const struct invocation *call,
               const Board__SettingsResponse *all, struct buf *out, struct err *err)
{
    const Board__Setting *one;
    Board__SetSettingRequest request = BOARD__SET_SETTING_REQUEST__INIT;
    int r = setting_named(all, call->arguments[0], NULL, &one, err);
    r = r < 0 ? r : setting_value_read(one, call->arguments[1], &request.value, err);
    if (r < 0) {
        return r;
    }
    request.name = one->name;
    r = change(s, "/v1/board/settings/set", &request.base, err);
    return r < 0 ? r
                 : done(s, one->name, setting_sentence(&s->arena, one, request.value), out);
}

static int unset(struct session *s, const struct invocation *call,
                 const Board__SettingsResponse *all, struct buf *out, struct err *err)
{
    const Board__Setting *one;
    Board__UnsetSettingRequest request = BOARD__UNSET_SETTING_REQUEST__INIT;
    int r = setting_named(all, call->arguments[0], NULL, &one, err);
    if (r < 0) {
        return r;
    }
    request.name = one->name;
    r = change(s, "/v1/board/settings/unset", &request.base, err);
    const char *sentence = *one->read_by
                               ? setting_sentence(&s->arena, one, one->default_value)
                               : arena_printf(&s->arena, "%s is gone", one->name);
    return r < 0 ? r : done(s, one->name, sentence, out);
}

static int run_show(const struct invocation *call, struct err *err)
{
    return run(call, show, err);
}

static int run_set(const struct invocation *call, struct err *err)
{
    return run(call, set, err);
}

static int run_unset(const struct invocation *call, struct err *err)
{
    return run(call, unset, err);
}

/* ---- The table ---- */

static const struct cli_option *const question[] = BBS_ASKS_WITH(bbs_timeout_options);

static const char settings_details[] =
    "The numbers that the cluster decides by: what is in force, the default, the range, who reads\n"
    "it, and since when and by whom it is set. With a NAME: all of one.\n";

static const char set_details[] =
    "It is in force at once: nothing is started again. VALUE is a number, or a time like 90s, 5m,\n"
    "24h or 7d; a wrong one is refused with the range.\n"
    "It takes a certificate with OU operator (docs/certificates.md). Exit status 3: there is no\n"
    "such setting; 8: the certificate is another one's.\n";

static const char unset_details[] =
    "The default is in force again, at once. Exit status 3: there is no such setting; 8: it takes\n"
    "a certificate with OU operator.\n";

static const struct cli_command verbs[] = {
    {"", "[NAME]", "shows what the cluster decides by, or one setting", settings_details, question,
     0, 1, run_show},
    {"list", "", "shows all settings", NULL, question, 0, 0, run_show},
    {"set", "NAME VALUE", "changes a setting while everything runs", set_details, question, 2, 2,
     run_set},
    {"unset", "NAME", "goes back to a setting's default", unset_details, question, 1, 1,
     run_unset},
    {0},
};

const struct cli_group bbs_settings_group = {"settings", "Settings:", verbs};
