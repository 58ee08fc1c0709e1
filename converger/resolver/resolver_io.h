/* The resolver of a converger (common/contract/resolver.h): each request is read by a child of its
 * own, `converger resolve`, which runs git, is bounded, and is killed when its time is over. A
 * hostile repository can end the child, never the converger. */
#pragma once

#include "common/base/err.h"
#include "common/cli/options.h"

struct host;
struct resolver_shell;

/* All borrowed while the resolver lives. */
struct resolver_config {
    const char *git_dir; /* holds mirrors; NULL = a directory of its own below TMPDIR, for as long
                            as the process lives */
    const char *git_ca;  /* file of certificates that https:// trusts; NULL = the machine's */
    bool allow_file;     /* repositories on this machine's disk, file://, may be read */
    const char *system_domain; /* of addresses outside; "" = none */
};

/* For host_config.resolver_new; `config` is a struct resolver_config. Without a directory that can
 * be written it reads texts alone, and answers what needs git with the reason. NULL never: there is
 * nothing that keeps a converger from running without it. */
struct resolver_shell *resolver_new(void *config, struct host *host, struct err *err);

/* The command `converger resolve`: as cli_command.run. */
int resolver_child_run(const struct invocation *call, struct err *err);
