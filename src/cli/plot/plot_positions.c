/* cli/plot/plot_positions.c: `rapt plot positions` and `rapt plot similarity`: encodings of positions, the book's or a
 * model's own, as a map or as curves, and the cosines between them. */
#include "cli/plot/cmd_plot.h"

#include "cli/cli.h"
#include "cli/cli_model.h"
#include "io/model_core.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIZE 10000 /* positions, and numbers of each */
#define MAX_DIMS 64
#define DEFAULT_LENGTH 60
#define DEFAULT_D_MODEL 32

typedef struct positions_arguments {
    const char *model;
    bool curves, rotary;
    size_t length, d_model;   /* 0: not given */
    size_t dims[MAX_DIMS], dim_count; /* dim_count 0: the default features */
    plot_options o;
} positions_arguments;

/* "6,7,8,9" */
static void take_dims(const cli_option *o, void *in, const char *text)
{
    positions_arguments *a = in;
    char number[32];
    a->curves = true;
    a->dim_count = 0;
    for (size_t length; text; text = text[length] ? text + length + 1 : NULL) {
        length = strcspn(text, ",");
        snprintf(number, sizeof number, "%.*s", (int)(length < sizeof number ? length : sizeof number), text);
        if (a->dim_count == MAX_DIMS)
            usage_error("--%s: more than %d", o->name, MAX_DIMS);
        a->dims[a->dim_count++] = (size_t)option_integer(number, 0, MAX_SIZE - 1, o->name);
    }
}

#define ARGUMENTS positions_arguments
static const cli_option OF_BOTH[] = {
    OPTION_COUNT("length", "N", AT(length), 1, MAX_SIZE, "Number of positions (default 60, or all of a model that has fewer)"),
    OPTION_COUNT("d-model", "N", AT(d_model), 1, MAX_SIZE, "Without a model: dimensions (default 32)"),
    OPTION_EITHER("kind", "NAME", AT(rotary), "sinusoidal, rotary", "Without a model: sinusoidal (default), or rotary: cosines, "
                  "then sines, of the angles"),
    OPTION_TABLE(plot_range_rows, AT(o)),
    {0}};

static const cli_option OF_POSITIONS[] = {
    OPTION_FLAG("curves", AT(curves), "Curves of some dimensions instead of the heat map"),
    OPTION_TAKE("dims", "I,J,...", take_dims, "The dimensions of the curves, from 0 (default 6,7,8,9, or the last four of "
                "fewer); implies --curves"),
    OPTION_TABLE(OF_BOTH, 0),
    {0}};

static void plot_positions_finish(void *arguments)
{
    positions_arguments *a = arguments;
    plot_options_finish(&a->o);
    if (a->model && (a->d_model || options_given("kind")))
        usage_error("--%s is for use without a model, which has its own", a->d_model ? "d-model" : "kind");
    if (a->curves && (a->o.has_low || a->o.has_high))
        usage_error("--low and --high are for heat maps, not for curves");
}

#define POSITIONS_NOTES                                                                                                        \
    "Without a model these are the book's encodings; a model's own are those that it adds to its embeddings, learned or not, " \
    "or for rotary positions the cosines and sines of its angles. Positions are counted from 0."
const cli_command plot_similarity_command = {
    .options = OF_BOTH, .operands = "[MODEL] -o PICTURE", .about = "Plot the cosine similarity of positions.",
    .notes = POSITIONS_NOTES, .most = 1, .takes = "one model", .operand = {AT(model)}, .finish = plot_positions_finish};
const cli_command plot_positions_command = {
    .options = OF_POSITIONS, .operands = "[MODEL] -o PICTURE",
    .about = "Plot the positional encoding: as a heat map with a row for each position, or some dimensions as curves.",
    .notes = POSITIONS_NOTES, .most = 1, .takes = "one model", .operand = {AT(model)}, .finish = plot_positions_finish};

/* ---- encodings --------------------------------------------------------------------------------------------- */

/* The first `length` rows of a table, and its owner. */
typedef struct encodings {
    rapt_model *m;
    rapt_params *set;
    const rapt_real *values; /* [length, d] */
    size_t length, d;
    char title[160];
} encodings;

