/* io/export/export_tensors.h: the tensors of a folder for another program. Each is made from parameters of the model as it is
 * written, so that there is no second model in memory. For the writers of folders, whose tables list the tensors of a class. */
#ifndef IO_EXPORT_EXPORT_TENSORS_H
#define IO_EXPORT_EXPORT_TENSORS_H

#include "io/safetensors.h"
#include "rapt/tensor.h"

enum { EXPORT_PARTS = 3, EXPORT_VALUE_PART = 2, EXPORT_NAME = 128 }; /* EXPORT_VALUE_PART: index of the values among queries,
                                                                        keys, values */

typedef enum export_how {
    EXPORT_TRANSPOSED = 1, /* a weight is [in, out] */
    EXPORT_BY_HEAD = 2,    /* rows of the parts are ordered head by head */
    EXPORT_BIAS = 4,       /* a bias that becomes zeros if rapt's layer has none */
    EXPORT_NORM = 8,       /* likewise for a layer norm; an RMS norm has none */
    EXPORT_SHARED = 16,    /* if the model shares a matrix, the shared one */
    EXPORT_OUT = 32,       /* rows are features of the residual stream, which get another order */
    EXPORT_IN = 64,        /* columns are */
    EXPORT_ROW = 128,      /* a vector is a matrix of one row */
    EXPORT_PAIRS = 256,    /* features that are rotated together, (j, j + d/2) of a head in rapt, become adjacent */
    EXPORT_TURNED = 512    /* the rotated features are the first n of a head, in pairs (j, j + n/2) */
} export_how;

/* A row of a class's table. */
typedef struct export_name {
    const char *theirs;             /* "#": the number of the layer, "@": "weight" or "bias", "%": "gamma" or "beta" */
    const char *ours[EXPORT_PARTS]; /* rows one after the other; names without a layer's number only if the model has them */
    unsigned how;                   /* bits of export_how */
} export_name;

typedef struct export_tensor {
    char name[EXPORT_NAME];
    safetensors_dtype dtype; /* F32; for a single number also I8, I16, I32 */
    int ndim;                /* 0: a number */
    size_t shape[2];
    const rapt_param *parts[EXPORT_PARTS]; /* NULL: zeros */
    size_t rows[EXPORT_PARTS];             /* rows of the parts */
    unsigned how;
    double number;
} export_tensor;

typedef struct export_tensors {
    const rapt_params *params;
    size_t heads;        /* for EXPORT_BY_HEAD */
    size_t head_dim, rotary_dim; /* for EXPORT_PAIRS and EXPORT_TURNED: features of a head, and rotated features */
    bool rms;            /* norms are RMS norms */
    const size_t *order; /* for EXPORT_OUT and EXPORT_IN: rapt's feature at each place; NULL: rapt's order */
    const char *path;    /* for messages */
    export_tensor *list;
    size_t count, capacity;
    bool *used; /* [rapt_params_count] */
} export_tensors;

rapt_code export_tensors_begin(export_tensors *set, const rapt_params *params, rapt_error *err);
void export_tensors_free(export_tensors *set);

/* Adds the tensors of a table (ended by {0}) for all layers of the model. */
rapt_code export_tensors_add(export_tensors *set, const export_name *names, rapt_error *err);
rapt_code export_tensors_add_number(export_tensors *set, const char *name, safetensors_dtype dtype, double number,
                                    rapt_error *err);
/* A matrix of one row of zeros. */
rapt_code export_tensors_add_zeros(export_tensors *set, const char *name, size_t columns, rapt_error *err);
/* RAPT_ERR_VALUE if a parameter of the model is in no tensor. */
rapt_code export_tensors_check(const export_tensors *set, rapt_error *err);

size_t export_tensor_elements(const export_tensor *t);
/* Writes the elements of a tensor that is not a single number. */
void export_tensor_fill(const export_tensors *set, const export_tensor *t, float *to);
/* Writes `count` rows of a tensor with EXPORT_PAIRS or EXPORT_TURNED, which export_tensor_fill does not support; the rows of a
 * vector are its elements. */
void export_tensor_rows(const export_tensors *set, const export_tensor *t, size_t first, size_t count, float *to);

#endif
