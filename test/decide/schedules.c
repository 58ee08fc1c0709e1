#include "test/decide/schedules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

enum { PROGRESS = 10000 }; /* schedules between two lines about how far it is */

bool schedules_parse(struct schedules *s, int argc, char **argv)
{
    bool good = argc % 2 == 1;
    for (int i = 1; good && i + 1 < argc; i += 2) {
        const char *value = argv[i + 1];
        unsigned last = 0;
        if (strcmp(argv[i], "--seeds") == 0) {
            good = sscanf(value, "%u-%u", &s->first, &last) == 2 && s->first <= last;
            s->count = last - s->first + 1;
            s->apart = true;
        } else if (strcmp(argv[i], "--seed") == 0) {
            good = sscanf(value, "%u", &s->first) == 1;
        } else {
            good = strcmp(argv[i], "--schedules") == 0 && sscanf(value, "%u", &s->count) == 1;
        }
    }
    if (!good) {
        fprintf(stderr, "usage: %s [--schedules N] [--seed S] | --seeds A-B\n", argv[0]);
    }
    return good;
}

/* What fails there is told by the process that it ends. */
static bool fails(void (*live)(uint64_t seed), uint64_t seed)
{
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        live(seed);
        fflush(NULL);
        _exit(0);
    }
    return pid < 0 || waitpid(pid, &status, 0) != pid || status != 0;
}

unsigned schedules_run(const struct schedules *s, void (*live)(uint64_t seed))
{
    unsigned failed = 0;
    for (unsigned i = 0; i < s->count; i++) {
        uint64_t seed = (uint64_t)s->first + i;
        if (!s->apart) {
            live(seed);
        } else if (fails(live, seed)) {
            failed++;
            printf("failed: seed %llu\n", (unsigned long long)seed);
        }
        if (s->apart && (i + 1) % PROGRESS == 0) {
            fprintf(stderr, "%u of %u schedules: %u failed\n", i + 1, s->count, failed);
        }
    }
    if (s->apart) {
        printf("%u of %u schedules failed\n", failed, s->count);
    }
    return failed;
}
