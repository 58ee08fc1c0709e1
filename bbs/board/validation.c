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
    v->unstorable = v->unstorable || text_characters(text) > characters;
}
