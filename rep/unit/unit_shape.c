#include "rep/unit/unit_shape.h"

#include "common/base/message.h"

static const char *digest(struct arena *a, const ProtobufCMessage *m)
{
    return arena_printf(a, "%016llx", (unsigned long long)bytes_hash(message_packed(a, m)));
}

/* Whose process it is, and where it begins, is the first process's, too. */
const char *unit_shape(struct arena *a, const Models__DesiredLRP *run)
{
    Models__DesiredLRP whole = *run; /* shallow, as the next two */
    Models__RunAction command = MODELS__RUN_ACTION__INIT;
    Models__Action action = MODELS__ACTION__INIT;
    const Models__RunAction *from = run->action ? run->action->run_action : NULL;
    if (from) {
        command.user = from->user;
        command.dir = from->dir;
    }
    action.run_action = &command;
    whole.action = &action;
    whole.n_environment_variables = 0;
    whole.memory_mb = whole.disk_mb = whole.max_pids = 0;
    return digest(a, &whole.base);
}

bool unit_has_command(const Models__DesiredLRP *run)
{
    return run->action && run->action->run_action;
}

const char *unit_command(struct arena *a, const Models__DesiredLRP *run)
{
    Models__DesiredLRP part = MODELS__DESIRED_LRP__INIT;
    if (!unit_has_command(run)) {
        return "";
    }
    part.action = run->action;
    part.environment_variables = run->environment_variables;
    part.n_environment_variables = run->n_environment_variables;
    return digest(a, &part.base);
}
