/* base/buffer.c: arrays and texts that grow by doubling, so that n appended elements cost O(n) in all. For data of unknown size;
 * data that lives as long as a pass or a model belongs in an arena. */
#include "base/buffer.h"

#include <stdarg.h>
#include <stdio.h>

enum { MIN_BYTES = 64 };

bool array_grow(void *array, size_t *capacity, size_t count, size_t size)
{
    void *old, *moved;
    size_t doubled = *capacity > SIZE_MAX / 2 ? SIZE_MAX : 2 * *capacity, bytes;
    size_t wanted = count > doubled ? count : doubled, min = size < MIN_BYTES ? MIN_BYTES / size : 1;
    wanted = wanted > min ? wanted : min;
    if (count <= *capacity)
        return true;
    memcpy(&old, array, sizeof old); /* `array` points to a pointer of any type: memcpy does not break the aliasing rules */
    if (__builtin_mul_overflow(wanted, size, &bytes) || !(moved = realloc(old, bytes)))
        return false;
    memcpy(array, &moved, sizeof moved);
    *capacity = wanted;
    return true;
}

bool buffer_reserve(buffer *b, size_t more)
{
    size_t wanted;
    if (__builtin_add_overflow(b->size, more, &wanted) || wanted == SIZE_MAX ||
        !ARRAY_RESERVE(&b->data, &b->capacity, wanted + 1))
        return false;
    b->data[b->size] = '\0';
    return true;
}

bool buffer_append(buffer *b, const void *data, size_t size)
{
    if (!buffer_reserve(b, size))
        return false;
    if (size > 0)
        memcpy(b->data + b->size, data, size);
    b->size += size;
    b->data[b->size] = '\0';
    return true;
}

void buffer_put(buffer_writer *w, const void *data, size_t size)
{
    w->failed = w->failed || !buffer_append(&w->bytes, data, size);
}

void buffer_print(buffer_writer *w, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    const int size = vsnprintf(NULL, 0, format, values);
    va_end(values);
    w->failed = w->failed || size < 0 || !buffer_reserve(&w->bytes, (size_t)size);
    if (w->failed)
        return;
    va_start(values, format);
    vsnprintf(w->bytes.data + w->bytes.size, (size_t)size + 1, format, values);
    va_end(values);
    w->bytes.size += (size_t)size;
}

void buffer_free(buffer *b)
{
    free(b->data);
    *b = (buffer){0};
}
