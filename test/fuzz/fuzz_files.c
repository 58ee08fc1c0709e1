/* Targets: what comes as a file or as a stream rather than as a request. */
#include "common/appfile/app.h"
#include "common/appfile/task_app.h"
#include "common/client/feed_client.h"
#include "common/codec/json_text.h"
#include "common/codec/scan.h"
#include "common/shell/grpc.h"
#include "common/shell/grpc_call.h"
#include "models/actual_lrp.pb-c.h"
#include "rep/container/note.h"
#include "rep/container/spec.h"
#include "rep/driver/oci_spec.h"
#include "rep/driver/passwd.h"
#include "rep/driver/seccomp.h"
#include "rep/driver/status.h"
#include "test/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void app(const char *file, struct bytes in)
{
    SCOPED_ARENA(a);
    struct err err = {0};
    struct app *apps;
    size_t count;
    if (appfile_parse(&a, file, in, &apps, &count, &err)) {
        FUZZ_REQUIRE(err.text[0]); /* every mistake is told */
    } else {
        FUZZ_REQUIRE(count <= APPS_MAX);
        for (size_t i = 0; i < count; i++) {
            FUZZ_REQUIRE(protobuf_c_message_check(&apps[i].lrp->base));
            FUZZ_REQUIRE(strcmp(apps[i].lrp->process_guid,
                                app_process_guid(&a, apps[i].name, apps[i].lrp)) == 0);
        }
    }
}

void fuzz_app_yaml(struct bytes in)
{
    app("app.yaml", in);
}

void fuzz_app_json(struct bytes in)
{
    app("app.json", in);
}

void fuzz_task_files(struct bytes in)
{
    SCOPED_ARENA(a);
    struct err err = {0};
    struct task_app task;
    const char *file = fuzz_byte(&in) & 1 ? "task.json" : "task.yaml";
    if (task_app_parse(&a, file, in, &task, &err)) {
        FUZZ_REQUIRE(err.text[0]);
    } else {
        FUZZ_REQUIRE(task.name && task.name[0]);
        FUZZ_REQUIRE(protobuf_c_message_check(&task.request->base));
        FUZZ_REQUIRE(task.guid_given == (task.request->task_guid[0] != '\0'));
    }
}

/* ---- the feed -------------------------------------------------------------------------------- */

static void note_change(void *context, enum feed_client_change change, const char *key,
                        const struct followed *record, struct effects *out)
{
    int64_t *last = context;
    FUZZ_REQUIRE((change == FEED_CLIENT_PUT || change == FEED_CLIENT_DELETE) ==
                 (key != NULL && record != NULL));
    if (change == FEED_CLIENT_RESET) {
        *last = 0;
    }
}

static void feed_event(struct feed_client *f, struct event *ev)
{
    SCOPED_ARENA(a);
    struct effects out;
    effects_init(&out, &a);
    ev->now = (struct moment){.mono_ns = 1000 * SECOND_NS, .wall_ns = 1767225600 * SECOND_NS};
    feed_client_step(f, ev, &out);
}

/* Whatever comes, in pieces of whatever size: the feed client takes it or begins again. */
void fuzz_feed(struct bytes in)
{
    SCOPED_ARENA(a);
    uint64_t next_call_id = 1;
    int64_t last = 0;
    struct boards boards;
    struct feed_client f = {.on_change = note_change, .context = &last};
    const Board__Selector *none[1] = {NULL};
    FUZZ_REQUIRE(boards_init(&boards, &a, "https://a:1,https://b:2", &next_call_id, NULL) == 0);
    f.boards = &boards;
    f.selectors = none;
    feed_client_init(&f);
    feed_event(&f, &(struct event){.kind = EVENT_START});
    while (in.size > 0) {
        size_t size = 1 + (size_t)fuzz_byte(&in) * 4;
        size = size < in.size ? size : in.size;
        struct event ev = {.kind = EVENT_STREAM};
        ev.stream = (struct stream_event){
            .id = f.call_id, .status = 200, .data = {in.data, size}, .text = ""};
        feed_event(&f, &ev);
        in = (struct bytes){in.data + size, in.size - size};
        FUZZ_REQUIRE(f.partial.size <= FEED_CLIENT_FRAME_MAX + 16);
        if (f.call_id == 0) {
            break; /* it hung up on whoever sends such things */
        }
    }
    feed_client_done(&f);
}

/* ---- gRPC ------------------------------------------------------------------------------------ */

