#include "common/codec/secrets.h"

#include "models/desired_lrp.pb-c.h"
#include "models/sealed.pb-c.h"
#include "models/task.pb-c.h"

#include <assert.h>
#include <string.h>

typedef const char *hide(struct arena *a, const char *text);

static const char *hide_text(struct arena *a, const char *text)
{
    (void)a;
    return *text ? SECRET_TEXT : text;
}

const char *secrets_hide_url(struct arena *a, const char *url)
{
    const char *slashes = strstr(url, "://"), *query = strchr(url, '?');
    slashes = query && slashes > query ? NULL : slashes; /* those of a URL in the query */
    const char *host = slashes ? slashes + strlen("://") : url;
    const char *at = NULL, *end = host + (slashes ? strcspn(host, "/?#") : 0);
    for (const char *c = host; c < end; c++) {
        at = *c == '@' ? c : at; /* the last one: a password may hold others */
    }
    if (!at && !query) {
        return url;
    }
    const char *rest = at ? at : host;
    assert(rest >= host);
    size_t rest_size = query ? (size_t)(query - rest) : strlen(rest);
    return arena_printf(a, "%.*s%s%.*s%s", (int)(host - url), url, at ? SECRET_TEXT : "",
                        (int)rest_size, rest, query ? "?" SECRET_TEXT : "");
}

/* A new field that holds a text must be put here, or on the list of
 * test/unit/common/codec/test_secrets.c. */
static const struct {
    const char *message, *field;
    hide *hide;
} secrets[] = {
    {"models.EnvironmentVariable", "value", hide_text},
    {"models.DesiredLRP", "image_password", hide_text},
    {"models.DesiredLRPRunInfo", "image_password", hide_text},
    {"models.TaskDefinition", "image_password", hide_text},
    {"models.SharedDevice", "mount_config", hide_text},
    {"models.DesiredLRP", "root_fs", secrets_hide_url},
    {"models.DesiredLRPResource", "root_fs", secrets_hide_url},
    {"models.TaskDefinition", "root_fs", secrets_hide_url},
    {"models.TaskDefinition", "completion_callback_url", secrets_hide_url},
    {"models.DownloadAction", "from", secrets_hide_url},
    {"models.UploadAction", "to", secrets_hide_url},
    {"models.CachedDependency", "from", secrets_hide_url},
    {"models.ImageLayer", "url", secrets_hide_url},
};

static hide *hide_of(const char *message, const char *field)
{
    assert(message && field);
    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
        if (strcmp(secrets[i].message, message) == 0 && strcmp(secrets[i].field, field) == 0) {
            return secrets[i].hide;
        }
    }
    return NULL;
}

bool secrets_hold(const char *message, const char *field)
{
    bool sealed = strcmp(message, "models.Sealed") == 0 && strcmp(field, "text") == 0;
    return sealed || hide_of(message, field) != NULL;
}

/* What is kept sealed is shown as what it is, a secret, whether or not it can be read. */
static void show_sealed(ProtobufCMessage *m)
{
    char *const shown = (char *)(uintptr_t)SECRET_TEXT;
    if (m->descriptor == &models__sealed__descriptor) {
        ((Models__Sealed *)m)->text = (ProtobufCBinaryData){0};
    } else if (m->descriptor == &models__environment_variable__descriptor) {
        Models__EnvironmentVariable *v = (Models__EnvironmentVariable *)m;
        v->value = v->sealed ? shown : v->value;
    } else if (m->descriptor == &models__desired_lrp__descriptor) {
        Models__DesiredLRP *d = (Models__DesiredLRP *)m;
        d->image_password = d->sealed_image_password ? shown : d->image_password;
    } else if (m->descriptor == &models__task_definition__descriptor) {
        Models__TaskDefinition *d = (Models__TaskDefinition *)m;
        d->image_password = d->sealed_image_password ? shown : d->image_password;
    }
}

/* The values of a field: *ret_count pointers, one after the other. */
static void *const *values_of(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f,
                              size_t *ret_count)
{
    const char *at = (const char *)m + f->offset;
    const void *quantifier = (const char *)m + f->quantifier_offset;
    if (f->label == PROTOBUF_C_LABEL_REPEATED) {
        memcpy(ret_count, quantifier, sizeof(*ret_count));
        return *(void *const *const *)(const void *)at;
    }
    bool other = f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF && *(const uint32_t *)quantifier != f->id;
    *ret_count = other ? 0 : 1;
    return (void *const *)(const void *)at;
}

void secrets_hide(struct arena *a, ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *d = message->descriptor;
    show_sealed(message);
    for (unsigned i = 0; i < d->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &d->fields[i];
        bool text = f->type == PROTOBUF_C_TYPE_STRING;
        hide *one = text ? hide_of(d->name, f->name) : NULL;
        if (!one && f->type != PROTOBUF_C_TYPE_MESSAGE) {
            continue;
        }
        size_t count;
        void **values = (void **)(uintptr_t)values_of(message, f, &count);
        for (size_t k = 0; k < count; k++) {
            if (one && values[k]) {
                values[k] = (void *)(uintptr_t)one(a, values[k]);
            } else if (!one && values[k]) {
                secrets_hide(a, values[k]);
            }
        }
    }
}
