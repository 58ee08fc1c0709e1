#include "bbs/route/whole_desired.h"

#include "bbs/board/copy.h"
#include "common/model/definition_views.h"

#include <string.h>

static bool has_source_tag(const Models__DesiredLRP *d, const char **ret_value)
{
    for (size_t i = 0; i < d->n_metric_tags; i++) {
        if (strcmp(d->metric_tags[i]->key, "source_id") == 0) {
            *ret_value = d->metric_tags[i]->value ? d->metric_tags[i]->value->static_ : "";
            return true;
        }
    }
    return false;
}

static struct blob *encoded(const ProtobufCMessage *m)
{
    SCOPED_BUF(b);
    record_encode(&b, m);
    return blob_new(b.data, b.size);
}

/* The two legacy names of the metric source (behaviour.md 8.5): a few fields to be joined with the
 * rest, or NULL. */
static struct blob *harmonised(const Models__DesiredLRP *d)
{
    Models__DesiredLRP extra = MODELS__DESIRED_LRP__INIT;
    const char *value;
    if (has_source_tag(d, &value)) {
        if (d->metrics_guid[0] || !value[0]) {
            return NULL;
        }
        extra.metrics_guid = (char *)(uintptr_t)value;
        return encoded(&extra.base);
    }
    if (!d->metrics_guid[0]) {
        return NULL;
    }
    Models__MetricTagValue source = MODELS__METRIC_TAG_VALUE__INIT;
    source.static_ = d->metrics_guid;
    Models__DesiredLRP__MetricTagsEntry entry = MODELS__DESIRED_LRP__METRIC_TAGS_ENTRY__INIT;
    char name[] = "source_id";
    entry.key = name;
    entry.value = &source;
    Models__DesiredLRP__MetricTagsEntry *entries[] = {&entry};
    extra.n_metric_tags = 1;
    extra.metric_tags = entries;
    return encoded(&extra.base);
}

static const ProtobufCMessage *r2_view(struct arena *a, ProtobufCMessage *decoded)
{
    desired_as_r2(a, (Models__DesiredLRP *)decoded);
    return decoded;
}

static const struct record_viewer r2_viewer = {&models__desired_lrp__descriptor, r2_view};

/* The run part that belongs to the scheduling part; NULL if there is none that this version can
 * read. */
static struct blob *run_of(struct view *v, struct arena *scratch, const Models__DesiredLRP *d)
{
    const char *definition_id = d->modification_tag ? d->modification_tag->epoch : "";
    struct picked run;
    if (!view_pick_one(v, key_run(scratch, d->process_guid, definition_id), &run)) {
        return NULL;
    }
    return run.version->readable ? run.blob : NULL;
}

/* The records of which the whole one is made: scheduling part, run part, and what is harmonised, a
 * reference of the caller's, or NULL. False: it is left out. */
static bool find_parts(struct view *v, struct arena *scratch, const struct picked *scheduling,
                       struct blob *ret_parts[RECORD_PARTS])
{
    ProtobufCMessage *m;
    if (record_decode(scratch, RECORD_DESIRED, blob_bytes(scheduling->blob), &m, NULL) < 0) {
        return false;
    }
    const Models__DesiredLRP *d = (const Models__DesiredLRP *)m;
    struct blob *run = run_of(v, scratch, d);
    if (!run) {
        return false;
    }
    ret_parts[0] = scheduling->blob;
    ret_parts[1] = run;
    ret_parts[2] = harmonised(d);
    return true;
}

void whole_desired_add(struct records *records, struct view *v, struct arena *scratch,
                       const struct picked *scheduling, bool r2)
{
    struct blob *parts[RECORD_PARTS];
    if (!find_parts(v, scratch, scheduling, parts)) {
        return;
    }
    if (r2 && desired_has_layers(record_body(blob_bytes(parts[1])))) {
        records_add_view(records, parts, &r2_viewer);
    } else {
        records_add(records, parts);
    }
    blob_unref(parts[2]);
}

/* Fields of one message that come one after the other are one on the wire. */
Models__DesiredLRP *whole_desired_decoded(struct view *v, const struct picked *scheduling)
{
    struct arena *a = view_arena(v);
    struct blob *parts[RECORD_PARTS];
    if (!find_parts(v, a, scheduling, parts)) {
        return NULL;
    }
    SCOPED_BUF(joined);
    ProtobufCMessage *m;
    for (size_t i = 0; i < RECORD_PARTS; i++) {
        struct bytes part = parts[i] ? blob_bytes(parts[i]) : (struct bytes){0};
        part = i > 0 && part.size > 0 ? record_body(part) : part;
        buf_append(&joined, part.data, part.size);
    }
    blob_unref(parts[2]);
    return record_decode(a, RECORD_DESIRED, buf_bytes(&joined), &m, NULL) < 0
               ? NULL
               : (Models__DesiredLRP *)m;
}
