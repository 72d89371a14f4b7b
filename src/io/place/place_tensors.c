/* io/place/place_tensors.c: assembles tensors from parameters. */
#include "io/place/place_tensors.h"

#include "base/buffer.h"
#include "io/export_step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the set -------------------------------------------------------------------------------------------------- */

void place_tensors_begin(place_tensors *set)
{
    set->which = SIZE_MAX;
    set->used = calloc(rapt_params_count(set->model.params) + 1, sizeof *set->used);
    set->failed = !set->used;
}

void place_tensors_free(place_tensors *set)
{
    free(set->list);
    free(set->used);
    free(set->made);
}

static void place_put(place_tensors *set, const place_tensor *t)
{
    set->failed = set->failed || !ARRAY_RESERVE(&set->list, &set->capacity, set->count + 1);
    if (!set->failed)
        set->list[set->count++] = *t;
}

void place_tensors_add_number(place_tensors *set, const char *name, safetensors_dtype dtype, double number)
{
    place_tensor t = {.dtype = dtype, .number = number};
    snprintf(t.name, sizeof t.name, "%s", name);
    place_put(set, &t);
}

static void place_put_part(place_tensors *set, place_tensor *t, const place_row *row, const rapt_param *p)
{
    if (t->count == PLACE_PARTS_MAX || set->failed)
        return;
    t->parts[t->count] = p;
    t->slices[t->count++] = place_slice_of(&set->model, row, &p->value);
    set->used[p->index] = true;
}

void place_tensors_add_param(place_tensors *set, const rapt_param *p, const place_row *row)
{
    place_tensor t = {.dtype = SAFETENSORS_F32, .how = row->how};
    char bare[PLACE_NAME];
    place_match m;
    for (const place_row *n = NULL; (n = place_next(&set->model, n, p->value.name, &m)) != row;)
        if (!n)
            return;
    place_name(&set->model, row, &m, bare, t.name);
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->list[i].name, t.name) == 0) {
            place_put_part(set, &set->list[i], row, p);
            return;
        }
    t.ndim = place_shape(&set->model, row, &p->value, t.shape);
    place_put_part(set, &t, row, p);
    place_put(set, &t);
}

rapt_code place_tensors_made(const place_tensors *set, rapt_error *err)
{
    return set->failed ? rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a list of tensors", set->path) : RAPT_OK;
}

rapt_code place_tensors_check(const place_tensors *set, rapt_error *err)
{
    if (set->failed)
        return place_tensors_made(set, err);
    for (size_t i = 0; i < rapt_params_count(set->model.params); i++) {
        const rapt_param *p = rapt_params_at(set->model.params, i);
        if (!p->buffer && !set->used[i])
            return rapt_fail(err, RAPT_ERR_VALUE, "%s: the other program has no place for the parameter \"%s\"", set->path,
                             p->value.name);
    }
    return RAPT_OK;
}

/* ---- rows of a table ------------------------------------------------------------------------------------------ */

/* The parameter that a row names. A block that uses one norm everywhere has only "norm1". */
static const rapt_param *place_find(const place_tensors *set, const place_row *row, const place_match *m)
{
    char name[PLACE_NAME];
    place_expand(row->ours, m, name);
    const rapt_param *p = rapt_params_find(set->model.params, name);
    char *norm = strstr(name, ".norm");
    if (p || !norm || (norm[5] != '2' && norm[5] != '3'))
        return p;
    norm[5] = '1';
    return rapt_params_find(set->model.params, name);
}

/* Whether the tensor of a row is written: the parameter's first, or a copy of it in the place of another. */
static bool place_is_written(const place_tensors *set, const place_row *row, const place_match *m)
{
    char ours[PLACE_NAME];
    place_match found;
    const place_row *n = NULL;
    bool first = true;
    place_expand(row->ours, m, ours);
    while ((n = place_next(&set->model, n, ours, &found)) != NULL && n != row)
        first = first && (n->how & PLACE_READ || (n->how & PLACE_TIED && !set->tied));
    return n && (first || n->how & PLACE_TWICE) && !(n->how & PLACE_READ) && (set->tied || !(n->how & PLACE_TIED));
}

/* The shape of what a row holds although the model lacks it, which is written as zeros: a bias beside a weight, or a vector of
 * PLACE_ONE_ROW. No elements: there is none. */
static rapt_tensor place_missing(const place_tensors *set, const place_row *row, const place_match *m)
{
    const bool beta = strchr(row->theirs, '%') && set->model.block->norm_kind != RAPT_NORM_KIND_RMS;
    const bool bias = strcmp(m->last, "bias") == 0 && (set->model.of->biased || beta);
    place_match of_weight = *m;
    of_weight.last = "weight";
    const rapt_param *weight = bias ? place_find(set, row, &of_weight) : NULL;
    const bool one_row = (row->how & PLACE_PART) == PLACE_ONE_ROW;
    return (rapt_tensor){.ndim = 1, .shape = {one_row ? set->outputs : weight ? weight->value.shape[0] : 0}};
}

/* Whether two rows, one after the other, are of parts of the same tensor. */
static bool place_joins(const place_row *row, const place_row *next)
{
    return row->how & PLACE_PART && next->ours && next->how & PLACE_PART && strcmp(row->theirs, next->theirs) == 0;
}

