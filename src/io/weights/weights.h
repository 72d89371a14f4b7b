/* io/weights/weights.h: the tensors of a model of another program, whatever files they are in. For readers of Hugging Face
 * folders and `rapt info`.
 *
 * A folder's tensors are in the first of these that is there: model.safetensors, model.safetensors.index.json with its shards,
 * pytorch_model.bin, pytorch_model.bin.index.json with its shards. Files are mapped and stay so; a tensor is the bytes in its
 * file until weights_read widens it, once. What a tensor is for is not known here. */
#ifndef IO_WEIGHTS_H
#define IO_WEIGHTS_H

#include "base/pool.h"
#include "io/weights/weights_tensor.h"

typedef struct weights weights;

/* Opens a folder, or one of those files under any name, or a GGUF file; a file is told apart by how it begins, an index by
 * ".index.json". All of it is checked but the values: headers, pickles, that no tensor is in two files, and that an index says
 * where each is. Files must not be cut off until weights_close. On success the caller owns *out, else it is NULL.
 * RAPT_ERR_NOT_FOUND: there is none of them; RAPT_ERR_FORMAT: "PATH: reason"; RAPT_ERR_IO, RAPT_ERR_MEMORY. */
rapt_code weights_open(const char *path, weights **out, rapt_error *err);
void weights_close(weights *w); /* NULL is fine */

/* Tensors in the order of their files. They belong to `w`, their names and data, too. */
size_t weights_count(const weights *w);
const weights_tensor *weights_at(const weights *w, size_t i);             /* i < count */
const weights_tensor *weights_find(const weights *w, const char *name);   /* NULL: no such tensor */

/* Files that hold tensors, with their bytes. */
size_t weights_file_count(const weights *w);
const char *weights_file_path(const weights *w, size_t i);
size_t weights_file_bytes(const weights *w, size_t i);

/* Floating-point numbers in all tensors. Tensors that are the same elements, as torch.save keeps tied matrices, count once. */
size_t weights_parameters(const weights *w);

/* What is odd but harmless, as a line that names the file: a wrong total_size in the index. NULL: nothing. */
const char *weights_note(const weights *w);

/* Whether `path` is a regular file that is named or begins as one of tensors. Not that it could be read. */
bool weights_is_file(const char *path);

/* Fills to[0 .. elements-1], row by row, with a tensor as fp32: F32, F16 and BF16 exactly, F64 rounded to nearest, blocks
 * as tensor/blocks.h has it.
 * RAPT_ERR_FORMAT for elements that are no floating-point numbers, naming file and tensor. */
rapt_code weights_read(const weights *w, const weights_tensor *t, float *to, rapt_error *err);

/* RAPT_ERR_FORMAT where weights_read would give it. */
rapt_code weights_check_real(const weights *w, const weights_tensor *t, rapt_error *err);

/* RAPT_ERR_NOT_FINITE where an element of a tensor is infinite or NaN, as it is stored, naming file, tensor and the first such
 * place. Reads the tensor once, with the threads of a pool (NULL: on the caller's alone). Integers are finite. Numbers of F64
 * beyond those of fp32 are not looked for. */
rapt_code weights_check_finite(const weights *w, const weights_tensor *t, pool *threads, rapt_error *err);

/* Gives the memory of a tensor's pages back: they are read from the file again when they are needed, which costs time only. */
void weights_forget(const weights *w, const weights_tensor *t);

#endif
