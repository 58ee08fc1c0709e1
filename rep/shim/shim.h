/* rep-shim: the process beside each container (design.md 7). It outlives the rep, so that neither
 * logs nor exit statuses depend on it. The rep starts it with the container's directory as its
 * working directory and, as descriptor 3, a pipe for what it has to report.
 *
 *   rep-shim run     [options] -- COMMAND   starts the container and stays until it ended
 *   rep-shim exec    [options] -- COMMAND   one more process in it; ends with it
 *   rep-shim step    [options] -- COMMAND   a step of it, once and for all (a transfer: until its
 *                                           end was seen); stays until that ended
 *   rep-shim prepare [options]              makes the root filesystem, then the note durable
 *   rep-shim map     --lower=DIR --ids=N    tries whether it can be mounted with other ids
 *   rep-shim note    --note=FILE            makes another note durable, in place of the one before
 *   rep-shim remove  [options] [-- COMMAND] kills all of it, unmounts, deletes the directory
 *   rep-shim idle                           waits for SIGTERM: the first process of a container
 *                                           whose steps run beside it
 *
 * COMMAND is the runtime's (run --detach, exec --detach, delete --force) or, with --process, the
 * program itself. Reports of run and step: "S PID" (started) or "F TEXT" (failed); of exec: "S",
 * then "X CODE" and a line feed and the tail of its output, or "F TEXT". The others report the text
 * of their failure and exit with 1. */
#pragma once

#include "rep/shim/log_form.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Ends the container, or the step: what the rep, or `remove`, sends to a shim. The other one makes
 * the shim of a step send SIGTERM to the step's processes. All others are ignored: a shim ends with
 * what it watches only. */
#define SHIM_END_SIGNAL SIGUSR1
#define SHIM_TERM_SIGNAL SIGUSR2

enum {
    SHIM_REPORT_FD = 3,
    SHIM_TEXT_BYTES = 1024,   /* longest text in a status or report */
    SHIM_TAIL_BYTES = 4096,   /* of an exec's output, kept */
    SHIM_CHUNK_BYTES = 32768, /* read at once from a container */
    SHIM_LINE_MS = 250,       /* an unfinished line goes into the log after this */
    SHIM_DRAIN_MS = 1000,     /* for output after the end, where somebody still holds the pipe */
    SHIM_INIT_MS = 5000,      /* for the init to become ready, on a very busy machine */
    SHIM_END_MS = 3000,       /* a shim told to end gets this long before it is killed */
    SHIM_RUNTIME_MS = 5000,   /* a runtime that deletes for longer is passed by */
    SHIM_STATUS_TRIES = 60,   /* once a second, when the disk is full */
    SHIM_IDS = 65536,         /* user ids, and group ids, of a user namespace */
    SHIM_DEPTH = 32,          /* directory levels held open while deleting */
    SHIM_VOLUMES_MAX = 64,    /* of a container */
    SHIM_LOWERS_MAX = 128,    /* directories below a container's upper layer */
    SHIM_BOUND_MAX = 1000,    /* directories of the cell that a container sees */
};

