/* io/gguf/gguf_write.h: writes a GGUF file, version 3, little-endian: "GGUF", u32 3, u64 tensors, u64 keys; each key with the
 * number of its type and its value; each tensor's name, dimensions (columns first), format and offset; then the data, each tensor
 * at a multiple of 32 bytes. A text is a u64 length and its bytes (ggml's gguf.h; gguf's constants.py). Knows no models. For
 * io/export/export_gguf.c. */
#ifndef IO_GGUF_GGUF_WRITE_H
#define IO_GGUF_GGUF_WRITE_H

#include "base/buffer.h"
#include "rapt/base.h"
#include "tensor/blocks.h"

enum { GGUF_WRITE_NAME = 64 }; /* bytes of a tensor's name, with the NUL that readers add */

/* Keys and their values in the layout of the file; {0} is empty. gguf_write reports that memory ran out. */
typedef struct gguf_keys {
    buffer_writer out;
    uint64_t count;
} gguf_keys;

void gguf_keys_free(gguf_keys *k);
void gguf_keys_u32(gguf_keys *k, const char *key, uint32_t value);
void gguf_keys_f32(gguf_keys *k, const char *key, float value);
void gguf_keys_bool(gguf_keys *k, const char *key, bool value);
void gguf_keys_text(gguf_keys *k, const char *key, const char *value);

/* Begin an array of `count` values; exactly as many calls of the functions below must add them, in order. */
void gguf_keys_begin_i32s(gguf_keys *k, const char *key, size_t count);
void gguf_keys_begin_f32s(gguf_keys *k, const char *key, size_t count);
void gguf_keys_begin_bools(gguf_keys *k, const char *key, size_t count);
void gguf_keys_begin_texts(gguf_keys *k, const char *key, size_t count);
void gguf_keys_add_i32(gguf_keys *k, int32_t value);
void gguf_keys_add_f32(gguf_keys *k, float value);
void gguf_keys_add_bool(gguf_keys *k, bool value);
void gguf_keys_add_text(gguf_keys *k, const char *value, size_t size);

/* Formats whose blocks are single numbers. */
extern const block_format GGUF_WRITE_F32, GGUF_WRITE_F16, GGUF_WRITE_BF16;

typedef struct gguf_written {
    const char *name;
    const block_format *format; /* one that is written, whose blocks fill the columns */
    int ndim;                   /* 1 or 2 */
    size_t rows, columns;       /* columns of a vector: 1 */
} gguf_written;

/* The source of the tensors' numbers: to[0 .. count * columns - 1] = rows first .. first + count - 1 of a tensor, in fp32. Each
 * row is asked for once, in the order of the file. A failure ends the writing with its code. */
typedef struct gguf_source {
    rapt_code (*rows)(void *context, size_t tensor, size_t first, size_t count, float *to, rapt_error *err);
    void *context;
} gguf_source;

/* Writes a new file, whole or not at all. Takes the memory of a portion of rows. RAPT_ERR_VALUE: a name is too long, or columns
 * are not whole blocks; RAPT_ERR_MEMORY; RAPT_ERR_IO, also if a file has appeared there meanwhile, which stays. */
rapt_code gguf_write(const char *path, const gguf_keys *keys, const gguf_written *tensors, size_t count,
                     const gguf_source *source, rapt_error *err);

#endif
