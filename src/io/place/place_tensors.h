/* io/place/place_tensors.h: the tensors of a file that is to be written, as a table lists them. Each is made from parameters of
 * the model as it is written, so that there is no second model in memory. For the writers of Hugging Face folders, GGUF files and
 * CTranslate2 folders. */
#ifndef IO_PLACE_PLACE_TENSORS_H
#define IO_PLACE_PLACE_TENSORS_H

#include "io/place/place.h"
#include "io/safetensors.h"
#include "rapt/io.h"

typedef struct place_tensor {
    char name[PLACE_NAME];
    safetensors_dtype dtype; /* F32; for a single number also I8, I16, I32 */
    int ndim;                /* 0: a number */
    size_t shape[2];
    const rapt_param *parts[PLACE_PARTS_MAX]; /* the rest is zeros */
    place_slice slices[PLACE_PARTS_MAX];
    size_t count;            /* of parts */
    unsigned how;            /* of its row */
    double number;
} place_tensor;

typedef struct place_tensors {
    place_model model;
    bool tied;        /* for rows of PLACE_TIED */
    size_t outputs;   /* elements of a vector of PLACE_ONE_ROW that the model lacks; 0: there is none */
    const char *path; /* for messages */
    place_tensor *list;
    size_t count, capacity;
    bool *used;       /* [rapt_params_count] */
    float *made;      /* the elements of a tensor that is not a parameter's as they are */
    size_t which;     /* its index */
    bool failed;      /* memory has run out: the functions that begin and add do nothing any more */
} place_tensors;

/* Begins an empty set of a model whose members are set; place_tensors_free even after a failure. */
void place_tensors_begin(place_tensors *set);
void place_tensors_free(place_tensors *set);

/* Adds the tensors of all rows, for all layers of the model. */
void place_tensors_add(place_tensors *set);
/* Adds the tensor of a parameter's row, or the parameter to that tensor if it is there. */
void place_tensors_add_param(place_tensors *set, const rapt_param *p, const place_row *row);
void place_tensors_add_number(place_tensors *set, const char *name, safetensors_dtype dtype, double number);
/* After these: RAPT_ERR_MEMORY if the set has failed. */
rapt_code place_tensors_made(const place_tensors *set, rapt_error *err);
/* The same, and RAPT_ERR_VALUE if a parameter of the model is in no tensor. */
rapt_code place_tensors_check(const place_tensors *set, rapt_error *err);

size_t place_tensor_elements(const place_tensor *t);
/* Writes rows first .. first + count - 1 of a tensor; the rows of a vector are its elements. */
void place_tensor_rows(const place_tensor *t, size_t first, size_t count, float *to);

/* Takes the memory for the largest tensor that is made: before place_tensors_values. */
rapt_code place_tensors_reserve(place_tensors *set, rapt_error *err);
/* All elements of a tensor, good until the next call. */
const float *place_tensors_values(place_tensors *set, size_t index);
/* The entries of a safetensors file without data, to be freed, with the names of the set; NULL: out of memory. */
safetensors_entry *place_tensors_entries(const place_tensors *set, rapt_error *err);
/* Writes all tensors as a safetensors file that transformers reads. `o`, which may be NULL, has a `stop`. */
rapt_code place_tensors_save(place_tensors *set, const char *path, const rapt_export_options *o, rapt_error *err);

#endif
