#include "common/codec/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { WORD_MAX = 48, PREFIX_MIN = 3 };

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Row by row; `above` and `before` are the rows for one and two letters less of `a`. */
static size_t distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t rows[3][WORD_MAX + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t k = 0; k <= b_size; k++) {
        above[k] = k;
        before[k] = 0;
    }
    for (size_t i = 1; i <= a_size; i++) {
        row[0] = i;
        for (size_t k = 1; k <= b_size; k++) {
            row[k] = above[k - 1] + !same(a[i - 1], b[k - 1]);
            row[k] = least(row[k], least(above[k], row[k - 1]) + 1);
            if (i > 1 && k > 1 && same(a[i - 1], b[k - 2]) && same(a[i - 2], b[k - 1])) {
                row[k] = least(row[k], before[k - 2] + 1);
            }
        }
        size_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[b_size];
}

void nearest_begin(struct nearest *n, const char *word)
{
    size_t size = strlen(word);
    /* A third of the letters may be wrong, and always one. */
    size_t wrong = size < 3 ? 1 : size / 3;
    *n = (struct nearest){.word = word, .distance = wrong + 1};
}

void nearest_consider(struct nearest *n, const char *known)
{
    size_t size = strlen(n->word), known_size = known ? strlen(known) : 0;
    if (known_size == 0 || known_size > WORD_MAX || size > WORD_MAX) {
        return;
    }
    size_t d = distance(n->word, size, known, known_size);
    if (size >= PREFIX_MIN && strncasecmp(known, n->word, size) == 0) {
        d = least(d, 1); /* "mem" */
    }
    if (d < n->distance) {
        n->distance = d;
        n->best = known;
    }
}
