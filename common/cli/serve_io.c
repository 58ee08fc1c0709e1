#include "common/cli/serve_io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct cli_option serve_options[] = {
    {.name = "ca", .value = "FILE", .help = "certificate of the cluster's CA", .required = true},
    {.name = "cert", .value = "FILE", .help = "certificate of this process", .required = true},
    {.name = "key", .value = "FILE", .help = "its key", .required = true},
    {.name = "log-level",
     .value = "debug|info|warn|error",
     .help = "what is logged",
     .fallback = "info"},
    {0},
};

const struct cli_option serve_leader_options[] = {
    {.name = "listen", .value = "IP:PORT", .help = "address of its API", .required = true},
    {.name = "url", .value = "URL", .help = "how others reach it", .required = true},
    {.name = "bbs", .value = "URLS", .help = "the bbs servers, comma-separated", .required = true},
    {0},
};

static int check_file(const struct invocation *call, const char *option, const char **ret_file,
                      struct err *err)
{
    const char *file = cli_text(call, option);
    if (access(file, R_OK) != 0) {
        return err_set(err, ERR_INVALID, "cannot read --%s %.120s: %s", option, file,
                       strerror(errno));
    }
    *ret_file = file;
    return 0;
}

static int check_address(const char *text, struct err *err)
{
    const char *colon = strrchr(text, ':');
    size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;
    if (!colon || colon == text || digits == 0 || digits > 5 || colon[1 + digits] ||
        atoi(colon + 1) > 65535) {
        return err_set(err, ERR_INVALID, "--listen must be IP:PORT, not \"%.60s\"", text);
    }
    return 0;
}

static int check_url(const struct invocation *call, struct err *err)
{
    const char *url = cli_text(call, "url");
    return strncmp(url, "https://", 8) == 0 && url[8]
               ? 0
               : err_set(err, ERR_INVALID, "--url must be an https URL, not \"%.60s\"", url);
}

static enum log_level level_of(const char *word)
{
    return strcmp(word, "debug") == 0   ? LOG_DEBUG_LEVEL
           : strcmp(word, "warn") == 0  ? LOG_WARN_LEVEL
           : strcmp(word, "error") == 0 ? LOG_ERROR_LEVEL
                                        : LOG_INFO_LEVEL;
}

int serve_host_config(const struct invocation *call, struct host_config *ret_host, struct err *err)
{
    struct host_config h = {.name = cli_text(call, "name"), .listen = cli_text(call, "listen")};
    const char *level = "info";
    int r = check_address(h.listen, err);
    r = r < 0 ? r : check_url(call, err);
    r = r < 0 ? r : check_file(call, "ca", &h.tls.ca, err);
    r = r < 0 ? r : check_file(call, "cert", &h.tls.cert, err);
    r = r < 0 ? r : check_file(call, "key", &h.tls.key, err);
    r = r < 0 ? r : cli_choice(call, "log-level", &level, err);
    if (r == 0) {
        h.log_level = level_of(level);
        *ret_host = h;
    }
    return r;
}

int serve_role(struct role *role, const struct host_config *host, struct err *err)
{
    int r = host_run(role, host, err);
    role_free(role);
    return r;
}
