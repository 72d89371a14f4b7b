/* cli/vectors_out.h: vectors to standard output: lines of numbers, JSON, or an array of NumPy. For cmd_embed.c. */
#ifndef CLI_VECTORS_OUT_H
#define CLI_VECTORS_OUT_H

#include "rapt/tensor.h"

#include "base/memory_stream.h"

typedef enum vectors_format {
    VECTORS_TEXT, /* a line of numbers for each vector, with spaces between them */
    VECTORS_JSONL, /* {"embedding": [...]} */
    VECTORS_NPY    /* one float32 array [count, d], version 1.0 of NumPy's format */
} vectors_format;

/* Vectors that go out. All of NPY are kept until the end, since their number comes first. */
typedef struct vectors_out {
    vectors_format format;
    size_t d;
    memory_stream kept;
    size_t count;       /* vectors so far */
} vectors_out;

/* Writes x [count, d] with one call, or keeps it for the end. Numbers have nine digits, from which the same float is read. */
rapt_code vectors_out_put(vectors_out *o, const rapt_real *x, size_t count, rapt_error *err);
/* Writes the vectors that were kept, unless `before` is a failure, which it returns. Frees them. */
rapt_code vectors_out_end(vectors_out *o, rapt_code before, rapt_error *err);

#endif
