#include "test/api/diego_protoc.h"

#include "common/base/map.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[96];

/* Many rows ask the same and are answered the same, so what protoc has said once is kept. */
static struct arena kept;
static struct map answers; /* what was asked -> struct buf */

static const char *const files[] = {"diego.proto", "diego.set", "board.set", "in", "out", "why"};

static void run(const char *command)
{
    if (system(command) != 0) {
        fail_msg("failed: %s", command);
    }
}

void protoc_init(const char *to)
{
    char command[512];
    arena_init(&kept);
    map_init(&answers);
    snprintf(dir, sizeof(dir), "%s", to);
    snprintf(command, sizeof(command),
             "awk -f test/conformance/spec/proto.awk test/conformance/spec/enums.tsv "
             "test/conformance/spec/messages.tsv >%s/diego.proto",
             dir);
    run(command);
    snprintf(command, sizeof(command), "protoc -I%s -o %s/diego.set diego.proto", dir, dir);
    run(command);
    snprintf(command, sizeof(command),
             "protoc -Iproto --include_imports -o %s/board.set proto/board.proto", dir);
    run(command);
}

void protoc_done(void)
{
    char path[160];
    MAP_EACH(&answers, n)
    {
        buf_done(map_value(n));
    }
    map_done(&answers, NULL);
    arena_done(&kept);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
        unlink(path);
    }
}

/* ---- which message --------------------------------------------------------------------------- */

static const struct {
    const char *path, *request, *response;
} own_paths[] = {
    {"/v1/board/apply", "board.ApplyRequest", "board.ApplyResponse"},
    {"/v1/board/cell", "board.CellRequest", "board.CellResponse"},
    {"/v1/board/heartbeat", "board.HeartbeatRequest", "board.HeartbeatResponse"},
    {"/v1/board/leader_lock", "board.LeaderLockRequest", "board.LeaderLockResponse"},
};

/* The first word of a column of endpoints.tsv, "" for one in parentheses. */
static const char *endpoint(struct arena *a, const char *path, unsigned column)
{
    FILE *f = fopen("test/conformance/spec/endpoints.tsv", "re");
    char line[1024];
    const char *found = NULL;
    assert_non_null(f);
    while (!found && fgets(line, sizeof(line), f)) {
        char *rest = line, *cells[6];
        for (unsigned i = 0; i < 6; i++) {
            cells[i] = strsep(&rest, "\t");
        }
        if (cells[5] && strcmp(cells[1], path) == 0) {
            cells[column][strcspn(cells[column], " ")] = '\0';
            found = cells[column][0] == '(' ? "" : arena_printf(a, "models.%s", cells[column]);
        }
    }
    fclose(f);
    return found;
}

const char *protoc_request(struct arena *a, const char *path)
{
    for (size_t i = 0; i < sizeof(own_paths) / sizeof(own_paths[0]); i++) {
        if (strcmp(own_paths[i].path, path) == 0) {
            return own_paths[i].request;
        }
    }
    return endpoint(a, path, 3);
}

const char *protoc_response(struct arena *a, const char *path)
{
    for (size_t i = 0; i < sizeof(own_paths) / sizeof(own_paths[0]); i++) {
        if (strcmp(own_paths[i].path, path) == 0) {
            return own_paths[i].response;
        }
    }
    return endpoint(a, path, 4);
}

/* behaviour.md 16.2 */
const char *protoc_event(const char *name)
{
    static const char *const events[][2] = {
        {"desired_lrp_created", "models.DesiredLRPCreatedEvent"},
        {"desired_lrp_changed", "models.DesiredLRPChangedEvent"},
        {"desired_lrp_removed", "models.DesiredLRPRemovedEvent"},
        {"actual_lrp_created", "models.ActualLRPCreatedEvent"},
        {"actual_lrp_changed", "models.ActualLRPChangedEvent"},
        {"actual_lrp_removed", "models.ActualLRPRemovedEvent"},
        {"actual_lrp_crashed", "models.ActualLRPCrashedEvent"},
        {"actual_lrp_instance_created", "models.ActualLRPInstanceCreatedEvent"},
        {"actual_lrp_instance_changed", "models.ActualLRPInstanceChangedEvent"},
        {"actual_lrp_instance_removed", "models.ActualLRPInstanceRemovedEvent"},
        {"task_created", "models.TaskCreatedEvent"},
        {"task_changed", "models.TaskChangedEvent"},
        {"task_removed", "models.TaskRemovedEvent"},
    };
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        if (strcmp(events[i][0], name) == 0) {
            return events[i][1];
        }
    }
    return NULL;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void write_file(const char *name, const void *data, size_t size)
{
    char path[160];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    if (size) {
        assert_int_equal(fwrite(data, 1, size, f), size);
    }
    assert_int_equal(fclose(f), 0);
}

static void read_file(const char *name, struct buf *out)
{
    char path[160], part[65536];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    for (size_t n; (n = fread(part, 1, sizeof(part), f)) > 0;) {
        buf_append(out, part, n);
    }
    fclose(f);
}

static const char *question(const char *how, const char *message, struct bytes in)
{
    SCOPED_BUF(key);
    buf_printf(&key, "%s %s ", how, message);
    for (size_t i = 0; i < in.size; i++) {
        buf_printf(&key, "%02x", in.data[i]);
    }
    return arena_strdup(&kept, buf_string(&key));
}

static bool call(const char *how, const char *message, struct bytes in, struct buf *out,
                 struct buf *why)
{
    char command[768];
    const char *asked = question(how, message, in);
    const struct buf *known = map_get(&answers, asked);
    if (known) {
        buf_append(out, known->data, known->size);
        return true;
    }
    const char *set = strncmp(message, "board.", 6) == 0 ? "board" : "diego";
    write_file("in", in.data, in.size);
    snprintf(command, sizeof(command),
             "protoc --descriptor_set_in=%s/%s.set --%s=%s <%s/in >%s/out 2>%s/why", dir, set, how,
             message, dir, dir, dir);
    if (system(command) != 0) {
        read_file("why", why);
        return false;
    }
    struct buf *answer = ARENA_NEW(&kept, struct buf);
    buf_init(answer);
    read_file("out", answer);
    buf_append(out, answer->data, answer->size);
    map_put(&answers, asked, answer);
    return true;
}

bool protoc_encode(const char *message, const char *text, struct buf *out, struct buf *why)
{
    return call("encode", message, bytes_of(text), out, why);
}

/* No bytes are a message with nothing set. */
bool protoc_decode(const char *message, struct bytes bytes, struct buf *out, struct buf *why)
{
    return bytes.size == 0 || call("decode", message, bytes, out, why);
}