/* Adds a tensor, whose parts are the parameters of `row` and of the rows after it that it joins. */
static void place_add_tensor(place_tensors *set, const place_row *row, const place_match *m)
{
    place_tensor t = {.dtype = SAFETENSORS_F32, .how = row->how};
    char bare[PLACE_NAME];
    for (const place_row *n = row; n == row || place_joins(n - 1, n); n++) {
        const rapt_param *p = place_find(set, n, m);
        const rapt_tensor ours = p ? p->value : place_missing(set, n, m);
        if (ours.shape[0] == 0 || !place_is_written(set, n, m))
            continue;
        t.ndim = place_shape(&set->model, n, &ours, t.shape);
        if (p)
            place_put_part(set, &t, n, p);
    }
    if (t.ndim == 0)
        return;
    place_name(&set->model, row, m, bare, t.name);
    place_put(set, &t);
}

static void place_add_row(place_tensors *set, const place_row *row)
{
    const size_t length = strlen(row->ours);
    const bool two = row->ours[length - 1] == '@', layers = strchr(row->ours, '#') != NULL;
    for (size_t layer = 0; layer == 0 || layers; layer++) {
        place_match m = {.last = "weight"};
        snprintf(m.layer, sizeof m.layer, "%zu", layer);
        if (layer > 0 && !place_find(set, row, &m))
            break;
        place_add_tensor(set, row, &m);
        m.last = "bias";
        if (two)
            place_add_tensor(set, row, &m);
    }
}

void place_tensors_add(place_tensors *set)
{
    const place_row *rows = set->model.of->rows;
    for (const place_row *row = rows; row->ours; row++)
        if (row == rows || !place_joins(row - 1, row))
            place_add_row(set, row);
}

/* ---- values --------------------------------------------------------------------------------------------------- */

size_t place_tensor_elements(const place_tensor *t)
{
    size_t count = 1;
    for (int i = 0; i < t->ndim; i++)
        count *= t->shape[i];
    return count;
}

void place_tensor_rows(const place_tensor *t, size_t first, size_t count, float *to)
{
    const size_t width = t->ndim == 2 ? t->shape[1] : 1;
    memset(to, 0, count * width * sizeof *to);
    for (size_t i = 0; i < t->count; i++)
        place_slice_put(&t->slices[i], t->parts[i]->value.shape[0], t->parts[i]->value.data, width, first, count, to);
}

/* The elements of a tensor that is a parameter as it is, or NULL. */
static const float *place_tensor_plain(const place_tensor *t)
{
    const unsigned changes = PLACE_PART | PLACE_TRANSPOSED | PLACE_PLUS_ONE | PLACE_ROTARY | PLACE_INTERLEAVED;
    const bool ordered = t->slices[0].row_order || t->slices[0].column_order;
    return t->count == 1 && !(t->how & changes) && !ordered ? t->parts[0]->value.data : NULL;
}

rapt_code place_tensors_reserve(place_tensors *set, rapt_error *err)
{
    size_t most = 0;
    for (size_t i = 0; i < set->count; i++)
        if (!place_tensor_plain(&set->list[i]) && place_tensor_elements(&set->list[i]) > most)
            most = place_tensor_elements(&set->list[i]);
    set->made = malloc((most + 1) * sizeof *set->made);
    return set->made ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a tensor", set->path);
}

const float *place_tensors_values(place_tensors *set, size_t index)
{
    const place_tensor *t = &set->list[index];
    const float *plain = place_tensor_plain(t);
    if (!plain && set->which != index)
        place_tensor_rows(t, 0, t->shape[0], set->made);
    set->which = plain ? set->which : index;
    return plain ? plain : set->made;
}

/* ---- safetensors ---------------------------------------------------------------------------------------------- */

safetensors_entry *place_tensors_entries(const place_tensors *set, rapt_error *err)
{
    safetensors_entry *entries = calloc(set->count + 1, sizeof *entries);
    if (!entries)
        rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a list of tensors", set->path);
    for (size_t i = 0; entries && i < set->count; i++) {
        const place_tensor *t = &set->list[i];
        entries[i] = (safetensors_entry){.name = t->name, .dtype = t->dtype, .ndim = t->ndim,
                                         .bytes = place_tensor_elements(t) * sizeof(float)};
        memcpy(entries[i].shape, t->shape, sizeof t->shape);
    }
    return entries;
}

typedef struct place_saving {
    place_tensors *set;
    const rapt_export_options *options;
    export_steps steps;
} place_saving;

/* A safetensors_source's read. */
static rapt_code place_read_portion(void *context, size_t entry, size_t offset, void *to, size_t bytes, rapt_error *err)
{
    place_saving *s = context;
    if (s->options && export_step(s->options, &s->steps, entry, s->set->count, s->set->path, err) != RAPT_OK)
        return RAPT_ERR_INTERRUPTED;
    memcpy(to, (const char *)place_tensors_values(s->set, entry) + offset, bytes);
    return RAPT_OK;
}

rapt_code place_tensors_save(place_tensors *set, const char *path, const rapt_export_options *o, rapt_error *err)
{
    static const char *const metadata[] = {"format", "pt", NULL}; /* without it transformers refuses the file */
    place_saving saving = {.set = set, .options = o};
    safetensors_entry *entries = place_tensors_entries(set, err);
    rapt_code code = entries ? place_tensors_reserve(set, err) : RAPT_ERR_MEMORY;
    const safetensors_source source = {place_read_portion, &saving};
    if (!code)
        code = safetensors_write_from(path, entries, set->count, metadata, &source, err);
    free(entries);
    return code;
}
