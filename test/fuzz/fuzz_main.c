/* The way into a target for libFuzzer: `fuzz --target=NAME [libFuzzer's options] CORPUS...`. */
#include "test/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *count, char ***words);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct fuzz_target *target;

/* libFuzzer leaves options with two dashes to the program. */
int LLVMFuzzerInitialize(int *count, char ***words)
{
    static const char option[] = "--target=";
    for (int i = 1; i < *count; i++) {
        if (strncmp((*words)[i], option, strlen(option)) == 0) {
            target = fuzz_target_named((*words)[i] + strlen(option));
        }
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
    target->run((struct bytes){data, size < FUZZ_INPUT_MAX ? size : FUZZ_INPUT_MAX});
    return 0;
}
