/* io/hub/hub_weights.c: see hub_weights.h. Names are translated by the family's patterns; a matrix may hold several of ours. */
#include "io/hub/hub_weights.h"

#include "base/quote.h"
#include "io/hub/hub_slice.h"
#include "nn/block.h"
#include "tensor/param_source.h"
#include "tensor/params.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME 256

typedef struct hub_filling {
    rapt_params *params;
    const rapt_block_config *block;
    const hub_family *family;
    const weights *w;
    const char *folder;
    bool *used; /* [weights_count] */
    rapt_error *err;
} hub_filling;

/* ---- names ---------------------------------------------------------------------------------------------------- */

/* What "#" and "@" of a pattern stand for. */
typedef struct hub_match {
    char layer[16];
    const char *last; /* "weight" or "bias" */
} hub_match;

static bool hub_matches(const char *pattern, const char *name, hub_match *m)
{
    for (; *pattern; pattern++) {
        if (*pattern == '@') {
            m->last = name;
            return strcmp(name, "weight") == 0 || strcmp(name, "bias") == 0;
        }
        if (*pattern == '#') {
            size_t digits = strspn(name, "0123456789");
            if (digits == 0 || digits >= sizeof m->layer)
                return false;
            memcpy(m->layer, name, digits);
            m->layer[digits] = '\0';
            name += digits;
        } else if (*pattern != *name++) {
            return false;
        }
    }
    return *name == '\0';
}

static void hub_expand(const char *pattern, const hub_match *m, char name[NAME])
{
    size_t used = 0;
    for (; *pattern && used < NAME - 1; pattern++) {
        const char letter[2] = {*pattern, '\0'}, *text = *pattern == '#' ? m->layer : *pattern == '@' ? m->last : letter;
        used += (size_t)snprintf(name + used, NAME - used, "%s", text);
    }
}

/* Whether the tensor of a row belongs to it, and not to the parameter of an earlier row. */
static bool hub_is_owner(const hub_filling *f, const hub_name *n, const hub_match *m)
{
    char ours[NAME];
    for (const hub_name *other = f->family->names; other < n && n->part == HUB_WHOLE; other++) {
        hub_expand(other->ours, m, ours);
        if (strcmp(other->theirs, n->theirs) == 0 && params_find(f->params, ours))
            return false;
    }
    return true;
}

/* The row behind `last` (NULL: the first one) for a parameter; NULL: there is no other. */
static const hub_name *hub_next_name(const hub_filling *f, const hub_name *last, const char *ours, hub_match *m)
{
    for (const hub_name *n = last ? last + 1 : f->family->names; n->ours; n++)
        if (hub_matches(n->ours, ours, m) && hub_is_owner(f, n, m))
            return n;
    return NULL;
}

/* Without the prefix of the model with head. */
static const char *hub_bare(const hub_family *family, const char *name)
{
    size_t length = strlen(family->prefix);
    return strncmp(name, family->prefix, length) == 0 ? name + length : name;
}

/* With the prefix; those of the head have none. */
static void hub_whole(const hub_filling *f, const char *bare, char whole[NAME])
{
    const bool head = strncmp(bare, "lm_head.", 8) == 0 || strncmp(bare, "embed_out.", 10) == 0 ||
                      strcmp(bare, "final_logits_bias") == 0;
    snprintf(whole, NAME, "%s%s", head ? "" : f->family->prefix, bare);
}

/* The tensor of a row; NULL: there is none. */
static const weights_tensor *hub_find(const hub_filling *f, const hub_name *n, const hub_match *m)
{
    char bare[NAME], whole[NAME];
    hub_expand(n->theirs, m, bare);
    hub_whole(f, bare, whole);
    const weights_tensor *t = weights_find(f->w, whole);
    return t ? t : weights_find(f->w, bare);
}

static rapt_code hub_fail_missing(const hub_filling *f, const char *ours)
{
    char bare[NAME], whole[NAME];
    hub_match m = {.last = ""};
    const hub_name *n = hub_next_name(f, NULL, ours, &m);
    if (!n)
        return rapt_fail(f->err, RAPT_ERR_FORMAT, "%s: models of type %s have no %s", f->folder, f->family->type, ours);
    hub_expand(n->theirs, &m, bare);
    hub_whole(f, bare, whole);
    return rapt_fail(f->err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" is missing, which is %s of the model", f->folder, whole, ours);
}

