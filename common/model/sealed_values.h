/* Where a definition has secret values, and what becomes of them (docs/systems.md, Secrets). A
 * place is an environment variable, of the container or of an action, or the password of the image.
 * It begins as a reference: `sealed` has the name alone. Filled, it has what the board holds,
 * sealed; opened, the text itself, for the rep that runs it. Of DesiredLRPs and TaskDefinitions,
 * and of all that holds such. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"

#include "models/desired_lrp.pb-c.h"
#include "models/sealed.pb-c.h"
#include "models/task.pb-c.h"

#include <stdbool.h>

/* A definition may name so many secrets: each is read by the transaction that fills it. */
enum { SEALED_NAMES_MAX = 32 };

/* What a reader is shown of a value. */
#define SEALED_SHOWN "(hidden)"

/* One of them, within the message. */
struct sealed_place {
    Models__Sealed **sealed; /* never NULL in it */
    char **text;             /* the field that is empty until it is opened */
};

/* All places of a message, in the order of its fields; gives their number. The message is the
 * caller's own decoded copy, where he changes what they point to. */
size_t sealed_places(struct arena *a, ProtobufCMessage *m, struct sealed_place **ret_places);

/* Their names, sorted, each once, in the arena; gives their number. */
size_t sealed_names(struct arena *a, const ProtobufCMessage *m, const char ***ret_names);

/* The value as it stands on the board; NULL = it is not set. Borrowed. */
typedef const Models__Sealed *sealed_lookup(void *context, const char *name);

/* Puts the values into all places; what they are is copied into the arena. NULL = all are filled;
 * else the name of the first that is not set, and then nothing is changed. */
const char *sealed_values_fill_lrp(struct arena *a, Models__DesiredLRP *d, sealed_lookup *lookup,
                                   void *context);
const char *sealed_values_fill_task(struct arena *a, Models__TaskDefinition *d,
                                    sealed_lookup *lookup, void *context);

/* The text of a value, in the arena; NULL = it cannot be opened, and *ret_why says why. */
typedef const char *sealed_open(void *context, struct arena *a, const Models__Sealed *sealed,
                                const char **ret_why);

/* Puts the texts into the places of a message, and takes away what was sealed. NULL = all are
 * opened; else the name of the first that could not be, and then nothing is changed. */
const char *sealed_values_open(struct arena *a, ProtobufCMessage *m, sealed_open *open,
                               void *context, const char **ret_why);

/* Whether a message of another's making has any place: only the board makes them. */
bool sealed_values_any(const ProtobufCMessage *m);
