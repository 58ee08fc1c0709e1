#include "bbs/bbs.h"
#include "bbs/cli/commands_io.h"
#include "bbs/seal_io.h"
#include "common/cli/serve_io.h"

static const struct cli_option bbs_options[] = {
    {.name = "name", .value = "NAME", .help = "in log lines", .fallback = "bbs"},
    {.name = "listen", .value = "IP:PORT", .help = "address of the API", .required = true},
    {.name = "url", .value = "URL", .help = "how others reach it", .required = true},
    {.name = "health", .value = "IP:PORT", .help = "plain HTTP that answers 200 to anything"},
    {.name = "locket", .value = "IP:PORT", .help = "gRPC for Locket's clients; none by default"},
    {.name = "any-client",
     .help =
         "a certificate with another OU than client, or none, may do what ordinary clients may; "
         "without this it may only read"},
    {.name = "etcd", .value = "URLS", .help = "etcd's servers, comma-separated", .required = true},
    {.name = "etcd-ca", .value = "FILE", .help = "CA of etcd; --ca by default"},
    {.name = "etcd-cert", .value = "FILE", .help = "certificate for etcd; --cert by default"},
    {.name = "etcd-key", .value = "FILE", .help = "its key; --key by default"},
    {.name = "keys",
     .value = "FILE",
     .help = "keys of secrets (docs/systems.md); without it none can be set or opened"},
    {.name = "callbacks-at-once",
     .value = "N",
     .help = "completion callbacks of tasks that are being called",
     .fallback = "1000"},
    {.name = "callbacks-memory-mb",
     .value = "MB",
     .help = "the records of these; one alone may be larger",
     .fallback = "32"},
    {.name = "callbacks-waiting",
     .value = "N",
     .help = "more are left to the converger",
     .fallback = "4096"},
    {.name = "callback-attempts", .value = "N", .help = "without a pause", .fallback = "3"},
    {.name = "callback-timeout", .value = "TIME", .help = "of an attempt", .fallback = "10s"},
    {0},
};

static const char *text_or(const struct invocation *call, const char *option, const char *other)
{
    const char *text = cli_text(call, option);
    return text ? text : other;
}

static int callback_limits(const struct invocation *call, struct callback_limits *ret,
                           struct err *err)
{
    int64_t at_once = 0, mb = 0, waiting = 0, attempts = 0, timeout_ms = 0;
    int r = cli_number(call, "callbacks-at-once", 1, 100000, &at_once, err);
    r = r < 0 ? r : cli_number(call, "callbacks-memory-mb", 1, 65536, &mb, err);
    r = r < 0 ? r : cli_number(call, "callbacks-waiting", 1, 1000000, &waiting, err);
    r = r < 0 ? r : cli_number(call, "callback-attempts", 1, 100, &attempts, err);
    r = r < 0 ? r : cli_duration_ms(call, "callback-timeout", &timeout_ms, err);
    if (r == 0 && timeout_ms < 1) {
        r = err_set(err, ERR_INVALID, "--callback-timeout must be at least 1ms");
    }
    *ret = (struct callback_limits){.at_once = (unsigned)at_once,
                                    .bytes = (size_t)mb * 1024 * 1024,
                                    .waiting = (unsigned)waiting,
                                    .attempts = (unsigned)attempts,
                                    .timeout_ns = timeout_ms * MILLISECOND_NS};
    return r;
}

static int run_serve(const struct invocation *call, struct err *err)
{
    struct host_config host = {0};
    int r = serve_host_config(call, &host, err);
    if (r < 0) {
        return r;
    }
    host.health = cli_text(call, "health");
    host.grpc = cli_text(call, "locket");
    host.etcd = cli_text(call, "etcd");
    host.etcd_tls = (struct tls_files){.ca = text_or(call, "etcd-ca", host.tls.ca),
                                       .cert = text_or(call, "etcd-cert", host.tls.cert),
                                       .key = text_or(call, "etcd-key", host.tls.key)};
    struct bbs_config config = {.url = cli_text(call, "url"),
                                .name = host.name,
                                .any_client = cli_switch(call, "any-client")};
    r = callback_limits(call, &config.callbacks, err);
    if (r < 0) {
        return r;
    }
    const char *keys = cli_text(call, "keys");
    struct seal *seal = NULL;
    r = keys ? seal_file_read(keys, &seal, err) : 0;
    if (r < 0) {
        return err_prefix(err, "--keys");
    }
    config.seal = seal;
    r = serve_role(bbs_new(&config), &host, err);
    seal_file_free(seal);
    return r;
}

static const struct cli_option *const serve[] = {bbs_options, serve_options, NULL};
static const struct cli_option *const backup[] = {bbs_backup_options, bbs_etcd_options,
                                                  bbs_output_options, NULL};
static const struct cli_option *const restore[] = {bbs_restore_options, bbs_etcd_options,
                                                   bbs_output_options, NULL};

static const char backup_details[] =
    "etcd goes on meanwhile, and so does all the rest. The file gets its name when all of it has\n"
    "come and its hash is right; only its owner may read it. Keep it on another machine: it holds\n"
    "what the definitions of your apps say, environments with their passwords too.\n"
    "How etcd is restored from it: docs/restore.md.\n";

static const struct cli_command verbs[] = {
    {"backup", "FILE", "saves a snapshot of etcd, or verifies one", backup_details, backup, 1, 1,
     bbs_backup_run},
    {"restore", "", "begins a new board generation, after etcd was restored from a snapshot",
     NULL, restore, 0, 0, bbs_restore_run},
    {"serve", "", "runs a bbs server", NULL, serve, 0, 0, run_serve},
    {0},
};

const struct cli_group bbs_server_group = {"", "The server:", verbs};
