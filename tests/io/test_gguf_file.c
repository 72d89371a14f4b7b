/* tests/io/test_gguf_file.c: GGUF files as they are and as they should not be, made here byte by byte: what is read, and what
 * each fault is called. For src/text/gguf, src/io/weights and src/io/gguf. Files of the reference are in test_gguf_model.c.
 * labels: threads */
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

#include "base/buffer.h"
#include "folder.h"
#include "io/weights/weights.h"
#include "rapt/io.h"
#include "rapt/text.h"
#include "text/gguf/gguf_file.h"
#include "text/hf/byte_letters.h"

/* ---- files, byte by byte ----------------------------------------------------------------------------------------- */

static void put(buffer *b, const void *bytes, size_t size)
{
    assert_true(buffer_append(b, bytes, size));
}

static void put_u32(buffer *b, uint32_t x)
{
    put(b, &x, sizeof x);
}

static void put_u64(buffer *b, uint64_t x)
{
    put(b, &x, sizeof x);
}

static void put_text(buffer *b, const char *text)
{
    put_u64(b, strlen(text));
    put(b, text, strlen(text));
}

static void put_header(buffer *b, uint32_t version, uint64_t tensors, uint64_t values)
{
    put(b, "GGUF", 4);
    put_u32(b, version);
    put_u64(b, tensors);
    put_u64(b, values);
}

static void put_u32_value(buffer *b, const char *key, uint32_t x)
{
    put_text(b, key);
    put_u32(b, GGUF_U32);
    put_u32(b, x);
}

static void put_text_value(buffer *b, const char *key, const char *text)
{
    put_text(b, key);
    put_u32(b, GGUF_TEXT);
    put_text(b, text);
}

/* An array's head. */
static void put_array(buffer *b, const char *key, uint32_t type, uint64_t count)
{
    put_text(b, key);
    put_u32(b, GGUF_ARRAY);
    put_u32(b, type);
    put_u64(b, count);
}

/* A tensor of two dimensions, the columns first. */
static void put_tensor(buffer *b, const char *name, uint64_t columns, uint64_t rows, uint32_t type, uint64_t offset)
{
    put_text(b, name);
    put_u32(b, 2);
    put_u64(b, columns);
    put_u64(b, rows);
    put_u32(b, type);
    put_u64(b, offset);
}

/* Zeros up to the alignment, then the data. */
static void put_data(buffer *b, size_t alignment, const void *data, size_t size)
{
    while (b->size % alignment)
        put(b, "", 1);
    put(b, data, size);
}

static const char *gguf_written(buffer *b)
{
    const char *path = folder_in("f.gguf");
    rapt_error err = {0};
    assert_int_equal(file_write_atomic(path, b->data ? b->data : "", b->size, &err), RAPT_OK);
    buffer_free(b);
    return path;
}

/* Opening the file fails, and says so. */
static void gguf_refused(buffer *b, const char *message)
{
    gguf_file *f;
    rapt_error err = {0};
    const char *path = gguf_written(b);
    assert_int_equal(gguf_open(path, &f, &err), RAPT_ERR_FORMAT);
    assert_null(f);
    assert_memory_equal(err.message, path, strlen(path));
    if (!strstr(err.message, message))
        fail_msg("\"%s\" does not say \"%s\"", err.message, message);
}

static const float NUMBERS[8] = {1, 2, 3, 4, 5, 6, 7, 8};

/* ---- what is read ------------------------------------------------------------------------------------------------ */

static void put_good_file(buffer *b, uint32_t version, uint32_t alignment)
{
    put_header(b, version, 2, 5);
    put_u32_value(b, "general.alignment", alignment);
    put_text_value(b, "general.architecture", "none");
    put_array(b, "texts", GGUF_TEXT, 2);
    put_text(b, "");
    put_text(b, "two");
    put_array(b, "bytes", GGUF_I8, 3);
    put(b, "\x01\xFF\x80", 3);
    put_text(b, "large");
    put_u32(b, GGUF_U64);
    put_u64(b, UINT64_MAX);
    put_tensor(b, "a", 4, 2, GGUF_PLAIN_F32, 0);
    put_tensor(b, "b", 32, 1, 2, 32);
    put_data(b, alignment, NUMBERS, sizeof NUMBERS);
    put(b, "\x00\x3C", 2); /* the scale 1 */
    for (int i = 0; i < 16; i++)
        put(b, "\x1F", 1);
}

