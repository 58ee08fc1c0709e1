/* Domains (behaviour.md 7). */
#include "bbs/domain/domain.h"
#include "bbs/route/read.h"

static const ProtobufCMessage *domains(const struct ask *ask, struct view *v)
{
    struct arena *a = view_arena(v);
    ProtobufCMessage **list;
    size_t count = read_all(v, RECORD_DOMAIN, &list);
    Models__DomainsResponse *response = arena_message(a, &models__domains_response__descriptor);
    response->domains = ARENA_ARRAY(a, count, char *);
    for (size_t i = 0; i < count; i++) {
        const Board__DomainRecord *d = (const Board__DomainRecord *)list[i];
        struct domain_seen seen = view_domain_seen(v, key_domain(a, d->domain));
        if (domain_listed(d, seen, board_now(ask->router->board))) {
            response->domains[response->n_domains++] = d->domain;
        }
    }
    return &response->base;
}

const struct read_row read_domains = {.message = domains};

void route_upsert_domain(struct ask *ask, struct effects *out)
{
    valid_upsert_domain(&ask->faults, ask->in.request);
    if (ask_valid(ask, out)) {
        ask_op(ask, &upsert_domain_row, out);
    }
}
