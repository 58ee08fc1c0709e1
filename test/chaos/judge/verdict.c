#include "test/chaos/judge/verdict.h"

#include <stdarg.h>
#include <stdio.h>

const char *const promise_names[PROMISES] = {
#define PROMISE(id, name, says) name,
#include "test/chaos/judge/promises.def"
#undef PROMISE
};
const char *const promise_texts[PROMISES] = {
#define PROMISE(id, name, says) says,
#include "test/chaos/judge/promises.def"
#undef PROMISE
};

void verdict_init(struct verdict *v)
{
    *v = (struct verdict){.undecided = 0};
    buf_init(&v->violations);
}

void verdict_done(struct verdict *v)
{
    buf_done(&v->violations);
}

int verdict_count(const struct verdict *v)
{
    int sum = 0;
    for (int i = 0; i < PROMISES; i++) {
        sum += v->found[i];
    }
    return sum;
}

void verdict_add(struct verdict *v, enum promise promise, const struct place *lines, int line_count,
                 const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (v->found[promise]++ >= VERDICT_SHOWN_MAX) {
        return;
    }
    buf_printf(&v->violations, "VIOLATED %s (%s): %s\n", promise_names[promise],
               promise_texts[promise], text);
    for (int i = 0; i < line_count; i++) {
        if (lines[i].file && lines[i].file[0]) {
            buf_printf(&v->violations, "    %s:%d\n", lines[i].file, lines[i].line);
        }
    }
}
