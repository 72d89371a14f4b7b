/* cli/plot/plot_embedding.c: `rapt plot embedding`: words of a model's embedding, projected onto their first two principal
 * components. */
#include "cli/plot/cmd_plot.h"

#include "base/quote.h"
#include "cli/cli.h"
#include "cli/cli_model.h"
#include "io/model_core.h"
#include "view/principal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 1000

typedef struct embedding_arguments {
    const char *model;
    char **words; /* [count], within argv */
    size_t count;
    bool target;
    plot_options o;
} embedding_arguments;

#define ARGUMENTS embedding_arguments
static const cli_option OPTIONS[] = {
    OPTION_FLAG("target", AT(target), "Translation: target words, from the decoder's embedding"),
    OPTION_TABLE(plot_options_rows, AT(o)),
    {0}};

static void plot_embedding_finish(void *arguments)
{
    embedding_arguments *a = arguments;
    char **operands = options_operands(&a->count);
    a->model = operands[0];
    a->words = operands + 1;
    a->count--;
    if (a->count < 2 || a->count > MAX_WORDS)
        usage_error("2 to %d words are needed, got %zu", MAX_WORDS, a->count);
    plot_options_finish(&a->o);
}

const cli_command plot_embedding_command = {
    .options = OPTIONS, .operands = "MODEL WORD WORD... -o PICTURE",
    .about = "Plot word embeddings, projected to their first two principal components.",
    .notes = "A WORD must be one token of the model: a special token, a word or a character of its vocabulary, or with BPE "
             "the word as it is, else with a space before it, as in running text. A point's name is its token; an open box in "
             "it is a space.",
    .least = 1, .missing = "MODEL and WORDs", .finish = plot_embedding_finish};

/* ---- words as tokens --------------------------------------------------------------------------------------- */

/* One vocabulary of a model and its embedding. */
typedef struct view {
    const rapt_tokenizer *k;
    const rapt_tensor *matrix; /* [vocab, d] */
} view;

/* The token that is the whole text, or -1; also -1 for a text that cannot be encoded. */
static int32_t single_token(const view *v, const char *text)
{
    int32_t *ids, id = -1;
    size_t count;
    if (rapt_tokenizer_encode_bytes(v->k, text, strlen(text), NULL, &ids, &count, NULL))
        return -1;
    bool unknown = count == 1 && rapt_tokenizer_kind_of(v->k) == RAPT_TOKENIZER_WORDS && ids[0] == RAPT_UNK;
    if (count == 1 && !unknown && (size_t)ids[0] < v->matrix->shape[0])
        id = ids[0];
    free(ids);
    return id;
}

static int32_t find_token(const view *v, const char *word)
{
    if (!*word)
        return -1; /* a space alone may be a token, but it is no word */
    int32_t id = rapt_tokenizer_special(v->k, word);
    if (id >= 0 && (size_t)id < v->matrix->shape[0])
        return id;
    id = single_token(v, word);
    if (id >= 0 || rapt_tokenizer_kind_of(v->k) != RAPT_TOKENIZER_BYTE_BPE)
        return id;
    size_t size = strlen(word) + 2;
    char *spaced = malloc(size);
    if (spaced) {
        snprintf(spaced, size, " %s", word);
        id = single_token(v, spaced);
    }
    free(spaced);
    return id;
}

/* Finds all words, or names those that are not there. */
static rapt_code find_tokens(const embedding_arguments *a, const view *v, plot_tokens *t, rapt_error *err)
{
    char missing[300] = "";
    size_t used = 0;
    t->ids = calloc(a->count, sizeof *t->ids);
    if (!t->ids)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu words", a->count);
    for (t->count = 0; t->count < a->count; t->count++) {
        t->ids[t->count] = find_token(v, a->words[t->count]);
        if (t->ids[t->count] < 0 && used < sizeof missing)
            used += (size_t)snprintf(missing + used, sizeof missing - used, "%s\"%s\"", used ? ", " : "",
                                     quote(a->words[t->count]).text);
    }
    if (used)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: not one token of the vocabulary: %s%s", a->model, missing,
                         used < sizeof missing ? "" : "...");
    return plot_name_tokens(v->k, t, err);
}

/* ---- the map ----------------------------------------------------------------------------------------------- */

static view view_of(const embedding_arguments *a, const rapt_model *m)
{
    const bool language = m->task == RAPT_TASK_LANGUAGE_MODEL, target = !language && a->target;
    const rapt_preprocessor *input = language ? &m->language.net->input
                                     : target ? &m->translation.net->decoder.input : &m->translation.net->encoder.input;
    const rapt_param *w = rapt_params_at(m->params, input->embedding.weight->index); /* with its values */
    return (view){language ? m->language.tokenizer : target ? m->translation.target : m->translation.source, &w->value};
}

static rapt_code find_places(const view *v, const plot_tokens *t, double *places, double shares[2], rapt_error *err)
{
    size_t d = v->matrix->shape[1];
    double *rows = calloc(t->count, d * sizeof *rows);
    if (!rows)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu words", t->count);
    for (size_t i = 0; i < t->count; i++)
        for (size_t j = 0; j < d; j++)
            rows[i * d + j] = (double)v->matrix->data[(size_t)t->ids[i] * d + j];
    rapt_code code = principal_components(rows, t->count, d, 2, places, shares, err);
    free(rows);
    return code;
}

static rapt_code draw_places(const embedding_arguments *a, const plot_tokens *t, const double *places,
                             const double shares[2], rapt_error *err)
{
    char title[160], x[80], y[80], *name;
    rapt_code code = plot_name_paths(&a->model, 1, &name, err);
    if (code)
        return code;
    snprintf(title, sizeof title, "embedding of %s", name);
    free(name);
    draw_point *points = calloc(t->count, sizeof *points);
    if (!points)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu words", t->count);
    for (size_t i = 0; i < t->count; i++)
        points[i] = (draw_point){t->names[i], places[2 * i], places[2 * i + 1]};
    snprintf(x, sizeof x, "first principal component (%.0f %% of the variance)", 100 * shares[0]);
    snprintf(y, sizeof y, "second principal component (%.0f %%)", 100 * shares[1]);
    code = plot_points(&a->o, points, t->count, (draw_labels){title, x, y}, err);
    free(points);
    return code;
}

static rapt_code plot_embedding_run(const embedding_arguments *a, const rapt_model *m, rapt_error *err)
{
    plot_tokens t = {0};
    view v = view_of(a, m);
    double shares[2], *places = calloc(a->count, 2 * sizeof *places);
    rapt_code code = places ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu words", a->count);
    if (!code && a->target && m->task == RAPT_TASK_LANGUAGE_MODEL)
        code = rapt_fail(err, RAPT_ERR_VALUE, "%s is a language model: --target is for translation", a->model);
    if (!code)
        code = find_tokens(a, &v, &t, err);
    if (!code)
        code = find_places(&v, &t, places, shares, err);
    if (!code)
        code = draw_places(a, &t, places, shares, err);
    plot_tokens_free(&t);
    free(places);
    return code;
}

int plot_embedding(int argc, char **argv)
{
    embedding_arguments a = {0};
    rapt_error err = {0};
    options_parse(&plot_embedding_command, argc, argv, &a);
    rapt_model *m = cli_model_any_inference(a.model, &err);
    rapt_code code = m ? plot_embedding_run(&a, m, &err) : err.code;
    rapt_model_free(m);
    return code ? cli_fail(&err) : 0;
}
