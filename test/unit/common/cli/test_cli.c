/* Command lines: options, mistakes, help, tables. */
#include "common/cli/client_io.h"
#include "common/cli/commands.h"
#include "common/cli/table.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int nothing(const struct invocation *call, struct err *err)
{
    return 0;
}

static const struct cli_option options[] = {
    {.name = "bbs-url", .value = "URLS", .help = "the bbs", .env = "OURS,THEIRS", .required = true},
    {.name = "wait", .help = "wait for it"},
    {.name = "timeout", .value = "TIME", .help = "how long", .fallback = "60s"},
    {.name = "output", .value = "table|json", .help = "for whom", .fallback = "table"},
    {.name = "tag", .value = "TAG", .help = "a tag", .repeated = true},
    {.name = "number", .value = "N", .help = "a number"},
    {0},
};
static const struct cli_option *const tables[] = {options, NULL};
static const struct cli_option *const needy[] = {
    (const struct cli_option[]){
        {.name = "cell-id", .value = "ID", .help = "the cell's name", .required = true}, {0}},
    NULL};
static const struct cli_command commands[] = {
    {"apply", "FILE...", "desires", "more\n", tables, 1, 3, nothing},
    {"ps", "[NAME]", "shows", NULL, tables, 0, 1, nothing},
    {"serve", "", "serves", NULL, needy, 0, 0, nothing},
    {0},
};
static const struct cli_program program = {"bbs", "guards the board", commands};

struct fixture {
    struct arena arena;
    struct err err;
    struct invocation call;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    arena_init(&f->arena);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    arena_done(&f->arena);
    free(f);
    return 0;
}

/* Splits at blanks. */
static int parse_of(struct fixture *f, const struct cli_program *p, const char *line)
{
    char **argv = ARENA_ARRAY(&f->arena, 64, char *);
    int argc = 0;
    for (char *at = strtok(arena_strdup(&f->arena, line), " "); at; at = strtok(NULL, " ")) {
        argv[argc++] = at;
    }
    f->err.text[0] = 0;
    memset(&f->call, 0, sizeof(f->call));
    return cli_parse(&f->arena, p, argc, argv, &f->call, &f->err);
}

static int parse(struct fixture *f, const char *line)
{
    return parse_of(f, &program, line);
}

static int complete(struct fixture *f, const char *a, const char *b)
{
    char *env[] = {arena_strdup(&f->arena, a), arena_strdup(&f->arena, b), NULL};
    return cli_complete(&f->call, env, &f->err);
}

static void options_stand_anywhere(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(parse(f, "bbs apply --wait a.yaml --timeout=5m --tag x b.yaml --tag=y -- --c"),
                     0);
    assert_int_equal(complete(f, "OURS=", "THEIRS=https://t"), 0);
    assert_string_equal(f->call.command->name, "apply");
    assert_int_equal(f->call.argument_count, 3);
    assert_string_equal(f->call.arguments[1], "b.yaml");
    assert_string_equal(f->call.arguments[2], "--c");
    assert_true(cli_switch(&f->call, "wait"));
    assert_string_equal(cli_text(&f->call, "bbs-url"), "https://t");
    assert_string_equal(cli_list(&f->call, "tag")[1], "y");
    assert_null(cli_list(&f->call, "tag")[2]);
    assert_null(cli_text(&f->call, "number"));
    int64_t ms = 0;
    assert_int_equal(cli_duration_ms(&f->call, "timeout", &ms, &f->err), 0);
    assert_int_equal(ms, 5 * 60 * 1000);
}

static void what_is_given_wins_over_the_environment(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(parse(f, "bbs ps --bbs-url https://given"), 0);
    assert_int_equal(complete(f, "OURS=https://o", "THEIRS=https://t"), 0);
    assert_string_equal(cli_text(&f->call, "bbs-url"), "https://given");
    assert_int_equal(parse(f, "bbs ps"), 0);
    assert_int_equal(complete(f, "THEIRS=https://t", "OURS=https://o"), 0);
    assert_string_equal(cli_text(&f->call, "bbs-url"), "https://o");
    assert_int_equal(parse(f, "bbs ps"), 0);
    assert_int_equal(complete(f, "THEIRSX=https://t", "O=1"), -ERR_INVALID);
    assert_string_equal(f->err.text, "missing: --bbs-url (or OURS): the bbs");
    assert_int_equal(parse(f, "bbs serve"), 0);
    assert_int_equal(complete(f, "A=b", "C=d"), -ERR_INVALID);
    assert_string_equal(f->err.text, "--cell-id ID is missing: the cell's name");
}

