/* io/weights/widen.c: widens elements of files to fp32, in loops that compilers vectorize. kernels/half.h widens 16-bit numbers.
 * It knows no files. */
#include "io/weights/widen.h"

#include "kernels/half.h"

#include <string.h>

static inline float widen_single(float x)
{
    return x;
}

static inline float narrow_double(double x)
{
    return (float)x;
}

/* One loop for contiguous elements of TYPE, in which the stride is known, and one for others. */
#define WIDEN_ROW(name, TYPE, convert)                                    \
    static void name(const weights_row *row, float *to)                   \
    {                                                                     \
        TYPE x;                                                           \
        const char *from = row->data;                                     \
        to += row->first;                                                 \
        if (row->stride == 1)                                             \
            for (size_t i = 0; i < row->count; i++) {                     \
                memcpy(&x, from + i * sizeof x, sizeof x);                \
                to[i] = convert(x);                                       \
            }                                                             \
        else                                                              \
            for (size_t i = 0; i < row->count; i++) {                     \
                memcpy(&x, from + i * row->stride * sizeof x, sizeof x);  \
                to[i] = convert(x);                                       \
            }                                                             \
    }

WIDEN_ROW(widen_row_f32, float, widen_single)
WIDEN_ROW(widen_row_f64, double, narrow_double)
WIDEN_ROW(widen_row_f16, uint16_t, half_to_float)
WIDEN_ROW(widen_row_bf16, uint16_t, bf16_to_float)

#define RUN 1024

/* An element is infinite or NaN if all bits of its exponent are set. Spans without such an element are skipped in a loop without
 * an exit, which compilers vectorize. */
#define FIRST_BAD(name, TYPE, EXPONENT)                              \
    static size_t name(const weights_row *row)                       \
    {                                                                \
        size_t i = 0;                                                \
        TYPE bits, any = 0;                                          \
        for (; row->stride == 1 && i + RUN <= row->count; i += RUN) { \
            for (size_t j = 0; j < RUN; j++) {                       \
                memcpy(&bits, row->data + (i + j) * sizeof bits, sizeof bits); \
                any |= (bits & (EXPONENT)) == (EXPONENT);            \
            }                                                        \
            if (any)                                                 \
                break;                                               \
        }                                                            \
        for (; i < row->count; i++) {                                \
            memcpy(&bits, row->data + i * row->stride * sizeof bits, sizeof bits); \
            if ((bits & (EXPONENT)) == (EXPONENT))                   \
                break;                                               \
        }                                                            \
        return i;                                                    \
    }

FIRST_BAD(first_bad_f32, uint32_t, 0x7F800000u)
FIRST_BAD(first_bad_f64, uint64_t, UINT64_C(0x7FF) << 52)
FIRST_BAD(first_bad_f16, uint16_t, 0x7C00)
FIRST_BAD(first_bad_bf16, uint16_t, 0x7F80)

typedef struct real_type {
    void (*widen)(const weights_row *row, float *to);
    size_t (*first_bad)(const weights_row *row);
} real_type;

static const real_type REAL_TYPES[SAFETENSORS_DTYPE_COUNT] = {
    [SAFETENSORS_F32] = {widen_row_f32, first_bad_f32},
    [SAFETENSORS_F64] = {widen_row_f64, first_bad_f64},
    [SAFETENSORS_F16] = {widen_row_f16, first_bad_f16},
    [SAFETENSORS_BF16] = {widen_row_bf16, first_bad_bf16},
};

bool widen_is_real(safetensors_dtype dtype)
{
    return REAL_TYPES[dtype].widen != NULL;
}

void widen_row(safetensors_dtype dtype, const weights_row *row, float *to)
{
    REAL_TYPES[dtype].widen(row, to);
}

size_t widen_first_bad(safetensors_dtype dtype, const weights_row *row)
{
    return REAL_TYPES[dtype].first_bad(row);
}
