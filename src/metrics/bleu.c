/* metrics/bleu.c: corpus and sentence BLEU. For `rapt score`, `rapt eval` and programs that compare translations. It defines
 * nothing of its own: scores equal sacreBLEU's, and the signature tells the settings. */
#include "rapt/metrics.h"

#include "base/sized.h"
#include "metrics/metric_defaults.h"
#include "metrics/mteval.h"
#include "metrics/ngrams.h"
#include "metrics/references.h"
#include "metrics/words.h"

#include <math.h>
#include <stdio.h>

/* Sums over segments. */
struct sums {
    size_t counts[RAPT_BLEU_ORDER], totals[RAPT_BLEU_ORDER];
    size_t sys_len, ref_len;
};

/* Memory in which one segment after the other is scored. */
struct scorer {
    rapt_bleu_options options;
    struct codes text, scratch, numbers;
    struct trie known;
    struct ngrams grams;
};

static const char *smooth_name(rapt_smooth kind)
{
    switch (kind) {
#define NAME_CASE(name, text)                                                                                \
    case name:                                                                                               \
        return text;
        RAPT_SMOOTHINGS(NAME_CASE)
#undef NAME_CASE
    }
    return NULL;
}

/* 0 for the kinds of smoothing that take no value. */
static double smooth_value(const rapt_bleu_options *options)
{
    switch (options->smooth) {
    case RAPT_SMOOTH_FLOOR:
        return options->smooth_value != 0 ? options->smooth_value : 0.1;
    case RAPT_SMOOTH_ADD_K:
        return options->smooth_value != 0 ? options->smooth_value : 1;
    default:
        return 0;
    }
}

static rapt_code bleu_check(const rapt_bleu_options *options, size_t references, size_t segments, rapt_error *err)
{
    if (!rapt_tokenize_name(options->tokenize))
        return rapt_fail(err, RAPT_ERR_VALUE, "BLEU: no tokenizer has number %d", (int)options->tokenize);
    if (!smooth_name(options->smooth))
        return rapt_fail(err, RAPT_ERR_VALUE, "BLEU: no smoothing has number %d", (int)options->smooth);
    if (!isfinite(options->smooth_value) || options->smooth_value < 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "BLEU: smoothing value %g is not a positive number",
                         options->smooth_value);
    if (references == 0 || segments == 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "BLEU: nothing to compare (%zu segments, %zu references)", segments,
                         references);
    return RAPT_OK;
}

static rapt_code load_words(struct scorer *s, const rapt_text *text, rapt_error *err)
{
    rapt_code code = codes_load(&s->text, text, s->options.lowercase, err);
    return code == RAPT_OK ? mteval_tokenize(s->options.tokenize, &s->text, &s->scratch, err) : code;
}

static rapt_code bleu_load_translation(struct scorer *s, const rapt_text *text, rapt_error *err)
{
    rapt_code code = load_words(s, text, err);
    if (code == RAPT_OK)
        code = words_add(&s->known, &s->text, &s->numbers, err);
    if (code == RAPT_OK)
        code = ngrams_load(&s->grams, &s->numbers, RAPT_BLEU_ORDER, err);
    return code;
}

static rapt_code bleu_match_reference(struct scorer *s, const rapt_text *text, size_t *counts, rapt_error *err)
{
    rapt_code code = load_words(s, text, err);
    if (code == RAPT_OK)
        code = words_find(&s->known, &s->text, &s->numbers, err);
    if (code == RAPT_OK)
        ngrams_match(&s->grams, &s->numbers, counts);
    return code;
}

static size_t distance(size_t a, size_t b)
{
    return a > b ? a - b : b - a;
}

static size_t closer(size_t length, size_t a, size_t b)
{
    size_t to_a = distance(length, a), to_b = distance(length, b);
    return to_a < to_b || (to_a == to_b && a < b) ? a : b;
}

/* Adds segment `i` to the sums. */
static rapt_code bleu_add_segment(struct scorer *s, const rapt_text *translation, const struct references *references,
                                  size_t i, struct sums *sums, rapt_error *err)
{
    rapt_error why = {0};
    if (bleu_load_translation(s, translation, &why) != RAPT_OK)
        return rapt_fail(err, why.code, "BLEU: translation %zu: %s", i + 1, why.message);
    size_t length = s->numbers.count, closest = SIZE_MAX;
    for (size_t r = 0; r < references->count; r++) {
        if (bleu_match_reference(s, references_get(references, r, i), sums->counts, &why) != RAPT_OK)
            return rapt_fail(err, why.code, "BLEU: reference %zu, segment %zu: %s", r + 1, i + 1,
                             why.message);
        closest = r == 0 ? s->numbers.count : closer(length, s->numbers.count, closest);
    }
    sums->sys_len += length;
    sums->ref_len += closest;
    for (size_t n = 0; n < RAPT_BLEU_ORDER; n++)
        sums->totals[n] += ngrams_total(length, n + 1);
    return RAPT_OK;
}

static double brevity_penalty(size_t sys_len, size_t ref_len)
{
    if (sys_len >= ref_len)
        return 1;
    return sys_len > 0 ? exp(1 - (double)ref_len / (double)sys_len) : 0;
}

