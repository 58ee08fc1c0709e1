/* Builds, for the files that make them: a POST, and a deploy that makes one of its own. Pure. */
#pragma once

#include "bbs/system/parts.h"

enum { BUILD_VERSION_BYTES_MAX = 255 };

/* A build that is pending, of target "/" and nothing else yet. The texts are borrowed. */
Board__BuildRecord *build_new(struct arena *a, const struct system_facts *f, const char *id,
                              struct moment now);

/* Keeps the text of a definition beside its build. Borrowed. */
void source_put(struct plan *p, const struct system_facts *f, const char *id,
                ProtobufCBinaryData text, enum actor actor);

/* What is wrong with a part of a request: not one target but so many; a text that is too long; a
 * version that is no printable word. */
void check_one_target(struct validation *v, size_t count, const char *targets);
void check_definition(struct validation *v, ProtobufCBinaryData text);
void check_version(struct validation *v, const char *version);

/* Who needs what the build resolved, for people; NULL = nobody, it may go. What it rests on is
 * noted, but for what only the head, which is noted, can bring about. */
const char *build_named_by(struct view *v, const struct system_facts *f,
                           const Board__BuildRecord *build);
