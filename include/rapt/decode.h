/* rapt/decode.h: translating with a trained model.
 *
 * A sentence's translation depends on the sentence and the options alone: not on the other lines, the batch or the
 * threads.
 *
 * A line of several sentences is translated sentence by sentence where the model knows single ones only (rapt_sentence_split),
 * and so
 * is any line of more than rapt_model.max_len tokens. Of a sentence that is too long still, a piece is what reaches to the last
 * clause that fits (, ; : and dashes), or else to the last space. Only what has no such place is cut off, and
 * rapt_translation.cut says so. Translations of pieces are joined with a space, or without one behind Chinese and Japanese.
 * Hypothesis n of such a line joins the n-th best of each piece (the last one of a piece with fewer), and its score is the
 * sum of theirs.
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
    RAPT_SENTENCE_SPLIT_AS_TRAINED, /* as rapt_model.by_sentence says */
    RAPT_SENTENCE_SPLIT_LONG,       /* those that the model can't take as a whole */
    RAPT_SENTENCE_SPLIT_ALL   /* all that have several */
} rapt_sentence_split;

typedef struct rapt_translate_options {
    size_t beam;           /* 1: greedy; 0 counts as 1; at most 65,536 */
    double length_penalty; /* a: hypotheses compare by log p / ((5 + length) / 6)^a (Wu et al. 2016, eq. 14), the length
                              with prefix and <eos>; 0 prefers short ones, `rapt translate` takes 1 unless told; -10 to 10 */
    size_t n_best;         /* hypotheses wanted, at most beam; 0 counts as 1 */
    size_t batch;          /* sentences computed together; 0: RAPT_TRANSLATE_BATCH */
    int threads;           /* 0: all, else 1 to 256; each works on batches of its own */
    rapt_precision precision; /* of products; RAPT_PRECISION_BF16: with the weights packed so */
    size_t no_repeat;         /* n: no n tokens follow each other twice in a translation; 0: they may */
    double max_ratio;         /* R: a translation has R times the tokens of its source (<eos> included) and 10 more at
                                 most, behind the prefix; R >= 0; 0: twice and 10, or max_len for a model trained on
                                 rows of that length */
    const char *prefix;       /* text that every translation begins with (the first piece of a line), without spaces at its
                                 end: its tokens, one by one, cost what the model gives them; NULL: none */
    rapt_language detokenize; /* instead of the model's own */
    bool as_tokens;           /* translations as the model has them: neither put together nor with capitals */
    bool alignment;           /* of every hypothesis; costs a pass over it */
    rapt_sentence_split split;
    bool tokens;              /* of the source and of every hypothesis, too */
} rapt_translate_options;

/* What one target token looked at: source tokens first .. first + count - 1, those of its piece of the line. */
typedef struct rapt_alignment_row {
    size_t first, count;
    const rapt_real *weights; /* [count + 1], sum 1; the last number is that of the piece's <eos> */
} rapt_alignment_row;

/* What each target token looked at in the source when it was chosen: the attention to the source in the decoder's last
 * block, the mean of its heads. Tokens are those of the tokenizers, without <eos>; those of a line in pieces are counted
 * through. */
typedef struct rapt_alignment {
    size_t targets, sources;
    rapt_alignment_row *rows; /* [targets] */
    rapt_real *weights;       /* of all rows, one after the other */
} rapt_alignment;

typedef struct rapt_hypothesis {
    char *text;
    double score; /* log p, divided by the length penalty */
    rapt_alignment alignment; /* if it was asked for */
    int32_t *tokens;          /* [token_count] if they were asked for, as rapt_alignment counts them */
    size_t token_count;
} rapt_hypothesis;

/* The translation of one line: n_best hypotheses, best first (fewer where the search found fewer). */
typedef struct rapt_translation {
    rapt_hypothesis *hypotheses;
    size_t count;
    bool cut; /* a piece of the line was longer than the model takes and could not be split: its end is missing */
    int32_t *source; /* [source_count] if tokens were asked for: those of the source, as rapt_alignment counts them */
    size_t source_count;
} rapt_translation;

/* Translates `count` lines (valid UTF-8) into out[count], which rapt_translations_free frees. An empty line, or one of spaces,
 * gives an empty translation.
 * `options` may be NULL. RAPT_ERR_VALUE: an option is out of its range, or the prefix is not UTF-8, has a word that the model
 * doesn't know, or leaves it no position for what follows. RAPT_ERR_NOT_FINITE: the model's numbers are such that there is no
 * likeliest token. */
rapt_code rapt_translate(const rapt_model *m, const char *const *lines, size_t count, const rapt_translate_options *options,
                         rapt_translation *out, rapt_error *err);

/* The same for a text that comes in portions: threads, memory and weights packed for them are kept between the calls. The
 * model must stay as it is; one caller at a time. Several translators may share a model, each in a thread of its own. NULL
 * with `err` set. After an error it can go on with other lines. */
typedef struct rapt_translator rapt_translator;
rapt_translator *rapt_translator_new(const rapt_model *m, const rapt_translate_options *options, rapt_error *err);
rapt_code rapt_translator_run(rapt_translator *t, const char *const *lines, size_t count, rapt_translation *out,
                              rapt_error *err);
/* The same with a prefix for each line, in place of the options' (NULL: none), with the errors of such a prefix. */
rapt_code rapt_translator_run_prefixed(rapt_translator *t, const char *const *lines, const char *const *prefixes, size_t count,
                                       rapt_translation *out, rapt_error *err);
void rapt_translator_free(rapt_translator *t);

void rapt_translations_free(rapt_translation *t, size_t count);

#ifdef __cplusplus
}
#endif

#endif
