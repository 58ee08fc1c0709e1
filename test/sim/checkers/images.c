/* Images: a container has what was pulled for it, and nobody keeps one for a container that is
 * gone. */
#include "common/model/image_name.h"
#include "test/sim/checkers/checkers.h"
#include "test/sim/model/containers.h"

#include <string.h>

void check_image(struct checkers *k, struct node *cell, const struct verb_call *call)
{
    const struct container_spec *spec = call->verb == VERB_PREPARE ? call->spec : NULL;
    if (!spec || !image_name_is_pulled(spec->rootfs)) {
        return;
    }
    const char *pulled = model_containers_image(node_containers(cell), call->guid);
    k->seen[SEEN_OF_IMAGES]++;
    if (spec->layer_count == 0 || !pulled || strcmp(pulled, spec->rootfs) != 0) {
        checkers_report(k, "images", "container %s is to be made of %s, and has %s", call->guid,
                        spec->rootfs, pulled ? pulled : "nothing");
    }
    if (spec->path && !spec->path[0]) {
        checkers_report(k, "images", "nobody says what container %s runs", call->guid);
    }
}

void check_pins(struct checkers *k, struct buf *ret_why)
{
    for (unsigned i = 0; i < k->cluster->options.cells; i++) {
        const struct model_containers *m = node_containers(k->cluster->cells[i]);
        const char *guid;
        for (int n = 0; (guid = model_containers_pinned(m, n)); n++) {
            if (model_containers_state(m, guid) < 0) {
                buf_printf(ret_why, "an image is kept for container %s, which is not there; ",
                           guid);
            }
        }
    }
}
