/* Runs COMMAND so that each of its fsync and fdatasync waits for leave, as long or with such an
 * end as FILE says: a slow disk, a failing one. The kernel asks by seccomp's notifications, which a
 * static program as etcd cannot avoid.
 *   fsync_gate FILE COMMAND...
 *   FILE is mapped: int64 milliseconds that each waits; int64 errno that it fails with, 0 = none;
 *   uint64 how often one waited or failed.
 * COMMAND keeps the process id; what answers is a child, which ends with it. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct gate {
    volatile int64_t wait_ms;
    volatile int64_t fail_errno;
    uint64_t stopped;
};

/* One call that waits; each has a thread, for etcd syncs log and database beside each other. */
struct call {
    struct gate *gate;
    int listener;
    uint64_t id;
};

static void die(const char *what)
{
    fprintf(stderr, "fsync_gate: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void *answer(void *given)
{
    struct call *c = given;
    int64_t ms = c->gate->wait_ms, wrong = c->gate->fail_errno;
    struct seccomp_notif_resp r = {.id = c->id};
    if (ms || wrong) {
        __atomic_add_fetch(&c->gate->stopped, 1, __ATOMIC_RELAXED);
    }
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
    if (wrong) {
        r.error = (int)-wrong;
    } else {
        r.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    }
    ioctl(c->listener, SECCOMP_IOCTL_NOTIF_SEND, &r); /* who asked may be gone */
    free(c);
    return NULL;
}

static void answer_apart(struct gate *gate, int listener, uint64_t id)
{
    pthread_t thread;
    struct call *c = malloc(sizeof(*c));
    if (!c) {
        die("no memory");
    }
    *c = (struct call){gate, listener, id};
    if (!gate->wait_ms || pthread_create(&thread, NULL, answer, c) != 0) {
        answer(c);
    } else {
        pthread_detach(thread);
    }
}

/* Until nobody is left whom the filter holds. */
static void serve(struct gate *gate, int listener)
{
    for (;;) {
        struct pollfd p = {.fd = listener, .events = POLLIN};
        struct seccomp_notif n = {0};
        if (poll(&p, 1, -1) > 0 && p.revents & POLLHUP) {
            _exit(0);
        }
        if (p.revents & POLLIN && ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n) == 0) {
            answer_apart(gate, listener, n.id);
        }
    }
}

static int install_filter(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fsync, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fdatasync, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(rules) / sizeof(rules[0]), rules};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                        &program);
}

static void send_listener(int to, int listener)
{
    char word = 0;
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec io = {&word, 1};
    struct msghdr m = {.msg_iov = &io,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof(control.bytes)};
    control.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
                                    .cmsg_level = SOL_SOCKET,
                                    .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.head), &listener, sizeof(int));
    if (sendmsg(to, &m, 0) != 1) {
        die("cannot hand over the listener");
    }
}

static int receive_listener(int from)
{
    char word;
    int listener = -1;
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec io = {&word, 1};
    struct msghdr m = {.msg_iov = &io,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof(control.bytes)};
    if (recvmsg(from, &m, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&m)) {
        memcpy(&listener, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
    }
    return listener;
}

static struct gate *map_gate(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(struct gate)) != 0) {
        die(path);
    }
    void *at = mmap(NULL, sizeof(struct gate), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) {
        die(path);
    }
    close(fd);
    return at;
}

int main(int argc, char **argv)
{
    int ends[2];
    if (argc < 3) {
        fprintf(stderr, "fsync_gate FILE COMMAND...\n");
        return 2;
    }
    struct gate *gate = map_gate(argv[1]);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        die("no socket pair");
    }
    pid_t child = fork();
    if (child < 0) {
        die("cannot fork");
    }
    if (child == 0) {
        int listener = receive_listener(ends[1]);
        signal(SIGTERM, SIG_IGN); /* it ends when its command has ended */
        signal(SIGINT, SIG_IGN);
        setsid();
        close(ends[0]);
        serve(gate, listener);
    }
    int listener = install_filter();
    if (listener < 0) {
        die("the kernel allows no seccomp notifications");
    }
    send_listener(ends[0], listener);
    close(listener);
    execvp(argv[2], argv + 2);
    die(argv[2]);
}
