/* The answer to a request of the contract (common/contract/resolver.h), by whatever reads the
 * repositories: git in the resolver, a table in the simulator. Pure, but for what reads. */
#pragma once

#include "common/contract/resolver.h"
#include "common/definition/definition.h"

/* All tags of a repository, in the arena. Errors as of definition_read. */
typedef int definition_tags(void *context, struct arena *a, const char *url, const char ***ret_tags,
                            size_t *ret_count, struct err *err);

struct definition_repositories {
    definition_read *read; /* asked for what has a url alone, its own or that it is from */
    definition_tags *tags;
    void *context;
    const char *system_domain; /* of addresses outside; "" = none */
};

/* Everything in the arena; the request is borrowed meanwhile. */
struct resolved definition_answer(struct arena *a, const struct resolve_request *request,
                                  const struct definition_repositories *repositories);
