/* Which sites are heard of: their CRMs send heartbeats to the bbs of the centre, each with its
 * session (common/client/liveness_report.h). A site that is OFFLINE already is not listened for: it
 * opens a session, or says that it is back. Pure. */
#pragma once

#include "common/client/liveness_report.h"

/* What the CRM of this cloudlet says of itself, as the board has it; NULL = it is gone. */
void sites_note(struct liveness_report *h, const char *cloudlet,
                const Board__CloudletInfoRecord *info);

/* In this session it was not heard of for so long. */
bool sites_silent(const struct liveness_report *h, const char *cloudlet, uint64_t session,
                  int64_t limit_ns);

/* Each one that is silent for so long. */
void sites_each_silent(const struct liveness_report *h, int64_t limit_ns,
                       void (*each)(void *context, const char *cloudlet), void *context);

/* Whether any is listened for. */
bool sites_any(const struct liveness_report *h);