void fuzz_grpc(struct bytes in)
{
    enum { BOUND = 16 * 1024 };
    struct grpc_trailers t;
    grpc_trailers_init(&t);
    struct bytes line = fuzz_piece(&in);
    grpc_trailers_line(&t, line);
    FUZZ_REQUIRE(t.status >= GRPC_NO_STATUS);
    FUZZ_REQUIRE(t.text.size <= line.size);
    grpc_trailers_done(&t);
    struct bytes message;
    int64_t size;
    while ((size = grpc_frame_next(in, BOUND, &message)) > 0) {
        FUZZ_REQUIRE((size_t)size == message.size + GRPC_FRAME_HEADER_BYTES);
        FUZZ_REQUIRE((size_t)size <= in.size && message.size <= BOUND);
        in = (struct bytes){in.data + size, in.size - (size_t)size};
    }
}

/* The headers of a call, then its body. */
void fuzz_grpc_call(struct bytes in)
{
    enum { BOUND = 16 * 1024 };
    struct grpc_head head = {0};
    struct bytes message;
    SCOPED_BUF(text);
    for (unsigned n = fuzz_byte(&in) % 16; n > 0; n--) {
        static const char *const names[] = {":path",         ":method",       "content-type",
                                            "grpc-encoding", "grpc-timeout",  "x-vcap-request-id",
                                            "te",            ":scheme"};
        unsigned which = fuzz_byte(&in);
        struct bytes name = which < 64 ? bytes_of(names[which % 8]) : fuzz_piece(&in);
        grpc_head_add(&head, name, fuzz_piece(&in));
        FUZZ_REQUIRE(head.timeout_ns >= 0 && head.timeout_ns <= 24 * 3600 * SECOND_NS);
        FUZZ_REQUIRE(head.too_large || head.bytes <= GRPC_HEAD_BYTES);
    }
    struct grpc_fault fault = grpc_head_fault(&head);
    FUZZ_REQUIRE(fault.status == GRPC_OK || fault.text[0]);
    grpc_message_encode(&text, head.path ? head.path : "");
    grpc_head_done(&head);
    grpc_body_fault(in, BOUND);
    if (grpc_body_message(in, BOUND, &message).status == GRPC_OK) {
        FUZZ_REQUIRE(message.size <= BOUND && message.size + GRPC_FRAME_HEADER_BYTES == in.size);
    }
}

/* ---- what a cell reads back ------------------------------------------------------------------ */

void fuzz_files(struct bytes in)
{
    SCOPED_ARENA(a);
    const char *words = fuzz_text(&a, &in);
    struct bytes first = fuzz_piece(&in);
    struct user user;
    if (user_resolve(words, first, in, &user, NULL) == 0) {
        FUZZ_REQUIRE(user.group_count <= USER_GROUPS_MAX);
    }
    struct ending ending;
    if (status_parse(first, &ending, NULL) == 0) {
        FUZZ_REQUIRE(ending.code >= -1 && ending.code <= 255);
        FUZZ_REQUIRE(strlen(ending.text) <= STATUS_TEXT_BYTES);
    }
    report_parse(first, words[0]);
    Rep__Note *note;
    if (note_read(in, words, &note, NULL) == 0) {
        Rep__Note *copy = note_copy(note);
        FUZZ_REQUIRE(bytes_equal(note_pack(&a, note), note_pack(&a, copy)));
        rep__note__free_unpacked(copy, NULL);
        rep__note__free_unpacked(note, NULL);
    }
}

/* A profile of system calls either becomes words for the runtime, or is refused with a reason. */
void fuzz_seccomp(struct bytes in)
{
    static const char *const machines[] = {"x86_64", "aarch64", "riscv64", "other"};
    const struct seccomp_subject subject = {machines[fuzz_byte(&in) & 3],
                                            fuzz_byte(&in) & 1 ? UINT64_MAX : 0, false};
    struct id_range ids;
    if (id_range_parse(in, &ids)) {
        SCOPED_BUF(text);
        id_range_print(ids, &text);
        struct id_range again;
        FUZZ_REQUIRE(id_range_parse(buf_bytes(&text), &again) && again.first == ids.first);
    }
    struct err err = {0};
    json_t *profile = json_loadb((const char *)in.data, in.size, 0, NULL);
    json_t *made = profile ? seccomp_for(profile, &subject, &err) : NULL;
    FUZZ_REQUIRE(!profile || made || err.text[0]);
    FUZZ_REQUIRE(!made || json_is_array(json_object_get(made, "syscalls")));
    json_decref(made);
    json_decref(profile);
}

/* ---- from a definition to a container ----------------------------------------------------------
 */

/* JSON can say nothing else; what is not, is refused when it is to be written (oci_spec.h). */
static bool all_utf8(const struct container_spec *spec)
{
    bool valid = utf8_valid(bytes_of(spec->path)) && utf8_valid(bytes_of(spec->dir));
    for (size_t i = 0; spec->args[i]; i++) {
        valid = valid && utf8_valid(bytes_of(spec->args[i]));
    }
    for (size_t i = 0; i < spec->env_count; i++) {
        valid = valid && utf8_valid(bytes_of(spec->env[i].name)) &&
                utf8_valid(bytes_of(spec->env[i].value));
    }
    return valid;
}

