/* Certificates of CRMs by a CA whose certificate and key are files: as deploy/local/make-certs has
 * them, but a thousand in a second. */
#pragma once

struct site_ca;

/* DIR has ca.crt and ca.key. Ends the process when they cannot be read. */
struct site_ca *site_ca_open(const char *dir);
void site_ca_close(struct site_ca *ca);

/* Writes the certificate of the CRM of this cloudlet, and its key, to two new files. */
void site_ca_issue(struct site_ca *ca, const char *cloudlet, const char *cert, const char *key);
