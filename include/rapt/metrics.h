/* rapt/metrics.h: BLEU and chrF, the metrics of translation.
 *
 *   rapt_text translations[] = {rapt_text_of("the cat sat"), rapt_text_of("hello world")};
 *   rapt_text first[] = {rapt_text_of("the cat sat down"), rapt_text_of("hello, world!")};
 *   const rapt_text *references[] = {first};
 *   const rapt_metric_texts texts = {translations, references, .reference_count = 1, .segment_count = 2};
 *   rapt_bleu bleu;
 *   rapt_error err = {0};
 *   if (rapt_bleu_corpus(NULL, &texts, &bleu, &err) == RAPT_OK)
 *       printf("%.2f\n", bleu.score);
 *
 * Scores are in percent and equal sacreBLEU 2.6.0's (Post 2018, "A Call for Clarity in Reporting BLEU Scores"); a signature says
 * how a score was made: only scores with the same signature can be compared.
 *
 * Texts are UTF-8, each one segment (a sentence), untokenized: the metric tokenizes by itself. A zero byte is a character that is
 * no white space, as in sacreBLEU. Options may be NULL: the defaults. Arguments are read during the call only. Beyond ASCII,
 * punctuation and symbols follow Unicode 16.0 and lower case follows Unicode 17.0, whatever is installed on the machine.
 *
 * Errors: RAPT_ERR_FORMAT for text that is not UTF-8; RAPT_ERR_VALUE for no segments, no references, options without a size, an
 * option out of range, or a segment above RAPT_METRIC_MAX_LENGTH; RAPT_ERR_MEMORY.
 */
#ifndef RAPT_METRICS_H
#define RAPT_METRICS_H

#include "rapt/base.h"
#include "rapt/defaults.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The longest segment that is scored, in code points. */
#define RAPT_METRIC_MAX_LENGTH 1048576

/* A capacity that every signature fits into, with its NUL. */
#define RAPT_SIGNATURE_SIZE 160

/* A translated text and its references, for BLEU and chrF. */
typedef struct rapt_metric_texts {
    const rapt_text *translations;      /* [segment_count] */
    const rapt_text *const *references; /* [reference_count][segment_count] */
    size_t reference_count, segment_count;
    const void *reserved[4];            /* NULL, or refused */
} rapt_metric_texts;

/* BLEU counts n-grams of one word up to this many words. */
#define RAPT_BLEU_ORDER 4

/* How BLEU splits a segment into words, with the names that signatures use:
 *   13a    what NIST's mteval-v13a does: entities decoded, ASCII punctuation apart, but not within numbers
 *   none   at white space only
 *   intl   what mteval-v14 does internationally: Unicode's symbols apart; its punctuation, not within numbers
 *   char   every character that is not white space is a word
 *   zh     for Chinese: each ideograph, full-width form or other character of sacreBLEU's table is a word, the rest is cut
 *          as 13a does, without its entities (Huang 2017, in sacreBLEU). The table ends within the basic plane, and has
 *          U+2001 to U+2A6D as a whole, quotation marks, dashes, arrows and mathematical signs among them */
#define RAPT_TOKENIZERS(X)                                                                         \
    X(RAPT_TOKENIZE_13A, "13a")                                                                    \
    X(RAPT_TOKENIZE_NONE, "none")                                                                  \
    X(RAPT_TOKENIZE_INTL, "intl")                                                                  \
    X(RAPT_TOKENIZE_CHAR, "char")                                                                  \
    X(RAPT_TOKENIZE_ZH, "zh")

typedef enum rapt_tokenize {
#define RAPT_TOKENIZE_ENUM(name, text) name,
    RAPT_TOKENIZERS(RAPT_TOKENIZE_ENUM)
#undef RAPT_TOKENIZE_ENUM
} rapt_tokenize;

/* The name of a tokenization in signatures; NULL for other numbers. */
RAPT_API const char *rapt_tokenize_name(rapt_tokenize kind);

/* The tokenization that suits the script of `count` texts, such as all references: zh for Chinese; char for Japanese, for which
 * sacreBLEU has a tokenizer with a dictionary that rapt lacks, and for Thai, Lao, Khmer and Burmese, which also have no spaces
 * between words; else 13a. Texts are Chinese if they have more ideographs than words of other letters, and at most one kana per
 * ten ideographs and kana; with more kana they are Japanese. */
RAPT_API rapt_tokenize rapt_bleu_tokenize_for(const rapt_text *texts, size_t count);

/* What BLEU does about a precision without any match, because its logarithm would be minus infinity:
 *   exp    100 / (2^i total_n) for the i-th such order
 *   none   nothing: the score is 0
 *   floor  `smooth_value` matches instead of none; default 0.1
 *   add-k  `smooth_value` is added to matches and total of every order but the first; default 1 */
#define RAPT_SMOOTHINGS(X)                                                                         \
    X(RAPT_SMOOTH_EXP, "exp")                                                                      \
    X(RAPT_SMOOTH_NONE, "none")                                                                    \
    X(RAPT_SMOOTH_FLOOR, "floor")                                                                  \
    X(RAPT_SMOOTH_ADD_K, "add-k")

typedef enum rapt_smooth {
#define RAPT_SMOOTH_ENUM(name, text) name,
    RAPT_SMOOTHINGS(RAPT_SMOOTH_ENUM)
#undef RAPT_SMOOTH_ENUM
} rapt_smooth;

