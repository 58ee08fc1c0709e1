#include "bbs/cli/snapshot.h"

#include <assert.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

/* The first page of a database of etcd (bbolt): 16 bytes of its own head, then the magic and the
 * version of the format, in the byte order of the machine that wrote it. */
enum { MAGIC_AT = 16 };
static const uint8_t little_endian[] = {0xed, 0xda, 0x0c, 0xed, 2, 0, 0, 0};
static const uint8_t big_endian[] = {0xed, 0x0c, 0xda, 0xed, 0, 0, 0, 2};

void snapshot_init(struct snapshot_file *s)
{
    *s = (struct snapshot_file){.hash = EVP_MD_CTX_new()};
    int begun = s->hash ? EVP_DigestInit_ex(s->hash, EVP_sha256(), NULL) : 0;
    assert(begun == 1);
    (void)begun;
}

void snapshot_done(struct snapshot_file *s)
{
    EVP_MD_CTX_free(s->hash);
    s->hash = NULL;
}

static void keep_head(struct snapshot_file *s, struct bytes bytes)
{
    if (s->size < SNAPSHOT_HEAD_BYTES) {
        size_t room = SNAPSHOT_HEAD_BYTES - (size_t)s->size;
        memcpy(s->head + s->size, bytes.data, bytes.size < room ? bytes.size : room);
    }
}

/* The last bytes of all are the hash, and which these are shows at the end only: so many are held
 * back, and what they push out is hashed. */
void snapshot_take(struct snapshot_file *s, struct bytes bytes)
{
    assert(s->hash && s->tail_size <= sizeof(s->tail));
    if (bytes.size == 0) {
        return;
    }
    keep_head(s, bytes);
    s->size += bytes.size;
    size_t held = s->tail_size + bytes.size;
    size_t out = held > sizeof(s->tail) ? held - sizeof(s->tail) : 0;
    size_t of_tail = out < s->tail_size ? out : s->tail_size;
    size_t of_bytes = out - of_tail;
    EVP_DigestUpdate(s->hash, s->tail, of_tail);
    EVP_DigestUpdate(s->hash, bytes.data, of_bytes);
    memmove(s->tail, s->tail + of_tail, s->tail_size - of_tail);
    s->tail_size -= of_tail;
    memcpy(s->tail + s->tail_size, bytes.data + of_bytes, bytes.size - of_bytes);
    s->tail_size += bytes.size - of_bytes;
}

static bool is_database(const struct snapshot_file *s)
{
    const uint8_t *at = s->head + MAGIC_AT;
    return memcmp(at, little_endian, sizeof(little_endian)) == 0 ||
           memcmp(at, big_endian, sizeof(big_endian)) == 0;
}

int snapshot_end(struct snapshot_file *s, struct err *err)
{
    if (s->size == 0) {
        return err_set(err, ERR_INVALID, "it is empty");
    }
    if (s->size < SNAPSHOT_HEAD_BYTES + SNAPSHOT_HASH_BYTES || !is_database(s)) {
        return err_set(err, ERR_INVALID, "it is no snapshot of etcd");
    }
    uint8_t hash[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    int ended = EVP_DigestFinal_ex(s->hash, hash, &size);
    assert(ended == 1 && size == SNAPSHOT_HASH_BYTES);
    (void)ended;
    if (memcmp(hash, s->tail, SNAPSHOT_HASH_BYTES) != 0) {
        return err_set(err, ERR_INVALID,
                       "its hash is wrong: bytes are missing, were changed, or it was not made by "
                       "bbs backup or etcdctl snapshot save");
    }
    return 0;
}

void snapshot_hash_text(const struct snapshot_file *s, char ret_text[2 * SNAPSHOT_HASH_BYTES + 1])
{
    for (size_t i = 0; i < SNAPSHOT_HASH_BYTES; i++) {
        snprintf(ret_text + 2 * i, 3, "%02x", s->tail[i]);
    }
}
