/* explain/explain_text.c: an explanation as text for people: sections with headings, and in each the intermediates in the order
 * of computation. For programs there is explain_json.c. */
#include "explain/explanation.h"

#include "base/memory_stream.h"
#include "base/sized.h"
#include "explain/input/token_name.h"
#include "io/model_core.h"
#include "print/printer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 100       /* elements of a matrix that are shown all: a sentence has some sixty of them */
#define EDGE 3          /* matrices that are shown at each end of many */
#define MAX_ROWS 60     /* max rows of a table that is shown whole; rows of longer ones */
#define SOME_ROWS 10

/* A text while it is written. */
typedef struct explain_text {
    const rapt_explanation *e;
    rapt_explain_format f;
    FILE *to;
    char heading[96]; /* the last one */
} explain_text;

/* ---- color ------------------------------------------------------------------------------------------------------- */

#define BOLD "1"
#define CYAN "1;36"
#define YELLOW "33"
#define FAINT "2"

static void paint(const explain_text *w, const char *color, const char *text)
{
    if (w->f.color)
        fprintf(w->to, "\033[%sm%s\033[0m", color, text);
    else
        fputs(text, w->to);
}

static void text_heading(explain_text *w, const char *heading)
{
    if (strcmp(w->heading, heading) == 0)
        return;
    snprintf(w->heading, sizeof w->heading, "%s", heading);
    if (ftell(w->to) > 0)
        fputc('\n', w->to);
    paint(w, BOLD, heading);
    fputc('\n', w->to);
    for (size_t i = 0; heading[i]; i++)
        fputc('=', w->to);
    fputc('\n', w->to);
}

/* ---- model and tokens -------------------------------------------------------------------------------------------- */

static void print_model_line(const explain_text *w)
{
    const rapt_model *m = w->e->model;
    size_t parameters = rapt_params_size(m->params);
    const rapt_transformer_config *net = m->task == RAPT_TASK_TRANSLATION ? &m->translation.net->config : NULL;
    if (!net)
        fprintf(w->to, "%s: a language model of %zu blocks, d_model %zu, %zu heads, %zu parameters\n", w->e->model_name,
                m->language.net->config.layers, m->language.net->config.block.d_model, m->language.net->config.block.heads,
                parameters);
    else
        fprintf(w->to, "%s: a translation model of %zu + %zu blocks, d_model %zu, %zu heads, %zu parameters\n", w->e->model_name,
                net->layers, net->decoder_layers, net->block.d_model, net->block.heads, parameters);
    explain_print_off(w->e, w->to);
}

/* The label of a token without its position. */
static const char *token_label(const explain_sequence *s, size_t i)
{
    return strchr(s->labels[i], ' ') + 1;
}

static void print_sequence(const explain_text *w, const explain_sequence *s)
{
    bool read = strcmp(s->name, "target") == 0;
    fprintf(w->to, "%s%s: %zu tokens\n  position        id  token\n", s->name, read ? ", which the decoder reads" : "",
            s->count);
    for (size_t i = 0; i < s->count; i++)
        fprintf(w->to, "  %8zu  %8d  %s\n", i, (int)s->ids[i], token_label(s, i));
}

static void print_tokens(explain_text *w)
{
    text_heading(w, "Tokens");
    for (size_t i = 0; i < w->e->sequence_count; i++) {
        if (i > 0)
            fputc('\n', w->to);
        print_sequence(w, &w->e->sequences[i]);
    }
}

/* ---- an intermediate --------------------------------------------------------------------------------------------- */

static void print_formula(const explain_text *w, const rapt_intermediate *x)
{
    if (x->gradient)
        fputs("gradient of ", w->to);
    paint(w, CYAN, x->name);
    if (x->formula && !x->gradient) {
        fputs(" = ", w->to);
        paint(w, YELLOW, x->formula);
    }
    fputc('\n', w->to);
}

/* For a Hugging Face model: the parameters that an intermediate is computed with, by both names; for the gradient of a parameter,
 * the other name. */
static void print_origins(const explain_text *w, const rapt_intermediate *x)
{
    const rapt_param *with[EXPLAIN_ORIGINS];
    const size_t count = explain_origins(w->e, x, with);
    for (size_t i = 0; i < count; i++)
        fprintf(w->to, "%s%s (%s)\n", i > 0 ? "     " : x->gradient ? "of   " : "with ", with[i]->value.name, with[i]->origin);
}

