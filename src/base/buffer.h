/* base/buffer.h: arrays and texts that grow. The one place where a growing array is reallocated: callers keep pointer, count
 * and capacity as they like, or use a `buffer` for bytes. */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include "rapt/base.h"

#include <stdlib.h>
#include <string.h>

/* Gives *array the capacity for `count` elements of `size` bytes (a pointer variable of any type, passed by address), doubling
 * *capacity. Does nothing if the capacity suffices. Out of memory: returns false and changes nothing. New elements are
 * undefined. */
bool array_grow(void *array, size_t *capacity, size_t count, size_t size);

/* array_grow for the element type of `array`, without a call if the capacity suffices. */
#define ARRAY_RESERVE(array, capacity, count) \
    ((count) <= *(capacity) || array_grow((array), (capacity), (count), sizeof **(array)))

/* Bytes; a zeroed struct is empty. A NUL follows the `size` bytes of `data`, which is NULL until something was reserved. */
typedef struct buffer {
    char *data;
    size_t size, capacity; /* capacity: with the NUL */
} buffer;

/* Makes room for `more` bytes and a NUL after the present bytes. The caller may write there before it raises `size`. Returns
 * false if out of memory; the buffer is then unchanged. */
bool buffer_reserve(buffer *b, size_t more);
bool buffer_append(buffer *b, const void *data, size_t size);
void buffer_free(buffer *b); /* the buffer is empty afterwards */

/* A buffer that remembers that something was lost: from then on nothing is added. Writers look at `failed` once, at their end.
 * Zeroed: empty. */
typedef struct buffer_writer {
    buffer bytes;
    bool failed;
} buffer_writer;

void buffer_put(buffer_writer *w, const void *data, size_t size);
RAPT_PRINTF(2, 3)
void buffer_print(buffer_writer *w, const char *format, ...);

#endif