static const rapt_param *table_of(const rapt_model *m)
{
    const bool language = m->task == RAPT_TASK_LANGUAGE_MODEL;
    const rapt_param *rotary = language ? m->language.net->rotary : m->translation.net->encoder.rotary;
    const rapt_preprocessor *input = language ? &m->language.net->input : &m->translation.net->encoder.input;
    return rotary ? rotary : input->positions.table;
}

static rapt_code take_table(const positions_arguments *a, const rapt_param *table, encodings *e, rapt_error *err)
{
    table = rapt_params_at(e->m ? e->m->params : e->set, table->index); /* with its values */
    size_t rows = table->value.shape[0];
    e->d = table->value.shape[1];
    e->length = a->length ? a->length : rows < DEFAULT_LENGTH ? rows : DEFAULT_LENGTH;
    e->values = table->value.data;
    if (e->length > rows)
        return rapt_fail(err, RAPT_ERR_VALUE, "--length %zu: %s has %zu positions", e->length, a->model, rows);
    return RAPT_OK;
}

static rapt_code load_encodings(const positions_arguments *a, encodings *e, rapt_error *err)
{
    e->m = cli_model_any_inference(a->model, err);
    if (!e->m)
        return err->code;
    bool language = e->m->task == RAPT_TASK_LANGUAGE_MODEL;
    rapt_positions_kind kind = language ? e->m->language.net->config.positions : e->m->translation.net->config.positions;
    if (kind == RAPT_POSITIONS_RELATIVE || kind == RAPT_POSITIONS_ALIBI)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: its positions are %s, biases of attention scores: `rapt explain` shows them",
                         a->model, cli_positions_word(kind));
    if (kind == RAPT_POSITIONS_NONE)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: it has no positional encoding (model.positions: none)", a->model);
    char *name;
    rapt_code code = plot_name_paths(&a->model, 1, &name, err);
    if (code)
        return code;
    snprintf(e->title, sizeof e->title, "%s positions of %s", cli_positions_word(kind), name);
    free(name);
    return take_table(a, table_of(e->m), e, err);
}

static rapt_code make_encodings(const positions_arguments *a, encodings *e, rapt_error *err)
{
    rapt_positions p = {0};
    size_t length = a->length ? a->length : DEFAULT_LENGTH, d = a->d_model ? a->d_model : DEFAULT_D_MODEL;
    e->set = rapt_params_new(RAPT_SEED_NONE, err);
    if (!e->set)
        return err->code;
    if (a->rotary)
        p.table = rapt_rotary_init(e->set, "rotary", length, d, 10000);
    else
        rapt_positions_init(&p, e->set, "positions.", length, d, NULL);
    const rapt_error *failure = rapt_params_error(e->set);
    if (failure->code)
        return rapt_fail(err, failure->code, "%s", failure->message);
    snprintf(e->title, sizeof e->title, "%s positions", a->rotary ? "rotary" : "sinusoidal");
    return take_table(a, p.table, e, err);
}

static rapt_code get_encodings(const positions_arguments *a, encodings *e, rapt_error *err)
{
    return (a->model ? load_encodings : make_encodings)(a, e, err);
}

static void free_encodings(encodings *e)
{
    rapt_params_free(e->set);
    rapt_model_free(e->m);
}

/* ---- positions --------------------------------------------------------------------------------------------- */

static rapt_code draw_map(const positions_arguments *a, const encodings *e, rapt_error *err)
{
    draw_heat map = {.labels = {.x = "dimension", .y = "position"}, .rows = e->length, .columns = e->d, .values = e->values};
    plot_options o = a->o;
    o.bar = o.bar ? o.bar : "value";
    return plot_heat_maps(&o, &map, 1, 1, e->title, err);
}

/* Memory for the points of one curve and its name. */
typedef struct curve_memory {
    double y[MAX_SIZE];
    char name[32];
} curve_memory;

