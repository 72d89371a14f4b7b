/* tensor/blocks_write.h: fp32 rounded to the numbers of a GGUF file: the `write` functions of the block formats that rapt writes
 * (tensor/blocks.h), and those of its two floating-point formats of 16 bits, whose blocks are single numbers.
 *
 * All give the bytes of quantize() in gguf's quants.py (0.19.0), each operation rounded to fp32. A number that is not finite, or
 * whose scale is above binary16's largest, has no use in a block: callers refuse it before. Kernels round the same way where they
 * pack and store numbers (kernels/body/q8_block.h), but have a rule of the number format for such blocks, and for tiny ones. */
#ifndef TENSOR_BLOCKS_WRITE_H
#define TENSOR_BLOCKS_WRITE_H

#include <stddef.h>
#include <stdint.h>

/* from[0 .. 32 * blocks - 1] to blocks of a scale d in binary16 and 32 integers: q = x / d rounded, ties away from 0,
 * with d = max |x| / 127. */
void blocks_write_q8_0(size_t blocks, const float *from, void *to);
/* The same of 4 bits: x / d + 8 rounded to 0 .. 15, with d = the number of largest magnitude / -8; element j in the low half of
 * byte j, element 16 + j in the high half. */
void blocks_write_q4_0(size_t blocks, const float *from, void *to);
/* Numbers one by one, as kernels/half.h rounds them. */
void blocks_write_f32(size_t count, const float *from, void *to);
void blocks_write_f16(size_t count, const float *from, void *to);
void blocks_write_bf16(size_t count, const float *from, void *to);

#endif