struct options {
    long long log_bytes;
    int log_files;
    long long log_rate;      /* bytes per second; -1: no limit, 0: nothing */
    const char *source;      /* of its lines; NULL: LOG */
    bool mute;               /* what it writes is dropped */
    const char *oom_file;    /* cgroup file with a line "oom_kill N" */
    const char *runtime_log; /* where the runtime writes why it failed */
    const char *pid_file;    /* where the runtime writes the first process's id */
    const char *init;        /* run: the first process is this program once it is ready */
    bool process;            /* COMMAND is the program, not a runtime */
    const char *cwd;         /* with --process, likewise the next six */
    const char *home; /* a directory that is entered before its user is taken, who need not be
                       * able to reach it by name; NULL: none */
    long uid, gid;           /* -1: as the shim's */
    const char *groups;      /* "1,2" */
    long long nofile;        /* 0: unchanged; so is the next */
    long long nproc;
    const char *lower[SHIM_LOWERS_MAX]; /* prepare: the directories of the root filesystem, the
                                         * uppermost first; none: no root filesystem */
    int lowers;                         /* how many */
    long disk_mb;            /* prepare: 0 = no limit */
    const char *mkfs;        /* prepare: program for the limited disk */
    const char *guid;        /* remove: the directory's name */
    const char *mark;        /* remove: how processes of a shim that was killed are known */
    const char *bury;        /* remove: keep the directory, write this text as its status */
    const char *keep;        /* remove: where its log goes; NULL: deleted with all else */
    const char *keep_note;   /* remove: where its note stands from then on; NULL: nowhere */
    const char *cgroup;      /* remove: path of the control groups, below their roots */
    const char *runtime_root; /* remove: absolute; the runtime keeps its own of GUID below it */
    const char *network; /* remove: rep-network, which takes back what the directory says it has */
    bool unfinished;         /* remove: only if it was never finished */
    const char *note;        /* note: the file that becomes the note */
    long step;               /* step: its number */
    long long ids;           /* of run, exec, step and prepare: the first of its SHIM_IDS ids of
                              * this machine; 0: it has no user namespace */
    const char *volume[SHIM_VOLUMES_MAX]; /* prepare: directories of the cell that become volumes/0,
                                           * volumes/1, ... each by a --below that follows it: the
                                           * one below it that is meant */
    const char *below[SHIM_VOLUMES_MAX];
    int volumes;
    const char *join;        /* prepare: the container whose network it shares; NULL: none */
    const char *users_of;    /* run, with root_at: a bound network namespace, whose user namespace
                              * is to stand as `userns` in its directory for COMMAND; NULL: none */
    const char *root_at;     /* run: where COMMAND finds the root filesystem, too; NULL */
    const char *bound[SHIM_BOUND_MAX]; /* run, with root_at: directories of the cell that stand for
                                        * COMMAND as bound/0, bound/1, ..., read-only */
    int bounds;
    bool again;              /* step: a transfer, which may be begun anew if its shim was killed */
    bool tail;               /* step: the last that it wrote is kept, as `tail` beside its status */
    const char *uses;        /* remove: a file that goes with it: what of the cache it uses */
    char **command;          /* after "--"; NULL: none */
};

/* What is supervised: a container's first process, one more process of it, or a step of it. */
enum shim_mode { SHIM_RUN, SHIM_EXEC, SHIM_STEP };

/* The commands above. Give the exit status. */
int shim_supervise(const struct options *o, enum shim_mode mode);
int shim_prepare(const struct options *o);
int shim_remove(const struct options *o);
int shim_note(const struct options *o);
int shim_map(const struct options *o);
int shim_idle(void);

/* report.c: what the rep hears; silently nothing when it is gone. */
void report(const char *format, ...) __attribute__((format(printf, 1, 2)));
void report_bytes(const char *data, size_t size);
void report_end(void); /* closes the pipe */

/* Writes a file by tmp, fdatasync and rename; 0 or -1 with errno. */
int file_replace(const char *path, const char *text, size_t size, bool sync);

/* Takes the container's directory for this process alone, waiting for others: whatever a rep that
 * was killed had begun is over before its successor's step goes on. Gives a descriptor that holds
 * it; -1 with errno. */
int directory_lock(void);

/* How the container ended, as the file `status` tells it. */
struct outcome {
    int code, signal;
    bool oom;
    bool full; /* its limited disk has no room */
    const char *text; /* one line, "" if there is nothing to say */
};
int status_write(const struct outcome *e);
int files_reserve(void); /* room for it and for "pid", so that a full disk cannot lose them */

/* step.c: enters the step's directory and marks it as begun; -1 with errno, EEXIST if it was
 * before, ESRCH or ENOENT if its container has ended or is being removed. Then its status. */
int step_enter(const struct options *o);
int step_status_write(long step, const struct outcome *e);

