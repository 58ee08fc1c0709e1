/* Checksums of what comes and goes: as they are asked for, and while bytes stream. Pure. */
#pragma once

#include "common/base/bytes.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum checksum_kind { CHECKSUM_MD5, CHECKSUM_SHA1, CHECKSUM_SHA256, CHECKSUM_SHA512 };
enum { CHECKSUM_BYTES_MAX = 64, CHECKSUM_TEXT_BYTES = 7 + 2 * CHECKSUM_BYTES_MAX };

struct checksum {
    enum checksum_kind kind;
    uint8_t bytes[CHECKSUM_BYTES_MAX];
    size_t size;
};

/* "ALG:HEX" with ALG one of md5, sha1, sha256, sha512; letters of either case (behaviour.md 9).
 * -ERR_INVALID says what is wrong. */
int checksum_parse(const char *text, struct checksum *ret, struct err *err);

/* "alg", the separator, and the hex digits, in small letters. */
void checksum_print(const struct checksum *c, char separator, char ret[CHECKSUM_TEXT_BYTES + 1]);

/* In kind and digits. */
bool checksum_equal(const struct checksum *a, const struct checksum *b);

/* Appends it in base64, as headers of HTTP have it. */
void checksum_base64(const struct checksum *c, struct buf *out);

/* One that grows. Owned by its holder, who begins with zeroes; done accepts one never begun. */
struct summing {
    enum checksum_kind kind;
    struct evp_md_ctx_st *context;
};

/* Begin, or begin anew; add; end, after which it has to be begun anew. */
void summing_begin(struct summing *s, enum checksum_kind kind);
void summing_add(struct summing *s, const void *data, size_t size);
struct checksum summing_end(struct summing *s);
void summing_done(struct summing *s);
