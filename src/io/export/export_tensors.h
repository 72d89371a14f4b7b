/* io/export/export_tensors.h: the tensors of a folder for another program. Each is made of parameters of the model when it is
 * written, so that no second model lies in memory. For the writers of folders; which tensors a class has, say its tables. */
#ifndef IO_EXPORT_EXPORT_TENSORS_H
#define IO_EXPORT_EXPORT_TENSORS_H

#include "io/safetensors.h"
#include "rapt/tensor.h"

enum { EXPORT_PARTS = 3, EXPORT_VALUE_PART = 2, EXPORT_NAME = 128 }; /* EXPORT_VALUE_PART: of queries, keys, values */

typedef enum export_how {
    EXPORT_TRANSPOSED = 1, /* a weight is [in, out] */
    EXPORT_BY_HEAD = 2,    /* rows of the parts go head by head */
    EXPORT_BIAS = 4,       /* a bias is zeros where our layer has none */
    EXPORT_NORM = 8,       /* so is that of a layer norm; an RMS norm has none */
    EXPORT_SHARED = 16,    /* of a model that shares a matrix, the shared one */
    EXPORT_OUT = 32,       /* rows are features of the residual stream, which are put in another order */
    EXPORT_IN = 64,        /* columns are */
    EXPORT_ROW = 128,      /* a vector is a matrix of one row */
    EXPORT_PAIRS = 256,    /* features that are rotated together, ours (j, j + d/2) of a head, stand beside each other */
    EXPORT_TURNED = 512    /* features that are rotated are the first of a head, in pairs (j, j + n/2) of these n */
} export_how;

/* A row of a class's table. */
typedef struct export_name {
    const char *theirs;             /* "#": the number of the layer, "@": "weight" or "bias", "%": "gamma" or "beta" */
    const char *ours[EXPORT_PARTS]; /* rows one after the other; of layers without a number only what the model has */
    unsigned how;                   /* of export_how */
} export_name;

typedef struct export_tensor {
    char name[EXPORT_NAME];
    safetensors_dtype dtype; /* F32; of a number also I8, I16, I32 */
    int ndim;                /* 0: a number */
    size_t shape[2];
    const rapt_param *parts[EXPORT_PARTS]; /* NULL: zeros */
    size_t rows[EXPORT_PARTS];             /* of the parts */
    unsigned how;
    double number;
} export_tensor;

typedef struct export_tensors {
    const rapt_params *params;
    size_t heads;        /* of EXPORT_BY_HEAD */
    size_t head_dim, rotary_dim; /* of EXPORT_PAIRS and EXPORT_TURNED: features of a head, and those that are rotated */
    bool rms;            /* norms are RMS norms */
    const size_t *order; /* of EXPORT_OUT and EXPORT_IN: our feature at each place; NULL: ours */
    const char *path;    /* for messages */
    export_tensor *list;
    size_t count, capacity;
    bool *used; /* [rapt_params_count] */
} export_tensors;

rapt_code export_tensors_begin(export_tensors *set, const rapt_params *params, rapt_error *err);
void export_tensors_free(export_tensors *set);

/* Adds the tensors of a table, which {0} ends, for as many layers as the model has. */
rapt_code export_tensors_add(export_tensors *set, const export_name *names, rapt_error *err);
rapt_code export_tensors_add_number(export_tensors *set, const char *name, safetensors_dtype dtype, double number,
                                    rapt_error *err);
/* A matrix of one row of zeros. */
rapt_code export_tensors_add_zeros(export_tensors *set, const char *name, size_t columns, rapt_error *err);
/* Refuses (RAPT_ERR_VALUE) where a parameter of the model is in no tensor. */
rapt_code export_tensors_check(const export_tensors *set, rapt_error *err);

size_t export_tensor_elements(const export_tensor *t);
/* The elements of a tensor that is no number. */
void export_tensor_fill(const export_tensors *set, const export_tensor *t, float *to);
/* Those of `count` rows of one whose `how` is EXPORT_PAIRS or EXPORT_TURNED, besides what says which tensors there are; of a
 * vector, rows are elements. export_tensor_fill does not know these two. */
void export_tensor_rows(const export_tensors *set, const export_tensor *t, size_t first, size_t count, float *to);

#endif
