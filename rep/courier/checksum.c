#include "rep/courier/checksum.h"

#include <assert.h>
#include <ctype.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct row {
    const char *name;
    size_t bytes;
    const EVP_MD *(*of)(void);
} rows[] = {
    [CHECKSUM_MD5] = {"md5", 16, EVP_md5},
    [CHECKSUM_SHA1] = {"sha1", 20, EVP_sha1},
    [CHECKSUM_SHA256] = {"sha256", 32, EVP_sha256},
    [CHECKSUM_SHA512] = {"sha512", 64, EVP_sha512},
};
enum { KINDS = sizeof(rows) / sizeof(rows[0]) };

static int digit(char c)
{
    return isdigit((unsigned char)c) ? c - '0'
           : c >= 'a' && c <= 'f'    ? c - 'a' + 10
           : c >= 'A' && c <= 'F'    ? c - 'A' + 10
                                     : -1;
}

static bool hex_read(const char *text, size_t bytes, uint8_t *ret)
{
    for (size_t i = 0; i < bytes; i++) {
        int high = digit(text[2 * i]), low = high < 0 ? -1 : digit(text[2 * i + 1]);
        if (low < 0) {
            return false;
        }
        ret[i] = (uint8_t)(high << 4 | low);
    }
    return text[2 * bytes] == '\0';
}

int checksum_parse(const char *text, struct checksum *ret, struct err *err)
{
    const char *colon = strchr(text, ':');
    size_t n = colon ? (size_t)(colon - text) : 0;
    for (int kind = 0; kind < KINDS; kind++) {
        if (n != strlen(rows[kind].name) || strncasecmp(text, rows[kind].name, n) != 0) {
            continue;
        }
        struct checksum c = {.kind = (enum checksum_kind)kind, .size = rows[kind].bytes};
        if (!hex_read(colon + 1, c.size, c.bytes)) {
            return err_set(err, ERR_INVALID, "a checksum of %s has %zu hex digits, not \"%.140s\"",
                           rows[kind].name, 2 * c.size, colon + 1);
        }
        *ret = c;
        return 0;
    }
    return err_set(err, ERR_INVALID,
                   "a checksum is md5:HEX, sha1:HEX, sha256:HEX or sha512:HEX, not \"%.80s\"",
                   text);
}

void checksum_print(const struct checksum *c, char separator, char ret[CHECKSUM_TEXT_BYTES + 1])
{
    int at = snprintf(ret, CHECKSUM_TEXT_BYTES + 1, "%s%c", rows[c->kind].name, separator);
    assert(c->size == rows[c->kind].bytes);
    for (size_t i = 0; i < c->size; i++) {
        at += snprintf(ret + at, 3, "%02x", c->bytes[i]);
    }
}

bool checksum_equal(const struct checksum *a, const struct checksum *b)
{
    return a->kind == b->kind && a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

void checksum_base64(const struct checksum *c, struct buf *out)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < c->size; i += 3) {
        size_t left = c->size - i < 3 ? c->size - i : 3;
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; k++) {
            bits = bits << 8 | (k < left ? c->bytes[i + k] : 0);
        }
        for (size_t k = 0; k < 4; k++) {
            buf_append(out, k <= left ? &letters[bits >> (18 - 6 * k) & 63] : "=", 1);
        }
    }
}

void summing_begin(struct summing *s, enum checksum_kind kind)
{
    if (!s->context) {
        s->context = EVP_MD_CTX_new();
    }
    s->kind = kind;
    if (!s->context || EVP_DigestInit_ex(s->context, rows[kind].of(), NULL) != 1) {
        abort(); /* out of memory, or an OpenSSL without this hash */
    }
}

void summing_add(struct summing *s, const void *data, size_t size)
{
    assert(s->context);
    EVP_DigestUpdate(s->context, data, size);
}

struct checksum summing_end(struct summing *s)
{
    struct checksum c = {.kind = s->kind, .size = rows[s->kind].bytes};
    assert(s->context);
    EVP_DigestFinal_ex(s->context, c.bytes, NULL);
    return c;
}

void summing_done(struct summing *s)
{
    EVP_MD_CTX_free(s->context);
    *s = (struct summing){0};
}
