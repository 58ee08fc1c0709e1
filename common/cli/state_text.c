#include "common/cli/state_text.h"

#include "common/cli/printable.h"
#include "common/codec/json.h"
#include "common/codec/json_text.h"

#include <jansson.h>
#include <stdlib.h>

static void append_scalar(const json_t *v, struct buf *out)
{
    char *text = json_is_string(v) ? NULL : json_dumps(v, JSON_ENCODE_ANY);
    const char *shown = text ? text : json_string_value(v);
    printable_append(out, shown ? shown : "");
    free(text);
}

/* The bounds of json_check_bounds() hold, so the recursion ends. */
static void append_tree(const json_t *v, int indent, struct buf *out)
{
    const char *key;
    json_t *member;
    size_t i;
    json_object_foreach((json_t *)v, key, member)
    {
        buf_printf(out, "%*s%s:", indent, "", key);
        if (json_is_object(member) || json_is_array(member)) {
            buf_append_string(out, json_object_size(member) + json_array_size(member) ? "\n"
                                                                                      : " none\n");
            append_tree(member, indent + 2, out);
        } else {
            buf_append_string(out, " ");
            append_scalar(member, out);
            buf_append_string(out, "\n");
        }
    }
    json_array_foreach((json_t *)v, i, member)
    {
        if (json_is_object(member) || json_is_array(member)) {
            buf_printf(out, "%*s-\n", indent, "");
            append_tree(member, indent + 2, out);
        } else {
            buf_printf(out, "%*s- ", indent, "");
            append_scalar(member, out);
            buf_append_string(out, "\n");
        }
    }
}

int cli_state_text(struct bytes body, bool json, struct buf *out, struct err *err)
{
    if (json) {
        int r = json_compact(body, out, err);
        buf_append_string(out, "\n");
        return r;
    }
    int r = json_check_bounds(body, err);
    if (r < 0) {
        return r;
    }
    json_error_t problem;
    json_t *tree = json_loadb(body.size ? (const char *)body.data : "", body.size, 0, &problem);
    if (!tree) {
        return err_set(err, ERR_INVALID, "the answer is not JSON: %s", problem.text);
    }
    append_tree(tree, 0, out);
    json_decref(tree);
    return 0;
}

static const char *text_of(struct arena *a, const json_t *tree, const char *key)
{
    const char *text = json_string_value(json_object_get(tree, key));
    return arena_strdup(a, text ? text : "");
}

enum state_role cli_state_role(struct arena *a, struct bytes body, const char **ret_name,
                               const char **ret_leader_url)
{
    struct err err;
    json_t *tree = json_check_bounds(body, &err) < 0
                       ? NULL
                       : json_loadb((const char *)body.data, body.size, 0, NULL);
    /* What is false is left out. */
    bool stands_by =
        json_object_get(tree, "name") && !json_is_true(json_object_get(tree, "leads"));
    *ret_name = text_of(a, tree, "name");
    *ret_leader_url = text_of(a, tree, "leader_url");
    json_decref(tree);
    return stands_by ? STATE_STANDS_BY : STATE_LEADS;
}
