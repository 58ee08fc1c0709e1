/* The program rep-network: its command line. network.h is the manual. */
#include "rep/driver/nft_words.h"
#include "rep/network/network.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The process of whose namespaces it is, as the runtime says on standard input. */
static int container_pid(long *ret, struct err *err)
{
    json_t *state = json_loadf(stdin, 0, NULL);
    json_int_t pid = json_integer_value(json_object_get(state, "pid"));
    json_decref(state);
    *ret = (long)pid;
    return pid > 0 ? 0 : err_set(err, ERR_INVALID, "the runtime did not say which process it is");
}

/* Whose child a process is; 0: not known. */
static long parent_of(long pid)
{
    char path[48], line[512] = "";
    long parent = 0;
    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    FILE *f = fopen(path, "re");
    const char *name = f && fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
    if (f) {
        fclose(f);
    }
    return name && sscanf(name, ") %*c %ld", &parent) == 1 ? parent : 0;
}

/* The runtime may run in a mount namespace of its own, which goes with it. What is bound is to
 * stay, so it is bound in that of the runtime's parent, the shim. */
static int join_shim(struct err *err)
{
    char path[48];
    snprintf(path, sizeof(path), "/proc/%ld/ns/mnt", parent_of(getppid()));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int rc = fd >= 0 && setns(fd, CLONE_NEWNS) == 0
                 ? 0
                 : err_set(err, ERR_IO, "cannot enter the mounts of the shim: %s",
                           strerror(errno));
    if (fd >= 0) {
        close(fd);
    }
    return rc;
}

static int attach(char **args, struct err *err)
{
    long pid;
    int rc = container_pid(&pid, err);
    rc = rc < 0 ? rc : join_shim(err);
    return rc < 0 ? rc : network_attach(args[0], pid, err);
}

static int detach(char **args, struct err *err)
{
    char dir[4096];
    (void)args;
    if (!getcwd(dir, sizeof(dir))) {
        return err_set(err, ERR_IO, "cannot tell which directory this is");
    }
    return network_detach(dir, err);
}

static void tell(const char *line)
{
    puts(line);
}

static int sweep(char **args, struct err *err)
{
    const struct network_cell cell = {args[0], args[1], args[2]};
    return network_sweep(&cell, true, tell, err);
}

static int audit(char **args, struct err *err)
{
    const struct network_cell cell = {args[0], args[1], args[2]};
    return network_sweep(&cell, false, tell, err);
}

static int drop(char **args, struct err *err)
{
    SCOPED_BUF(words);
    nft_drop(args[0], &words);
    return filter_run(buf_string(&words), NULL, err);
}

static int probe(char **args, struct err *err)
{
    return network_probe_here(args[0], args[1], err);
}

static const struct network_verb {
    const char *name;
    int least, most; /* words that follow */
    int (*run)(char **args, struct err *err);
} verbs[] = {
    {"attach", 1, 1, attach}, {"detach", 0, 0, detach}, {"sweep", 2, 3, sweep},
    {"audit", 2, 3, audit},   {"drop", 1, 1, drop},     {"probe", 1, 2, probe},
};

int main(int argc, char **argv)
{
    struct err err;
    umask(022);
    for (size_t i = 0; argc > 1 && i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        const struct network_verb *v = &verbs[i];
        if (strcmp(argv[1], v->name) == 0 && argc - 2 >= v->least && argc - 2 <= v->most) {
            if (v->run(argv + 2, &err) == 0) {
                return 0;
            }
            dprintf(2, "%s", err.text); /* the runtime puts it into a line of its own */
            return 1;
        }
    }
    dprintf(2, "usage: rep-network attach|detach|sweep|audit|drop|probe ...\n"
               "It is started by a rep, for the network of its containers.\n");
    return 2;
}
