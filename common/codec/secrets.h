/* Hides what is secret in a message of the API before it is shown to people or written anywhere
 * (design.md 8): values of environment variables, passwords of images, settings of volumes, and of
 * URLs the user before the host and the query, which carry tokens and signatures. What is kept
 * sealed is shown as hidden too. Command lines are shown as they are. Pure. */
#pragma once

#include "common/base/arena.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

/* What stands in the place of a secret. An empty one stays empty: that there is none is no secret.
 */
#define SECRET_TEXT "(hidden)"

/* Hides them in a decoded message and in all that is in it; the new texts are in the arena. */
void secrets_hide(struct arena *a, ProtobufCMessage *message);

/* "https://(hidden)@host/path?(hidden)"; a text without a user or query is given back as it is. */
const char *secrets_hide_url(struct arena *a, const char *url);

/* Whether a field of a message, by the names of the .proto files ("models.DesiredLRP",
 * "image_password"), is hidden, or its part if it is a URL. */
bool secrets_hold(const char *message, const char *field);
