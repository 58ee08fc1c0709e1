#include "bbs/bbs.h"
#include "bbs/cli/commands_io.h"
#include "common/cli/serve_io.h"

const struct cli_option bbs_serve_options[] = {
    {.name = "name", .value = "NAME", .help = "in log lines", .fallback = "bbs"},
    {.name = "listen", .value = "HOST:PORT", .help = "address of the API", .required = true},
    {.name = "url", .value = "URL", .help = "how others reach it", .required = true},
    {.name = "health", .value = "HOST:PORT", .help = "plain HTTP that answers 200 to anything"},
    {.name = "locket", .value = "HOST:PORT", .help = "gRPC for Locket's clients; none unless told"},
    {.name = "etcd", .value = "URLS", .help = "etcd's servers, comma-separated", .required = true},
    {.name = "etcd-ca", .value = "FILE", .help = "CA of etcd; --ca unless told"},
    {.name = "etcd-cert", .value = "FILE", .help = "certificate for etcd; --cert unless told"},
    {.name = "etcd-key", .value = "FILE", .help = "its key; --key unless told"},
    {0},
};

static const char *text_or(const struct invocation *call, const char *option, const char *other)
{
    const char *text = cli_text(call, option);
    return text ? text : other;
}

int bbs_serve_run(const struct invocation *call, struct err *err)
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
    struct bbs_config config = {.url = cli_text(call, "url"), .name = host.name};
    return serve_role(bbs_new(&config), &host, err);
}
