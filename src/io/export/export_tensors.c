/* io/export/export_tensors.c: assembles tensors from parameters. */
#include "io/export/export_tensors.h"

#include "base/buffer.h"

#include <stdio.h>

/* ---- the set -------------------------------------------------------------------------------------------------- */

rapt_code export_tensors_begin(export_tensors *set, const rapt_params *params, rapt_error *err)
{
    set->params = params;
    set->used = calloc(rapt_params_count(params) + 1, sizeof *set->used);
    return set->used ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a list of tensors", set->path);
}

void export_tensors_free(export_tensors *set)
{
    free(set->list);
    free(set->used);
}

static rapt_code export_put(export_tensors *set, const export_tensor *t, rapt_error *err)
{
    if (!ARRAY_RESERVE(&set->list, &set->capacity, set->count + 1))
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a list of tensors", set->path);
    set->list[set->count++] = *t;
    return RAPT_OK;
}

rapt_code export_tensors_add_number(export_tensors *set, const char *name, safetensors_dtype dtype, double number,
                                    rapt_error *err)
{
    export_tensor t = {.dtype = dtype, .number = number};
    snprintf(t.name, sizeof t.name, "%s", name);
    return export_put(set, &t, err);
}

rapt_code export_tensors_add_zeros(export_tensors *set, const char *name, size_t columns, rapt_error *err)
{
    export_tensor t = {.dtype = SAFETENSORS_F32, .ndim = 2, .shape = {1, columns}, .rows = {columns}};
    snprintf(t.name, sizeof t.name, "%s", name);
    return export_put(set, &t, err);
}

/* ---- names ---------------------------------------------------------------------------------------------------- */

typedef struct export_place {
    size_t layer;
    bool bias;
} export_place;

static void export_expand(const char *pattern, export_place at, char name[EXPORT_NAME])
{
    size_t used = 0;
    for (; *pattern && used < EXPORT_NAME - 1; pattern++) {
        char number[24], letter[2] = {*pattern, '\0'};
        const char *text = letter;
        snprintf(number, sizeof number, "%zu", at.layer);
        switch (*pattern) {
        case '#': text = number; break;
        case '@': text = at.bias ? "bias" : "weight"; break;
        case '%': text = at.bias ? "beta" : "gamma"; break;
        default: break;
        }
        used += (size_t)snprintf(name + used, EXPORT_NAME - used, "%s", text);
    }
}

/* In a tied model these names stand for one matrix. */
static const struct {
    const char *name, *shared;
} SHARED[] = {{"output.weight", "embedding.weight"},
              {"decoder.output.weight", "encoder.embedding.weight"},
              {"decoder.embedding.weight", "encoder.embedding.weight"}};

/* The parameter that is, or stands for, `name`; NULL: none. A block that uses one norm everywhere has only "norm1". */
static const rapt_param *export_find(const export_tensors *set, const char *name, unsigned how)
{
    char first[EXPORT_NAME];
    const rapt_param *p = rapt_params_find(set->params, name);
    snprintf(first, sizeof first, "%s", name);
    char *norm = strstr(first, ".norm");
    if (!p && norm && (norm[5] == '2' || norm[5] == '3')) {
        norm[5] = '1';
        p = rapt_params_find(set->params, first);
    }
    for (size_t i = 0; !p && how & EXPORT_SHARED && i < sizeof SHARED / sizeof *SHARED; i++)
        if (strcmp(SHARED[i].name, name) == 0)
            p = rapt_params_find(set->params, SHARED[i].shared);
    return p;
}

/* ---- one tensor ----------------------------------------------------------------------------------------------- */

/* Takes the parts and their rows; for a bias, which may be missing, the rows of the weights. */
static size_t export_take_parts(export_tensors *set, const export_name *n, export_place at, export_tensor *t, bool *any)
{
    char name[EXPORT_NAME];
    size_t rows = 0;
    *any = false;
    for (size_t i = 0; i < EXPORT_PARTS && n->ours[i]; i++) {
        export_expand(n->ours[i], (export_place){at.layer, false}, name);
        const rapt_param *weight = export_find(set, name, n->how), *p = weight;
        if (at.bias) {
            export_expand(n->ours[i], at, name);
            p = export_find(set, name, 0);
        }
        t->parts[i] = p;
        t->rows[i] = weight ? weight->value.shape[0] : 0;
        rows += t->rows[i];
        *any = *any || p;
    }
    return rows;
}

static void export_set_shape(export_tensor *t, size_t rows)
{
    const rapt_tensor *first = t->parts[0] ? &t->parts[0]->value : NULL;
    t->ndim = first && first->ndim == 2 ? 2 : 1;
    t->shape[0] = rows;
    t->shape[1] = t->ndim == 2 ? first->shape[1] : 1;
    if (t->ndim == 2 && t->how & EXPORT_TRANSPOSED) {
        t->shape[0] = t->shape[1];
        t->shape[1] = rows;
    }
    if (t->ndim == 1 && t->how & EXPORT_ROW) {
        t->ndim = 2;
        t->shape[0] = 1;
        t->shape[1] = rows;
    }
}

static rapt_code export_add_one(export_tensors *set, const export_name *n, export_place at, rapt_error *err)
{
    bool any;
    export_tensor t = {.dtype = SAFETENSORS_F32, .how = n->how};
    const size_t rows = export_take_parts(set, n, at, &t, &any);
    const bool zeros = at.bias && rows > 0 && (n->how & EXPORT_BIAS || (n->how & EXPORT_NORM && !set->rms));
    if (!any && !zeros)
        return RAPT_OK;
    export_set_shape(&t, rows);
    export_expand(n->theirs, at, t.name);
    for (size_t i = 0; i < EXPORT_PARTS; i++)
        if (t.parts[i])
            set->used[t.parts[i]->index] = true;
    return export_put(set, &t, err);
}