static void print_shape(const explain_text *w, const rapt_intermediate *x)
{
    char word[16];
    fputs("shape [", w->to);
    for (int i = 0; i < x->ndim; i++)
        fprintf(w->to, "%s%zu", i ? ", " : "", x->shape[i]);
    fputc(']', w->to);
    for (int i = 0; x->axes && i < x->ndim; i++)
        fprintf(w->to, "%s%s", i ? ", " : " (", explain_axis(x, i, word));
    fputs(x->axes ? ")" : "", w->to);
}

static void print_figures(const explain_text *w, const rapt_intermediate *x)
{
    char line[5 * PRINT_NUMBER], min[PRINT_NUMBER], mean[PRINT_NUMBER], max[PRINT_NUMBER], std[PRINT_NUMBER];
    print_statistics s = print_statistics_of(x->values, explain_size(x));
    snprintf(line, sizeof line, "   min %s   mean %s   max %s   std %s", print_number(s.min, min), print_number(s.mean, mean),
             print_number(s.max, max), print_number(s.std, std));
    paint(w, FAINT, line);
    if (s.finite < s.count)
        fprintf(w->to, "   (%zu of %zu are finite)", s.finite, s.count);
    fputc('\n', w->to);
}

/* Writes which matrix of an intermediate follows: "head 3"; nothing if it has only one. */
static void print_place(const explain_text *w, const rapt_intermediate *x, size_t matrix)
{
    char word[16], line[128] = "";
    size_t below = 1;
    for (int i = 0; i < x->ndim - 2; i++)
        below *= x->shape[i];
    for (int i = 0; i < x->ndim - 2; i++) {
        below /= x->shape[i];
        if (x->shape[i] > 1)
            snprintf(line + strlen(line), sizeof line - strlen(line), "%s%s %zu", *line ? ", " : "", explain_axis(x, i, word),
                     matrix / below % x->shape[i]);
    }
    if (*line) {
        paint(w, BOLD, line);
        fputc('\n', w->to);
    }
}

static const char *const *labels_along(const explain_text *w, const rapt_intermediate *x, int dim)
{
    const explain_sequence *along = dim < x->ndim ? explain_along(w->e, x, dim) : NULL;
    return along ? (const char *const *)along->labels : NULL;
}

/* The last two dimensions are rows and columns of matrices; a vector is one column. */
static rapt_code print_matrices(const explain_text *w, const rapt_intermediate *x, rapt_error *err)
{
    int rows = x->ndim > 1 ? x->ndim - 2 : 0;
    bool full = w->f.full;
    rapt_table f = {.rows = x->shape[rows], .columns = x->ndim > 1 ? x->shape[rows + 1] : 1,
                     .row_names = labels_along(w, x, rows), .column_names = labels_along(w, x, rows + 1)};
    size_t matrix = f.rows * f.columns, count = explain_size(x) / matrix;
    f.max_rows = full || f.rows <= MAX_ROWS ? 0 : SOME_ROWS;
    f.width = full ? 0 : w->f.width;
    f.narrow = true;
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < count && !code; i++) {
        if (!full && count > 2 * EDGE && i == EDGE) {
            fputs("...\n", w->to);
            i = count - EDGE;
        }
        f.values = x->values + i * matrix;
        print_place(w, x, i);
        code = print_table(w->to, &f, err);
    }
    return code;
}

static rapt_code print_intermediate(explain_text *w, const rapt_intermediate *x, rapt_error *err)
{
    char heading[96];
    explain_heading(w->e, x, heading);
    bool first = strcmp(heading, w->heading) != 0;
    text_heading(w, heading);
    if (!first)
        fputc('\n', w->to);
    print_formula(w, x);
    print_origins(w, x);
    print_shape(w, x);
    print_figures(w, x);
    if (w->f.table)
        return print_matrices(w, x, err);
    rapt_tensor_text_options o = rapt_tensor_text_options_default();
    o.threshold = w->f.full ? SIZE_MAX : SHOWN;
    print_tensor(w->to, &(print_elements){.values = x->values, .ndim = x->ndim, .shape = x->shape}, &o);
    return RAPT_OK;
}

/* Prints the intermediates of the forward pass, or the gradients, which come last. */
static rapt_code print_intermediates(explain_text *w, bool gradients, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < w->e->count && !code; i++)
        if (w->e->items[i].gradient == gradients)
            code = print_intermediate(w, &w->e->items[i], err);
    return code;
}

/* ---- predictions and loss ---------------------------------------------------------------------------------------- */

