/* rapt/decode.h: translating with a trained model.
 *
 * A sentence's translation depends on the sentence and the options alone, not on the other lines, the batch or the threads; in
 * bf16 it also depends on the processor (rapt_compute.type).
 *
 * If the model was trained on single sentences, a line of several sentences is translated sentence by sentence
 * (rapt_sentence_split). So is any line of more than rapt_translation_model.max_len tokens. A sentence that is still too long is
 * split after the last clause that fits (, ; : and dashes), or else at the last space. Only a sentence that cannot be split is
 * truncated, and rapt_translation.cut says so. The translations of these segments are joined with a space, or without one after
 * Chinese and Japanese. Hypothesis n of such a line joins the n-th best hypothesis of each segment (the last one if a segment has
 * fewer); its score and log-probability are the sums over the segments.
 */
#ifndef RAPT_DECODE_H
#define RAPT_DECODE_H

#include "rapt/defaults.h"
#include "rapt/generate.h"
#include "rapt/glossary.h"
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

/* A Hugging Face model is searched as rapt/policy.h describes. */
typedef struct rapt_translate_options {
    size_t size;           /* of this struct; set by rapt_translate_options_default */
    size_t beam;           /* 1: greedy; 1 to 65,536, or RAPT_AS_MODEL: 1 without a policy */
    double length_penalty; /* a, the exponent of rapt_hypothesis.score; -10 to 10, or RAPT_AS_MODEL: 1 without a policy. 0:
                              hypotheses compare by their log-probability, which prefers short ones */
    size_t n_best;         /* hypotheses to return, 1 to `beam` */
    size_t batch;          /* sentences computed together, 1 or more; more than 65536 are as 65536 */
    rapt_compute compute;  /* each thread works on its own batches, or all threads on one batch if half of them or more would be
                              idle; alignments are computed without a KV cache */
    size_t no_repeat;         /* no-repeat n-gram size: no n-gram of tokens is repeated in a translation; 0: n-grams may be
                                 repeated; RAPT_AS_MODEL: 0 without a policy */
    double patience;          /* P, 0.01 to 16: a search ends once beam * P hypotheses, rounded, have ended (Kasai et al. 2022);
                                 with a policy, that replaces its early_stopping. 0: it ends when no unfinished hypothesis can
                                 become one of the n_best, or as the policy says */
    double coverage_penalty;  /* b, 0 to 10: finished hypotheses, as many as the beam, are ranked by score + b sum_i log(min(sum_j
                                 p_ij, 1)), which becomes rapt_hypothesis.score, where p_ij is the attention of target token j to
                                 source token i as in the alignment, both with <eos> (Wu et al. 2016, eq. 14; CTranslate2). Each
                                 costs a forward pass. 0: none */
    double max_ratio;         /* R > 0: after the prefix, a translation has at most 10 tokens plus R times the tokens of its
                                 source (<eos> included). RAPT_AS_MODEL: as the policy says; R is 2 without one, or if the model
                                 was trained on rows of max_len tokens, the limit is max_len */
    size_t min_length;        /* the tokens after the prefix that come before <eos> at least (in each segment of a line);
                                 0 to 65,536, or RAPT_AS_MODEL: as the policy says, or 0. The maximum length comes first */
    const char *prefix;       /* forced prefix: a text with which every translation begins (in a line of segments, the first),
                                 without trailing spaces; its tokens count with the log-probabilities that the model gives them;
                                 NULL: none */
    const char *suppress;     /* texts that no translation has, a line each: the token that would complete the tokens of one, as
                                 it is encoded at the beginning or behind a space, is excluded (another division of the same
                                 characters into tokens is not). At most 1,024 lines and 65,536 bytes; NULL: none */
    const char *source_language, *target_language; /* codes of languages for which the model has tokens: "deu_Latn" with NLLB,
                                                      "deu" with a multilingual Marian model; NULL: as the model's folder says */
    rapt_sample_options sample; /* draws translations at random (rapt/generate.h) if it asks for a kind of sampling: greedy, or a
                                   temperature, top_k, top_p, min_p or typical_p other than RAPT_AS_MODEL, which is temperature 1
                                   and all tokens without a policy. `beam` is 1 then, if it is RAPT_AS_MODEL, and a larger one
                                   is refused; so are biases, repetition_window, presence and frequency penalty. Searches take
                                   repetition_penalty, too (RAPT_AS_MODEL: the policy's, or else 1): it concerns the tokens that
                                   a hypothesis has. Log-probabilities have the penalty, but not the temperature. Tokens are
                                   drawn by the seed, the line and the position alone: segment s of line l is sample l + 2^40 s,
                                   both counted from 0, and the first token after the start token has position 0 */
    const rapt_model *const *others; /* [other_count] an ensemble: models of the same vocabularies that translate together with
                                   this one, which is the first. A token has the mean of the log-probabilities that they give it
                                   (a geometric mean of probabilities, as with Marian and OpenNMT; fairseq's is arithmetic), and
                                   so has a translation. Search settings, languages and alignments are the first one's. They
                                   must last as long as the translator, and not change */
    size_t other_count;       /* up to 63 */
    const rapt_glossary *glossary; /* the translation of a line contains the targets of the terms that are found in it, as often
                                      as they are there, in any order: each hypothesis does (rapt_translation.lacks_terms). Such
                                      a line is searched with a beam of at least 8 and at most 32 (or `beam`), so that each number
                                      of tokens that are still missing has a place in it (dynamic beam allocation, Post and Vilar
                                      2018); others get what they get without a glossary. Not with sampling or alternatives.
                                      Excluded tokens stay excluded. A translator's must last as long as it; NULL: none */
    rapt_language detokenize; /* replaces the model's own; RAPT_LANGUAGE_NONE, 0, keeps it */
    bool as_tokens;           /* return translations as the model generates them, neither detokenized nor capitalized */
    bool alignment;           /* compute the alignment of every hypothesis; each costs a forward pass */
    rapt_sentence_split split;
    bool tokens;              /* also return the tokens of the source, and of every hypothesis with their log-probabilities */
    bool replace_unknown;     /* <unk> in a text becomes the text of the source token that it attends to most (as in the
                                 alignment; <eos> is none); each hypothesis that has one costs a forward pass. Tokens stay */
    bool alternatives;        /* alternatives at a position (CTranslate2's return_alternatives): each of the n_best most probable
                                 tokens after the prefix is continued by itself, greedily. `beam` must be n_best or RAPT_AS_MODEL,
                                 and nothing is drawn. Best first, as ever; a line of segments has them in each */
    bool spans;               /* with `tokens`: also return where each token is in its text */
    uint8_t reserved[8];      /* zero, or else refused */
} rapt_translate_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_translate_options_init(rapt_translate_options *o, size_t size);
/* What `rapt translate` does without options: beam, length_penalty, no_repeat, max_ratio and min_length are RAPT_AS_MODEL, n_best
 * is 1, batch RAPT_TRANSLATE_BATCH, `sample` as rapt_sample_options_default makes it, all else zero. */
