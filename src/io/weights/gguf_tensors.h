/* io/weights/gguf_tensors.h: tensors of GGUF files, in the form of tensors of other programs. For weights.c. */
#ifndef IO_WEIGHTS_GGUF_TENSORS_H
#define IO_WEIGHTS_GGUF_TENSORS_H

#include "io/weights/weights_tensor.h"
#include "text/gguf/gguf_file.h"

/* The tensor in file number `file`; its name and data belong to `t`. */
weights_tensor gguf_tensors_shown(const gguf_tensor *t, size_t file);

#endif
