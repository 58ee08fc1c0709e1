#include "common/shell/tls_io.h"

#include "common/shell/log_io.h"

#include <assert.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* behaviour.md 3: these two for TLS 1.2, with the ECDSA ones for certificates of that kind. */
static const char tls12_ciphers[] = "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256:"
                                    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256";

/* Sessions of mutual TLS are resumed only where this is set. */
static const unsigned char session_context[] = "corkboard";

static int open_file(const char *what, const char *path, FILE **ret_file, struct err *err)
{
    if (!path || !*path) {
        return err_set(err, ERR_INVALID, "no file is given for the %s", what);
    }
    FILE *f = fopen(path, "re");
    if (!f) {
        return err_set(err, ERR_INVALID, "%s %s: %s", what, path, strerror(errno));
    }
    *ret_file = f;
    return 0;
}

/* The first certificate of a file, for the caller to free. */
static int read_cert(const char *what, const char *path, X509 **ret_cert, struct err *err)
{
    FILE *f;
    int r = open_file(what, path, &f, err);
    if (r < 0) {
        return r;
    }
    X509 *cert = PEM_read_X509(f, NULL, NULL, NULL);
    fclose(f);
    if (!cert) {
        return err_set(err, ERR_INVALID, "%s %s: not a certificate in PEM", what, path);
    }
    if (X509_cmp_current_time(X509_get0_notAfter(cert)) < 0) {
        r = err_set(err, ERR_INVALID, "%s %s: expired", what, path);
    } else if (X509_cmp_current_time(X509_get0_notBefore(cert)) > 0) {
        r = err_set(err, ERR_INVALID, "%s %s: not valid yet (is the clock right?)", what, path);
    }
    if (r < 0) {
        X509_free(cert);
        return r;
    }
    *ret_cert = cert;
    return 0;
}

static int no_passphrase(char *buf, int size, int writing, void *context)
{
    (void)buf, (void)size, (void)writing, (void)context;
    return -1;
}

static int check_key(const char *path, X509 *cert, const char *cert_path, struct err *err)
{
    FILE *f;
    int r = open_file("private key", path, &f, err);
    if (r < 0) {
        return r;
    }
    EVP_PKEY *key = PEM_read_PrivateKey(f, NULL, no_passphrase, NULL);
    fclose(f);
    if (!key) {
        return err_set(err, ERR_INVALID, "private key %s: not a private key in PEM without "
                       "passphrase", path);
    }
    if (X509_check_private_key(cert, key) != 1) {
        r = err_set(err, ERR_INVALID, "private key %s: does not belong to certificate %s", path,
                    cert_path);
    }
    EVP_PKEY_free(key);
    return r;
}

int tls_check(const struct tls_files *files, struct err *err)
{
    X509 *ca = NULL, *cert = NULL;
    int r = read_cert("CA certificate", files->ca, &ca, err);
    if (r == 0) {
        r = read_cert("certificate", files->cert, &cert, err);
    }
    if (r == 0) {
        r = check_key(files->key, cert, files->cert, err);
    }
    X509_free(ca);
    X509_free(cert);
    ERR_clear_error();
    return r;
}

static int load(SSL_CTX *ctx, const struct tls_files *files, struct err *err)
{
    const char *path = files->cert;
    if (SSL_CTX_use_certificate_chain_file(ctx, path) == 1) {
        path = files->key;
        if (SSL_CTX_use_PrivateKey_file(ctx, path, SSL_FILETYPE_PEM) == 1) {
            path = files->ca;
            STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(path);
            if (names && SSL_CTX_load_verify_file(ctx, path) == 1) {
                SSL_CTX_set_client_CA_list(ctx, names);
                return 0;
            }
            sk_X509_NAME_pop_free(names, X509_NAME_free);
        }
    }
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    ERR_clear_error();
    return err_set(err, ERR_INVALID, "%s: %s", path, reason ? reason : "cannot be used");
}

int tls_server_new(const struct tls_files *files, SSL_CTX **ret_ctx, struct err *err)
{
    int r = tls_check(files, err);
    if (r < 0) {
        return r;
    }
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    assert(ctx);
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_max_proto_version(ctx, TLS1_3_VERSION);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE);
    /* An idle connection gives its 34 KB of buffers back. */
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_session_id_context(ctx, session_context, sizeof(session_context) - 1);
    if (SSL_CTX_set_cipher_list(ctx, tls12_ciphers) != 1) {
        abort();
    }
    r = load(ctx, files, err);
    if (r < 0) {
        SSL_CTX_free(ctx);
        return r;
    }
    *ret_ctx = ctx;
    return 0;
}

static char *name_entry(X509_NAME *name, int nid)
{
    unsigned char *utf8 = NULL;
    int index = X509_NAME_get_index_by_NID(name, nid, -1);
    int size = -1;
    if (index >= 0) {
        size =
            ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index)));
    }
    /* A NUL inside would make two different names look the same. */
    bool good = size >= 0 && !memchr(utf8, 0, (size_t)size);
    char *copy = good ? strndup((const char *)utf8, (size_t)size) : strdup("");
    OPENSSL_free(utf8);
    assert(copy);
    return copy;
}

void tls_peer(const SSL *ssl, char **ret_unit, char **ret_name)
{
    X509 *cert = SSL_get1_peer_certificate(ssl);
    X509_NAME *none = X509_NAME_new();
    X509_NAME *name = cert ? X509_get_subject_name(cert) : none;
    *ret_unit = name_entry(name, NID_organizationalUnitName);
    *ret_name = name_entry(name, NID_commonName);
    X509_NAME_free(none);
    X509_free(cert);
}

void tls_tell_failure(struct log *log, const SSL *ssl, const char *address, unsigned long error)
{
    const char *reason = error ? ERR_reason_error_string(error) : NULL;
    bool hung_up = !error || ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
    long refused = SSL_get_verify_result(ssl);
    bool why = ERR_GET_REASON(error) == SSL_R_CERTIFICATE_VERIFY_FAILED && refused != X509_V_OK;
    log_printf(log, hung_up ? LOG_DEBUG_LEVEL : LOG_INFO_LEVEL, "no TLS with a peer",
               "address=%s reason=\"%s%s%s\"", address, reason ? reason : "it hung up",
               why ? ": " : "", why ? X509_verify_cert_error_string(refused) : "");
}
