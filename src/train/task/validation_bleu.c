/* train/task/validation_bleu.c: see validation_bleu.h. Translating and scoring are the library's own; here is what they need. */
#include "train/task/validation_bleu.h"

#include "rapt/decode.h"
#include "rapt/metrics.h"

#include "metrics/bleu_book_mean.h"
#include "text/tokenizer.h"

#include <stdlib.h>

#define BLOCK 256 /* sentences */

typedef struct validation_text {
    const char **sources, **targets, **translations;
    rapt_translation *out;
    size_t count;
} validation_text;

static rapt_code take_pairs(const rapt_pairs *p, double fraction, validation_text *text, rapt_error *err)
{
    size_t count = rapt_pairs_count(p);
    text->sources = malloc(count * sizeof *text->sources);
    text->targets = malloc(count * sizeof *text->targets);
    text->translations = malloc(count * sizeof *text->translations);
    text->out = calloc(count, sizeof *text->out);
    if (!text->sources || !text->targets || !text->translations || !text->out)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu translations", count);
    for (size_t i = 0; i < count; i++)
        if (rapt_pairs_in_validation(p, i, fraction)) {
            text->sources[text->count] = rapt_pairs_source(p, i);
            text->targets[text->count++] = rapt_pairs_target(p, i);
        }
    return RAPT_OK;
}

/* In blocks, between which the run can be stopped; no translation depends on them. */
static rapt_code validation_bleu_translate(const run *r, const rapt_model *m, validation_text *text, rapt_error *err)
{
    rapt_translate_options o = {.threads = r->options->threads, .precision = r->recipe->train.precision};
    rapt_translator *t = rapt_translator_new(m, &o, err);
    rapt_code code = t ? RAPT_OK : err->code;
    for (size_t i = 0, block; !code && i < text->count; i += block) {
        block = text->count - i < BLOCK ? text->count - i : BLOCK;
        run_phase(r, "translating the validation set", i, text->count);
        code = run_stopped(r, err);
        if (!code)
            code = rapt_translator_run(t, text->sources + i, block, text->out + i, err);
    }
    rapt_translator_free(t);
    return code;
}

static rapt_code validation_bleu_score(const run *r, const rapt_model *m, validation_text *text, train_scores *scores,
                                       rapt_error *err)
{
    const rapt_bleu_options how = {.lowercase = tokenizer_lowercases(m->translation.target), /* references have capitals */
                                   .tokenize = rapt_bleu_tokenize_for(text->targets, text->count)};
    rapt_bleu result = {0};
    rapt_code code = validation_bleu_translate(r, m, text, err);
    if (code)
        return code;
    for (size_t i = 0; i < text->count; i++)
        text->translations[i] = text->out[i].hypotheses[0].text;
    code = rapt_bleu_corpus(&how, text->translations, (const char *const *const[]){text->targets}, 1, text->count, &result,
                            err);
    scores->bleu = result.score;
    if (!code && r->recipe->train.reduction == RAPT_RECIPE_REDUCTION_BOOK)
        code = bleu_book_mean(&(bleu_book_text){text->translations, text->targets, text->count, how.lowercase},
                              &scores->bleu_book, err);
    return code;
}

rapt_code validation_bleu(const run *r, const rapt_pairs *p, double fraction, train_scores *scores, rapt_error *err)
{
    validation_text text = {0};
    rapt_code code = take_pairs(p, fraction, &text, err);
    if (!code)
        code = validation_bleu_score(r, r->model, &text, scores, err);
    if (text.out)
        rapt_translations_free(text.out, text.count);
    free(text.sources);
    free(text.targets);
    free(text.translations);
    free(text.out);
    return code;
}