/* Somebody who has just opened a shell is told all that it lacks, and what sets it. */
static void a_shell_that_knows_no_cluster_is_told_what_to_run(void **state)
{
    struct fixture *f = *state;
    static const struct cli_option *const shared[] = {cli_bbs_options, cli_tls_options, NULL};
    static const struct cli_command ps[] = {
        {.name = "ps", .arguments = "", .summary = "", .options = shared}, {0}};
    static const struct cli_program asking = {"bbs", "asks", ps};
    char *argv[] = {(char *)"bbs", (char *)"ps"}, *none[] = {NULL};
    char *all_but_one[] = {(char *)"BBS_URL=https://b", (char *)"CA_CERT_FILE=x",
                           (char *)"CLIENT_KEY_FILE=y", NULL};
    assert_int_equal(cli_parse(&f->arena, &asking, 2, argv, &f->call, &f->err), 0);
    assert_int_equal(cli_complete(&f->call, none, &f->err), -ERR_INVALID);
    assert_string_equal(
        f->err.text,
        "missing: --bbs-url (or CORKBOARD_BBS_URLS), --ca-cert-file (or CA_CERT_FILE), "
        "--client-cert-file (or CLIENT_CERT_FILE), --client-key-file (or CLIENT_KEY_FILE); of a "
        "local cluster: eval \"$(deploy/local/env)\"");
    assert_int_equal(cli_parse(&f->arena, &asking, 2, argv, &f->call, &f->err), 0);
    assert_int_equal(cli_complete(&f->call, all_but_one, &f->err), -ERR_INVALID);
    assert_string_equal(f->err.text, "missing: --client-cert-file (or CLIENT_CERT_FILE): the "
                                     "client's certificate");
}