static void check_good_file(uint32_t version, uint32_t alignment)
{
    buffer b = {0};
    gguf_file *f;
    rapt_error err = {0};
    int64_t whole = 0;
    put_good_file(&b, version, alignment);
    gguf_open(gguf_written(&b), &f, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(f->tensor_count, 2);
    const gguf_tensor *a = gguf_find_tensor(f, "a"), *q = gguf_find_tensor(f, "b");
    assert_int_equal(a->shape[0], 2); /* rows first */
    assert_int_equal(a->shape[1], 4);
    assert_memory_equal(a->data, NUMBERS, sizeof NUMBERS);
    assert_ptr_equal(q->blocks, &BLOCKS_Q4_0);
    assert_int_equal(q->bytes, 18);
    const gguf_text first = gguf_text_first(gguf_find(f, "texts")), second = gguf_text_next(&first);
    assert_int_equal(first.size, 0);
    assert_int_equal(second.size, 3);
    assert_memory_equal(second.data, "two", 3);
    const gguf_value *bytes = gguf_find(f, "bytes");
    assert_true(gguf_whole(bytes, 1, &whole));
    assert_int_equal(whole, -1);
    assert_false(gguf_whole(gguf_find(f, "large"), 0, &whole));
    assert_null(gguf_find(f, "text"));
    gguf_close(f);
}

static void a_good_file_is_read(void **state)
{
    (void)state;
    check_good_file(3, 32);
    check_good_file(2, 32);
    check_good_file(3, 8);
}

static void numbers_are_those_of_blocks(void **state)
{
    (void)state;
    buffer b = {0};
    weights *w;
    rapt_error err = {0};
    float numbers[32];
    put_good_file(&b, 3, 32);
    assert_int_equal(weights_open(gguf_written(&b), &w, &err), RAPT_OK);
    const weights_tensor *q = weights_find(w, "b");
    assert_string_equal(weights_tensor_type(q), "Q4_0");
    assert_int_equal(weights_parameters(w), 40);
    assert_int_equal(weights_read(w, q, numbers, &err), RAPT_OK);
    assert_true(numbers[0] == 7 && numbers[15] == 7 && numbers[16] == -7 && numbers[31] == -7);
    assert_int_equal(weights_check_finite(w, q, NULL, &err), RAPT_OK);
    weights_close(w);
}

/* A scale that is infinite makes a block of numbers that are none. */
static void bad_scales_are_found(void **state)
{
    (void)state;
    buffer b = {0};
    weights *w;
    rapt_error err = {0};
    put_header(&b, 3, 1, 0);
    put_tensor(&b, "b", 64, 2, 2, 0);
    put_data(&b, 32, "\x00\x3C\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 18);
    put(&b, "\x00\x3C\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 18);
    put(&b, "\x00\x3C\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 18);
    put(&b, "\x00\x7C\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 18);
    assert_int_equal(weights_open(gguf_written(&b), &w, &err), RAPT_OK);
    pool *threads = pool_new(2, &err);
    assert_int_equal(weights_check_finite(w, weights_at(w, 0), threads, &err), RAPT_ERR_NOT_FINITE);
    assert_non_null(strstr(err.message, "tensor \"b\" is infinite or not a number at [1, 32]"));
    pool_free(threads);
    weights_close(w);
}

/* ---- what is not ------------------------------------------------------------------------------------------------- */

static void headers_are_checked(void **state)
{
    (void)state;
    buffer b = {0};
    gguf_refused(&b, "not a GGUF file; it is empty");
    put(&b, "GGUX", 4);
    gguf_refused(&b, "not a GGUF file");
    put(&b, "GGUF\3\0\0\0", 8);
    gguf_refused(&b, "ends within its header");
    const struct {
        uint32_t version;
        const char *message;
    } versions[] = {{0, "GGUF of version 0"}, {1, "GGUF of version 1; rapt reads versions 2 and 3"}, {4, "GGUF of version 4"},
                    {1u << 31, "big-endian"}, {0x03000000, "a big-endian GGUF file"}, {0x80000001, "GGUF of version 2147483649"}};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        put_header(&b, versions[i].version, 0, 0);
        gguf_refused(&b, versions[i].message);
    }
    put_header(&b, 3, 0, UINT64_C(1) << 62);
    gguf_refused(&b, "4611686018427387904 values; 0 bytes are left");
    put_header(&b, 3, UINT64_C(1) << 62, 0);
    gguf_refused(&b, "4611686018427387904 tensors; 0 bytes are left");
}

static void values_are_checked(void **state)
{
    (void)state;
    buffer b = {0};
    put_header(&b, 3, 0, 1);
    put_u64(&b, UINT64_C(1) << 63);
    put(&b, "abcdefgh", 8);
    gguf_refused(&b, "a key of 9223372036854775808 bytes; 8 are left");
    put_header(&b, 3, 0, 1);
    put_text(&b, "key");
    put_u32(&b, 13);
    put_u64(&b, 0);
    gguf_refused(&b, "\"key\" has the type 13, which is none of GGUF's");
    put_header(&b, 3, 0, 1);
    put_array(&b, "key", GGUF_ARRAY, 0);
    gguf_refused(&b, "\"key\" is an array of arrays");
    put_header(&b, 3, 0, 1);
    put_array(&b, "key", GGUF_U64, UINT64_C(1) << 61); /* bytes that are 0 in 64 bits */
    gguf_refused(&b, "\"key\" has 2305843009213693952 elements; 0 bytes are left");
    put_header(&b, 3, 0, 1);
    put_array(&b, "key", GGUF_TEXT, 2);
    put_text(&b, "one");
    put_u64(&b, 5);
    gguf_refused(&b, "a text of 5 bytes; 0 are left");
    put_header(&b, 3, 0, 1);
    put_text(&b, "key");
    put_u32(&b, GGUF_BOOL);
    put(&b, "\2\0\0\0", 4);
    gguf_refused(&b, "\"key\" is neither false nor true");
    put_header(&b, 3, 0, 2);
    put_u32_value(&b, "key", 1);
    put_u32_value(&b, "key", 1);
    gguf_refused(&b, "\"key\" comes twice");
    put_header(&b, 3, 0, 2);
    put_u32_value(&b, "a key that is long enough for two", 1);
    gguf_refused(&b, "the file ends within a key");
}

static void values_about_the_file_are_checked(void **state)
{
    (void)state;
    buffer b = {0};
    const uint32_t bad[] = {0, 3, 1u << 31};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put_header(&b, 3, 0, 1);
        put_u32_value(&b, "general.alignment", bad[i]);
        gguf_refused(&b, "it must be a power of two");
    }
    put_header(&b, 3, 0, 1);
    put_text_value(&b, "general.alignment", "32");
    gguf_refused(&b, "\"general.alignment\" is no u32");
    put_header(&b, 3, 0, 1);
    put_text(&b, "split.count");
    put_u32(&b, GGUF_U16);
    put(&b, "\3\0", 2); /* as llama-gguf-split writes it */
    gguf_refused(&b, "one of 3 files of a model");
    put_header(&b, 3, 0, 1);
    put_u32_value(&b, "split.count", 3);
    gguf_refused(&b, "one of 3 files of a model");
}

/* A file with one tensor that is said to be so. */
static void tensor_refused(const char *name, uint32_t ndim, const uint64_t *dims, uint32_t type, uint64_t offset,
                           const char *message)
{
    buffer b = {0};
    put_header(&b, 3, 1, 0);
    put_text(&b, name);
    put_u32(&b, ndim);
    for (uint32_t i = 0; i < ndim && i < 8; i++)
        put_u64(&b, dims[i]);
    put_u32(&b, type);
    put_u64(&b, offset);
    put_data(&b, 32, NUMBERS, sizeof NUMBERS);
    gguf_refused(&b, message);
}

static void tensors_are_checked(void **state)
{
    (void)state;
    const uint64_t good[8] = {4, 2, 1, 1, 1, 1, 1, 1}, none[2] = {4, 0}, minus[2] = {UINT64_MAX, 1};
    const uint64_t wide[2] = {UINT64_C(1) << 32, UINT64_C(1) << 32}, long_one[1] = {9}, odd[2] = {300, 1};
    tensor_refused("t", 0, good, 0, 0, "tensor \"t\" has 0 dimensions; GGUF has 1 to 4");
    tensor_refused("t", 5, good, 0, 0, "tensor \"t\" has 5 dimensions");
    tensor_refused("t", UINT32_MAX, good, 0, 0, "tensor \"t\" has 4294967295 dimensions");
    tensor_refused("t", 2, none, 0, 0, "tensor \"t\" has a dimension of 0");
    tensor_refused("t", 2, minus, 0, 0, "too many elements");
    tensor_refused("t", 2, wide, 0, 0, "too many elements");
    tensor_refused("t", 1, long_one, 0, 0, "tensor \"t\" has 36 bytes");
    tensor_refused("t", 2, good, 0, 32, "tensor \"t\" begins at byte 32 of the data");
    tensor_refused("t", 2, good, 0, 7, "tensor \"t\" begins at byte 7 of the data");
    tensor_refused("t", 2, good, 0, UINT64_MAX, "tensor \"t\" begins at byte 18446744073709551615");
    tensor_refused("t", 2, good, 10, 0, "tensor \"t\" is of type Q2_K (10); rapt reads F32, F16");
    tensor_refused("t", 2, good, 39, 0, "is of type MXFP4 (39)");
    tensor_refused("t", 2, good, 4, 0, "is of type unknown (4)");
    tensor_refused("t", 2, good, UINT32_MAX, 0, "is of type unknown (4294967295)");
    tensor_refused("t", 2, odd, 12, 0, "rows of 300 elements, which are no whole blocks of Q4_K, 256 each");
    tensor_refused("t", 2, good, 2, 0, "rows of 4 elements, which are no whole blocks of Q4_0, 32 each");
    tensor_refused("", 2, good, 0, 0, "a tensor's name, \"\", is not of 1 to 63 bytes");
    tensor_refused("1234567890123456789012345678901234567890123456789012345678901234", 2, good, 0, 0, "is not of 1 to 63 bytes");
}

static void tensors_have_different_names(void **state)
{
    (void)state;
    buffer b = {0};
    put_header(&b, 3, 2, 0);
    put_tensor(&b, "t", 4, 1, 0, 0);
    put_tensor(&b, "t", 4, 1, 0, 32);
    put_data(&b, 32, NUMBERS, sizeof NUMBERS);
    put(&b, NUMBERS, sizeof NUMBERS);
    gguf_refused(&b, "tensor \"t\" comes twice");
}

/* Whatever is cut off is missed. */
static void files_that_are_cut_off_are_refused(void **state)
{
    (void)state;
    buffer whole = {0};
    put_good_file(&whole, 3, 32);
    for (size_t size = 0; size < whole.size; size++) {
        buffer part = {0};
        gguf_file *f;
        rapt_error err = {0};
        put(&part, whole.data, size);
        assert_int_equal(gguf_open(gguf_written(&part), &f, &err), RAPT_ERR_FORMAT);
        assert_null(f);
    }
    buffer_free(&whole);
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

static void model_refused(buffer *b, rapt_code code, const char *message)
{
    rapt_error err = {0};
    assert_null(rapt_model_load(gguf_written(b), NULL, &err));
    assert_int_equal(err.code, code);
    if (!strstr(err.message, message))
        fail_msg("\"%s\" does not say \"%s\"", err.message, message);
}

/* What a model has besides `more` values: its sizes, an embedding of two rows, two tokens. */
static void put_model(buffer *b, uint64_t more)
{
    put_header(b, 3, 1, 8 + more);
    put_text_value(b, "general.architecture", "llama");
    put_u32_value(b, "llama.context_length", 8);
    put_u32_value(b, "llama.embedding_length", 4);
    put_u32_value(b, "llama.block_count", 1);
    put_u32_value(b, "llama.feed_forward_length", 4);
    put_u32_value(b, "llama.attention.head_count", 2);
    put_array(b, "tokenizer.ggml.tokens", GGUF_TEXT, 2);
    put_text(b, "a");
    put_text(b, "b");
    put_text_value(b, "tokenizer.ggml.model", "gpt2");
}

static void put_model_end(buffer *b)
{
    put_tensor(b, "token_embd.weight", 4, 2, GGUF_PLAIN_F32, 0);
    put_data(b, 32, NUMBERS, sizeof NUMBERS);
}

static void models_are_checked(void **state)
{
    (void)state;
    buffer b = {0};
    put_header(&b, 3, 0, 0);
    model_refused(&b, RAPT_ERR_FORMAT, "there is no \"general.architecture\"");
    put_header(&b, 3, 0, 1);
    put_text_value(&b, "general.architecture", "mamba");
    model_refused(&b, RAPT_ERR_VALUE, "a model of architecture \"mamba\"; of GGUF files rapt runs llama, qwen2, ");
    put_header(&b, 3, 0, 1);
    put_text_value(&b, "general.architecture", "llama");
    model_refused(&b, RAPT_ERR_FORMAT, "\"token_embd.weight\" is missing");
    put_model(&b, 1);
    put_u32_value(&b, "llama.rope.mystery", 1);
    put_model_end(&b);
    model_refused(&b, RAPT_ERR_FORMAT, "rapt does not know what \"llama.rope.mystery\" changes");
    put_model(&b, 1);
    put_u32_value(&b, "llama.expert_count", 8);
    put_model_end(&b);
    model_refused(&b, RAPT_ERR_FORMAT, "mixtures of experts");
    put_model(&b, 1);
    put_array(&b, "llama.attention.head_count_kv", GGUF_U32, 2);
    put_u32(&b, 1);
    put_u32(&b, 2);
    put_model_end(&b);
    model_refused(&b, RAPT_ERR_FORMAT, "\"llama.attention.head_count_kv\" differs from layer to layer");
    put_model(&b, 1);
    put_u32_value(&b, "tokenizer.ggml.eos_token_id", 2);
    put_model_end(&b);
    model_refused(&b, RAPT_ERR_FORMAT, "\"tokenizer.ggml.eos_token_id\" is none of the 2 tokens");
    put_model(&b, 1);
    put_text_value(&b, "tokenizer.ggml.pre", "no-such-label");
    put_model_end(&b);
    model_refused(&b, RAPT_ERR_FORMAT, "\"tokenizer.ggml.pre\" is \"no-such-label\"; rapt knows how texts are cut for gpt-2, ");
    put_model(&b, 0);
    put_model_end(&b);
    model_refused(&b, RAPT_ERR_FORMAT, "\"tokenizer.ggml.pre\" is \"\"");
}

/* A configuration that asks for more layers than there are tensors does not allocate them. */
static void sizes_are_those_of_the_file(void **state)
{
    (void)state;
    buffer b = {0};
    put_header(&b, 3, 1, 6);
    put_text_value(&b, "general.architecture", "llama");
    put_u32_value(&b, "llama.context_length", 8);
    put_u32_value(&b, "llama.embedding_length", 4);
    put_u32_value(&b, "llama.block_count", UINT32_MAX);
    put_u32_value(&b, "llama.feed_forward_length", 4);
    put_u32_value(&b, "llama.attention.head_count", 2);
    put_model_end(&b);
    model_refused(&b, RAPT_ERR_FORMAT, "\"llama.block_count\" must be a whole number up to 2^30");
}

static void tokenizers_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *key, *message;
    } columns[] = {{"tokenizer.ggml.token_type", "\"tokenizer.ggml.token_type\" has 1 elements; there are 2 tokens"},
                   {"tokenizer.ggml.scores", "\"tokenizer.ggml.scores\" is no array of f32"}};
    for (size_t i = 0; i < 2; i++) {
        buffer b = {0};
        put_model(&b, 1);
        put_array(&b, columns[i].key, GGUF_I32, 1);
        put_u32(&b, 1);
        put_model_end(&b);
        model_refused(&b, RAPT_ERR_FORMAT, columns[i].message);
    }
    buffer b = {0};
    put_model(&b, 1);
    put_array(&b, "tokenizer.ggml.token_type", GGUF_I32, 2);
    put_u32(&b, 1);
    put_u32(&b, 7);
    put_model_end(&b);
    model_refused(&b, RAPT_ERR_FORMAT, "token 1 has the type 7; 1 to 6 are known");
}

/* Both the tokenizer and the tensors are wrong, or only the tensors: the tokenizer's error comes first, also if both were read at
 * the same time. */
static void a_tokenizer_is_refused_before_tensors(void **state)
{
    static const char *const threads[] = {"1", "2", "4"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        buffer b = {0};
        setenv("RAPT_THREADS", threads[i], 1);
        put_model(&b, 1);
        put_text_value(&b, "tokenizer.ggml.pre", "no-such-label");
        put_model_end(&b);
        model_refused(&b, RAPT_ERR_FORMAT, "\"tokenizer.ggml.pre\" is \"no-such-label\"");
        put_model(&b, 2);
        put_text_value(&b, "tokenizer.ggml.pre", "gpt-2");
        put_array(&b, "tokenizer.ggml.merges", GGUF_TEXT, 0);
        put_model_end(&b);
        model_refused(&b, RAPT_ERR_FORMAT, "tensor \"blk.0.attn_norm.weight\" is missing");
    }
    unsetenv("RAPT_THREADS");
}

/* ---- tokens and merges of byte-level BPE ----------------------------------------------------------------------------- */

enum { FIRST_OWN = 256 }; /* the id behind the letters of bytes */

static void put_texts(buffer *b, const char *key, const char *const *texts, size_t count, bool letters)
{
    put_array(b, key, GGUF_TEXT, count + (letters ? FIRST_OWN : 0));
    for (int i = 0; letters && i < FIRST_OWN; i++) {
        char letter[3] = "";
        byte_letters_write(&(char){(char)i}, 1, letter);
        put_text(b, letter);
    }
    for (size_t i = 0; i < count; i++)
        put_text(b, texts[i]);
}

/* The tokens are the letters of bytes, then "ab", "\u00e4 b", which is no text's, and `more`; NULL: nothing more. */
static rapt_tokenizer *byte_level_tokenizer(const char *pre, const char *more, const char *first, const char *second,
                                            rapt_error *err)
{
    buffer b = {0};
    put_header(&b, 3, 0, 4);
    put_text_value(&b, "tokenizer.ggml.model", "gpt2");
    put_text_value(&b, "tokenizer.ggml.pre", pre);
    put_texts(&b, "tokenizer.ggml.tokens", (const char *const[]){"ab", "\u00e4 b", more}, more ? 3 : 2, true);
    put_texts(&b, "tokenizer.ggml.merges", (const char *const[]){first, second}, 2, false);
    return rapt_tokenizer_load(gguf_written(&b), err);
}

static void lists_of_byte_level_bpe_are_checked(void **state)
{
    static const struct {
        const char *more, *first, *second, *message;
    } cases[] = {{"ab", "a b", "ab c", "token 258, \"ab\", is there before"},
                 {"\u00e4 b", "a b", "ab c", "token 258, \"\u00e4 b\", is there before"},
                 {"abc", "a b", "ab cd", "merge 1 names a token that is not in the vocabulary"},
                 {"abc", "a b", "ab \u4e2d", "merge 1 names a token that is not in the vocabulary"},
                 {"abc", "a b c", "ab c", "merge 0 is not two tokens"},
                 {"abc", "a b", "abc", "merge 1 is not two tokens"},
                 {"abc", "", "abc", "merge 0 is not two tokens"},
                 {"abc", "a b", "a b", "merge 1: tokens 97 and 98 merge twice"},
                 {"abc", "b a", "ab c", "merge 0: no token has the bytes of tokens 98 and 97"},
                 {"abc", "a b", "ab \xff", "\"tokenizer.ggml.merges\" is not UTF-8, or memory ended"},
                 {"\xff", "a b", "ab c", "token 258 is not UTF-8, or holds a NUL"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        assert_null(byte_level_tokenizer("gpt-2", cases[i].more, cases[i].first, cases[i].second, &err));
        assert_int_equal(err.code, RAPT_ERR_FORMAT);
        if (!strstr(err.message, cases[i].message))
            fail_msg("\"%s\" does not say \"%s\"", err.message, cases[i].message);
    }
}

/* The second label needs a pipeline, which takes the same lists. */
static void lists_of_byte_level_bpe_are_read(void **state)
{
    static const char *const labels[] = {"gpt-2", "smollm"};
    static const char text[] = "cabca";
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        rapt_error err = {0};
        int32_t *ids;
        size_t count;
        rapt_tokenizer *k = byte_level_tokenizer(labels[i], "abc", "a b", "ab c", &err);
        assert_string_equal(err.message, "");
        assert_int_equal(rapt_tokenizer_size(k), FIRST_OWN + 3);
        assert_int_equal(rapt_tokenizer_encode_bytes(k, text, strlen(text), NULL, &ids, &count, &err), RAPT_OK);
        assert_int_equal(count, 3);
        assert_int_equal(ids[0], 'c');
        assert_int_equal(ids[1], FIRST_OWN + 2);
        assert_int_equal(ids[2], 'a');
        free(ids);
        rapt_tokenizer_free(k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_file_is_read),
        cmocka_unit_test(numbers_are_those_of_blocks),
        cmocka_unit_test(bad_scales_are_found),
        cmocka_unit_test(headers_are_checked),
        cmocka_unit_test(values_are_checked),
        cmocka_unit_test(values_about_the_file_are_checked),
        cmocka_unit_test(tensors_are_checked),
        cmocka_unit_test(tensors_have_different_names),
        cmocka_unit_test(files_that_are_cut_off_are_refused),
        cmocka_unit_test(models_are_checked),
        cmocka_unit_test(sizes_are_those_of_the_file),
        cmocka_unit_test(tokenizers_are_checked),
        cmocka_unit_test(a_tokenizer_is_refused_before_tensors),
        cmocka_unit_test(lists_of_byte_level_bpe_are_checked),
        cmocka_unit_test(lists_of_byte_level_bpe_are_read),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
