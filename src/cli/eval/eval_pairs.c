/* cli/eval/eval_pairs.c: `rapt eval` of a translation model: loss and perplexity on sentence pairs, BLEU and chrF of its
 * translations. */
#include "cli/cli.h"
#include "cli/eval/cmd_eval.h"
#include "cli/eval/eval_compare.h"
#include "cli/put_json.h"
#include "cli/say.h"

#include "io/model_core.h"
#include "rapt/metrics.h"
#include "rapt/recipe.h"

#include "data/pairs.h"
#include "decode/score_watch.h"
#include "metrics/bleu_book_mean.h"
#include "text/tokenizer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct eval_result {
    rapt_score score;
    double bleu, chrf, bleu_book; /* the last one of models that the book's loss trained, or NaN */
    rapt_tokenize tokenize;       /* of BLEU */
    char bleu_signature[CLI_SIGNATURE], chrf_signature[CLI_SIGNATURE];
    size_t pairs;
    eval_compare *compare; /* or NULL */
} eval_result;

/* A score_watch: computes the same batch in fp32 and compares the logits. */
static rapt_code compare_batch(void *context, const score_batch *b, rapt_error *err)
{
    eval_compare *c = context;
    rapt_tape_begin(c->exact.all, (rapt_pass){0});
    rapt_tensor *exact = rapt_transformer_forward(c->exact.all, c->with->translation.net, *b->source, b->source_lens, b->inputs);
    return eval_compare_add(c, exact, b->logits, b->labels, &(rapt_loss_options){.valid_lens = b->valid_lens}, err);
}

static rapt_code eval_pairs_compute_loss(const eval_arguments *a, const rapt_model *m, const rapt_pairs *pairs,
                                         eval_result *r, rapt_error *err)
{
    const rapt_score_options o = {.compute = a->o.compute, .strict = a->strict};
    const score_watch watch = {compare_batch, r->compare};
    rapt_code code = r->compare ? eval_compare_make(r->compare, a->compare, &a->o, err) : RAPT_OK;
    code = code ? code : score_pairs(m, pairs, &o, r->compare ? &watch : NULL, &r->score, err);
    if (!code && r->score.skipped > 0 && !a->quiet)
        cli_say("rapt: %s: warning: %zu pairs have an empty side: no loss is computed of them\n", rapt_pairs_path(pairs),
                r->score.skipped);
    return code;
}

/* Sources, references and hypotheses of all files, one array each. */
typedef struct pairs_text {
    const char **sources;
    rapt_text *references, *hypotheses;
    rapt_translation *translations;
    size_t count;
} pairs_text;

static void free_text(pairs_text *x)
{
    if (x->translations)
        rapt_translations_free(x->translations, x->count);
    free(x->translations);
    free(x->sources);
    free(x->references);
    free(x->hypotheses);
}

static rapt_code list_text(const rapt_pairs *pairs, pairs_text *x, rapt_error *err)
{
    size_t n = rapt_pairs_count(pairs);
    *x = (pairs_text){malloc(n * sizeof *x->sources), malloc(n * sizeof *x->references),
                     malloc(n * sizeof *x->hypotheses), calloc(n, sizeof *x->translations), n};
    if (!x->sources || !x->references || !x->hypotheses || !x->translations)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu pairs", n);
    for (size_t i = 0; i < n; i++) {
        x->sources[i] = rapt_pairs_source(pairs, i);
        x->references[i] = rapt_text_of(rapt_pairs_target(pairs, i));
    }
    return RAPT_OK;
}

/* Whether the recipe that the folder keeps has the book's loss. */
static bool eval_pairs_is_of_book(const char *folder)
{
    rapt_recipe recipe;
    bool book = rapt_recipe_load(folder, &recipe, NULL) == RAPT_OK && recipe.train.reduction == RAPT_RECIPE_REDUCTION_BOOK;
    rapt_recipe_free(&recipe);
    return book;
}

static rapt_code eval_pairs_score(const eval_arguments *a, const rapt_model *m, const pairs_text *x, eval_result *r,
                                  rapt_error *err)
{
    const rapt_metric_texts texts = {.translations = x->hypotheses, .references = (const rapt_text *const[]){x->references},
                                     .reference_count = 1, .segment_count = x->count};
    rapt_bleu bleu;
    r->tokenize = a->tokenize == EVAL_BY_SCRIPT ? rapt_bleu_tokenize_for(x->references, x->count) : (rapt_tokenize)a->tokenize;
    rapt_bleu_options bleu_options = rapt_bleu_options_default();
    rapt_chrf_options chrf_options = rapt_chrf_options_default();
    bleu_options.lowercase = chrf_options.lowercase = a->lowercase;
    bleu_options.tokenize = r->tokenize;
    rapt_code code = rapt_bleu_corpus(&bleu_options, &texts, &bleu, err);
    if (!code)
        code = rapt_chrf_corpus(&chrf_options, &texts, &r->chrf, err);
    r->bleu = bleu.score;
    rapt_bleu_signature(&bleu_options, 1, r->bleu_signature, RAPT_SIGNATURE_SIZE);
    rapt_chrf_signature(&chrf_options, 1, r->chrf_signature, RAPT_SIGNATURE_SIZE);
    cli_sign(r->bleu_signature);
    cli_sign(r->chrf_signature);
    bleu_book_text book = {x->hypotheses, x->references, x->count, tokenizer_lowercases(m->translation.target)};
    if (!code && eval_pairs_is_of_book(a->model))
        code = bleu_book_mean(&book, &r->bleu_book, err);
    return code;
}