static void mistakes_say_what_to_do(void **state)
{
    struct fixture *f = *state;
    static const char *const rows[][2] = {
        {"bbs", "what should be done? See bbs --help"},
        {"bbs aply x", "unknown command \"aply\"; did you mean \"bbs apply\"?"},
        {"bbs frobnicate", "unknown command \"frobnicate\"; see bbs --help"},
        {"bbs apply", "FILE is missing: bbs apply FILE..."},
        {"bbs apply a b c d", "\"d\" is one argument too many: bbs apply FILE..."},
        {"bbs ps --weit", "unknown option --weit; did you mean --wait?"},
        {"bbs ps --qqqqqqqq=1", "unknown option --qqqqqqqq; see bbs ps --help"},
        {"bbs ps -x",
         "unknown option -x; see bbs ps --help, or put -- before what only begins with -"},
        {"bbs ps web -1", "\"-1\" is one argument too many: bbs ps [NAME]"},
        {"bbs serve x", "\"x\" is one argument too many: bbs serve"},
        {"bbs help aply", "unknown command \"aply\"; did you mean \"bbs apply\"?"},
        {"bbs ps --wait=yes", "--wait takes no value"},
        {"bbs ps --wait --wait", "--wait is given twice"},
        {"bbs ps --timeout", "--timeout needs a value: --timeout TIME"},
        {"bbs ps --timeout --wait", "--timeout needs a value: --timeout TIME"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(parse(f, rows[i][0]), -ERR_INVALID);
        assert_string_equal(f->err.text, rows[i][1]);
    }
    char line[2000] = "bbs ps";
    for (int i = 0; i <= CLI_REPEATS_MAX; i++) {
        strcat(line, " --tag=x");
    }
    char *argv[CLI_REPEATS_MAX + 3];
    int argc = 0;
    for (char *at = strtok(line, " "); at; at = strtok(NULL, " ")) {
        argv[argc++] = at;
    }
    assert_int_equal(cli_parse(&f->arena, &program, argc, argv, &f->call, &f->err), -ERR_INVALID);
}

static void values_are_checked(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *option;
        int64_t ms; /* -1 = refused */
    } times[] = {{"90", 90000},   {"90s", 90000},      {"500ms", 500}, {"0", 0}, {"2m", 120000},
                 {"1h", 3600000}, {"25h", -1},         {"1d", 86400000}, {"2d", -1}, {"", -1},
                 {"-1s", -1},     {"1.5s", -1},        {"9999999999s", -1}, {"s", -1}};
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        assert_int_equal(parse(f, arena_printf(&f->arena, "bbs ps --timeout=%s", times[i].option)),
                         0);
        int64_t ms = -1;
        int r = cli_duration_ms(&f->call, "timeout", &ms, &f->err);
        assert_int_equal(r, times[i].ms < 0 ? -ERR_INVALID : 0);
        assert_int_equal(ms, times[i].ms);
    }
    static const struct {
        const char *option;
        int64_t ms; /* -1 = refused */
    } ages[] = {{"0", 0}, {"90s", 90000}, {"30d", INT64_C(2592000000)}, {"31d", -1}, {"1w", -1}};
    for (size_t i = 0; i < sizeof(ages) / sizeof(ages[0]); i++) {
        int64_t ms = -1;
        parse(f, arena_printf(&f->arena, "bbs ps --timeout=%s", ages[i].option));
        assert_int_equal(cli_age_ms(&f->call, "timeout", &ms, &f->err),
                         ages[i].ms < 0 ? -ERR_INVALID : 0);
        assert_int_equal(ms, ages[i].ms);
    }
    static const struct {
        const char *option;
        int64_t value;
    } numbers[] = {{"1", 1},  {"10", 10}, {"0", -1},  {"11", -1},
                   {"x", -1}, {"1x", -1}, {"-1", -1}, {"99999999999999999999", -1}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        parse(f, arena_printf(&f->arena, "bbs ps --number=%s", numbers[i].option));
        int64_t value = -1;
        cli_number(&f->call, "number", 1, 10, &value, &f->err);
        assert_int_equal(value, numbers[i].value);
    }
    const char *word = NULL;
    parse(f, "bbs ps --output=tabl");
    assert_int_equal(cli_choice(&f->call, "output", &word, &f->err), -ERR_INVALID);
    assert_string_equal(f->err.text, "--output must be table|json, not \"tabl\"");
    parse(f, "bbs ps --output json");
    assert_int_equal(cli_choice(&f->call, "output", &word, &f->err), 0);
    assert_string_equal(word, "json");
}

static void help_names_everything(void **state)
{
    struct fixture *f = *state;
    static const char *const lines[] = {"bbs --help", "bbs -h", "bbs help", "bbs ps --help",
                                        "bbs apply -h", "bbs help ps"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        SCOPED_BUF(out);
        assert_int_equal(parse(f, lines[i]), 0);
        assert_true(f->call.help);
        cli_help(&f->call, &out);
        const char *text = buf_string(&out);
        if (f->call.command) {
            assert_non_null(strstr(text, "--timeout TIME"));
            assert_non_null(strstr(text, "(60s)"));
            assert_non_null(strstr(text, "[OURS,THEIRS]"));
        } else {
            assert_non_null(strstr(text, "bbs apply FILE..."));
            assert_non_null(strstr(text, "7 partly placed"));
        }
    }
    assert_int_equal(parse(f, "bbs --version"), 0);
    assert_true(f->call.version);
}

/* `bbs GROUP VERB`: a group alone lists, and shows what a NAME names, a verb wins over a NAME. */
static const struct cli_command cells[] = {
    {"", "[NAME]", "shows cells", "of cells\n", tables, 0, 1, nothing},
    {"keep", "", "waits for them", NULL, needy, 0, 0, nothing},
    {"label", "NAME TAG", "names one", NULL, tables, 2, 2, nothing},
    {0},
};
static const struct cli_command top[] = {{"ps", "[NAME]", "shows", NULL, tables, 0, 1, nothing},
                                         {0}};
static const struct cli_group work = {"", "Work:", top}, of_cells = {"cells", "Cells:", cells};
static const struct cli_group *const groups[] = {&work, &of_cells, NULL};
static const struct cli_program grouped = {"bbs", "guards the board", NULL, groups};

