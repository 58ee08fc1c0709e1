/* cmocka, with the headers that it wants before it. */
#ifndef TEST_TOOL_CMOCKA_H
#define TEST_TOOL_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
