/* tests/io/test_weights.c: tensors of other programs' files against what those programs say is in them.
 * For src/io/weights. tests/golden/weights is made by tools/make_weights.py with PyTorch, safetensors and huggingface_hub.
 * Indices that do not fit their shards are in test_weights_index.c, damaged files in test_safetensors.c and test_torch_file.c.
 * labels: threads arm-first */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "io/weights_folder.h"

#define GOLDEN RAPT_SOURCE_DIR "/tests/golden/weights/"

static weights *golden_weights(const char *name)
{
    rapt_error err = {0};
    weights *w;
    char path[1024];
    snprintf(path, sizeof path, GOLDEN "%s", name);
    rapt_code code = weights_open(path, &w, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(code, RAPT_OK);
    return w;
}

/* The tensor's values, which the caller frees. */
static float *values_of(const weights *w, const weights_tensor *t)
{
    rapt_error err = {0};
    float *values = malloc((t->elements + 1) * sizeof *values);
    values[t->elements] = 12345; /* written by nobody */
    assert_int_equal(weights_read(w, t, values, &err), RAPT_OK);
    assert_string_equal(err.message, "");
    assert_true(values[t->elements] == 12345);
    return values;
}

/* Compares, bit by bit, every tensor of values.safetensors that `w` has; how many those are. */
static size_t compare_values(const weights *w)
{
    rapt_error err = {0};
    safetensors *expected;
    size_t compared = 0;
    assert_int_equal(safetensors_open(GOLDEN "values.safetensors", &expected, &err), RAPT_OK);
    for (size_t i = 0; i < safetensors_count(expected); i++) {
        const safetensors_entry *e = safetensors_at(expected, i);
        const weights_tensor *t = weights_find(w, e->name);
        if (!t)
            continue;
        assert_int_equal(t->ndim, e->ndim);
        for (int d = 0; d < t->ndim; d++)
            assert_int_equal(t->shape[d], e->shape[d]);
        float *values = values_of(w, t);
        if (memcmp(values, e->data, e->bytes) != 0)
            fail_msg("%s differs", e->name);
        assert_int_equal(weights_check_finite(w, t, NULL, NULL), RAPT_OK);
        free(values);
        compared++;
    }
    safetensors_close(expected);
    return compared;
}

/* Names and types that tools/make_weights.py wrote. */
static void check_integers(const weights *w)
{
    static const struct {
        const char *name;
        safetensors_dtype dtype;
        size_t elements;
        const char *bytes;
    } wanted[] = {
        {"int64", SAFETENSORS_I64, 2, "\0\0\0\0\0\1\0\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"},
        {"int32", SAFETENSORS_I32, 2, "\7\0\0\0\xF8\xFF\xFF\xFF"},
        {"int16", SAFETENSORS_I16, 1, "\xD4\xFE"},
        {"int8", SAFETENSORS_I8, 3, "\xFD\3\1"},
        {"uint8", SAFETENSORS_U8, 1, "\xFF"},
        {"bool", SAFETENSORS_BOOL, 2, "\1\0"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        rapt_error err = {0};
        float unread[2];
        const weights_tensor *t = weights_find(w, wanted[i].name);
        assert_non_null(t);
        assert_int_equal(t->dtype, wanted[i].dtype);
        assert_int_equal(t->elements, wanted[i].elements);
        assert_true(t->row_major);
        assert_memory_equal(t->data, wanted[i].bytes, t->bytes);
        assert_int_equal(weights_check_finite(w, t, NULL, &err), RAPT_OK);
        assert_int_equal(weights_read(w, t, unread, &err), RAPT_ERR_FORMAT);
        assert_non_null(strstr(err.message, "not of floating-point numbers"));
        assert_non_null(strstr(err.message, wanted[i].name));
    }
}

/* 7 x 5 and the ends of four types, the scalar and three numbers. */
enum { REALS = 11, REAL_ELEMENTS = 4 * 35 + 7 + 6 + 6 + 6 + 1 + 3, VIEWS = 8 };

static void safetensors_of_pytorch(void **state)
{
    (void)state;
    weights *w = golden_weights("model.safetensors");
    assert_int_equal(weights_count(w), REALS + 6);
    assert_int_equal(compare_values(w), REALS);
    assert_int_equal(weights_parameters(w), REAL_ELEMENTS);
    assert_int_equal(weights_find(w, "bfloat16.ends")->dtype, SAFETENSORS_BF16);
    assert_int_equal(weights_find(w, "scalar")->dtype, SAFETENSORS_F16);
    assert_null(weights_note(w));
    check_integers(w);
    weights_close(w);
}

/* Four of the views show the whole of one storage or a part of it; one view and the parameter have their own. */
static void check_torch_file(const char *name)
{
    weights *w = golden_weights(name);
    assert_int_equal(weights_count(w), REALS + 6 + VIEWS);
    assert_int_equal(compare_values(w), REALS + VIEWS);
    assert_false(weights_find(w, "view.transposed")->row_major);
    assert_false(weights_find(w, "view.every_second")->row_major);
    assert_false(weights_find(w, "view.columns")->row_major);
    assert_false(weights_find(w, "view.permuted")->row_major);
    assert_true(weights_find(w, "view.rows")->row_major);
    assert_ptr_equal(weights_find(w, "tied")->data, weights_find(w, "view.whole")->data);
    assert_string_equal(weights_at(w, 0)->name, "float16.ends"); /* in the order of the dict */
    check_integers(w);
    weights_close(w);
}

static void a_file_of_torch_save(void **state)
{
    (void)state;
    check_torch_file("pytorch_model.bin");
}

static bool same_bytes(const weights_tensor *a, const weights_tensor *b)
{
    bool same = a->dtype == b->dtype && a->ndim == b->ndim && a->bytes == b->bytes && a->row_major == b->row_major;
    same = same && memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) == 0 &&
           memcmp(a->stride, b->stride, (size_t)a->ndim * sizeof *a->stride) == 0;
    return same && (!a->row_major || memcmp(a->data, b->data, a->bytes) == 0);
}

static void a_file_of_torch_save_before_1_6(void **state)
{
    (void)state;
    check_torch_file("before_1_6.bin");
    weights *older = golden_weights("before_1_6.bin"), *newer = golden_weights("pytorch_model.bin");
    assert_int_equal(weights_parameters(older), weights_parameters(newer));
    for (size_t i = 0; i < weights_count(newer); i++) {
        assert_string_equal(weights_at(older, i)->name, weights_at(newer, i)->name);
        assert_true(same_bytes(weights_at(older, i), weights_at(newer, i)));
    }
    weights_close(older);
    weights_close(newer);
}

static void shards_of_both_kinds(void **state)
{
    (void)state;
    static const char *const folders[] = {"shards", "shards_bin", "shards/model.safetensors.index.json",
                                          "shards_bin/pytorch_model.bin.index.json"};
    for (size_t i = 0; i < 4; i++) {
        weights *w = golden_weights(folders[i]);
        assert_true(weights_file_count(w) > 2);
        assert_int_equal(weights_count(w), REALS);
        assert_int_equal(compare_values(w), REALS);
        assert_int_equal(weights_parameters(w), REAL_ELEMENTS);
        assert_null(weights_note(w));
        assert_null(weights_find(w, "none"));
        weights_close(w);
    }
}

/* That folder has both, and the first has no views. */
static void safetensors_are_preferred(void **state)
{
    (void)state;
    weights *w = golden_weights(".");
    assert_int_equal(weights_file_count(w), 1);
    assert_non_null(strstr(weights_file_path(w, 0), "model.safetensors"));
    assert_null(weights_find(w, "tied"));
    weights_close(w);
}

/* What PyTorch itself wrote of things that are no dict of plain tensors. */
static void torch_files_that_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *says;
    } cases[] = {
        {"command", "the pickle calls posix.system; only tensors are read, and nothing of it is run"},
        {"checkpoint", "\"epoch\" is an integer, not a tensor; is this a checkpoint of a training run?"},
        {"list", "it holds a list, not a dict of tensors"},
        {"nested", "\"model\" is a dict, not a tensor"},
        {"complex", "the pickle calls torch.ComplexFloatStorage"},
        {"float8", "the pickle calls torch"},
        {"sparse", "the pickle calls torch"},
        {"quantized", "the pickle calls torch"},
        {"module", "the pickle calls torch.nn.modules.linear.Linear"},
        {"protocol_4", "not of protocol 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        weights *w;
        char path[1024];
        snprintf(path, sizeof path, GOLDEN "refused/%s.bin", cases[i].name);
        assert_int_equal(weights_open(path, &w, &err), RAPT_ERR_FORMAT);
        assert_null(w);
        assert_int_equal(strncmp(err.message, path, strlen(path)), 0);
        if (!strstr(err.message, cases[i].says))
            fail_msg("\"%s\" lacks \"%s\"", err.message, cases[i].says);
    }
}

