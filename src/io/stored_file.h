/* io/stored_file.h: safetensors files whose matrices are stored in fewer bits than they have in memory: F16, BF16, or blocks
 * (io/stored_blocks.h). For rapt_model_export. */
#ifndef IO_STORED_FILE_H
#define IO_STORED_FILE_H

#include "io/safetensors.h"
#include "rapt/io.h"

/* Tensors in fp32, and the type that each becomes. Of a matrix whose rows are no whole blocks, and of what is no matrix, Q8_0 and
 * Q4_0 are fp32. */
typedef struct stored_tensors {
    const safetensors_entry *entries; /* [count], of F32; `data` is not read */
    const rapt_export_weights *types; /* [count] */
    size_t count;
    const char *const *metadata;      /* pairs of texts, NULL ends them */
    /* The elements of a tensor, good until it is asked for the next one. */
    const float *(*elements)(void *context, size_t entry);
    void *context;
    rapt_stop_fn *stop;               /* or NULL */
    void *stop_context;
    const char *shown;                /* the path that messages about tensors have: where the file will be in the end */
} stored_tensors;

/* The largest magnitude that a type holds; 0: that of fp32. */
double stored_file_largest(rapt_export_weights type);

/* RAPT_ERR_VALUE, and the message of a file in which no matrix would be stored as blocks of a type. */
rapt_code stored_file_no_blocks(const char *path, rapt_export_weights type, rapt_error *err);

/* Writes them, the whole file or nothing. RAPT_ERR_VALUE: a number that its type does not hold, or blocks are wanted and fit no
 * matrix; RAPT_ERR_INTERRUPTED, RAPT_ERR_IO, RAPT_ERR_MEMORY. */
rapt_code stored_file_write(const char *path, const stored_tensors *t, rapt_error *err);

#endif
