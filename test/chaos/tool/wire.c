/* A wire that is slow: passes the frames between two network interfaces, each after a time of its
 * own, so that they overtake each other. The kernel here has no netem.
 *   wire FILE INTERFACE INTERFACE MILLISECONDS
 * Each frame waits from half of MILLISECONDS to one and a half. FILE is mapped: uint64 frames
 * passed, uint64 of these that were overtaken, uint64 that found no room. Runs until a signal. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { FRAMES_MAX = 8192, FRAME_BYTES = 65536 + 64 };

/* With the header of virtio before it, which tells of checksums and segments still to be made. */
struct frame {
    int64_t due_ns;
    uint64_t number;
    int to;
    size_t size;
    unsigned char *bytes;
};

struct counts {
    volatile uint64_t passed, overtaken, no_room;
};

struct wire {
    int side[2];
    int64_t delay_ns;
    struct counts *counts;
    struct frame frames[FRAMES_MAX];
    int count;
    uint64_t number, latest; /* latest: the highest number that was passed */
};

static void die(const char *what)
{
    fprintf(stderr, "wire: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int open_side(const char *name)
{
    int yes = 1;
    struct sockaddr_ll at = {.sll_family = AF_PACKET,
                             .sll_protocol = htons(ETH_P_ALL),
                             .sll_ifindex = (int)if_nametoindex(name)};
    struct packet_mreq all = {.mr_ifindex = at.sll_ifindex, .mr_type = PACKET_MR_PROMISC};
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || !at.sll_ifindex ||
        setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &yes, sizeof(yes)) != 0 ||
        setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof(yes)) != 0 ||
        setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof(all)) != 0 ||
        bind(fd, (struct sockaddr *)&at, sizeof(at)) != 0) {
        die(name);
    }
    return fd;
}

static void take(struct wire *w, int from)
{
    static unsigned char bytes[FRAME_BYTES];
    for (;;) {
        ssize_t size = recv(w->side[from], bytes, sizeof(bytes), 0);
        if (size <= 0) {
            return;
        }
        struct frame f = {.to = !from, .size = (size_t)size, .number = ++w->number};
        f.bytes = w->count < FRAMES_MAX ? malloc((size_t)size) : NULL;
        if (!f.bytes) {
            w->counts->no_room++;
            continue;
        }
        memcpy(f.bytes, bytes, (size_t)size);
        f.due_ns = now_ns() + w->delay_ns / 2 + (int64_t)(drand48() * (double)w->delay_ns);
        w->frames[w->count++] = f;
    }
}

static void pass(struct wire *w, struct frame *f)
{
    w->counts->overtaken += f->number < w->latest;
    w->latest = f->number > w->latest ? f->number : w->latest;
    w->counts->passed += send(w->side[f->to], f->bytes, f->size, 0) == (ssize_t)f->size;
    free(f->bytes);
    *f = w->frames[--w->count];
}

/* Passes on what is due; gives when the next one is, INT64_MAX for none. */
static int64_t pass_due(struct wire *w)
{
    int64_t now = now_ns(), next = INT64_MAX;
    for (int i = 0; i < w->count;) {
        if (w->frames[i].due_ns <= now) {
            pass(w, &w->frames[i]);
            continue;
        }
        next = w->frames[i].due_ns < next ? w->frames[i].due_ns : next;
        i++;
    }
    return next;
}

static struct counts *map_counts(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(struct counts)) != 0) {
        die(path);
    }
    void *at = mmap(NULL, sizeof(struct counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) {
        die(path);
    }
    close(fd);
    return at;
}

int main(int argc, char **argv)
{
    static struct wire w;
    if (argc != 5) {
        fprintf(stderr, "wire FILE INTERFACE INTERFACE MILLISECONDS\n");
        return 2;
    }
    w.counts = map_counts(argv[1]);
    w.side[0] = open_side(argv[2]);
    w.side[1] = open_side(argv[3]);
    w.delay_ns = strtoll(argv[4], NULL, 10) * 1000000;
    srand48((long)getpid());
    for (;;) {
        int64_t next = pass_due(&w), wait = next == INT64_MAX ? 1000000000 : next - now_ns();
        struct pollfd p[2] = {{w.side[0], POLLIN, 0}, {w.side[1], POLLIN, 0}};
        struct timespec t = {wait > 0 ? wait / 1000000000 : 0, wait > 0 ? wait % 1000000000 : 0};
        if (ppoll(p, 2, &t, NULL) > 0) {
            take(&w, 0);
            take(&w, 1);
        }
    }
}
