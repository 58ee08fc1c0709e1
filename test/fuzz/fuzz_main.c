/* The way into a target for libFuzzer: `fuzz --target=NAME [--seconds=N] [libFuzzer's options]
 * CORPUS...`. Time here is processor time: on a loaded machine ten minutes are as long a look as on
 * a quiet one, and no input counts as slow because others had the processor. */
#include "test/fuzz/fuzz.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INPUT_SECONDS_MAX = 10 }; /* sanitized, at 64 KiB: the slowest known take a tenth of it */

int LLVMFuzzerInitialize(int *count, char ***words);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct fuzz_target *target;
static double seconds_max; /* after so many the run ends well; 0 = it goes on */

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* What follows the option in the word, NULL if it is another. */
static const char *value_of(const char *word, const char *option)
{
    return strncmp(word, option, strlen(option)) == 0 ? word + strlen(option) : NULL;
}

/* libFuzzer leaves options with two dashes to the program. */
int LLVMFuzzerInitialize(int *count, char ***words)
{
    for (int i = 1; i < *count; i++) {
        const char *name = value_of((*words)[i], "--target=");
        const char *seconds = value_of((*words)[i], "--seconds=");
        target = name ? fuzz_target_named(name) : target;
        seconds_max = seconds ? strtod(seconds, NULL) : seconds_max;
    }
    if (!target) {
        fprintf(stderr, "fuzz: --target=NAME is needed, with NAME one of:\n");
        for (size_t i = 0; i < fuzz_target_count; i++) {
            fprintf(stderr, "  %-12s %s\n", fuzz_targets[i].name, fuzz_targets[i].what);
        }
        exit(2);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    double begun = processor_seconds();
    target->run((struct bytes){data, size < FUZZ_INPUT_MAX ? size : FUZZ_INPUT_MAX});
    double now = processor_seconds();
    FUZZ_REQUIRE(now - begun < INPUT_SECONDS_MAX);
    if (seconds_max > 0 && now >= seconds_max) {
        fprintf(stderr, "processor seconds: %.0f\n", now);
        seconds_max = 0;
        raise(SIGUSR1); /* libFuzzer ends with its figures, and with 0 */
    }
    return 0;
}
