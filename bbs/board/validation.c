#include "bbs/board/validation.h"

void validation_done(struct validation *v)
{
    buf_done(&v->text);
}

bool validation_ok(const struct validation *v)
{
    return v->text.size == 0 && !v->unstorable;
}

const char *validation_text(struct validation *v)
{
    return v->text.size ? buf_string(&v->text) : "the request received is invalid";
}

void say(struct validation *v, const char *message)
{
    if (v->text.size > VALIDATION_TEXT_MAX) {
        return;
    }
    buf_printf(&v->text, "%s%s", v->text.size ? ", " : "", message);
}

void say_field(struct validation *v, const char *field)
{
    if (v->text.size > VALIDATION_TEXT_MAX) {
        return;
    }
    buf_printf(&v->text, "%sInvalid field: %s", v->text.size ? ", " : "", field);
}

void check_length(struct validation *v, const char *text, size_t characters)
{
    size_t count = 0;
    for (const char *c = text; *c; c++) {
        count += ((unsigned char)*c & 0xc0) != 0x80; /* not the second and later byte of one */
    }
    if (count > characters) {
        v->unstorable = true;
    }
}
