/* io/hub/hub_weights.c: fills parameters from tensors. io/place finds the tensor of a parameter. */
#include "io/hub/hub_weights.h"

#include "base/quote.h"
#include "tensor/param_source.h"
#include "tensor/params.h"

#include <stdlib.h>
#include <string.h>

typedef struct hub_filling {
    rapt_params *params;
    const place_model *of;
    const weights *w;
    const char *folder;
    const place_row **rows; /* [rapt_params_count] */
    adapter *add; /* or NULL */
    bool *used; /* [weights_count] */
    bool shapes; /* the parameters have shapes only: no values are read */
    pool *threads;
    rapt_error *err;
} hub_filling;

/* ---- names ---------------------------------------------------------------------------------------------------- */

/* The tensor of a row; NULL: there is none. */
static const weights_tensor *hub_find(const hub_filling *f, const place_row *n, const place_match *m)
{
    char bare[PLACE_NAME], whole[PLACE_NAME];
    place_name(f->of, n, m, bare, whole);
    const weights_tensor *t = weights_find(f->w, whole);
    return t ? t : weights_find(f->w, bare);
}

static rapt_code hub_fail_missing(const hub_filling *f, const char *ours)
{
    char bare[PLACE_NAME], whole[PLACE_NAME];
    place_match m;
    const place_row *n = place_next(f->of, NULL, ours, &m);
    if (!n)
        return rapt_fail(f->err, RAPT_ERR_FORMAT, "%s: models of type %s have no %s", f->folder, f->of->type, ours);
    place_name(f->of, n, &m, bare, whole);
    return rapt_fail(f->err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" is missing, which is %s of the model", f->folder, whole, ours);
}

/* ---- values --------------------------------------------------------------------------------------------------- */

static rapt_code hub_check_shape(const hub_filling *f, const weights_tensor *t, const rapt_tensor *ours, const place_row *n)
{
    size_t shape[RAPT_MAX_DIMS];
    const int ndim = place_shape(f->of, n, ours, shape);
    bool same = t->ndim == ndim;
    for (int i = 0; same && i < t->ndim; i++)
        same = t->shape[i] == shape[i];
    if (same)
        return RAPT_OK;
    char is[WEIGHTS_SHAPE_TEXT], wanted[WEIGHTS_SHAPE_TEXT];
    return rapt_fail(f->err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" has the shape %s; config.json asks for %s",
                     weights_file_path(f->w, t->file), quote(t->name).text, weights_shape_text(t->shape, t->ndim, is),
                     weights_shape_text(shape, ndim, wanted));
}

static void hub_mark_used(hub_filling *f, const weights_tensor *t)
{
    for (size_t i = 0; i < weights_count(f->w); i++)
        f->used[i] = f->used[i] || weights_at(f->w, i) == t;
}

/* The files may be closed before the parameters are freed. */
static void hub_set_origin(const hub_filling *f, rapt_param *p, const char *name)
{
    char *origin = rapt_params_alloc(f->params, strlen(name) + 1, 1);
    if (origin)
        strcpy(origin, name);
    p->origin = origin;
}

/* A param_blocks_fn. */
static const void *hub_row_blocks(const void *slice, size_t row)
{
    const block_format *format;
    return place_slice_blocks(slice, row, &format);
}

/* In a model for inference, a matrix stays in the file until it is needed; everything else is read at once. */
static void hub_set(const hub_filling *f, rapt_param *p, place_slice slice)
{
    const bool later = rapt_params_seed(f->params) == RAPT_SEED_UNSET && p->value.ndim == 2 && !p->buffer;
    place_slice *kept = later ? rapt_params_alloc(f->params, 1, sizeof *kept) : NULL;
    const block_format *format;
    const bool blocks = kept && place_slice_blocks(&slice, 0, &format);
    if (kept) {
        *kept = slice;
        param_source_set(f->params, p, place_slice_read, place_slice_leave, kept);
        if (blocks)
            param_source_set_blocks(p, format, hub_row_blocks);
        else
            param_source_set_16_bits(p, place_slice_16_bits(kept));
    } else {
        place_slice_read(&slice, 0, p->value.shape[0], p->value.data);
    }
    if (!blocks) /* which a first pass may read soon; who packs gives them back (tensor/packed_weights.h) */
        place_slice_leave(&slice);
}

