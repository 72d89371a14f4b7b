/* text/spm/spm.h: the inside of a SentencePiece tokenizer (Kudo and Richardson 2018), shared by its reader, encoder and
 * decoder. What each does is what sentencepiece does, to the id and to the byte: docs/tokenizers.md says how that is tested. */
#ifndef TEXT_SPM_SPM_H
#define TEXT_SPM_SPM_H

#include "text/bpe/token_list.h"
#include "text/spm/spm_normalize.h"
#include "text/spm/unigram.h"
#include "text/tokenizer.h"

/* TrainerSpec.ModelType and SentencePiece.Type of sentencepiece_model.proto. */
typedef enum spm_type { SPM_UNIGRAM = 1, SPM_BPE, SPM_WORD, SPM_CHAR } spm_type;
typedef enum spm_kind {
    SPM_NORMAL = 1,
    SPM_UNKNOWN,
    SPM_CONTROL, /* such as </s>: of no text */
    SPM_USER_DEFINED, /* cut out of a text before anything else */
    SPM_UNUSED, /* made by merges, but cut into others again */
    SPM_BYTE
} spm_kind;

typedef struct spm {
    rapt_tokenizer base;
    char *file; /* the model as it was read, [file_size]; rules and names point into it */
    size_t file_size;
    spm_type type;
    bool byte_fallback; /* what is no piece becomes pieces of its bytes */
    const char *unknown_text; /* [unknown_size]: what <unk> decodes to */
    size_t unknown_size;
    spm_rules rules, back; /* for texts, and for what was decoded */
    bool has_back;
    token_list pieces;   /* all, by id; those of a text can be found */
    token_list reserved; /* <unk>, control pieces and bytes, which no text becomes */
    token_list tokens;   /* all, as they stand in a text: spaces are spaces, and bytes bytes */
    unsigned char *kinds; /* by id; SPM_... */
    size_t kinds_capacity;
    float *scores;
    size_t scores_capacity;
    int32_t unknown, bytes[256]; /* ids; -1: there is none, which may be where the other is */
    piece_trie kept;             /* user-defined pieces */
    unigram unigram;             /* of SPM_UNIGRAM */
    bool has_unused;
    bool words_apart; /* no piece has a space behind another character, nor is one unused: words become pieces each by itself */
} spm;

static inline const spm *spm_of(const rapt_tokenizer *k)
{
    return (const spm *)k;
}

/* The id of a piece of text, the unknown one's where it is none. */
static inline int32_t spm_find(const spm *k, const char *piece, size_t size)
{
    const int32_t id = token_list_find(&k->pieces, piece, size);
    return id >= 0 ? id : k->unknown;
}

/* spm_tokenizer.c: a model of the bytes of a file, which it takes ownership of, also where it fails (NULL: out of memory);
 * one of the file of rapt that `root` is. `path` is for messages. NULL with `err` set. */
spm *spm_open(char *file, size_t size, const char *path, rapt_error *err);
spm *spm_open_json(const json_t *root, const char *path, rapt_error *err);
void spm_free(spm *k);

/* spm_read.c: reads the model that k->file holds. RAPT_ERR_FORMAT, RAPT_ERR_MEMORY with the reason alone. */
rapt_code spm_read(spm *k, rapt_error *err);
/* spm_pieces.c: a piece with the next id; and what can be done once all are there. */
rapt_code spm_add_piece(spm *k, const char *piece, size_t size, float score, spm_kind kind, rapt_error *err);
rapt_code spm_finish_pieces(spm *k, rapt_error *err);

/* spm_encode.c: calls take(context, ...) with each piece of a text, as it stands in the normalized text, and its id; what is
 * unknown comes as one piece, or as its bytes. */
typedef rapt_code spm_piece_fn(void *context, const char *piece, size_t size, int32_t id, rapt_error *err);
rapt_code spm_cut(const spm *k, const char *text, size_t size, spm_piece_fn *take, void *context, rapt_error *err);

/* Ids on their way to a sink, in portions; starts as {.sink, .context}. */
enum { SPM_PORTION = 4096 };
typedef struct spm_sender {
    rapt_ids_fn *sink;
    void *context;
    int32_t ids[SPM_PORTION];
    size_t count;
} spm_sender;

rapt_code spm_send_id(spm_sender *s, int32_t id, rapt_error *err);
rapt_code spm_send_rest(spm_sender *s, rapt_error *err);

/* spm_encode.c, spm_decode.c: see tokenizer_ops. */
rapt_code spm_encode_to(const rapt_tokenizer *k, const char *text, size_t size, bool specials, rapt_ids_fn *sink, void *context,
                        rapt_error *err);
char *spm_decode(const rapt_tokenizer *k, const int32_t *ids, size_t count, size_t *size);

#endif
