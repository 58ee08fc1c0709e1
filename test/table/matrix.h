/* A lifecycle as its whole matrix: all states x actors x news x guards (DESIGN 3.6, 9). */
#ifndef TEST_TABLE_MATRIX_H
#define TEST_TABLE_MATRIX_H

#include "common/base/bytes.h"
#include "common/lifecycle/lifecycle.h"

/* Prints, for every state, actor and news, the outcome under every set of those guards that any row
 * for them names. Fails the test when a guard that no row names changes an outcome. */
void matrix_print(const struct lifecycle *l, struct buf *out);

/* The main of a table test: compares the matrix with test/table/expected/<name>.txt, which no test
 * run ever writes. With the argument "print" it prints the matrix instead. */
int matrix_main(const struct lifecycle *l, int argc, char **argv);

#endif
