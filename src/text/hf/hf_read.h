/* text/hf/hf_read.h: shared by the files that read a Hugging Face tokenizer.json. */
#ifndef TEXT_HF_HF_READ_H
#define TEXT_HF_HF_READ_H

#include "text/bpe/byte_bpe.h"

typedef struct hf_reading {
    const json_t *root;
    const char *path;
    byte_bpe *b;
    rapt_error *err;
} hf_reading;

/* RAPT_ERR_FORMAT, "PATH: WHAT TYPE is not supported", with the "type" of `value` if it has one. */
rapt_code hf_refuse(const hf_reading *r, const char *what, const json_t *value);
const char *hf_type(const json_t *value); /* its "type", or "" */
bool hf_is_off(const json_t *value);      /* not there, null, false, 0 or "" */

/* hf_components.c: the pattern of the pre_tokenizer, NULL if it is refused; the normalizer; decoder and post_processor, which
 * must come last, because it names special tokens. */
const char *hf_pattern(const hf_reading *r);
rapt_code hf_read_normalizer(const hf_reading *r);
rapt_code hf_read_ends(const hf_reading *r);
/* hf_post.c: the ids that a text gets before and after its own; each is one of `tokens`. */
rapt_code hf_read_post_processor(const hf_reading *r, const token_list *tokens, id_row *before, id_row *after);

#endif
