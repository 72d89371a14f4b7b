/* base/terminal.h: a program's streams and arguments as the system gives them, and its terminal. For programs, not for the
 * library. */
#ifndef BASE_TERMINAL_H
#define BASE_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Call it first in main(). A standard stream that is closed takes its number from no file that is opened later, and a reader that
 * goes away ends the program. On Windows streams carry the bytes that are written, consoles show and read UTF-8, and the
 * arguments become UTF-8. */
void terminal_start(int *argc, char ***argv);

/* Ends the program at once, without what atexit was told, which may be what calls it. */
_Noreturn void terminal_exit(int status);

bool terminal_is(int descriptor);
/* 0: not known, or the stream goes elsewhere. */
size_t terminal_columns(FILE *stream);
/* The kind of the terminal, as in the variable TERM; "dumb" if it cannot move the cursor; NULL: not known. */
const char *terminal_kind(void);
/* read() of a terminal, from which Windows reads no UTF-8 otherwise: returns a count of bytes, 0 at the end, or -1 with errno
 * set. */
ptrdiff_t terminal_read(int descriptor, void *to, size_t size);

#endif