/* Each line of headers.txt is accepted or refused as the reference implementation does it. */
static void headers_as_the_reference_reads_them(void **state)
{
    (void)state;
    FILE *file = fopen(GOLDEN "headers.txt", "r");
    char *line = NULL;
    size_t capacity = 0, lines = 0, accepted = 0;
    assert_non_null(file);
    while (getline(&line, &capacity, file) > 0) {
        rapt_error err = {0};
        safetensors *s;
        char *tab = strchr(line, '\t'), *header = strchr(tab + 1, '\t') + 1;
        bool accepts = strncmp(line, "accepted", 8) == 0;
        size_t data = strtoul(tab, NULL, 10);
        uint64_t length = strlen(header) - 1;
        char *bytes = calloc(8 + length + data, 1);
        memcpy(bytes, &length, 8);
        memcpy(bytes + 8, header, length);
        rapt_code code = safetensors_parse("m", bytes, 8 + length + data, &s, &err);
        if ((code == RAPT_OK) != accepts)
            fail_msg("%.*s: %s", (int)length, header, accepts ? err.message : "is accepted");
        safetensors_close(s);
        lines++;
        accepted += accepts;
    }
    assert_true(lines > 60 && accepted > 15);
    free(line);
    fclose(file);
}

/* ---- values -------------------------------------------------------------------------------------------------- */