/* Whether the weight that a row names has a bias. */
static bool export_has_bias(const export_name *n)
{
    return strchr(n->theirs, '@') || strchr(n->theirs, '%');
}

static rapt_code export_add_row(export_tensors *set, const export_name *n, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t layer = 0; !code; layer++) {
        char name[EXPORT_NAME];
        const export_place at = {layer, false};
        export_expand(n->ours[0], at, name);
        if (layer > 0 && (!strchr(n->ours[0], '#') || !export_find(set, name, n->how)))
            break;
        code = export_add_one(set, n, at, err);
        if (!code && export_has_bias(n))
            code = export_add_one(set, n, (export_place){layer, true}, err);
    }
    return code;
}

rapt_code export_tensors_add(export_tensors *set, const export_name *names, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (; names->theirs && !code; names++)
        code = export_add_row(set, names, err);
    return code;
}

rapt_code export_tensors_check(const export_tensors *set, rapt_error *err)
{
    for (size_t i = 0; i < rapt_params_count(set->params); i++) {
        const rapt_param *p = rapt_params_at(set->params, i);
        if (!p->buffer && !set->used[i])
            return rapt_fail(err, RAPT_ERR_VALUE, "%s: the other program has no place for the parameter \"%s\"", set->path,
                             p->value.name);
    }
    return RAPT_OK;
}

/* ---- values --------------------------------------------------------------------------------------------------- */

size_t export_tensor_elements(const export_tensor *t)
{
    size_t count = 1;
    for (int i = 0; i < t->ndim; i++)
        count *= t->shape[i];
    return count;
}

/* The place of row i of a part among all rows. With EXPORT_BY_HEAD, the rows of a head are together, part after part. */
static size_t export_row_at(const export_tensors *set, const export_tensor *t, size_t part, size_t i)
{
    size_t before = 0, own = t->rows[part] / set->heads, all = 0;
    for (size_t k = 0; k < EXPORT_PARTS; k++) {
        before += k < part ? t->rows[k] : 0;
        all += t->rows[k];
    }
    if (!(t->how & EXPORT_BY_HEAD))
        return before + i;
    return i / own * (all / set->heads) + before / set->heads + i % own;
}

static void export_fill_part(const export_tensors *set, const export_tensor *t, size_t part, float *to)
{
    const rapt_tensor *from = t->parts[part] ? &t->parts[part]->value : NULL;
    const bool transposed = t->ndim == 2 && t->how & EXPORT_TRANSPOSED;
    const size_t all = export_tensor_elements(t), columns = from && from->ndim == 2 ? from->shape[1] : 1;
    for (size_t i = 0; i < t->rows[part]; i++) {
        const size_t row = export_row_at(set, t, part, i);
        const size_t source = set->order && t->how & EXPORT_OUT ? set->order[i] : i;
        for (size_t j = 0; j < columns; j++) {
            const size_t column = set->order && t->how & EXPORT_IN && columns > 1 ? set->order[j] : j;
            to[transposed ? j * (all / columns) + row : row * columns + j] =
                from ? (float)from->data[source * columns + column] : 0;
        }
    }
}

void export_tensor_fill(const export_tensors *set, const export_tensor *t, float *to)
{
    for (size_t part = 0; part < EXPORT_PARTS; part++)
        export_fill_part(set, t, part, to);
}

/* ---- rows ----------------------------------------------------------------------------------------------------- */

/* Feature `at` of a head, as a rotation of its pairs has it, among ours. */
static size_t export_rotated_feature(const export_tensors *set, unsigned how, size_t at)
{
    const size_t half = set->head_dim / 2, turned = set->rotary_dim / 2;
    if (how & EXPORT_PAIRS)
        return at % 2 * half + at / 2;
    if (at < 2 * turned)
        return at / turned * half + at % turned;
    at -= 2 * turned;
    return at / (half - turned) * half + turned + at % (half - turned);
}

/* Rapt's row of a part that belongs at row i; only queries and keys, which come first, are rotated. */
static size_t export_rotated_row(const export_tensors *set, const export_tensor *t, size_t part, size_t i)
{
    if (!(t->how & (EXPORT_PAIRS | EXPORT_TURNED)) || part == EXPORT_VALUE_PART || set->head_dim == 0)
        return i;
    return i / set->head_dim * set->head_dim + export_rotated_feature(set, t->how, i % set->head_dim);
}

static void export_put_row(const export_tensors *set, const export_tensor *t, size_t row, float *to)
{
    const size_t columns = t->ndim == 2 ? t->shape[1] : 1;
    size_t part = 0;
    for (; part < EXPORT_PARTS - 1 && row >= t->rows[part]; part++)
        row -= t->rows[part];
    const rapt_tensor *from = t->parts[part] ? &t->parts[part]->value : NULL;
    const size_t source = export_rotated_row(set, t, part, row);
    for (size_t j = 0; j < columns; j++)
        to[j] = from ? (float)from->data[source * columns + j] : 0;
}

void export_tensor_rows(const export_tensors *set, const export_tensor *t, size_t first, size_t count, float *to)
{
    const size_t columns = t->ndim == 2 ? t->shape[1] : 1;
    for (size_t i = 0; i < count; i++)
        export_put_row(set, t, first + i, to + i * columns);
}
