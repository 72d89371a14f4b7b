/* explain/explain_parameters.c: the parameters of a pass, for the page, which shows how each number was computed. A page cannot
 * hold the parameters of a large model, so it gets whole matrices as long as there is room, and of tables only the rows that the
 * page names. explain_origin.c knows by which names a Hugging Face folder calls them. */
#include "explain/explanation.h"

#include "base/ends.h"
#include "explain/page/page.h"
#include "io/model_core.h"
#include "tensor/param_source.h"
#include "tensor/params.h"

#include <stdlib.h>
#include <string.h>

#define MOST ((size_t)2000 * 1000)        /* elements: at one letter and a third each, all that a page of 3 MB holds */
#define MOST_FULL ((size_t)16000 * 1000)  /* ... of a page of any size: what a browser still opens */
#define WHOLE ((size_t)250 * 1000)        /* elements of an output matrix that is kept with all its rows */

/* The rows of a table that are kept. */
typedef struct table_rows {
    size_t *ids;  /* [count], ascending, from malloc; NULL: all rows */
    size_t count; /* ... of the table itself if ids is NULL */
} table_rows;

/* What the rows of a parameter stand for, in the order in which parameters are listed: an embedding matrix that is the output
 * matrix, too, is listed as the latter, because all its rows are of use. */
typedef enum parameter_kind { PARAMETER_OUTPUT, PARAMETER_TOKENS, PARAMETER_POSITIONS, PARAMETER_MATRIX } parameter_kind;

static parameter_kind parameter_kind_of(const rapt_intermediate *x)
{
    if (x->axes && ends_in(x->axes, "token"))
        return PARAMETER_OUTPUT;
    if (x->formula && strcmp(x->formula, "E[id]") == 0)
        return PARAMETER_TOKENS;
    const bool positions = x->formula && strcmp(x->formula, "P[position]") == 0;
    return positions || ends_in(x->name, ".rotated") ? PARAMETER_POSITIONS : PARAMETER_MATRIX;
}

/* ---- rows ------------------------------------------------------------------------------------------------------------- */

static void mark_ids(bool *wanted, size_t size, const int32_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] >= 0 && (size_t)ids[i] < size)
            wanted[ids[i]] = true;
}

/* The tokens that were read and, of an output matrix, that are most probable and that follow. If source and target have
 * vocabularies of their own, a table has some rows more than the page names. */
static void mark_rows(const rapt_explanation *e, parameter_kind kind, bool *wanted, size_t size)
{
    for (size_t i = 0; i < e->sequence_count; i++) {
        const explain_sequence *s = &e->sequences[i];
        for (size_t j = 0; kind == PARAMETER_POSITIONS && j < s->count && j < size; j++)
            wanted[j] = true;
        if (kind != PARAMETER_POSITIONS)
            mark_ids(wanted, size, s->ids, s->count);
    }
    if (kind == PARAMETER_OUTPUT) {
        mark_ids(wanted, size, e->own.ids, e->own.ids ? explain_last(e)->count * e->top : 0);
        mark_ids(wanted, size, e->labels, e->label_count);
    }
}

/* A table of at most `whole` elements keeps all rows. False: out of memory. */
static bool table_rows_of(const rapt_explanation *e, const rapt_tensor *w, parameter_kind kind, size_t whole,
                          table_rows *rows)
{
    const size_t size = w->shape[0];
    *rows = (table_rows){.count = size};
    if (kind == PARAMETER_MATRIX || rapt_tensor_size(w) <= whole)
        return true;
    bool *wanted = calloc(size, sizeof *wanted);
    rows->ids = malloc(size * sizeof *rows->ids);
    if (wanted && rows->ids) {
        mark_rows(e, kind, wanted, size);
        rows->count = 0;
        for (size_t i = 0; i < size; i++)
            if (wanted[i])
                rows->ids[rows->count++] = i;
    }
    const bool ok = wanted && rows->ids;
    free(wanted);
    return ok;
}

/* ---- elements --------------------------------------------------------------------------------------------------------- */