/* ---- values --------------------------------------------------------------------------------------------------- */

/* Rows of the matrix that holds a part of `own` rows. */
static size_t hub_rows_of(const rapt_block_config *c, hub_part part, size_t own)
{
    switch (part) {
    case HUB_QUERY:
    case HUB_KEY:
    case HUB_VALUE: return block_head_features(c) * c->heads + 2 * block_kv_features(c);
    case HUB_FIRST_HALF:
    case HUB_SECOND_HALF: return 2 * own;
    case HUB_HEAD_QUERY:
    case HUB_HEAD_KEY:
    case HUB_HEAD_VALUE: return 3 * own;
    case HUB_BEHIND_TWO: return own + 2;
    case HUB_WHOLE:
    case HUB_ONE_ROW: break;
    }
    return own;
}

/* The rows of the tensor that are ours. */
static hub_slice hub_slice_of(const hub_filling *f, const hub_name *n, const weights_tensor *t, const rapt_tensor *ours)
{
    const size_t d = block_head_features(f->block), q = d * f->block->heads, kv = block_kv_features(f->block);
    const bool matrix = ours->ndim == 2, by_head = n->part >= HUB_HEAD_QUERY && n->part <= HUB_HEAD_VALUE;
    hub_slice s = {.w = f->w, .t = t, .columns = matrix ? ours->shape[1] : 1};
    s.transposed = (n->fold == HUB_TRANSPOSED && matrix) || n->part == HUB_ONE_ROW;
    s.plus_one = n->fold == HUB_PLUS_ONE;
    s.turned = n->fold == HUB_ROTARY ? f->block->rotary_dim : 0;
    s.head = by_head || s.turned ? d : 0;
    s.step = by_head ? 3 * d : d;
    switch (n->part) {
    case HUB_KEY: s.first = q; break;
    case HUB_VALUE: s.first = q + kv; break;
    case HUB_SECOND_HALF: s.first = ours->shape[0]; break;
    case HUB_HEAD_KEY: s.first = d; break;
    case HUB_HEAD_VALUE: s.first = 2 * d; break;
    case HUB_BEHIND_TWO: s.first = 2; break;
    case HUB_QUERY:
    case HUB_FIRST_HALF:
    case HUB_HEAD_QUERY:
    case HUB_WHOLE:
    case HUB_ONE_ROW: break;
    }
    return s;
}

