/* Files of the tree that tests compare with what programs print. Tests run from the top of it. */
#pragma once

/* The whole text of a file, which the caller frees; NULL when it cannot be read. */
char *page_read(const char *path);

/* Fails the test, naming the first line that differs and the command that prints the file again,
 * when the file is not this text. */
void page_equals(const char *path, const char *text, const char *command);