/* Every binary16 and bfloat16 by their definitions: (-1)^sign 2^(exponent - bias) 1.fraction, and subnormal numbers. */
static double half_by_definition(unsigned bits, int exponent_bits, int fraction_bits)
{
    const int bias = (1 << (exponent_bits - 1)) - 1, exponent = (int)(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    const double fraction = (double)(bits & ((1u << fraction_bits) - 1)), sign = bits >> 15 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1)
        return fraction == 0 ? sign * (double)INFINITY : (double)NAN;
    if (exponent == 0)
        return sign * ldexp(fraction, 1 - bias - fraction_bits);
    return sign * ldexp(fraction + ldexp(1, fraction_bits), exponent - bias - fraction_bits);
}

static void every_half_is_exact(void **state)
{
    (void)state;
    static uint16_t all[65536];
    static float values[65536];
    for (unsigned i = 0; i < 65536; i++)
        all[i] = (uint16_t)i;
    const struct {
        safetensors_dtype dtype;
        int exponent, fraction;
    } types[] = {{SAFETENSORS_F16, 5, 10}, {SAFETENSORS_BF16, 8, 7}};
    for (int type = 0; type < 2; type++) {
        const safetensors_entry entry = {"all", types[type].dtype, 2, {256, 256}, all, sizeof all};
        weights *w;
        assert_int_equal(safetensors_write(folder_in("all.safetensors"), &entry, 1, NULL, NULL), RAPT_OK);
        assert_int_equal(weights_open(folder_in("all.safetensors"), &w, NULL), RAPT_OK);
        assert_int_equal(weights_read(w, weights_at(w, 0), values, NULL), RAPT_OK);
        for (unsigned i = 0; i < 65536; i++) {
            double wanted = half_by_definition(i, types[type].exponent, types[type].fraction);
            if (isnan(wanted) ? !isnan(values[i]) : (double)values[i] != wanted || !signbit(values[i]) != !(i >> 15))
                fail_msg("%s %04x is %g, not %g", safetensors_dtype_name(types[type].dtype), i, (double)values[i], wanted);
        }
        weights_close(w);
    }
}

/* Headers of older writers end anywhere; the tensors are then read where they are. */
static void unaligned_tensors(void **state)
{
    (void)state;
    const char *header = "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                         "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[1,9]},"
                         "\"c\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[9,11]}}";
    const float two[2] = {1.5f, -3};
    char bytes[512] = {0};
    uint64_t length = strlen(header);
    float values[2];
    weights *w;
    memcpy(bytes, &length, 8);
    memcpy(bytes + 8, header, length);
    memcpy(bytes + 8 + length + 1, two, sizeof two);
    memcpy(bytes + 8 + length + 9, "\0\x3C", 2);
    put_file("u.safetensors", bytes, 8 + length + 11);
    assert_int_equal(weights_open(folder_in("u.safetensors"), &w, NULL), RAPT_OK);
    assert_int_equal(weights_read(w, weights_find(w, "b"), values, NULL), RAPT_OK);
    assert_memory_equal(values, two, sizeof two);
    assert_int_equal(weights_read(w, weights_find(w, "c"), values, NULL), RAPT_OK);
    assert_true(values[0] == 1);
    weights_close(w);
}

