/* URLs as Diego's server reads them, by Go's net/url.Parse: what that takes is taken, what it
 * refuses is refused (behaviour.md 8.1, root_fs). Pure. */
#pragma once

#include <stdbool.h>

/* Parses, and has a scheme. */
bool valid_url(const char *url);
