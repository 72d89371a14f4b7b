/* io/weights/weights.h: the tensors of a model of another program, in any kind of file. For readers of Hugging Face folders and
 * `rapt info`.
 *
 * A folder's tensors are in the first existing of these: model.safetensors, model.safetensors.index.json with its shards,
 * pytorch_model.bin, pytorch_model.bin.index.json with its shards. Files stay mapped; a tensor is the bytes in its file until
 * weights_read widens it, once. This file does not know the purpose of a tensor. */
#ifndef IO_WEIGHTS_H
#define IO_WEIGHTS_H

#include "base/pool.h"
#include "io/weights/weights_tensor.h"

typedef struct weights weights;

/* Opens a folder, or one of those files under any name, or a GGUF file; a file is recognized by its first bytes, an index by
 * ".index.json". Checks everything except values: headers, pickles, that no tensor is in two files, and that an index says where
 * each is. Files must not be truncated until weights_close. On success the caller owns *out; on failure it is NULL.
 * RAPT_ERR_NOT_FOUND: none of the files exists; RAPT_ERR_FORMAT: "PATH: reason"; RAPT_ERR_IO, RAPT_ERR_MEMORY. */
rapt_code weights_open(const char *path, weights **out, rapt_error *err);
void weights_close(weights *w); /* NULL is fine */

/* Tensors in the order of their files. They belong to `w`, with their names and data. */
size_t weights_count(const weights *w);
const weights_tensor *weights_at(const weights *w, size_t i);             /* i < count */
const weights_tensor *weights_find(const weights *w, const char *name);   /* NULL: no such tensor */

/* Files that hold tensors, with their bytes. */
size_t weights_file_count(const weights *w);
const char *weights_file_path(const weights *w, size_t i);
size_t weights_file_bytes(const weights *w, size_t i);
const file_map *weights_file_map(const weights *w, size_t i); /* until weights_close */

/* Floating-point numbers in all tensors. Tensors that are the same elements, as torch.save keeps tied matrices, count once. */
size_t weights_parameters(const weights *w);

/* A line about something odd but harmless, which names the file: a wrong total_size in the index. NULL: nothing. */
const char *weights_note(const weights *w);

/* Whether `path` is a regular file that is named or begins as one of tensors. Not that it could be read. */
bool weights_is_file(const char *path);

/* Fills to[0 .. elements-1], row by row, with a tensor as fp32: F32, F16 and BF16 exactly, F64 rounded to nearest, blocks as in
 * tensor/blocks.h. RAPT_ERR_FORMAT: elements are not floating-point numbers; the message names file and tensor. */
rapt_code weights_read(const weights *w, const weights_tensor *t, float *to, rapt_error *err);

/* RAPT_ERR_FORMAT if weights_read would return it. */
rapt_code weights_check_real(const weights *w, const weights_tensor *t, rapt_error *err);

/* RAPT_ERR_NOT_FINITE if an element of a tensor, as stored, is infinite or NaN; the message names file, tensor and the first such
 * place. Reads the tensor once, with the threads of a pool (NULL: on the caller's alone). Integers are finite. F64 numbers that
 * are too large for fp32 are not detected. */
rapt_code weights_check_finite(const weights *w, const weights_tensor *t, pool *threads, rapt_error *err);

/* Gives back the memory of a tensor's pages: they are read from the file again when they are needed, which costs only time. */
void weights_forget(const weights *w, const weights_tensor *t);

#endif
