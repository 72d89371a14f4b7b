/* rapt/decode.h: translating with a trained model.
 *
 * In fp32 a sentence's translation depends on the sentence and the options alone: not on the other lines, the batch or the
 * threads. In bf16 it depends on the processor and the batch, too (rapt_precision).
 *
 * A line of several sentences is translated sentence by sentence where the model was trained on single ones
 * (rapt_sentence_split), and so is any line of more than rapt_translation_model.max_len tokens. A sentence that is still too
 * long is split after the last clause that fits (, ; : and dashes), or else at the last space. Only a sentence without such a
 * position is truncated, and rapt_translation.cut says so. Translations of segments are joined with a space, after Chinese and
 * Japanese without one. Hypothesis n of such a line joins the n-th best of each segment (the last one of a segment with
 * fewer); its score and log-probability are the sums of theirs.
 */
#ifndef RAPT_DECODE_H
#define RAPT_DECODE_H

#include "rapt/io.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RAPT_TRANSLATE_BATCH = 64 };

/* Which lines are translated sentence by sentence. */
typedef enum rapt_sentence_split {
    RAPT_SENTENCE_SPLIT_AS_TRAINED, /* as rapt_translation_model.by_sentence says */
    RAPT_SENTENCE_SPLIT_LONG,       /* lines of more than max_len tokens */
    RAPT_SENTENCE_SPLIT_ALL         /* all lines of several sentences */
} rapt_sentence_split;

/* Zeroed: what `rapt translate` does without options. Of a model of Hugging Face, whose searches are those of rapt/policy.h, the
 * defaults of beam, length_penalty, no_repeat and the greatest length are what its policy says (rapt_model.search). */
#define RAPT_NO_REPEAT_OFF SIZE_MAX /* rapt_translate_options.no_repeat: n-grams may be repeated, whatever a policy says */

typedef struct rapt_translate_options {
    size_t beam;           /* 1: greedy; 0: 1; max 65,536 */
    double length_penalty; /* a, the exponent of rapt_hypothesis.score; -10 to 10; 0: 1 */
    bool no_length_penalty; /* hypotheses compare by their log-probability, which prefers short ones; for a of 0 */
    size_t n_best;         /* hypotheses wanted, at most beam; 0: 1 */
    size_t batch;          /* sentences computed together; 0: RAPT_TRANSLATE_BATCH */
    int threads;           /* 1 to 256; 0: RAPT_THREADS, else the CPUs that this process may use; each works on batches of its
                              own, or all on one where half of them or more would have none */
    rapt_precision precision; /* of matrix products, and of the weights that are held for them */
    const char *weights;      /* types of these by name, or NULL: see rapt_tape_options */
    rapt_storage kv_cache;    /* what keys and values of the decoder are stored in; alignments are computed without */
    size_t no_repeat;         /* no-repeat n-gram size: no n-gram of tokens is repeated in a translation; 0: off, or
                                 what the policy says; RAPT_NO_REPEAT_OFF: off */
    double max_ratio;         /* R >= 0: after the prefix a translation has at most R times the tokens of its source
                                 (<eos> included) plus 10; 0: R is 2, or the limit is max_len, for a model trained on
                                 rows of that length */
    const char *prefix;       /* forced prefix: text that every translation begins with (the first segment of a line), without
                                 trailing spaces; its tokens count with the log-probabilities that the model gives them;
                                 NULL: none */
    const char *source_language, *target_language; /* codes of languages that the model has tokens for: "deu_Latn" of NLLB, "deu"
                                 of a multilingual Marian model; NULL: those of the model's folder */
    rapt_language detokenize; /* instead of the model's own */
    bool as_tokens;           /* translations as the model generates them: neither detokenized nor capitalized */
    bool alignment;           /* compute alignments of every hypothesis; costs a forward pass each */
    rapt_sentence_split split;
    bool tokens;              /* return the tokens of the source and of every hypothesis, too */
} rapt_translate_options;

/* Soft alignment of one target token to the source tokens first .. first + count - 1, those of its segment of the line. */
typedef struct rapt_alignment_row {
    size_t first, count;
    const rapt_real *weights; /* [count + 1], sum 1; the last weight is that of the segment's <eos> */
} rapt_alignment_row;

/* Soft word alignment: the cross-attention weights of the decoder's last block at each target token, averaged over the heads.
 * Tokens are those of the tokenizers, without <eos>; the indices of a line in segments run through all of them. */
typedef struct rapt_alignment {
    size_t targets, sources;
    rapt_alignment_row *rows; /* [targets] */
    rapt_real *weights;       /* of all rows, one after the other */
} rapt_alignment;

typedef struct rapt_hypothesis {
    char *text;
    double log_prob; /* of all its tokens, those of a prefix and <eos> included, in nats */
    double score;    /* what hypotheses compare by: log_prob / ((5 + length) / 6)^a (Wu et al. 2016, eq. 14), a the length
                        penalty, the length in tokens with prefix and <eos>; of greedy search, too. With a policy: see
                        rapt_search_policy.length_penalty; then neither counts tokens of a prefix */
    rapt_alignment alignment; /* with rapt_translate_options.alignment */
    int32_t *tokens;          /* [token_count] with rapt_translate_options.tokens, as rapt_alignment counts them */
    size_t token_count;
} rapt_hypothesis;