static rapt_code hub_check_shape(const hub_filling *f, const weights_tensor *t, const rapt_tensor *ours, const hub_name *n,
                                size_t rows)
{
    const int ndim = n->part == HUB_ONE_ROW ? 2 : ours->ndim;
    size_t shape[RAPT_MAX_DIMS] = {rows, ours->ndim == 2 ? ours->shape[1] : 1};
    if (n->part == HUB_ONE_ROW || (ours->ndim == 2 && n->fold == HUB_TRANSPOSED)) {
        shape[0] = shape[1];
        shape[1] = rows;
    }
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

/* A matrix of a model for inference stays in the file until somebody needs it; all else is read at once. */
static void hub_set(const hub_filling *f, rapt_param *p, hub_slice slice)
{
    const bool later = rapt_params_seed(f->params) == RAPT_SEED_UNSET && p->value.ndim == 2 && !p->buffer;
    hub_slice *kept = later ? rapt_params_alloc(f->params, 1, sizeof *kept) : NULL;
    if (kept) {
        *kept = slice;
        param_source_set(f->params, p, hub_slice_read, hub_slice_leave, kept);
    } else {
        hub_slice_read(&slice, 0, p->value.shape[0], p->value.data);
    }
    hub_slice_leave(&slice);
}

static rapt_code hub_take(hub_filling *f, const hub_name *n, const weights_tensor *t, rapt_param *p)
{
    const hub_slice slice = hub_slice_of(f, n, t, &p->value);
    rapt_code code = hub_check_shape(f, t, &p->value, n, hub_rows_of(f->block, n->part, p->value.shape[0]));
    if (!code && t->dtype == SAFETENSORS_F64)
        code = rapt_fail(f->err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" is F64; rapt reads weights of F32, F16 and BF16",
                         weights_file_path(f->w, t->file), quote(t->name).text);
    if (!code)
        code = weights_check_real(f->w, t, f->err);
    if (!code && (slice.first == 0 || n->part == HUB_BEHIND_TWO))
        code = weights_check_finite(f->w, t, f->err);
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
    const hub_slice slice = {f->w, t, 0, width, false};
    rapt_real *two = malloc(2 * width * sizeof *two);
    if (!two)
        return rapt_fail(f->err, RAPT_ERR_MEMORY, "%s: out of memory for a row", f->folder);
    for (size_t i = 0; i < rows && *same; i++) {
        hub_slice_read(&slice, i, 1, two);
        if (param_has_source(p))
            param_source_read(p, i, 1, two + width);
        *same = memcmp(two, param_has_source(p) ? two + width : p->value.data + i * width, width * sizeof *two) == 0;
    }
    free(two);
    return RAPT_OK;
}

/* A matrix that config.json ties to another is in the files once, or several times. */
static rapt_code hub_check_copy(hub_filling *f, const weights_tensor *t, const rapt_param *p)
{
    bool same = true;
    rapt_code code = hub_check_shape(f, t, &p->value, &(hub_name){.part = HUB_WHOLE}, p->value.shape[0]);
    code = code ? code : weights_check_real(f->w, t, f->err);
    code = code ? code : hub_compare(f, t, p, &same);
    if (code || same)
        return code;
    return rapt_fail(f->err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" is not the embedding, to which config.json ties it",
                     weights_file_path(f->w, t->file), quote(t->name).text);
}

static rapt_code hub_fill_param(hub_filling *f, rapt_param *p)
{
    hub_match m = {.last = ""};
    bool filled = false;
    rapt_code code = RAPT_OK;
    for (const hub_name *n = NULL; !code && (n = hub_next_name(f, n, p->value.name, &m)) != NULL;) {
        const weights_tensor *t = hub_find(f, n, &m);
        if (t)
            code = filled ? hub_check_copy(f, t, p) : hub_take(f, n, t, p);
        filled = filled || t || n->part == HUB_ONE_ROW; /* vectors begin as zeros */
        hub_mark_used(f, t);
    }
    return code || filled || p->buffer ? code : hub_fail_missing(f, p->value.name);
}

/* ---- what is left over ---------------------------------------------------------------------------------------- */

static bool hub_is_unused(const hub_family *family, const char *bare)
{
    hub_match m;
    for (const char *const *p = family->unused; *p; p++)
        if (hub_matches(*p, bare, &m))
            return true;
    return false;
}

static rapt_code hub_check_left_over(hub_filling *f)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < weights_count(f->w) && !code; i++) {
        const weights_tensor *t = weights_at(f->w, i);
        if (f->used[i] || hub_is_unused(f->family, hub_bare(f->family, t->name)))
            continue;
        code = rapt_fail(f->err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" does not belong to a model of type %s with this "
                         "config.json", weights_file_path(f->w, t->file), quote(t->name).text, f->family->type);
    }
    return code;
}

/* ---- all ------------------------------------------------------------------------------------------------------ */

rapt_code hub_check_numbers(const weights *w, double bytes, const char *folder, rapt_error *err)
{
    const double numbers = bytes / sizeof(rapt_real);
    if ((double)weights_parameters(w) >= numbers)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_FORMAT, "%s: the files of tensors hold %zu numbers; the model of config.json takes more than "
                     "%.0f", folder, weights_parameters(w), numbers);
}

rapt_code hub_fill(rapt_params *params, const rapt_block_config *block, const hub_family *family, const weights *w,
                   const char *folder, rapt_error *err)
{
    hub_filling f = {params, block, family, w, folder, NULL, err};
    rapt_code code = RAPT_OK;
    f.used = calloc(weights_count(w) + 1, sizeof *f.used);
    if (!f.used)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a tensor", folder);
    for (size_t i = 0; i < rapt_params_count(params) && !code; i++)
        code = hub_fill_param(&f, params_at(params, i));
    code = code ? code : hub_check_left_over(&f);
    free(f.used);
    if (!code && rapt_params_error(params)->code)
        code = rapt_fail(err, rapt_params_error(params)->code, "%s", rapt_params_error(params)->message);
    return code;
}