/* Rows that the pass did not read may not be there yet; what is stored in fewer bits is read as the pass reads it. */
static void read_parameter_row(const rapt_param *p, size_t row, size_t width, rapt_real *to)
{
    if (param_has_source(p))
        param_source_read(p, row, 1, to);
    else
        memcpy(to, p->value.data + row * width, width * sizeof *to);
}

static json_t *rows_base64(const rapt_param *p, const table_rows *rows)
{
    const size_t width = rapt_tensor_size(&p->value) / p->value.shape[0];
    rapt_real *x = malloc((rows->count * width + 1) * sizeof *x);
    for (size_t i = 0; x && i < rows->count; i++)
        read_parameter_row(p, rows->ids ? rows->ids[i] : i, width, x + i * width);
    if (param_has_source(p))
        param_source_leave(p);
    char *letters = x ? page_numbers(x, rows->count * width) : NULL;
    json_t *string = letters ? json_string(letters) : NULL;
    free(letters);
    free(x);
    return string;
}

static bool add_kept_ids(json_t *o, const char *key, const table_rows *rows)
{
    json_t *list = json_array();
    bool ok = list != NULL;
    for (size_t i = 0; ok && i < rows->count; i++)
        ok = json_array_append_new(list, json_integer((json_int_t)rows->ids[i])) == 0;
    return json_object_set_new(o, key, list) == 0 && ok;
}

/* ---- the list --------------------------------------------------------------------------------------------------------- */

typedef struct parameter_list {
    const rapt_explanation *e;
    json_t *list;
    size_t left; /* elements */
    bool full;
} parameter_list;

static bool parameter_is_listed(const json_t *list, const char *name)
{
    size_t i;
    const json_t *o;
    json_array_foreach(list, i, o)
        if (strcmp(json_string_value(json_object_get(o, "name")), name) == 0)
            return true;
    return false;
}

static bool parameter_append(parameter_list *all, const rapt_param *p, const table_rows *rows)
{
    const rapt_tensor *w = &p->value;
    const size_t size = rapt_tensor_size(w) / w->shape[0] * rows->count;
    json_t *o = json_object(), *shape = json_array();
    bool ok = o && shape && json_object_set_new(o, "name", json_string(w->name)) == 0;
    for (int i = 0; ok && i < w->ndim; i++)
        ok = json_array_append_new(shape, json_integer((json_int_t)w->shape[i])) == 0;
    ok = json_object_set_new(o, "shape", shape) == 0 && ok;
    if (ok && rows->ids)
        ok = add_kept_ids(o, w->ndim == 1 ? "kept" : "kept_rows", rows);
    if (ok && size <= all->left) {
        all->left -= size;
        ok = json_object_set_new(o, "values_base64", rows_base64(p, rows)) == 0;
    }
    return json_array_append_new(all->list, o) == 0 && ok;
}

static bool parameter_add(parameter_list *all, const char *name, parameter_kind kind)
{
    table_rows rows;
    const rapt_param *p = name ? params_find(all->e->model->params, name) : NULL;
    if (!p || parameter_is_listed(all->list, name))
        return true;
    const size_t whole = all->full ? all->left : kind == PARAMETER_OUTPUT && all->left > WHOLE ? WHOLE : 0;
    const bool ok = table_rows_of(all->e, &p->value, kind, whole, &rows) && parameter_append(all, p, &rows);
    free(rows.ids);
    return ok;
}

json_t *explain_parameters(const rapt_explanation *e, bool full, rapt_error *err)
{
    parameter_list all = {.e = e, .list = json_array(), .left = full ? MOST_FULL : MOST, .full = full};
    bool ok = all.list != NULL;
    for (parameter_kind kind = PARAMETER_OUTPUT; kind <= PARAMETER_MATRIX && !e->like; kind++)
        for (size_t i = 0; ok && i < 2 * e->count; i++)
            if (parameter_kind_of(&e->items[i / 2]) == kind)
                ok = parameter_add(&all, e->sources[i / 2].parameters[i % 2], kind);
    if (ok)
        return all.list;
    json_decref(all.list);
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for parameters");
    return NULL;
}
