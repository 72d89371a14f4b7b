/* tests/io/gguf_file.h: a GGUF file taken apart, as ggml's gguf.h describes the format, for tests of what was written. To be
 * included after cmocka.h; a file that is not in order ends the test. */
#ifndef TESTS_GGUF_FILE_H
#define TESTS_GGUF_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GGUF_FILE_MOST = 1 << 22, GGUF_FILE_KEYS = 64, GGUF_FILE_TENSORS = 64 };

/* `size` bytes at `at`; an array has `count` values. */
typedef struct gguf_file_key {
    char name[96];
    uint32_t type, element;
    uint64_t count;
    const char *at;
} gguf_file_key;

typedef struct gguf_file_tensor {
    char name[64];
    uint32_t ndim, type;
    uint64_t dims[4], offset;
    const char *at;
} gguf_file_tensor;

typedef struct gguf_file {
    char *data;
    size_t size;
    const char *at;
    uint64_t key_count, tensor_count;
    gguf_file_key keys[GGUF_FILE_KEYS];
    gguf_file_tensor tensors[GGUF_FILE_TENSORS];
} gguf_file;

static inline uint64_t gguf_file_take(gguf_file *f, size_t size)
{
    uint64_t number = 0;
    assert_true((size_t)(f->at - f->data) + size <= f->size);
    memcpy(&number, f->at, size);
    f->at += size;
    return number;
}

static inline void gguf_file_skip(gguf_file *f, uint64_t size)
{
    assert_true((uint64_t)(f->at - f->data) + size <= f->size);
    f->at += size;
}

static inline void gguf_file_take_text(gguf_file *f, char *text, size_t room)
{
    const uint64_t length = gguf_file_take(f, 8);
    assert_true(length < room);
    const char *from = f->at;
    gguf_file_skip(f, length);
    memcpy(text, from, length);
    text[length] = '\0';
}

static inline void gguf_file_skip_value(gguf_file *f, uint32_t type)
{
    static const size_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    assert_true(type < sizeof sizes / sizeof *sizes && type != 9);
    gguf_file_skip(f, type == 8 ? gguf_file_take(f, 8) : sizes[type]);
}

static inline void gguf_file_take_key(gguf_file *f, gguf_file_key *k)
{
    gguf_file_take_text(f, k->name, sizeof k->name);
    k->type = k->element = (uint32_t)gguf_file_take(f, 4);
    k->count = 1;
    if (k->type == 9) {
        k->element = (uint32_t)gguf_file_take(f, 4);
        k->count = gguf_file_take(f, 8);
    }
    k->at = f->at;
    for (uint64_t i = 0; i < k->count; i++)
        gguf_file_skip_value(f, k->element);
}

static inline void gguf_file_take_tensor(gguf_file *f, gguf_file_tensor *t)
{
    gguf_file_take_text(f, t->name, sizeof t->name);
    t->ndim = (uint32_t)gguf_file_take(f, 4);
    assert_in_range(t->ndim, 1, 2);
    t->dims[1] = 1;
    for (uint32_t i = 0; i < t->ndim; i++)
        t->dims[i] = gguf_file_take(f, 8);
    t->type = (uint32_t)gguf_file_take(f, 4);
    t->offset = gguf_file_take(f, 8);
    assert_int_equal(t->offset % 32, 0);
}

/* The caller frees f->data. */
static inline void gguf_file_open(gguf_file *f, const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    memset(f, 0, sizeof *f);
    assert_non_null(f->data = malloc(GGUF_FILE_MOST));
    f->at = f->data;
    f->size = fread(f->data, 1, GGUF_FILE_MOST, file);
    fclose(file);
    assert_int_equal(gguf_file_take(f, 4), 0x46554747); /* "GGUF" */
    assert_int_equal(gguf_file_take(f, 4), 3);
    f->tensor_count = gguf_file_take(f, 8);
    f->key_count = gguf_file_take(f, 8);
    assert_true(f->tensor_count <= GGUF_FILE_TENSORS && f->key_count <= GGUF_FILE_KEYS);
    for (uint64_t i = 0; i < f->key_count; i++)
        gguf_file_take_key(f, &f->keys[i]);
    for (uint64_t i = 0; i < f->tensor_count; i++)
        gguf_file_take_tensor(f, &f->tensors[i]);
    const size_t data = (size_t)(f->at - f->data + 31) / 32 * 32;
    for (uint64_t i = 0; i < f->tensor_count; i++) {
        f->tensors[i].at = f->data + data + f->tensors[i].offset;
        assert_true(f->tensors[i].at < f->data + f->size);
    }
}

/* NULL: there is none. */
static inline const gguf_file_key *gguf_file_key_of(const gguf_file *f, const char *name)
{
    for (uint64_t i = 0; i < f->key_count; i++)
        if (strcmp(f->keys[i].name, name) == 0)
            return &f->keys[i];
    return NULL;
}

static inline const gguf_file_tensor *gguf_file_tensor_of(const gguf_file *f, const char *name)
{
    for (uint64_t i = 0; i < f->tensor_count; i++)
        if (strcmp(f->tensors[i].name, name) == 0)
            return &f->tensors[i];
    return NULL;
}

/* A number of 4 bytes, or a boolean. */
static inline double gguf_file_number(const gguf_file *f, const char *name)
{
    const gguf_file_key *k = gguf_file_key_of(f, name);
    uint32_t whole = 0;
    float real = 0;
    if (!k)
        fail_msg("no key %s", name);
    memcpy(&whole, k->at, k->type == 7 ? 1 : 4);
    memcpy(&real, k->at, k->type == 7 ? 1 : 4);
    return k->type == 6 ? (double)real : whole;
}

/* Text i of a key: where it begins; *size is its length. */
static inline const char *gguf_file_text(const gguf_file *f, const char *name, size_t i, uint64_t *size)
{
    const gguf_file_key *k = gguf_file_key_of(f, name);
    if (!k || k->element != 8 || i >= k->count)
        fail_msg("no text %zu of key %s", i, name);
    const char *at = k->at;
    for (;; at += 8 + *size) {
        memcpy(size, at, 8);
        if (i-- == 0)
            return at + 8;
    }
}

#endif