/* The translation of one line: n_best hypotheses, best first (fewer where the search found fewer). */
typedef struct rapt_translation {
    rapt_hypothesis *hypotheses;
    size_t count;
    bool cut; /* a segment of the line was longer than the model takes and could not be split: its end is missing */
    int32_t *source; /* [source_count] with rapt_translate_options.tokens: those of the source, as rapt_alignment counts them */
    size_t source_count;
    bool split; /* the line, or a sentence that was to be one segment, had more tokens than the model takes */
    bool cancelled; /* by rapt_translator_request.stop: the translation is that of an empty line */
    char **unknown_words; /* [unknown_word_count] the words of the line, or characters, that the model reads as <unk>, each once,
                             in their order; NULL: none, as always with tokenizers of bytes. Freed with the translation */
    size_t unknown_word_count;
} rapt_translation;

/* Translates `count` lines (valid UTF-8, strings) into out[count], which rapt_translations_free frees. An empty line, or one of
 * spaces, gives an empty translation. `options` may be NULL. On failure there is nothing to free. RAPT_ERR_VALUE: not a
 * translation model, an option is out of its range, or the prefix is not UTF-8, has a word that the model doesn't know, or
 * leaves it no position for what follows; RAPT_ERR_FORMAT: a line is not UTF-8, with a tokenizer that needs it (words,
 * characters); RAPT_ERR_NOT_FINITE: the model computes a value that is not finite. Where several lines fail, the error is that
 * of the first one, whatever the threads; but all lines are encoded before any is computed, so that a line that is not UTF-8
 * comes before an earlier one whose computation would fail. */
RAPT_API rapt_code rapt_translate(const rapt_model *m, const char *const *lines, size_t count,
                                  const rapt_translate_options *options, rapt_translation *out, rapt_error *err);

/* Translates a text that comes in portions: threads, memory and weights packed for them are kept between calls. One caller at a
 * time; any number of translators, each in a thread of its own, may share a model, which they only read. */
typedef struct rapt_translator rapt_translator;

/* `options` may be NULL and is copied; texts that it points to are read during the call only. The model must stay as it is while
 * the translator lives. NULL with `err` set: errors of rapt_translate that are not of lines. */
RAPT_API rapt_translator *rapt_translator_new(const rapt_model *m, const rapt_translate_options *options, rapt_error *err);
RAPT_API void rapt_translator_free(rapt_translator *t); /* NULL is fine */

/* Translates `count` lines into out[count] as rapt_translate does, with its errors of lines. RAPT_ERR_INTERRUPTED: cancelled.
 * After a failure the translator stays usable. Sets the floating-point environment of the calling thread, as rapt_tape_begin
 * does. */
RAPT_API rapt_code rapt_translator_run(rapt_translator *t, const char *const *lines, size_t count, rapt_translation *out,
                                       rapt_error *err);
/* Translates lines that begin with prefixes[count], one for each (NULL: none), in place of the options' prefix. Errors as of
 * rapt_translator_run, and those of a prefix as of rapt_translate. */
RAPT_API rapt_code rapt_translator_run_prefixed(rapt_translator *t, const char *const *lines, const char *const *prefixes,
                                                size_t count, rapt_translation *out, rapt_error *err);

/* How one run differs from others. Zeroed: in nothing. What it points to is read during the run only. */
typedef struct rapt_translator_request {
    const rapt_translate_options *options; /* beam, length_penalty, no_length_penalty, n_best, no_repeat, max_ratio, prefix,
                                              alignment, tokens of this run; its other fields are not read: the weights stay as
                                              they are packed. NULL: the translator's */
    const char *const *prefixes;           /* as of rapt_translator_run_prefixed, in place of the options' prefix; or NULL */
    bool (*stop)(void *context, size_t line); /* asked of each unfinished line in each decoding step, as a rapt_stop_fn is: true
                                              cancels the line, which leaves its batch without changing the others; or NULL */
    void *context;
} rapt_translator_request;

/* Translates lines as rapt_translator_run does, as `request` says: each line as a new translator with these options translates
 * it. Errors as of rapt_translate, those of options included. Lines that were cancelled are no error. */
RAPT_API rapt_code rapt_translator_run_with(rapt_translator *t, const rapt_translator_request *request, const char *const *lines,
                                            size_t count, rapt_translation *out, rapt_error *err);
/* Whether rapt_translator_run_with takes such options: RAPT_ERR_VALUE where it does not. May be called
 * while a run is in progress. */
RAPT_API rapt_code rapt_translator_check(const rapt_translator *t, const rapt_translate_options *options, rapt_error *err);

/* Makes the run in progress, or else the next one, return RAPT_ERR_INTERRUPTED: each thread stops after the decoding step that it
 * computes. A call that comes after a run has returned counts for the next one. From any thread, and from a signal handler, but
 * not while rapt_translator_free runs, nor after it. */
RAPT_API void rapt_translator_cancel(rapt_translator *t);

/* Frees what `count` translations hold and zeroes them; zeroed ones are fine. */
RAPT_API void rapt_translations_free(rapt_translation *t, size_t count);

#ifdef __cplusplus
}
#endif

#endif
