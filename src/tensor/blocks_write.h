/* tensor/blocks_write.h: rounds fp32 to the numbers of a GGUF file: the `write` functions of the block formats that rapt writes
 * (tensor/blocks.h) and of the two 16-bit floating-point formats, whose blocks are single numbers.
 *
 * All give the bytes of quantize() in gguf's quants.py (0.19.0), each operation rounded to fp32. Callers must first refuse
 * numbers that are not finite, and blocks whose scale is above binary16's largest number. Kernels round in the same way when they
 * pack and store numbers (kernels/body/q8_block.h), but for such blocks, and for tiny ones, the number format has its own
 * rule. */
#ifndef TENSOR_BLOCKS_WRITE_H
#define TENSOR_BLOCKS_WRITE_H

#include <stddef.h>
#include <stdint.h>

/* from[0 .. 32 * blocks - 1] to blocks of a scale d in binary16 and 32 integers: q = x / d rounded, ties away from 0,
 * with d = max |x| / 127. */
void blocks_write_q8_0(size_t blocks, const float *from, void *to);
/* Q4_0: x / d + 8 rounded to 0 .. 15, with d = the number of largest magnitude / -8; element j in the low half of byte j, element
 * 16 + j in the high half. */
void blocks_write_q4_0(size_t blocks, const float *from, void *to);
/* Numbers one by one, as kernels/half.h rounds them. */
void blocks_write_f32(size_t count, const float *from, void *to);
void blocks_write_f16(size_t count, const float *from, void *to);
void blocks_write_bf16(size_t count, const float *from, void *to);

#endif
