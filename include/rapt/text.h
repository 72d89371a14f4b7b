/* rapt/text.h: from text to token ids and back.
 *
 * One interface for all tokenizers. Words are the book's (Zhang et al., "Dive into Deep Learning", current edition, section
 * 10.5): no-break spaces become spaces, letters become lower case where asked for, a space goes before , . ! ? and tokens are
 * what lies between spaces. Characters are code points; where translation uses them, the four special tokens come first.
 * Byte-level BPE (Sennrich et al. 2016; Radford et al. 2019) cuts the text into pieces by a regular expression, and merges
 * pairs of tokens within a piece, starting from its bytes; any bytes come back as they were. SentencePiece's models (Kudo and
 * Richardson 2018) normalize the text and cut it into the pieces with the best scores. A tokenizer is const once made:
 * threads can share it. */
#ifndef RAPT_TEXT_H
#define RAPT_TEXT_H

#include "rapt/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The ids of the special tokens of every vocabulary of words, and of every other that translation uses. */
enum { RAPT_UNK = 0, RAPT_PAD = 1, RAPT_BOS = 2, RAPT_EOS = 3, RAPT_SPECIALS = 4 };

/* Ids of a translation model's special tokens, in both vocabularies. */
typedef struct rapt_special_ids {
    int32_t unk, pad, bos, eos; /* unknown word, padding, beginning and end of a sentence */
} rapt_special_ids;

#define RAPT_SPECIAL_IDS ((rapt_special_ids){RAPT_UNK, RAPT_PAD, RAPT_BOS, RAPT_EOS}) /* of tokenizers made by rapt */

typedef enum rapt_tokenizer_kind {
    RAPT_TOKENIZER_WORDS,
    RAPT_TOKENIZER_CHARACTERS,
    RAPT_TOKENIZER_BYTE_BPE,
    RAPT_TOKENIZER_SENTENCEPIECE,
    RAPT_TOKENIZER_PIPELINE /* the components of a tokenizer.json */
} rapt_tokenizer_kind;

typedef struct rapt_tokenizer rapt_tokenizer;

/* ---- making one ------------------------------------------------------------------------------------------- */

typedef struct rapt_words_options {
    bool lowercase;
    size_t min_freq; /* rarer words are <unk>; 0 counts as 1 */
    size_t max_size; /* entries at most, specials included; 0: no limit */
} rapt_words_options;

/* Builds a vocabulary from `count` lines of valid UTF-8: `<unk> <pad> <bos> <eos>`, then words by falling frequency,
 * equal ones in order of first appearance. `options` may be NULL, which means zeroed ones. NULL with `err` set: out of memory. */
RAPT_API rapt_tokenizer *rapt_tokenizer_train_words(const char *const *lines, size_t count, const rapt_words_options *options,
                                                    rapt_error *err);
/* The code points that occur in `text`, in order of their codes, without special tokens. NULL with `err` set: empty
 * text, or invalid UTF-8 ("byte 17: ..."). */
RAPT_API rapt_tokenizer *rapt_tokenizer_train_characters(const char *text, size_t size, rapt_error *err);

typedef struct rapt_characters_options {
    bool specials_first; /* <unk> <pad> <bos> <eos> before all others: for translation */
} rapt_characters_options;

/* The same with options; NULL means zeroed ones. With `specials_first` it is a tokenizer of lines: line feeds are no tokens, and
 * a character that `text` lacks becomes <unk>, where else encoding fails. */
RAPT_API rapt_tokenizer *rapt_tokenizer_train_characters_with(const char *text, size_t size,
                                                              const rapt_characters_options *options, rapt_error *err);

/* Languages whose rules for spaces beside punctuation are known (detokenization): none, de, en, es, fr, it, nl, pt. */
typedef enum rapt_language {
    RAPT_LANGUAGE_NONE,
    RAPT_LANGUAGE_GERMAN,
    RAPT_LANGUAGE_ENGLISH,
    RAPT_LANGUAGE_SPANISH,
    RAPT_LANGUAGE_FRENCH,
    RAPT_LANGUAGE_ITALIAN,
    RAPT_LANGUAGE_DUTCH,
    RAPT_LANGUAGE_PORTUGUESE
} rapt_language;

/* What a text goes through before it is cut into pieces; a tokenizer.json has it as its normalizer. */
typedef enum rapt_normalization {
    RAPT_NORMALIZATION_NONE,
    RAPT_NORMALIZATION_NFC,            /* Unicode's composed form */
    RAPT_NORMALIZATION_PLAIN,          /* typographic quotation marks (not guillemets), apostrophes and dashes as a keyboard has
                                      them; NFKC; no control characters; one space for several, and none at the ends */
    RAPT_NORMALIZATION_PLAIN_LOWERCASE /* what PLAIN does, and lower case */
} rapt_normalization;

