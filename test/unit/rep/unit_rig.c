#include "test/unit/rep/unit_rig.h"

#include "common/model/record.h"
#include "rep/inside.h"
#include "test/decide/unit_rows.h"

struct rep *unit_rig_rep(struct rep_rig *g)
{
    return (struct rep *)g->role;
}

char *unit_rig_text(const char *constant)
{
    return (char *)(uintptr_t)constant;
}

void unit_rig_put(struct rep_rig *g, const char *key, const ProtobufCMessage *m)
{
    SCOPED_BUF(packed);
    record_encode(&packed, m);
    struct followed f = {.record = blob_new(packed.data, packed.size),
                         .create_revision = 5,
                         .mod_revision = ++g->revision};
    cell_units_record(unit_rig_rep(g), key, &f);
    blob_unref(f.record);
}

void unit_rig_put_row(struct rep_rig *g, const char *row)
{
    const char *key;
    const ProtobufCMessage *m = unit_row(&g->arena, arena_strdup(&g->arena, row), &key);
    unit_rig_put(g, key, m);
}

void unit_rig_know_all(struct rep_rig *g)
{
    const char *const *list;
    bool changed;
    struct unit_knowledge *k = &unit_rig_rep(g)->units.knowledge;
    size_t left_out, count = unit_knowledge_topics(k, &g->arena, &list, &changed, &left_out);
    for (size_t i = 0; i < count; i++) {
        unit_knowledge_reported(k, arena_strdup(&g->arena, list[i]));
    }
}

void unit_rig_put_unit(struct rep_rig *g)
{
    unit_rig_put_row(g, "unit/web/0000000003 service=web number=3 guid=u-1 service_guid=s-1 "
                        "state=alive cell_id=cell-1 identity=identity-1 assigned=1 machine=1");
    unit_rig_put_row(g, "unit_status/web/0000000003 guid=u-1 state=started charm=c");
    unit_rig_put_row(g, "unit_service/web name=web guid=s-1 state=alive charm=c");
}
