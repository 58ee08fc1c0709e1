#include "bbs/cli/leader_words.h"

#include <assert.h>

const char *leader_lack_text(struct arena *a, const char *role, bool leads, bool complete,
                             const char *silence)
{
    assert(leads || !silence);
    if (!leads) {
        return complete ? arena_printf(a,
                                       "no %s leads: nothing of this goes on before one runs (%s "
                                       "serve), and what runs, runs on",
                                       role, role)
                        : NULL;
    }
    return silence ? arena_printf(a,
                                  "the leading %s does not answer (%s): nothing of this goes on "
                                  "before it does, or another one leads; its log, and whoever "
                                  "supervises it, tell more",
                                  role, silence)
                   : NULL;
}
