#include "test/api/edge_rig.h"

#include "common/codec/json.h"
#include "common/model/record.h"
#include "edge_api.pb-c.h"
#include "test/tool/cmocka.h"
#include "test/tool/tls_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void edge_lay_bytes(const char *key, struct bytes value)
{
    char command[1024];
    const struct etcd_server *e = &bbs_rig.etcd;
    snprintf(command, sizeof(command),
             "ETCDCTL_API=3 etcdctl --endpoints %s --cacert %s --cert %s --key %s put '%s' "
             ">/dev/null",
             e->endpoint, e->ca, e->cert, e->key, key);
    FILE *f = popen(command, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(value.data, 1, value.size, f), value.size);
    assert_int_equal(pclose(f), 0);
}

void edge_lay(const char *key, const ProtobufCMessage *record)
{
    SCOPED_ARENA(a);
    edge_lay_bytes(key, record_encoded(&a, record));
}

static char *in_double_quotes(struct arena *a, const char *text)
{
    char *json = arena_strdup(a, text);
    for (char *c = json; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    return json;
}

ProtobufCMessage *edge_message(struct arena *a, const ProtobufCMessageDescriptor *d,
                               const char *text)
{
    struct err err;
    ProtobufCMessage *m;
    if (json_decode(a, d, bytes_of(in_double_quotes(a, text)),
                    CODEC_OWN | CODEC_STRICT | CODEC_SNAKE_CASE, &m, &err) < 0) {
        fail_msg("%s\n%.2000s", err.text, text);
    }
    return m;
}

int edge_post_json(const struct tls_files *files, int port, const char *path, const char *text,
                   struct buf *answer)
{
    struct tls_client c;
    SCOPED_ARENA(a);
    const char *json = in_double_quotes(&a, text);
    int status = 0;
    buf_clear(answer);
    if (client_open(&c, port, files, 0) &&
        client_print(&c,
                     "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                     "Content-Length: %zu\r\n\r\n",
                     path, strlen(json)) &&
        client_write(&c, json, strlen(json))) {
        status = client_answer(&c, NULL, answer, false);
    }
    client_close(&c);
    return status;
}

const char *edge_error_of(struct arena *a, const struct buf *answer)
{
    /* All answers have their error as field 1. */
    ProtobufCAllocator allocator = arena_protobuf(a);
    const Board__EdgeFlavorsResponse *r =
        board__edge_flavors_response__unpack(&allocator, answer->size, answer->data);
    assert_non_null(r);
    return r->error ? r->error->message : "";
}

const char *edge_error_in_json(struct arena *a, const struct buf *answer)
{
    char *text = arena_strndup(a, (const char *)answer->data, answer->size), *out = text;
    char *at = strstr(text, "\"message\":\"");
    if (!at) {
        return "";
    }
    for (at += strlen("\"message\":\""); *at && *at != '"'; at++) {
        char hex[3] = {0};
        at += *at == '\\';
        if (at[-1] == '\\' && *at == 'u' && strlen(at) > 4) { /* of ASCII alone */
            memcpy(hex, at + 3, 2);
            at += 4;
        }
        *out++ = *hex ? (char)strtol(hex, NULL, 16) : *at;
    }
    *out = 0;
    return text;
}
