/* Units at two running bbs: the command line and the routes, what they refuse and in which words.
 * The test is the rep of cell-1, and the converger. The tests follow one another on one board. */
#include "bbs/cli/commands_io.h"
#include "common/cli/cli_io.h"
#include "common/model/moves.h"
#include "common/model/unit_name.h"
#include "test/api/bbs_rig.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARGUMENTS = 32, TRIES = 200, TRY_US = 50000 };

static struct arena arena; /* of all that is said */
static struct buf said;    /* by the last command, and by the last request */
static unsigned turn;      /* each command asks the other bbs than the one before */
static char dir[] = "/tmp/units-XXXXXX";

/* ---- The command line ------------------------------------------------------------------------ */

static const char *file_at(const char *name)
{
    return arena_printf(&arena, "%s/%s", dir, name);
}

static void write_file(const char *name, struct bytes text)
{
    FILE *f = fopen(file_at(name), "we");
    assert_non_null(f);
    assert_int_equal(fwrite(text.data, 1, text.size, f), text.size);
    assert_int_equal(fclose(f), 0);
}

static void in_child(char *line, int out)
{
    char *argv[ARGUMENTS] = {(char *)(uintptr_t) "bbs", (char *)(uintptr_t) "units"}, *at = NULL;
    int argc = 2;
    for (char *word = strtok_r(line, " ", &at); word; word = strtok_r(NULL, " ", &at)) {
        argv[argc++] = word;
    }
    const struct bbs_process *b = &bbs_rig.bbs[turn % BBS_RIG_COUNT];
    setenv("BBS_URL", arena_printf(&arena, "https://127.0.0.1:%d", b->port), 1);
    setenv("CA_CERT_FILE", bbs_rig.client.ca, 1);
    setenv("CLIENT_CERT_FILE", bbs_rig.client.cert, 1);
    setenv("CLIENT_KEY_FILE", bbs_rig.client.key, 1);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    int status = chdir(dir) == 0 ? cli_main(&bbs_program, argc, argv) : 99;
    fflush(NULL);
    _exit(status);
}

