/* test_page_numbers.c: how the numbers of an explanation stand in its page: exactly where there is room for them, else
 * rounded as page_steps.h says, or left out; what can be had from another step is told once. For
 * src/explain/page/page_steps.c, page_plan.c and page_numbers.c. The letters are read back here by the formulas of
 * page_steps.h, in double. */
#include "explain/page/page.h"
#include "explain/page/page_steps.h"

#include "text/bpe/base64.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define EVERYTHING ((size_t)1 << 30)

/* ---- steps --------------------------------------------------------------------------------------------------------- */

/* A step of a[0] x a[1] x ... numbers; `axes` as JSON. */
static json_t *step_of(const char *name, const char *shape, const char *axes, const float *x, size_t count)
{
    rapt_real *real = malloc(count * sizeof *real);
    assert_non_null(real);
    for (size_t i = 0; i < count; i++)
        real[i] = (rapt_real)x[i];
    char *letters = page_numbers(real, count);
    json_t *step = json_pack("{s:s, s:o, s:o, s:s, s:b}", "name", name, "shape", json_loads(shape, 0, NULL), "axes",
                             json_loads(axes, 0, NULL), "values_base64", letters, "gradient", 0);
    free(letters);
    free(real);
    assert_non_null(step);
    return step;
}

/* An explanation of these steps, which it takes. */
static json_t *explanation_of(json_t *first, json_t *second)
{
    json_t *steps = json_array(), *explanation = json_object();
    assert_int_equal(json_array_append_new(steps, first), 0);
    if (second)
        assert_int_equal(json_array_append_new(steps, second), 0);
    assert_int_equal(json_object_set_new(explanation, "steps", steps), 0);
    return explanation;
}

/* The steps as they stand in a page of this many letters; the explanation is given back. */
static json_t *packed(json_t *explanation, size_t letters)
{
    page_steps all;
    json_t *list = json_array();
    assert_int_equal(page_steps_read(explanation, "steps", &all, NULL), RAPT_OK);
    page_plan(&all, letters);
    for (size_t i = 0; i < all.count; i++) {
        json_t *o = json_object();
        assert_true(page_numbers_put(&all.steps[i], o));
        assert_int_equal(json_array_append_new(list, o), 0);
    }
    page_steps_free(&all);
    json_decref(explanation);
    return list;
}

static const char *word(const json_t *list, size_t i, const char *key)
{
    return json_string_value(json_object_get(json_array_get(list, i), key));
}

static unsigned char *bytes_of(const json_t *list, size_t i, const char *key, size_t *count)
{
    const char *letters = word(list, i, key);
    assert_non_null(letters);
    char *bytes = malloc(strlen(letters) + 1);
    assert_true(base64_decode(letters, strlen(letters), bytes, count));
    return (unsigned char *)bytes;
}

