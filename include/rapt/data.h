/* rapt/data.h: sentence pairs, split and batched for training.
 *
 * The order of examples depends on (seed, epoch) alone, so a training run can be stopped and resumed anywhere.
 */
#ifndef RAPT_DATA_H
#define RAPT_DATA_H

#include "rapt/defaults.h"
#include "rapt/tensor.h"
#include "rapt/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many lines of a corpus were left out for a reason: rapt data check --help names them. A line with several counts for the
 * first. */
typedef struct rapt_left_out {
    const char *rule; /* "duplicate" */
    size_t lines;
} rapt_left_out;

/* Sentence pairs as text. */
typedef struct rapt_pairs rapt_pairs;

/* Reads the first `limit` pairs (0: all) of a UTF-8 file of `source<TAB>target` lines: further columns are ignored, CRLF and a
 * byte order mark are accepted, empty lines are skipped. `path` may also be two files, "SOURCE:TARGET", whose lines are paired by
 * number; pairs of two empty lines are skipped. Several such corpora have line breaks between them; `limit` is for each, and
 * rapt_pairs_line counts in each from 1. NULL with `err` set: missing or empty file, "PATH:LINE: no tab", two files with
 * different numbers of lines, invalid UTF-8, NUL bytes. */
RAPT_API rapt_pairs *rapt_pairs_read(const char *path, size_t limit, rapt_error *err);
/* Pairs of `count` sources and targets, which are strings and copied: UTF-8 without line breaks. Pairs of two empty texts are
 * skipped. rapt_pairs_line counts pairs from 1, and rapt_pairs_path is "the pairs". NULL with `err` (which may be NULL) set:
 * RAPT_ERR_FORMAT: "pair 3 is not UTF-8: byte 7", or "pair 3 has a line break"; RAPT_ERR_VALUE: no pair; RAPT_ERR_MEMORY. */
RAPT_API rapt_pairs *rapt_pairs_from_lines(const char *const *sources, const char *const *targets, size_t count,
                                           rapt_error *err);
/* Frees the pairs and their texts; NULL is fine. */
RAPT_API void rapt_pairs_free(rapt_pairs *p);
/* The number of pairs, at least 1. */
RAPT_API size_t rapt_pairs_count(const rapt_pairs *p);
/* The source sentence of pair i < count: UTF-8, owned by `p`. */
RAPT_API const char *rapt_pairs_source(const rapt_pairs *p, size_t i);
/* The target sentence of pair i < count: UTF-8, owned by `p`. */
RAPT_API const char *rapt_pairs_target(const rapt_pairs *p, size_t i);
/* The line of pair i < count in its file, from 1, for messages. */
RAPT_API size_t rapt_pairs_line(const rapt_pairs *p, size_t i);
/* The `path` that the pairs were read from, owned by `p`. */
RAPT_API const char *rapt_pairs_path(const rapt_pairs *p);

/* Whether pair i is in the validation split. A hash of the source sentence (ignoring case) selects `fraction` of all source
 * sentences, so that all translations of a sentence are in the same split. */
RAPT_API bool rapt_pairs_in_validation(const rapt_pairs *p, size_t i, double fraction);

typedef enum rapt_too_long { RAPT_TOO_LONG_CUT, RAPT_TOO_LONG_DROP, RAPT_TOO_LONG_ERROR } rapt_too_long;

typedef struct rapt_dataset_options {
    size_t size;                /* of this struct; set by rapt_dataset_options_default */
    size_t max_len;             /* max tokens of a sentence, <eos> included; 1 or more */
    double validation_fraction; /* rapt_pairs_in_validation; 0 for none */
    const rapt_special_ids *special; /* <bos>, <eos> and <pad> of the model, copied; NULL: RAPT_SPECIAL_IDS */
    rapt_stop_fn *stop;         /* NULL: never */
    void *stop_context;
    rapt_too_long too_long;     /* what happens to longer sentences; truncation drops <eos> too, as in the book */
    bool pad_to_max;            /* pad rows to max_len tokens; if false, to the longest of the batch */
    bool validation;            /* take the validation split; if false, the training split */
    bool specials_in_text;      /* texts of special tokens become those tokens: rapt_translation_model.specials_in_text */
    uint8_t reserved[1];        /* zero, or else refused */
} rapt_dataset_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_dataset_options_init(rapt_dataset_options *o, size_t size);
/* max_len 50, RAPT_TOO_LONG_CUT, no validation split. */
static inline rapt_dataset_options rapt_dataset_options_default(void)
{
    rapt_dataset_options o;
    rapt_dataset_options_init(&o, sizeof o);
    return o;
}