/* An adapter is of the whole tensor, by its name in the model with head. */
static rapt_code hub_take_adapter(const hub_filling *f, const place_row *n, const place_match *m, const weights_tensor *t,
                                  place_slice *slice)
{
    char bare[PLACE_NAME], whole[PLACE_NAME];
    const bool turned = slice->transposed;
    if (!f->add || t->ndim != 2)
        return RAPT_OK;
    place_name(f->of, n, m, bare, whole);
    rapt_code code = adapter_take(f->add, whole, t->shape[turned ? 1 : 0], t->shape[turned ? 0 : 1], &slice->adapter, f->err);
    if (code || !turned || !slice->adapter || !slice->adapter->whole)
        return code;
    return rapt_fail(f->err, RAPT_ERR_VALUE, "%s: the adapter saves \"%s\" whole; of matrices that are [in, out] in the files "
                     "rapt reads none whole", f->folder, quote(slice->adapter->module).text);
}

static rapt_code hub_take(hub_filling *f, const place_row *n, const place_match *m, const weights_tensor *t, rapt_param *p)
{
    place_slice slice = place_slice_of(f->of, n, &p->value);
    slice.w = f->w;
    slice.t = t;
    rapt_code code = hub_check_shape(f, t, &p->value, n);
    if (!code && t->dtype == SAFETENSORS_F64)
        code = rapt_fail(f->err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" is F64; rapt reads weights of F32, F16 and BF16",
                         weights_file_path(f->w, t->file), quote(t->name).text);
    if (!code && t->blocks && (t->ndim != 2 || slice.transposed))
        code = rapt_fail(f->err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" is of %s; rapt reads matrices in blocks alone",
                         weights_file_path(f->w, t->file), quote(t->name).text, weights_tensor_type(t));
    if (!code)
        code = weights_check_real(f->w, t, f->err);
    if (code || f->shapes)
        return code;
    if (slice.first == 0 || (n->how & PLACE_PART) == PLACE_BEHIND_TWO)
        code = weights_check_finite(f->w, t, f->threads, f->err);
    if (!code)
        code = hub_take_adapter(f, n, m, t, &slice);
    if (!code) {
        hub_set(f, p, slice);
        hub_set_origin(f, p, t->name);
    }
    return code;
}

/* Whether tensor t holds the values of p, row by row. */
static rapt_code hub_compare(const hub_filling *f, const weights_tensor *t, const rapt_param *p, bool *same)
{
    const size_t rows = p->value.shape[0], width = rapt_tensor_size(&p->value) / rows;
    const place_slice slice = {f->w, t, 0, width, false};
    rapt_real *two = malloc(2 * width * sizeof *two);
    if (!two)
        return rapt_fail(f->err, RAPT_ERR_MEMORY, "%s: out of memory for a row", f->folder);
    for (size_t i = 0; i < rows && *same; i++) {
        place_slice_read(&slice, i, 1, two);
        if (param_has_source(p))
            param_source_read(p, i, 1, two + width);
        *same = memcmp(two, param_has_source(p) ? two + width : p->value.data + i * width, width * sizeof *two) == 0;
    }
    free(two);
    return RAPT_OK;
}

/* Compares two matrices of the same shape. */
static rapt_code hub_compare_tensors(const weights *w, const weights_tensor *a, const weights_tensor *b, const char *folder,
                                     bool *same, rapt_error *err)
{
    const size_t width = a->shape[1];
    const place_slice one = {w, a, 0, width, false}, other = {w, b, 0, width, false};
    rapt_real *two = malloc(2 * width * sizeof *two + 1);
    if (!two)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a row", folder);
    for (size_t i = 0; i < a->shape[0] && *same; i++) {
        place_slice_read(&one, i, 1, two);
        place_slice_read(&other, i, 1, two + width);
        *same = memcmp(two, two + width, width * sizeof *two) == 0;
    }
    free(two);
    return RAPT_OK;
}

/* The first tensor that a table has for a parameter, and the files, too; not of the name `other`. NULL: there is none. */
static const weights_tensor *hub_find_any(const weights *w, const place_table *of, const char *ours, const char *other)
{
    const weights_tensor *found = NULL;
    for (const place_row *n = of->rows; n->ours && !found; n++)
        if (strcmp(n->ours, ours) == 0 && strcmp(n->theirs, other) != 0)
            found = weights_find(w, n->theirs);
    return found;
}

