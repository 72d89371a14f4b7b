/* io/weights/gguf_tensors.c: describes tensors of GGUF files as weights_tensor. */
#include "io/weights/weights_parts.h"

#include <string.h>

/* Numbers in blocks stand for such of fp32. */
static safetensors_dtype gguf_tensors_dtype(const gguf_tensor *t)
{
    switch (t->type) {
    case GGUF_PLAIN_F16: return SAFETENSORS_F16;
    case GGUF_PLAIN_BF16: return SAFETENSORS_BF16;
    case GGUF_PLAIN_F64: return SAFETENSORS_F64;
    case GGUF_PLAIN_I8: return SAFETENSORS_I8;
    case GGUF_PLAIN_I16: return SAFETENSORS_I16;
    case GGUF_PLAIN_I32: return SAFETENSORS_I32;
    case GGUF_PLAIN_I64: return SAFETENSORS_I64;
    default: return SAFETENSORS_F32;
    }
}

weights_tensor gguf_tensors_shown(const gguf_tensor *t, size_t file)
{
    weights_tensor shown = {.name = t->name, .dtype = gguf_tensors_dtype(t), .blocks = t->blocks, .ndim = t->ndim,
                            .data = t->data, .elements = t->elements, .bytes = t->bytes, .file = file};
    memcpy(shown.shape, t->shape, sizeof t->shape);
    weights_tensor_lay_out(&shown);
    return shown;
}