typedef struct rapt_bpe_options {
    size_t vocab_size;           /* entries wanted: 256 bytes, merges, special tokens */
    size_t min_freq;             /* pairs that occur less often are not merged; 0 counts as 2 */
    const char *pattern;         /* cuts the text into pieces (PCRE2); NULL: GPT-2's */
    const char *const *specials; /* tokens that no merge makes; ids after all others; nothing is learned from their texts */
    size_t special_count;
    rapt_normalization normalization; /* learned from lines that went through it, each by itself */
    bool specials_first;            /* instead of `specials`, <unk> <pad> <bos> <eos>, before all others: for translation */
    int threads;                 /* 1 to 256; 0: RAPT_THREADS, else the CPUs that this process may use; the result doesn't depend
                                    on it */
    rapt_stop_fn *stop; /* NULL: never */
    void *stop_context;
} rapt_bpe_options;

/* Merges the most frequent pair of tokens until the vocabulary is full (equal counts: the pair with the smaller first id, then
 * the smaller second id). Stops early where no pair is left. `text` may be any bytes. NULL with `err` set: an empty text, a
 * pattern that does not compile, an option out of range, out of memory, stopped. */
RAPT_API rapt_tokenizer *rapt_tokenizer_train_bpe(const char *text, size_t size, const rapt_bpe_options *options,
                                                  rapt_error *err);

/* Whether <unk> <pad> <bos> <eos> have their ids, so that translation can use it. */
RAPT_API bool rapt_tokenizer_has_specials(const rapt_tokenizer *tokenizer);

/* A tokenizer file of rapt; a Hugging Face tokenizer.json, of which what rapt does not have is refused by name; or
 * "cl100k_base:PATH", "o200k_base:PATH", "r50k_base:PATH": a rank file of tiktoken, one `base64 rank` a line; or a SentencePiece
 * model, which as source.spm or target.spm in a Marian folder of Hugging Face has the ids of the vocab.json there. A folder
 * stands for the tokenizer.json in it, else for spiece.model, sentencepiece.bpe.model, tokenizer.model or merges.txt, with the
 * ids of the class that the folder names; a GGUF file for the tokenizer in it. Failures name path, line and reason. */
RAPT_API rapt_tokenizer *rapt_tokenizer_load(const char *spec, rapt_error *err);
/* Frees a tokenizer of any kind; NULL is fine. */
RAPT_API void rapt_tokenizer_free(rapt_tokenizer *tokenizer);

/* Writes one JSON file, whole or not at all. A byte-level BPE with merges is a Hugging Face tokenizer.json; a rank file is saved
 * as a list of tokens; a SentencePiece model as it was read: in base64, or, where `path` ends in .model or .spm, as that file
 * instead of JSON. RAPT_ERR_MEMORY; RAPT_ERR_IO where `path` cannot be written. */
RAPT_API rapt_code rapt_tokenizer_save(const rapt_tokenizer *tokenizer, const char *path, rapt_error *err);

/* ---- what it is ------------------------------------------------------------------------------------------- */

/* Which kind of tokenizer it is. */
RAPT_API rapt_tokenizer_kind rapt_tokenizer_kind_of(const rapt_tokenizer *tokenizer);
/* The vocabulary size, largest id + 1: entries, special tokens included, and the holes of rank files. */
RAPT_API size_t rapt_tokenizer_size(const rapt_tokenizer *tokenizer);
/* The bytes of a token (of a SentencePiece model: as they stand in a text, so a space for U+2581, and a byte for <0x0A>), and
 * their number if `size` is not NULL (a token may hold NUL; another NUL ends it); NULL outside the vocabulary and for holes. */
RAPT_API const char *rapt_tokenizer_token(const rapt_tokenizer *tokenizer, int32_t id, size_t *size);
/* The id of a special token ("<|endoftext|>"), or -1. */
RAPT_API int32_t rapt_tokenizer_special(const rapt_tokenizer *tokenizer, const char *text);
/* A 64-bit fingerprint of all that the tokenizer does: equal for equal ones. */
RAPT_API uint64_t rapt_tokenizer_hash(const rapt_tokenizer *tokenizer);

/* ---- using it --------------------------------------------------------------------------------------------- */

