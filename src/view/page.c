/* view/page.c: puts the data into the page. For `rapt explain --html`. The numbers of a step go in as base64 of floats: exact,
 * a third as long as digits, and quick to read where a model has millions of them. Not the page itself: src/view/page. */
#define _GNU_SOURCE /* fopencookie */
#include "view/page.h"

#include "base/file.h"
#include "text/base64.h"
#include "view/page_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORTION = 768 }; /* floats at once: their bytes fill whole groups of three */

/* ---- numbers as letters ---- */

static bool number_of(const json_t *value, double *x)
{
    const char *word = json_string_value(value);
    *x = json_number_value(value);
    if (!word)
        return json_is_number(value);
    *x = strcmp(word, "nan") == 0 ? NAN : strcmp(word, "inf") == 0 ? INFINITY : -INFINITY;
    return !strcmp(word, "nan") || !strcmp(word, "inf") || !strcmp(word, "-inf");
}

/* The lowest byte first, whatever the machine has. */
static void put_float(char *to, rapt_real x)
{
    float narrow = (float)x;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    for (int i = 0; i < 4; i++)
        to[i] = (char)(bits >> (8 * i) & 0xff);
}

char *page_numbers(const rapt_real *x, size_t n)
{
    char bytes[4 * PORTION], *letters = malloc(BASE64_ROOM(4 * n) + 1), *to = letters;
    for (size_t i = 0; letters && i < n; i += PORTION) {
        size_t count = n - i < PORTION ? n - i : PORTION;
        for (size_t j = 0; j < count; j++)
            put_float(bytes + 4 * j, x[i + j]);
        base64_encode(bytes, 4 * count, to);
        to += BASE64_ROOM(4 * count);
    }
    if (letters)
        *to = '\0';
    return letters;
}

/* How many bytes the letters stand for; SIZE_MAX where some stand for none. */
static size_t bytes_of(const char *letters, size_t size)
{
    char bytes[4 * PORTION];
    size_t sum = 0, length;
    for (size_t i = 0; i < size; i += BASE64_ROOM(sizeof bytes)) {
        size_t portion = size - i < BASE64_ROOM(sizeof bytes) ? size - i : BASE64_ROOM(sizeof bytes);
        if (sum % sizeof bytes || !base64_decode(letters + i, portion, bytes, &length))
            return SIZE_MAX;
        sum += length;
    }
    return sum;
}

static size_t count_of(const json_t *step)
{
    const json_t *shape = json_object_get(step, "shape");
    size_t count = 1;
    for (size_t i = 0; i < json_array_size(shape); i++)
        count *= (size_t)json_integer_value(json_array_get(shape, i));
    return count;
}

static const char *name_of(const json_t *step)
{
    const char *name = json_string_value(json_object_get(step, "name"));
    return name ? name : "without a name";
}

static rapt_code fail_count(const json_t *step, size_t count, rapt_error *err)
{
    return rapt_fail(err, RAPT_SHAPE, "step %s: %zu values where its shape wants %zu", name_of(step), count, count_of(step));
}

static rapt_code take_numbers(const json_t *step, const json_t *values, rapt_real *to, rapt_error *err)
{
    double x;
    for (size_t i = 0; i < json_array_size(values); i++) {
        if (!number_of(json_array_get(values, i), &x))
            return rapt_fail(err, RAPT_FORMAT, "step %s: value %zu is not a number", name_of(step), i);
        to[i] = (rapt_real)x;
    }
    return RAPT_OK;
}

/* The values of a step as letters, in *letters. */
static rapt_code make_letters(const json_t *step, const json_t *values, json_t **letters, rapt_error *err)
{
    size_t count = json_array_size(values);
    if (count != count_of(step))
        return fail_count(step, count, err);
    rapt_real *x = malloc((count + 1) * sizeof *x);
    rapt_code code = x ? take_numbers(step, values, x, err) : rapt_fail(err, RAPT_NO_MEMORY, "out of memory");
    char *text = code == RAPT_OK ? page_numbers(x, count) : NULL;
    *letters = text ? json_stringn_nocheck(text, BASE64_ROOM(4 * count)) : NULL;
    if (code == RAPT_OK && !*letters)
        code = rapt_fail(err, RAPT_NO_MEMORY, "out of memory");
    free(text);
    free(x);
    return code;
}

/* The letters that a step came with, in *letters: one more owner. */
static rapt_code take_letters(const json_t *step, json_t *given, json_t **letters, rapt_error *err)
{
    size_t bytes = json_is_string(given) ? bytes_of(json_string_value(given), json_string_length(given)) : SIZE_MAX;
    if (bytes % 4)
        return rapt_fail(err, RAPT_FORMAT, "step %s: values_base64 is not base64 of floats", name_of(step));
    if (bytes / 4 != count_of(step))
        return fail_count(step, bytes / 4, err);
    *letters = json_incref(given);
    return RAPT_OK;
}

