/* metrics/chrf.c: corpus and sentence chrF, with word n-grams chrF++. For `rapt score`, `rapt eval` and programs that compare
 * translations. It defines nothing of its own: scores equal sacreBLEU's, and the signature tells the settings. */
#include "rapt/metrics.h"

#include "base/sized.h"
#include "metrics/metric_defaults.h"
#include "metrics/ngrams.h"
#include "metrics/references.h"
#include "metrics/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ORDERS = 2 * RAPT_CHRF_MAX_ORDER };

/* n-grams of each order, characters first: in the translation, in the reference, in both. */
struct tally {
    size_t own[MAX_ORDERS], reference[MAX_ORDERS], matched[MAX_ORDERS];
};

/* Options that are in range. */
struct plan {
    size_t char_order, word_order;
    double beta;
    bool lowercase, whitespace, eps_smoothing;
};

/* A segment as the characters that are counted, with punctuation apart, and as word numbers. */
struct side {
    struct codes text, separated, words;
};

/* Memory in which one segment after the other is scored. */
struct scorer {
    struct plan plan;
    struct side own, reference;
    struct trie known;
    struct ngrams characters, words;
};

SIZED_ENDS_WITH(rapt_chrf_options, reserved);

void rapt_chrf_options_init(rapt_chrf_options *o, size_t size)
{
    sized_init(o, size, &(rapt_chrf_options){CHRF_DEFAULTS}, sizeof *o);
}

static rapt_code chrf_take_options(const rapt_chrf_options *given, rapt_chrf_options *out, rapt_error *err)
{
    *out = (rapt_chrf_options){CHRF_DEFAULTS};
    return sized_take(out, given, out->reserved, sizeof out->reserved, "chrf_options", err);
}

static struct plan make_plan(const rapt_chrf_options *o)
{
    return (struct plan){.char_order = (size_t)o->char_order,
                         .word_order = (size_t)o->word_order,
                         .beta = o->beta,
                         .lowercase = o->lowercase,
                         .whitespace = o->whitespace,
                         .eps_smoothing = o->eps_smoothing};
}

static rapt_code chrf_check(const rapt_chrf_options *o, size_t references, size_t segments, rapt_error *err)
{
    if (o->char_order < 1 || o->char_order > RAPT_CHRF_MAX_ORDER)
        return rapt_fail(err, RAPT_ERR_VALUE, "chrF: character order %d is not 1 to %d", o->char_order, RAPT_CHRF_MAX_ORDER);
    if (o->word_order < 0 || o->word_order > RAPT_CHRF_MAX_ORDER)
        return rapt_fail(err, RAPT_ERR_VALUE, "chrF: word order %d is not 0 to %d", o->word_order, RAPT_CHRF_MAX_ORDER);
    if (!isfinite(o->beta) || o->beta < 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "chrF: beta %g is neither 0 nor a positive number", o->beta);
    if (references == 0 || segments == 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "chrF: nothing to compare (%zu segments, %zu references)", segments,
                         references);
    return RAPT_OK;
}

static bool is_ascii_punctuation(uint32_t code)
{
    return code > ' ' && code < 0x7F && strchr("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", (int)code) != NULL;
}

/* Where to split a word: before punctuation at its end, else after punctuation at its start, else at its end (no split). */
static size_t cut_of(const struct codes *text, struct word word)
{
    if (word.end - word.start > 1 && is_ascii_punctuation(text->at[word.end - 1]))
        return word.end - 1;
    if (word.end - word.start > 1 && is_ascii_punctuation(text->at[word.start]))
        return word.start + 1;
    return word.end;
}

static void chrf_put(struct codes *to, const uint32_t *codes, size_t count)
{
    memcpy(to->at + to->count, codes, count * sizeof *codes);
    to->count += count;
    to->at[to->count++] = ' ';
}

/* Copies the words, each followed by a space, with punctuation at their ends separated. */
static bool separate_punctuation(const struct codes *text, struct codes *separated)
{
    if (!codes_reserve(separated, 2 * text->count + 2))
        return false;
    for (struct word word = {0}; codes_next_word(text, word.end, &word);) {
        size_t cut = cut_of(text, word);
        chrf_put(separated, text->at + word.start, cut - word.start);
        if (cut < word.end)
            chrf_put(separated, text->at + cut, word.end - cut);
    }
    return true;
}

