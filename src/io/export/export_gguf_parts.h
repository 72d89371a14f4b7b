/* io/export/export_gguf_parts.h: the parts of a GGUF file besides the tensors. For export_gguf.c. */
#ifndef IO_EXPORT_EXPORT_GGUF_PARTS_H
#define IO_EXPORT_EXPORT_GGUF_PARTS_H

#include "io/gguf/gguf_folder.h"
#include "io/gguf/gguf_write.h"
#include "rapt/io.h"

/* ---- export_gguf_arch.c: the architecture of llama.cpp that computes what a language model computes, and the keys that
 * describe it. For the writer of GGUF files. */

/* NULL with `err` set: no architecture computes such a model (RAPT_ERR_VALUE, naming a setting). `path` is for the message. */
const gguf_architecture *export_gguf_arch_of(const rapt_model *m, const char *path, rapt_error *err);

void export_gguf_put_keys(gguf_keys *keys, const gguf_architecture *of, const rapt_lm_config *c);

/* Writes the divisors that llama.cpp applies to the frequency of each rotated pair, rotary_dim / 2 numbers, to factors
 * [RAPT_ROTARY_FACTORS_MAX]. Returns their number; 0 if frequencies are not scaled. */
size_t export_gguf_rope_factors(const rapt_lm_config *c, float *factors);

/* ---- export_gguf_tokenizer.c: the tokenizer of a language model as keys of a GGUF file, with which llama.cpp gives the same
 * ids, and its chat template. For the writer of GGUF files. */

/* As many tokens as the model has rows: those that it lacks are unused. RAPT_ERR_VALUE: llama.cpp has no such tokenizer (the
 * message says why); RAPT_ERR_MEMORY. `path` is for messages. */
rapt_code export_gguf_tokenizer(gguf_keys *keys, const rapt_model *m, const char *path, rapt_error *err);

#endif
