/* The shim's command line: options as --name=value, the command after "--". */
#include "rep/shim/shim.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { TEXT, NUMBER, FLAG, LOWER, VOLUME, BELOW, BOUND };

static const struct row {
    const char *name;
    enum kind kind;
    size_t offset, size;
} rows[] = {
#define ROW(name, kind, member)                                                                    \
    {name, kind, offsetof(struct options, member), sizeof(((struct options *)0)->member)}
    ROW("log-bytes", NUMBER, log_bytes),   ROW("log-files", NUMBER, log_files),
    ROW("oom-file", TEXT, oom_file),       ROW("runtime-log", TEXT, runtime_log),
    ROW("pid-file", TEXT, pid_file),       ROW("process", FLAG, process),
    ROW("cwd", TEXT, cwd),                 ROW("home", TEXT, home),
    ROW("uid", NUMBER, uid),
    ROW("gid", NUMBER, gid),               ROW("groups", TEXT, groups),
    ROW("nofile", NUMBER, nofile),         ROW("nproc", NUMBER, nproc),
    ROW("lower", LOWER, lower),
    ROW("disk-mb", NUMBER, disk_mb),       ROW("mkfs", TEXT, mkfs),
    ROW("guid", TEXT, guid),               ROW("bury", TEXT, bury),
    ROW("mark", TEXT, mark),               ROW("unfinished", FLAG, unfinished),
    ROW("cgroup", TEXT, cgroup),           ROW("init", TEXT, init),
    ROW("runtime-root", TEXT, runtime_root), ROW("keep", TEXT, keep),
    ROW("keep-note", TEXT, keep_note),
    ROW("note", TEXT, note),               ROW("step", NUMBER, step),
    ROW("ids", NUMBER, ids),               ROW("root-at", TEXT, root_at),
    ROW("volume", VOLUME, volume),         ROW("below", BELOW, below),
    ROW("log-rate", NUMBER, log_rate),     ROW("source", TEXT, source),
    ROW("mute", FLAG, mute),               ROW("tail", FLAG, tail),
    ROW("network", TEXT, network),         ROW("again", FLAG, again),
    ROW("uses", TEXT, uses),               ROW("join", TEXT, join),
    ROW("users-of", TEXT, users_of),       ROW("bound", BOUND, bound),
#undef ROW
};

static bool set(struct options *o, const struct row *row, const char *value)
{
    void *at = (char *)o + row->offset;
    if ((row->kind == LOWER && o->lowers == SHIM_LOWERS_MAX) ||
        (row->kind == BOUND && o->bounds == SHIM_BOUND_MAX) ||
        (row->kind == VOLUME && o->volumes == SHIM_VOLUMES_MAX) ||
        (row->kind == BELOW && o->volumes == 0)) {
        return false;
    }
    if (row->kind == LOWER) {
        o->lower[o->lowers++] = value;
    } else if (row->kind == BOUND) {
        o->bound[o->bounds++] = value;
    } else if (row->kind == VOLUME) {
        o->volume[o->volumes] = value;
        o->below[o->volumes++] = "";
    } else if (row->kind == BELOW) {
        o->below[o->volumes - 1] = value;
    } else if (row->kind == TEXT) {
        *(const char **)at = value;
    } else if (row->kind == FLAG) {
        *(bool *)at = true;
    } else if (row->size == sizeof(long long)) {
        *(long long *)at = atoll(value);
    } else {
        *(int *)at = atoi(value);
    }
    return true;
}

static bool parse_one(struct options *o, const char *word)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t n = strlen(rows[i].name);
        if (strncmp(word, rows[i].name, n) == 0 && (word[n] == '=' || word[n] == '\0') &&
            (word[n] == '=') == (rows[i].kind != FLAG)) {
            return set(o, &rows[i], word + n + 1);
        }
    }
    return false;
}

static int usage(const char *why)
{
    dprintf(2,
            "rep-shim: %s\n"
            "usage: rep-shim run|exec|step|prepare|map|remove|note|idle [--name=value ...] "
            "[-- COMMAND ...]\n"
            "It is started by a rep, in a container's directory.\n",
            why);
    return 2;
}

int main(int argc, char **argv)
{
    struct options o = {
        .log_bytes = 10 << 20, .log_files = 2, .log_rate = -1, .uid = -1, .gid = -1};
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            o.command = argv + i + 1;
            break;
        }
        if (strncmp(argv[i], "--", 2) != 0 || !parse_one(&o, argv[i] + 2)) {
            return usage(argv[i]);
        }
    }
    /* Nothing of the rep's may stay open in here: its sockets would outlive it. */
    syscall(SYS_close_range, SHIM_REPORT_FD + 1, ~0U, 0);
    fcntl(SHIM_REPORT_FD, F_SETFD, FD_CLOEXEC);
    const char *verb = argc > 1 ? argv[1] : "";
    static const char *const supervising[] = {
        [SHIM_RUN] = "run", [SHIM_EXEC] = "exec", [SHIM_STEP] = "step"};
    for (int mode = SHIM_RUN; mode <= SHIM_STEP; mode++) {
        if (strcmp(verb, supervising[mode]) == 0) {
            return o.command && o.command[0] ? shim_supervise(&o, (enum shim_mode)mode)
                                             : usage("no command");
        }
    }
    if (strcmp(verb, "prepare") == 0) {
        return shim_prepare(&o);
    }
    if (strcmp(verb, "map") == 0 && o.lowers && o.ids) {
        return shim_map(&o);
    }
    if (strcmp(verb, "remove") == 0 && o.guid) {
        return shim_remove(&o);
    }
    if (strcmp(verb, "note") == 0 && o.note) {
        return shim_note(&o);
    }
    if (strcmp(verb, "idle") == 0) {
        return shim_idle();
    }
    if (strcmp(verb, "probe") == 0) {
        return 0; /* what a trial container runs */
    }
    return usage("unknown verb");
}
