/* io/adapter/adapter.h: the low-rank adapters of a folder that PEFT wrote, adapter_config.json and adapter_model.safetensors, and
 * how they are added to the matrices of the model that they were trained for. For the loaders of models. */
#ifndef IO_ADAPTER_H
#define IO_ADAPTER_H

#include "rapt/base.h"

#include <stdbool.h>
#include <stddef.h>

#define ADAPTER_CONFIG "adapter_config.json"
#define ADAPTER_WEIGHTS "adapter_model.safetensors"
#define ADAPTER_TORCH "adapter_model.bin" /* is read if the other one is not there */
#define ADAPTER_PREFIX "base_model.model." /* prefix of the names of modules in the file of tensors */

/* The adapter of a matrix W [out, in]: V = W + scale b a takes its place (Hu et al. 2021, section 4.1). With magnitudes, each row
 * of V is given its magnitude as its length (DoRA: Liu et al. 2024). Or `whole` takes the place of W, and a and b are NULL. */
typedef struct adapter_layer {
    char *module;         /* "model.layers.0.self_attn.q_proj" */
    float *a, *b;         /* [rank, in], [out, rank] */
    float *magnitude;     /* [magnitudes], which is [out]; or NULL */
    float *whole;         /* [out, in], or NULL */
    size_t magnitudes;
    size_t rank, in, out;
    double alpha, scale;  /* scale: alpha / rank, or rank-stabilized, alpha / sqrt(rank) */
    bool taken;           /* its matrix was found */
} adapter_layer;

typedef struct adapter adapter;

/* Reads a folder. On success the caller owns *out; on failure it is NULL. RAPT_ERR_VALUE: a key of adapter_config.json would
 * change the result in a way that rapt does not compute; RAPT_ERR_FORMAT: a file is damaged, or a tensor is left over, missing or
 * of another shape; RAPT_ERR_NOT_FINITE; RAPT_ERR_IO, RAPT_ERR_MEMORY. Messages name file, key and tensor. */
rapt_code adapter_open(const char *folder, adapter **out, rapt_error *err);
void adapter_close(adapter *a); /* NULL is fine */
/* The file of tensors of a folder, adapter_model.safetensors if there is neither; the caller frees *path. */
rapt_code adapter_weights_path(const char *folder, char **path, rapt_error *err);

/* The layers, in the order of the file, and the first that is not whole, which is always there. */
size_t adapter_count(const adapter *a);
const adapter_layer *adapter_at(const adapter *a, size_t i);
const adapter_layer *adapter_first(const adapter *a);
/* The first layer that is whole; NULL: none. */
const adapter_layer *adapter_first_whole(const adapter *a);

/* Whether scales are rank-stabilized (rsLoRA). */
bool adapter_is_stable(const adapter *a);
/* The folder, or the name, of the model that it was trained for, as in the file; "" if the file has none. */
const char *adapter_base(const adapter *a);

/* The adapter of the matrix `tensor`, "model.layers.0.self_attn.q_proj.weight", which has these sizes; *layer is NULL if it has
 * none. `a` may be NULL: no matrix has one. RAPT_ERR_FORMAT: the adapter has other sizes. */
rapt_code adapter_take(adapter *a, const char *tensor, size_t out, size_t in, const adapter_layer **layer, rapt_error *err);
/* For a model whose embedding is its output matrix: an adapter may save both whole, if they are equal, as PEFT does with
 * "ensure_weight_tying"; both count as taken if one of them is. RAPT_ERR_VALUE: it saves other matrices. `a` may be NULL. */
rapt_code adapter_check_tied(adapter *a, rapt_error *err);
/* RAPT_ERR_FORMAT if a layer was never taken, because it belongs to another model. `a` may be NULL. */
rapt_code adapter_check_taken(const adapter *a, rapt_error *err);

/* Makes rows of W what the adapter says: to[i] is row `first` + i of `count`. Sums are in double, and each result is rounded
 * once. */
void adapter_change_rows(const adapter_layer *l, size_t first, size_t count, float *to);

#endif
