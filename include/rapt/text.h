/* rapt/text.h: from text to token ids and back.
 *
 * One interface for all tokenizers. Words: as in the book (Zhang et al., "Dive into Deep Learning", current edition, section
 * 10.5), no-break spaces become spaces, letters become lower case if asked for, a space goes before , . ! ? and tokens are what
 * lies between spaces. Characters: tokens are code points; for translation, four special tokens come first. Byte-level BPE
 * (Sennrich et al. 2016; Radford et al. 2019): a regular expression splits the text, and pairs of tokens are merged within each
 * part, starting from its bytes; decoding gives back any bytes. SentencePiece (Kudo and Richardson 2018): the text is normalized
 * and split into the pieces with the best scores. A tokenizer is const once made: threads can share it. Byte-level
 * BPE keeps the ids of pieces that occurred before in tables of up to 2 MB, one for each thread that encodes but at most 32,
 * until the tokenizer is freed. */
#ifndef RAPT_TEXT_H
#define RAPT_TEXT_H

#include "rapt/base.h"
#include "rapt/defaults.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The ids of the special tokens in every vocabulary of words, and in every other vocabulary that rapt makes for translation. */
enum { RAPT_UNK = 0, RAPT_PAD = 1, RAPT_BOS = 2, RAPT_EOS = 3, RAPT_SPECIALS = 4 };

/* The ids of a translation model's special tokens, the same in both vocabularies. */
typedef struct rapt_special_ids {
    int32_t unk, pad, bos, eos; /* unknown word, padding, beginning and end of a sentence */
} rapt_special_ids;

#define RAPT_SPECIAL_IDS ((rapt_special_ids){RAPT_UNK, RAPT_PAD, RAPT_BOS, RAPT_EOS}) /* of tokenizers made by rapt */

/* PIPELINE: the components of a tokenizer.json. */
#define RAPT_TOKENIZER_KINDS(X)                                                                    \
    X(RAPT_TOKENIZER_WORDS)                                                                        \
    X(RAPT_TOKENIZER_CHARACTERS)                                                                   \
    X(RAPT_TOKENIZER_BYTE_BPE)                                                                     \
    X(RAPT_TOKENIZER_SENTENCEPIECE)                                                                \
    X(RAPT_TOKENIZER_PIPELINE)

typedef enum rapt_tokenizer_kind {
#define RAPT_TOKENIZER_KIND_ENUM(name) name,
    RAPT_TOKENIZER_KINDS(RAPT_TOKENIZER_KIND_ENUM)
#undef RAPT_TOKENIZER_KIND_ENUM
} rapt_tokenizer_kind;

typedef struct rapt_tokenizer rapt_tokenizer;

/* ---- making one ------------------------------------------------------------------------------------------- */

typedef struct rapt_words_options {
    size_t size;         /* of this struct; set by rapt_words_options_default */
    size_t min_freq;     /* words that occur less often are <unk> */
    size_t max_size;     /* max entries, special tokens included; 0: no limit */
    bool lowercase;
    uint8_t reserved[7]; /* zeros, or else refused */
} rapt_words_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_words_options_init(rapt_words_options *o, size_t size);
/* min_freq 1, all else zero. */
static inline rapt_words_options rapt_words_options_default(void)
{
    rapt_words_options o;
    rapt_words_options_init(&o, sizeof o);
    return o;
}

/* Builds a vocabulary from `count` lines of valid UTF-8: `<unk> <pad> <bos> <eos>`, then words by falling frequency; words of
 * equal frequency in order of first appearance. `options` may be NULL: the defaults. NULL with `err` set: options without a size,
 * out of memory. */
RAPT_API rapt_tokenizer *rapt_tokenizer_train_words(const char *const *lines, size_t count, const rapt_words_options *options,
                                                    rapt_error *err);
/* A vocabulary of the code points that occur in `text`, in numeric order, without special tokens. NULL with `err` set: empty
 * text, invalid UTF-8 ("byte 17: ..."), out of memory. */
RAPT_API rapt_tokenizer *rapt_tokenizer_train_characters(const char *text, size_t size, rapt_error *err);

