/* explain/page/page_steps.c: reads steps from the explanation's JSON. Redundancy (a mask's triangle, heads that are columns of
 * another step) is found in the elements themselves, not by names. */
#include "explain/page/page_steps.h"

#include "text/bpe/base64.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PORTION = 768 }; /* floats that are decoded at once */

static rapt_code out_of_memory(rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory");
}

/* ---- elements ------------------------------------------------------------------------------------------------------ */

static bool number_of(const json_t *value, double *x)
{
    const char *word = json_string_value(value);
    *x = json_number_value(value);
    if (!word)
        return json_is_number(value);
    *x = strcmp(word, "nan") == 0 ? NAN : strcmp(word, "inf") == 0 ? INFINITY : -INFINITY;
    return !strcmp(word, "nan") || !strcmp(word, "inf") || !strcmp(word, "-inf");
}

static rapt_code read_list(page_step *s, const json_t *values, rapt_error *err)
{
    double x;
    for (size_t i = 0; i < json_array_size(values); i++) {
        if (!number_of(json_array_get(values, i), &x))
            return rapt_fail(err, RAPT_ERR_FORMAT, "step %s: value %zu is not a number", s->name, i);
        s->x[i] = (float)x;
    }
    return RAPT_OK;
}

static float float_at(const char *bytes)
{
    uint32_t bits = 0;
    float x;
    for (int i = 0; i < 4; i++)
        bits |= (uint32_t)(unsigned char)bytes[i] << (8 * i);
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The number of floats in the letters, which are written to s->x unless it is NULL; SIZE_MAX if the letters are invalid. */
static size_t read_letters(page_step *s, const char *letters, size_t size)
{
    char bytes[4 * PORTION];
    size_t sum = 0, length, portion = BASE64_CAPACITY(sizeof bytes);
    for (size_t i = 0; i < size; i += portion) {
        size_t now = size - i < portion ? size - i : portion;
        if (sum % PORTION || !base64_decode(letters + i, now, bytes, &length) || length % 4)
            return SIZE_MAX;
        for (size_t j = 0; s->x && j < length / 4; j++)
            s->x[sum + j] = float_at(bytes + 4 * j);
        sum += length / 4;
    }
    return sum;
}

static size_t page_steps_size_of(const page_step *s)
{
    return s->groups * s->rows * s->columns;
}

static rapt_code read_numbers(page_step *s, const json_t *values, const json_t *letters, rapt_error *err)
{
    const char *text = json_string_value(letters);
    size_t length = json_string_length(letters), count = text ? read_letters(s, text, length) : json_array_size(values);
    if (letters && (!text || count == SIZE_MAX))
        return rapt_fail(err, RAPT_ERR_FORMAT, "step %s: values_base64 is not base64 of floats", s->name);
    if (count != page_steps_size_of(s))
        return rapt_fail(err, RAPT_ERR_SHAPE, "step %s: %zu values where its shape wants %zu", s->name, count,
                         page_steps_size_of(s));
    s->x = malloc((count + 1) * sizeof *s->x);
    if (!s->x)
        return out_of_memory(err);
    s->known = true;
    if (!text)
        return read_list(s, values, err);
    read_letters(s, text, length);
    return RAPT_OK;
}

/* ---- what is in them ----------------------------------------------------------------------------------------------- */

static void find_kinds(page_step *s)
{
    for (size_t i = 0; i < page_steps_size_of(s); i++) {
        s->negative = s->negative || s->x[i] < 0;
        s->odd = s->odd || isnan(s->x[i]) || (isinf(s->x[i]) && s->x[i] > 0);
    }
}

/* Compares bits, so that 0 and -0 differ. */
static bool same_bits(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void find_lower(page_step *s)
{
    size_t n = s->rows;
    if (n != s->columns || n < 2 || s->groups == 0)
        return;
    s->above = s->x[1];
    s->lower = same_bits(s->above, 0) || (isinf(s->above) && s->above < 0);
    for (size_t i = 0; s->lower && i < page_steps_size_of(s); i++)
        s->lower = i % n <= i / n % n || same_bits(s->x[i], s->above);
}

/* [heads, rows, width] against [rows, heads, width]. */
static bool is_split(const page_step *whole, const page_step *heads)
{
    size_t width = heads->columns, columns = heads->groups * width;
    if (whole->groups != 1 || heads->groups < 2 || whole->rows != heads->rows || whole->columns != columns)
        return false;
    for (size_t i = 0; i < page_steps_size_of(heads); i++)
        if (!same_bits(heads->x[i],
                       whole->x[i / width % heads->rows * columns + i / width / heads->rows * width + i % width]))
            return false;
    return true;
}

static bool is_equal(const page_step *a, const page_step *b)
{
    return a->groups == b->groups && a->rows == b->rows && a->columns == b->columns &&
           memcmp(a->x, b->x, page_steps_size_of(a) * sizeof *a->x) == 0;
}

/* A step with the elements of an earlier one is stored once. */
static void page_steps_find_source(const page_steps *all, page_step *s)
{
    for (size_t i = (size_t)(s - all->steps); i-- > 0 && !s->source;) {
        const page_step *other = &all->steps[i];
        bool fits = other->x && !other->source && !other->kept && !other->gradient && page_steps_size_of(other) > 0;
        s->split = fits && (is_split(other, s) || is_split(s, other));
        if (fits && (s->split || is_equal(other, s)))
            s->source = other->name;
    }
}

/* ---- all of them --------------------------------------------------------------------------------------------------- */

static void take_shape(page_step *s)
{
    const json_t *shape = json_object_get(s->json, "shape"), *gradient = json_object_get(s->json, "gradient");
    const char *name = json_string_value(json_object_get(s->json, "name"));
    const json_t *words = json_object_get(s->json, "axes");
    const char *axis = json_string_value(json_array_get(words, json_array_size(words) - 1));
    size_t axes = json_array_size(shape);
    s->axis = axis ? axis : "";
    s->name = name ? name : "without a name";
    s->gradient = json_is_true(gradient);
    s->groups = s->rows = s->columns = 1;
    for (size_t i = 0; i < axes; i++) {
        size_t *part = i + 1 == axes ? &s->columns : i + 2 == axes ? &s->rows : &s->groups;
        *part *= (size_t)json_integer_value(json_array_get(shape, i));
    }
    if (json_object_get(s->json, "kept"))
        s->columns = json_array_size(json_object_get(s->json, "kept"));
    if (json_object_get(s->json, "kept_rows"))
        s->rows = json_array_size(json_object_get(s->json, "kept_rows"));
}

static rapt_code page_steps_read_step(const json_t *explanation, const page_steps *all, page_step *s, rapt_error *err)
{
    const json_t *values = json_object_get(s->json, "values"), *letters = json_object_get(s->json, "values_base64");
    take_shape(s);
    rapt_code code = values || letters ? read_numbers(s, values, letters, err) : RAPT_OK;
    if (code != RAPT_OK || !s->known)
        return code;
    find_kinds(s);
    if (strcmp(s->axis, "key") == 0)
        find_lower(s);
    if (!s->gradient)
        page_steps_find_source(all, s);
    if (!s->source)
        return json_is_true(json_object_get(explanation, "full")) ? RAPT_OK : page_vocab_cut(explanation, s, err);
    free(s->x); /* no step is compared with a step that has a source */
    s->x = NULL;
    return RAPT_OK;
}

rapt_code page_steps_read(const json_t *explanation, const char *key, page_steps *all, rapt_error *err)
{
    json_t *steps = json_object_get(explanation, key);
    size_t count = json_array_size(steps);
    *all = (page_steps){.steps = calloc(count + 1, sizeof *all->steps), .count = count};
    rapt_code code = all->steps ? RAPT_OK : out_of_memory(err);
    for (size_t i = 0; i < count && code == RAPT_OK; i++) {
        all->steps[i].json = json_array_get(steps, i);
        code = page_steps_read_step(explanation, all, &all->steps[i], err);
    }
    return code;
}

void page_steps_free(page_steps *all)
{
    for (size_t i = 0; all->steps && i < all->count; i++) {
        free(all->steps[i].x);
        free(all->steps[i].kept);
        free(all->steps[i].kept_rows);
    }
    free(all->steps);
}

size_t page_step_stored(const page_step *s)
{
    return s->lower ? s->groups * (s->rows * (s->rows + 1) / 2) : page_steps_size_of(s);
}
