/* train/task/validation_bleu.c: see validation_bleu.h. Translating and scoring are the library's own; here is what they need. */
#include "train/task/validation_bleu.h"

#include "rapt/decode.h"
#include "rapt/metrics.h"
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

static rapt_code validation_bleu_score(const run *r, const rapt_model *m, validation_text *text, double *bleu, rapt_error *err)
{
    const rapt_bleu_options letters = {.lowercase = tokenizer_lowercases(m->translation.target)}; /* references have capitals */
    rapt_bleu result = {0};
    rapt_code code = validation_bleu_translate(r, m, text, err);
    if (code)
        return code;
    for (size_t i = 0; i < text->count; i++)
        text->translations[i] = text->out[i].hypotheses[0].text;
    code = rapt_bleu_corpus(&letters, text->translations, (const char *const *const[]){text->targets}, 1, text->count, &result,
                            err);
    *bleu = result.score;
    return code;
}

rapt_code validation_bleu(const run *r, const rapt_pairs *p, double fraction, double *bleu, rapt_error *err)
{
    validation_text text = {0};
    rapt_code code = take_pairs(p, fraction, &text, err);
    if (!code)
        code = validation_bleu_score(r, r->model, &text, bleu, err);
    if (text.out)
        rapt_translations_free(text.out, text.count);
    free(text.sources);
    free(text.targets);
    free(text.translations);
    free(text.out);
    return code;
}