typedef struct rapt_bleu_options {
    size_t size;          /* of this struct; set by rapt_bleu_options_default */
    rapt_tokenize tokenize;
    rapt_smooth smooth;
    double smooth_value;  /* for floor and add-k; 0, which would smooth nothing: their default */
    bool lowercase;       /* compare lower-case text; the signature says case:lc */
    bool effective_order; /* average only the orders for which the text is long enough; useful for single segments */
    uint8_t reserved[6];  /* zeros, or else refused */
} rapt_bleu_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_bleu_options_init(rapt_bleu_options *o, size_t size);
/* sacreBLEU's: tokenization 13a, smoothing exp, all else zero. */
static inline rapt_bleu_options rapt_bleu_options_default(void)
{
    rapt_bleu_options o;
    rapt_bleu_options_init(&o, sizeof o);
    return o;
}

/* A BLEU score and its parts. `counts` and `totals` are whole numbers, except with smoothing add-k. */
typedef struct rapt_bleu {
    double score;                       /* percent */
    double counts[RAPT_BLEU_ORDER];     /* matched n-grams, clipped; counts[0] is for single words */
    double totals[RAPT_BLEU_ORDER];     /* n-grams of the translation */
    double precisions[RAPT_BLEU_ORDER]; /* counts / totals, smoothed, in percent; all 0 if nothing matches */
    double bp;                          /* brevity penalty, 0 to 1 */
    size_t sys_len;                     /* words of the translation */
    size_t ref_len;                     /* words of the references, in each segment of the reference of closest length */
} rapt_bleu;

/* BLEU of a translated text (Papineni, Roukos, Ward, Zhu 2002, "BLEU: a Method for Automatic Evaluation of
 * Machine Translation"):
 *
 *   BLEU = 100 bp exp(1/4 sum_{n=1..4} log p_n),     bp = min(1, exp(1 - ref_len / sys_len))
 *   p_n  = matched n-grams / n-grams of the translation, both summed over all segments
 *
 * For each n-gram, the matches in a segment are limited to the count in the reference that has it most often. ref_len adds up the
 * closest reference lengths (the shorter of two that are equally close). Without any match the score is 0. */
RAPT_API rapt_code rapt_bleu_corpus(const rapt_bleu_options *options, const rapt_metric_texts *texts, rapt_bleu *bleu,
                                    rapt_error *err);

/* BLEU of one segment against `references[0 .. reference_count-1]`; usually with `effective_order`. */
RAPT_API rapt_code rapt_bleu_sentence(const rapt_bleu_options *options, const rapt_text *translation,
                                      const rapt_text *references, size_t reference_count, rapt_bleu *bleu, rapt_error *err);

/* Writes the signature of a BLEU score, as sacreBLEU does: "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0". It is
 * truncated to `size` bytes; RAPT_SIGNATURE_SIZE is enough. Options without a size give an empty text. */
RAPT_API void rapt_bleu_signature(const rapt_bleu_options *options, size_t reference_count, char *text, size_t size);

/* BLEU as the book "Dive into Deep Learning" scores one sentence (chapter "Sequence-to-Sequence Learning"):
 *
 *   exp(min(0, 1 - len_label / len_pred)) prod_{n=1..min(k, len_pred)} p_n^(1/2^n)
 *
 * The score is between 0 and 1. Words are split at white space; p_n is the share of the prediction's n-grams that the label has,
 * where each n-gram of the label is used once. An empty prediction scores 0, or 1 if the label is empty too. NaN means out of
 * memory, a text that is not UTF-8 or is too long, or k below 1. */
RAPT_API double rapt_bleu_book(const rapt_text *prediction, const rapt_text *label, int k);

/* The highest order of character or word n-grams in chrF. */
#define RAPT_CHRF_MAX_ORDER 16

typedef struct rapt_chrf_options {
    size_t size;         /* of this struct; set by rapt_chrf_options_default */
    int char_order;      /* length of the longest character n-grams, 1 or more */
    int word_order;      /* length of the longest word n-grams: 0 is chrF, 2 is chrF++ */
    double beta;         /* recall counts beta times as much as precision; 0 or more */
    bool lowercase;      /* compare lower-case text; the signature says case:lc */
    bool whitespace;     /* white space counts as characters; if false, it is dropped */
    bool eps_smoothing;  /* average F over all orders and use 1e-16 for missing ones, as chrF++.py does */
    uint8_t reserved[5]; /* zeros, or else refused */
} rapt_chrf_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_chrf_options_init(rapt_chrf_options *o, size_t size);
/* sacreBLEU's: char_order 6, beta 2, all else zero. */
static inline rapt_chrf_options rapt_chrf_options_default(void)
{
    rapt_chrf_options o;
    rapt_chrf_options_init(&o, sizeof o);
    return o;
}

/* chrF of a translated text in percent (Popovic 2015, "chrF: character n-gram F-score for automatic MT
 * evaluation"; with word n-grams Popovic 2017, "chrF++: words helping character n-grams"):
 *
 *   chrF = 100 (1 + beta^2) P R / (beta^2 P + R)
 *
 * P and R are the precision and recall of n-grams, each averaged over the orders (characters, then words) for which both sides
 * have n-grams. Counts are summed over all segments; with several references, a segment takes the one that gives it the best
 * score. For word n-grams, ASCII punctuation at the end or start of a word is a word of its own. */
RAPT_API rapt_code rapt_chrf_corpus(const rapt_chrf_options *options, const rapt_metric_texts *texts, double *score,
                                    rapt_error *err);

/* chrF of one segment against `references[0 .. reference_count-1]`: the best of the scores. */
RAPT_API rapt_code rapt_chrf_sentence(const rapt_chrf_options *options, const rapt_text *translation,
                                      const rapt_text *references, size_t reference_count, double *score, rapt_error *err);

/* Writes the signature of a chrF score, as sacreBLEU does: "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0". It is
 * truncated to `size` bytes; RAPT_SIGNATURE_SIZE is enough. Options without a size give an empty text. */
RAPT_API void rapt_chrf_signature(const rapt_chrf_options *options, size_t reference_count, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
