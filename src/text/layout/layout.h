/* text/layout/layout.h: tokenizers of Hugging Face folders that hold a SentencePiece model, but no tokenizer.json. Their class
 * says which ids its pieces have, and which tokens it lacks: special tokens, languages. Such a folder becomes the tokenizer.json
 * that transformers 4 makes of it, and that a pipeline (text/pipeline); or its ids are in a vocab.json. For tokenizer_file.c. */
#ifndef TEXT_LAYOUT_LAYOUT_H
#define TEXT_LAYOUT_LAYOUT_H

#include "text/spm/spm.h"

/* layout_codes.c */
extern const char LAYOUT_MBART_CODES[], LAYOUT_MBART50_CODES[], LAYOUT_NLLB_CODES[], LAYOUT_M2M100_CODES[], LAYOUT_WMT21_CODES[];

/* Lists of tokens have spaces between them. */
typedef struct layout {
    const char *class;     /* "T5": T5Tokenizer and T5TokenizerFast */
    const char *types;     /* each model_type whose class it is where none is named */
    const char *first;     /* tokens of the first ids; they stand for `dropped` pieces of the model, which have these names */
    const char *dropped;
    size_t fillers;        /* then comes this number of tokens <unk_2>, <unk_3>, ... (Pegasus) */
    size_t extra_ids;      /* last come <extra_id_N> down to <extra_id_0> (T5): N + 1, unless the folder has another number */
    const char *codes;     /* behind the pieces: tokens of languages, or NULL */
    const char *mask;      /* behind them: a token that takes the space before it along, or NULL */
    bool mask_normalized;  /* it is looked for in the normalized text */
    bool outside;          /* languages and mask are no tokens of the model, so that a folder can list others */
    const char *source;    /* the language of a source where the folder names none, or NULL */
    const char *before, *after; /* tokens about a text; "#" is the language */
    bool words_apart;      /* a text is cut at white space first (Pegasus) */
    bool bytes;            /* what is no piece becomes bytes, and every space is kept (Llama) */
    bool bare;             /* no space goes before a text (Gemma) */
    const char *turns;     /* user-defined pieces that are special tokens, or NULL */
    bool listed;           /* the ids of pieces are in vocab.json; `first` are those that are special tokens (M2M100) */
} layout;

/* layout_classes.c: by the name of a class, with or without "Tokenizer", "TokenizerFast"; by model_type. NULL: none. */
const layout *layout_of_class(const char *name);
const layout *layout_of_type(const char *type);

/* What a folder says of its tokenizer. */
typedef struct layout_settings {
    const layout *of;
    size_t extra_ids;
    const char *source;    /* of `of`, or the folder's; borrowed */
    const char *before, *after; /* of `of`, or as the folder has it */
    bool legacy;           /* also a text behind an added token has a space put before it */
    bool prefixed;         /* a text has */
    const json_t *added;   /* added_tokens_decoder: tokens by id, or NULL */
    const char *path;      /* of the model, for messages */
} layout_settings;

/* layout_vocab.c: the model of tokenizer.json, and the list of its added tokens. NULL with `err` set. */
json_t *layout_model(const layout_settings *s, const spm *pieces, json_t **added, rapt_error *err);
/* layout_merges.c: the merges of BPE, of pieces of a list without holes. `vocab`: [[piece, score], ...]. NULL: out of memory. */
json_t *layout_merges(const token_list *pieces, const json_t *vocab);
/* layout_json.c: the whole tokenizer.json. NULL with `err` set. */
json_t *layout_json(const layout_settings *s, const spm *pieces, rapt_error *err);
/* The id of a token in its list of added tokens; -1: there is none. */
json_int_t layout_added_id(const json_t *added, const char *token);

/* layout_listed.c: the ids of vocab.json and of the `codes` behind them, by token, to be freed, and those of special tokens as a
 * list of added tokens. NULL with `err` set. */
json_t *layout_listed_ids(const layout_settings *s, const char *folder, const char *codes, json_t **added, rapt_error *err);
/* A tokenizer with these ids. Takes ownership of `pieces`. NULL with `err` set. */
rapt_tokenizer *layout_listed(const layout_settings *s, const char *codes, const json_t *ids, spm *pieces, rapt_error *err);

/* layout_folder.c: the tokenizer of the SentencePiece model at `path`, which is in `folder`. *k stays NULL where nothing in the
 * folder names a class that has a layout: the model is to be read as it is. Other settings that change ids are refused. */
rapt_code layout_from_folder(const char *folder, const char *path, rapt_tokenizer **k, rapt_error *err);

/* layout_merges_txt.c: the tokenizer of a folder's vocab.json and its merges.txt at `path`, with the special tokens of the class
 * that the folder names. NULL with `err` set. */
rapt_tokenizer *layout_from_merges(const char *folder, const char *path, rapt_error *err);

/* layout_classes.c: the next token of a list, of *size bytes; *list moves behind it. NULL: there is none. */
const char *layout_next(const char **list, size_t *size);

#endif
