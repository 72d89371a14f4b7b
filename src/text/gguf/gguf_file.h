/* text/gguf/gguf_file.h: GGUF files, as llama.cpp and related programs write them: named values, then tensors. The values become
 * a tokenizer here and a configuration in io/gguf; io/weights takes the tensors.
 *
 *   - "GGUF", u32 version 3 (or 2, which is the same), u64 count of tensors, u64 count of values
 *   - values: text key, u32 type, the value; a text is a u64 number of bytes, and the bytes; an array is u32 type, u64 count and
 *     the elements
 *   - tensors: text name, u32 count of dimensions, u64 each, the fastest first; u32 type, u64 place in the data
 *   - zeros up to a multiple of the alignment (value "general.alignment", or 32); the data, each tensor aligned in the same way
 *
 * All numbers are little-endian. ggml's docs/gguf.md describes the format; no code comes from there. */
#ifndef TEXT_GGUF_FILE_H
#define TEXT_GGUF_FILE_H

#include "base/file.h"
#include "tensor/blocks.h"

#include <stdint.h>

enum { GGUF_DIMS = 4, GGUF_NAME = 64 }; /* a name with its NUL */

typedef enum gguf_type {
    GGUF_U8,
    GGUF_I8,
    GGUF_U16,
    GGUF_I16,
    GGUF_U32,
    GGUF_I32,
    GGUF_F32,
    GGUF_BOOL,
    GGUF_TEXT,
    GGUF_ARRAY,
    GGUF_U64,
    GGUF_I64,
    GGUF_F64,
    GGUF_TYPES
} gguf_type;

/* Types of single elements, not of blocks, by their ids. */
enum { GGUF_PLAIN_F32 = 0, GGUF_PLAIN_F16 = 1, GGUF_PLAIN_I8 = 24, GGUF_PLAIN_I16 = 25, GGUF_PLAIN_I32 = 26, GGUF_PLAIN_I64 = 27,
       GGUF_PLAIN_F64 = 28, GGUF_PLAIN_BF16 = 30 };

/* Bytes in the file, of any kind, without a NUL at the end. */
typedef struct gguf_text {
    const char *data;
    size_t size;
} gguf_text;

typedef struct gguf_value {
    gguf_text key;
    gguf_type type;   /* type of the value, or of an array's elements, which are no arrays */
    bool is_array;
    size_t count;     /* number of an array's elements; otherwise 1 */
    const char *data; /* the first of them in the file, not aligned */
} gguf_value;

typedef struct gguf_tensor {
    char name[GGUF_NAME];
    int ndim;                   /* 1 to GGUF_DIMS */
    size_t shape[GGUF_DIMS];    /* the fastest last, as for rows in memory; none is 0 */
    int type;                   /* its id */
    const block_format *blocks; /* NULL: plain elements */
    size_t elements, bytes;     /* rows are whole blocks */
    const char *data;           /* in the file, not aligned in memory */
} gguf_tensor;

typedef struct gguf_file {
    char *path;
    file_map map;
    gguf_value *values;
    const gguf_value **by_key; /* sorted */
    size_t value_count;
    gguf_tensor *tensors;
    size_t tensor_count;
    size_t alignment;
} gguf_file;

/* Whether bytes begin as a GGUF file of any version; whether a path leads to such a file. */
bool gguf_begins(const char *bytes, size_t size);
bool gguf_is_file(const char *path);

/* Maps a file and checks all of it except the elements: every count against the remaining bytes, before memory is taken; keys and
 * names are unique; tensors are within the file, one after the other. On success the caller owns *out, otherwise it is NULL.
 * RAPT_ERR_FORMAT: "PATH: reason", also for files that rapt does not read: version 1, big-endian, one of several files of a
 * model, types of tensors without a row in blocks.h. RAPT_ERR_IO, RAPT_ERR_MEMORY. */
rapt_code gguf_open(const char *path, gguf_file **out, rapt_error *err);
void gguf_close(gguf_file *f); /* NULL is fine */

/* The value of a key; NULL: there is none. */
const gguf_value *gguf_find(const gguf_file *f, const char *key);
/* The tensor with a name; NULL: there is none. */
const gguf_tensor *gguf_find_tensor(const gguf_file *f, const char *name);

/* Element i of a value as a whole number (integers and bools), or as a real number (all types except texts). False: another type,
 * or the number does not fit int64_t. */
bool gguf_whole(const gguf_value *v, size_t i, int64_t *to);
bool gguf_real(const gguf_value *v, size_t i, double *to);
/* The first text of a value of texts; gguf_text_next(&text) moves to the next. */
gguf_text gguf_text_first(const gguf_value *v);
gguf_text gguf_text_next(const gguf_text *before);
/* A copy with a NUL, for the caller to free; NULL: out of memory. */
char *gguf_text_copy(const gguf_text *text);

/* The name of a type of tensors, "F16", "Q4_K", "IQ2_XXS", also of types that are not read; NULL: no type has this id. */
const char *gguf_type_name(int type);
/* Bytes of a single element; 0: not a type of single elements that is read. */
size_t gguf_plain_bytes(int type);

#endif
