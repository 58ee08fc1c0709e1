/* A library for LD_PRELOAD that shifts the wall clock of one process, by so many nanoseconds as
 * stand in the file that CHAOS_CLOCK names. The file is mapped: a jump comes at once. The monotonic
 * clock, and with it every timed wait, stays, as when an operator or ntpd sets a machine's clock.
 *   the file: int64 nanoseconds of shift, uint64 how often a shifted time was read since */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct shifted_clock {
    volatile int64_t shift_ns;
    uint64_t readings;
};

static struct shifted_clock *shifted;
static int (*real_clock_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void map_clock(void)
{
    const char *path = getenv("CHAOS_CLOCK");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd >= 0) {
        void *at = mmap(NULL, sizeof(*shifted), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        shifted = at == MAP_FAILED ? NULL : at;
        close(fd);
    }
    *(void **)&real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
}

static int true_time(clockid_t id, struct timespec *t)
{
    return real_clock_gettime ? real_clock_gettime(id, t)
                              : (int)syscall(SYS_clock_gettime, id, t);
}

int clock_gettime(clockid_t id, struct timespec *t)
{
    int result = true_time(id, t);
    int64_t shift = shifted ? shifted->shift_ns : 0;
    if (result == 0 && shift && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
        int64_t ns = t->tv_nsec + shift % 1000000000 + 1000000000;
        t->tv_sec += shift / 1000000000 + ns / 1000000000 - 1;
        t->tv_nsec = ns % 1000000000;
        __atomic_add_fetch(&shifted->readings, 1, __ATOMIC_RELAXED);
    }
    return result;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
    struct timespec t;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &t);
    *tv = (struct timeval){t.tv_sec, t.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    if (out) {
        *out = t.tv_sec;
    }
    return t.tv_sec;
}
