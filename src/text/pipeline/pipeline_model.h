/* text/pipeline/pipeline_model.h: the models of a tokenizer.json, which make tokens of a piece of text. For pipelines; text/bpe
 * has byte-level BPE, which takes any bytes. */
#ifndef TEXT_PIPELINE_PIPELINE_MODEL_H
#define TEXT_PIPELINE_PIPELINE_MODEL_H

#include "base/buffer.h"
#include "text/hf/hf_read.h"
#include "text/pieces/piece_merge.h"
#include "text/pieces/unigram.h"
#include "text/sources.h"

typedef enum pipeline_model_kind {
    MODEL_BPE,        /* characters are merged, pair by pair (Sennrich et al. 2016) */
    MODEL_WORD_PIECE, /* the longest token, again and again (Schuster and Nakajima 2012; BERT's) */
    MODEL_WORD_LEVEL, /* each piece is one token */
    MODEL_UNIGRAM     /* the tokens whose scores have the largest sum (Kudo 2018) */
} pipeline_model_kind;

typedef struct pipeline_model {
    pipeline_model_kind kind;
    token_list vocab;    /* findable: the model's; the others are added tokens */
    pair_table pairs;    /* MODEL_BPE */
    unigram unigram;     /* MODEL_UNIGRAM; MODEL_WORD_PIECE: only its trie */
    char *unk_token;     /* the token for unknown text; NULL: unknown text is left out */
    int32_t unk;         /* its id; -1: not in the vocabulary, an error when it is needed */
    char *prefix;        /* prefix of tokens that do not begin a piece, "##" for BERT; NULL: none */
    int32_t after_prefix; /* MODEL_WORD_PIECE: the node of its trie to which the prefix leads; -1: no token has the prefix. A
                             file's prefix may be long, and is not walked again for each token */
    char *suffix;        /* suffix of a token that ends a piece, for BPE; NULL: none */
    bool fuse_unk;       /* one unknown token for several characters */
    bool ignore_merges;  /* a piece that is a token becomes it, regardless of merges */
    bool byte_fallback;  /* unknown characters become tokens of their bytes: */
    int32_t bytes[256];  /* <0x00> and so on; -1: not in the vocabulary */
    size_t max_characters; /* MODEL_WORD_PIECE: longer pieces are unknown */
} pipeline_model;

/* Ids as they come, and scratch memory of a model. Starts as {0}. */
typedef struct model_work {
    int32_t *ids;
    size_t count, capacity;
    placed_ids *placed;    /* where ids go with their places; NULL: they go to `ids` */
    const rapt_span *from; /* the places of the bytes of the piece that is encoded, if `placed` */
    piece_merge_work merge;
    unigram_paths paths;
    piece_cuts cuts;
    buffer letters;
} model_work;

void pipeline_model_free(pipeline_model *m);
/* pipeline_model_read.c: reads the "model" of the file. */
rapt_code pipeline_model_read(pipeline_model *m, const hf_reading *r);

/* model_work.c */
void model_work_free(model_work *w);
/* Appends the id of bytes begin .. end - 1 of the piece that is encoded; of none of its bytes if they are equal. */
rapt_code model_work_put(model_work *w, int32_t id, size_t begin, size_t end, rapt_error *err);
/* The number of ids so far; and takes back those after the first `count`. */
size_t model_work_count(const model_work *w);
void model_work_take_back(model_work *w, size_t count);
/* The unknown token; -1 with `err` set: it is not in the vocabulary. */
int32_t pipeline_model_unknown(const pipeline_model *m, rapt_error *err);

/* Appends the ids of a piece, valid UTF-8 and not empty. RAPT_ERR_VALUE: the unknown token is needed, and the model has none. */
rapt_code pipeline_model_encode(const pipeline_model *m, const char *text, size_t size, model_work *w, rapt_error *err);

/* pipeline_unigram.c */
rapt_code pipeline_unigram_encode(const pipeline_model *m, const char *text, size_t size, model_work *w, rapt_error *err);
/* pipeline_bpe.c */
rapt_code pipeline_bpe_encode(const pipeline_model *m, const char *text, size_t size, model_work *w, rapt_error *err);

#endif
