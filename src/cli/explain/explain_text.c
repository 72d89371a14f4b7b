/* cli/explain/explain_text.c: what `rapt explain` found out, as text: parts with headings, and in each step after step. For
 * people; explain_json.c is for programs. */
#include "cli/explain/cmd_explain.h"

#include "cli/inspect/token_names.h"
#include "view/print.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN 100       /* numbers of a matrix that are shown all: a sentence has some sixty of them */
#define EDGE 3          /* matrices that are shown at each end of many */
#define MOST_ROWS 60    /* of a table that is shown whole; of longer ones */
#define SOME_ROWS 10

/* ---- colour ------------------------------------------------------------------------------------------------------ */

#define BOLD "1"
#define CYAN "1;36"
#define YELLOW "33"
#define FAINT "2"

static void paint(const explanation *e, const char *colour, const char *text)
{
    if (e->a->colour)
        fprintf(e->text, "\033[%sm%s\033[0m", colour, text);
    else
        fputs(text, e->text);
}

static void print_heading(explanation *e, const char *heading)
{
    if (strcmp(e->heading, heading) == 0)
        return;
    snprintf(e->heading, sizeof e->heading, "%s", heading);
    if (ftell(e->text) > 0)
        fputc('\n', e->text);
    paint(e, BOLD, heading);
    fputc('\n', e->text);
    for (size_t i = 0; heading[i]; i++)
        fputc('=', e->text);
    fputc('\n', e->text);
}

/* ---- model and tokens -------------------------------------------------------------------------------------------- */

void explain_print_model(explanation *e)
{
    const rapt_model *m = e->m;
    size_t parameters = rapt_params_size(m->params);
    if (m->task == RAPT_TASK_LANGUAGE_MODEL)
        fprintf(e->text, "%s: a language model of %zu blocks, d_model %zu, %zu heads, %zu parameters\n", e->a->model,
                m->lm->config.layers, m->lm->config.d_model, m->lm->config.heads, parameters);
    else
        fprintf(e->text, "%s: a translation model of %zu + %zu blocks, d_model %zu, %zu heads, %zu parameters\n", e->a->model,
                m->net->config.layers, m->net->config.layers, m->net->config.block.d_model, m->net->config.block.heads,
                parameters);
}

/* The label of a token without its position. */
static const char *token_label(const explain_sequence *s, size_t i)
{
    return strchr(s->labels[i], ' ') + 1;
}

static void print_sequence(const explanation *e, const explain_sequence *s)
{
    bool read = strcmp(s->name, "target") == 0;
    fprintf(e->text, "%s%s: %zu tokens\n  position        id  token\n", s->name, read ? ", which the decoder reads" : "",
            s->count);
    for (size_t i = 0; i < s->count; i++)
        fprintf(e->text, "  %8zu  %8d  %s\n", i, (int)s->ids[i], token_label(s, i));
}

