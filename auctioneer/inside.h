/* The auctioneer from inside: its parts and what ties them together. For auctioneer/ only. */
#pragma once

#include "auctioneer/auction.h"
#include "auctioneer/barred_units.h"
#include "auctioneer/rules.h"
#include "common/client/leading.h"
#include "common/client/questions.h"

struct auctioneer {
    struct leading life; /* first: a struct role * is a struct auctioneer * */
    struct backlog backlog;
    struct cells cells;
    struct slices slices;
    struct barred_units barred_units;
    struct report report;
    struct schedule_rules rules;
    struct auction auction;
};

/* What it is asked (rep-auctioneer.md 3). */
extern const struct path_table auctioneer_questions;
