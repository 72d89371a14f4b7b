/* io/adapter/adapter.c: reads a folder of adapters. Tensors are named "base_model.model.MODULE.lora_A.weight" and
 * "....lora_B.weight". */
#include "io/adapter/adapter.h"

#include "base/buffer.h"
#include "base/chars.h"
#include "base/file.h"
#include "base/quote.h"
#include "io/adapter/adapter_config.h"
#include "io/json_file.h"
#include "io/weights/weights.h"

#include <stdlib.h>
#include <string.h>

#define CONFIG_MAX ((size_t)1 << 20)
#define TILE 256 /* columns of a row that are added up together */

struct adapter {
    char *config_path, *weights_path, *base;
    adapter_layer *layers;
    size_t count, capacity;
};

/* ---- reading ------------------------------------------------------------------------------------------------------ */

static adapter_layer *adapter_layer_of(adapter *a, const char *module, size_t length)
{
    for (size_t i = 0; i < a->count; i++)
        if (strncmp(a->layers[i].module, module, length) == 0 && a->layers[i].module[length] == '\0')
            return &a->layers[i];
    if (!ARRAY_RESERVE(&a->layers, &a->capacity, a->count + 1))
        return NULL;
    a->layers[a->count] = (adapter_layer){.module = chars_copy_part(module, length)};
    return a->layers[a->count].module ? &a->layers[a->count++] : NULL;
}

static rapt_code adapter_values(const weights *w, const weights_tensor *t, float **out, rapt_error *err)
{
    float *values = malloc(t->elements * sizeof *values);
    if (!values)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a tensor", weights_file_path(w, t->file));
    rapt_code code = weights_check_finite(w, t, NULL, err);
    code = code ? code : weights_read(w, t, values, err);
    if (code)
        free(values);
    else
        *out = values;
    return code;
}

/* One tensor of the file, which must be one of the two matrices of a layer. */
static rapt_code adapter_read_tensor(adapter *a, const weights *w, const weights_tensor *t, const adapter_config *c,
                                     rapt_error *err)
{
    const size_t prefix = sizeof ADAPTER_PREFIX - 1, suffix = sizeof ".lora_A.weight" - 1, length = strlen(t->name);
    const char *end = length > prefix + suffix ? t->name + length - suffix : "";
    const bool down = strcmp(end, ".lora_A.weight") == 0, up = strcmp(end, ".lora_B.weight") == 0;
    if (strncmp(t->name, ADAPTER_PREFIX, prefix) != 0 || (!down && !up))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" is no matrix of an adapter, " ADAPTER_PREFIX
                         "MODULE.lora_A.weight or .lora_B.weight", a->weights_path, quote(t->name).text);
    char is[WEIGHTS_SHAPE_TEXT];
    if (t->ndim != 2 || t->elements == 0 || t->shape[down ? 0 : 1] != c->rank)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" has the shape %s; with \"r\" %zu it is %s", a->weights_path,
                         quote(t->name).text, weights_shape_text(t->shape, t->ndim, is), c->rank,
                         down ? "[r, in]" : "[out, r]");
    adapter_layer *l = adapter_layer_of(a, t->name + prefix, length - prefix - suffix);
    if (!l)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for an adapter", a->weights_path);
    float *values = NULL;
    rapt_code code = adapter_values(w, t, &values, err);
    if (code)
        return code;
    l->rank = c->rank;
    l->alpha = c->alpha;
    l->scale = c->alpha / (double)c->rank;
    if (down)
        l->a = values, l->in = t->shape[1];
    else
        l->b = values, l->out = t->shape[0];
    return RAPT_OK;
}

static rapt_code adapter_check_pairs(const adapter *a, rapt_error *err)
{
    for (size_t i = 0; i < a->count; i++)
        if (!a->layers[i].a || !a->layers[i].b)
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s: tensor \"" ADAPTER_PREFIX "%s.lora_%s.weight\" is missing",
                             a->weights_path, quote(a->layers[i].module).text, a->layers[i].a ? "B" : "A");
    return a->count > 0 ? RAPT_OK : rapt_fail(err, RAPT_ERR_FORMAT, "%s: it has no tensors", a->weights_path);
}