/* A step with letters in place of numbers: a new object that shares the rest with the old one. */
static rapt_code packed_step(json_t *step, json_t **packed, rapt_error *err)
{
    json_t *values = json_object_get(step, "values"), *given = json_object_get(step, "values_base64"), *letters = NULL;
    rapt_code code = RAPT_OK;
    *packed = json_copy(step);
    if (!*packed)
        return rapt_fail(err, RAPT_NO_MEMORY, "out of memory");
    if (given)
        code = take_letters(step, given, &letters, err);
    else if (values)
        code = make_letters(step, values, &letters, err);
    if (letters && json_object_set_new(*packed, "values", letters) != 0)
        return rapt_fail(err, RAPT_NO_MEMORY, "out of memory");
    json_object_del(*packed, "values_base64");
    return code;
}

static rapt_code packed_steps(json_t *steps, json_t *packed, rapt_error *err)
{
    rapt_code code = packed ? RAPT_OK : rapt_fail(err, RAPT_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < json_array_size(steps) && code == RAPT_OK; i++) {
        json_t *step;
        code = packed_step(json_array_get(steps, i), &step, err);
        if (code != RAPT_OK)
            json_decref(step);
        else if (json_array_append_new(packed, step) != 0)
            code = rapt_fail(err, RAPT_NO_MEMORY, "out of memory");
    }
    return code;
}

static rapt_code packed_explanation(json_t *explanation, json_t **packed, rapt_error *err)
{
    json_t *steps = json_array();
    rapt_code code = packed_steps(json_object_get(explanation, "steps"), steps, err);
    *packed = code == RAPT_OK ? json_copy(explanation) : NULL;
    if (code == RAPT_OK && (!*packed || json_object_set(*packed, "steps", steps) != 0))
        code = rapt_fail(err, RAPT_NO_MEMORY, "out of memory");
    json_decref(steps);
    return code;
}

/* ---- JSON inside HTML ---- */

/* A file that appears whole or not at all, as a stream: JSON comes in very small pieces. */
typedef struct page_file {
    file_writer writer;
    rapt_error *err;
    rapt_code code;
} page_file;

static ssize_t put_bytes(void *to, const char *data, size_t size)
{
    page_file *p = to;
    if (p->code == RAPT_OK)
        p->code = file_writer_put(&p->writer, data, size, p->err);
    return p->code == RAPT_OK ? (ssize_t)size : 0;
}

static int put(FILE *out, const void *data, size_t size)
{
    return fwrite(data, 1, size, out) == size ? 0 : -1;
}

/* In JSON a "<" can only stand in a string, where it may be written in another way: so nothing in the data ends the script
 * that holds it, or opens a comment there. */
static int put_json(const char *text, size_t size, void *to)
{
    static const char escaped[] = "\\u003c";
    for (const char *open; (open = memchr(text, '<', size)) != NULL; text = open + 1) {
        if (put(to, text, (size_t)(open - text)) != 0 || put(to, escaped, sizeof escaped - 1) != 0)
            return -1;
        size -= (size_t)(open - text) + 1;
    }
    return put(to, text, size);
}

static rapt_code put_page(page_file *p, const json_t *packed)
{
    FILE *out = fopencookie(p, "w", (cookie_io_functions_t){.write = put_bytes});
    bool done = out && put(out, page_head, page_head_size) == 0 &&
                json_dump_callback(packed, put_json, out, JSON_COMPACT | JSON_REAL_PRECISION(9)) == 0 &&
                put(out, page_tail, page_tail_size) == 0;
    done = out && fclose(out) == 0 && done;
    return p->code != RAPT_OK || done ? p->code : rapt_fail(p->err, RAPT_NO_MEMORY, "out of memory");
}

static rapt_code write_packed(const char *path, const json_t *packed, rapt_error *err)
{
    page_file p = {.err = err};
    rapt_code code = file_writer_open(&p.writer, path, err);
    if (code != RAPT_OK)
        return code;
    code = put_page(&p, packed);
    if (code == RAPT_OK)
        return file_writer_finish(&p.writer, err);
    file_writer_discard(&p.writer);
    return code;
}

rapt_code page_write(const char *path, json_t *explanation, rapt_error *err)
{
    json_t *packed;
    if (!*path)
        return rapt_fail(err, RAPT_VALUE, "the output path is empty");
    rapt_code code = packed_explanation(explanation, &packed, err);
    if (code == RAPT_OK)
        code = write_packed(path, packed, err);
    json_decref(packed);
    return code;
}
