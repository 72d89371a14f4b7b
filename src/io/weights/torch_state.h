/* io/weights/torch_state.h: the pickle of a dict of tensors that torch.save wrote. Both of its formats have the same pickle; only
 * the places of the storages' bytes differ. For the readers of these formats, torch_file.c and torch_older.c.
 *
 * The order: read, set the data of all storages, take, free. */
#ifndef IO_TORCH_STATE_H
#define IO_TORCH_STATE_H

#include "base/quote.h"
#include "io/weights/pickle.h"
#include "io/weights/torch_file.h"

typedef struct torch_storage {
    const char *key; /* within the pickle, without a NUL */
    size_t key_size;
    safetensors_dtype dtype;
    size_t elements;
    const char *data; /* `elements` elements, set by the caller */
} torch_storage;

typedef struct torch_tensor {
    weights_tensor shown; /* without name and data */
    size_t storage;       /* its number */
    size_t offset;        /* offset of the first element in the storage */
} torch_tensor;

typedef struct torch_state {
    const char *path;
    bool older;              /* the format before PyTorch 1.6 */
    torch_storage *storages; /* one for each mention of one: a key that is shared comes again */
    size_t storage_count, storage_capacity;
    torch_tensor *tensors; /* as they were built */
    size_t tensor_count, tensor_capacity;
    pickle *pickle;
    pickle_value dict;
    rapt_error *err; /* must not hold an earlier failure */
} torch_state;

/* Reads the pickle at *at in `bytes`, which are borrowed until torch_state_free, and sets *at to its end. Every element of each
 * tensor is within the stated elements of its storage. The caller sets path, older and err of *s and zeroes the rest. */
rapt_code torch_state_read(torch_state *s, const char *bytes, size_t size, size_t *at);
/* Takes the named tensors of the dict, once storages have data. The caller frees *out, even after a failure. */
rapt_code torch_state_take(const torch_state *s, torch_file *out);
void torch_state_free(torch_state *s);

/* Whether that many bytes are the elements of a storage. */
bool torch_storage_holds(const torch_storage *s, size_t bytes);

/* Errors: RAPT_ERR_FORMAT, "PATH: reason"; RAPT_ERR_MEMORY. */
RAPT_PRINTF(2, 3)
rapt_code torch_state_bad(const torch_state *s, const char *format, ...);
rapt_code torch_state_no_memory(const torch_state *s);
/* The beginning of a text without a NUL, for a message. */
quoted torch_state_quote(const char *text, size_t size);

#endif
