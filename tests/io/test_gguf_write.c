/* tests/io/test_gguf_write.c: GGUF files against one that gguf's own writer made (tools/make_gguf_write_golden.py), byte for
 * byte; tensors of several portions; and what is refused, which leaves nothing. For src/io/gguf/gguf_write.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "folder.h"
#include "io/gguf/gguf_write.h"

#include <string.h>

enum { ROWS = 3, COLUMNS = 64, MOST = 1 << 26 };

static char *path_in(const char *name)
{
    static char path[FOLDER_ROOM];
    snprintf(path, sizeof path, "%s/%s", folder_path, name);
    return path;
}

/* Number i of each tensor is (i - 90) / 7. */
static rapt_code ramp(void *context, size_t tensor, size_t first, size_t count, float *to, rapt_error *err)
{
    const gguf_written *t = (const gguf_written *)context + tensor;
    (void)err;
    for (size_t i = 0; i < count * t->columns; i++)
        to[i] = ((float)(first * t->columns + i) - 90) / 7;
    return RAPT_OK;
}

/* Puts the keys of the golden file, in its order. */
static void put_keys(gguf_keys *k)
{
    gguf_keys_text(k, "general.architecture", "llama");
    gguf_keys_u32(k, "llama.block_count", 2);
    gguf_keys_f32(k, "llama.rope.freq_base", 500000.25f);
    gguf_keys_bool(k, "tokenizer.ggml.add_bos_token", true);
    gguf_keys_begin_texts(k, "tokenizer.ggml.tokens", 4);
    gguf_keys_add_text(k, "a", 1);
    gguf_keys_add_text(k, "", 0);
    gguf_keys_add_text(k, "b\n", 2);
    gguf_keys_add_text(k, "\xC3\xA9", 2);
    gguf_keys_begin_i32s(k, "tokenizer.ggml.token_type", 3);
    gguf_keys_add_i32(k, 1);
    gguf_keys_add_i32(k, -3);
    gguf_keys_add_i32(k, 6);
    gguf_keys_begin_f32s(k, "tokenizer.ggml.scores", 2);
    gguf_keys_add_f32(k, 0.5f);
    gguf_keys_add_f32(k, -1e10f);
    gguf_keys_begin_bools(k, "llama.attention.sliding_window_pattern", 3);
    gguf_keys_add_bool(k, true);
    gguf_keys_add_bool(k, false);
    gguf_keys_add_bool(k, true);
}

static void a_file_is_that_of_the_reference(void **state)
{
    gguf_written tensors[] = {{"a.weight", &GGUF_WRITE_F32, 2, ROWS, COLUMNS}, {"b.bias", &GGUF_WRITE_F32, 1, 5, 1},
                             {"c.weight", &GGUF_WRITE_F16, 2, ROWS, COLUMNS}, {"d.weight", &GGUF_WRITE_BF16, 2, ROWS, COLUMNS},
                             {"e.weight", &BLOCKS_Q8_0, 2, ROWS, COLUMNS}, {"f.weight", &BLOCKS_Q4_0, 2, ROWS, COLUMNS}};
    rapt_error err = {0};
    gguf_keys keys = {0};
    char *ours, *theirs;
    size_t size, expected;
    (void)state;
    put_keys(&keys);
    assert_int_equal(gguf_write(path_in("a.gguf"), &keys, tensors, 6, &(gguf_source){ramp, tensors}, &err), RAPT_OK);
    assert_int_equal(file_read(path_in("a.gguf"), MOST, &ours, &size, &err), RAPT_OK);
    assert_int_equal(file_read("tests/golden/gguf_write.gguf", MOST, &theirs, &expected, &err), RAPT_OK);
    assert_int_equal(size, expected);
    assert_memory_equal(ours, theirs, size);
    free(ours);
    free(theirs);
    gguf_keys_free(&keys);
    unlink(path_in("a.gguf"));
}

/* 3 million numbers and a rest, as rows of 7 and as a vector: more than the writer asks for at once. */
static void portions_come_one_after_the_other(void **state)
{
    enum { COUNT = 7 * 450001 };
    gguf_written tensors[] = {{"a", &GGUF_WRITE_F32, 2, COUNT / 7, 7}, {"b", &GGUF_WRITE_F32, 1, COUNT, 1}};
    rapt_error err = {0};
    const gguf_keys keys = {0};
    char *file;
    size_t size;
    (void)state;
    assert_int_equal(gguf_write(path_in("a.gguf"), &keys, tensors, 2, &(gguf_source){ramp, tensors}, &err), RAPT_OK);
    assert_int_equal(file_read(path_in("a.gguf"), MOST, &file, &size, &err), RAPT_OK);
    const size_t bytes = COUNT * sizeof(float), padded = (bytes + 31) / 32 * 32;
    for (size_t i = 0; i < COUNT; i += 1000) {
        const float expected = ((float)i - 90) / 7;
        float a, b;
        memcpy(&a, file + size - 2 * padded + i * sizeof a, sizeof a);
        memcpy(&b, file + size - padded + i * sizeof b, sizeof b);
        assert_true(a == expected && b == expected);
    }
    free(file);
    unlink(path_in("a.gguf"));
}

static rapt_code stops(void *context, size_t tensor, size_t first, size_t count, float *to, rapt_error *err)
{
    if (tensor == 1)
        return rapt_fail(err, RAPT_ERR_INTERRUPTED, "enough");
    return ramp(context, tensor, first, count, to, err);
}

static void refused(gguf_written *tensors, size_t count, rapt_code code, const char *message)
{
    rapt_error err = {0};
    const gguf_keys keys = {0};
    assert_int_equal(gguf_write(path_in("a.gguf"), &keys, tensors, count, &(gguf_source){stops, tensors}, &err), code);
    if (!strstr(err.message, message))
        fail_msg("no \"%s\" in: %s", message, err.message);
}

static void what_cannot_be_written_leaves_no_file(void **state)
{
    static const char name[] = "0123456789012345678901234567890123456789012345678901234567890123";
    gguf_written long_name[] = {{name, &GGUF_WRITE_F32, 1, 2, 1}}, odd[] = {{"a", &BLOCKS_Q8_0, 2, 2, 33}};
    gguf_written two[] = {{"a", &GGUF_WRITE_F32, 1, 2, 1}, {"b", &GGUF_WRITE_F32, 1, 2, 1}};
    (void)state;
    refused(long_name, 1, RAPT_ERR_VALUE, "a.gguf: the name of tensor \"0123");
    refused(odd, 1, RAPT_ERR_VALUE, "a.gguf: tensor \"a\" has rows of 33 numbers; Q8_0 takes multiples of 32");
    refused(two, 2, RAPT_ERR_INTERRUPTED, "enough");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_file_is_that_of_the_reference),
                                       cmocka_unit_test(portions_come_one_after_the_other),
                                       cmocka_unit_test(what_cannot_be_written_leaves_no_file)};
    return cmocka_run_group_tests(tests, folder_make, folder_remove_empty);
}