static inline rapt_translate_options rapt_translate_options_default(void)
{
    rapt_translate_options o;
    rapt_translate_options_init(&o, sizeof o);
    return o;
}

/* Soft alignment of one target token to the source tokens first .. first + count - 1, which are the tokens of its segment. */
typedef struct rapt_alignment_row {
    size_t first, count;
    const rapt_real *weights; /* [count + 1], sum 1; the last weight belongs to the segment's <eos> */
} rapt_alignment_row;

/* Soft word alignment: the cross-attention weights of the decoder's last block at each target token, averaged over the heads.
 * Tokens are the tokenizers' tokens without <eos>; in a line of several segments, indices run through all segments. */
typedef struct rapt_alignment {
    size_t targets, sources;
    rapt_alignment_row *rows; /* [targets] */
    rapt_real *weights;       /* the weights of all rows, one after the other */
} rapt_alignment;

typedef struct rapt_hypothesis {
    char *text;
    double log_prob; /* in nats, summed over all tokens, including a prefix and <eos> */
    double score;    /* what hypotheses compare by: log_prob / ((5 + length) / 6)^a (Wu et al. 2016, eq. 14), where a is the
                        length penalty and the length counts tokens, with prefix and <eos>; greedy search has it too. With a
                        policy, rapt_search_policy.length_penalty defines the score, and neither score nor length counts tokens of
                        a prefix */
    rapt_alignment alignment; /* with rapt_translate_options.alignment */
    int32_t *tokens;          /* [token_count] with rapt_translate_options.tokens; counted as in rapt_alignment */
    double *log_probs;        /* [token_count] log-probability of each, in nats; with the log-probability of <eos>, which is not
                                 among them, they add up to log_prob. With a policy, scores as in log_prob, and 0 for a prefix */
    size_t token_count;
    rapt_span *spans;         /* [token_count] with rapt_translate_options.spans: the bytes of `text` that each token became,
                                 without spaces around them: one after the other, possibly none. Where detokenization or a
                                 replaced word changes more than spaces and letter case, the parts that stay the same decide */
} rapt_hypothesis;

