#include "common/definition/semver.h"

#include <assert.h>
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 3, DIGITS_MAX = 15, OPERATOR_BYTES = 3 };

struct semver {
    int64_t parts[PARTS];
    size_t given; /* how many of them; the others are 0 and of a range any */
    const char *pre;
    size_t pre_size; /* 0 = no prerelease */
};

/* "0", or digits without a zero before them. Gives the size, 0 when it is none. */
static size_t number(const char *s, int64_t *ret)
{
    size_t size = strspn(s, "0123456789");
    if (size == 0 || size > DIGITS_MAX || (size > 1 && *s == '0')) {
        return 0;
    }
    *ret = strtoll(s, NULL, 10);
    return size;
}

/* Identifiers with dots between, none empty; numbers of a prerelease without a zero before them. */
static size_t identifiers(const char *s, bool numbers_strict)
{
    size_t size = 0;
    for (;;) {
        size_t one = 0, digits = strspn(s + size, "0123456789");
        while (isalnum((unsigned char)s[size + one]) || s[size + one] == '-') {
            one++;
        }
        if (one == 0 || (numbers_strict && digits == one && one > 1 && s[size] == '0')) {
            return 0;
        }
        size += one;
        if (s[size] != '.') {
            return size;
        }
        size++;
    }
}

static bool is_any(char c)
{
    return c == 'x' || c == 'X' || c == '*';
}

/* Gives the size of what is read, 0 when it is no version. `partly`: numbers may be left out. */
static size_t read_version(const char *s, bool partly, struct semver *ret)
{
    const char *p = s + (*s == 'v');
    *ret = (struct semver){.pre = ""};
    bool open = true;
    for (size_t i = 0; i < PARTS; i++) {
        if (i > 0 && *p != '.') {
            break;
        }
        const char *at = p + (i > 0);
        size_t size = number(at, &ret->parts[i]);
        if (partly && is_any(*at)) {
            open = false;
            size = 1;
        } else if (size == 0 || !open) {
            return 0;
        } else {
            ret->given++;
        }
        p = at + size;
    }
    if (ret->given < PARTS) {
        return partly ? (size_t)(p - s) : 0;
    }
    if (*p == '-') {
        ret->pre = p + 1;
        ret->pre_size = identifiers(p + 1, true);
        if (ret->pre_size == 0) {
            return 0;
        }
        p += 1 + ret->pre_size;
    }
    if (*p == '+') {
        size_t build = identifiers(p + 1, false);
        if (build == 0) {
            return 0;
        }
        p += 1 + build;
    }
    return (size_t)(p - s);
}

bool semver_is_valid(const char *text)
{
    struct semver v;
    size_t size = read_version(text, false, &v);
    return size > 0 && text[size] == 0;
}

static bool is_number(const char *s, size_t size)
{
    return strspn(s, "0123456789") >= size;
}

static int compare_identifier(const char *x, size_t x_size, const char *y, size_t y_size)
{
    bool x_number = is_number(x, x_size), y_number = is_number(y, y_size);
    if (x_number != y_number) {
        return x_number ? -1 : 1;
    }
    if (x_number && x_size != y_size) {
        return x_size < y_size ? -1 : 1;
    }
    int c = memcmp(x, y, x_size < y_size ? x_size : y_size);
    return c ? c : (x_size > y_size) - (x_size < y_size);
}

/* (semver.org 11) */
static int compare_pre(const struct semver *x, const struct semver *y)
{
    if (x->pre_size == 0 || y->pre_size == 0) {
        return (x->pre_size == 0) - (y->pre_size == 0);
    }
    size_t i = 0, j = 0;
    while (i < x->pre_size && j < y->pre_size) {
        size_t a = 0, b = 0;
        while (i + a < x->pre_size && x->pre[i + a] != '.') {
            a++;
        }
        while (j + b < y->pre_size && y->pre[j + b] != '.') {
            b++;
        }
        int c = compare_identifier(x->pre + i, a, y->pre + j, b);
        if (c) {
            return c;
        }
        i += a + 1;
        j += b + 1;
    }
    return (i < x->pre_size) - (j < y->pre_size);
}

static int compare_versions(const struct semver *x, const struct semver *y)
{
    for (size_t i = 0; i < PARTS; i++) {
        if (x->parts[i] != y->parts[i]) {
            return x->parts[i] < y->parts[i] ? -1 : 1;
        }
    }
    return compare_pre(x, y);
}

int semver_compare(const char *one, const char *other)
{
    struct semver x, y;
    size_t x_size = read_version(one, false, &x), y_size = read_version(other, false, &y);
    assert(x_size && y_size);
    int c = compare_versions(&x, &y);
    return c ? c : strcmp(one, other);
}