static rapt_code load_side(const struct plan *plan, struct side *side, const rapt_text *text, rapt_error *err)
{
    rapt_code code = codes_load(&side->text, text, plan->lowercase, err);
    if (code != RAPT_OK)
        return code;
    if (plan->word_order > 0 && !separate_punctuation(&side->text, &side->separated))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the words of a segment");
    if (!plan->whitespace)
        codes_drop_space(&side->text);
    return RAPT_OK;
}

static rapt_code chrf_load_translation(struct scorer *s, const rapt_text *text, rapt_error *err)
{
    rapt_code code = load_side(&s->plan, &s->own, text, err);
    if (code == RAPT_OK)
        code = ngrams_load(&s->characters, &s->own.text, s->plan.char_order, err);
    if (code == RAPT_OK && s->plan.word_order > 0)
        code = words_add(&s->known, &s->own.separated, &s->own.words, err);
    if (code == RAPT_OK && s->plan.word_order > 0)
        code = ngrams_load(&s->words, &s->own.words, s->plan.word_order, err);
    return code;
}

/* Counts of orders 1 to `orders` into a part of the tally that starts at `from`. If the reference is too short for an order, the
 * translation's n-grams are left out, because they could not match anything. */
static void tally_totals(struct tally *tally, size_t from, size_t orders, size_t own, size_t reference)
{
    for (size_t n = 1; n <= orders; n++) {
        size_t here = ngrams_total(reference, n);
        tally->own[from + n - 1] = here > 0 ? ngrams_total(own, n) : 0;
        tally->reference[from + n - 1] = here;
    }
}

static rapt_code chrf_match_reference(struct scorer *s, const rapt_text *text, struct tally *tally, rapt_error *err)
{
    struct side *ref = &s->reference;
    rapt_code code = load_side(&s->plan, ref, text, err);
    if (code == RAPT_OK && s->plan.word_order > 0)
        code = words_find(&s->known, &ref->separated, &ref->words, err);
    if (code != RAPT_OK)
        return code;
    *tally = (struct tally){0};
    ngrams_forget_matches(&s->characters);
    ngrams_match(&s->characters, &ref->text, tally->matched);
    tally_totals(tally, 0, s->plan.char_order, s->own.text.count, ref->text.count);
    if (s->plan.word_order > 0) {
        ngrams_forget_matches(&s->words);
        ngrams_match(&s->words, &ref->words, tally->matched + s->plan.char_order);
        tally_totals(tally, s->plan.char_order, s->plan.word_order, s->own.words.count, ref->words.count);
    }
    return RAPT_OK;
}

static double f_score(double beta, double precision, double recall, double otherwise)
{
    double weight = beta * beta;
    double below = weight * precision + recall;
    return below > 0 ? (1 + weight) * precision * recall / below : otherwise;
}

static double ratio_or(size_t part, size_t whole, double otherwise)
{
    return whole > 0 ? (double)part / (double)whole : otherwise;
}

/* F of the mean precision and the mean recall, over the orders that both sides have. */
static double f_of_means(const struct plan *plan, const struct tally *tally)
{
    double precision = 0, recall = 0;
    size_t orders = 0;
    for (size_t i = 0; i < plan->char_order + plan->word_order; i++) {
        if (tally->own[i] == 0 || tally->reference[i] == 0)
            continue;
        precision += ratio_or(tally->matched[i], tally->own[i], 0);
        recall += ratio_or(tally->matched[i], tally->reference[i], 0);
        orders++;
    }
    return orders > 0 ? f_score(plan->beta, precision / (double)orders, recall / (double)orders, 0) : 0;
}

/* 100 times the mean of F over all orders; a missing one counts as a very small number. As in sacreBLEU, the sum is multiplied
 * before it is divided, which may round otherwise. */
static double mean_percent(const struct plan *plan, const struct tally *tally)
{
    const double eps = 1e-16;
    size_t orders = plan->char_order + plan->word_order;
    double sum = 0;
    for (size_t i = 0; i < orders; i++) {
        double precision = ratio_or(tally->matched[i], tally->own[i], eps);
        double recall = ratio_or(tally->matched[i], tally->reference[i], eps);
        sum += f_score(plan->beta, precision, recall, eps);
    }
    return 100 * sum / (double)orders;
}