/* One bad number in each type, at [1, 2] of [2, 3]. */
static void numbers_that_are_not_finite(void **state)
{
    (void)state;
    const double d[6] = {0, 1, 2, 3, 4, -INFINITY};
    const float f[6] = {0, 1, 2, 3, 4, NAN};
    const uint16_t half[6] = {0, 1, 0x7BFF, 0xFBFF, 4, 0x7C00}, bf16[6] = {0, 1, 0x7F7F, 0xFF7F, 4, 0xFF81};
    const safetensors_entry entries[4] = {{"f64", SAFETENSORS_F64, 2, {2, 3}, d, sizeof d},
                                          {"f32", SAFETENSORS_F32, 2, {2, 3}, f, sizeof f},
                                          {"f16", SAFETENSORS_F16, 2, {2, 3}, half, sizeof half},
                                          {"bf16", SAFETENSORS_BF16, 2, {2, 3}, bf16, sizeof bf16}};
    weights *w;
    assert_int_equal(safetensors_write(folder_in("n.safetensors"), entries, 4, NULL, NULL), RAPT_OK);
    assert_int_equal(weights_open(folder_in("n.safetensors"), &w, NULL), RAPT_OK);
    for (size_t i = 0; i < 4; i++) {
        rapt_error err = {0};
        char wanted[FOLDER_ROOM + 100];
        assert_int_equal(weights_check_finite(w, weights_find(w, entries[i].name), NULL, &err), RAPT_ERR_NOT_FINITE);
        snprintf(wanted, sizeof wanted, "%s: tensor \"%s\" is infinite or not a number at [1, 2]", folder_in("n.safetensors"),
                 entries[i].name);
        assert_string_equal(err.message, wanted);
    }
    weights_close(w);
}

/* Threads look at parts of a large tensor; the place that is named is the first one for any number of them. */
static void first_of_several_places(void **state)
{
    (void)state;
    enum { ROWS = 1000, COLUMNS = 1100 };
    float *values = calloc(ROWS * COLUMNS, sizeof *values);
    assert_non_null(values);
    const safetensors_entry entry = {"large", SAFETENSORS_F32, 2, {ROWS, COLUMNS}, values, ROWS * COLUMNS * sizeof *values};
    for (int bad = 0; bad <= 2; bad++) {
        weights *w;
        if (bad > 0)
            values[bad == 1 ? ROWS * COLUMNS - 1 : 700 * COLUMNS + 3] = NAN;
        assert_int_equal(safetensors_write(folder_in("large.safetensors"), &entry, 1, NULL, NULL), RAPT_OK);
        assert_int_equal(weights_open(folder_in("large.safetensors"), &w, NULL), RAPT_OK);
        for (int threads = 1; threads <= 4; threads++) {
            rapt_error err = {0};
            pool *p = pool_new(threads, NULL);
            assert_non_null(p);
            assert_int_equal(weights_check_finite(w, weights_at(w, 0), p, &err), bad ? RAPT_ERR_NOT_FINITE : RAPT_OK);
            if (bad)
                assert_non_null(strstr(err.message, bad == 1 ? "at [999, 1099]" : "at [700, 3]"));
            pool_free(p);
        }
        weights_close(w);
    }
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(safetensors_of_pytorch),
        cmocka_unit_test(a_file_of_torch_save),
        cmocka_unit_test(a_file_of_torch_save_before_1_6),
        cmocka_unit_test(shards_of_both_kinds),
        cmocka_unit_test(safetensors_are_preferred),
        cmocka_unit_test(torch_files_that_are_refused),
        cmocka_unit_test(headers_as_the_reference_reads_them),
        cmocka_unit_test(every_half_is_exact),
        cmocka_unit_test(unaligned_tensors),
        cmocka_unit_test(numbers_that_are_not_finite),
        cmocka_unit_test(first_of_several_places),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