static int compare_texts(const void *x, const void *y)
{
    return semver_compare(*(const char *const *)x, *(const char *const *)y);
}

void semver_sort(const char **versions, size_t count)
{
    if (count > 1) {
        qsort(versions, count, sizeof(*versions), compare_texts);
    }
}

/* ---- Ranges --------------------------------------------------------------------------------- */

struct comparator {
    char op[OPERATOR_BYTES];
    struct semver low;
};

static size_t read_operator(const char *s, char ret[OPERATOR_BYTES])
{
    static const char *const known[] = {">=", "<=", "==", "!=", ">", "<", "=", "!", "^", "~"};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        size_t size = strlen(known[i]);
        if (strncmp(s, known[i], size) == 0) {
            memcpy(ret, known[i], size + 1);
            return size;
        }
    }
    ret[0] = 0;
    return 0;
}

/* Gives where it ends; NULL when there is none. */
static const char *read_comparator(const char *s, struct comparator *ret)
{
    s += read_operator(s, ret->op);
    s += strspn(s, " ");
    size_t size = read_version(s, true, &ret->low);
    return size && (!s[size] || strchr(" |", s[size])) ? s + size : NULL;
}

/* The first version above all that have the first `n` numbers of v. */
static struct semver above(const struct semver *v, size_t n)
{
    struct semver a = {.given = PARTS, .pre = ""};
    assert(n >= 1 && n <= PARTS);
    memcpy(a.parts, v->parts, n * sizeof(v->parts[0]));
    a.parts[n - 1]++;
    return a;
}

/* How many numbers stay the same in what ^ means: up to the first that is not 0. */
static size_t caret_keeps(const struct semver *v)
{
    for (size_t i = 0; i < v->given; i++) {
        if (v->parts[i] != 0) {
            return i + 1;
        }
    }
    return v->given;
}

/* Whether it is at or above `low` and below what comes after its first `keeps` numbers. */
static bool within(const struct semver *v, const struct semver *low, size_t keeps)
{
    if (keeps == 0) {
        return true;
    }
    struct semver end = above(low, keeps);
    return compare_versions(v, low) >= 0 && compare_versions(v, &end) < 0;
}

static bool equals(const struct semver *v, const struct semver *low)
{
    return low->given == PARTS ? compare_versions(v, low) == 0 : within(v, low, low->given);
}

/* Whether it is above all that `low` means: of 1.2 above 1.2.x. */
static bool exceeds(const struct semver *v, const struct semver *low)
{
    if (low->given == PARTS || low->given == 0) {
        return low->given == PARTS && compare_versions(v, low) > 0;
    }
    struct semver end = above(low, low->given);
    return compare_versions(v, &end) >= 0;
}

static bool holds(const struct comparator *c, const struct semver *v)
{
    const struct semver *low = &c->low;
    switch (c->op[0]) {
    case '!':
        return !equals(v, low);
    case '>':
        return c->op[1] ? compare_versions(v, low) >= 0 : exceeds(v, low);
    case '<':
        return c->op[1] ? !exceeds(v, low) : compare_versions(v, low) < 0;
    case '^':
        return within(v, low, caret_keeps(low));
    case '~':
        return within(v, low, low->given < 2 ? low->given : 2);
    default:
        return equals(v, low);
    }
}

/* Walks the range, and holds it against `v` if that is not NULL. -1 = it is no range. */
static int walk_range(const char *s, const struct semver *v)
{
    bool any = false, all = true, pre = false, empty = true;
    for (;;) {
        s += strspn(s, " ");
        if (!*s || strncmp(s, "||", 2) == 0) {
            if (empty) {
                return -1;
            }
            any = any || (all && (!v || pre || v->pre_size == 0));
            all = empty = true;
            pre = false;
            if (!*s) {
                return any;
            }
            s += 2;
            continue;
        }
        struct comparator c;
        s = read_comparator(s, &c);
        if (!s) {
            return -1;
        }
        empty = false;
        pre = pre || c.low.pre_size > 0;
        all = all && (!v || holds(&c, v));
    }
}

bool semver_range_is_valid(const char *range)
{
    return walk_range(range, NULL) >= 0;
}

bool semver_in_range(const char *version, const char *range)
{
    struct semver v;
    size_t size = read_version(version, false, &v);
    assert(size > 0);
    return size > 0 && walk_range(range, &v) == 1;
}

const char *semver_highest(const char *const *tags, size_t count, const char *range)
{
    const char *best = NULL;
    for (size_t i = 0; i < count; i++) {
        if (semver_is_valid(tags[i]) && semver_in_range(tags[i], range) &&
            (!best || semver_compare(tags[i], best) > 0)) {
            best = tags[i];
        }
    }
    return best;
}