static double float_at(const unsigned char *b)
{
    uint32_t bits = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    float x;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

/* IEEE 754, binary16. */
static double half_at(const unsigned char *b)
{
    int bits = b[0] | b[1] << 8, exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 31 ? (fraction ? NAN : INFINITY) :
                  exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return bits & 0x8000 ? -size : size;
}

/* Numbers of many sizes, with both signs. */
static void fill(float *x, size_t count, bool negative)
{
    for (size_t i = 0; i < count; i++)
        x[i] = (float)(pow(10, -(double)(i % 7)) * (1 + (double)(i % 89) / 100) * (negative && i % 3 == 0 ? -1 : 1));
}

/* ---- formats ------------------------------------------------------------------------------------------------------- */

enum { ROWS = 6, COLUMNS = 100, COUNT = ROWS * COLUMNS };
#define TIME_FEATURE "[\"batch\",\"time\",\"feature\"]"

static json_t *packed_numbers(const float *x, size_t letters)
{
    return packed(explanation_of(step_of("encoder.0.ffn.hidden", "[1,6,100]", TIME_FEATURE, x, COUNT), NULL), letters);
}

static void test_exact_where_there_is_room(void **state)
{
    (void)state;
    float x[COUNT];
    size_t count;
    fill(x, COUNT, true);
    json_t *list = packed_numbers(x, BASE64_CAPACITY(4 * COUNT));
    assert_string_equal(word(list, 0, "format"), "exact");
    unsigned char *bytes = bytes_of(list, 0, "values", &count);
    assert_int_equal(count, 4 * COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_true(float_at(bytes + 4 * i) == (double)x[i]);
    free(bytes);
    json_decref(list);
}

static void test_half(void **state)
{
    (void)state;
    float x[COUNT];
    size_t count;
    fill(x, COUNT, true);
    x[11] = 1e-11f, x[12] = 1e-12f; /* among 1: below the normal ones */
    for (size_t i = 0; i < COUNT; i++)
        x[i] *= 1e9f;
    x[7] = INFINITY, x[8] = -INFINITY, x[9] = NAN, x[10] = 0;
    json_t *list = packed_numbers(x, BASE64_CAPACITY(4 * COUNT) - 1);
    assert_string_equal(word(list, 0, "format"), "half");
    int exponent = (int)json_integer_value(json_object_get(json_array_get(list, 0), "exponent"));
    unsigned char *bytes = bytes_of(list, 0, "values", &count);
    assert_int_equal(count, 2 * COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        double shown = ldexp(half_at(bytes + 2 * i), exponent), want = (double)x[i];
        if (isfinite(want))
            assert_true(fabs(shown - want) <= fmax(fabs(want) / 2048, ldexp(1, exponent - 25)));
        else
            assert_true(isnan(want) ? isnan(shown) : shown == want);
    }
    free(bytes);
    json_decref(list);
}

/* Each number within the bound of page_steps.h, and so are the largest and the zeros exact. */
static void check_bytes(const json_t *list, const float *x, int n)
{
    size_t count, rows;
    unsigned char *bytes = bytes_of(list, 0, "values", &count), *most = bytes_of(list, 0, "most", &rows);
    assert_int_equal(count, COUNT);
    assert_int_equal(rows, 4 * ROWS);
    for (size_t i = 0; i < COUNT; i++) {
        double m = float_at(most + 4 * (i / COLUMNS)), q = n == 127 ? (double)(signed char)bytes[i] : bytes[i];
        double shown = copysign(m * q * q / n / n, q), want = (double)x[i];
        if (isinf(want))
            assert_int_equal(bytes[i], 128);
        else
            assert_true(fabs(shown - want) <= m * (fabs(q) + 0.25001) / n / n);
        if (m > 0 && fabs(want) == m)
            assert_int_equal(fabs(q), n);
    }
    free(bytes);
    free(most);
}

static void test_bytes(void **state)
{
    (void)state;
    float x[COUNT];
    size_t room = BASE64_CAPACITY(COUNT) + BASE64_CAPACITY(4 * ROWS);
    for (int negative = 0; negative < 2; negative++) {
        fill(x, COUNT, negative);
        memset(x + COLUMNS, 0, COLUMNS * sizeof *x);
        if (negative)
            x[5] = -INFINITY;
        json_t *list = packed_numbers(x, room);
        assert_string_equal(word(list, 0, "format"), "byte");
        assert_int_equal(json_is_true(json_object_get(json_array_get(list, 0), "signed")), negative);
        check_bytes(list, x, negative ? 127 : 255);
        json_decref(list);
    }
}

static void test_left_out(void **state)
{
    (void)state;
    float x[COUNT];
    fill(x, COUNT, false);
    json_t *list = packed_numbers(x, BASE64_CAPACITY(COUNT));
    assert_string_equal(word(list, 0, "format"), "none");
    assert_null(word(list, 0, "values"));
    json_decref(list);
}

/* NaN has no place among 8 bits: 16, or nothing. */
static void test_nan_is_kept(void **state)
{
    (void)state;
    float x[COUNT];
    fill(x, COUNT, false);
    x[11] = NAN;
    json_t *list = packed_numbers(x, BASE64_CAPACITY(2 * COUNT));
    assert_string_equal(word(list, 0, "format"), "half");
    json_decref(list);
    list = packed_numbers(x, BASE64_CAPACITY(2 * COUNT) - 1);
    assert_string_equal(word(list, 0, "format"), "none");
    json_decref(list);
}

/* What tells most is the last to go, and the first to be exact; a few numbers always are. */
static void test_what_tells_most_stays(void **state)
{
    (void)state;
    float x[COUNT], few[6] = {1, 2, 3, 4, 5, 6};
    size_t bytes = BASE64_CAPACITY(COUNT) + BASE64_CAPACITY(4 * ROWS);
    fill(x, COUNT, true);
    const struct { size_t letters; const char *hidden, *sum; } cases[] = {
        {EVERYTHING, "exact", "exact"}, {BASE64_CAPACITY(4 * COUNT) + bytes, "byte", "exact"},
        {BASE64_CAPACITY(2 * COUNT) + bytes, "byte", "half"}, {2 * bytes, "byte", "byte"}, {bytes, "none", "byte"},
        {0, "none", "none"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *hidden = step_of("encoder.0.ffn.hidden", "[1,6,100]", TIME_FEATURE, x, COUNT);
        x[0] = -x[0];
        json_t *sum = step_of("encoder.0.norm1.sum", "[1,6,100]", TIME_FEATURE, x, COUNT);
        json_t *list = packed(explanation_of(hidden, sum), cases[i].letters);
        assert_string_equal(word(list, 0, "format"), cases[i].hidden);
        assert_string_equal(word(list, 1, "format"), cases[i].sum);
        json_decref(list);
    }
    json_t *list = packed(explanation_of(step_of("x", "[6]", "[\"feature\"]", few, 6), NULL), 0);
    assert_string_equal(word(list, 0, "format"), "exact");
    json_decref(list);
}

/* ---- what need not stand there --------------------------------------------------------------------------------------- */

#define QUERY_KEY "[\"batch\",\"head\",\"query\",\"key\"]"

/* Two heads of 3 x 3; the mask hides numbers above the diagonal, so that rows have 1, 2 and 3 numbers. */
static void test_what_a_mask_hides(void **state)
{
    (void)state;
    float x[18];
    size_t count;
    for (int hidden = 0; hidden < 2; hidden++) {
        for (int i = 0; i < 18; i++)
            x[i] = i % 3 > i / 3 % 3 ? hidden ? -INFINITY : 0 : (float)(i + 1);
        json_t *list = packed(explanation_of(step_of("a.weights", "[1,2,3,3]", QUERY_KEY, x, 18), NULL), EVERYTHING);
        const json_t *above = json_object_get(json_array_get(list, 0), "above");
        assert_true(hidden ? strcmp(json_string_value(above), "-inf") == 0 : json_is_integer(above));
        unsigned char *bytes = bytes_of(list, 0, "values", &count);
        static const int kept[] = {1, 4, 5, 7, 8, 9, 10, 13, 14, 16, 17, 18};
        assert_int_equal(count, 4 * 12);
        for (int i = 0; i < 12; i++)
            assert_true(float_at(bytes + 4 * i) == kept[i]);
        free(bytes);
        json_decref(list);
    }
}

/* One number above the diagonal, or another kind of axis: all are kept. */
static void test_without_a_mask(void **state)
{
    (void)state;
    float x[9] = {1, 0, 0, 1, 1, 1e-9f, 1, 1, 1}, masked[9] = {1, 0, 0, 1, 1, 0, 1, 1, 1};
    json_t *list = packed(explanation_of(step_of("a.weights", "[1,1,3,3]", QUERY_KEY, x, 9), NULL), EVERYTHING);
    assert_null(json_object_get(json_array_get(list, 0), "above"));
    json_decref(list);
    list = packed(explanation_of(step_of("a", "[1,3,3]", TIME_FEATURE, masked, 9), NULL), EVERYTHING);
    assert_null(json_object_get(json_array_get(list, 0), "above"));
    json_decref(list);
}

/* q: 3 rows of 4 columns; its heads: 2 of 3 x 2, and back. */
static void test_same_numbers_are_told_once(void **state)
{
    (void)state;
    static const float q[12] = {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23};
    static const float heads[12] = {0, 1, 10, 11, 20, 21, 2, 3, 12, 13, 22, 23};
    static const char head_axes[] = "[\"batch\",\"head\",\"query\",\"feature\"]";
    const struct { const float *first, *second; bool first_heads, second_heads, same, split; } cases[] = {
        {q, q, false, false, true, false}, {q, heads, false, true, true, true}, {heads, q, true, false, true, true},
        {q, q, false, true, false, false}, {q, heads, false, false, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *first = step_of("first", cases[i].first_heads ? "[1,2,3,2]" : "[1,3,4]",
                                cases[i].first_heads ? head_axes : TIME_FEATURE, cases[i].first, 12);
        json_t *second = step_of("second", cases[i].second_heads ? "[1,2,3,2]" : "[1,3,4]",
                                 cases[i].second_heads ? head_axes : TIME_FEATURE, cases[i].second, 12);
        json_t *list = packed(explanation_of(first, second), EVERYTHING);
        assert_non_null(word(list, 0, "values"));
        assert_int_equal(word(list, 1, "same") && strcmp(word(list, 1, "same"), "first") == 0, cases[i].same);
        assert_int_equal(word(list, 1, "values") == NULL, cases[i].same);
        assert_int_equal(json_is_true(json_object_get(json_array_get(list, 1), "split")), cases[i].split);
        json_decref(list);
    }
}

/* The first matrices are kept, in 8 bits and then in more; a small vector is exact. */
static void test_parameters_take_the_room_that_is_left(void **state)
{
    (void)state;
    static float x[3][300];
    static const struct {
        size_t letters;
        page_format formats[4];
    } cases[] = {{EVERYTHING, {PAGE_EXACT, PAGE_EXACT, PAGE_EXACT, PAGE_EXACT}},
                 {2 * 408 + 24, {PAGE_BYTE, PAGE_EXACT, PAGE_BYTE, PAGE_LEFT_OUT}},
                 {800 + 408 + 24, {PAGE_HALF, PAGE_EXACT, PAGE_BYTE, PAGE_LEFT_OUT}},
                 {407, {PAGE_LEFT_OUT, PAGE_EXACT, PAGE_LEFT_OUT, PAGE_LEFT_OUT}},
                 {0, {PAGE_LEFT_OUT, PAGE_LEFT_OUT, PAGE_LEFT_OUT, PAGE_LEFT_OUT}}};
    for (size_t i = 0; i < 900; i++)
        x[i / 300][i % 300] = (float)i - 100;
    json_t *explanation = explanation_of(step_of("a", "[1,300]", "[]", x[0], 300), step_of("bias", "[4]", "[]", x[0], 4));
    json_t *list = json_object_get(explanation, "steps");
    assert_int_equal(json_array_append_new(list, step_of("b", "[1,300]", "[]", x[1], 300)), 0);
    assert_int_equal(json_array_append_new(list, step_of("c", "[1,300]", "[]", x[2], 300)), 0);
    assert_int_equal(json_object_set(explanation, "parameters", list), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        page_steps all;
        assert_int_equal(page_steps_read(explanation, "parameters", &all, NULL), RAPT_OK);
        page_plan_parameters(&all, cases[i].letters);
        for (size_t j = 0; j < 4; j++)
            assert_int_equal(all.steps[j].format, cases[i].formats[j]);
        page_steps_free(&all);
    }
    json_decref(explanation);
}

/* Their memory is given back as soon as they are found. */
static void test_what_has_a_source_takes_no_memory(void **state)
{
    (void)state;
    static const float x[12] = {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23};
    page_steps all;
    json_t *explanation = explanation_of(step_of("first", "[1,3,4]", TIME_FEATURE, x, 12),
                                         step_of("second", "[1,3,4]", TIME_FEATURE, x, 12));
    assert_int_equal(page_steps_read(explanation, "steps", &all, NULL), RAPT_OK);
    assert_non_null(all.steps[0].x);
    assert_null(all.steps[0].source);
    assert_null(all.steps[1].x);
    assert_string_equal(all.steps[1].source, "first");
    assert_true(all.steps[1].known);
    page_steps_free(&all);
    json_decref(explanation);
}

/* Columns of the tokens that the page names, out of 100,000: 7 and 99,999 are most probable, 41 follows. */
static void test_columns_of_a_large_vocabulary(void **state)
{
    (void)state;
    enum { VOCAB = 100 * 1000, TOKENS = 3 };
    float *x = malloc(TOKENS * VOCAB * sizeof *x);
    size_t count;
    for (int i = 0; i < TOKENS * VOCAB; i++)
        x[i] = (float)i;
    json_t *step = step_of("output", "[1,3,100000]", "[\"batch\",\"time\",\"token\"]", x, TOKENS * VOCAB);
    json_t *explanation = explanation_of(step, NULL);
    json_t *predictions = json_loads("[{\"tokens\":[{\"id\":99999},{\"id\":7}],\"next\":{\"id\":41}},{\"tokens\":[{\"id\":7}]},"
                                     "{\"tokens\":[{\"id\":100000},{\"id\":-1}]}]", 0, NULL);
    assert_int_equal(json_object_set_new(explanation, "predictions", predictions), 0);
    json_t *list = packed(explanation, EVERYTHING);
    static const int kept[] = {7, 41, 99999};
    const json_t *columns = json_object_get(json_array_get(list, 0), "kept");
    assert_int_equal(json_array_size(columns), 3);
    unsigned char *bytes = bytes_of(list, 0, "values", &count);
    assert_int_equal(count, 4 * TOKENS * 3);
    for (size_t i = 0; i < TOKENS * 3; i++) {
        assert_int_equal(json_integer_value(json_array_get(columns, i % 3)), kept[i % 3]);
        assert_true(float_at(bytes + 4 * i) == (double)(i / 3 * VOCAB + (size_t)kept[i % 3]));
    }
    free(bytes);
    free(x);
    json_decref(list);
}

/* A large vocabulary's matrices have only the rows of the page's tokens: an encoder's, the source's tokens 1 and 49,999; the
 * output's, the token that was read, 3, and the one that may follow, 2. With "full" all rows. */
static void test_rows_of_a_large_vocabulary(void **state)
{
    (void)state;
    enum { VOCAB = 50 * 1000, WIDTH = 4 };
    static const char *const names[] = {"encoder.embedding.weight", "decoder.output.weight", "decoder.0.attention.output.weight"};
    static const int kept[][2] = {{1, VOCAB - 1}, {2, 3}};
    float *x = malloc(VOCAB * WIDTH * sizeof *x);
    size_t count;
    for (int i = 0; i < VOCAB * WIDTH; i++)
        x[i] = (float)i;
    for (size_t n = 0; n < 6; n++) {
        json_t *step = step_of(names[n % 3], "[50000,4]", "[\"row\",\"column\"]", x, VOCAB * WIDTH);
        json_object_set_new(step, "gradient", json_true());
        json_t *other = step_of("decoder.embedding.weight", "[1]", "[\"row\"]", x, 1); /* not tied */
        json_t *explanation = explanation_of(step, other);
        json_object_update_new(explanation, json_loads("{\"sequences\":{\"source\":[{\"id\":49999},{\"id\":1}],\"target\":"
                                                       "[{\"id\":3}]},\"predictions\":[{\"tokens\":[{\"id\":2}]}]}", 0, NULL));
        if (n >= 3)
            json_object_set_new(explanation, "full", json_true());
        json_t *list = packed(explanation, EVERYTHING), *rows = json_object_get(json_array_get(list, 0), "kept_rows");
        bool all = n >= 2;
        unsigned char *bytes = bytes_of(list, 0, "values", &count);
        assert_int_equal(json_array_size(rows), all ? 0 : 2);
        assert_int_equal(count, 4 * WIDTH * (all ? VOCAB : 2));
        for (size_t i = 0; !all && i < 2 * WIDTH; i++) {
            assert_int_equal(json_integer_value(json_array_get(rows, i / WIDTH)), kept[n][i / WIDTH]);
            assert_true(float_at(bytes + 4 * i) == (double)(kept[n][i / WIDTH] * WIDTH + (int)(i % WIDTH)));
        }
        free(bytes);
        json_decref(list);
    }
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_where_there_is_room),
        cmocka_unit_test(test_half),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_nan_is_kept),
        cmocka_unit_test(test_what_tells_most_stays),
        cmocka_unit_test(test_what_a_mask_hides),
        cmocka_unit_test(test_without_a_mask),
        cmocka_unit_test(test_same_numbers_are_told_once),
        cmocka_unit_test(test_what_has_a_source_takes_no_memory),
        cmocka_unit_test(test_parameters_take_the_room_that_is_left),
        cmocka_unit_test(test_columns_of_a_large_vocabulary),
        cmocka_unit_test(test_rows_of_a_large_vocabulary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
