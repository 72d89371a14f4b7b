/* train/task/validation_bleu.c: translates the validation set and scores it with the library's functions. */
#include "train/task/validation_bleu.h"

#include "base/memory_stream.h"
#include "io/model_core.h"
#include "rapt/decode.h"
#include "rapt/metrics.h"

#include "group/group_ops.h"
#include "metrics/bleu_book_mean.h"
#include "text/tokenizer.h"
#include "train/ranks/ranks_work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 256 /* sentences */

typedef struct validation_text {
    rapt_text *sources, *targets, *translations; /* [count] */
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
            text->sources[text->count] = rapt_text_of(rapt_pairs_source(p, i));
            text->targets[text->count++] = rapt_text_of(rapt_pairs_target(p, i));
        }
    return RAPT_OK;
}

/* Translates in blocks, between which the run can be stopped; no translation depends on them. A group divides them among
 * ranks. */
static rapt_code validation_bleu_translate(const run *r, const rapt_model *m, validation_text *text, rapt_error *err)
{
    rapt_translate_options o = rapt_translate_options_default();
    o.beam = 1;
    o.compute = (rapt_compute){.threads = r->options->threads, .type = r->recipe->train.precision};
    rapt_translator *t = rapt_translator_new(m, &o, err);
    rapt_code code = t ? RAPT_OK : err->code;
    for (size_t i = 0, block; !code && i < text->count; i += block) {
        const bool own = i / BLOCK % (size_t)r->ranks == (size_t)r->rank;
        block = text->count - i < BLOCK ? text->count - i : BLOCK;
        run_phase(r, "translating the validation set", i, text->count);
        code = run_stopped(r, err);
        if (!code && own)
            code = rapt_translator_run(t, NULL, text->sources + i, block, text->out + i, err);
    }
    rapt_translator_free(t);
    return code;
}

/* A rank's translations, each with its NUL; the caller frees them. */
static rapt_code own_lines(const run *r, const validation_text *text, char **lines, size_t *size, rapt_error *err)
{
    memory_stream own;
    FILE *out = memory_stream_open(&own);
    for (size_t i = 0; out && i < text->count; i++)
        if (i / BLOCK % (size_t)r->ranks == (size_t)r->rank)
            fwrite(text->out[i].hypotheses[0].text, 1, strlen(text->out[i].hypotheses[0].text) + 1, out);
    const bool whole = memory_stream_close(&own);
    *lines = own.text;
    *size = own.size;
    return whole ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for translations");
}

/* Finds the lines of each rank in the lines of all, which follow rank by rank. */
static void find_lines(const run *r, const char *all, const size_t *sizes, validation_text *text)
{
    for (int rank = 0; rank < r->ranks; all += sizes[rank++]) {
        const char *line = all;
        for (size_t i = 0; i < text->count; i++)
            if (i / BLOCK % (size_t)r->ranks == (size_t)rank) {
                text->translations[i] = rapt_text_of(line);
                line += text->translations[i].size + 1;
            }
    }
}

/* Gathers the translations of all ranks in `lines`, which the caller frees. */
static rapt_code gather_translations(const run *r, validation_text *text, char **lines, rapt_error *err)
{
    char *own = NULL;
    size_t size = 0, *sizes = calloc((size_t)r->ranks, sizeof *sizes);
    rapt_code code = sizes ? own_lines(r, text, &own, &size, err) : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for lines");
    code = ranks_agree(r, code, err);
    if (!code)
        code = group_share_all(r->group, own, size, lines, sizes, err);
    if (!code)
        find_lines(r, *lines, sizes, text);
    free(own);
    free(sizes);
    return code;
}

/* Scores the translations. */
static rapt_code score_translations(const run *r, const rapt_model *m, const validation_text *text, train_scores *scores,
                                    rapt_error *err)
{
    rapt_bleu_options how = rapt_bleu_options_default();
    how.lowercase = tokenizer_lowercases(m->translation.target); /* references have capitals */
    how.tokenize = rapt_bleu_tokenize_for(text->targets, text->count);
    const rapt_metric_texts texts = {.translations = text->translations, .references = (const rapt_text *const[]){text->targets},
                                     .reference_count = 1, .segment_count = text->count};
    rapt_bleu result = {0};
    rapt_code code = rapt_bleu_corpus(&how, &texts, &result, err);
    scores->bleu = result.score;
    rapt_chrf_options characters = rapt_chrf_options_default();
    characters.lowercase = how.lowercase;
    if (!code)
        code = rapt_chrf_corpus(&characters, &texts, &scores->chrf, err);
    if (!code && r->recipe->train.reduction == RAPT_RECIPE_REDUCTION_BOOK)
        code = bleu_book_mean(&(bleu_book_text){text->translations, text->targets, text->count, how.lowercase},
                              &scores->bleu_book, err);
    return code;
}

/* Rank 0 scores the lines of all. */
static rapt_code validation_bleu_score(run *r, validation_text *text, train_scores *scores, rapt_error *err)
{
    char *lines = NULL;
    rapt_code code = RAPT_OK;
    if (r->group)
        code = gather_translations(r, text, &lines, err);
    for (size_t i = 0; i < text->count && !r->group; i++)
        text->translations[i] = rapt_text_of(text->out[i].hypotheses[0].text);
    if (!code) {
        ranks_begin(r);
        code = ranks_end(r, run_is_first(r) ? score_translations(r, r->model, text, scores, err) : RAPT_OK, err);
    }
    free(lines);
    return code ? code : ranks_give(r, scores, sizeof *scores, err);
}

rapt_code validation_bleu(run *r, const rapt_pairs *p, double fraction, train_scores *scores, rapt_error *err)
{
    validation_text text = {0};
    ranks_begin(r);
    rapt_code code = take_pairs(p, fraction, &text, err);
    if (!code)
        code = validation_bleu_translate(r, r->model, &text, err);
    code = ranks_end(r, code, err);
    if (!code)
        code = validation_bleu_score(r, &text, scores, err);
    if (text.out)
        rapt_translations_free(text.out, text.count);
    free(text.sources);
    free(text.targets);
    free(text.translations);
    free(text.out);
    return code;
}