typedef struct rapt_characters_options {
    size_t size;         /* of this struct; set by rapt_characters_options_default */
    bool specials_first; /* for translation: <unk> <pad> <bos> <eos> come before all others */
    uint8_t reserved[7]; /* zeros, or else refused */
} rapt_characters_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_characters_options_init(rapt_characters_options *o, size_t size);
/* All zero. */
static inline rapt_characters_options rapt_characters_options_default(void)
{
    rapt_characters_options o;
    rapt_characters_options_init(&o, sizeof o);
    return o;
}

/* rapt_tokenizer_train_characters with options; NULL: the defaults. With `specials_first` the result is a tokenizer of lines:
 * line feeds are not tokens, and a character that `text` lacks becomes <unk>; without it, encoding such a character fails. NULL
 * with `err` set also for options without a size. */
RAPT_API rapt_tokenizer *rapt_tokenizer_train_characters_with(const char *text, size_t size,
                                                              const rapt_characters_options *options, rapt_error *err);

/* Languages whose rules for spaces beside punctuation rapt knows, for detokenization: none, de, en, es, fr, it, nl, pt. */
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

/* How a text is normalized before it is tokenized; in a tokenizer.json, this is the normalizer. */
typedef enum rapt_normalization {
    RAPT_NORMALIZATION_NONE,
    RAPT_NORMALIZATION_NFC,            /* Unicode's composed form */
    RAPT_NORMALIZATION_PLAIN,          /* typographic quotation marks (not guillemets), apostrophes and dashes become the
                                          characters of a keyboard; NFKC; control characters are dropped; several spaces become
                                          one, and none stay at the ends */
    RAPT_NORMALIZATION_PLAIN_LOWERCASE /* PLAIN, and lower case */
} rapt_normalization;

typedef struct rapt_bpe_options {
    size_t size;                 /* of this struct; set by rapt_bpe_options_default */
    size_t vocab_size;           /* entries to reach: 256 bytes, merges, special tokens; must be set */
    size_t min_freq;             /* pairs that occur less often are not merged */
    const char *pattern;         /* a PCRE2 expression that splits the text; NULL: GPT-2's */
    const char *const *specials; /* tokens that no merge makes, with ids after all others; nothing is learned from their texts */
    size_t special_count;
    rapt_stop_fn *stop;          /* NULL: never */
    void *stop_context;
    rapt_normalization normalization; /* merges are learned from normalized lines; each line is normalized by itself */
    int threads;                 /* 1 to 256; 0: RAPT_THREADS, else the CPUs that this process may use; the result doesn't depend
                                    on it */
    bool specials_first;         /* for translation, instead of `specials`: <unk> <pad> <bos> <eos> come before all others */
    uint8_t reserved[7];         /* zeros, or else refused */
} rapt_bpe_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_bpe_options_init(rapt_bpe_options *o, size_t size);
/* min_freq 2, all else zero; vocab_size must be set. */
static inline rapt_bpe_options rapt_bpe_options_default(void)
{
    rapt_bpe_options o;
    rapt_bpe_options_init(&o, sizeof o);
    return o;
}

/* Merges the most frequent pair of tokens until the vocabulary is full (equal counts: the pair with the smaller first id, then
 * the smaller second id), or until no pair is left. `text` may be any bytes. NULL with `err` set: an empty text, a pattern that
 * does not compile, options without a size, an option out of range, out of memory, cancelled by options->stop. */
RAPT_API rapt_tokenizer *rapt_tokenizer_train_bpe(const char *text, size_t size, const rapt_bpe_options *options,
                                                  rapt_error *err);

/* Whether <unk> <pad> <bos> <eos> have the ids RAPT_UNK .. RAPT_EOS, so that a translation model can be trained with it. */
RAPT_API bool rapt_tokenizer_has_specials(const rapt_tokenizer *tokenizer);

