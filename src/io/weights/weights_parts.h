/* io/weights/weights_parts.h: what weights.c finds tensors with, besides safetensors and PyTorch's files. */
#ifndef IO_WEIGHTS_WEIGHTS_PARTS_H
#define IO_WEIGHTS_WEIGHTS_PARTS_H

#include "io/weights/weights_tensor.h"
#include "rapt/base.h"
#include "text/gguf/gguf_file.h"

#include <jansson.h>

/* ---- gguf_tensors.c: tensors of GGUF files, in the form of tensors of other programs. */

/* The tensor in file number `file`; its name and data belong to `t`. */
weights_tensor gguf_tensors_shown(const gguf_tensor *t, size_t file);

/* ---- weights_index.c: the index of a model that was saved in several files (shards), model.safetensors.index.json:
 * {"metadata": {"total_size": BYTES}, "weight_map": {TENSOR: FILE, ...}}. */

#define WEIGHTS_MAX_FILES 4096

typedef struct weights_index {
    json_t *root;
    json_t *map;        /* maps a tensor's name to the name of its file */
    const char **files; /* each once, sorted; borrowed from the root */
    size_t file_count;
    int64_t total_size; /* bytes of all tensors; -1: the index does not say */
} weights_index;

/* Reads an index. Each file must be a name within the folder of the index: a name with a separator, or "..", is refused, because
 * it could lead elsewhere; the file itself may be a link. RAPT_ERR_FORMAT, RAPT_ERR_MEMORY, and errors of reading a file; *x is
 * then empty. */
rapt_code weights_index_read(weights_index *x, const char *path, rapt_error *err);
/* The name of the file that has a tensor, NULL: the index lacks it. */
const char *weights_index_file(const weights_index *x, const char *tensor);
void weights_index_free(weights_index *x);

#endif
