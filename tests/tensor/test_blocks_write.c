/* tests/tensor/test_blocks_write.c: fp32 rounded to the formats of GGUF against quantize() of gguf 0.19.0, whose bytes
 * tools/make_blocks_write_golden.py keeps. For src/tensor/blocks_write.c.
 * labels: levels */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "io/safetensors.h"
#include "kernels/kernels.h"
#include "tensor/blocks.h"
#include "tensor/blocks_write.h"
#include "tensor/panels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 32 };

static safetensors *golden_file;

static int open_golden(void **state)
{
    (void)state;
    return safetensors_open("tests/golden/blocks_write.safetensors", &golden_file, NULL) != RAPT_OK;
}

static int close_golden(void **state)
{
    (void)state;
    safetensors_close(golden_file);
    return 0;
}

static const safetensors_entry *tensor(const char *name)
{
    const safetensors_entry *e = safetensors_find(golden_file, name);
    assert_non_null(e);
    return e;
}

/* All numbers of a tensor as `count` blocks, and no byte behind them. */
static void gives(void (*write)(size_t count, const float *from, void *to), size_t elements, const char *from, const char *to)
{
    const safetensors_entry *x = tensor(from), *y = tensor(to);
    unsigned char *ours = malloc(y->bytes + 1);
    assert_non_null(ours);
    ours[y->bytes] = 0xA5;
    write(x->bytes / sizeof(float) / elements, x->data, ours);
    for (size_t i = 0; i < y->bytes; i++)
        if (ours[i] != ((const unsigned char *)y->data)[i])
            fail_msg("%s: byte %zu is %d; %d is expected", to, i, ours[i], ((const unsigned char *)y->data)[i]);
    assert_int_equal(ours[y->bytes], 0xA5);
    free(ours);
}

static void blocks_are_those_of_the_reference(void **state)
{
    (void)state;
    assert_int_equal(tensor("q8_0")->bytes, tensor("blocks")->bytes / sizeof(float) / BLOCK * BLOCKS_Q8_0.bytes);
    assert_int_equal(tensor("q4_0")->bytes, tensor("blocks")->bytes / sizeof(float) / BLOCK * BLOCKS_Q4_0.bytes);
    gives(BLOCKS_Q8_0.write, BLOCK, "blocks", "q8_0");
    gives(BLOCKS_Q4_0.write, BLOCK, "blocks", "q4_0");
}

static void numbers_of_16_bits_are_those_of_the_reference(void **state)
{
    (void)state;
    gives(blocks_write_f16, 1, "halves", "f16");
    gives(blocks_write_bf16, 1, "more", "bf16");
    gives(blocks_write_f32, 1, "more", "more");
}

/* Where 1 / d is infinite, integers are within their bounds, and the scale is 0. */
static void blocks_of_nearly_nothing_are_nothing(void **state)
{
    float x[BLOCK] = {0};
    unsigned char q8[34], q4[18];
    (void)state;
    x[3] = 1e-42f;
    x[4] = -1e-42f;
    blocks_write_q8_0(1, x, q8);
    blocks_write_q4_0(1, x, q4);
    assert_int_equal(q8[0] | q8[1], 0);
    assert_int_equal(q4[0] | (q4[1] & 0x7F), 0);
    for (size_t i = 2; i < sizeof q8; i++)
        assert_true((signed char)q8[i] != -128);
}

/* Kernels round numbers that they pack and store, too; their rule for tiny and for infinite scales is their own. */
static bool is_ordinary(const float *x)
{
    float largest = 0;
    for (size_t i = 0; i < BLOCK; i++)
        largest = fmaxf(largest, fabsf(x[i]));
    return largest >= 0x1p-88f && largest < 127 * 65504.0f / 16;
}

static void compare_q8_0(const kernels *k, const float *x)
{
    unsigned char ours[34], theirs[34];
    BLOCKS_Q8_0.write(1, x, ours);
    k->round_q8(BLOCK, x, theirs);
    if (memcmp(ours, theirs, sizeof ours) != 0)
        fail_msg("%s: a block of Q8_0 is rounded to other bytes", k->name);
}

/* Packed weights have the bytes in another order: they are compared with the block, packed as it is. */
static void compare_q4_0(const kernels *k, const float *x)
{
    enum { ROOM = 4096 };
    _Alignas(64) static float numbers[ROOM], stored[ROOM];
    const kernels_gemm *gemm = &k->quantized->q4_0;
    unsigned char block[18];
    const uint8_t *columns[] = {block};
    assert_true(panels_size(gemm, BLOCK, 1) <= ROOM);
    memset(numbers, 0, sizeof numbers);
    memset(stored, 0, sizeof stored);
    BLOCKS_Q4_0.write(1, x, block);
    panels_pack(gemm, BLOCK, 1, &(matrix){x, 1, BLOCK}, numbers);
    panels_pack_stored(gemm, BLOCK, 1, 0, 1, BLOCKS_Q4_0.id, columns, stored);
    if (memcmp(numbers, stored, sizeof numbers) != 0)
        fail_msg("%s: a block of Q4_0 is rounded to other bytes", k->name);
}

static void kernels_round_to_the_same_bytes(void **state)
{
    const safetensors_entry *blocks = tensor("blocks");
    const size_t count = blocks->bytes / sizeof(float) / BLOCK;
    (void)state;
    for (const char *const *isa = kernels_names; *isa; isa++) {
        const kernels *k = kernels_of_isa(*isa, NULL);
        size_t compared = 0;
        for (size_t i = 0; k && i < count; i++) {
            const float *x = (const float *)blocks->data + i * BLOCK;
            if (!is_ordinary(x))
                continue;
            compare_q8_0(k, x);
            compare_q4_0(k, x);
            compared++;
        }
        assert_true(!k || compared > count / 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_are_those_of_the_reference),
                                       cmocka_unit_test(numbers_of_16_bits_are_those_of_the_reference),
                                       cmocka_unit_test(blocks_of_nearly_nothing_are_nothing),
                                       cmocka_unit_test(kernels_round_to_the_same_bytes)};
    return cmocka_run_group_tests(tests, open_golden, close_golden);
}
