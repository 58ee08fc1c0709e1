#include "auctioneer/rules.h"

#include <string.h>

#define DIEGO_STARTING_WEIGHT 0.25

static int init_zones(struct arena *a, const char *list, struct schedule_rules *ret,
                      struct err *err)
{
    const char **zones = ARENA_ARRAY(a, ZONES_REPORTED_MAX, const char *);
    ret->zones = zones;
    while (list && *list) {
        size_t size = strcspn(list, ",");
        const char *zone = arena_strndup(a, list, size);
        if (size == 0 || ret->zone_count == ZONES_REPORTED_MAX) {
            return err_set(err, ERR_INVALID, "zones must be 1 to %d names with commas between",
                           ZONES_REPORTED_MAX);
        }
        for (size_t i = 0; i < ret->zone_count; i++) {
            if (strcmp(zones[i], zone) == 0) {
                return err_set(err, ERR_INVALID, "zone %s is named twice", zone);
            }
        }
        zones[ret->zone_count++] = zone;
        list += size;
        if (*list == ',' && !*++list) {
            return err_set(err, ERR_INVALID, "zones end in a comma");
        }
    }
    return 0;
}

int rules_init(struct arena *a, const struct auctioneer_config *c, struct schedule_rules *ret,
               struct err *err)
{
    *ret = (struct schedule_rules){0};
    const char *scoring = c->scoring && *c->scoring ? c->scoring : "default";
    bool diego = strcmp(scoring, "diego") == 0;
    if (!diego && strcmp(scoring, "default") != 0) {
        return err_set(err, ERR_INVALID, "scoring %s is neither default nor diego", scoring);
    }
    ret->starting_container_maximum = c->starting_container_maximum;
    ret->score.scoring = diego ? SCORING_DIEGO : SCORING_LARGEST;
    ret->score.bin_pack_first_fit_weight = c->bin_pack_first_fit_weight;
    ret->score.starting_container_weight = c->starting_container_weight;
    if (c->starting_container_weight < 0) {
        ret->score.starting_container_weight = diego ? DIEGO_STARTING_WEIGHT : 0;
    }
    return init_zones(a, c->zones, ret, err);
}