/* Loads what `spec` names: a tokenizer file of rapt; a Hugging Face tokenizer.json, where components that rapt lacks are refused
 * by name; a rank file of tiktoken with one `base64 rank` per line, as "r50k_base:PATH", "p50k_base:PATH", "cl100k_base:PATH" or
 * "o200k_base:PATH", or as PATH alone if its bytes are those that OpenAI publishes; a SentencePiece model, which takes the ids of
 * vocab.json if it is source.spm or target.spm of a Marian folder of Hugging Face; a folder, which stands for its tokenizer.json,
 * or else for spiece.model, sentencepiece.bpe.model, tokenizer.model or merges.txt with the ids of the class that the folder
 * names; or a GGUF file, for the tokenizer in it. Failures name path, line and reason. */
RAPT_API rapt_tokenizer *rapt_tokenizer_load(const char *spec, rapt_error *err);
/* rapt_tokenizer_load for the bytes of one file, at most 1 GiB: a tokenizer file of rapt, a tokenizer.json, a SentencePiece model
 * with its own ids, or a rank file that OpenAI publishes. The bytes are not needed afterwards. Messages have "tokenizer" in place
 * of the path. */
RAPT_API rapt_tokenizer *rapt_tokenizer_load_bytes(const char *bytes, size_t size, rapt_error *err);
/* Frees a tokenizer of any kind; NULL is fine. */
RAPT_API void rapt_tokenizer_free(rapt_tokenizer *tokenizer);

/* Writes one JSON file, whole or not at all. A byte-level BPE with merges becomes a Hugging Face tokenizer.json, a rank file a
 * list of tokens. A SentencePiece model is saved unchanged: in base64, or as a file of its own, not JSON, if `path` ends in
 * .model or .spm. RAPT_ERR_MEMORY; RAPT_ERR_IO: `path` cannot be written. */
RAPT_API rapt_code rapt_tokenizer_save(const rapt_tokenizer *tokenizer, const char *path, rapt_error *err);

/* What rapt_tokenizer_save writes as JSON, in memory: rapt_tokenizer_load_bytes makes the same tokenizer of it. The caller frees
 * *bytes, which a NUL follows; on failure (RAPT_ERR_MEMORY) it is NULL. */
RAPT_API rapt_code rapt_tokenizer_save_bytes(const rapt_tokenizer *tokenizer, char **bytes, size_t *size, rapt_error *err);

/* ---- what it is ------------------------------------------------------------------------------------------- */

/* Which kind of tokenizer it is. */
RAPT_API rapt_tokenizer_kind rapt_tokenizer_kind_of(const rapt_tokenizer *tokenizer);
/* The vocabulary size, largest id + 1. It counts special tokens, and ids that a rank file skips. */
RAPT_API size_t rapt_tokenizer_size(const rapt_tokenizer *tokenizer);
/* The bytes of a token as they stand in a text (in a SentencePiece model, U+2581 is a space and <0x0A> is one byte), followed by
 * a NUL. *size, unless `size` is NULL, is their number, because a token may hold a NUL itself. NULL for ids outside the
 * vocabulary and ids that a rank file skips. */
RAPT_API const char *rapt_tokenizer_token(const rapt_tokenizer *tokenizer, int32_t id, size_t *size);
/* The id of a special token ("<|endoftext|>"), or -1. */
RAPT_API int32_t rapt_tokenizer_special(const rapt_tokenizer *tokenizer, const char *text);
/* A 64-bit fingerprint of everything that the tokenizer does. Tokenizers that do the same have the same fingerprint. */
RAPT_API uint64_t rapt_tokenizer_hash(const rapt_tokenizer *tokenizer);

/* ---- using it --------------------------------------------------------------------------------------------- */

/* Receives `count` ids as they come. If it returns a code other than RAPT_OK, the encoding ends and returns that code. */
typedef rapt_code rapt_ids_fn(void *context, const int32_t *ids, size_t count, rapt_error *err);