/* The translation of one line: n_best hypotheses, best first (fewer where the search found fewer). */
typedef struct rapt_translation {
    rapt_hypothesis *hypotheses;
    size_t count;
    bool cut; /* a segment was longer than the model takes and could not be split: its end is missing */
    int32_t *source; /* [source_count] with rapt_translate_options.tokens: the source's tokens, counted as in rapt_alignment */
    size_t source_count;
    rapt_span *source_spans; /* [source_count] with rapt_translate_options.spans: the bytes of the line from which each token
                                comes (rapt_tokenizer_encode_offsets); 0 and 0: none, as with tokens in place of a text */
    bool split; /* the line, or a sentence that should have been one segment, had more tokens than the model takes */
    bool cancelled; /* rapt_translator_request.stop cancelled the line: the translation is empty */
    bool lacks_terms; /* a term of the glossary could not be forced: the model has no token for a part of it, other options
                         exclude one, the maximum length leaves no room for all terms of a segment, the line was split within
                         the term, or a segment has more than 64 terms or 256 tokens of them */
    char **unknown_words; /* [unknown_word_count] the words (or characters) of the line that the model reads as <unk>, each once,
                             in order, with U+FFFD for zero bytes; NULL: none, as always with byte-level tokenizers. Freed with
                             the translation */
    size_t unknown_word_count;
} rapt_translation;

/* Translates `count` lines (strings of valid UTF-8; rapt_translator_run takes texts with zero bytes) into out[count], which
 * rapt_translations_free frees. An empty line, or one of spaces, gives an empty translation. `options` may be NULL. On failure
 * there is nothing to free. RAPT_ERR_VALUE: not a translation model, an option is out of its range, or the prefix is not UTF-8,
 * has a word that the model doesn't know, or leaves it no position for what follows; RAPT_ERR_FORMAT: a line is not UTF-8, with a
 * tokenizer that needs it (words, characters); RAPT_ERR_NOT_FINITE: the model computes a value that is not finite. If several
 * lines fail, the error is the first line's, whatever the number of threads. But all lines are encoded before any is computed, so
 * a line that is not UTF-8 is reported before an earlier line whose computation would fail. */
RAPT_API rapt_code rapt_translate(const rapt_model *m, const char *const *lines, size_t count,
                                  const rapt_translate_options *options, rapt_translation *out, rapt_error *err);

/* Translates a text that comes in portions: threads, memory and packed weights are kept between calls. One caller at a time. Any
 * number of translators, each in its own thread, may share a model, which they only read. */
typedef struct rapt_translator rapt_translator;