static rapt_code fill_curves(const positions_arguments *a, const encodings *e, const double *x, curve_memory *memory,
                             draw_curve *curves, rapt_error *err)
{
    for (size_t i = 0; i < a->dim_count; i++) {
        if (a->dims[i] >= e->d)
            return rapt_fail(err, RAPT_ERR_VALUE, "--dims %zu: there are %zu dimensions, counted from 0", a->dims[i], e->d);
        for (size_t j = 0; j < e->length; j++)
            memory[i].y[j] = (double)e->values[j * e->d + a->dims[i]];
        snprintf(memory[i].name, sizeof memory[i].name, "dimension %zu", a->dims[i]);
        curves[i] = (draw_curve){memory[i].name, e->length, x, memory[i].y};
    }
    return RAPT_OK;
}

static rapt_code draw_some(const positions_arguments *a, const encodings *e, rapt_error *err)
{
    draw_curve curves[MAX_DIMS];
    double x[MAX_SIZE];
    curve_memory *memory = calloc(a->dim_count, sizeof *memory);
    for (size_t i = 0; i < e->length; i++)
        x[i] = (double)i;
    rapt_code code = memory ? fill_curves(a, e, x, memory, curves, err)
                            : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu curves", a->dim_count);
    if (!code)
        code = plot_curves(&a->o, curves, a->dim_count, (draw_labels){e->title, "position", "value"}, err);
    free(memory);
    return code;
}

/* 6 to 9, as the d2l book draws them, or the last four of fewer. */
static void choose_dims(positions_arguments *a, size_t d)
{
    size_t first = d < 10 ? d - (d < 4 ? d : 4) : 6;
    for (size_t i = first; i < d && a->dim_count < 4; i++)
        a->dims[a->dim_count++] = i;
}

int plot_positions(int argc, char **argv)
{
    positions_arguments a = {0};
    encodings e = {0};
    rapt_error err = {0};
    options_parse(&plot_positions_command, argc, argv, &a);
    rapt_code code = get_encodings(&a, &e, &err);
    if (a.dim_count == 0)
        choose_dims(&a, e.d);
    if (!code)
        code = (a.curves ? draw_some : draw_map)(&a, &e, &err);
    free_encodings(&e);
    return code ? cli_fail(&err) : 0;
}

/* ---- similarity -------------------------------------------------------------------------------------------- */

static double dot(const rapt_real *x, const rapt_real *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)y[i];
    return sum;
}

/* The cosines of all pairs; NaN for encodings that are all zeros. */
static void fill_cosines(const encodings *e, double *norms, rapt_real *cosines)
{
    for (size_t i = 0; i < e->length; i++)
        norms[i] = sqrt(dot(e->values + i * e->d, e->values + i * e->d, e->d));
    for (size_t i = 0; i < e->length; i++)
        for (size_t j = 0; j < e->length; j++) {
            double norm = norms[i] * norms[j], product = dot(e->values + i * e->d, e->values + j * e->d, e->d);
            cosines[i * e->length + j] = (rapt_real)(norm > 0 ? product / norm : NAN);
        }
}

static rapt_code draw_similarity(const positions_arguments *a, const encodings *e, rapt_error *err)
{
    char title[200];
    plot_options o = a->o;
    o.bar = o.bar ? o.bar : "cosine similarity";
    double *norms = malloc(e->length * sizeof *norms);
    rapt_real *cosines = malloc(e->length * e->length * sizeof *cosines);
    rapt_code code = norms && cosines ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu positions", e->length);
    if (!code) {
        fill_cosines(e, norms, cosines);
        snprintf(title, sizeof title, "cosine similarity, %s", e->title);
        draw_heat map = {.labels = {.x = "position", .y = "position"}, .rows = e->length, .columns = e->length};
        map.values = cosines;
        code = plot_heat_maps(&o, &map, 1, 1, title, err);
    }
    free(cosines);
    free(norms);
    return code;
}

int plot_similarity(int argc, char **argv)
{
    positions_arguments a = {0};
    encodings e = {0};
    rapt_error err = {0};
    options_parse(&plot_similarity_command, argc, argv, &a);
    rapt_code code = get_encodings(&a, &e, &err);
    if (!code)
        code = draw_similarity(&a, &e, &err);
    free_encodings(&e);
    return code ? cli_fail(&err) : 0;
}
