/* The parts of app_check(), each of a kind of mistake. What they hold against the file a bbs or a
 * cell refuses as well, without a word of where it stands. */
#pragma once

#include "common/appfile/app_keys.h"

/* egress, or egress_rules, of which the file has one at most. */
int app_check_egress(const struct app_source *s, const struct node *from,
                     Models__SecurityGroupRule *const *rules, size_t count);

/* cached_dependencies, image_layers and volume_mounts. */
int app_check_files(const struct app_source *s, const struct node *from,
                    const struct app_said *said);

/* checksum_algorithm and checksum_value of the map at `path`; both "" is well. */
int app_check_checksum(const struct app_source *s, const struct node *from, const char *path,
                       const char *algorithm, const char *value);

/* That the member `key` of the map at `path` is a URL from which a cell can bring, or to which it
 * can send. */
int app_check_url(const struct app_source *s, const struct node *from, const char *path,
                  const char *key, const char *url);
