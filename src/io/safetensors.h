/* io/safetensors.h: named tensors in one file, in the safetensors format, which PyTorch reads.
 *
 *   - 8 bytes: N, the length of the header, little-endian
 *   - N bytes: JSON, {"__metadata__": {KEY: TEXT, ...}, NAME: {"dtype": "F32", "shape": [2, 3],
 *     "data_offsets": [begin, end]}, ...}, with spaces behind it
 *   - the rest: data, row-major and little-endian; the tensors fill it without holes or overlaps
 *
 * A file that rapt wrote has two checksums (XXH3, 64 bits, hex) in its metadata: "xxh3_64" of the data section, and
 * "xxh3_64_header" of the header with that checksum's own digits as zeros. So a changed bit anywhere is detected; a program that
 * changes tensors must recompute or drop them. */
#ifndef IO_SAFETENSORS_H
#define IO_SAFETENSORS_H

#include "base/file.h"
#include "rapt/base.h"

#define SAFETENSORS_MAX_DIMS 8
#define SAFETENSORS_MAX_HEADER ((size_t)100000000) /* the format's own limit */
#define SAFETENSORS_HASH_DIGITS 16
#define SAFETENSORS_HASH_KEY "xxh3_64"
#define SAFETENSORS_HEADER_HASH_KEY "xxh3_64_header"

/* The element types we know, with the format's names and their bytes. */
#define SAFETENSORS_DTYPES(X)      \
    X(SAFETENSORS_F32, "F32", 4)   \
    X(SAFETENSORS_F64, "F64", 8)   \
    X(SAFETENSORS_I32, "I32", 4)   \
    X(SAFETENSORS_I64, "I64", 8)   \
    X(SAFETENSORS_U8, "U8", 1)     \
    X(SAFETENSORS_F16, "F16", 2)   \
    X(SAFETENSORS_BF16, "BF16", 2) \
    X(SAFETENSORS_I8, "I8", 1)     \
    X(SAFETENSORS_I16, "I16", 2)   \
    X(SAFETENSORS_BOOL, "BOOL", 1)

typedef enum safetensors_dtype {
#define SAFETENSORS_DTYPE_ENUM(id, name, bytes) id,
    SAFETENSORS_DTYPES(SAFETENSORS_DTYPE_ENUM)
#undef SAFETENSORS_DTYPE_ENUM
    SAFETENSORS_DTYPE_COUNT
} safetensors_dtype;

/* One tensor: `bytes` is the product of the shape times the element size; ndim 0 is a scalar. */
typedef struct safetensors_entry {
    const char *name;
    safetensors_dtype dtype;
    int ndim;
    size_t shape[SAFETENSORS_MAX_DIMS];
    const void *data;
    size_t bytes;
} safetensors_entry;

/* Writes `count` tensors to `path`, atomically: there is always the old file or the whole new one. `metadata` is key, value, key,
 * value, ..., NULL (or NULL for none); the checksums are added to it. The header lists tensors and metadata in the given order;
 * the data have the widest elements first, so that every tensor is aligned. Equal arguments give equal bytes. RAPT_ERR_VALUE: a
 * name or key is repeated, reserved or not UTF-8, or `bytes` does not match the shape. */
rapt_code safetensors_write(const char *path, const safetensors_entry *entries, size_t count,
                            const char *const *metadata, rapt_error *err);

#define SAFETENSORS_PORTION ((size_t)4 << 20) /* bytes */

/* The source of tensors whose data are not in memory but come from another process or a computation. `read` writes bytes offset
 * .. offset + bytes - 1 of entries[entry], in the layout of the file, to `to`. Each byte is asked for once, in the order of the
 * file: tensors with wider elements first, tensors of equal width in the given order; within a tensor, portions of
 * SAFETENSORS_PORTION bytes from 0 on, the last one shorter. So the entries determine the sequence of calls. A failure ends the
 * writing with its code. */
typedef struct safetensors_source {
    rapt_code (*read)(void *context, size_t entry, size_t offset, void *to, size_t bytes, rapt_error *err);
    void *context;
} safetensors_source;

/* safetensors_write with byte for byte the same file, in which entries whose `data` is NULL are read from `source` (borrowed) in
 * portions, so that memory does not grow with the file. */
rapt_code safetensors_write_from(const char *path, const safetensors_entry *entries, size_t count,
                                 const char *const *metadata, const safetensors_source *source, rapt_error *err);

typedef struct safetensors safetensors;

/* Maps a regular file and checks all of it, with the checksums if there are any; files of other writers may have none. It must
 * not be truncated until safetensors_close; replacing it by another file does no harm. On success the caller owns `*out`; on
 * failure it is NULL. RAPT_ERR_FORMAT: "PATH: byte N: reason" or "PATH: tensor "NAME": reason". */
rapt_code safetensors_open(const char *path, safetensors **out, rapt_error *err);

/* safetensors_open that leaves unaligned tensors in the file: readers of their data must not assume an alignment. For models of
 * other programs, which may be larger than memory. */
rapt_code safetensors_open_in_place(const char *path, safetensors **out, rapt_error *err);
/* The file, which belongs to `s`. */
const file_map *safetensors_map(const safetensors *s);

/* Checks a file that is already in memory, as safetensors_open does; `name` stands for the path in messages. `data` comes from
 * malloc; the call takes ownership of it, even on failure. */
rapt_code safetensors_parse(const char *name, char *data, size_t size, safetensors **out, rapt_error *err);

/* The tensors in the header's order; they belong to `s`. Their data is aligned to the element size. */
size_t safetensors_count(const safetensors *s);
const safetensors_entry *safetensors_at(const safetensors *s, size_t i);           /* i < count */
const safetensors_entry *safetensors_find(const safetensors *s, const char *name); /* NULL: no such tensor */

size_t safetensors_bytes(const safetensors *s); /* bytes of the whole file */

/* The text of a metadata key, or NULL. */
const char *safetensors_metadata(const safetensors *s, const char *key);

/* Whether the whole file was compared with its checksums, of its data and of its header. */
bool safetensors_is_checked(const safetensors *s);

void safetensors_close(safetensors *s); /* NULL is fine */

/* Shared by reader and writer. */
const char *safetensors_dtype_name(safetensors_dtype dtype);
size_t safetensors_dtype_bytes(safetensors_dtype dtype);
/* Bytes of a tensor; false when they, or a size of the shape, do not fit 64 bits. */
bool safetensors_shape_bytes(const size_t *shape, int ndim, safetensors_dtype dtype, size_t *bytes);
/* The position of a checksum's digits in the header; NULL if it has none; `key` is SAFETENSORS_HASH_KEY or
 * SAFETENSORS_HEADER_HASH_KEY. */
char *safetensors_hash_at(char *header, size_t size, const char *key);
/* A checksum as text: 16 hexadecimal digits and a NUL. */
void safetensors_digits(uint64_t hash, char digits[SAFETENSORS_HASH_DIGITS + 1]);
/* The checksum of `size` bytes. */
void safetensors_hash(const void *data, size_t size, char digits[SAFETENSORS_HASH_DIGITS + 1]);

#endif
