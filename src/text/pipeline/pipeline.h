/* text/pipeline/pipeline.h: a tokenizer.json as a row of components: added tokens, normalizer, pre-tokenizer, model,
 * post-processor, decoder, each with the ids and texts of the package `tokenizers`. For files that byte-level BPE (text/bpe) does
 * not take, such as Llama 2's, BERT's and Gemma's. */
#ifndef TEXT_PIPELINE_PIPELINE_H
#define TEXT_PIPELINE_PIPELINE_H

#include "text/pipeline/added_tokens.h"
#include "text/pipeline/decode_steps.h"
#include "text/pipeline/pipeline_model.h"
#include "text/pipeline/pretoken_steps.h"
#include "text/tokenizer.h"

typedef struct pipeline {
    rapt_tokenizer base;
    added_tokens added;
    normal_steps normal;
    pretoken_steps cuts;
    pipeline_model model; /* its vocabulary has the added tokens as well */
    id_row before, after; /* ids about a text */
    decode_steps decoder;
    uint8_t *classes; /* [CHAR_CLASSES_SIZE] */
    char *json;       /* the file, without members that do not belong to the tokenizer: keys in order, no spaces */
} pipeline;

static inline const pipeline *pipeline_of(const rapt_tokenizer *k)
{
    return (const pipeline *)k;
}

/* added_read.c: needs normalizer, model and classes. */
rapt_code pipeline_read_added(const hf_reading *r, pipeline *p);

/* An empty one; NULL with `err` set. */
pipeline *pipeline_new(rapt_error *err);
void pipeline_free(pipeline *p);

/* The text of ids, as `tokenizers` decodes them. `skip`: special tokens are left out. malloc'd; NULL with `err` set. */
char *pipeline_decode(const pipeline *p, const int32_t *ids, size_t count, bool skip, size_t *size, rapt_error *err);

#endif