static void smooth_add_k(const rapt_bleu_options *options, rapt_bleu *bleu)
{
    if (options->smooth != RAPT_SMOOTH_ADD_K)
        return;
    for (size_t n = 1; n < RAPT_BLEU_ORDER; n++) {
        bleu->counts[n] += smooth_value(options);
        bleu->totals[n] += smooth_value(options);
    }
}

/* Fills the precisions up to the first order for which the translation is too short; returns their number. */
static size_t fill_precisions(const rapt_bleu_options *options, rapt_bleu *bleu)
{
    double halved = 1;
    size_t n = 0;
    for (; n < RAPT_BLEU_ORDER && bleu->totals[n] > 0; n++) {
        double count = bleu->counts[n];
        if (count == 0 && options->smooth == RAPT_SMOOTH_EXP)
            count = halved /= 2;
        else if (count == 0 && options->smooth == RAPT_SMOOTH_FLOOR)
            count = smooth_value(options);
        bleu->precisions[n] = 100 * count / bleu->totals[n];
    }
    return n;
}

static double geometric_mean(const double *values, size_t count)
{
    double sum = 0;
    for (size_t n = 0; n < count; n++)
        sum += log(values[n]); /* log(0) is -inf, and the mean 0, as it should */
    return exp(sum / (double)count);
}

static void bleu_finish(const rapt_bleu_options *options, const struct sums *sums, rapt_bleu *bleu)
{
    *bleu = (rapt_bleu){.sys_len = sums->sys_len, .ref_len = sums->ref_len};
    bool any = false;
    for (size_t n = 0; n < RAPT_BLEU_ORDER; n++) {
        bleu->counts[n] = (double)sums->counts[n];
        bleu->totals[n] = (double)sums->totals[n];
        any = any || sums->counts[n] > 0;
    }
    bleu->bp = brevity_penalty(sums->sys_len, sums->ref_len);
    if (!any)
        return;
    smooth_add_k(options, bleu);
    size_t present = fill_precisions(options, bleu);
    size_t orders = options->effective_order ? present : RAPT_BLEU_ORDER;
    bleu->score = bleu->bp * geometric_mean(bleu->precisions, orders);
}

static void bleu_free_scorer(struct scorer *s)
{
    codes_free(&s->text);
    codes_free(&s->scratch);
    codes_free(&s->numbers);
    trie_free(&s->known);
    ngrams_free(&s->grams);
}

SIZED_ENDS_WITH(rapt_bleu_options, reserved);

void rapt_bleu_options_init(rapt_bleu_options *o, size_t size)
{
    sized_init(o, size, &(rapt_bleu_options){BLEU_DEFAULTS}, sizeof *o);
}

static rapt_code bleu_take_options(const rapt_bleu_options *given, rapt_bleu_options *out, rapt_error *err)
{
    *out = (rapt_bleu_options){BLEU_DEFAULTS};
    return sized_take(out, given, out->reserved, sizeof out->reserved, "bleu_options", err);
}

static rapt_code bleu_score(const rapt_bleu_options *options, const rapt_text *translations, size_t segments,
                            const struct references *references, rapt_bleu *bleu, rapt_error *err)
{
    struct scorer s = {0};
    struct sums sums = {0};
    *bleu = (rapt_bleu){0};
    rapt_code code = bleu_take_options(options, &s.options, err);
    code = code ? code : bleu_check(&s.options, references->count, segments, err);
    for (size_t i = 0; i < segments && code == RAPT_OK; i++)
        code = bleu_add_segment(&s, &translations[i], references, i, &sums, err);
    if (code == RAPT_OK)
        bleu_finish(&s.options, &sums, bleu);
    bleu_free_scorer(&s);
    return code;
}

rapt_code rapt_bleu_corpus(const rapt_bleu_options *options, const rapt_metric_texts *texts, rapt_bleu *bleu, rapt_error *err)
{
    struct references columns = {.columns = texts->references, .count = texts->reference_count};
    *bleu = (rapt_bleu){0};
    const rapt_code code = sized_check_reserved(texts->reserved, sizeof texts->reserved, "metric_texts", err);
    return code ? code : bleu_score(options, texts->translations, texts->segment_count, &columns, bleu, err);
}

rapt_code rapt_bleu_sentence(const rapt_bleu_options *options, const rapt_text *translation, const rapt_text *references,
                             size_t reference_count, rapt_bleu *bleu, rapt_error *err)
{
    struct references row = {.row = references, .count = reference_count};
    return bleu_score(options, translation, 1, &row, bleu, err);
}

void rapt_bleu_signature(const rapt_bleu_options *options, size_t reference_count, char *text, size_t size)
{
    rapt_bleu_options o;
    char value[32] = "";
    if (bleu_take_options(options, &o, NULL) != RAPT_OK) {
        snprintf(text, size, "%s", "");
        return;
    }
    const char *tokenize = rapt_tokenize_name(o.tokenize), *smooth = smooth_name(o.smooth);
    if (smooth_value(&o) != 0)
        snprintf(value, sizeof value, "[%.2f]", smooth_value(&o));
    snprintf(text, size, "nrefs:%zu|case:%s|eff:%s|tok:%s|smooth:%s%s|version:2.6.0", reference_count,
             o.lowercase ? "lc" : "mixed", o.effective_order ? "yes" : "no", tokenize ? tokenize : "?",
             smooth ? smooth : "?", value);
}
