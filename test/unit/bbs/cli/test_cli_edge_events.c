/* What `bbs events` says of a centre and its sites: a line a change, and no secret in it, nor in
 * the JSON. */
#include "bbs/cli/events.h"
#include "bbs/cli/record_text.h"
#include "common/codec/json.h"
#include "common/model/record.h"
#include "test/tool/cmocka.h"

#include <string.h>

#define WEB "acme/paris/dev/web"

/* The record of this JSON, in which ' stands for ". */
static ProtobufCMessage *record_of(struct arena *a, const char *key, const char *text)
{
    struct err err;
    ProtobufCMessage *m;
    char *json = arena_strdup(a, text);
    for (char *c = json; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    if (json_decode(a, record_descriptor(key_type(key)), bytes_of(json),
                    CODEC_OWN | CODEC_STRICT | CODEC_SNAKE_CASE, &m, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return m;
}

static void add(struct buf *feed, Board__FeedFrame__Kind kind, int64_t revision, const char *key,
                const ProtobufCMessage *record)
{
    Board__FeedFrame f = BOARD__FEED_FRAME__INIT;
    SCOPED_BUF(packed);
    SCOPED_BUF(bytes);
    f.kind = kind;
    f.revision = f.mod_revision = f.create_revision = revision;
    f.key = (char *)(uintptr_t)key;
    f.board_generation = (char *)(uintptr_t) "e1";
    if (record) {
        record_encode(&bytes, record);
        f.record = (ProtobufCBinaryData){bytes.size, bytes.data};
    }
    buf_message(&packed, &f.base);
    buf_varint(feed, packed.size);
    buf_append(feed, packed.data, packed.size);
}

static const struct {
    const char *key, *record; /* NULL = it is gone */
    const char *line;
} rows[] = {
    {"flavor/small", "{'size':{'memory_mb':512,'disk_mb':1024,'containers':16}}",
     "new      flavor small: 512 MiB memory, 1024 MiB disk, 16 containers"},
    {"app/dev/shop/1.0", "{'revision':3,'digest':'d'}", "new      app dev/shop/1.0: revision 3"},
    {"cloudlet/acme/paris", "{'state':'READY','version':'1'}",
     "new      cloudlet acme/paris: READY, version 1"},
    {"cloudlet/acme/paris",
     "{'state':'UPDATING','version':'1','target_version':'2','upgrading':true,"
     "'operation':{'overdue':true}}",
     "new      cloudlet acme/paris: UPDATING, version 1, to version 2, overdue"},
    {"cloudletinfo/acme/paris", "{'state':'ERRORS','session':4,'errors':['no cell','x']}",
     "new      crm acme/paris: ERRORS, session 4, no cell"},
    {"maintenance/acme/paris", "{'state':'CRM_REQUESTED','error':'a backup runs'}",
     "new      maintenance acme/paris: CRM_REQUESTED, a backup runs"},
    {"clusterinst/" WEB, "{'state':'READY','spec':{'flavor':'small','nodes':1,'dedicated':true}}",
     "new      cluster " WEB ": READY, 1 node of small on cells of its own"},
    {"clusterinst/" WEB,
     "{'state':'CREATE_ERROR','spec':{'flavor':'small','nodes':2},'reserved_by':'i',"
     "'operation':{'error':'no room'}}",
     "new      cluster " WEB ": CREATE_ERROR, 2 nodes of small, reserved by i, no room"},
    {"appinst/" WEB "/dev/shop/1.0",
     "{'state':'READY','spec':{'flavor':'small','revision':3,'instances':2,"
     "'env':[{'name':'PASSWORD','value':'hunter2'}]},'reported':{'running':1}}",
     "new      app instance " WEB
     "/dev/shop/1.0: READY, revision 3 of flavor small, 1 of 2 RUNNING"},
    {"appinst/" WEB "/dev/shop/1.0", NULL, "gone     app instance " WEB "/dev/shop/1.0"},
    {"slice/u-1", "{'owner':'" WEB "','nodes':2,'uses':[{'process_guid':'a'}]}",
     "new      slice u-1: 2 nodes for " WEB ", 1 use"},
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static void told(bool json, struct buf *ret)
{
    SCOPED_ARENA(a);
    SCOPED_BUF(feed);
    struct events e;
    struct err err;
    events_init(&e, json);
    events_connect(&e, false);
    add(&feed, BOARD__FEED_FRAME__KIND__RESET, 0, "", NULL);
    add(&feed, BOARD__FEED_FRAME__KIND__CURRENT, 10, "", NULL);
    for (int64_t i = 0; i < ROWS; i++) {
        add(&feed, rows[i].record ? BOARD__FEED_FRAME__KIND__PUT : BOARD__FEED_FRAME__KIND__DELETE,
            11 + i, rows[i].key,
            rows[i].record ? record_of(&a, rows[i].key, rows[i].record) : NULL);
    }
    assert_int_equal(events_take(&e, buf_bytes(&feed), &err), 0);
    buf_append_string(ret, buf_string(&e.out));
    events_done(&e);
}

static void a_line_a_change(void **state)
{
    SCOPED_BUF(out);
    SCOPED_BUF(expected);
    told(false, &out);
    for (int i = 0; i < ROWS; i++) {
        buf_printf(&expected, "%-8d %s\n", 11 + i, rows[i].line);
    }
    assert_string_equal(buf_string(&out), buf_string(&expected));
    (void)state;
}

static void no_secret_is_told(void **state)
{
    SCOPED_BUF(out);
    told(true, &out);
    assert_non_null(strstr(buf_string(&out), "\"PASSWORD\""));
    assert_null(strstr(buf_string(&out), "hunter2"));
    (void)state;
}

/* A revision has the whole definition, and progress has a command of its own. */
static void what_belongs_to_the_topic(void **state)
{
    SCOPED_BUF(out);
    for (enum record_type type = 0; type < RECORD_UNKNOWN; type++) {
        const char *topic = record_kind(type)->topic;
        if (topic && strcmp(topic, "edge") == 0) {
            buf_printf(&out, "%s ", record_type_name(type));
        }
    }
    assert_string_equal(buf_string(&out), "app appinst cloudlet cloudletinfo clusterinst flavor "
                                          "maintenance slice ");
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_a_change),
        cmocka_unit_test(no_secret_is_told),
        cmocka_unit_test(what_belongs_to_the_topic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
