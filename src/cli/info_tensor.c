/* cli/info_tensor.c: `rapt info MODEL --tensor NAME`: one parameter or buffer of a model, element by element. For cmd_info.c. */
#include "cli/cmd_info.h"

#include "base/number.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "cli/cli.h"
#include "cli/cli_model.h"
#include "io/model.h"
#include "rapt/print.h"
#include "tensor/params.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As in pandas: up to 60 rows are all shown, of a longer table ten. */
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

/* By either name. A tensor of a Hugging Face folder may hold several of ours. */
static const rapt_param *info_tensor_find(const rapt_params *set, const char *name, rapt_error *err)
{
    const rapt_param *p = rapt_params_find(set, name);
    size_t found = 0;
    for (size_t i = 0; !p && i < rapt_params_count(set); i++) {
        const rapt_param *one = params_at(set, i);
        if (!one->origin || strcmp(one->origin, name) != 0)
            continue;
        if (found > 0) {
            rapt_fail(err, RAPT_ERR_VALUE, "\"%s\" holds %s, %s and perhaps more: name one of them", name,
                      params_at(set, found - 1)->value.name, one->value.name);
            return NULL;
        }
        found = i + 1;
    }
    if (!p && found == 0)
        info_tensor_unknown(set, name, err);
    return p ? p : found > 0 ? rapt_params_at(set, found - 1) : NULL;
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

static rapt_code info_tensor_print(const rapt_param *p, const info_arguments *a, rapt_error *err)
{
    char shape[96];
    const rapt_tensor *x = &p->value;
    rapt_tensor_text_options options = rapt_tensor_text_options_default();
    options.threshold = a->full ? SIZE_MAX : options.threshold;
    char *text = a->table ? info_tensor_table(x, a->full, err) : rapt_tensor_text(x, &options, err);
    if (!text)
        return RAPT_ERR_MEMORY;
    printf("%s", x->name);
    if (p->origin)
        printf(" (%s)", p->origin);
    printf("  %s\n%s", rapt_shape_text(x, shape, sizeof shape), text);
    free(text);
    return RAPT_OK;
}

/* JSON has no infinities and no NaN. */
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
    printf("{\"name\": \"%s\", ", p->value.name);
    if (p->origin)
        printf("\"origin\": \"%s\", ", p->origin);
    printf("\"shape\": %s, \"buffer\": %s, \"values\": [", rapt_shape_text(&p->value, shape, sizeof shape),
           p->buffer ? "true" : "false");
    for (size_t i = 0; i < rapt_tensor_size(&p->value); i++) {
        fputs(i > 0 ? ", " : "", stdout);
        info_tensor_print_number((double)p->value.data[i]);
    }
    puts("]}");
}

int info_tensor(const info_arguments *a)
{
    rapt_error err = {0};
    cli_note_seal(a->model);
    rapt_load_options load = rapt_load_options_default();
    load.inference = true;
    rapt_model *m = rapt_model_load(a->model, &load, &err); /* not cli_model: encoders have tensors as well */
    const rapt_param *p = m ? info_tensor_find(m->params, a->tensor, &err) : NULL;
    if (p && a->json)
        info_tensor_print_json(p);
    else if (p)
        info_tensor_print(p, a, &err);
    rapt_model_free(m);
    return err.code ? cli_fail(&err) : 0;
}
