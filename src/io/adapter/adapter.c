/* io/adapter/adapter.c: reads a folder of adapters. Tensors are named "base_model.model.MODULE.lora_A.weight" and
 * "....lora_B.weight", with DoRA also "....lora_magnitude_vector"; a module that was saved whole, "....weight". */
#include "io/adapter/adapter.h"

#include "base/buffer.h"
#include "base/chars.h"
#include "base/file.h"
#include "base/min.h"
#include "base/quote.h"
#include "io/adapter/adapter_config.h"
#include "io/json_file.h"
#include "io/weights/weights.h"
#include "nn/lora.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CONFIG_MAX ((size_t)1 << 20)
#define TILE 256 /* columns of a row that are added up together */
/* Modules of an adapter, each of which is looked for among those before; bytes of a name; and comparisons with patterns. */
#define MODULES_MAX ((size_t)8192)
#define MODULE_BYTES ((size_t)512)
#define COMPARISONS_MAX ((size_t)1 << 19)

struct adapter {
    char *config_path, *weights_path, *base;
    adapter_layer *layers;
    size_t count, capacity;
    bool stable;
};

/* ---- reading ------------------------------------------------------------------------------------------------------ */

/* The rank and the alpha of a module. */
static rapt_code adapter_layer_begin(adapter *a, adapter_layer *l, const adapter_config *c, rapt_error *err)
{
    rapt_error own = {0};
    double rank = (double)c->rank;
    l->alpha = c->alpha;
    rapt_code code = adapter_patterns_find(&c->ranks, l->module, &rank, &own);
    code = code ? code : adapter_patterns_find(&c->alphas, l->module, &l->alpha, &own);
    l->rank = (size_t)rank;
    l->scale = lora_scale_of(l->rank, l->alpha, c->rslora);
    return code ? rapt_fail(err, code, "%s: %s", a->config_path, own.message) : RAPT_OK;
}

static rapt_code adapter_layer_of(adapter *a, const char *module, size_t length, const adapter_config *c, adapter_layer **out,
                                  rapt_error *err)
{
    for (size_t i = 0; i < a->count; i++)
        if (strncmp(a->layers[i].module, module, length) == 0 && a->layers[i].module[length] == '\0') {
            *out = &a->layers[i];
            return RAPT_OK;
        }
    const size_t most = MIN(MODULES_MAX, COMPARISONS_MAX / (c->ranks.count + c->alphas.count + 1));
    if (length > MODULE_BYTES || a->count == most)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: more than %zu %s", a->weights_path,
                         length > MODULE_BYTES ? MODULE_BYTES : most,
                         length > MODULE_BYTES ? "bytes in the name of a module" : "modules with adapters");
    if (!ARRAY_RESERVE(&a->layers, &a->capacity, a->count + 1))
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for an adapter", a->weights_path);
    *out = &a->layers[a->count];
    **out = (adapter_layer){.module = chars_copy_part(module, length)};
    if (!(*out)->module)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for an adapter", a->weights_path);
    a->count++;
    return adapter_layer_begin(a, *out, c, err);
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

/* What a tensor is of its module, by the end of its name. */
typedef enum adapter_part { PART_A, PART_B, PART_MAGNITUDE, PART_WHOLE, PARTS } adapter_part;

static const struct {
    const char *end, *shape;
    int ndim;
} PART[PARTS] = {{".lora_A.weight", "[r, in]", 2}, {".lora_B.weight", "[out, r]", 2}, {".lora_magnitude_vector", "[out]", 1},
                 {".weight", "[out, in]", 2}};

/* The part of a tensor, and the length of its module's name. PARTS: of none. */
static adapter_part adapter_part_of(const char *name, const adapter_config *c, size_t *module)
{
    const size_t prefix = sizeof ADAPTER_PREFIX - 1, length = strlen(name);
    if (strncmp(name, ADAPTER_PREFIX, prefix) != 0)
        return PARTS;
    for (size_t i = 0; i < PARTS; i++) {
        const size_t end = strlen(PART[i].end);
        if (length <= prefix + end || strcmp(name + length - end, PART[i].end) != 0)
            continue;
        *module = length - prefix - end;
        const bool there = i == PART_MAGNITUDE ? c->dora : i != PART_WHOLE || adapter_config_saves(c, name + prefix, *module);
        return there ? (adapter_part)i : PARTS;
    }
    return PARTS;
}

