/* text/layout/layout.h: tokenizers of Hugging Face folders that hold a SentencePiece model, but no tokenizer.json. Their class
 * decides the ids of its pieces, and the tokens that the model lacks: special tokens, languages. Such a folder becomes the
 * tokenizer.json that transformers 4 makes of it, and then a pipeline (text/pipeline); or its ids are in a vocab.json. For
 * tokenizer_file.c. */
#ifndef TEXT_LAYOUT_LAYOUT_H
#define TEXT_LAYOUT_LAYOUT_H

#include "text/spm/spm.h"

/* layout_codes.c */
extern const char LAYOUT_MBART_CODES[], LAYOUT_MBART50_CODES[], LAYOUT_NLLB_CODES[], LAYOUT_M2M100_CODES[], LAYOUT_WMT21_CODES[];

/* Lists of tokens have spaces between them. */
typedef struct layout {
    const char *class;     /* "T5": T5Tokenizer and T5TokenizerFast */
    const char *types;     /* each model_type that has this class if the folder names none */
    const char *first;     /* tokens of the first ids; they replace pieces of the model, whose names `dropped` has */
    const char *dropped;
    size_t fillers;        /* then comes this number of tokens <unk_2>, <unk_3>, ... (Pegasus) */
    size_t extra_ids;      /* last come <extra_id_N> down to <extra_id_0> (T5): N + 1, unless the folder has another number */
    const char *codes;     /* after the pieces: tokens of languages, or NULL */
    const char *mask;      /* after these: a token that includes the space before it, or NULL */
    bool mask_normalized;  /* it is searched in the normalized text */
    bool outside;          /* languages and mask are not tokens of the model, so that a folder can list others */
    const char *source;    /* the language of a source if the folder names none, or NULL */
    const char *before, *after; /* tokens before and after a text; "#" is the language */
    bool words_apart;      /* a text is cut at white space first (Pegasus) */
    bool bytes;            /* unknown characters become bytes, and every space is kept (Llama) */
    bool bare;             /* no space is put before a text (Gemma) */
    const char *turns;     /* user-defined pieces that are special tokens, or NULL */
    bool listed;           /* the ids of pieces are in vocab.json; `first` are the special tokens (M2M100) */
} layout;

/* layout_classes.c: by the name of a class, with or without "Tokenizer", "TokenizerFast"; by model_type. NULL: none. */
const layout *layout_of_class(const char *name);
const layout *layout_of_type(const char *type);

/* A folder's settings of its tokenizer. */
typedef struct layout_settings {
    const layout *of;
    size_t extra_ids;
    const char *source;    /* from `of` or the folder; borrowed */
    const char *before, *after; /* from `of` or the folder */
    bool legacy;           /* a space is also put before a text after an added token */
    bool prefixed;         /* a space is put before a text */
    const json_t *added;   /* added_tokens_decoder: tokens by id, or NULL */
    const char *path;      /* the model's path, for messages */
} layout_settings;

/* layout_vocab.c: the model of tokenizer.json, and the list of its added tokens. NULL with `err` set. */
json_t *layout_model(const layout_settings *s, const spm *pieces, json_t **added, rapt_error *err);
/* layout_merges.c: the merges of BPE, from pieces in a list without holes. `vocab`: [[piece, score], ...]. NULL: out of
 * memory. */
json_t *layout_merges(const token_list *pieces, const json_t *vocab);
/* layout_json.c: the whole tokenizer.json. NULL with `err` set. */
json_t *layout_json(const layout_settings *s, const spm *pieces, rapt_error *err);
/* The id of a token in its list of added tokens; -1: there is none. */
json_int_t layout_added_id(const json_t *added, const char *token);

/* layout_listed.c: the ids of vocab.json and of the `codes` after them, by token, which the caller frees; *added gets special
 * tokens as a list of added tokens. NULL with `err` set. */
json_t *layout_listed_ids(const layout_settings *s, const char *folder, const char *codes, json_t **added, rapt_error *err);
/* A tokenizer with these ids. Takes ownership of `pieces`. NULL with `err` set. */
rapt_tokenizer *layout_listed(const layout_settings *s, const char *codes, const json_t *ids, spm *pieces, rapt_error *err);

/* layout_folder.c: the tokenizer of the SentencePiece model at `path`, which is in `folder`. *k stays NULL if the folder names no
 * class that has a layout: then the model itself is read. Other settings that change ids are refused. */
rapt_code layout_from_folder(const char *folder, const char *path, rapt_tokenizer **k, rapt_error *err);

/* layout_merges_txt.c: the tokenizer of a folder's vocab.json and its merges.txt at `path`, with the special tokens of the class
 * that the folder names. NULL with `err` set. */
rapt_tokenizer *layout_from_merges(const char *folder, const char *path, rapt_error *err);

/* layout_classes.c: the next token of a list, with *size bytes; *list moves past it. NULL: there is none. */
const char *layout_next(const char **list, size_t *size);

#endif
