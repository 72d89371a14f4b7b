/* text/hf/hf_read.h: shared by the files that read a Hugging Face tokenizer.json. */
#ifndef TEXT_HF_HF_READ_H
#define TEXT_HF_HF_READ_H

#include "text/bpe/byte_bpe.h"

typedef struct hf_reading hf_reading;

/* Where tokens and merges of byte-level BPE come from; all else is in the JSON. Each takes all of its kind, by hf_take_token and
 * hf_take_merge. */
typedef struct hf_lists {
    rapt_code (*tokens)(const hf_reading *r);
    rapt_code (*merges)(const hf_reading *r);
    const void *of; /* theirs */
} hf_lists;

struct hf_reading {
    const json_t *root;
    const char *path;
    byte_bpe *b;
    rapt_error *err;
    const hf_lists *lists;
    token_list *others; /* tokens that are not written in letters of bytes */
};

/* Takes a token in letters of bytes: RAPT_ERR_FORMAT if its id is another's, or if it was there before. And merge i, two of these
 * tokens. */
rapt_code hf_take_token(const hf_reading *r, int64_t id, const char *letters, size_t size);
rapt_code hf_take_merge(const hf_reading *r, size_t i, const char *left, size_t left_size, const char *right, size_t right_size);
/* hf_take_merge for two tokens with a space between them. */
rapt_code hf_take_merge_text(const hf_reading *r, size_t i, const char *text, size_t size);

/* Byte-level BPE whose tokens and merges come from `lists`. The "vocab" of the JSON needs only what its "added_tokens" name, and
 * its "merges" can be empty. NULL with `err` set: RAPT_ERR_FORMAT also if byte-level BPE lacks a part of it. */
rapt_tokenizer *hf_from_lists(const json_t *root, const hf_lists *lists, const char *path, rapt_error *err);

/* RAPT_ERR_FORMAT, "PATH: WHAT TYPE is not supported", with the "type" of `value` if it has one. */
rapt_code hf_refuse(const hf_reading *r, const char *what, const json_t *value);
const char *hf_type(const json_t *value); /* its "type", or "" */
bool hf_is_off(const json_t *value);      /* not there, null, false, 0 or "" */

/* hf_components.c: the pattern of the pre_tokenizer, NULL if it is refused; the normalizer; decoder and post_processor, which
 * must come last, because it names special tokens. */
const char *hf_pattern(const hf_reading *r);
rapt_code hf_read_normalizer(const hf_reading *r);
rapt_code hf_read_ends(const hf_reading *r);
/* hf_post.c: the ids that a text gets before and after its own, and two texts about theirs; each is one of `tokens`. A form of
 * pairs that rapt does not have is no failure: most uses need none. */
rapt_code hf_read_post_processor(const hf_reading *r, const token_list *tokens, id_row *before, id_row *after, id_pair *pair);

#endif
