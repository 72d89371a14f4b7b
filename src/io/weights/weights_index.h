/* io/weights/weights_index.h: the index of a model that was saved in several files (shards), model.safetensors.index.json:
 * {"metadata": {"total_size": BYTES}, "weight_map": {TENSOR: FILE, ...}}. For weights.c. */
#ifndef IO_WEIGHTS_INDEX_H
#define IO_WEIGHTS_INDEX_H

#include "rapt/base.h"

#include <jansson.h>

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