/* Puts values into their place, which must be empty. */
static void adapter_put(adapter_layer *l, adapter_part part, const size_t *shape, float *values)
{
    float **const places[PARTS] = {&l->a, &l->b, &l->magnitude, &l->whole};
    *places[part] = values;
    if (part == PART_A || part == PART_WHOLE)
        l->in = shape[1];
    if (part == PART_B || part == PART_WHOLE)
        l->out = shape[0];
    if (part == PART_MAGNITUDE)
        l->magnitudes = shape[0];
}

static rapt_code adapter_read_tensor(adapter *a, const weights *w, const weights_tensor *t, const adapter_config *c,
                                     rapt_error *err)
{
    char is[WEIGHTS_SHAPE_TEXT];
    size_t module = 0;
    const adapter_part part = adapter_part_of(t->name, c, &module);
    if (part == PARTS)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" is no matrix of an adapter, " ADAPTER_PREFIX
                         "MODULE.lora_A.weight or .lora_B.weight", a->weights_path, quote(t->name).text);
    adapter_layer *l = NULL;
    rapt_code code = adapter_layer_of(a, t->name + sizeof ADAPTER_PREFIX - 1, module, c, &l, err);
    if (code)
        return code;
    const bool ranks = part == PART_A || part == PART_B;
    if (t->ndim != PART[part].ndim || t->elements == 0 || (ranks && t->shape[part == PART_A ? 0 : 1] != l->rank))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" has the shape %s; with \"r\" %zu it is %s", a->weights_path,
                         quote(t->name).text, weights_shape_text(t->shape, t->ndim, is), l->rank, PART[part].shape);
    float *values = NULL;
    code = adapter_values(w, t, &values, err);
    if (!code)
        adapter_put(l, part, t->shape, values);
    return code;
}

static rapt_code adapter_check_layer(const adapter *a, const adapter_layer *l, bool dora, rapt_error *err)
{
    const bool short_of = dora && !l->magnitude;
    const char *missing = !l->a ? PART[PART_A].end : !l->b ? PART[PART_B].end : short_of ? PART[PART_MAGNITUDE].end : NULL;
    if (l->whole && (l->a || l->b || l->magnitude))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"%s\" is saved whole, and has an adapter, too", a->weights_path,
                         quote(l->module).text);
    if (!l->whole && missing)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: tensor \"" ADAPTER_PREFIX "%s%s\" is missing", a->weights_path,
                         quote(l->module).text, missing);
    if (l->magnitude && l->magnitudes != l->out)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"%s\" has %zu magnitudes for %zu rows", a->weights_path,
                         quote(l->module).text, l->magnitudes, l->out);
    return RAPT_OK;
}

static rapt_code adapter_check_layers(const adapter *a, bool dora, rapt_error *err)
{
    for (size_t i = 0; i < a->count; i++)
        if (adapter_check_layer(a, &a->layers[i], dora, err) != RAPT_OK)
            return RAPT_ERR_FORMAT;
    return adapter_first(a) ? RAPT_OK : rapt_fail(err, RAPT_ERR_FORMAT, "%s: it has no tensors of adapters", a->weights_path);
}

static rapt_code adapter_read(adapter *a, rapt_error *err)
{
    adapter_config c = {.base = ""};
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
        code = adapter_check_layers(a, c.dora, err);
    a->stable = c.rslora;
    adapter_config_end(&c);
    weights_close(w);
    json_decref(root);
    return code;
}

rapt_code adapter_weights_path(const char *folder, char **path, rapt_error *err)
{
    bool safe = false, torch = false;
    rapt_code code = file_is_in(folder, ADAPTER_WEIGHTS, &safe, err);
    if (!code && !safe)
        code = file_is_in(folder, ADAPTER_TORCH, &torch, err);
    return code ? code : file_path(folder, torch ? ADAPTER_TORCH : ADAPTER_WEIGHTS, path, err);
}