static rapt_code adapter_read(adapter *a, rapt_error *err)
{
    adapter_config c;
    weights *w = NULL;
    json_t *root = json_file_read(a->config_path, CONFIG_MAX, err);
    rapt_code code = root ? adapter_config_read(root, a->config_path, &c, err) : RAPT_ERR_FORMAT;
    if (!code && !(a->base = chars_copy(c.base)))
        code = rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory", a->config_path);
    if (!code)
        code = weights_open(a->weights_path, &w, err);
    for (size_t i = 0; !code && i < weights_count(w); i++)
        code = adapter_read_tensor(a, w, weights_at(w, i), &c, err);
    if (!code)
        code = adapter_check_pairs(a, err);
    weights_close(w);
    json_decref(root);
    return code;
}

rapt_code adapter_open(const char *folder, adapter **out, rapt_error *err)
{
    adapter *a = *out = calloc(1, sizeof *a);
    if (!a)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for an adapter", folder);
    rapt_error own = {0};
    rapt_code code = file_path(folder, ADAPTER_CONFIG, &a->config_path, &own);
    if (!code)
        code = file_path(folder, ADAPTER_WEIGHTS, &a->weights_path, &own);
    if (!code && adapter_read(a, &own) == RAPT_OK)
        return RAPT_OK;
    adapter_close(a);
    *out = NULL;
    return rapt_fail(err, own.code, "%s", own.message);
}

void adapter_close(adapter *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->count; i++) {
        free(a->layers[i].module);
        free(a->layers[i].a);
        free(a->layers[i].b);
    }
    free(a->layers);
    free(a->config_path);
    free(a->weights_path);
    free(a->base);
    free(a);
}

size_t adapter_count(const adapter *a)
{
    return a->count;
}

const adapter_layer *adapter_at(const adapter *a, size_t i)
{
    return &a->layers[i];
}

const char *adapter_base(const adapter *a)
{
    return a->base;
}

/* ---- adding ------------------------------------------------------------------------------------------------------- */

rapt_code adapter_take(adapter *a, const char *tensor, size_t out, size_t in, const adapter_layer **layer, rapt_error *err)
{
    const size_t suffix = sizeof ".weight" - 1, length = strlen(tensor);
    *layer = NULL;
    if (!a || length <= suffix || strcmp(tensor + length - suffix, ".weight") != 0)
        return RAPT_OK;
    for (size_t i = 0; i < a->count && !*layer; i++)
        if (strncmp(a->layers[i].module, tensor, length - suffix) == 0 && a->layers[i].module[length - suffix] == '\0') {
            *layer = &a->layers[i];
            a->layers[i].taken = true;
        }
    if (!*layer || ((*layer)->out == out && (*layer)->in == in))
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_FORMAT, "%s: the adapter of \"%s\" is for a matrix [%zu, %zu]; the model's is [%zu, %zu]",
                     a->weights_path, quote((*layer)->module).text, (*layer)->out, (*layer)->in, out, in);
}

rapt_code adapter_check_taken(const adapter *a, rapt_error *err)
{
    for (size_t i = 0; a && i < a->count; i++)
        if (!a->layers[i].taken)
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s: the model has no linear layer \"%s\", for which there is an adapter",
                             a->weights_path, quote(a->layers[i].module).text);
    return RAPT_OK;
}

/* to[0 .. n-1] += scale (b a)[row][column .. column + n-1] */
static void adapter_add_tile(const adapter_layer *l, size_t row, size_t column, size_t n, float *to)
{
    double sum[TILE] = {0};
    for (size_t k = 0; k < l->rank; k++) {
        const double b = l->b[row * l->rank + k];
        const float *a = l->a + k * l->in + column;
        for (size_t j = 0; j < n; j++)
            sum[j] += b * a[j];
    }
    for (size_t j = 0; j < n; j++)
        to[j] = (float)(to[j] + l->scale * sum[j]);
}

void adapter_add_rows(const adapter_layer *l, size_t first, size_t count, float *to)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < l->in; j += TILE)
            adapter_add_tile(l, first + i, j, l->in - j < TILE ? l->in - j : TILE, to + i * l->in + j);
}
