#include "test/e2e/driver_trials.h"

void trial_conformance(void **state)
{
    struct rig *r = *state;
    driver_conformance(&r->subject);
}