/* Runs `bbs units LINE` in the directory of the files, and gives its status. */
static int units(const char *line)
{
    int pipes[2], status;
    char piece[4096];
    ssize_t size;
    assert_int_equal(pipe(pipes), 0);
    fflush(NULL);
    turn++;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(pipes[0]);
        in_child(arena_strdup(&arena, line), pipes[1]);
    }
    close(pipes[1]);
    said.size = 0;
    while ((size = read(pipes[0], piece, sizeof(piece))) > 0) {
        buf_append(&said, piece, (size_t)size);
    }
    close(pipes[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct command_row {
    int status;
    const char *line, *text; /* which is said */
};

static void says(int status, const char *line, const char *text)
{
    int got = units(line);
    if (got != status || !strstr(buf_string(&said), text)) {
        fail_msg("bbs units %s: %d, not %d with \"%s\": %s", line, got, status, text,
                 buf_string(&said));
    }
}

static void lacks(const char *text)
{
    if (strstr(buf_string(&said), text)) {
        fail_msg("it says \"%s\": %s", text, buf_string(&said));
    }
}

#define SAY(rows)                                                                                  \
    for (size_t row = 0; row < sizeof(rows) / sizeof((rows)[0]); row++) {                          \
        says((rows)[row].status, (rows)[row].line, (rows)[row].text);                              \
    }

/* Once it is so: jobs do their work when the answer is out. */
static void comes_to(int status, const char *line, const char *text)
{
    for (int i = 0; i < TRIES; i++) {
        if (units(line) == status && strstr(buf_string(&said), text)) {
            return;
        }
        usleep(TRY_US);
    }
    fail_msg("bbs units %s: not yet \"%s\": %s", line, text, buf_string(&said));
}

/* ---- Requests, and the moves of others ------------------------------------------------------- */

static void *ask(const char *path, const ProtobufCMessage *m,
                 const ProtobufCMessageDescriptor *type)
{
    SCOPED_BUF(got);
    ProtobufCAllocator allocator = arena_protobuf(&arena);
    assert_int_equal(bbs_post(bbs_rig.bbs[1].port, path, m, &got), 200);
    ProtobufCMessage *answer = protobuf_c_message_unpack(type, &allocator, got.size, got.data);
    assert_non_null(answer);
    return answer;
}

static void refused(const char *path, const ProtobufCMessage *m, int32_t type, const char *text)
{
    const Board__UnitsChanged *answer = ask(path, m, &board__units_changed__descriptor);
    assert_non_null(answer->error);
    assert_string_equal(answer->error->message, text);
    assert_int_equal(answer->error->type, type);
}

static const Board__UnitEntry *entry(const char *service, uint32_t number)
{
    Board__UnitsRequest r = BOARD__UNITS_REQUEST__INIT;
    r.service = arena_strdup(&arena, service);
    const Board__UnitsResponse *all =
        ask("/v1/units/list", &r.base, &board__units_response__descriptor);
    for (size_t i = 0; i < all->n_units; i++) {
        if (all->units[i]->unit->number == number) {
            return all->units[i];
        }
    }
    fail_msg("no unit %s/%u is listed", service, number);
    return NULL;
}

static Board__Move *move_of(const char *move, const char *key, const char *guid)
{
    Board__Move *m = move_new(&arena, move, key);
    m->incarnation = 1;
    m->body_case = BOARD__MOVE__BODY_UNITS;
    m->units = arena_message(&arena, &board__units_move__descriptor);
    m->units->guid = arena_strdup(&arena, guid);
    return m;
}

/* What apply says of the move. */
static const Board__MoveResult *result_of(const struct tls_files *by, Board__Move *m)
{
    Board__ApplyRequest r = BOARD__APPLY_REQUEST__INIT;
    SCOPED_BUF(got);
    ProtobufCAllocator allocator = arena_protobuf(&arena);
    r.n_moves = 1;
    r.moves = &m;
    bbs_post_as(by, "/v1/board/apply", &r.base, &got);
    Board__ApplyResponse *response = board__apply_response__unpack(&allocator, got.size, got.data);
    assert_true(response && response->n_results == 1);
    return response->results[0];
}

/* Why not: "" = it is done. */
static const char *applied(const struct tls_files *by, Board__Move *m)
{
    const Board__MoveResult *result = result_of(by, m);
    return result->error                                          ? result->error->message
           : result->outcome == BOARD__MOVE_RESULT__OUTCOME__DONE ? ""
                                                                  : "nothing";
}

static void rep_does(const char *move, uint32_t number, const char *state)
{
    struct unit_name name = {"web", number};
    const Board__UnitRecord *u = entry("web", number)->unit;
    bool status = state != NULL;
    Board__Move *m =
        move_of(move, status ? key_unit_status(&arena, name) : key_unit(&arena, name), u->guid);
    if (status) {
        m->units->status = arena_message(&arena, &board__unit_status_record__descriptor);
        m->units->status->state = arena_strdup(&arena, state);
        m->units->status->hook = arena_strdup(&arena, strcmp(state, "error") ? "" : "start");
    }
    assert_string_equal(applied(&bbs_rig.rep, m), "");
}

static const Board__Term *converger_term(void)
{
    static Board__Term *held;
    Board__LeaderLockRequest r = BOARD__LEADER_LOCK_REQUEST__INIT;
    Board__LeaderLockRecord lock = BOARD__LEADER_LOCK_RECORD__INIT;
    SCOPED_BUF(got);
    ProtobufCAllocator allocator = arena_protobuf(&arena);
    if (!held) {
        r.leader_lock = &lock;
        lock.role = arena_strdup(&arena, "converger");
        lock.holder = arena_strdup(&arena, "test");
        bbs_post_as(&bbs_rig.converger, "/v1/board/leader_lock", &r.base, &got);
        Board__LeaderLockResponse *response =
            board__leader_lock_response__unpack(&allocator, got.size, got.data);
        assert_true(response && !response->error && response->term);
        held = response->term;
    }
    return held;
}

/* ---- Charms ---------------------------------------------------------------------------------- */

#define RUNS "rootfs: preloaded:busybox\ncommand: exec sleep 1000\nmemory: 16M\n"
#define WEB                                                                                        \
    "name: web\n" RUNS "requires: {db: {interface: kv}, cache: {interface: kv}}\n"                 \
    "config: {greeting: {default: hello}}\n"

static void write_charms(void)
{
    static const struct {
        const char *name, *text;
    } files[] = {
        {"web.yaml", WEB "hooks: {install: 'true'}\n"},
        {"web2.yaml", WEB "hooks: {install: 'false'}\n"},
        {"narrow.yaml", "name: web\n" RUNS "requires: {cache: {interface: kv}}\n"},
        {"db.json",
         "{\"name\": \"db\", \"rootfs\": \"preloaded:busybox\", \"command\": \"exec sleep 1000\",\n"
         " \"provides\": {\"kv\": {\"interface\": \"kv\"},\n"
         "              \"admin\": {\"interface\": \"sql\"}},\n"
         " \"peers\": {\"ring\": {\"interface\": \"ring\"}}}"},
        {"logger.yaml", "name: logger\nsubordinate: true\n" RUNS ""
                        "requires: {host: {interface: juju-info, scope: container}}\n"},
        {"lonely.yaml", "name: lonely\n" RUNS "requires: {x: {interface: none}}\n"},
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        write_file(files[i].name, bytes_of(files[i].text));
    }
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void services_are_deployed(void **state)
{
    static const struct command_row rows[] = {
        {0, "", "NAME"},
        {0, "deploy db.json", "db deployed with 1 unit: bbs units status db"},
        {0, "deploy web.yaml -n 2 --config greeting=hi", "web deployed with 2 units"},
        {0, "deploy logger.yaml --output json", "{\"name\":\"logger\",\"result\":\"deployed\"}"},
        {0, "", "it waits for a machine"},
        {0, "status db", "ring (peers)"},
        {0, "add-unit web -n 29", "web has 29 units more"},
        {0, "why web/30", "it waits for a machine, for "},
        {0, "why web/30", "ends with: a cell that fits has room"},
        {0, "why web", "31 units are on no machine: web/0 (it waits for a machine), web/1 (it"},
        {0, "why web", "and 28 more, for "},
        {0, "why web", "ends with: a cell that fits has room: bbs units why web/0"},
        {0, "why logger", "unit service logger: nothing holds it"},
        {0, "", "31 units are on no machine: web/0"},
        {0, "why web/30 --output json", "\"text\":\"it waits for a machine\""},
        {0, "config web", "greeting  hi     set"},
        {0, "config web greeting=ho", "web is configured"},
        {0, "config web --output json", "{\"key\":\"greeting\",\"value\":\"ho\"}"},
        {0, "config web --unset greeting", "web is configured"},
        {0, "config web", "greeting  hello  default"},
        {0, "relations", "db:ring"},
        {0, "status web --output json", "\"place\":\"unassigned\""},
    };
    SAY(rows)
    comes_to(0, "status web", "web/30");
    says(0, "status db", "db/0");
    lacks("web");
    assert_int_equal(entry("web", 30)->unit->number, 30);
    assert_string_equal(entry("web", 30)->status->state, "pending");
}

static void names_are_refused(void **state)
{
    static const struct command_row rows[] = {
        {4, "deploy web.yaml",
         "unit service web is there already: choose another name, or upgrade it"},
        {2, "deploy web.yaml --name Web", "name: " UNIT_SERVICE_NAME_RULE},
        {2, "deploy web.yaml --name web-1", "name: " UNIT_SERVICE_NAME_RULE},
        {2,
         "deploy web.yaml --name "
         "a123456789012345678901234567890123456789012345678901234567890123",
         "name: " UNIT_SERVICE_NAME_RULE},
        {3, "destroy-unit web",
         "there is no unit web: that is a unit service: bbs units status web"},
        {3, "destroy-unit shop", "there is no unit shop: that is an app: bbs ps shop"},
        {3, "destroy-unit web/99", "there is no unit web/99: bbs units lists those that are"},
        {3, "destroy-unit web/007", "there is no unit web/007: bbs units lists those that are"},
        {3, "destroy-service web/0",
         "there is no unit service web/0: that is a unit: bbs units why web/0"},
        {3, "destroy-service shop", "there is no unit service shop: that is an app: bbs ps shop"},
        {3, "remove-service nobody",
         "bbs: there is no unit service nobody: bbs units lists those that are"},
        {3, "resolved web --skip", "there is no unit web: that is a unit service"},
        {3, "resolved web/99 --skip", "there is no unit web/99: bbs units lists those that are"},
        {3, "add-unit shop", "there is no unit service shop: that is an app: bbs ps shop"},
        {3, "add-unit web/0", "there is no unit service web/0: that is a unit"},
        {3, "config nobody a=b", "there is no unit service nobody"},
        {3, "config nobody",
         "bbs: there is no unit service nobody: bbs units lists those that are"},
        {3, "upgrade nobody web.yaml", "there is no unit service nobody"},
        {3, "status nobody", "there is no unit service nobody: bbs units lists those that are"},
        {3, "why web/99", "there is no unit web/99: bbs units lists those that are"},
        {3, "why 99", "there is no relation 99: bbs units relations lists those that are"},
        {3, "why 99 --machine", "there is no machine 99: bbs units machines lists those that are"},
        {3, "why shop", "there is no unit service shop: that is an app: bbs ps shop"},
        {2, "destroy-machine cell-1",
         "\"cell-1\" is no number of a machine: bbs units machines lists them"},
        {3, "destroy-machine 99",
         "bbs: there is no machine 99: bbs units machines lists those that are"},
        {3, "cordon 99", "bbs: there is no machine 99: bbs units machines lists those that are"},
        {3, "add-machine nowhere", "there is no cell nowhere: bbs cells lists those that are"},
    };
    SCOPED_BUF(answer);
    assert_int_equal(bbs_desire(bbs_rig.bbs[0].port, "shop", 1, &answer), -1);
    SAY(rows)
}

static void what_is_asked_for_is_refused(void **state)
{
    static const struct command_row rows[] = {
        {2, "deploy web.yaml --name other -n 2 --to 0",
         "count: 2 units on machine 0: ask for one, or leave the machine out"},
        {2, "deploy web.yaml --name other --to 0 --unused", "give one of them"},
        {3, "deploy web.yaml --name other --to 7", "there is no machine 7: bbs units machines"},
        {2, "deploy web.yaml --name other -n 100001",
         "--units must be a number from 0 to 100000, not \"100001\""},
        {2, "deploy web.yaml -n", "-n needs a value: -n N"},
        {2, "deploy logger.yaml --name other -n 1",
         "other is subordinate: its units come with those of the services that it is related to"},
        {2, "add-unit logger", "unit service logger is subordinate: its units come with those"},
        {2, "deploy logger.yaml --name other --unused",
         "leave number, machine and constraints out"},
        {2, "deploy logger.yaml --name other --to 0", "leave number, machine and constraints out"},
        {2, "deploy web.yaml --name other --config greeting",
         "\"greeting\" is no setting: KEY=VALUE"},
        {2, "deploy web.yaml --name other --config greetin=a", "did you mean \"greeting\"?"},
        {2, "config web greetin=a", "did you mean \"greeting\"?"},
        {2, "config web --unset greetin", "did you mean \"greeting\"?"},
        {2, "config web greeting=a greeting=b", "greeting is set twice"},
        {2, "resolved web/0", "web/0: give --retry, and its hook runs again, or --skip"},
        {2, "resolved web/0 --retry --skip", "and it counts as done; not both"},
        {2, "destroy-unit web/0 --max-wait 5s", "--max-wait is of --force"},
        {2, "destroy-unit", "UNIT is missing"},
        {3, "destroi-unit", "did you mean bbs units destroy-unit?"},
    };
    SAY(rows)
    Board__UnitRequest r = BOARD__UNIT_REQUEST__INIT;
    r.unit = arena_strdup(&arena, "web/0");
    refused("/v1/units/resolve", &r.base, MODELS__ERROR__TYPE__InvalidRequest,
            "resolved says neither that the hook is to run again (--retry) nor that it counts as "
            "done (--skip)");
    Board__AddUnitsRequest none = BOARD__ADD_UNITS_REQUEST__INIT;
    none.service = arena_strdup(&arena, "web");
    refused("/v1/units/add", &none.base, MODELS__ERROR__TYPE__InvalidRequest,
            "count: how many units are to be added?");
    Board__UnitNeeds needs = BOARD__UNIT_NEEDS__INIT;
    char *tags[] = {arena_strdup(&arena, "large")};
    needs.n_placement_tags = 1;
    needs.placement_tags = tags;
    none.count = 1;
    none.needs = &needs;
    refused("/v1/units/add", &none.base, MODELS__ERROR__TYPE__InvalidRequest,
            "needs.placement_tags: they are of the service: deploy takes them");
}

static void ends_are_refused(void **state)
{
    static const struct command_row rows[] = {
        {2, "add-relation web db",
         "web and db fit in 2 ways; name the ends: web:cache db:kv, web:db "
         "db:kv"},
        {3, "add-relation web nobody", "there is no unit service nobody"},
        {3, "add-relation web shop", "there is no unit service shop: that is an app: bbs ps shop"},
        {2, "add-relation web:bd db", "web has no endpoint \"bd\"; did you mean \"db\"?"},
        {2, "add-relation web:db db:admin", "have different interfaces: kv and sql"},
        {2, "add-relation web:db lonely:x", "both require something"},
        {2, "add-relation db:kv lonely:juju-info", "both provide something"},
        {2, "add-relation db lonely", "nothing of db and lonely fits"},
        {2, "add-relation web web", "web cannot be related to itself"},
        {0, "deploy logger.yaml --name watcher", "watcher deployed"},
        {2, "add-relation logger:host watcher:juju-info",
         "one of the services must be subordinate, and both are"},
        {2, "add-relation logger watcher", "nothing of logger and watcher fits"},
        {0, "destroy-service watcher", "watcher is destroyed"},
        {2, "add-relation web:db db:ring", "db:ring is for the units of db alone"},
        {0, "add-relation web:db db", "web:db db:kv is relation 1"},
        {4, "add-relation web:db db:kv", "web:db and db:kv are related already"},
        {0, "add-relation db web:cache", "web:cache db:kv is relation 2"},
        {0, "add-relation logger web --output json", "\"result\":\"related\""},
        {0, "status web", "db -> db:kv"},
        {0, "relations", "container"},
        {0, "why 1", "relation 1 (web:db db:kv): nothing holds it"},
        {2, "destroy-relation web db",
         "web and db have 2 relations; name the ends: web:db db:kv, "
         "web:cache db:kv"},
        {3, "destroy-relation web lonely",
         "web and lonely are not related: bbs units relations lists what is"},
        {3, "destroy-relation web nobody", "there is no unit service nobody"},
        {2, "destroy-relation db:ring db:ring",
         "it is among the units of one service: destroy the service to end it"},
        {4, "upgrade web narrow.yaml",
         "unit service web is not upgraded: relation 1 is in the way: "
         "the charm web does not have db in requires"},
        {0, "destroy-relation web:cache db", "web:cache db is no relation any more"},
        {3, "destroy-relation web:cache db", "web:cache and db are not related"},
        {2, "upgrade web logger.yaml",
         "unit service web is not subordinate: a charm of the other "
         "kind is another service"},
        {0, "upgrade web web2.yaml", "web has the charm: each unit follows when it is idle"},
    };
    assert_int_equal(units("deploy lonely.yaml -n 0"), 0);
    SAY(rows)
    Board__RelateUnitsRequest three = BOARD__RELATE_UNITS_REQUEST__INIT;
    Board__UnitEnd end = BOARD__UNIT_END__INIT, *ends[] = {&end, &end, &end};
    end.service = arena_strdup(&arena, "web");
    three.n_ends = 3;
    three.ends = ends;
    refused("/v1/units/relate", &three.base, MODELS__ERROR__TYPE__InvalidRequest,
            "a relation has two ends, not 3");
}

static void cells_become_machines(void **state)
{
    SCOPED_BUF(answer);
    static const struct command_row rows[] = {
        {0, "machines", "0        cell-1  open"},
        {0, "machines --output json", "\"cell_id\":\"cell-1\""},
        {4, "destroy-machine 0",
         "machine 0 has unit web/0: bbs units destroy-unit web/0 ends that"},
        {4, "add-machine cell-1", "cell cell-1 is machine 0 already"},
        {0, "cordon 0", "machine 0 takes no units any more"},
        {0, "machines", "cordoned"},
        {4, "add-unit web --to 0",
         "machine 0 takes no units: it is cordoned: bbs units uncordon opens it"},
        {0, "uncordon 0", "machine 0 takes units"},
        {0, "add-unit web --to 0", "web has 1 unit more"},
        {0, "status web", "pending"},
        {4, "resolved web/0 --retry", "unit web/0 is pending, not in error"},
    };
    assert_int_equal(bbs_open_incarnation(&arena, "cell-1", 1, &answer), -1);
    Board__HeartbeatRequest r = BOARD__HEARTBEAT_REQUEST__INIT;
    Board__CellHeartbeat heartbeat = BOARD__CELL_HEARTBEAT__INIT;
    r.cell = &heartbeat;
    heartbeat.cell_id = arena_strdup(&arena, "cell-1");
    heartbeat.incarnation = 1;
    bbs_post_as(&bbs_rig.rep, "/v1/board/heartbeat", &r.base, &answer);
    rep_does("assign", 0, NULL);
    SAY(rows)
}

static void hooks_are_resolved(void **state)
{
    static const struct command_row failed[] = {
        {0, "status web", "error"},
        {0, "why web/0", "its hook start has failed"},
        {0, "why web/0", "ends with: bbs units resolved web/0, with --retry or --skip"},
        {0, "resolved web/0 --retry", "web/0 runs its hook again"},
        {4, "resolved web/0 --skip",
         "unit web/0 is resolved already: its agent runs its hook again"},
    };
    static const struct command_row well[] = {
        {0, "status web", "started"},
        {0, "why web/1", "unit web/1: nothing holds it"},
        {4, "resolved web/1 --skip", "unit web/1 is started, not in error"},
    };
    rep_does("report", 0, "installed");
    rep_does("fail", 0, "error");
    SAY(failed)
    rep_does("assign", 1, NULL);
    rep_does("report", 1, "installed");
    rep_does("report", 1, "started");
    SAY(well)
    /* Another cell's, and one that does not say whose it is. */
    Board__Move *m = move_of("die", key_unit(&arena, (struct unit_name){"web", 1}), "other");
    assert_string_equal(applied(&bbs_rig.rep, m),
                        "the unit of that guid is gone: another one has its name");
}

/* Of a subordinate service, for units that its rep makes. */
static Board__Move *numbers(uint32_t count)
{
    Board__UnitServiceWholeRequest r = BOARD__UNIT_SERVICE_WHOLE_REQUEST__INIT;
    r.service = arena_strdup(&arena, "logger");
    const Board__UnitServiceWhole *whole =
        ask("/v1/units/get", &r.base, &board__unit_service_whole__descriptor);
    Board__Move *m = move_of("numbers", "unit_service/logger", whole->service->service->guid);
    m->units->count = count;
    return m;
}

static void numbers_are_told(void **state)
{
    const Board__MoveResult *result = result_of(&bbs_rig.rep, numbers(2));
    assert_true(result->numbers && !result->error);
    assert_int_equal(result->numbers->first, 0);
    assert_int_equal(result->numbers->count, 2);
    result = result_of(&bbs_rig.rep, numbers(64));
    assert_true(result->numbers && !result->error);
    assert_int_equal(result->numbers->first, 2);
    assert_int_equal(result->numbers->count, 64);
    result = result_of(&bbs_rig.rep, numbers(65));
    assert_true(result->error && !result->numbers);
    assert_non_null(strstr(result->error->message, "count is 65: it may be 1 to 64"));
}

/* web/1 enters the relation with logger, and brings the one of this number. */
static Board__Move *enters_with(uint32_t child)
{
    Board__UnitsStatusRequest all = BOARD__UNITS_STATUS_REQUEST__INIT;
    const Board__UnitsStatus *s =
        ask("/v1/units/status", &all.base, &board__units_status__descriptor);
    struct unit_name web = {"web", 1};
    for (size_t i = 0; i < s->n_relations; i++) {
        const Board__RelationRecord *r = s->relations[i]->relation;
        if (r->scope == BOARD__ENDPOINT__SCOPE__CONTAINER) {
            struct member_name name = {r->number, unit_scope_text(&arena, web),
                                       BOARD__ENDPOINT__ROLE__PROVIDER, web};
            Board__Move *m = move_of("enter", key_relation_member(&arena, &name),
                                     entry("web", 1)->unit->guid);
            m->units->relation_guid = r->guid;
            m->units->brings_child = true;
            m->units->child = child;
            return m;
        }
    }
    fail_msg("no relation has container scope");
    return NULL;
}

static void subordinates_are_refused(void **state)
{
    static const struct command_row rows[] = {
        {0, "status", "\n    logger/1"}, /* below web/1 */
        {0, "why logger/1", "it is being installed and started"},
        {4, "destroy-unit logger/1",
         "unit logger/1: it is a subordinate, and goes with its principal or with the relation"},
        {4, "destroy-unit logger/1 --force", "unit logger/1: it is a subordinate"},
        {3, "destroy-unit logger/2", "there is no unit logger/2"},
    };
    static const char cannot[] = "it has no such end there, or is another cell's";
    assert_non_null(strstr(applied(&bbs_rig.rep, enters_with(66)), cannot)); /* nobody took it */
    assert_string_equal(applied(&bbs_rig.rep, enters_with(1)), "");
    assert_string_equal(applied(&bbs_rig.rep, enters_with(1)), "nothing"); /* it is a member */
    SAY(rows)
    assert_string_equal(entry("logger", 1)->unit->principal, "web/1");
    assert_string_equal(entry("logger", 1)->unit->cell_id, "cell-1");
}

static void several_are_tried(void **state)
{
    static const struct command_row rows[] = {
        {3, "destroy-unit web/90 web/20", "bbs: some were destroyed, 1 of 2 was not"},
        {3, "destroy-unit web/90 web", "bbs: none were destroyed"},
        {3, "destroy-unit web/90 web", "there is no unit web/90"},
        {3, "destroy-unit web/90 web", "there is no unit web: that is a unit service"},
        {3, "destroy-unit web/90 --output json", "{\"name\":\"web/90\",\"error\":\"there is no"},
        {0, "remove-unit web/21 web/22 --output json",
         "{\"name\":\"web/21\",\"result\":\"destroyed\"}"},
        {3, "why web/20", "there is no unit web/20"}, /* it waited for a machine: it went at once */
    };
    SAY(rows)
}

static void what_is_dying_is_left_alone(void **state)
{
    static const struct command_row rows[] = {
        {0, "destroy-service web", "web is destroyed, or will be: bbs units why web tells what it"},
        {0, "destroy-service web", "web is destroyed, or will be"},
        {4, "add-unit web", "unit service web is dying: it gets no more units"},
        {4, "config web greeting=a", "unit service web is dying: it is not configured any more"},
        {4, "upgrade web web.yaml", "unit service web is dying: it is not upgraded any more"},
        {4, "add-relation web:cache db",
         "unit service web is dying: nothing is related to it any more"},
        {4, "deploy web.yaml", "unit service web is dying, and has its name until it is gone"},
        {0, "why web", "unit web/0 is "},
    };
    SAY(rows)
    comes_to(3, "why web/19", "there is no unit web/19");
    comes_to(0, "status web", "dying, error");
    comes_to(0, "status web", "dying, started");
    says(0, "why web/0", "its hook start runs again");
    says(0, "destroy-unit web/0", "web/0 is destroyed, or will be"); /* it is on its way */
}

static void machines_end(void **state)
{
    static const struct command_row rows[] = {
        {4, "destroy-machine 0",
         "machine 0 has unit web/1: bbs units destroy-unit web/1 ends that"},
        {0, "destroy-machine 0 --leave --force --max-wait 0s",
         "machine 0 is destroyed, or will be: bbs units why 0 --machine"},
        {0, "destroy-machine 0 --leave --force", "machine 0 is destroyed, or will be"},
    };
    static const struct command_row ended[] = {
        {3, "why web", "there is no unit service web"},
        {4, "deploy web.yaml --to 0", "machine 0 takes no units: it is dying"},
        {0, "destroy-machine 0", "machine 0 is destroyed, or will be"},
        {4, "uncordon 0", "machine 0 is dying: it takes no units any more"},
        {0, "why 0 --machine", "its agent ends what runs of it"},
    };
    rep_does("die", 0, NULL);
    rep_does("remove", 0, NULL);
    SAY(rows)
    comes_to(0, "machines", "dying");
    SAY(ended)
    Board__UnitsStatusRequest all = BOARD__UNITS_STATUS_REQUEST__INIT;
    const Board__UnitsStatus *status =
        ask("/v1/units/status", &all.base, &board__units_status__descriptor);
    assert_int_equal(status->n_machines, 1);
    const char *guid = status->machines[0]->machine->guid;
    assert_string_equal(applied(&bbs_rig.rep, move_of("die", key_machine(&arena, 0), guid)), "");
    Board__Move *remove = move_of("remove", key_machine(&arena, 0), guid);
    remove->term = (Board__Term *)(uintptr_t)converger_term();
    remove->incarnation = 0;
    assert_string_equal(applied(&bbs_rig.converger, remove),
                        "machine 0 is dead: it is not dead, or its cell has not left yet");
    says(0, "why 0 --machine", "cell cell-1 has to leave first, as was asked");
}

static void managers_stay(void **state)
{
    static const struct command_row rows[] = {
        {0, "add-machine cell-2 --manager", "cell-2 is machine 1"},
        {0, "machines", "manager"},
        {4, "add-machine cell-2", "cell cell-2 is machine 1 already"},
        {4, "add-unit db --to 1", "machine 1 takes no units: it is one that only manages"},
        {4, "destroy-machine 1", "machine 1 runs the cluster: it is never destroyed"},
        {0, "why 1 --machine", "machine 1: nothing holds it"},
    };
    const struct tls_files rep = certs_make(&bbs_rig.certs, "rep-2", "rep", "cell-2", 3600);
    Board__CellRequest r = BOARD__CELL_REQUEST__INIT;
    Board__CellRecord cell = BOARD__CELL_RECORD__INIT;
    Models__CellPresence presence = MODELS__CELL_PRESENCE__INIT;
    SCOPED_BUF(answer);
    r.cell = &cell;
    cell.presence = &presence;
    cell.incarnation = 1;
    cell.identity = arena_strdup(&arena, "state-2");
    presence.cell_id = arena_strdup(&arena, "cell-2");
    presence.rep_url = arena_strdup(&arena, "https://127.0.0.1:1");
    bbs_post_as(&rep, "/v1/board/cell", &r.base, &answer);
    assert_int_equal(bbs_error_of(&answer), -1);
    SAY(rows)
}

/* ---- Charm files that are wrong -------------------------------------------------------------- */

static const char *long_script(void)
{
    char *x = arena_alloc(&arena, 64 * 1024 + 2);
    memset(x, 'x', 64 * 1024 + 1);
    x[64 * 1024 + 1] = 0;
    return arena_printf(&arena, "%shooks: {install: %s}\n", WEB, x);
}

static const char *long_charm(void)
{
    char *x = arena_alloc(&arena, 257 * 1024 + 1);
    memset(x, '#', 257 * 1024);
    x[257 * 1024] = 0;
    return arena_printf(&arena, "%s%s\n", WEB, x);
}

/* Each names the same list ten times. */
static const char *bomb(void)
{
    const char *text = arena_printf(&arena, "%sa0: &a0 [x]\n", WEB);
    for (int i = 1; i < 10; i++) {
        const char *list = "";
        for (int k = 0; k < 10; k++) {
            list = arena_printf(&arena, "%s%s*a%d", list, k ? ", " : "", i - 1);
        }
        text = arena_printf(&arena, "%sa%d: &a%d [%s]\n", text, i, i, list);
    }
    return text;
}

static void charms_are_refused(void **state)
{
    const struct {
        const char *text, *said;
        size_t size; /* 0 = up to its end */
    } rows[] = {
        {WEB "requries: {}\n", "requries: unknown key; did you mean \"requires\"?"},
        {WEB "name: twice\n", "bad.yaml:7: name: stands here twice"},
        {WEB "hooks: {cash-relation-joined: 'true'}\n",
         "hooks.cash-relation-joined: there is no such hook; did you mean"},
        {"name: log\nsubordinate: true\n" RUNS "requires: {db: {interface: kv}}\n",
         "subordinate: needs an endpoint in requires with scope: container, by which its units"},
        {"name: log\nsubordinate: true\nports: 80\n" RUNS
         "requires: {host: {interface: juju-info, scope: container}}\n",
         "ports: are its principal's, whose network a subordinate shares: leave them out"},
        {WEB "hooks: {install: {path: srv/x}}\n",
         "hooks.install.path: must be a program of the root filesystem"},
        {"name: web\n" RUNS "config: {size: {default: [1]}}\n",
         "config.size.default: must be a text"},
        {"name: Web\n" RUNS, "name: must be small letters"},
        {WEB "hooks: {install: \"a\\0b\"}\n", "a zero byte cannot stand in a text"},
        {WEB "hooks: {install: \xff}\n", "not valid YAML: invalid leading UTF-8 octet"},
        {WEB "hooks: {install: a\0b}\n", "not valid YAML: control characters",
         sizeof(WEB "hooks: {install: a\0b}\n") - 1},
        {long_script(), "hooks.install: a script has 65536 bytes at most"},
        {long_charm(), "bad.yaml: larger than 256 KiB"},
        {bomb(), "bad.yaml:7: more than 20000 values; divide it into several files"},
        {"[]\n", "bad.yaml:1: charm: must be a map"},
        {"", "bad.yaml: holds no charm"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t size = rows[i].size ? rows[i].size : strlen(rows[i].text);
        write_file("bad.yaml", (struct bytes){(const uint8_t *)rows[i].text, size});
        says(2, "deploy bad.yaml --name other", rows[i].said);
    }
    says(2, "deploy nowhere.yaml", "cannot read nowhere.yaml");
    says(3, "status other", "there is no unit service other");
    Board__DeployUnitsRequest none = BOARD__DEPLOY_UNITS_REQUEST__INIT;
    refused("/v1/units/deploy", &none.base, MODELS__ERROR__TYPE__InvalidRequest,
            "charm: it is missing, or has nothing to run");
}

/* ---- In JSON --------------------------------------------------------------------------------- */

static int ask_json(const char *path, const char *body)
{
    struct tls_client c;
    int status = 0;
    const struct bbs_process *b = &bbs_rig.bbs[turn++ % BBS_RIG_COUNT];
    said.size = 0;
    if (client_open(&c, b->port, &bbs_rig.client, 0) &&
        client_print(&c,
                     "POST /v1/units/%s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n"
                     "Content-Type: application/json\r\n\r\n%s",
                     path, strlen(body), body)) {
        status = client_answer(&c, NULL, &said, false);
    }
    client_close(&c);
    return status;
}

#define SET(settings) "{\"service\":\"api\",\"settings\":[" settings "]}"

/* Whatever the command line asks for, and how it is refused. */
static void all_is_asked_in_json(void **state)
{
    static const struct {
        int status;
        const char *path, *body, *text;
    } rows[] = {
        {200, "deploy",
         "{\"file\":\"name: api\\nrootfs: preloaded:busybox\\ncommand: exec sleep 9\\n"
         "requires: {store: {interface: kv}}\\nconfig: {size: {default: '1'}}\\n\","
         "\"count\":2}",
         "{}\n"},
        {409, "deploy",
         "{\"file\":\"name: api\\nrootfs: preloaded:busybox\\ncommand: exec sleep 9\\n\"}",
         "{\"error\":{\"type\":\"ResourceExists\",\"message\":\"unit service api is there already: "
         "choose another name, or upgrade it\"}}\n"},
        {400, "deploy", "{\"file\":\"name: other\\nrootfs: x\\ncomand: y\\n\"}",
         "charm:3: comand: unknown key; did you mean"},
        {400, "deploy", "{}", "charm: it is missing, or has nothing to run"},
        {400, "deploy", "{", "the body cannot be read: "},
        {400, "deploy", "{\"cont\":2}", "the body cannot be read: cont: "},
        {200, "add", "{\"service\":\"api\",\"count\":1}", "{}\n"},
        {400, "add", "{\"service\":\"api\"}", "count: how many units are to be added?"},
        {404, "add", "{\"service\":\"shop\",\"count\":1}",
         "there is no unit service shop: that is an app: bbs ps shop"},
        {404, "add", "{\"service\":\"A\",\"count\":1}", "there is no unit service A"},
        {200, "list", "{\"service\":\"api\"}", "\"number\":2,\"guid\":\""},
        {200, "list", "", "\"status\":{"},
        {200, "list", "{\"machine\":1,\"on_machine\":true}", "{}\n"},
        {200, "list", "{\"cell_id\":\"nowhere\"}", "{}\n"},
        {200, "status", "", "\"machines\":[{"},
        {404, "status", "{\"services\":[\"nobody\"]}", "\"type\":\"ResourceNotFound\""},
        {200, "get", "{\"service\":\"api\"}", "\"endpoints\":[{\"name\":\"store\""},
        {200, "why", "{\"name\":\"api/2\"}", "\"ends\":\"a cell that fits has room\""},
        {404, "why", "{\"name\":\"api/9\"}", "there is no unit api/9"},
        {200, "relate", "{\"ends\":[{\"service\":\"api\"},{\"service\":\"db\"}]}",
         "\"state\":\"alive\",\"ends\":[{\"service\":\"api\""},
        {409, "relate", "{\"ends\":[{\"service\":\"api\"},{\"service\":\"db\"}]}",
         "api:store and db:kv are related already"},
        {400, "relate", "{\"ends\":[{\"service\":\"api\"},{\"service\":\"api\"}]}",
         "api cannot be related to itself"},
        {200, "configure",
         "{\"service\":\"api\",\"settings\":[{\"key\":\"size\",\"value\":\"2\"}]}", "{}\n"},
        {400, "configure", "{\"service\":\"api\",\"unset\":[\"sise\"]}", "did you mean"},
        {400, "configure", SET("{\"key\":\"size\",\"value\":\"2\"},{\"key\":\"size\"}"),
         "settings: the key size stands twice"},
        {400, "configure", SET("{\"key\":\"size\",\"value\":\"2\"},{\"key\":\"a\"}"),
         "settings: the key a stands behind size: keys are in byte order"},
        {400, "configure", SET("{\"key\":\"a b\",\"value\":\"2\"}"),
         "settings: the key \\\"a b\\\" must be letters, digits, _, . and -, at most 128"},
        {400, "configure", SET("{\"key\":\"\",\"value\":\"2\"}"), "the key \\\"\\\" must be"},
        {400, "configure", SET("{\"key\":\"size\",\"value\":\"a\\u0000b\"}"),
         "\\\\u0000 is not allowed"},
        {400, "configure", SET("{\"key\":\"size\",\"value\":\"a\xff\"}"),
         "unable to decode byte 0xff"},
        {409, "upgrade",
         "{\"service\":\"api\",\"file\":\"name: api\\nrootfs: preloaded:busybox\\n"
         "command: exec sleep 9\\n\"}",
         "is in the way"},
        {409, "resolve", "{\"unit\":\"api/2\",\"resolved\":\"RETRY\"}",
         "unit api/2 is pending, not in error"},
        {404, "resolve", "{\"unit\":\"api\",\"resolved\":\"SKIP\"}",
         "there is no unit api: that is a unit service"},
        {409, "machine/add", "{\"cell_id\":\"cell-2\"}", "cell cell-2 is machine 1 already"},
        {200, "cordon", "{\"number\":1}", "\"cordoned\":true"},
        {200, "uncordon", "{\"number\":1}", "\"manage\":true,\"clean\":true"},
        {409, "machine/destroy", "{\"number\":1,\"forced\":true}", "it is never destroyed"},
        {200, "unit/destroy", "{\"unit\":\"api/1\"}", "{}\n"},
        {404, "unit/destroy", "{\"unit\":\"api/1\"}", "there is no unit api/1"},
        {200, "relation/destroy", "{\"ends\":[{\"service\":\"api\"},{\"service\":\"db\"}]}",
         "{}\n"},
        {404, "relation/destroy", "{\"ends\":[{\"service\":\"api\"},{\"service\":\"db\"}]}",
         "api and db are not related"},
        {200, "service/destroy", "{\"service\":\"api\",\"forced\":true,\"max_wait_ms\":1}", "{}\n"},
        {404, "service/destroy", "{\"service\":\"shop\"}", "that is an app: bbs ps shop"},
        /* Nothing is named. */
        {404, "add", "", "which unit service? its name is empty: bbs units lists those that are"},
        {404, "configure", "{}", "which unit service? its name is empty"},
        {404, "upgrade", "{}", "which unit service? its name is empty"},
        {404, "service/destroy", "{}", "which unit service? its name is empty"},
        {404, "unit/destroy", "", "which unit? its name is empty"},
        {404, "resolve", "{}", "which unit? its name is empty"},
        {404, "get", "{}", "which unit service? its name is empty"},
        {404, "why", "{}", "its name is empty"},
        {404, "why", "{\"name\":\"\",\"machine\":true}", "its name is empty"},
        {404, "status", "{\"services\":[\"\"]}", "which unit service? its name is empty"},
        {404, "relate", "{\"ends\":[{},{}]}", "which unit service? its name is empty"},
        {404, "relation/destroy", "{\"ends\":[{},{}]}", "which unit service? its name is empty"},
        {400, "cordon", "{}", "number: which machine?"},
        {400, "uncordon", "", "number: which machine?"},
        {400, "machine/destroy", "{\"forced\":true}", "number: which machine?"},
        {404, "get", "{\"service\":\"a\\nb\\u00e9\"}", "there is no unit service a?b??: "},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int status = ask_json(rows[i].path, rows[i].body);
        if (status != rows[i].status || !strstr(buf_string(&said), rows[i].text)) {
            fail_msg("%s %s: %d, not %d with %s: %s", rows[i].path, rows[i].body, status,
                     rows[i].status, rows[i].text, buf_string(&said));
        }
    }
    comes_to(3, "why api", "there is no unit service api");
}

static void everything_ends(void **state)
{
    says(0, "destroy-service db logger lonely", "lonely is destroyed");
    comes_to(0, "status", "WHY\n");
    lacks("db");
    lacks("logger");
    says(0, "relations", "WHY\n");
    lacks(":");
}

/* A rep and a leader move by apply alone. */
static void callers_are_told_apart(void **state)
{
    static const char *const paths[] = {"/v1/units/deploy", "/v1/units/unit/destroy",
                                        "/v1/units/machine/add", "/v1/units/resolve"};
    SCOPED_BUF(answer);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        assert_int_equal(bbs_ask_as(&bbs_rig.rep, bbs_rig.bbs[0].port, "POST", paths[i],
                                    bytes_of(""), NULL, &answer),
                         403);
    }
    assert_int_equal(bbs_ask_as(&bbs_rig.rep, bbs_rig.bbs[0].port, "POST", "/v1/units/status",
                                bytes_of(""), NULL, &answer),
                     200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(services_are_deployed),
        cmocka_unit_test(names_are_refused),
        cmocka_unit_test(what_is_asked_for_is_refused),
        cmocka_unit_test(ends_are_refused),
        cmocka_unit_test(cells_become_machines),
        cmocka_unit_test(hooks_are_resolved),
        cmocka_unit_test(numbers_are_told),
        cmocka_unit_test(subordinates_are_refused),
        cmocka_unit_test(several_are_tried),
        cmocka_unit_test(what_is_dying_is_left_alone),
        cmocka_unit_test(machines_end),
        cmocka_unit_test(managers_stay),
        cmocka_unit_test(charms_are_refused),
        cmocka_unit_test(all_is_asked_in_json),
        cmocka_unit_test(everything_ends),
        cmocka_unit_test(callers_are_told_apart),
    };
    arena_init(&arena);
    if (!mkdtemp(dir)) {
        perror(dir);
        return 1;
    }
    write_charms();
    int failed = BBS_RIG_RUN("units", tests);
    static const char *const names[] = {"web.yaml",    "web2.yaml",   "narrow.yaml", "db.json",
                                        "logger.yaml", "lonely.yaml", "bad.yaml"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        unlink(file_at(names[i]));
    }
    rmdir(dir);
    buf_done(&said);
    arena_done(&arena);
    return failed;
}
