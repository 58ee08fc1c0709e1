/* One error convention: a negative code and a text, made where it failed, untouched on success. */
#pragma once

enum err_code {
    ERR_INVALID = 1,  /* the input is wrong */
    ERR_NOT_FOUND,    /* what was named does not exist */
    ERR_EXISTS,       /* what should be made exists */
    ERR_CONFLICT,     /* it changed meanwhile, or its state forbids this */
    ERR_DENIED,       /* the caller may not */
    ERR_TOO_LARGE,    /* a bound was reached */
    ERR_UNAVAILABLE,  /* not now: try again later */
    ERR_TIMEOUT,      /* no answer in time */
    ERR_UNKNOWN,      /* it may or may not have happened */
    ERR_IO,           /* the operating system refused */
    ERR_CODE_COUNT
};

struct err {
    enum err_code code;
    char text[240]; /* a sentence without full stop: what happened, to what */
};

/* Sets code and text and gives -code, so that `return err_set(err, ...)` reads well. `err` may be
 * NULL. */
int err_set(struct err *err, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts `format: ` before the text that is there; gives -code again. */
int err_prefix(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