void explain_print_tokens(explanation *e)
{
    print_heading(e, "Tokens");
    for (size_t i = 0; i < e->sequence_count; i++) {
        if (i > 0)
            fputc('\n', e->text);
        print_sequence(e, &e->sequences[i]);
    }
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

static void explain_text_print_title(explanation *e, const rapt_observation *s)
{
    if (s->gradient)
        fputs("gradient of ", e->text);
    paint(e, CYAN, s->name);
    if (s->formula && !s->gradient) {
        fputs(" = ", e->text);
        paint(e, YELLOW, s->formula);
    }
    fputc('\n', e->text);
}

static void print_shape(const explanation *e, const rapt_observation *s)
{
    char shape[96], word[16];
    fprintf(e->text, "shape %s", rapt_shape_text(s->tensor, shape, sizeof shape));
    for (int i = 0; s->axes && i < s->tensor->ndim; i++)
        fprintf(e->text, "%s%s", i ? ", " : " (", explain_axis(s, i, word));
    fputs(s->axes ? ")" : "", e->text);
}

static void print_figures(const explanation *e, const rapt_observation *s)
{
    char line[5 * PRINT_NUMBER], min[PRINT_NUMBER], mean[PRINT_NUMBER], max[PRINT_NUMBER], std[PRINT_NUMBER];
    print_statistics x = print_statistics_of(s->values, rapt_tensor_size(s->tensor));
    snprintf(line, sizeof line, "   min %s   mean %s   max %s   std %s", print_number(x.min, min), print_number(x.mean, mean),
             print_number(x.max, max), print_number(x.std, std));
    paint(e, FAINT, line);
    if (x.finite < x.count)
        fprintf(e->text, "   (%zu of %zu are finite)", x.finite, x.count);
    fputc('\n', e->text);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* Writes which of the matrices of a step comes: "head 3"; nothing where it has one only. */
static void print_place(const explanation *e, const rapt_observation *s, size_t matrix)
{
    char word[16], line[128] = "";
    size_t below = 1;
    for (int i = 0; i < s->tensor->ndim - 2; i++)
        below *= s->tensor->shape[i];
    for (int i = 0; i < s->tensor->ndim - 2; i++) {
        below /= s->tensor->shape[i];
        if (s->tensor->shape[i] > 1)
            snprintf(line + strlen(line), sizeof line - strlen(line), "%s%s %zu", *line ? ", " : "", explain_axis(s, i, word),
                     matrix / below % s->tensor->shape[i]);
    }
    if (*line) {
        paint(e, BOLD, line);
        fputc('\n', e->text);
    }
}

static const char *const *labels_along(const explanation *e, const rapt_observation *s, int dim)
{
    const explain_sequence *along = dim >= 0 && dim < s->tensor->ndim ? explain_along(e, s, dim) : NULL;
    return along ? (const char *const *)along->labels : NULL;
}

static rapt_code print_matrices(const explanation *e, const rapt_observation *s, rapt_error *err)
{
    const rapt_tensor *x = s->tensor;
    int rows = x->ndim > 1 ? x->ndim - 2 : 0;
    print_frame f = {.rows = x->shape[rows], .columns = x->ndim > 1 ? x->shape[rows + 1] : 1,
                     .row_names = labels_along(e, s, rows), .column_names = labels_along(e, s, rows + 1)};
    size_t matrix = f.rows * f.columns, count = rapt_tensor_size(x) / matrix;
    f.most_rows = e->a->full || f.rows <= MOST_ROWS ? 0 : SOME_ROWS;
    f.width = e->a->full ? 0 : e->a->width;
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < count && !code; i++) {
        if (!e->a->full && count > 2 * EDGE && i == EDGE) {
            fputs("...\n", e->text);
            i = count - EDGE;
        }
        f.values = s->values + i * matrix;
        print_place(e, s, i);
        code = print_table(e->text, &f, err);
    }
    return code;
}

rapt_code explain_print_step(explanation *e, const rapt_observation *s, rapt_error *err)
{
    char heading[96];
    explain_heading(e, s, heading);
    bool first = strcmp(heading, e->heading) != 0;
    print_heading(e, heading);
    if (!first)
        fputc('\n', e->text);
    explain_text_print_title(e, s);
    print_shape(e, s);
    print_figures(e, s);
    if (e->a->table)
        return print_matrices(e, s, err);
    print_tensor(e->text, s->values, s->tensor->ndim, s->tensor->shape, e->a->full ? SIZE_MAX : SHOWN);
    return RAPT_OK;
}

/* ---- predictions and loss ---------------------------------------------------------------------------------------- */

static rapt_code print_prediction(const explanation *e, int32_t id, double probability, rapt_error *err)
{
    char *token = token_name(explain_last(e)->tokenizer, id);
    if (!token)
        return rapt_fail(err, RAPT_ERR_MEMORY, "no memory for a token");
    fprintf(e->text, "  %.6f  %8d  %s\n", probability, (int)id, token);
    free(token);
    return RAPT_OK;
}

static rapt_code print_position(const explanation *e, size_t position, rapt_error *err)
{
    const explain_sequence *s = explain_last(e);
    rapt_code code = RAPT_OK;
    fprintf(e->text, "after token %zu, %s:\n", position, token_label(s, position));
    for (size_t i = position * e->top; i < (position + 1) * e->top && !code; i++)
        code = print_prediction(e, e->likeliest[i], e->probabilities[i], err);
    return code;
}

rapt_code explain_print_likeliest(explanation *e, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    print_heading(e, "Likeliest tokens");
    if (e->m->task == RAPT_TASK_TRANSLATION)
        fprintf(e->text, "%s: %s\n", e->translation ? "the translation" : "the target",
                e->translation ? e->translation : e->output);
    if (!e->a->at_all)
        code = print_position(e, e->position, err);
    for (size_t i = 0; e->a->at_all && i < explain_last(e)->count && !code; i++)
        code = print_position(e, i, err);
    return code;
}

rapt_code explain_print_loss(explanation *e, rapt_error *err)
{
    char number[PRINT_NUMBER];
    print_heading(e, "Loss");
    fputs("  position    -ln p  token that should follow\n", e->text);
    for (size_t i = 0; i < e->label_count; i++) {
        char *token = token_name(explain_last(e)->tokenizer, e->labels[i]);
        if (!token)
            return rapt_fail(err, RAPT_ERR_MEMORY, "no memory for a token");
        fprintf(e->text, "  %8zu  %7.4f  %s\n", i, e->nll[i], token);
        free(token);
    }
    fprintf(e->text, "loss %s, their mean\n", print_number(e->loss, number));
    return RAPT_OK;
}
