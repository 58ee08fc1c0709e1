#include "common/base/random.h"

#include <assert.h>
#include <stdio.h>

static uint64_t rotate(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

static uint64_t splitmix(uint64_t *x)
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void random_seed(struct random *r, const uint64_t seed[2])
{
    uint64_t a = seed[0], b = seed[1];
    r->state[0] = splitmix(&a);
    r->state[1] = splitmix(&b);
    r->state[2] = splitmix(&a);
    r->state[3] = splitmix(&b) | 1; /* never all zero */
}

/* xoshiro256** */
uint64_t random_next(struct random *r)
{
    uint64_t *s = r->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t random_below(struct random *r, uint64_t bound)
{
    if (bound == 0) {
        return 0;
    }
    uint64_t skip = -bound % bound, x;
    do {
        x = random_next(r);
    } while (x < skip);
    assert(x >= skip);
    return x % bound;
}

void random_guid(struct random *r, char out[GUID_BYTES])
{
    uint64_t a = random_next(r), b = random_next(r);
    snprintf(out, GUID_BYTES, "%08x-%04x-4%03x-%04x-%012llx", (unsigned)(a >> 32),
             (unsigned)(a >> 16) & 0xffff, (unsigned)a & 0xfff,
             (unsigned)(0x8000 | ((b >> 48) & 0x3fff)),
             (unsigned long long)(b & 0xffffffffffffu));
}
