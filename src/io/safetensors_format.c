/* io/safetensors_format.c: what the reader and the writer of safetensors share: element types, sizes, checksums. For
 * safetensors.c and safetensors_write.c. Neither reads nor writes files. */
#include "base/chars.h"
#include "io/safetensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "safetensors are little-endian, and this code copies values as they are in memory"
#endif

const char *safetensors_dtype_name(safetensors_dtype dtype)
{
    static const char *const names[] = {
#define DTYPE_NAME(id, name, bytes) name,
        SAFETENSORS_DTYPES(DTYPE_NAME)
#undef DTYPE_NAME
    };
    return (size_t)dtype < sizeof names / sizeof *names ? names[dtype] : NULL;
}

size_t safetensors_dtype_bytes(safetensors_dtype dtype)
{
    static const size_t sizes[] = {
#define DTYPE_BYTES(id, name, bytes) bytes,
        SAFETENSORS_DTYPES(DTYPE_BYTES)
#undef DTYPE_BYTES
    };
    return sizes[dtype];
}

bool safetensors_shape_bytes(const size_t *shape, int ndim, safetensors_dtype dtype, size_t *bytes)
{
    *bytes = safetensors_dtype_bytes(dtype);
    for (int i = 0; i < ndim; i++)
        if (shape[i] > SIZE_MAX / 2 || __builtin_mul_overflow(*bytes, shape[i], bytes))
            return false;
    return true;
}

/* Inside a JSON text the quotes of this pattern would be escaped, so it can only be the key itself. */
char *safetensors_hash_at(char *header, size_t size, const char *key)
{
    char pattern[32];
    size_t length = (size_t)snprintf(pattern, sizeof pattern, "\"%s\":\"", key);
    char *found = chars_find(header, size, pattern, length);
    bool whole = found && size - (size_t)(found - header) >= length + SAFETENSORS_HASH_DIGITS;
    return whole ? found + length : NULL;
}

void safetensors_digits(uint64_t hash, char digits[SAFETENSORS_HASH_DIGITS + 1])
{
    snprintf(digits, SAFETENSORS_HASH_DIGITS + 1, "%016" PRIx64, hash);
}

void safetensors_hash(const void *data, size_t size, char digits[SAFETENSORS_HASH_DIGITS + 1])
{
    safetensors_digits((uint64_t)XXH3_64bits(data, size), digits);
}
