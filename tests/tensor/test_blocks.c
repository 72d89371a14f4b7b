/* tests/tensor/test_blocks.c: blocks of quantized numbers against the gguf package's, bit for bit: all bytes, and scales that are
 * zero, subnormal, infinite or NaN. The numbers are made by tools/make_blocks_golden.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "io/safetensors.h"
#include "tensor/blocks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct known_format {
    const char *name;
    int id; /* of ggml_type in ggml.h */
    size_t elements, bytes;
} known_format;

static const known_format KNOWN[] = {{"Q4_0", 2, 32, 18}, {"Q4_1", 3, 32, 20}, {"Q5_0", 6, 32, 22}, {"Q5_1", 7, 32, 24},
                                     {"Q8_0", 8, 32, 34}, {"Q4_K", 12, 256, 144}, {"Q5_K", 13, 256, 176}, {"Q6_K", 14, 256, 210}};
enum { KNOWN_COUNT = sizeof KNOWN / sizeof *KNOWN };

static void test_formats_are_found(void **state)
{
    (void)state;
    for (int i = 0; i < KNOWN_COUNT; i++) {
        const block_format *f = blocks_of_id(KNOWN[i].id);
        assert_non_null(f);
        assert_string_equal(f->name, KNOWN[i].name);
        assert_int_equal(f->id, KNOWN[i].id);
        assert_int_equal(f->elements, KNOWN[i].elements);
        assert_int_equal(f->bytes, KNOWN[i].bytes);
        assert_ptr_equal(blocks_of_name(KNOWN[i].name), f);
    }
    assert_ptr_equal(blocks_of_name("q4_k"), &BLOCKS_Q4_K);
    assert_null(blocks_of_name("Q4"));
    assert_null(blocks_of_name("Q4_K_M"));
    assert_null(blocks_of_id(0));  /* F32 */
    assert_null(blocks_of_id(10)); /* Q2_K */
    assert_null(blocks_of_id(-1));
}

static const safetensors_entry *golden_entry(const safetensors *s, const block_format *f, const char *what)
{
    char name[32];
    snprintf(name, sizeof name, "%s.%s", f->name, what);
    const safetensors_entry *e = safetensors_find(s, name);
    assert_non_null(e);
    return e;
}

/* Which NaN a number is depends on the processor. */
static void assert_same_numbers(const char *name, size_t width, size_t count, const float *got, const float *wanted)
{
    for (size_t i = 0; i < count; i++)
        if (isnan(wanted[i]) ? !isnan(got[i]) : memcmp(&got[i], &wanted[i], sizeof *got) != 0)
            fail_msg("%s: number %zu of block %zu is %a; the gguf package has %a", name, i % width, i / width, (double)got[i],
                     (double)wanted[i]);
}

static void compare_format(const safetensors *s, const block_format *f)
{
    const safetensors_entry *bytes = golden_entry(s, f, "bytes"), *numbers = golden_entry(s, f, "numbers");
    const size_t blocks = bytes->shape[0], count = blocks * f->elements;
    assert_int_equal(bytes->shape[1], f->bytes);
    assert_int_equal(numbers->shape[1], f->elements);
    float *got = malloc(count * sizeof *got);
    char *odd = malloc(blocks * f->bytes + 1); /* blocks are not aligned */
    assert_true(got && odd);
    memcpy(odd + 1, bytes->data, blocks * f->bytes);
    f->read(blocks, odd + 1, got);
    assert_same_numbers(f->name, f->elements, count, got, numbers->data);
    memset(got, 0, count * sizeof *got);
    for (size_t i = 0; i < blocks; i++) /* one by one, as rows are read */
        f->read(1, odd + 1 + i * f->bytes, got + i * f->elements);
    assert_same_numbers(f->name, f->elements, count, got, numbers->data);
    free(odd);
    free(got);
}

static void test_numbers_are_those_of_gguf(void **state)
{
    (void)state;
    rapt_error err = {0};
    safetensors *s;
    safetensors_open(RAPT_SOURCE_DIR "/tests/golden/blocks.safetensors", &s, &err);
    assert_string_equal(err.message, "");
    for (int i = 0; i < KNOWN_COUNT; i++)
        compare_format(s, blocks_of_id(KNOWN[i].id));
    safetensors_close(s);
}

/* The golden file has blocks with scales that are infinite or NaN, and others. */
static void test_bad_scales_are_found(void **state)
{
    (void)state;
    rapt_error err = {0};
    safetensors *s;
    safetensors_open(RAPT_SOURCE_DIR "/tests/golden/blocks.safetensors", &s, &err);
    assert_string_equal(err.message, "");
    for (int i = 0; i < KNOWN_COUNT; i++) {
        const block_format *f = blocks_of_id(KNOWN[i].id);
        const safetensors_entry *bytes = golden_entry(s, f, "bytes"), *numbers = golden_entry(s, f, "numbers");
        for (size_t block = 0; block < bytes->shape[0]; block++) {
            const float *x = (const float *)numbers->data + block * f->elements;
            bool finite = true;
            for (size_t j = 0; j < f->elements; j++)
                finite = finite && isfinite(x[j]);
            assert_int_equal(blocks_first_bad(f, 1, (const char *)bytes->data + block * f->bytes), finite);
        }
        assert_true(blocks_first_bad(f, bytes->shape[0], bytes->data) < bytes->shape[0]);
    }
    safetensors_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats_are_found),
        cmocka_unit_test(test_numbers_are_those_of_gguf),
        cmocka_unit_test(test_bad_scales_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