rapt_code adapter_open(const char *folder, adapter **out, rapt_error *err)
{
    adapter *a = *out = calloc(1, sizeof *a);
    if (!a)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for an adapter", folder);
    rapt_error own = {0};
    rapt_code code = file_path(folder, ADAPTER_CONFIG, &a->config_path, &own);
    if (!code)
        code = adapter_weights_path(folder, &a->weights_path, &own);
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
        free(a->layers[i].magnitude);
        free(a->layers[i].whole);
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

const adapter_layer *adapter_first(const adapter *a)
{
    for (size_t i = 0; i < a->count; i++)
        if (a->layers[i].a)
            return &a->layers[i];
    return NULL;
}

const adapter_layer *adapter_first_whole(const adapter *a)
{
    for (size_t i = 0; i < a->count; i++)
        if (a->layers[i].whole)
            return &a->layers[i];
    return NULL;
}

bool adapter_is_stable(const adapter *a)
{
    return a->stable;
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

static bool adapter_same_whole(const adapter_layer *a, const adapter_layer *b)
{
    return a->out == b->out && a->in == b->in && memcmp(a->whole, b->whole, a->out * a->in * sizeof *a->whole) == 0;
}

rapt_code adapter_check_tied(adapter *a, rapt_error *err)
{
    adapter_layer *whole[2] = {NULL, NULL};
    size_t count = 0;
    for (size_t i = 0; a && i < a->count; i++)
        if (a->layers[i].whole && count++ < 2)
            whole[count - 1] = &a->layers[i];
    if (count == 0)
        return RAPT_OK;
    if (count != 2 || !adapter_same_whole(whole[0], whole[1]))
        return rapt_fail(err, RAPT_ERR_VALUE, "the adapter saves \"%s\" whole (modules_to_save); the model's embedding and "
                         "output are one matrix, of which rapt takes two equal ones (ensure_weight_tying)",
                         quote(whole[0]->module).text);
    whole[0]->taken = whole[1]->taken = whole[0]->taken || whole[1]->taken;
    return RAPT_OK;
}

rapt_code adapter_check_taken(const adapter *a, rapt_error *err)
{
    for (size_t i = 0; a && i < a->count; i++)
        if (!a->layers[i].taken)
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s: the model has no linear layer \"%s\", for which there is an adapter",
                             a->weights_path, quote(a->layers[i].module).text);
    return RAPT_OK;
}

/* sum[j] = (W + scale b a)[row][column + j], where `w` is row `row` of W from `column` on. */
static void adapter_sum_tile(const adapter_layer *l, size_t row, size_t column, size_t n, const float *w, double *sum)
{
    double product[TILE] = {0};
    for (size_t k = 0; k < l->rank; k++) {
        const double b = l->b[row * l->rank + k];
        const float *a = l->a + k * l->in + column;
        for (size_t j = 0; j < n; j++)
            product[j] += b * a[j];
    }
    for (size_t j = 0; j < n; j++)
        sum[j] = w[j] + l->scale * product[j];
}

/* The factor of a row, which gives it its magnitude as its length; a row of zeros has none, and stays. */
static double adapter_row_factor(const adapter_layer *l, size_t row, const float *w)
{
    double sum[TILE], squares = 0;
    if (!l->magnitude)
        return 1;
    for (size_t j = 0; j < l->in; j += TILE) {
        const size_t n = MIN(TILE, l->in - j);
        adapter_sum_tile(l, row, j, n, w + j, sum);
        for (size_t k = 0; k < n; k++)
            squares += sum[k] * sum[k];
    }
    return squares > 0 ? l->magnitude[row] / sqrt(squares) : 1;
}

static void adapter_change_row(const adapter_layer *l, size_t row, float *to)
{
    double sum[TILE];
    if (l->whole) {
        memcpy(to, l->whole + row * l->in, l->in * sizeof *to);
        return;
    }
    const double factor = adapter_row_factor(l, row, to);
    for (size_t j = 0; j < l->in; j += TILE) {
        const size_t n = MIN(TILE, l->in - j);
        adapter_sum_tile(l, row, j, n, to + j, sum);
        for (size_t k = 0; k < n; k++)
            to[j + k] = (float)(factor * sum[k]);
    }
}

void adapter_change_rows(const adapter_layer *l, size_t first, size_t count, float *to)
{
    for (size_t i = 0; i < count; i++)
        adapter_change_row(l, first + i, to + i * l->in);
}
