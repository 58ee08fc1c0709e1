/* TLS of our listeners: mutual, versions 1.2 and 1.3, the client certificate required and verified
 * (design.md 8, behaviour.md 3). */
#pragma once

#include "common/base/err.h"
#include "common/shell/host_io.h"

#include <openssl/ssl.h>

/* Checks the three files: there, readable, PEM, the key belongs to the certificate, the certificate
 * is neither expired nor not yet valid. INVALID names the file and the reason. */
int tls_check(const struct tls_files *files, struct err *err);

/* The context of a server, owned by the caller (SSL_CTX_free). Checks the files first. */
int tls_server_new(const struct tls_files *files, SSL_CTX **ret_ctx, struct err *err);

/* Who the other side of a finished handshake is, from its certificate: first organisational unit
 * and common name as UTF-8, "" where there is none or it holds a NUL. Both owned by the caller
 * (free). */
void tls_peer(const SSL *ssl, char **ret_unit, char **ret_name);

/* Tells of a handshake of the peer at `address` ("" = not known) that failed with this OpenSSL
 * error (0 = the peer hung up), and of a certificate that is refused why. A peer that ends amid it
 * is everyday life, for it was interrupted or only looked whether somebody listens. */
struct log;
void tls_tell_failure(struct log *log, const SSL *ssl, const char *address, unsigned long error);
