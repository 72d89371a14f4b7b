/* text/spm/spm.h: the inside of a SentencePiece tokenizer (Kudo and Richardson 2018), shared by its reader, encoder and
 * decoder. Each gives the same ids and bytes as sentencepiece: docs/tokenizers.md says how that is tested. */
#ifndef TEXT_SPM_SPM_H
#define TEXT_SPM_SPM_H

#include "base/buffer.h"
#include "text/bpe/token_list.h"
#include "text/pieces/piece_cuts.h"
#include "text/pieces/piece_trie.h"
#include "text/pieces/unigram.h"
#include "text/sources.h"
#include "text/spm/charsmap.h"
#include "text/tokenizer.h"

/* ---- spm_normalize.c: SentencePiece's changes to a text before it is cut into pieces. For its encoder, and, if a model has
 * rules for it, its decoder. */

#define SPM_SPACE "\xE2\x96\x81" /* U+2581, the sign for a space */

/* NormalizerSpec of sentencepiece_model.proto. */
typedef struct spm_rules {
    charsmap map;
    bool dummy_prefix; /* a space is put before the text, or after it if spaces end words */
    bool squeezes;     /* no spaces at the ends, and one for several */
    bool escapes;      /* SPM_SPACE for each space */
    bool suffix;       /* spaces end words (TrainerSpec.treat_whitespace_as_suffix) */
    const char *name;  /* [name_size], name of a rule set: "nmt_nfkc"; borrowed */
    size_t name_size;
} spm_rules;

/* Appends the text after all rules to `out`. Texts of `kept` stay as they are; bytes that are not UTF-8 become U+FFFD. `starts`,
 * unless NULL, gets a size_t for each byte of `out` and for its end: what it comes from begins at this byte of `text`. It goes up
 * to the start of the next byte, so that spaces that are dropped go with what is before them, as in SentencePiece; the space that
 * is put before a text comes from nothing. Both are empty at first then. False on out-of-memory. */
bool spm_normalize(const spm_rules *r, const piece_trie *kept, const char *text, size_t size, buffer *out, buffer *starts);

/* Appends a piece as in a text, with a space for SPM_SPACE. False on out-of-memory. */
bool spm_append_text(buffer *text, const char *piece, size_t size);

/* ---- the tokenizer */

/* TrainerSpec.ModelType and SentencePiece.Type of sentencepiece_model.proto. */
typedef enum spm_type { SPM_UNIGRAM = 1, SPM_BPE, SPM_WORD, SPM_CHAR } spm_type;
typedef enum spm_kind {
    SPM_NORMAL = 1,
    SPM_UNKNOWN,
    SPM_CONTROL, /* such as </s>: no text becomes it */
    SPM_USER_DEFINED, /* cut out of a text before all other steps */
    SPM_UNUSED, /* made by merges, but then cut into other pieces again */
    SPM_BYTE
} spm_kind;

typedef struct spm {
    rapt_tokenizer base;
    char *file; /* the model as it was read, [file_size]; rules and names point into it */
    size_t file_size;
    spm_type type;
    bool byte_fallback; /* unknown characters become pieces of their bytes */
    const char *unknown_text; /* [unknown_size]: the text to which <unk> decodes */
    size_t unknown_size;
    spm_rules rules, back; /* for texts before encoding, and after decoding */
    bool has_back;
    token_list pieces;   /* all, by id; only pieces that a text can become can be found */
    token_list reserved; /* <unk>, control pieces and bytes, which no text becomes directly */
    token_list tokens;   /* all, as in a text: spaces are spaces, and bytes are bytes */
    unsigned char *kinds; /* by id; SPM_... */
    size_t kinds_capacity;
    float *scores;
    size_t scores_capacity;
    int32_t unknown, bytes[256]; /* ids; -1: none; a model may have one without the other */
    piece_trie kept;             /* user-defined pieces */
    unigram unigram;             /* SPM_UNIGRAM */
    bool has_unused;
    bool words_apart; /* no piece has a space after another character, and no piece is unused: so each word is encoded alone */
} spm;

static inline const spm *spm_of(const rapt_tokenizer *k)
{
    return (const spm *)k;
}

/* The id of a piece of text, or the unknown token's. */
static inline int32_t spm_find(const spm *k, const char *piece, size_t size)
{
    const int32_t id = token_list_find(&k->pieces, piece, size);
    return id >= 0 ? id : k->unknown;
}

/* spm_tokenizer.c: a model from the bytes of a file, of which it takes ownership, also after a failure (file NULL: out of
 * memory); and a model from rapt's file, parsed as `root`. `path` is for messages. NULL with `err` set. */
spm *spm_open(char *file, size_t size, const char *path, rapt_error *err);
spm *spm_open_json(const json_t *root, const char *path, rapt_error *err);
void spm_free(spm *k);

/* spm_read.c: reads the model that k->file holds. RAPT_ERR_FORMAT, RAPT_ERR_MEMORY with the reason alone. */
rapt_code spm_read(spm *k, rapt_error *err);
/* spm_pieces.c: adds a piece with the next id; and the final steps when all pieces are there. */
rapt_code spm_add_piece(spm *k, const char *piece, size_t size, float score, spm_kind kind, rapt_error *err);
rapt_code spm_finish_pieces(spm *k, rapt_error *err);

typedef struct spm_piece {
    const char *text; /* [size] in the normalized text */
    size_t size;
    int32_t id;
    rapt_span place; /* bytes of the text that was cut, if places are asked for */
} spm_piece;

/* spm_encode.c: calls take(context, ...) with each piece of a text; unknown text comes as one piece, or as its bytes, each with
 * the place of its character. `places`: whether they are asked for. */
typedef rapt_code spm_piece_fn(void *context, const spm_piece *piece, rapt_error *err);
rapt_code spm_cut(const spm *k, const char *text, size_t size, bool places, spm_piece_fn *take, void *context, rapt_error *err);

/* Ids on their way to a sink, in portions, or with their places to a list; starts as {.sink, .context} or {.placed}. */
enum { SPM_PORTION = 4096 };
typedef struct spm_sender {
    rapt_ids_fn *sink;
    void *context;
    placed_ids *placed; /* NULL: to the sink */
    size_t begin;       /* where the text begins that spm_cut cuts, in the text that is encoded */
    int32_t ids[SPM_PORTION];
    size_t count;
} spm_sender;

/* `place` counts from s->begin. */
rapt_code spm_send_id(spm_sender *s, int32_t id, rapt_span place, rapt_error *err);
rapt_code spm_send_rest(spm_sender *s, rapt_error *err);

/* spm_encode.c, spm_decode.c: see tokenizer_ops. */
rapt_code spm_encode_to(const rapt_tokenizer *k, const char *text, size_t size, bool specials, rapt_ids_fn *sink, void *context,
                        rapt_error *err);
rapt_code spm_encode_offsets(const rapt_tokenizer *k, const char *text, size_t size, bool specials, placed_ids *out,
                             rapt_error *err);
char *spm_decode(const rapt_tokenizer *k, const int32_t *ids, size_t count, size_t *size);

/* spm_bpe.c: adds the pieces of a text of at most PIECE_MAX_TEXT bytes to `cuts`: neighbors merge, the pair with the best score
 * first (Sennrich et al. 2016). bpe/ has the byte-level kind, whose merges are pairs of tokens with ranks. False on
 * out-of-memory. */
bool spm_bpe_cut(const spm *k, const char *text, size_t size, piece_cuts *cuts);

#endif
