/* Secrets sealed by AES-256-SIV of OpenSSL (RFC 5297): the same text, sealed again under the same
 * names, is the same bytes, and what it is bound to goes in beside it. */
#include "bbs/seal_io.h"

#include "common/base/memory.h"
#include "common/codec/json_text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TAG_BYTES = 16, DATA_KEY_BYTES = 64, NUMBER_DIGITS_MAX = 10 };

/* Before each text, so that none is empty, and another kind of content could be told. */
enum { TEXT_PLAIN = 1 };

struct seal_file {
    struct seal seal;
    const EVP_CIPHER *cipher;
    size_t count;
    uint32_t numbers[SEAL_KEYS_MAX]; /* ascending */
    uint8_t keys[SEAL_KEYS_MAX][SEAL_KEY_BYTES];
};

static const struct seal_file *file_of(const struct seal *s)
{
    return (const struct seal_file *)s; /* seal is its first member */
}

static const uint8_t *key_of(const struct seal *s, uint32_t number)
{
    const struct seal_file *f = file_of(s);
    for (size_t i = 0; i < f->count; i++) {
        if (f->numbers[i] == number) {
            return f->keys[i];
        }
    }
    return NULL;
}

/* ---- AES-256-SIV ----------------------------------------------------------------------------- */

/* What a text is bound to; NULL = no more. */
struct bound {
    const char *texts[5];
};

static bool bind_to(EVP_CIPHER_CTX *c, const struct bound *b)
{
    int size;
    for (size_t i = 0; i < sizeof(b->texts) / sizeof(b->texts[0]) && b->texts[i]; i++) {
        const uint8_t *text = (const uint8_t *)b->texts[i];
        if (EVP_CipherUpdate(c, NULL, &size, text, (int)strlen(b->texts[i])) != 1) {
            return false;
        }
    }
    return true;
}

/* Tag and sealed text; `text` is not empty. */
static bool siv_seal(const struct seal_file *f, struct arena *a, const uint8_t *key,
                     const struct bound *b, struct bytes text, struct bytes *ret)
{
    assert(text.size > 0 && text.size < INT_MAX);
    uint8_t *to = arena_alloc(a, TAG_BYTES + text.size);
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    int size = 0, rest = 0;
    bool done = c && EVP_CipherInit_ex(c, f->cipher, NULL, key, NULL, 1) == 1 && bind_to(c, b) &&
                EVP_CipherUpdate(c, to + TAG_BYTES, &size, text.data, (int)text.size) == 1 &&
                EVP_CipherFinal_ex(c, to + TAG_BYTES + size, &rest) == 1 &&
                EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, TAG_BYTES, to) == 1 &&
                (size_t)size + (size_t)rest == text.size;
    EVP_CIPHER_CTX_free(c);
    *ret = (struct bytes){to, TAG_BYTES + text.size};
    return done;
}

static bool siv_open(const struct seal_file *f, struct arena *a, const uint8_t *key,
                     const struct bound *b, struct bytes sealed, struct bytes *ret)
{
    if (sealed.size <= TAG_BYTES || sealed.size > INT_MAX) {
        return false;
    }
    size_t text_size = sealed.size - TAG_BYTES;
    uint8_t *to = arena_alloc(a, text_size + 1); /* with a NUL */
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    int size = 0, rest = 0;
    uint8_t tag[TAG_BYTES];
    memcpy(tag, sealed.data, TAG_BYTES);
    bool done =
        c && EVP_CipherInit_ex(c, f->cipher, NULL, key, NULL, 0) == 1 &&
        EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, TAG_BYTES, tag) == 1 &&
        bind_to(c, b) &&
        EVP_CipherUpdate(c, to, &size, sealed.data + TAG_BYTES, (int)text_size) == 1 &&
        EVP_CipherFinal_ex(c, to + size, &rest) == 1;
    EVP_CIPHER_CTX_free(c);
    if (!done) {
        OPENSSL_cleanse(to, text_size);
    }
    *ret = (struct bytes){to, text_size};
    return done;
}

/* ---- Data keys ------------------------------------------------------------------------------- */

static struct bound of_data_key(const char *uid)
{
    return (struct bound){{"corkboard data key", uid}};
}

static size_t numbers(const struct seal *s, const uint32_t **ret)
{
    *ret = file_of(s)->numbers;
    return file_of(s)->count;
}

static void put_wrapped(Board__WrappedKey *to, uint32_t number, struct bytes text)
{
    to->key = number;
    to->text = (ProtobufCBinaryData){text.size, (uint8_t *)(uintptr_t)text.data};
}

static bool wrap(const struct seal_file *f, struct arena *a, const char *uid,
                 const uint8_t data_key[DATA_KEY_BYTES], Board__WrappedKey *ret)
{
    struct bytes text;
    const struct bound b = of_data_key(uid);
    size_t last = f->count - 1;
    if (!siv_seal(f, a, f->keys[last], &b, (struct bytes){data_key, DATA_KEY_BYTES}, &text)) {
        return false;
    }
    put_wrapped(ret, f->numbers[last], text);
    return true;
}

