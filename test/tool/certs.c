#include "test/tool/certs.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Tells what went wrong and ends the test program: without certificates nothing can be tested. */
static void need(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "certs: %s\n", what);
        abort();
    }
}

static void extend(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX ctx;
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *e = X509V3_EXT_nconf_nid(NULL, &ctx, nid, value);
    need(e && X509_add_ext(cert, e, -1), value);
    X509_EXTENSION_free(e);
}

static X509 *new_cert(EVP_PKEY *key, const char *unit, const char *name, long seconds)
{
    enum { HOUR_S = 3600 };
    X509 *cert = X509_new();
    uint64_t serial;
    RAND_bytes((unsigned char *)&serial, sizeof(serial));
    ASN1_INTEGER_set_uint64(X509_get_serialNumber(cert), serial >> 1);
    X509_set_version(cert, X509_VERSION_3);
    X509_gmtime_adj(X509_getm_notBefore(cert), -HOUR_S);
    X509_gmtime_adj(X509_getm_notAfter(cert), seconds);
    X509_set_pubkey(cert, key);
    X509_NAME *subject = X509_get_subject_name(cert);
    if (unit) {
        X509_NAME_add_entry_by_txt(subject, "OU", MBSTRING_UTF8, (const unsigned char *)unit, -1,
                                   -1, 0);
    }
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, (const unsigned char *)name, -1, -1,
                               0);
    return cert;
}

static char *file_name(struct certs *c, const char *name, const char *suffix)
{
    char *path;
    need(c->name_count < sizeof(c->names) / sizeof(*c->names), "too many certificates");
    need(asprintf(&path, "%s/%s.%s", c->dir, name, suffix) > 0, "memory");
    return c->names[c->name_count++] = path;
}

static const char *write_pem(struct certs *c, const char *name, const char *suffix, X509 *cert,
                             EVP_PKEY *key)
{
    char *path = file_name(c, name, suffix);
    FILE *f = fopen(path, "we");
    need(f, path);
    need(cert ? PEM_write_X509(f, cert) : PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL),
         path);
    fclose(f);
    return path;
}

void certs_init(struct certs *c)
{
    *c = (struct certs){0};
    snprintf(c->dir, sizeof(c->dir), "/tmp/corkboard-certs-XXXXXX");
    need(mkdtemp(c->dir), c->dir);
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *ca = new_cert(key, NULL, "test-ca", 3600);
    X509_set_issuer_name(ca, X509_get_subject_name(ca));
    extend(ca, ca, NID_basic_constraints, "critical,CA:TRUE");
    extend(ca, ca, NID_key_usage, "critical,keyCertSign,cRLSign");
    need(X509_sign(ca, key, EVP_sha256()), "sign the CA");
    c->ca_cert = ca;
    c->ca_key = key;
    write_pem(c, "ca", "crt", ca, NULL);
}

struct tls_files certs_make_for(struct certs *c, const char *name, const char *unit,
                                const char *common_name, long seconds, const char *alt_names)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = new_cert(key, unit, common_name, seconds);
    X509_set_issuer_name(cert, X509_get_subject_name(c->ca_cert));
    extend(cert, c->ca_cert, NID_basic_constraints, "CA:FALSE");
    extend(cert, c->ca_cert, NID_ext_key_usage, "serverAuth,clientAuth");
    extend(cert, c->ca_cert, NID_subject_alt_name, alt_names);
    need(X509_sign(cert, c->ca_key, EVP_sha256()), "sign");
    struct tls_files files = {.ca = c->names[0],
                              .cert = write_pem(c, name, "crt", cert, NULL),
                              .key = write_pem(c, name, "key", NULL, key)};
    X509_free(cert);
    EVP_PKEY_free(key);
    return files;
}

struct tls_files certs_make(struct certs *c, const char *name, const char *unit,
                            const char *common_name, long seconds)
{
    return certs_make_for(c, name, unit, common_name, seconds,
                          "IP:127.0.0.1,IP:::1,DNS:localhost");
}

void certs_forget(struct certs *c)
{
    while (c->name_count) {
        free(c->names[--c->name_count]);
    }
    X509_free(c->ca_cert);
    EVP_PKEY_free(c->ca_key);
}

void certs_done(struct certs *c)
{
    DIR *d = opendir(c->dir);
    struct dirent *e;
    while (d && (e = readdir(d))) {
        unlinkat(dirfd(d), e->d_name, 0);
    }
    if (d) {
        closedir(d);
    }
    rmdir(c->dir);
    certs_forget(c);
}