/* Takes ids as they come; `count` of them. Another code than RAPT_OK stops the encoding, which returns it. */
typedef rapt_code rapt_ids_fn(void *context, const int32_t *ids, size_t count, rapt_error *err);

/* Ids of a whole text of any length, handed on in portions; memory does not grow with the text, but with its longest
 * piece or line, and where a tokenizer normalizes or is a pipeline; to a SentencePiece model, whose texts are sentences, the
 * text is one: it takes some 20 bytes a byte, and at most 2^31 - 1 bytes once it is normalized. `specials`: texts of special
 * tokens become those tokens, as tiktoken's allowed_special="all" has it, and ids that a tokenizer.json puts before or after a
 * text are there (a Marian translator's tokenizer does both, too); else, and always for other SentencePiece models, texts of
 * special tokens are text like any other. Fails where a character is not in the vocabulary or not UTF-8 (characters, words and
 * pipelines: "byte 17: ..."), where a pipeline has no unknown token for it, and where a pattern takes too many steps. */
RAPT_API rapt_code rapt_tokenizer_encode_to(const rapt_tokenizer *tokenizer, const char *text, size_t size, bool specials,
                                            rapt_ids_fn *sink, void *context, rapt_error *err);
/* Ids of a whole text in one array, which the caller frees (never NULL on success); `specials` and failures are those of
 * rapt_tokenizer_encode_to. On failure *ids is NULL. */
RAPT_API rapt_code rapt_tokenizer_encode_bytes(const rapt_tokenizer *tokenizer, const char *text, size_t size, bool specials,
                                               int32_t **ids, size_t *count, rapt_error *err);
/* Ids of one line, without special tokens; unknown words, and for translation unknown characters, are RAPT_UNK. The caller frees
 * *ids. */
RAPT_API rapt_code rapt_tokenizer_encode(const rapt_tokenizer *tokenizer, const char *text, int32_t **ids, size_t *count,
                                         rapt_error *err);
/* The text of ids: for words, joined by spaces, up to the first <eos>, without <bos> and <pad>; else the tokens' bytes
 * one after the other. Where the first four tokens are those of words, it is a line of UTF-8 up to <eos> without the four;
 * bytes that are none become U+FFFD (translations and generated texts leave them out), ends of lines and tabs spaces. A
 * pipeline decodes as its file says, special tokens included; a SentencePiece model as sentencepiece does: without control
 * pieces and the space before the text. Ids outside the vocabulary are left out. NUL-terminated; `size`, unless NULL, gets the
 * length. The caller frees it; NULL when out of memory. */
RAPT_API char *rapt_tokenizer_decode(const rapt_tokenizer *tokenizer, const int32_t *ids, size_t count, size_t *size);

/* ---- word vectors ------------------------------------------------------------------------------------------- */

typedef struct rapt_vectors_result {
    size_t words;  /* of the file */
    size_t tokens; /* of the vocabulary, those with a text */
    size_t found;  /* tokens that got a vector */
} rapt_vectors_result;

/* Reads pretrained word vectors into the rows of an embedding matrix `table` [entries, d]: row i, i below `entries`, becomes
 * the vector of the word that is token i of the tokenizer, letter by letter; a space that the token begins with (byte-level
 * BPE) does not count. Rows of tokens that the file lacks stay as they are. Of words that come twice the first counts.
 * `table` is then what rapt_embedding_options.vectors takes, or a parameter's values.
 *
 * The file is one of
 *   - GloVe's (Pennington et al. 2014): lines "word v1 ... vd";
 *   - word2vec's (Mikolov et al. 2013) or fastText's text: the same after a first line "words d";
 *   - word2vec's binary: that line, and for each word its text, a space and d 32-bit floats, little-endian.
 * The first line says the size; in later ones more fields than that are a word with spaces, as GloVe's files have some. It is
 * mapped, not read: of gigabytes only the rows that are found take memory. Of other words' lines only the number of fields is
 * checked. `result` may be NULL. On failure `table` may hold a part. RAPT_ERR_FORMAT: "PATH:LINE: 5 fields; a word
 * and 300 numbers are expected", a number that is none or not finite, fewer or more words than the first line says;
 * RAPT_ERR_VALUE: vectors of another size than d, or none of the words is a token; RAPT_ERR_MEMORY; RAPT_ERR_IO and
 * RAPT_ERR_NOT_FOUND as for other files. */
RAPT_API rapt_code rapt_vectors_read(const char *path, const rapt_tokenizer *tokenizer, size_t entries, size_t d,
                                     rapt_real *table, rapt_vectors_result *result, rapt_error *err);

#ifdef __cplusplus
}
#endif

#endif
