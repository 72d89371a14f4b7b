/* cli/info_tensor.c: `rapt info MODEL --tensor NAME`: one parameter or buffer of a model, element by element. For cmd_info.c. */
#include "cli/cmd_info.h"

#include "base/number.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "cli/cli.h"
#include "cli/cli_model.h"
#include "rapt/print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* pandas: up to 60 rows whole, of more ten. */
#define WHOLE_ROWS 60
#define SOME_ROWS 10

/* "no tensor is called x; did you mean y?" */
static void info_tensor_unknown(const rapt_params *set, const char *name, rapt_error *err)
{
    const size_t count = rapt_params_count(set);
    const char **names = malloc((count ? count : 1) * sizeof *names);
    for (size_t i = 0; names && i < count; i++)
        names[i] = rapt_params_at(set, i)->value.name;
    const char *nearest = names ? suggest_nearest(name, names, count) : NULL;
    if (nearest)
        rapt_fail(err, RAPT_ERR_NOT_FOUND, "no tensor is called \"%s\"; did you mean \"%s\"?", quote(name).text, nearest);
    else
        rapt_fail(err, RAPT_ERR_NOT_FOUND, "no tensor is called \"%s\"; --tensors lists all", quote(name).text);
    free(names);
}

/* A matrix, or a vector as one column. */
static char *info_tensor_table(const rapt_tensor *x, bool full, rapt_error *err)
{
    const bool matrix = x->ndim > 1;
    rapt_table table = {.values = x->data, .rows = matrix ? rapt_tensor_rows(x) : x->shape[0],
                              .columns = matrix ? rapt_tensor_features(x) : 1, .width = full ? 0 : cli_width()};
    if (!full && table.rows > WHOLE_ROWS)
        table.max_rows = SOME_ROWS;
    return rapt_table_text(&table, err);
}

static rapt_code info_tensor_print(const rapt_tensor *x, const info_arguments *a, rapt_error *err)
{
    char shape[96];
    const rapt_tensor_text_options options = {.threshold = a->full ? SIZE_MAX : 0};
    char *text = a->table ? info_tensor_table(x, a->full, err) : rapt_tensor_text(x, &options, err);
    if (!text)
        return RAPT_ERR_MEMORY;
    printf("%s  %s\n%s", x->name, rapt_shape_text(x, shape, sizeof shape), text);
    free(text);
    return RAPT_OK;
}

/* JSON has no words for what is not finite. */
static void info_tensor_print_number(double x)
{
    char text[NUMBER_TEXT];
    if (isfinite(x))
        number_write(x, text);
    else
        snprintf(text, sizeof text, "\"%s\"", isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
    fputs(text, stdout);
}

/* As `rapt explain --json` has it: all elements in one list, row by row. */
static void info_tensor_print_json(const rapt_param *p)
{
    char shape[96];
    printf("{\"name\": \"%s\", \"shape\": %s, \"buffer\": %s, \"values\": [", p->value.name,
           rapt_shape_text(&p->value, shape, sizeof shape), p->buffer ? "true" : "false");
    for (size_t i = 0; i < rapt_tensor_size(&p->value); i++) {
        fputs(i > 0 ? ", " : "", stdout);
        info_tensor_print_number((double)p->value.data[i]);
    }
    puts("]}");
}

int info_tensor(const info_arguments *a)
{
    rapt_error err = {0};
    rapt_model *m = cli_model(a->model, &err);
    const rapt_param *p = m ? rapt_params_find(m->params, a->tensor) : NULL;
    if (m && !p)
        info_tensor_unknown(m->params, a->tensor, &err);
    else if (p && a->json)
        info_tensor_print_json(p);
    else if (p)
        info_tensor_print(&p->value, a, &err);
    rapt_model_free(m);
    return err.code ? cli_fail(&err) : 0;
}