/* What is not refused becomes a configuration that a runtime can read, with everything in its
 * place. */
static void program_configured(const struct container_spec *spec)
{
    static const struct oci_params params = {.guid = "guid",
                                             .cgroup = "/corkboard/guid",
                                             .init = "/usr/bin/catatonit",
                                             .facts = {.nofile_hard = 1024, .limits = true}};
    json_t *config = oci_config(spec, &params);
    char *text = json_dumps(config, JSON_COMPACT);
    FUZZ_REQUIRE(!text == !all_utf8(spec));
    if (text) {
        json_t *again = json_loads(text, 0, NULL);
        FUZZ_REQUIRE(again && json_equal(config, again));
        FUZZ_REQUIRE(json_array_size(json_object_get(json_object_get(again, "process"), "args")) >
                     0);
        json_decref(again);
    }
    json_decref(config);
    free(text);
}

/* A container of steps: those that run a program each as if it were the one. */
static void steps_configured(const struct container_spec *spec, const Rep__Note *note)
{
    static const char *const none[] = {NULL};
    struct container_spec own = *spec;
    FUZZ_REQUIRE(spec->step_count > 0 && spec->step_count < note->n_steps);
    own.args = none;
    for (size_t i = 0; i < spec->step_count; i++) {
        const struct step_process *p = &spec->steps[i];
        FUZZ_REQUIRE(p->step < note->n_steps && (i == 0 || spec->steps[i - 1].step < p->step));
        Rep__Step__Kind kind = note->steps[p->step]->kind;
        if (p->transfer) {
            FUZZ_REQUIRE(kind == (p->transfer->way == TRANSFER_UPLOAD ? REP__STEP__KIND__UPLOAD
                                                                      : REP__STEP__KIND__DOWNLOAD));
            FUZZ_REQUIRE(p->transfer->url && p->transfer->path);
            continue;
        }
        FUZZ_REQUIRE(kind == REP__STEP__KIND__RUN);
        own.path = p->path;
        own.args = p->args;
        own.env = p->env;
        own.env_count = p->env_count;
        own.dir = p->dir;
        program_configured(&own);
    }
}

static void configured(const struct container_spec *spec, const Rep__Note *note)
{
    if (spec->path) {
        program_configured(spec);
    } else {
        steps_configured(spec, note);
    }
    SCOPED_ARENA(a);
    Rep__Note *back;
    FUZZ_REQUIRE(note_read(note_pack(&a, note), note->instance_guid, &back, NULL) == 0);
    rep__note__free_unpacked(back, NULL);
}

void fuzz_container_spec(struct bytes in)
{
    enum { DECODED_MAX = 4 * 1024 * 1024 };
    static const struct port_pair ports[] = {{8080, 61000}, {2222, 61001}};
    SCOPED_ARENA(a);
    ProtobufCMessage *m;
    struct container_spec spec;
    Models__ActualLRPKey key = MODELS__ACTUAL_LRPKEY__INIT;
    Rep__TaskNote about_task = REP__TASK_NOTE__INIT;
    Rep__Note reserved = REP__NOTE__INIT;
    bool task = fuzz_byte(&in) & 1;
    about_task.guid = key.process_guid = reserved.instance_guid = (char *)(size_t)"guid";
    about_task.attempt = (char *)(size_t)"attempt"; /* a reservation always has one */
    reserved.format = NOTE_FORMAT;
    reserved.key = task ? NULL : &key;
    reserved.task = task ? &about_task : NULL;
    if (task &&
        scan_and_unpack(&a, &models__task_definition__descriptor, in, DECODED_MAX, &m, NULL) == 0) {
        const Models__TaskDefinition *definition = (const Models__TaskDefinition *)m;
        if (spec_check_task(definition, NULL) == 0) {
            Rep__Note *note = spec_note_task(&reserved, definition);
            spec_make_task(&a, definition, note, "10.0.0.1", NULL, &spec);
            configured(&spec, note);
            rep__note__free_unpacked(note, NULL);
        }
    } else if (!task && scan_and_unpack(&a, &models__desired_lrp__descriptor, in, DECODED_MAX, &m,
                                        NULL) == 0) {
        const Models__DesiredLRP *lrp = (const Models__DesiredLRP *)m;
        if (spec_check(lrp, NULL) == 0) {
            Rep__Note *note = spec_note(&reserved, lrp, ports, lrp->n_ports < 2 ? lrp->n_ports : 2);
            spec_make(&a, lrp, note, "10.0.0.1", NULL, &spec);
            configured(&spec, note);
            rep__note__free_unpacked(note, NULL);
        }
    }
}