static rapt_code translate_and_score(const eval_arguments *a, rapt_model *m, const rapt_pairs *pairs,
                                     const rapt_translate_options *o, eval_result *r, rapt_error *err)
{
    pairs_text x;
    rapt_code code = list_text(pairs, &x, err);
    if (!code)
        code = rapt_translate(m, x.sources, x.count, o, x.translations, err);
    for (size_t i = 0; i < x.count && !code; i++)
        x.hypotheses[i] = rapt_text_of(x.translations[i].count ? x.translations[i].hypotheses[0].text : "");
    if (!code)
        code = eval_pairs_score(a, m, &x, r, err);
    free_text(&x);
    return code;
}

/* BLEU and chrF of translations in fp32. */
static rapt_code compare_scores(const eval_arguments *a, const rapt_pairs *pairs, eval_compare *c, rapt_error *err)
{
    rapt_translate_options o = a->o;
    eval_result exact = {.bleu_book = NAN};
    o.compute.type = RAPT_TYPE_FP32;
    o.compute.weights = "fp32";
    rapt_code code = translate_and_score(a, a->compare, pairs, &o, &exact, err);
    c->bleu = exact.bleu;
    c->chrf = exact.chrf;
    return code;
}

static rapt_code eval_pairs_evaluate(const eval_arguments *a, rapt_model *m, const char *file, eval_result *r, rapt_error *err)
{
    rapt_pairs *pairs = (a->each ? pairs_read_lines : rapt_pairs_read)(file, a->limit, err);
    rapt_code code = pairs ? eval_warn(a, m, pairs, err) : err->code;
    if (!code && r->compare)
        code = eval_compare_check_pairs(a, m, pairs, err);
    if (!code)
        code = a->each ? eval_each(a, m, pairs, err) : eval_pairs_compute_loss(a, m, pairs, r, err);
    if (!code && !a->loss_only)
        code = translate_and_score(a, m, pairs, &a->o, r, err);
    if (!code && !a->loss_only && r->compare)
        code = compare_scores(a, pairs, r->compare, err);
    r->pairs = pairs ? rapt_pairs_count(pairs) : 0;
    rapt_pairs_free(pairs);
    return code;
}

static rapt_code eval_pairs_print_json(const eval_arguments *a, const char *file, const eval_result *r, rapt_error *err)
{
    json_t *o = json_pack("{s:s, s:I, s:f, s:f, s:I}", "data", file, "pairs", (json_int_t)r->pairs, "loss", r->score.loss,
                          "perplexity", r->score.perplexity, "tokens", (json_int_t)r->score.tokens);
    if (o && !a->loss_only) {
        json_object_set_new(o, "bleu", json_real(r->bleu));
        json_object_set_new(o, "chrf", json_real(r->chrf));
        json_object_set_new(o, "tokenize", json_string(rapt_tokenize_name(r->tokenize)));
        json_object_set_new(o, "bleu_signature", json_string(r->bleu_signature));
        json_object_set_new(o, "chrf_signature", json_string(r->chrf_signature));
        if (!isnan(r->bleu_book))
            json_object_set_new(o, "bleu_book", json_real(r->bleu_book));
    }
    if (o && r->compare)
        eval_compare_put(r->compare, o);
    return put_json(o, 0, err);
}

static void print_scores(const eval_arguments *a, const eval_result *r)
{
    printf("BLEU %.2f (%s%s), chrF %.2f", r->bleu, rapt_tokenize_name(r->tokenize), a->lowercase ? ", lower-cased" : "", r->chrf);
    if (!isnan(r->bleu_book))
        printf(", BLEU of the book %.4f (k %d)", r->bleu_book, BLEU_BOOK_K);
    printf("\nsignatures BLEU|%s chrF2|%s\n", r->bleu_signature, r->chrf_signature);
}

static void eval_pairs_print_text(const eval_arguments *a, const char *file, const eval_result *r)
{
    cli_print_clean(stdout, file);
    printf(": %zu pair%s, %zu target token%s\n", r->pairs, cli_plural(r->pairs), r->score.tokens,
           cli_plural(r->score.tokens));
    printf("loss %.4f nats a token, perplexity %.2f\n", r->score.loss, r->score.perplexity);
    if (!a->loss_only)
        print_scores(a, r);
    if (r->compare)
        eval_compare_print(r->compare, r->score.nll);
}

rapt_code eval_pairs(const eval_arguments *a, rapt_model *m, const char *file, rapt_error *err)
{
    eval_compare compared = {0};
    eval_result r = {.bleu_book = NAN, .compare = a->compare ? &compared : NULL};
    rapt_code code = eval_pairs_evaluate(a, m, file, &r, err);
    if (!code && !a->each) {
        if (a->json)
            code = eval_pairs_print_json(a, file, &r, err);
        else
            eval_pairs_print_text(a, file, &r);
    }
    eval_compare_free(&compared);
    return code;
}
