/* The conformance program on the model etcd. */
#include "test/conformance/store_suite.h"

int main(int argc, char **argv)
{
    struct store_suite suite = {
        .name = "store: model", .backend_new = backend_model_new, .storms = true};
    store_suite_options(&suite, argc, argv);
    return store_suite_run(&suite);
}