static void groups_have_verbs(void **state)
{
    struct fixture *f = *state;
    static const struct {
        /* Argument NULL: there is none; title NULL: a mistake. */
        const char *line, *title, *argument;
        const char *error;
    } rows[] = {
        {"bbs ps web", "bbs ps", "web", NULL},
        {"bbs cells", "bbs cells", NULL, NULL},
        {"bbs cells c1", "bbs cells", "c1", NULL},
        {"bbs cells keep", "bbs cells keep", NULL, NULL},
        {"bbs cells -- keep", "bbs cells", "keep", NULL},
        {"bbs cells --output json keep --cell-id x", NULL, NULL,
         "unknown option --output; see bbs cells keep --help"},
        {"bbs cells --cell-id x keep", "bbs cells keep", NULL, NULL},
        {"bbs cells --cell-id=x keep", "bbs cells keep", NULL, NULL},
        {"bbs cells --timeout keep", "bbs cells", NULL, NULL}, /* its value, and no verb */
        {"bbs cells --wait label c1 x", "bbs cells label", "c1", NULL},
        {"bbs cells label c1", NULL, NULL, "an argument is missing: bbs cells label NAME TAG"},
        {"bbs cells keep x", NULL, NULL, "\"x\" is one argument too many: bbs cells keep"},
        {"bbs cells c1 keep", NULL, NULL, "\"keep\" is one argument too many: bbs cells [NAME]"},
        {"bbs cells --weit", NULL, NULL, "unknown option --weit; did you mean --wait?"},
        {"bbs cels", NULL, NULL, "unknown command \"cels\"; did you mean \"bbs cells\"?"},
        {"bbs keep", NULL, NULL, "unknown command \"keep\"; see bbs --help"},
        {"bbs help cells keep", "bbs cells keep", NULL, NULL},
        {"bbs help cells", "bbs cells", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int r = parse_of(f, &grouped, rows[i].line);
        if (r != (rows[i].title ? 0 : -ERR_INVALID)) {
            fail_msg("%s: %d %s", rows[i].line, r, f->err.text);
        }
        if (r < 0) {
            assert_string_equal(f->err.text, rows[i].error);
            continue;
        }
        assert_string_equal(f->call.title, rows[i].title);
        assert_int_equal(f->call.argument_count > 0, rows[i].argument != NULL);
        if (rows[i].argument) {
            assert_string_equal(f->call.arguments[0], rows[i].argument);
        }
    }
    assert_string_equal(cli_verb_near(&f->call, "keeep"), "keep");
    assert_null(cli_verb_near(&f->call, "c1"));
}

static void groups_have_help(void **state)
{
    struct fixture *f = *state;
    static const char *const shown[][2] = {
        {"bbs --help", "Cells:\n  bbs cells [NAME]                   shows cells\n"
                       "  bbs cells keep                     waits for them\n"},
        {"bbs cells --help", "shows cells\n\n  bbs cells keep                     waits"},
        {"bbs cells keep --help", "bbs cells keep [OPTIONS]\nwaits for them\n\n  --cell-id ID"},
    };
    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
        SCOPED_BUF(out);
        assert_int_equal(parse_of(f, &grouped, shown[i][0]), 0);
        cli_help(&f->call, &out);
        if (!strstr(buf_string(&out), shown[i][1])) {
            fail_msg("%s: %s", shown[i][0], buf_string(&out));
        }
    }
}

static void groups_are_completed(void **state)
{
    struct fixture *f = *state;
    SCOPED_BUF(script);
    assert_int_equal(parse_of(f, &grouped, "bbs completion"), 0);
    assert_true(f->call.completion);
    cli_completion(&grouped, &script);
    assert_non_null(strstr(buf_string(&script), "    \"  \") words=\"ps cells help "));
    assert_non_null(
        strstr(buf_string(&script), "    \" cells keep \"*) words=\"--cell-id --help\""));
    assert_non_null(strstr(buf_string(&script), "    \" cells \"*) words=\"keep label --bbs-url "));
}

