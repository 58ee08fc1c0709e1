/* A throwaway CA and certificates (ECDSA, made in milliseconds) in a directory of their own. */
#pragma once

#include "common/shell/host_io.h"

struct certs {
    char dir[64];
    void *ca_cert, *ca_key;
    char *names[64]; /* of files, for certs_forget() */
    size_t name_count;
};

/* Makes the directory and ca.crt in it. Fails the test when that is not possible. */
void certs_init(struct certs *c);

/* Makes NAME.crt and NAME.key with this subject, valid for `seconds` from an hour ago (negative: it
 * has expired), for 127.0.0.1, ::1 and localhost. The file names live as long as `c`. */
struct tls_files certs_make(struct certs *c, const char *name, const char *unit,
                            const char *common_name, long seconds);

/* The same with a name for the server's certificate other than those ("example.com"). */
struct tls_files certs_make_for(struct certs *c, const char *name, const char *unit,
                                const char *common_name, long seconds, const char *alt_names);

/* Frees the memory, and certs_done() the directory with its files as well. */
void certs_forget(struct certs *c);
void certs_done(struct certs *c);
