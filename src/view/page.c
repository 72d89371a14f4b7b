/* view/page.c: puts the data into the page. For `rapt explain --html`. The numbers of a step go in as base64 of floats: exact,
 * a third as long as digits, and quick to read where a model has millions of them. Not the page itself: src/view/page. */
#include "view/page.h"

#include "base/file.h"
#include "text/base64.h"
#include "view/page_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
static void put_float(char *to, double x)
{
    float narrow = (float)x;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    for (int i = 0; i < 4; i++)
        to[i] = (char)(bits >> (8 * i) & 0xff);
}

static size_t count_of(const json_t *step)
{
    const json_t *shape = json_object_get(step, "shape");
    size_t count = 1;
    for (size_t i = 0; i < json_array_size(shape); i++)
        count *= (size_t)json_integer_value(json_array_get(shape, i));
    return count;
}

static rapt_code pack(const json_t *step, const json_t *values, char *bytes, rapt_error *err)
{
    const char *name = json_string_value(json_object_get(step, "name"));
    double x;
    for (size_t i = 0; i < json_array_size(values); i++) {
        if (!number_of(json_array_get(values, i), &x))
            return rapt_fail(err, RAPT_FORMAT, "step %s: value %zu is not a number", name ? name : "without a name", i);
        put_float(bytes + 4 * i, x);
    }
    return RAPT_OK;
}

/* A string of base64 for the values of a step, in *letters. */
static rapt_code letters_of(const json_t *step, const json_t *values, json_t **letters, rapt_error *err)
{
    size_t count = json_array_size(values), room = BASE64_ROOM(4 * count);
    char *bytes = malloc(4 * count + 1), *text = malloc(room + 1);
    rapt_code code = bytes && text ? pack(step, values, bytes, err) : rapt_fail(err, RAPT_NO_MEMORY, "out of memory");
    if (code == RAPT_OK) {
        base64_encode(bytes, 4 * count, text);
        *letters = json_stringn_nocheck(text, room);
        code = *letters ? RAPT_OK : rapt_fail(err, RAPT_NO_MEMORY, "out of memory");
    }
    free(bytes);
    free(text);
    return code;
}

/* The explanation with letters in place of numbers: a new object that shares the rest with the old one. */
static rapt_code packed_step(json_t *step, json_t **packed, rapt_error *err)
{
    json_t *values = json_object_get(step, "values"), *letters;
    *packed = json_copy(step);
    if (!*packed)
        return rapt_fail(err, RAPT_NO_MEMORY, "out of memory");
    if (!values)
        return RAPT_OK;
    if (json_array_size(values) != count_of(step))
        return rapt_fail(err, RAPT_SHAPE, "step %s: %zu values where its shape wants %zu",
                         json_string_value(json_object_get(step, "name")), json_array_size(values), count_of(step));
    rapt_code code = letters_of(step, values, &letters, err);
    if (code == RAPT_OK && json_object_set_new(*packed, "values", letters) != 0)
        return rapt_fail(err, RAPT_NO_MEMORY, "out of memory");
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

typedef struct page_text {
    char *data;
    size_t size, room;
} page_text;

static int put(page_text *to, const void *data, size_t size)
{
    if (to->room - to->size < size) {
        size_t room = 2 * (to->size + size);
        char *moved = realloc(to->data, room);
        if (!moved)
            return -1;
        to->data = moved;
        to->room = room;
    }
    memcpy(to->data + to->size, data, size);
    to->size += size;
    return 0;
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

rapt_code page_write(const char *path, json_t *explanation, rapt_error *err)
{
    page_text page = {0};
    json_t *packed;
    rapt_code code = packed_explanation(explanation, &packed, err);
    if (code == RAPT_OK && (put(&page, page_head, page_head_size) != 0 ||
                            json_dump_callback(packed, put_json, &page, JSON_COMPACT | JSON_REAL_PRECISION(9)) != 0 ||
                            put(&page, page_tail, page_tail_size) != 0))
        code = rapt_fail(err, RAPT_NO_MEMORY, "out of memory");
    if (code == RAPT_OK)
        code = file_write_atomic(path, page.data, page.size, err);
    json_decref(packed);
    free(page.data);
    return code;
}
