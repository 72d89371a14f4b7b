/* io/stored_file.h: safetensors files whose matrices are stored in fewer bits than they have in memory: F16, BF16, or blocks
 * (io/stored_blocks.h). For rapt_model_export. */
#ifndef IO_STORED_FILE_H
#define IO_STORED_FILE_H

#include "io/safetensors.h"
#include "rapt/io.h"

/* Tensors in fp32, and the type that each becomes. Q8_0 and Q4_0 mean fp32 for tensors that are not matrices, and for matrices
 * whose rows are not whole blocks. */
typedef struct stored_tensors {
    const safetensors_entry *entries; /* [count], F32; `data` is not read */
    const rapt_type *types; /* [count] */
    size_t count;
    const char *const *metadata;      /* pairs of texts, NULL ends them */
    /* The elements of a tensor, good until it is asked for the next one. */
    const float *(*elements)(void *context, size_t entry);
    void *context;
    const rapt_export_options *options; /* its callbacks */
    const char *shown;                /* path in messages about tensors: the final path of the file */
} stored_tensors;

/* The largest magnitude of a type; 0: the same as fp32. */
double stored_file_largest(rapt_type type);

/* Fails with RAPT_ERR_VALUE: no matrix of the file would be stored as blocks of the type. */
rapt_code stored_file_no_blocks(const char *path, rapt_type type, rapt_error *err);

/* Writes the tensors, the whole file or nothing. RAPT_ERR_VALUE: a type cannot hold a number, or blocks are wanted and fit no
 * matrix; RAPT_ERR_INTERRUPTED, RAPT_ERR_IO, RAPT_ERR_MEMORY. */
rapt_code stored_file_write(const char *path, const stored_tensors *t, rapt_error *err);

#endif
