/* A limit that is cut is said to the operator, once: each container would say the same. */
#include "common/shell/log_io.h"
#include "rep/driver/driver_parts.h"
#include "rep/driver/process_limits.h"

void limits_say(struct driver *d, const struct container_spec *spec)
{
    SCOPED_BUF(why);
    if (d->limits_said || !process_limits_cut(spec, &d->facts, &why)) {
        return;
    }
    struct log *log = log_new("driver", LOG_INFO_LEVEL, STDERR_FILENO);
    struct log_line line = {.level = LOG_WARN_LEVEL, .message = buf_string(&why), .data = ""};
    log_put(log, &line);
    log_free(log);
    d->limits_said = true;
}
