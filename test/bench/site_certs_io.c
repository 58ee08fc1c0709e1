#include "test/bench/site_certs_io.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { VALID_S = 24 * 3600 };

struct site_ca {
    X509 *cert;
    EVP_PKEY *key;
};

static void need(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "bench: certificates of sites: %s\n", what);
        exit(1);
    }
}

static FILE *opened(const char *path, const char *mode)
{
    FILE *f = fopen(path, mode);
    need(f, path);
    return f;
}

struct site_ca *site_ca_open(const char *dir)
{
    char cert[256], key[256];
    struct site_ca *ca = calloc(1, sizeof(*ca));
    need(ca, "memory");
    snprintf(cert, sizeof(cert), "%s/ca.crt", dir);
    snprintf(key, sizeof(key), "%s/ca.key", dir);
    FILE *f = opened(cert, "re");
    ca->cert = PEM_read_X509(f, NULL, NULL, NULL);
    need(ca->cert, cert);
    fclose(f);
    f = opened(key, "re");
    ca->key = PEM_read_PrivateKey(f, NULL, NULL, NULL);
    need(ca->key, key);
    fclose(f);
    return ca;
}

void site_ca_close(struct site_ca *ca)
{
    if (ca) {
        X509_free(ca->cert);
        EVP_PKEY_free(ca->key);
        free(ca);
    }
}

static X509 *cert_of(const char *cloudlet, EVP_PKEY *key)
{
    X509 *cert = X509_new();
    uint64_t serial;
    RAND_bytes((unsigned char *)&serial, sizeof(serial));
    ASN1_INTEGER_set_uint64(X509_get_serialNumber(cert), serial >> 1);
    X509_set_version(cert, X509_VERSION_3);
    X509_gmtime_adj(X509_getm_notBefore(cert), -VALID_S);
    X509_gmtime_adj(X509_getm_notAfter(cert), VALID_S);
    X509_set_pubkey(cert, key);
    X509_NAME *subject = X509_get_subject_name(cert);
    X509_NAME_add_entry_by_txt(subject, "OU", MBSTRING_UTF8, (const unsigned char *)"crm", -1, -1,
                               0);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, (const unsigned char *)cloudlet, -1,
                               -1, 0);
    return cert;
}

void site_ca_issue(struct site_ca *ca, const char *cloudlet, const char *cert_path,
                   const char *key_path)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = cert_of(cloudlet, key);
    X509V3_CTX context;
    X509V3_set_ctx(&context, ca->cert, cert, NULL, NULL, 0);
    X509_EXTENSION *e =
        X509V3_EXT_nconf_nid(NULL, &context, NID_ext_key_usage, "serverAuth,clientAuth");
    need(e && X509_add_ext(cert, e, -1), "key usage");
    X509_EXTENSION_free(e);
    X509_set_issuer_name(cert, X509_get_subject_name(ca->cert));
    need(X509_sign(cert, ca->key, EVP_sha256()), "sign");
    FILE *f = opened(cert_path, "wex");
    need(PEM_write_X509(f, cert), cert_path);
    fclose(f);
    f = opened(key_path, "wex");
    need(PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL), key_path);
    fclose(f);
    X509_free(cert);
    EVP_PKEY_free(key);
}
