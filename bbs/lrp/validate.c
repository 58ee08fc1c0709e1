#include "bbs/lrp/validate.h"

#include <string.h>

void valid_process_guid(struct validation *v, const char *process_guid)
{
    if (!process_guid[0]) {
        say_field(v, "process_guid");
    }
}

void valid_remove_desired(struct validation *v, const Models__RemoveDesiredLRPRequest *request)
{
    valid_process_guid(v, request->process_guid);
    if (request->replaced_by[0] && strcmp(request->replaced_by, request->process_guid) == 0) {
        say_field(v, "replaced_by");
    }
}

void valid_upsert_domain(struct validation *v, const Models__UpsertDomainRequest *request)
{
    if (!request->domain[0]) {
        say_field(v, "domain");
    }
    check_length(v, request->domain, NAME_CHARACTERS_MAX);
}

/* The place that the move names, and its domain if it must be named; presences up to `most`. */
static void valid_place(struct validation *v, const Board__Move *move, bool domain, int most)
{
    SCOPED_ARENA(a);
    struct move_place place;
    if (!move_place(&a, move, &place)) {
        say_field(v, "actual_lrp_key");
    } else {
        valid_process_guid(v, place.key.process_guid);
        if (place.key.index < 0) {
            say_field(v, "index");
        }
        if (domain && !place.key.domain[0]) {
            say_field(v, "domain");
        }
        if (place.presence > most) {
            say_field(v, "presence");
        }
    }
}

void valid_at_index(struct validation *v, const Board__Move *move)
{
    valid_place(v, move, false, MODELS__ACTUAL_LRP__PRESENCE__ORDINARY);
}

void valid_at_key(struct validation *v, const Board__Move *move)
{
    valid_place(v, move, true, MODELS__ACTUAL_LRP__PRESENCE__ORDINARY);
}

static void valid_instance_key(struct validation *v, const Models__ActualLRPInstanceKey *key)
{
    if (!key) {
        say_field(v, "actual_lrp_instance_key");
        return;
    }
    if (!key->cell_id[0]) {
        say_field(v, "cell_id");
    }
    if (!key->instance_guid[0]) {
        say_field(v, "instance_guid");
    }
}

/* Names that are stored must fit; of those that are only looked for nothing is found (behaviour.md
 * 18). */
static void fits_key(struct validation *v, const Board__Move *move)
{
    SCOPED_ARENA(a);
    struct move_place place;
    if (move_place(&a, move, &place)) {
        check_length(v, place.key.process_guid, NAME_CHARACTERS_MAX);
        check_length(v, place.key.domain, NAME_CHARACTERS_MAX);
    }
}

static void fits_instance_key(struct validation *v, const Models__ActualLRPInstanceKey *key)
{
    if (key) {
        check_length(v, key->cell_id, NAME_CHARACTERS_MAX);
        check_length(v, key->instance_guid, NAME_CHARACTERS_MAX);
    }
}

static void valid_net_info(struct validation *v, const Models__ActualLRPNetInfo *net_info)
{
    if (!net_info) {
        say_field(v, "actual_lrp_net_info");
    } else if (!net_info->address[0]) {
        say_field(v, "address");
    }
}

void valid_claim(struct validation *v, const Board__Move *move)
{
    valid_at_index(v, move);
    valid_instance_key(v, move_instance(move)->actual_lrp_instance_key);
    fits_instance_key(v, move_instance(move)->actual_lrp_instance_key);
}

void valid_start(struct validation *v, const Board__Move *move)
{
    valid_at_key(v, move);
    valid_instance_key(v, move_instance(move)->actual_lrp_instance_key);
    valid_net_info(v, move_instance(move)->actual_lrp_net_info);
    fits_key(v, move);
    fits_instance_key(v, move_instance(move)->actual_lrp_instance_key);
    check_length(v, move_instance(move)->availability_zone, NAME_CHARACTERS_MAX);
}

void valid_of_instance(struct validation *v, const Board__Move *move)
{
    valid_at_key(v, move);
    valid_instance_key(v, move_instance(move)->actual_lrp_instance_key);
}

void valid_fail(struct validation *v, const Board__Move *move)
{
    valid_at_key(v, move);
    if (!move_instance(move)->error_message[0]) {
        say_field(v, "error_message");
    }
}

void valid_remove(struct validation *v, const Board__Move *move)
{
    valid_place(v, move, false, MODELS__ACTUAL_LRP__PRESENCE__SUSPECT);
}

void valid_unclaim(struct validation *v, const Board__Move *move)
{
    valid_at_index(v, move);
    valid_instance_key(v, move_instance(move)->actual_lrp_instance_key);
}

void valid_evacuate_crashed(struct validation *v, const Board__Move *move)
{
    valid_of_instance(v, move);
    if (!move_instance(move)->error_message[0]) {
        say_field(v, "error_message");
    }
}