/* bbs task "$GUID" where the variable is not set */
static void an_empty_argument_is_none(void **state)
{
    struct fixture *f = *state;
    static const struct cli_option *const none[] = {NULL};
    static const struct cli_command some[] = {
        {"why", "NAME[/N]", "", NULL, none, 1, 2, nothing},
        {"scale", "NAME N", "", NULL, none, 2, 2, nothing},
        {"rm", "NAME...", "", NULL, none, 1, 9, nothing},
        {"tasks", "[NAME]", "", NULL, none, 0, 1, nothing},
        {0},
    };
    static const struct cli_program all = {"bbs", "guards the board", some};
    static const struct {
        const char *words[5];
        const char *error;
    } rows[] = {
        {{"bbs", "why", ""}, "NAME is empty: bbs why NAME[/N]"},
        {{"bbs", "scale", "", "2"}, "NAME is empty: bbs scale NAME N"},
        {{"bbs", "scale", "web", ""}, "N is empty: bbs scale NAME N"},
        {{"bbs", "rm", "web", "api", ""}, "NAME is empty: bbs rm NAME..."},
        {{"bbs", "tasks", ""}, "NAME is empty: bbs tasks [NAME]"},
        {{"bbs", "rm", "web", "api"}, NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int argc = 0;
        char *argv[6] = {NULL};
        for (; argc < 5 && rows[i].words[argc]; argc++) {
            argv[argc] = arena_strdup(&f->arena, rows[i].words[argc]);
        }
        int r = cli_parse(&f->arena, &all, argc, argv, &f->call, &f->err);
        if (r != (rows[i].error ? -ERR_INVALID : 0)) {
            fail_msg("row %zu: %d", i, r);
        }
        if (rows[i].error) {
            assert_string_equal(f->err.text, rows[i].error);
        }
    }
}

static void tables_align_and_hide_control_characters(void **state)
{
    struct fixture *f = *state;
    struct table t;
    SCOPED_BUF(out);
    table_init(&t, &f->arena, 3, (const char *[]){"A", "BB", "C"});
    table_add(&t, (const char *[]){"long\xc3\xa4", NULL, "x"});
    table_note(&t, "a\033[2Jnote");
    table_add(&t, (const char *[]){"", "1", "\n"});
    table_print(&t, &out);
    assert_string_equal(buf_string(&out), "A      BB  C\n"
                                          "long\xc3\xa4  -   x\n"
                                          "    a?[2Jnote\n"
                                          "-      1   ?\n");
    static const struct {
        int64_t seconds;
        const char *text;
    } ages[] = {{-5, "0s"},     {0, "0s"},    {119, "119s"}, {120, "2m"},
                {7199, "119m"}, {7200, "2h"}, {172800, "2d"}};
    for (size_t i = 0; i < sizeof(ages) / sizeof(ages[0]); i++) {
        assert_string_equal(age_text(&f->arena, ages[i].seconds * 1000000000), ages[i].text);
    }
}

static void long_cells_are_cut_on_a_terminal(void **state)
{
    struct fixture *f = *state;
    enum { MOST = TABLE_CELL_LETTERS };
    char fits[2 * MOST + 1] = "", longer[2 * MOST + 3] = "", shown[2 * MOST + 3] = "";
    for (int i = 0; i < MOST; i++) {
        strcat(fits, "\u00e4");
        strcat(shown, i < MOST - 1 ? "\u00e4" : "\u2026");
    }
    strcat(strcpy(longer, fits), "x");
    for (int terminal = 0; terminal < 2; terminal++) {
        struct table t;
        SCOPED_BUF(out);
        table_init(&t, &f->arena, 1, (const char *[]){"A"});
        t.terminal = terminal;
        table_add(&t, (const char *[]){fits});
        table_add(&t, (const char *[]){longer});
        table_print(&t, &out);
        assert_string_equal(buf_string(&out), arena_printf(&f->arena, "A\n%s\n%s\n", fits,
                                                           terminal ? shown : longer));
    }
}

/* What a shell's "$(...)" gives may be more than that. */
static void too_many_arguments_are_told_what_to_do(void **state)
{
    struct fixture *f = *state;
    static const struct cli_option *const none[] = {NULL};
    static const struct cli_command some[] = {
        {"rm", "NAME...", "", NULL, none, 1, CLI_ARGUMENTS_MAX, nothing},
        {0},
    };
    static const struct cli_program all = {"bbs", "guards the board", some};
    char *argv[CLI_ARGUMENTS_MAX + 3] = {arena_strdup(&f->arena, "bbs"),
                                         arena_strdup(&f->arena, "rm")};
    for (int i = 0; i <= CLI_ARGUMENTS_MAX; i++) {
        argv[2 + i] = arena_printf(&f->arena, "a%d", i);
    }
    assert_int_equal(cli_parse(&f->arena, &all, CLI_ARGUMENTS_MAX + 2, argv, &f->call, &f->err), 0);
    assert_int_equal(cli_parse(&f->arena, &all, CLI_ARGUMENTS_MAX + 3, argv, &f->call, &f->err),
                     -ERR_INVALID);
    assert_string_equal(f->err.text, "more than 1024 arguments: run bbs rm several times");
}

static void a_switch_may_have_a_letter(void **state)
{
    struct fixture *f = *state;
    static const struct cli_option followed[] = {
        {.name = "follow", .letter = 'f', .help = "goes on"},
        {.name = "lines", .value = "N", .help = "so many", .letter = 'n'},
        {0},
    };
    static const struct cli_option *const lists[] = {followed, NULL};
    static const struct cli_command logs[] = {
        {"logs", "NAME", "shows", NULL, lists, 1, 2, nothing},
        {0},
    };
    static const struct cli_program one = {"bbs", "guards the board", logs};
    static const struct {
        const char *words[5];
        const char *error; /* NULL: it is well, and follows */
    } rows[] = {
        {{"bbs", "logs", "-f", "web"}, NULL},
        {{"bbs", "logs", "web", "--follow"}, NULL},
        {{"bbs", "logs", "web", "-f", "-f"}, "--follow is given twice"},
        {{"bbs", "logs", "-fn", "web"},
         "unknown option -fn; see bbs logs --help, or put -- before what only begins with -"},
        {{"bbs", "logs", "web", "-n", "3"}, ""},
        {{"bbs", "logs", "web", "-n"}, "-n needs a value: -n N"},
        {{"bbs", "logs", "web", "-n", "--follow"}, "-n needs a value: -n N"},
        {{"bbs", "logs", "web", "-l"},
         "unknown option -l; see bbs logs --help, or put -- before what only begins with -"},
        {{"bbs", "logs", "web", "-ff"},
         "unknown option -ff; see bbs logs --help, or put -- before what only begins with -"},
        {{"bbs", "logs", "--", "-f"}, ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int argc = 0;
        while (argc < 5 && rows[i].words[argc]) {
            argc++;
        }
        char *const *words = (char *const *)(uintptr_t)rows[i].words;
        int r = cli_parse(&f->arena, &one, argc, words, &f->call, &f->err);
        if (rows[i].error && *rows[i].error) {
            assert_int_equal(r, -ERR_INVALID);
            assert_string_equal(f->err.text, rows[i].error);
        } else {
            assert_int_equal(r, 0);
            assert_int_equal(cli_switch(&f->call, "follow"), rows[i].error == NULL);
        }
    }
    SCOPED_BUF(out);
    cli_help(&f->call, &out);
    assert_non_null(strstr(buf_string(&out), "-f, --follow "));
    assert_non_null(strstr(buf_string(&out), "-n, --lines N "));
    static char *const numbered[] = {(char *)"bbs", (char *)"logs", (char *)"-n", (char *)"3",
                                     (char *)"web"};
    assert_int_equal(cli_parse(&f->arena, &one, 5, numbered, &f->call, &f->err), 0);
    assert_string_equal(cli_text(&f->call, "lines"), "3");
    assert_string_equal(f->call.arguments[0], "web");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_shell_that_knows_no_cluster_is_told_what_to_run),
        TEST(a_switch_may_have_a_letter),
        TEST(long_cells_are_cut_on_a_terminal),
        TEST(too_many_arguments_are_told_what_to_do),
        TEST(options_stand_anywhere),  TEST(what_is_given_wins_over_the_environment),
        TEST(mistakes_say_what_to_do), TEST(values_are_checked),
        TEST(an_empty_argument_is_none),
        TEST(groups_have_verbs),
        TEST(groups_have_help),
        TEST(groups_are_completed),
        TEST(help_names_everything),   TEST(tables_align_and_hide_control_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