/* log.c: a size-bounded log of rotated files. */
struct shim_log {
    const char *path;
    int fd; /* -1: to be opened */
    long long size;
    long long dropped; /* bytes lost since the last that was written */
    int error;         /* why */
    const char *shared; /* the directory whose lock several shims that write to it take in turns;
                         * NULL: nobody else does */
    int lock;           /* of that directory, once it is open; else -1 */
    bool locked;
    const char *source; /* whose it is, when it says that something of it was lost */
};
/* Its turn: nobody else writes meanwhile. */
void log_lock(struct shim_log *l);
void log_unlock(struct shim_log *l);
/* Whole lines, in its turn. */
void log_write(struct shim_log *l, const struct options *o, const char *data, size_t size);

/* lines.c: the two streams of a process (0 = stdout) as lines of the log (log_form.h), of which
 * there are those of one process in a shim. */
struct bucket {
    long long bytes;   /* that may come now */
    long long at_ns;   /* when that was so; 0 = never yet; monotonic, as the next */
    long long told_ns; /* when the log said last that lines were dropped */
};
struct shim_lines {
    const struct options *o;
    struct shim_log log;
    struct bucket *bucket; /* NULL: no limit */
    char source[LOG_SOURCE_SIZE + 1];
    char heads[2][LOG_HEAD_SIZE + 1]; /* of the lines that come, by stream */
    size_t head_size;
};
/* `shared`: other shims of this container write to its log, too. */
void lines_init(struct shim_lines *l, const struct options *o, bool shared);
void lines_take(struct shim_lines *l, int stream, const char *data, size_t size);
/* Whether some of it waits for the end of its line; then lines_show() puts that into the log, as a
 * part, or with `end` as all there is. */
bool lines_unfinished(void);
void lines_show(struct shim_lines *l, bool end);

/* process.c */
long spawn(const struct options *o, int out, int err, int failure);
bool wait_pidfd(int pidfd, int timeout_ms);  /* true: it has ended */
void await_init(long pid, const char *init); /* until it is this program and takes SIGTERM */
void kill_children(void);                    /* every child of this subreaper, theirs too */
/* Whoever has CORKBOARD_CONTAINER=mark in its environment: how many; -1 with errno when not all
 * could be looked at for want of descriptors or memory. */
int kill_marked(const char *mark);
/* Waits; gives its exit code, its output goes to the report. */
int run_command(const char *const *command);
/* The same, for at most so long: then it and all that it started are killed, and -1 is given. Of a
 * subreaper that has no other children. */
int run_command_within(const char *const *command, int timeout_ms);

/* mounts.c: mounts the directory `source` at `target`, where ids from 0 on are those from `first`
 * on; without following links at its end; NULL: nowhere, it is only tried. 0, or -1 after a
 * report. */
int mount_mapped(const char *source, const char *target, long long first, bool readonly);

/* The same of a directory below a base, writable; `first` 0: with the ids that it has. -1 with
 * errno. */
int mount_below(const char *base, const char *below, const char *target, long long first);

/* For this process and its children alone, the root filesystem stands there too: in a place that
 * the root of a user namespace can reach, who may enter nothing of ours. -1 with errno. */
int mount_root_at(const char *path);

/* After it, and likewise for these alone: the directories `bound` of the cell, as bound/0, ... of
 * this directory, read-only and with these ids. -1 with errno. */
int mount_bound(const struct options *o);

/* After it, and likewise for these alone: the user namespace that this network namespace belongs to
 * stands as the file `userns`. -1 with errno. */
int mount_users_of(const char *network);

/* joined.c: prepare: it shares the network of that container from now on. -1 after a report. */
int joined_enter(const char *guid);
/* remove: 1 when others share its network, 0 when nobody does; -1 after a report. */
int joined_is_used(void);
/* remove: it shares nothing any more; who had been waiting for that goes. -1 after a report. */
int joined_leave(const struct options *o);
/* remove: of its directory stays what belongs to its network. -1 after a report. */
int joined_keep(void);
/* remove.c: takes the network back that this directory tells of, whatever of it was ever made.
 * False after a report. */
bool shim_detach(const struct options *o);

/* cgroup.c: kills what is in them. 0, or -1 after a report. */
int cgroup_remove(const char *name);

/* delete.c: everything below a directory, never crossing into another file system. */
int delete_tree(int parent, const char *name);