static bool unwrap(const struct seal *s, struct arena *a, const char *uid,
                   const Board__WrappedKey *from, uint8_t ret[DATA_KEY_BYTES])
{
    struct bytes key;
    const struct bound b = of_data_key(uid);
    const uint8_t *by = key_of(s, from->key);
    bool done = by && siv_open(file_of(s), a, by, &b,
                               (struct bytes){from->text.data, from->text.len}, &key) &&
                key.size == DATA_KEY_BYTES;
    if (done) {
        memcpy(ret, key.data, DATA_KEY_BYTES);
        OPENSSL_cleanse((uint8_t *)(uintptr_t)key.data, key.size);
    }
    return done;
}

/* HMAC-SHA-512 of the active key: nobody without it can tell the data key from a random one. */
static void draw(const struct seal *s, struct arena *a, const char *uid, const char *nonce,
                 Board__WrappedKey *ret)
{
    const struct seal_file *f = file_of(s);
    uint8_t data_key[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    const char *text = arena_printf(a, "corkboard data key of %s, %s", uid, nonce);
    const uint8_t *done = HMAC(EVP_sha512(), f->keys[f->count - 1], SEAL_KEY_BYTES,
                               (const uint8_t *)text, strlen(text), data_key, &size);
    if (!done || size != DATA_KEY_BYTES || !wrap(f, a, uid, data_key, ret)) {
        abort(); /* out of memory: whatever came would not be a key */
    }
    OPENSSL_cleanse(data_key, sizeof(data_key));
}

static bool rewrap(const struct seal *s, struct arena *a, const char *uid,
                   const Board__WrappedKey *from, Board__WrappedKey *ret)
{
    uint8_t data_key[DATA_KEY_BYTES];
    bool done = unwrap(s, a, uid, from, data_key) && wrap(file_of(s), a, uid, data_key, ret);
    OPENSSL_cleanse(data_key, sizeof(data_key));
    return done;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static struct bound of_value(const Models__Sealed *sealed)
{
    return (struct bound){{"corkboard secret", sealed->uid, sealed->name, sealed->version}};
}

static bool close_value(const struct seal *s, struct arena *a, const Board__WrappedKey *key,
                        struct bytes text, Models__Sealed *sealed)
{
    uint8_t data_key[DATA_KEY_BYTES];
    uint8_t *plain = arena_alloc(a, 1 + text.size);
    const struct bound b = of_value(sealed);
    struct bytes to = {0};
    plain[0] = TEXT_PLAIN;
    if (text.size > 0) {
        memcpy(plain + 1, text.data, text.size);
    }
    bool done = unwrap(s, a, sealed->uid, key, data_key) &&
                siv_seal(file_of(s), a, data_key, &b, (struct bytes){plain, 1 + text.size}, &to);
    OPENSSL_cleanse(data_key, sizeof(data_key));
    OPENSSL_cleanse(plain, 1 + text.size);
    if (done) {
        sealed->key = key->key;
        sealed->text = (ProtobufCBinaryData){to.size, (uint8_t *)(uintptr_t)to.data};
    }
    return done;
}

static bool open_value(const struct seal *s, struct arena *a, const Board__WrappedKey *key,
                       const Models__Sealed *sealed, struct bytes *ret_text)
{
    uint8_t data_key[DATA_KEY_BYTES];
    const struct bound b = of_value(sealed);
    struct bytes plain;
    bool done = unwrap(s, a, sealed->uid, key, data_key) &&
                siv_open(file_of(s), a, data_key, &b,
                         (struct bytes){sealed->text.data, sealed->text.len}, &plain) &&
                plain.data[0] == TEXT_PLAIN;
    OPENSSL_cleanse(data_key, sizeof(data_key));
    if (done) {
        *ret_text = (struct bytes){plain.data + 1, plain.size - 1};
    }
    return done;
}

static const struct seal_ops file_ops = {.numbers = numbers,
                                         .draw = draw,
                                         .rewrap = rewrap,
                                         .close = close_value,
                                         .open = open_value};

/* ---- The file -------------------------------------------------------------------------------- */

static int bad_line(const char *name, unsigned line, struct err *err)
{
    return err_set(err, ERR_INVALID,
                   "%s:%u: a line is a number from 1 to 4294967295 and the base64 of 64 bytes: "
                   "echo \"1 $(head -c 64 /dev/urandom | base64 -w 0)\"", name, line);
}

/* The number that a line begins with, and what stands behind it; 0 = none. */
static uint32_t read_number(const char *line, const char **ret_rest)
{
    uint64_t number = 0;
    size_t digits = strspn(line, "0123456789");
    for (size_t i = 0; i < digits && i < NUMBER_DIGITS_MAX; i++) {
        number = 10 * number + (uint64_t)(line[i] - '0');
    }
    *ret_rest = line + digits + strspn(line + digits, " \t");
    bool good = digits > 0 && digits <= NUMBER_DIGITS_MAX && number <= UINT32_MAX &&
                *ret_rest > line + digits;
    return good ? (uint32_t)number : 0;
}

/* Puts the key at its place in the order; false: its number is there already. */
static bool insert(struct seal_file *f, uint32_t number, const uint8_t *key)
{
    size_t at = f->count;
    while (at > 0 && f->numbers[at - 1] >= number) {
        at--;
    }
    if (at < f->count && f->numbers[at] == number) {
        return false;
    }
    memmove(&f->numbers[at + 1], &f->numbers[at], (f->count - at) * sizeof(f->numbers[0]));
    memmove(&f->keys[at + 1], &f->keys[at], (f->count - at) * sizeof(f->keys[0]));
    f->numbers[at] = number;
    memcpy(f->keys[at], key, SEAL_KEY_BYTES);
    f->count++;
    return true;
}

static int read_line(struct seal_file *f, struct arena *a, const char *line, const char *name,
                     unsigned at, struct err *err)
{
    const char *rest;
    struct bytes key;
    if (!*line || *line == '#') {
        return 0;
    }
    uint32_t number = read_number(line, &rest);
    if (number == 0 || base64_decode(a, bytes_of(rest), &key, NULL) < 0 ||
        key.size != SEAL_KEY_BYTES) {
        return bad_line(name, at, err);
    }
    if (f->count == SEAL_KEYS_MAX) {
        return err_set(err, ERR_INVALID, "%s:%u: more than %d keys: take out those that no system "
                       "uses (bbs keys)", name, at, SEAL_KEYS_MAX);
    }
    if (!insert(f, number, key.data)) {
        return err_set(err, ERR_INVALID, "%s:%u: key %u stands there twice", name, at, number);
    }
    return 0;
}

/* Each line by itself; a carriage return and blanks at its end do not count. */
static int read_lines(struct seal_file *f, struct bytes text, const char *name, struct err *err)
{
    SCOPED_ARENA(a);
    unsigned at = 0;
    int r = 0;
    for (size_t i = 0; i < text.size && r == 0;) {
        size_t end = i;
        while (end < text.size && text.data[end] != '\n') {
            end++;
        }
        size_t last = end;
        while (last > i && strchr(" \t\r", text.data[last - 1])) {
            last--;
        }
        char *line = arena_strndup(&a, (const char *)text.data + i, last - i);
        r = read_line(f, &a, line, name, ++at, err);
        OPENSSL_cleanse(line, last - i);
        i = end + 1;
    }
    return r;
}

int seal_text_read(struct bytes text, const char *name, struct seal **ret, struct err *err)
{
    struct seal_file *f = mem_zeroed(sizeof(*f));
    f->seal.ops = &file_ops;
    f->cipher = EVP_CIPHER_fetch(NULL, "AES-256-SIV", NULL);
    int r = f->cipher ? read_lines(f, text, name, err)
                      : err_set(err, ERR_INVALID, "this OpenSSL has no AES-256-SIV");
    if (r == 0 && f->count == 0) {
        r = err_set(err, ERR_INVALID, "%s: there is no key in it", name);
    }
    if (r < 0) {
        seal_file_free(&f->seal);
        return r;
    }
    assert(f->count <= SEAL_KEYS_MAX);
    *ret = &f->seal;
    return 0;
}

void seal_file_free(struct seal *s)
{
    struct seal_file *f = (struct seal_file *)s;
    if (f) {
        EVP_CIPHER_free((EVP_CIPHER *)(uintptr_t)f->cipher);
        OPENSSL_cleanse(f, sizeof(*f));
        free(f);
    }
}

static int file_error(const char *path, struct err *err)
{
    return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s: %s", path, strerror(errno));
}

static int check_mode(int fd, const char *path, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0) {
        return file_error(path, err);
    }
    if (!S_ISREG(st.st_mode)) {
        return err_set(err, ERR_INVALID, "%s: a file of keys is a regular file", path);
    }
    if (st.st_mode & 077) {
        return err_set(err, ERR_INVALID, "%s: others may read it (mode %03o): chmod 600 %s", path,
                       (unsigned)st.st_mode & 0777, path);
    }
    if (st.st_size > SEAL_FILE_BYTES_MAX) {
        return err_set(err, ERR_TOO_LARGE, "%s: a file of keys has at most %d bytes", path,
                       SEAL_FILE_BYTES_MAX);
    }
    return 0;
}

static int read_all(int fd, const char *path, uint8_t *to, size_t *ret_size, struct err *err)
{
    size_t size = 0;
    for (;;) {
        ssize_t n = read(fd, to + size, SEAL_FILE_BYTES_MAX - size);
        if (n < 0) {
            return file_error(path, err);
        }
        if (n == 0) {
            *ret_size = size;
            return 0;
        }
        size += (size_t)n;
    }
}

int seal_file_read(const char *path, struct seal **ret, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return file_error(path, err);
    }
    uint8_t *text = mem_zeroed(SEAL_FILE_BYTES_MAX);
    size_t size = 0;
    int r = check_mode(fd, path, err);
    r = r < 0 ? r : read_all(fd, path, text, &size, err);
    r = r < 0 ? r : seal_text_read((struct bytes){text, size}, path, ret, err);
    OPENSSL_cleanse(text, SEAL_FILE_BYTES_MAX);
    free(text);
    close(fd);
    return r;
}
