/* The versions of a system's definition that its repository has. */
#include "bbs/rest/answer.h"
#include "common/codec/json.h"

void rest_versions(struct rest *q, struct view *v, const Board__SystemRecord *system,
                   struct effects *out)
{
    const Board__VersionsRecord *r =
        view_peek_message(v, key_versions(view_arena(v), system->uid));
    SCOPED_BUF(text);
    if (r && *r->fault && !r->n_versions) {
        rest_refuse(out, q->ask->request_id, 500, "UNKNOWN", "%s", r->fault);
        return;
    }
    buf_append_string(&text, "[");
    for (size_t i = 0; r && i < r->n_versions; i++) {
        buf_append_string(&text, i ? "," : "");
        json_string_text(bytes_of(r->versions[i]), &text);
    }
    buf_append_string(&text, "]\n");
    effects_reply(out, q->ask->request_id, 200, REST_TYPE, buf_bytes(&text));
}
