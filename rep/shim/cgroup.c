/* Control groups that a runtime made and forgot: one that was killed before it had written its own
 * notes does not delete them. */
#include "rep/shim/identity.h"
#include "rep/shim/shim.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>

#define CGROUPS "/sys/fs/cgroup"

/* Whatever is still in a group of this container is of this container. */
static void kill_members(const char *group)
{
    char path[4300], text[4096];
    snprintf(path, sizeof(path), "%s/cgroup.procs", group);
    if (identity_slurp(AT_FDCWD, path, text, sizeof(text)) <= 0) {
        return;
    }
    for (const char *at = text; *at;) {
        char *end;
        long pid = strtol(at, &end, 10);
        if (end == at || *end != '\n') {
            return;
        }
        kill((pid_t)pid, SIGKILL);
        at = end + 1;
    }
}

static int remove_group(const char *group)
{
    enum { TRIES = 100, PAUSE_MS = 10 };
    for (int i = 0; i < TRIES; i++) {
        if (rmdir(group) == 0 || errno == ENOENT || errno == ENOTDIR) {
            return 0;
        }
        kill_members(group);
        poll(NULL, 0, PAUSE_MS);
    }
    report("cannot remove the control group %s: %s", group, strerror(errno));
    return -1;
}

/* In version 2 it stands below the root itself, in version 1 below each controller's. */
int cgroup_remove(const char *name)
{
    char group[4200];
    int result = 0;
    snprintf(group, sizeof(group), CGROUPS "%s", name);
    result = remove_group(group);
    DIR *all = opendir(CGROUPS);
    if (!all && identity_untold(errno)) {
        report("cannot find out which control groups are left: %s", strerror(errno));
        return -1;
    }
    for (struct dirent *e; all && (e = readdir(all));) {
        if (e->d_name[0] != '.' && (e->d_type == DT_DIR || e->d_type == DT_UNKNOWN)) {
            snprintf(group, sizeof(group), CGROUPS "/%s%s", e->d_name, name);
            result = remove_group(group) < 0 ? -1 : result;
        }
    }
    if (all) {
        closedir(all);
    }
    return result;
}