/* How texts are encoded. */
typedef struct rapt_encode_options {
    size_t size;         /* of this struct; set by rapt_encode_options_default */
    int threads;         /* of rapt_tokenizer_encode_batch: 1 to 256; 0: RAPT_THREADS, or else the CPUs that this process may
                            use */
    bool specials;       /* texts of special tokens become those tokens, as with tiktoken's allowed_special="all", and the ids
                            that a tokenizer.json puts before or after a text are added (a Marian translator's tokenizer does
                            both too). If false, and always for other SentencePiece models, texts of special tokens are text
                            like any other */
    uint8_t reserved[3]; /* zeros, or else refused */
} rapt_encode_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_encode_options_init(rapt_encode_options *o, size_t size);
/* Without special tokens. */
static inline rapt_encode_options rapt_encode_options_default(void)
{
    rapt_encode_options o;
    rapt_encode_options_init(&o, sizeof o);
    return o;
}

/* Encodes a text of any length and hands the ids on in portions. Memory grows not with the text but with its longest pre-token or
 * line, with three exceptions: a tokenizer that normalizes, a pipeline, and a SentencePiece model, to which the whole text is one
 * sentence, so that it takes some 20 bytes per byte and at most 2^31 - 1 bytes after normalization. `options` may be NULL: the
 * defaults. Fails if a character is not in the vocabulary or not UTF-8 (characters, words and pipelines: "byte 17: ..."), if a
 * pipeline has no unknown token for it, or if a pattern takes too many steps; RAPT_ERR_VALUE: options without a size. */
RAPT_API rapt_code rapt_tokenizer_encode_to(const rapt_tokenizer *tokenizer, const char *text, size_t size,
                                            const rapt_encode_options *options, rapt_ids_fn *sink, void *context,
                                            rapt_error *err);
/* Encodes a whole text into one array, which the caller frees. *ids is never NULL on success, and NULL on failure. Options and
 * failures as in rapt_tokenizer_encode_to. */
RAPT_API rapt_code rapt_tokenizer_encode_bytes(const rapt_tokenizer *tokenizer, const char *text, size_t size,
                                               const rapt_encode_options *options, int32_t **ids, size_t *count,
                                               rapt_error *err);
/* Encodes a string as one line without special tokens. Unknown words become RAPT_UNK, and so do unknown characters if the
 * tokenizer is for translation. The caller frees *ids. For texts with zero bytes: rapt_tokenizer_encode_bytes. */
RAPT_API rapt_code rapt_tokenizer_encode(const rapt_tokenizer *tokenizer, const char *text, int32_t **ids, size_t *count,
                                         rapt_error *err);

/* Bytes begin .. end - 1 of a text. */
typedef struct rapt_span {
    size_t begin, end;
} rapt_span;

/* Encodes a whole text as rapt_tokenizer_encode_bytes does, and says for each id which bytes of the text it comes from:
 * (*offsets)[i] for (*ids)[i], *count of both. The caller frees both arrays; on failure they are NULL. `options` may be NULL.
 *
 * Offsets are bytes of the text as it was given, before any normalizer, and begin and end between two of its characters (a byte
 * that is not UTF-8 is one). To get them in characters, count the characters before each. The package
 * `tokenizers` 0.23.3, which counts characters, has the same:
 *   - ids that a tokenizer.json puts before or after a text have the span 0, 0;
 *   - a token with a part of a character's bytes has the whole character, and so have all tokens of it;
 *   - a character that a normalizer inserts or makes of another one has the place of the character from which it comes: a "_" or
 *     space before a text, the place of the first; a character that NFC composes of several, the place of the first of them; a
 *     replacement, the place of the last that was replaced;
 *   - a space before a word belongs to its token. `tokenizers` leaves it out if the file's post-processor has "trim_offsets":
 *     then move `begin` past white space.
 * Where `tokenizers` shifts offsets, rapt's stay right: behind unknown characters that BPE leaves out or puts after tokens of
 * bytes, and behind characters that a "Precompiled" normalizer removes at the beginning of a text. A character that BPE leaves
 * out belongs to the token before it.
 * A SentencePiece model has SentencePiece's offsets: the space that it puts before a text comes from nothing, spaces that it
 * drops belong to the piece before them; but all tokens of an unknown character's bytes have the character.
 * Memory: up to some 200 bytes a byte of text, as its normalizer writes it (which may be longer than the
 * text). Fails as rapt_tokenizer_encode_bytes does; RAPT_ERR_VALUE: options without a size. */