rapt_code hub_find_output(const weights *w, const place_table *of, const char *folder, bool *own, rapt_error *err)
{
    const weights_tensor *output = hub_find_any(w, of, "decoder.output.weight", "");
    const weights_tensor *embedding = output ? hub_find_any(w, of, "encoder.embedding.weight", output->name) : NULL;
    *own = output && embedding;
    /* if shapes or types differ, one of them does not belong to the model, which hub_fill reports */
    if (!*own || output->ndim != 2 || embedding->ndim != 2 || output->shape[0] != embedding->shape[0] ||
        output->shape[1] != embedding->shape[1] || weights_check_real(w, output, NULL) || weights_check_real(w, embedding, NULL))
        return RAPT_OK;
    bool same = true;
    rapt_code code = hub_compare_tensors(w, output, embedding, folder, &same, err);
    *own = !same;
    return code;
}

/* A matrix that config.json ties to another is in the files once, or several times. */
static rapt_code hub_check_copy(hub_filling *f, const weights_tensor *t, const rapt_param *p)
{
    bool same = true;
    rapt_code code = hub_check_shape(f, t, &p->value, &(place_row){0});
    code = code ? code : weights_check_real(f->w, t, f->err);
    code = code || f->shapes ? code : hub_compare(f, t, p, &same);
    if (code || same)
        return code;
    return rapt_fail(f->err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" is not the embedding, to which config.json ties it",
                     weights_file_path(f->w, t->file), quote(t->name).text);
}

static rapt_code hub_fill_param(hub_filling *f, size_t index)
{
    rapt_param *p = params_at(f->params, index);
    place_match m;
    bool filled = false;
    rapt_code code = RAPT_OK;
    for (const place_row *n = NULL; !code && (n = place_next(f->of, n, p->value.name, &m)) != NULL;) {
        const weights_tensor *t = hub_find(f, n, &m);
        const bool zeros = !t && (n->how & PLACE_PART) == PLACE_ONE_ROW; /* vectors begin as zeros */
        if (t)
            code = filled ? hub_check_copy(f, t, p) : hub_take(f, n, &m, t, p);
        if (f->rows && !filled && (t || zeros))
            f->rows[index] = n;
        filled = filled || t || zeros;
        hub_mark_used(f, t);
    }
    return code || filled || p->buffer ? code : hub_fail_missing(f, p->value.name);
}

/* ---- what is left over ---------------------------------------------------------------------------------------- */

static rapt_code hub_check_left_over(hub_filling *f)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < weights_count(f->w) && !code; i++) {
        const weights_tensor *t = weights_at(f->w, i);
        if (f->used[i] || place_is_unused(f->of, t->name))
            continue;
        code = rapt_fail(f->err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" does not belong to a model of type %s with this "
                         "config.json", weights_file_path(f->w, t->file), quote(t->name).text, f->of->type);
    }
    return code;
}

/* ---- all ------------------------------------------------------------------------------------------------------ */

rapt_code hub_fill(rapt_params *params, const place_model *of, const weights *w, const model_source *from, const place_row **rows,
                   rapt_error *err)
{
    const char *folder = from->folder;
    place_model named = *of;
    named.of = from->places ? from->places : of->of;
    hub_filling f = {.params = params, .of = &named, .w = w, .folder = folder, .rows = rows, .add = from->add,
                     .shapes = rapt_params_seed(params) == RAPT_SEED_SHAPES, .err = err};
    f.used = calloc(weights_count(w) + 1, sizeof *f.used);
    rapt_code code = f.used ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a tensor", folder);
    rapt_error why = {0};
    f.threads = f.shapes ? NULL : pool_new(0, &why);
    if (!code && !f.threads && !f.shapes)
        code = rapt_fail(err, why.code, "%s", why.message);
    for (size_t i = 0; i < rapt_params_count(params) && !code; i++)
        code = stop_asked(from->stop) ? rapt_fail(err, RAPT_ERR_INTERRUPTED, "%s: interrupted", folder) : hub_fill_param(&f, i);
    code = code ? code : hub_check_left_over(&f);
    pool_free(f.threads);
    free(f.used);
    if (!code && rapt_params_error(params)->code)
        code = rapt_fail(err, rapt_params_error(params)->code, "%s", rapt_params_error(params)->message);
    return code;
}
