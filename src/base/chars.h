/* base/chars.h: strings in memory of their own, and searches, which ISO C lacks or has only in a later edition. */
#ifndef BASE_CHARS_H
#define BASE_CHARS_H

#include "rapt/base.h"

#include <stdarg.h>
#include <stddef.h>

/* These return a new string, which the caller frees; NULL: out of memory. */
char *chars_copy(const char *text);
/* The first `most` characters, or all if there are fewer. */
char *chars_copy_part(const char *text, size_t most);
RAPT_PRINTF(1, 2)
char *chars_print(const char *format, ...);
RAPT_PRINTF(1, 0)
char *chars_print_list(const char *format, va_list values);

/* The length of a string in `size` bytes, of which no NUL need be one. */
size_t chars_length(const char *text, size_t size);
/* Where `part` is first found in `text`, or NULL; a part without bytes is found at the beginning. */
char *chars_find(const void *text, size_t size, const void *part, size_t part_size);
/* Cuts the text at *rest before the first of the separators, and moves *rest behind it, or to NULL after the last piece. Returns
 * the piece, or NULL if *rest was NULL. */
char *chars_cut(char **rest, const char *separators);
/* Whether two strings are equal but for the case of the letters A to Z. */
bool chars_alike(const char *a, const char *b);

#endif