RAPT_API rapt_code rapt_tokenizer_encode_offsets(const rapt_tokenizer *tokenizer, const rapt_text *text,
                                                 const rapt_encode_options *options, int32_t **ids, rapt_span **offsets,
                                                 size_t *count, rapt_error *err);

/* Encodes `count` texts on several threads: text i has the ids starts[i] .. starts[i + 1] - 1 of *ids, as
 * rapt_tokenizer_encode_bytes gives them. The caller frees *ids and *starts [count + 1]; on failure both are NULL. `options` may
 * be NULL: the defaults. Fails as rapt_tokenizer_encode_bytes does for the first text for which it does, "text 3: byte 17: ...",
 * counted from 1; RAPT_ERR_VALUE: options without a size, `threads` out of range, or an invalid RAPT_THREADS; RAPT_ERR_MEMORY. */
RAPT_API rapt_code rapt_tokenizer_encode_batch(const rapt_tokenizer *tokenizer, const rapt_text *texts, size_t count,
                                               const rapt_encode_options *options, int32_t **ids, size_t **starts,
                                               rapt_error *err);
/* The text of ids, NUL-terminated, which the caller frees; `size`, unless NULL, gets the length. NULL: out of memory. Words are
 * joined by spaces, up to the first <eos>, without <bos> and <pad>. Other tokenizers give the tokens' bytes one after the other;
 * but if their first four tokens are <unk> <pad> <bos> <eos>, they give a line of UTF-8 up to <eos>, without the four: bytes that
 * are not UTF-8 become U+FFFD (translations and generated texts leave them out), line ends and tabs become spaces. A pipeline
 * decodes as its file says, special tokens included; a SentencePiece model as sentencepiece does, without control pieces and
 * without the space before the text. Ids outside the vocabulary are left out. */
RAPT_API char *rapt_tokenizer_decode(const rapt_tokenizer *tokenizer, const int32_t *ids, size_t count, size_t *size);

/* ---- word vectors ------------------------------------------------------------------------------------------- */

typedef struct rapt_vectors_result {
    size_t words;  /* words in the file */
    size_t tokens; /* tokens of the vocabulary that have a text */
    size_t found;  /* tokens that got a vector */
} rapt_vectors_result;

/* Reads pretrained word vectors into the rows of an embedding matrix `table` [entries, d]: row i, i below `entries`, becomes the
 * vector of the word that is token i of the tokenizer, letter by letter; a space that the token begins with (byte-level BPE) does
 * not count. Rows of tokens that the file lacks stay as they are. If a word comes twice, the first vector counts. `table` may
 * then become rapt_embedding_options.vectors, or be the values of a parameter.
 *
 * The file is one of
 *   - GloVe's (Pennington et al. 2014): lines "word v1 ... vd";
 *   - word2vec's (Mikolov et al. 2013) or fastText's text: a first line "words d", then lines as in GloVe's file;
 *   - word2vec's binary: a first line "words d", then for each word its text, a space and d 32-bit floats, little-endian.
 * The first line tells the size; a later line with more fields has a word with spaces, as some lines of GloVe's files have. The
 * file is mapped, not read, so only the rows that are found take memory. In the lines of other words only the number of fields is
 * checked. `result` may be NULL. On failure part of `table` may have been filled. RAPT_ERR_FORMAT: "PATH:LINE: 5 fields; a word
 * and 300 numbers are expected", a number that is none or not finite, fewer or more words than the first line says;
 * RAPT_ERR_VALUE: vectors of another size than d, or none of the words is a token; RAPT_ERR_MEMORY; RAPT_ERR_IO and
 * RAPT_ERR_NOT_FOUND as for other files. */
RAPT_API rapt_code rapt_vectors_read(const char *path, const rapt_tokenizer *tokenizer, size_t entries, size_t d,
                                     rapt_real *table, rapt_vectors_result *result, rapt_error *err);

#ifdef __cplusplus
}
#endif

#endif
