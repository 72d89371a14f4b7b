/* tensor/stored.c: chooses the kernel for a rapt_type. The rounding is in kernels/body/stored_rows.h. */
#include "tensor/stored.h"

#include <string.h>

enum { Q8_BLOCK_ELEMENTS = 32, Q8_SCALE_BYTES = 2 };

size_t stored_bytes(rapt_type storage, size_t n)
{
    const size_t blocks = n / Q8_BLOCK_ELEMENTS + (n % Q8_BLOCK_ELEMENTS > 0);
    return storage == RAPT_TYPE_Q8_0 ? n + Q8_SCALE_BYTES * blocks
                                        : n * (storage == RAPT_TYPE_BF16 ? sizeof(uint16_t) : sizeof(rapt_real));
}

void stored_write(const kernels *k, rapt_type storage, size_t rows, size_t n, const rapt_real *x, uint8_t *to)
{
    const size_t bytes = stored_bytes(storage, n);
    if (storage == RAPT_TYPE_FP32)
        memcpy(to, x, rows * bytes);
    else if (storage == RAPT_TYPE_BF16)
        k->round_bf16(rows * n, x, to);
    else
        for (size_t i = 0; i < rows; i++)
            k->round_q8(n, x + i * n, to + i * bytes);
}

void stored_read(const kernels *k, rapt_type storage, size_t n, const uint8_t *from, rapt_real *y)
{
    if (storage == RAPT_TYPE_FP32)
        memcpy(y, from, stored_bytes(storage, n));
    else
        (storage == RAPT_TYPE_BF16 ? k->widen_bf16 : k->widen_q8)(n, from, y);
}
