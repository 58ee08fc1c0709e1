/* The CRM of a site: follows the centre's board, and does at its site what the records of its own
 * cloudlet say (docs/edge.md). A role; one leads at the site, by lead/site, others stand by. It
 * keeps nothing: what it did stands on the site's board. */
#pragma once

#include "common/contract/role.h"

struct crm_config {
    const char *name;
    const char *cloudlet; /* "acme/paris", the CN of its certificate at the centre */
    const char *version;  /* that it says it is */
    const char *boards;   /* of the site: "https://...,https://..." */
    const char *centres;  /* of the centre, likewise */
    const char *url;      /* where it listens, reported in lead/site */
    const char *launch;   /* program that starts and stops other versions; NULL = none */
};

/* Strings are copied. With a wrong configuration the role's first step is EFFECT_EXIT with code 2
 * and a text that says what is wrong. */
struct role *crm_new(const struct crm_config *config);
