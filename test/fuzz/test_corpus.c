/* Replays the corpus of each fuzz target, and tries each target with hand-made extremes: nothing,
 * one byte, as much as is ever given. Begun in the checkout's root. */
#include "test/fuzz/fuzz.h"
#include "test/tool/cmocka.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <openssl/evp.h>

/* An input of a line, in a piece of memory of its own, so that reading beyond it is seen. */
static void replay(const struct fuzz_target *t, const char *line, size_t length)
{
    uint8_t *data = malloc(length);
    assert_int_equal(length % 4, 0);
    int size = EVP_DecodeBlock(data, (const uint8_t *)line, (int)length);
    assert_true(size >= 0);
    size -= (line[length - 1] == '=') + (line[length - 2] == '=');
    uint8_t *exact = malloc((size_t)size);
    memcpy(exact, data, (size_t)size);
    free(data);
    t->run((struct bytes){exact, (size_t)size});
    free(exact);
}

static void corpus_is_handled(void **state)
{
    const struct fuzz_target *t = *state;
    char path[512];
    snprintf(path, sizeof(path), "test/fuzz/corpus/%s", t->name);
    FILE *file = fopen(path, "r");
    if (!file) {
        fail_msg("there is no %s; test/fuzz/fuzz --keep makes one", path);
    }
    char *line = NULL;
    size_t capacity = 0;
    unsigned count = 0;
    ssize_t length;
    while ((length = getline(&line, &capacity, file)) > 0) {
        length -= line[length - 1] == '\n';
        if (length >= 4) {
            replay(t, line, (size_t)length);
            count++;
        }
    }
    free(line);
    fclose(file);
    assert_true(count > 0);
}

static void extremes_are_handled(void **state)
{
    const struct fuzz_target *t = *state;
    t->run((struct bytes){NULL, 0});
    for (unsigned byte = 0; byte < 256; byte += 17) {
        t->run((struct bytes){(const uint8_t[]){(uint8_t)byte}, 1});
    }
    uint8_t *much = malloc(FUZZ_INPUT_MAX);
    static const uint8_t fills[] = {0x00, 0x0a, 0x7f, 0xff, '[', '{'};
    for (size_t i = 0; i < sizeof(fills); i++) {
        memset(much, fills[i], FUZZ_INPUT_MAX);
        t->run((struct bytes){much, FUZZ_INPUT_MAX});
    }
    free(much);
}

int main(void)
{
    struct CMUnitTest tests[128];
    static char names[128][64];
    size_t n = 0;
    for (size_t i = 0; i < fuzz_target_count; i++) {
        void *target = (void *)(uintptr_t)&fuzz_targets[i];
        assert(n + 2 <= sizeof(tests) / sizeof(tests[0]));
        snprintf(names[n], sizeof(names[n]), "%s_corpus_is_handled", fuzz_targets[i].name);
        tests[n] = (struct CMUnitTest){names[n], corpus_is_handled, NULL, NULL, target};
        n++;
        snprintf(names[n], sizeof(names[n]), "%s_extremes_are_handled", fuzz_targets[i].name);
        tests[n] = (struct CMUnitTest){names[n], extremes_are_handled, NULL, NULL, target};
        n++;
    }
    return _cmocka_run_group_tests("fuzz", tests, n, NULL, NULL);
}
