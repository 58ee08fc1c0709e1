/* The conformance program on a real etcd behind the store shell, with TLS and without. */
#include "test/conformance/store_suite.h"

int main(int argc, char **argv)
{
    struct store_suite suite = {.name = "store: etcd", .backend_new = backend_etcd_new};
    store_suite_options(&suite, argc, argv);
    int failed = store_suite_run(&suite);
    suite.name = "store: etcd with TLS";
    suite.tls = true;
    return failed + store_suite_run(&suite);
}