static double chrf_percent(const struct plan *plan, const struct tally *tally)
{
    return plan->eps_smoothing ? mean_percent(plan, tally) : 100 * f_of_means(plan, tally);
}

static void chrf_add(struct tally *sum, const struct tally *tally)
{
    for (size_t i = 0; i < MAX_ORDERS; i++) {
        sum->own[i] += tally->own[i];
        sum->reference[i] += tally->reference[i];
        sum->matched[i] += tally->matched[i];
    }
}

/* Adds segment `i`, as its best reference sees it, to the sums. */
static rapt_code chrf_add_segment(struct scorer *s, const rapt_text *translation, const struct references *references,
                                  size_t i, struct tally *sum, rapt_error *err)
{
    rapt_error why = {0};
    struct tally tally, best = {0};
    double highest = -1;
    if (chrf_load_translation(s, translation, &why) != RAPT_OK)
        return rapt_fail(err, why.code, "chrF: translation %zu: %s", i + 1, why.message);
    for (size_t r = 0; r < references->count; r++) {
        if (chrf_match_reference(s, references_get(references, r, i), &tally, &why) != RAPT_OK)
            return rapt_fail(err, why.code, "chrF: reference %zu, segment %zu: %s", r + 1, i + 1,
                             why.message);
        double here = chrf_percent(&s->plan, &tally);
        if (here > highest) {
            highest = here;
            best = tally;
        }
    }
    chrf_add(sum, &best);
    return RAPT_OK;
}

static void free_side(struct side *side)
{
    codes_free(&side->text);
    codes_free(&side->separated);
    codes_free(&side->words);
}

static void chrf_free_scorer(struct scorer *s)
{
    free_side(&s->own);
    free_side(&s->reference);
    trie_free(&s->known);
    ngrams_free(&s->characters);
    ngrams_free(&s->words);
}

static rapt_code chrf_score(const rapt_chrf_options *options, const rapt_text *translations, size_t segments,
                            const struct references *references, double *score_out, rapt_error *err)
{
    struct tally sum = {0};
    rapt_chrf_options o;
    *score_out = 0;
    rapt_code code = chrf_take_options(options, &o, err);
    code = code ? code : chrf_check(&o, references->count, segments, err);
    if (code != RAPT_OK)
        return code;
    struct scorer s = {.plan = make_plan(&o)};
    for (size_t i = 0; i < segments && code == RAPT_OK; i++)
        code = chrf_add_segment(&s, &translations[i], references, i, &sum, err);
    if (code == RAPT_OK)
        *score_out = chrf_percent(&s.plan, &sum);
    chrf_free_scorer(&s);
    return code;
}

rapt_code rapt_chrf_corpus(const rapt_chrf_options *options, const rapt_metric_texts *texts, double *chrf, rapt_error *err)
{
    struct references columns = {.columns = texts->references, .count = texts->reference_count};
    *chrf = 0;
    const rapt_code code = sized_check_reserved(texts->reserved, sizeof texts->reserved, "metric_texts", err);
    return code ? code : chrf_score(options, texts->translations, texts->segment_count, &columns, chrf, err);
}

rapt_code rapt_chrf_sentence(const rapt_chrf_options *options, const rapt_text *translation, const rapt_text *references,
                             size_t reference_count, double *chrf, rapt_error *err)
{
    struct references row = {.row = references, .count = reference_count};
    return chrf_score(options, translation, 1, &row, chrf, err);
}

void rapt_chrf_signature(const rapt_chrf_options *options, size_t reference_count, char *text, size_t size)
{
    rapt_chrf_options o;
    if (chrf_take_options(options, &o, NULL) != RAPT_OK) {
        snprintf(text, size, "%s", "");
        return;
    }
    snprintf(text, size, "nrefs:%zu|case:%s|eff:%s|nc:%d|nw:%d|space:%s|version:2.6.0", reference_count,
             o.lowercase ? "lc" : "mixed", o.eps_smoothing ? "no" : "yes", o.char_order, o.word_order,
             o.whitespace ? "yes" : "no");
}
