/* tensor/blocks.h: quantized numbers as GGUF stores them: along a row, blocks of 32 or 256 integers of few bits with one scale or
 * several. For readers and writers of files, and for the weights that are packed from them.
 * The formats are ggml's (ggml-common.h, ggml-quants.c); docs/number-format.md has the formulas. */
#ifndef TENSOR_BLOCKS_H
#define TENSOR_BLOCKS_H

#include <stddef.h>

typedef struct block_format {
    const char *name;       /* "Q8_0" */
    int id;                 /* GGUF's ggml_type */
    size_t elements, bytes; /* size of a block; blocks are not aligned */
    /* to[0 .. blocks * elements - 1] = the numbers of `blocks` blocks, each operation rounded to fp32, as in the reference. */
    void (*read)(size_t blocks, const void *from, float *to);
    /* Rounds numbers to blocks, as the reference does; NULL: rapt does not write the format. */
    void (*write)(size_t blocks, const float *from, void *to);
} block_format;

extern const block_format BLOCKS_Q4_0, BLOCKS_Q4_1, BLOCKS_Q5_0, BLOCKS_Q5_1, BLOCKS_Q8_0, BLOCKS_Q4_K, BLOCKS_Q5_K, BLOCKS_Q6_K;

/* The format with this id of GGUF, or with this name in any case; NULL: there is none. */
const block_format *blocks_of_id(int id);
const block_format *blocks_of_name(const char *name);

/* The first of `count` blocks with an infinite or NaN scale, which makes its numbers so; `count`: there is none. */
size_t blocks_first_bad(const block_format *format, size_t count, const void *from);

#endif