/* `options` may be NULL and is copied; texts that it points to are read during the call only. The model must not change while the
 * translator lives. NULL with `err` set: the errors of rapt_translate that do not concern lines; RAPT_ERR_VALUE also for models
 * that are no ensemble ("model 2 of the ensemble has another target vocabulary than the first"). */
RAPT_API rapt_translator *rapt_translator_new(const rapt_model *m, const rapt_translate_options *options, rapt_error *err);
RAPT_API void rapt_translator_free(rapt_translator *t); /* NULL is fine */

/* A sentence as ids of the source tokenizer, borrowed. */
typedef struct rapt_source_tokens {
    const int32_t *ids; /* [count]; NULL: there are none */
    size_t count;
} rapt_source_tokens;

/* How one run differs from the translator's options. Zeroed: not at all. What it points to is read during the run only. */
typedef struct rapt_translator_request {
    const rapt_translate_options *options; /* beam, length_penalty, n_best, no_repeat, max_ratio, min_length, prefix, suppress,
                                              sample, alignment, tokens, spans, replace_unknown, patience,
                                              coverage_penalty, alternatives, glossary.
                                              Other members are not read, because weights are packed already. NULL: the
                                              translator's */
    const rapt_text *prefixes;             /* [count] a forced prefix for each line (`data` NULL: none), instead of the options'
                                              prefix; or NULL */
    bool (*stop)(void *context, size_t line); /* called for each unfinished line in each decoding step, under the rules of
                                                 rapt_stop_fn: true cancels the line, which leaves its batch without changing the
                                                 others; or NULL */
    void *context;
    const rapt_source_tokens *tokens;      /* [count] a line's tokens in place of its text, or an element whose `ids` is NULL; or
                                              NULL. The tokens are what lies between the tokens that the model puts before each
                                              source (its language) and <eos>, as rapt_tokenizer_encode gives them for a text. The
                                              line is one segment; if it has more tokens than the model takes, it is truncated
                                              (rapt_translation.cut). Its text is not read, and `lines` may be NULL if all lines
                                              are tokens. It has no unknown_words */
    size_t first_line;                     /* the number of the first line, from 0, where the lines are a portion of a longer
                                              text: sampling draws by it */
    const void *reserved[3];               /* NULL, or the request is refused */
} rapt_translator_request;

/* Translates `count` lines, whole even if they hold zero bytes, into out[count] as rapt_translate does, with the same errors for
 * lines, and for options and prefixes of the request; RAPT_ERR_VALUE also for a line that has neither a text nor tokens, and for
 * a token that the model does not have or that is its padding or <eos> ("line 2: token 3: ..."). `request` may be NULL: the
 * translator's options. Each line gets the result that a new translator with the request's options would give. A cancelled line
 * is not an error. RAPT_ERR_INTERRUPTED: rapt_translator_cancel. After a failure the translator stays usable. Sets the
 * floating-point environment of the calling thread, as rapt_tape_begin does. */
RAPT_API rapt_code rapt_translator_run(rapt_translator *t, const rapt_translator_request *request, const rapt_text *lines,
                                       size_t count, rapt_translation *out, rapt_error *err);
/* Whether rapt_translator_run accepts these options; RAPT_ERR_VALUE if not. May be called while a run is in progress. */
RAPT_API rapt_code rapt_translator_check(const rapt_translator *t, const rapt_translate_options *options, rapt_error *err);

/* Makes the run in progress, or else the next run, return RAPT_ERR_INTERRUPTED: each thread ends after its current decoding step.
 * A call after a run has returned cancels the next run. May be called from any thread and from a signal handler, but not during
 * or after rapt_translator_free. */
RAPT_API void rapt_translator_cancel(rapt_translator *t);

/* Frees the contents of `count` translations and zeroes them; zeroed ones are fine. */
RAPT_API void rapt_translations_free(rapt_translation *t, size_t count);

#ifdef __cplusplus
}
#endif

#endif