/* Pairs as token ids. */
typedef struct rapt_dataset rapt_dataset;

/* `options` may be NULL: the defaults. NULL with `err` set: options without a size or out of range; a pair that is too long, with
 * RAPT_TOO_LONG_ERROR ("PATH:LINE: ..."); no pair left; out of memory; cancelled by options->stop. */
RAPT_API rapt_dataset *rapt_dataset_new(const rapt_pairs *pairs, const rapt_tokenizer *source, const rapt_tokenizer *target,
                                        const rapt_dataset_options *options, rapt_error *err);
/* Frees the data set, not its pairs and tokenizers. NULL is fine. */
RAPT_API void rapt_dataset_free(rapt_dataset *d);
/* The number of examples, at least 1. */
RAPT_API size_t rapt_dataset_count(const rapt_dataset *d);
/* The number of pairs that RAPT_TOO_LONG_DROP left out. */
RAPT_API size_t rapt_dataset_dropped(const rapt_dataset *d);
/* The number of pairs of the split that were left out because a side is empty or white space only. */
RAPT_API size_t rapt_dataset_empty(const rapt_dataset *d);

/* One batch. Targets are shifted by one: inputs begin with <bos>, labels end with <eos>. */
typedef struct rapt_batch {
    rapt_tokens source, inputs, labels; /* [batch, time], padded with <pad>, with their lengths */
    int32_t *source_lens, *target_lens; /* [batch] tokens that count */
    uint32_t *examples;                 /* [batch] index in the data set */
    size_t tokens;                      /* target tokens that count */
} rapt_batch;

/* Divides a data set into batches. */
typedef struct rapt_loader rapt_loader;

typedef struct rapt_loader_options {
    size_t size;         /* of this struct; set by rapt_loader_options_default */
    size_t batch_size;   /* sentences, 1 or more */
    size_t batch_tokens; /* if not 0, replaces batch_size: a batch has sentences of similar length, at least one and as many as
                            fit when each counts as many tokens as the longest sentence of either side; always shuffled */
    uint64_t seed;       /* of the shuffle */
    bool shuffle;        /* if false, batches keep the order of the data set */
    uint8_t reserved[7]; /* zeros, or else refused */
} rapt_loader_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_loader_options_init(rapt_loader_options *o, size_t size);
/* batch_size 32, all else zero. */
static inline rapt_loader_options rapt_loader_options_default(void)
{
    rapt_loader_options o;
    rapt_loader_options_init(&o, sizeof o);
    return o;
}

/* Makes a loader. Batches depend on (seed, epoch). Shuffled batches group sentences of similar length, unless rows are padded to
 * max_len. The last batch may be smaller; the number of batches is the same in every epoch. `options` may be NULL: the defaults.
 * The data set must outlive the loader. NULL with `err` set: options without a size, 0 sentences, out of memory. */
RAPT_API rapt_loader *rapt_loader_new(const rapt_dataset *d, const rapt_loader_options *options, rapt_error *err);
/* The number of batches in an epoch. */
RAPT_API size_t rapt_loader_batches(const rapt_loader *l);
/* Frees the loader and its batch, not the data set. NULL is fine. */
RAPT_API void rapt_loader_free(rapt_loader *l);
/* Batch `index` (below rapt_loader_batches, which is not checked) of epoch `epoch`; owned by the loader and valid until the next
 * call. NULL when out of memory. */
RAPT_API const rapt_batch *rapt_loader_batch(rapt_loader *l, size_t epoch, size_t index);
/* A batch of the longest pairs, to plan memory: about the largest that an epoch can have. Owned by the loader and valid until the
 * next call. NULL when out of memory. */
RAPT_API const rapt_batch *rapt_loader_largest(rapt_loader *l);

#ifdef __cplusplus
}
#endif

#endif