static rapt_code print_position(const explain_text *w, size_t position, rapt_error *err)
{
    const explain_sequence *s = explain_last(w->e);
    fprintf(w->to, "after token %zu, %s:\n", position, token_label(s, position));
    const rapt_explained_prediction p = explain_prediction(w->e, &w->e->own, position);
    for (size_t i = 0; i < p.count; i++) {
        char *token = token_name(s->tokenizer, p.ids[i]);
        if (!token)
            return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a token");
        fprintf(w->to, "  %.6f  %8d  %s\n", p.probabilities[i], (int)p.ids[i], token);
        free(token);
    }
    return RAPT_OK;
}

/* At positions first .. last. */
static rapt_code print_predictions(explain_text *w, size_t first, size_t last, rapt_error *err)
{
    const rapt_explanation *e = w->e;
    rapt_code code = RAPT_OK;
    text_heading(w, "Likeliest tokens");
    if (e->model->task == RAPT_TASK_TRANSLATION)
        fprintf(w->to, "%s: %s\n", e->translation ? "the translation" : "the target",
                e->translation ? e->translation : e->output);
    for (size_t i = first; i <= last && !code; i++)
        code = print_position(w, i, err);
    return code;
}

static rapt_code print_lens(explain_text *w, size_t first, size_t last, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    text_heading(w, "Logit lens");
    for (size_t i = first; i <= last && !code; i++)
        code = explain_lens_print(w->e, i, w->f.full ? 0 : w->f.width, w->to, err);
    return code;
}

static rapt_code print_loss(explain_text *w, rapt_error *err)
{
    char number[PRINT_NUMBER];
    const rapt_explanation *e = w->e;
    text_heading(w, "Loss");
    fputs("  position    -ln p  token that should follow\n", w->to);
    for (size_t i = 0; i < e->label_count; i++) {
        char *token = token_name(explain_last(e)->tokenizer, e->labels[i]);
        if (!token)
            return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a token");
        fprintf(w->to, "  %8zu  %7.4f  %s\n", i, e->own.nll[i], token);
        free(token);
    }
    fprintf(w->to, "loss %s, their mean\n", print_number(e->loss, number));
    return RAPT_OK;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static rapt_code print_parts(explain_text *w, size_t first, size_t last, rapt_error *err)
{
    const explain_parts *wanted = &w->e->parts;
    if (wanted->model)
        print_model_line(w);
    if (wanted->tokens)
        print_tokens(w);
    rapt_code code = print_intermediates(w, false, err);
    if (!code && wanted->predictions)
        code = print_predictions(w, first, last, err);
    if (!code && wanted->lens)
        code = print_lens(w, first, last, err);
    if (!code && wanted->loss)
        code = print_loss(w, err);
    return code ? code : print_intermediates(w, true, err);
}

SIZED_ENDS_WITH(rapt_explain_format, reserved);

void rapt_explain_format_init(rapt_explain_format *o, size_t size)
{
    sized_init(o, size, &(rapt_explain_format){EXPLAIN_FORMAT_DEFAULTS}, sizeof *o);
}

rapt_code explain_take_format(const rapt_explain_format *given, rapt_explain_format *out, rapt_error *err)
{
    *out = (rapt_explain_format){EXPLAIN_FORMAT_DEFAULTS};
    const rapt_code code = sized_take(out, given, out->reserved, sizeof out->reserved, "explain_format", err);
    return code || !SIZED_AS_MODEL(out->width) ? code : sized_refuse_as_model("width", err);
}

rapt_code rapt_explanation_text(const rapt_explanation *e, const rapt_explain_format *format, char **text, size_t *size,
                                rapt_error *err)
{
    explain_text w = {.e = e};
    if (explain_take_format(format, &w.f, err) != RAPT_OK)
        return RAPT_ERR_VALUE;
    const explain_sequence *s = explain_last(e);
    const int64_t count = (int64_t)s->count, at = w.f.position;
    if (at >= count || at < -count)
        return rapt_fail(err, RAPT_ERR_VALUE, "position %lld: the %s has tokens 0 to %zu", (long long)at, s->name, s->count - 1);
    const size_t position = (size_t)(at >= 0 ? at : count + at);
    memory_stream made;
    w.to = memory_stream_open(&made);
    if (!w.to)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a text");
    bool all = w.f.all_positions;
    rapt_code code = print_parts(&w, all ? 0 : position, all ? s->count - 1 : position, err);
    if (!memory_stream_close(&made) && !code)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a text");
    if (code) {
        free(made.text);
        return code;
    }
    *text = made.text;
    if (size)
        *size = made.size;
    return RAPT_OK;
}
