/* io/weights/torch_file.h: the tensors of a file that torch.save wrote (pytorch_model.bin), without Python.
 *
 * Since PyTorch 1.6 such a file is a zip archive; torch_older.c reads the format before. NAME/data.pkl is a pickle (pickle.c) of
 * a dict from names to tensors. A tensor is a call of torch._utils._rebuild_tensor_v2 with a storage, the place of its first
 * element there, its shape and its strides; a storage is a persistent id ("storage", torch.FloatStorage, KEY, device, elements),
 * and its bytes are the entry NAME/data/KEY. NAME/byteorder says "little".
 *
 * Nothing in the pickle is run: it is a description, in which these names, torch._utils._rebuild_parameter,
 * collections.OrderedDict and the other storage types are known, and all other names are refused. */
#ifndef IO_TORCH_FILE_H
#define IO_TORCH_FILE_H

#include "io/weights/weights_tensor.h"

typedef struct torch_file {
    weights_tensor *tensors; /* in the order of the dict; several may share elements */
    size_t count;
    char *names; /* holds all names */
} torch_file;

/* Whether these bytes begin like a file of torch.save, in any of its formats. */
bool torch_file_begins(const char *bytes, size_t size);

/* Reads a file that is in memory. Tensors point into `bytes`, which are borrowed as long as tensors are used; every element of
 * each tensor is within its storage. `path` is for messages. RAPT_ERR_FORMAT, RAPT_ERR_MEMORY; *out is then empty. */
rapt_code torch_file_read(torch_file *out, const char *path, const char *bytes, size_t size, rapt_error *err);
void torch_file_free(torch_file *f);

#endif
