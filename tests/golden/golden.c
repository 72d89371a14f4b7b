/* tests/golden/golden.c: golden files. For the golden tests. Knows no module: only names, tensors and how to compare them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "golden.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef RAPT_SOURCE_DIR
#define RAPT_SOURCE_DIR "."
#endif

/* ---- files and cases -------------------------------------------------------------------------------------- */

static void find_cases(golden *g)
{
    for (size_t i = 0; i < safetensors_count(g->tensors); i++) {
        const char *name = safetensors_at(g->tensors, i)->name;
        size_t n = strcspn(name, "/"), known = 0;
        while (known < g->case_count && (strncmp(g->cases[known], name, n) != 0 || g->cases[known][n]))
            known++;
        if (known < g->case_count)
            continue;
        assert_true(n < sizeof *g->cases && g->case_count < GOLDEN_MAX_CASES);
        memcpy(g->cases[g->case_count++], name, n);
    }
}

golden *golden_open(const char *file)
{
    char path[512];
    rapt_error err = {0};
    golden *g = calloc(1, sizeof *g);
    assert_non_null(g);
    g->file = file;
    snprintf(path, sizeof path, "%s/tests/golden/%s.safetensors", RAPT_SOURCE_DIR, file);
    if (safetensors_open(path, &g->tensors, &err))
        fail_msg("%s", err.message);
    g->used = calloc(safetensors_count(g->tensors), sizeof *g->used);
    g->tape = rapt_tape_new(NULL, &err);
    if (!g->used || !g->tape)
        fail_msg("%s", err.message);
    find_cases(g);
    return g;
}

void golden_close(golden *g)
{
    for (size_t i = 0; i < safetensors_count(g->tensors); i++)
        if (!g->used[i])
            fail_msg("%s.safetensors: nothing looks at %s", g->file, safetensors_at(g->tensors, i)->name);
    assert_true(g->case_count > 0);
    print_message("%-20s %2zu cases, outputs within %.1e, gradients within %.1e (%s)\n", g->file, g->case_count,
                  g->worst_output, g->worst_gradient, rapt_tape_isa(g->tape));
    rapt_params_free(g->set);
    rapt_tape_free(g->tape);
    safetensors_close(g->tensors);
    free(g->used);
    free(g);
}

void golden_again(golden *g, bool record)
{
    rapt_error err = {0};
    rapt_params_free(g->set);
    g->set = rapt_params_new(1, &err);
    assert_non_null(g->set);
    g->input_count = 0;
    rapt_tape_begin(g->tape, (rapt_pass){.record = record, .training = record});
}

bool golden_next(golden *g)
{
    if (g->next_case == g->case_count)
        return false;
    g->name = g->cases[g->next_case++];
    golden_again(g, true);
    return true;
}

/* ---- tensors of a case ------------------------------------------------------------------------------------ */

const safetensors_entry *golden_find(golden *g, const char *name)
{
    size_t n = strlen(g->name);
    for (size_t i = 0; i < safetensors_count(g->tensors); i++) {
        const safetensors_entry *e = safetensors_at(g->tensors, i);
        if (strncmp(e->name, g->name, n) != 0 || e->name[n] != '/' || strcmp(e->name + n + 1, name) != 0)
            continue;
        g->used[i] = true;
        return e;
    }
    return NULL;
}

const safetensors_entry *golden_get(golden *g, const char *name)
{
    const safetensors_entry *e = golden_find(g, name);
    if (!e)
        fail_msg("%s.safetensors: no %s/%s", g->file, g->name, name);
    return e;
}

static size_t count_of(const safetensors_entry *e)
{
    return e->bytes / safetensors_dtype_bytes(e->dtype);
}

double golden_at(const safetensors_entry *e, size_t i)
{
    assert_true(i < count_of(e));
    switch (e->dtype) {
    case SAFETENSORS_F32: return (double)((const float *)e->data)[i];
    case SAFETENSORS_F64: return ((const double *)e->data)[i];
    case SAFETENSORS_I32: return ((const int32_t *)e->data)[i];
    default: fail_msg("%s: not numbers", e->name);
    }
    return 0;
}

/* golden_get of kind and name apart. */
static const safetensors_entry *get(golden *g, const char *kind, const char *name)
{
    char text[160];
    snprintf(text, sizeof text, "%s/%s", kind, name);
    return golden_get(g, text);
}

static const safetensors_entry *find(golden *g, const char *kind, const char *name)
{
    char text[160];
    snprintf(text, sizeof text, "%s/%s", kind, name);
    return golden_find(g, text);
}

double golden_number(golden *g, const char *name, double otherwise)
{
    const safetensors_entry *e = find(g, "config", name);
    return e ? golden_at(e, 0) : otherwise;
}

size_t golden_size(golden *g, const char *name)
{
    return (size_t)golden_at(get(g, "config", name), 0);
}

static void read_into(const safetensors_entry *e, rapt_real *to)
{
    for (size_t i = 0; i < count_of(e); i++)
        to[i] = (rapt_real)golden_at(e, i);
}

rapt_real *golden_reals(golden *g, const char *name)
{
    const safetensors_entry *e = golden_get(g, name);
    rapt_real *x = calloc(count_of(e), sizeof *x);
    assert_non_null(x);
    read_into(e, x);
    return x;
}

rapt_tensor *golden_input(golden *g, const char *name)
{
    const safetensors_entry *e = get(g, "in", name);
    rapt_tensor *x = rapt_tape_tensor(g->tape, e->ndim, e->shape, true);
    assert_int_equal(rapt_tape_error(g->tape)->code, RAPT_OK);
    assert_true(g->input_count < GOLDEN_MAX_INPUTS);
    read_into(e, x->data);
    g->inputs[g->input_count] = x;
    g->input_names[g->input_count++] = name;
    return x;
}

const int32_t *golden_ints(golden *g, const char *name)
{
    const safetensors_entry *e = find(g, "in", name);
    assert_true(!e || e->dtype == SAFETENSORS_I32);
    return e ? e->data : NULL;
}

rapt_tokens golden_tokens(golden *g, const char *name)
{
    const safetensors_entry *e = get(g, "in", name);
    assert_true(e->dtype == SAFETENSORS_I32 && e->ndim == 2);
    return (rapt_tokens){e->data, e->shape[0], e->shape[1]};
}

rapt_mask golden_mask(golden *g)
{
    const safetensors_entry *lens = find(g, "in", "valid_lens"), *keep = find(g, "in", "keep");
    assert_true(!keep || keep->dtype == SAFETENSORS_U8);
    return (rapt_mask){.valid_lens = golden_ints(g, "valid_lens"), .per_query = lens && lens->ndim == 2,
                       .keep = keep ? keep->data : NULL, .keep_per_query = keep && keep->shape[1] > 1,
                       .causal = golden_number(g, "causal", 0) != 0, .past = (size_t)golden_number(g, "past", 0)};
}

rapt_block_config golden_block_config(golden *g)
{
    rapt_block_config c = {.d_model = golden_size(g, "d_model"), .heads = golden_size(g, "heads"),
                           .kv_heads = (size_t)golden_number(g, "kv_heads", 0), .ffn = golden_size(g, "ffn"),
                           .norm_place = golden_size(g, "pre") != 0 ? RAPT_NORM_PLACE_PRE : RAPT_NORM_PLACE_POST,
                           .norm_kind = golden_number(g, "rms", 0) != 0 ? RAPT_NORM_KIND_RMS : RAPT_NORM_KIND_LAYER,
                           .shared_norm = golden_number(g, "shared_norm", 0) != 0,
                           .ffn_kind = (rapt_ffn_kind)golden_number(g, "ffn_kind", 0), .bias = golden_size(g, "bias") != 0,
                           .no_ffn_bias = golden_number(g, "no_ffn_bias", 0) != 0};
    size_t rows = (size_t)golden_number(g, "norm_rows", 0);
    if (rows) {
        c.norm_ndim = 2;
        c.norm_shape[0] = rows;
        c.norm_shape[1] = c.d_model;
    }
    return c;
}

rapt_transformer_config golden_transformer_config(golden *g)
{
    return (rapt_transformer_config){.source_vocab = golden_size(g, "source_vocab"),
                                     .target_vocab = golden_size(g, "target_vocab"),
                                     .layers = golden_size(g, "layers"),
                                     .max_positions = golden_size(g, "max_positions"),
                                     .block = golden_block_config(g), .scale_embedding = true,
                                     .tied = golden_number(g, "tied", 0) != 0,
                                     .positions = (rapt_positions_kind)golden_number(g, "positions", 0)};
}

/* ---- parameters ------------------------------------------------------------------------------------------- */

static void check_shape(const golden *g, const rapt_tensor *x, const safetensors_entry *e)
{
    bool same = x->ndim == e->ndim;
    for (int i = 0; same && i < x->ndim; i++)
        same = x->shape[i] == e->shape[i];
    char text[96];
    if (!same)
        fail_msg("%s.safetensors: %s has not the shape of ours, %s", g->file, e->name,
                 rapt_shape_text(x, text, sizeof text));
}

void golden_load_set(golden *g, rapt_params *set)
{
    if (rapt_params_error(set)->code)
        fail_msg("%s/%s: %s", g->file, g->name, rapt_params_error(set)->message);
    for (size_t i = 0; i < rapt_params_count(set); i++) {
        rapt_param *p = rapt_params_at(set, i);
        if (p->buffer)
            continue;
        const safetensors_entry *e = get(g, "param", p->value.name);
        check_shape(g, &p->value, e);
        read_into(e, p->value.data);
    }
}

void golden_load(golden *g)
{
    golden_load_set(g, g->set);
}

/* ---- comparing -------------------------------------------------------------------------------------------- */

static double largest_of(const safetensors_entry *e)
{
    double largest = 0;
    for (size_t i = 0; i < count_of(e); i++)
        largest = fmax(largest, fabs(golden_at(e, i)));
    return largest;
}

/* The largest difference, divided by `scale`; fails above `bound`, or where something is not a number. */
static double compare(const golden *g, const safetensors_entry *e, const rapt_real *ours, double scale, double bound)
{
    double worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < count_of(e); i++) {
        double difference = fabs((double)ours[i] - golden_at(e, i)) / scale;
        if (difference <= worst)
            continue;
        worst = difference;
        at = i;
        if (isnan(difference))
            break;
    }
    if (!(worst <= bound))
        fail_msg("%s.safetensors: %s: element %zu is %.9g, PyTorch's %.9g: off by %.2e x %.3g, the bound is %.0e",
                 g->file, e->name, at, (double)ours[at], golden_at(e, at), worst, scale, bound);
    return worst;
}

double golden_compare(golden *g, const char *name, const rapt_real *ours, size_t n, double bound)
{
    const safetensors_entry *e = get(g, "out", name);
    assert_int_equal(n, count_of(e));
    return compare(g, e, ours, fmax(1, largest_of(e)), bound);
}

static void check_tape(const golden *g)
{
    if (rapt_tape_error(g->tape)->code)
        fail_msg("%s/%s: %s", g->file, g->name, rapt_tape_error(g->tape)->message);
}

void golden_output(golden *g, const char *name, const rapt_tensor *y)
{
    check_tape(g);
    const safetensors_entry *e = get(g, "out", name);
    check_shape(g, y, e);
    g->worst_output = fmax(g->worst_output, golden_compare(g, name, y->data, count_of(e), GOLDEN_OUTPUT));
}

static double largest_gradient(const golden *g)
{
    double largest = 0;
    size_t n = strlen(g->name);
    for (size_t i = 0; i < safetensors_count(g->tensors); i++) {
        const safetensors_entry *e = safetensors_at(g->tensors, i);
        bool mine = strncmp(e->name, g->name, n) == 0 && e->name[n] == '/';
        if (mine && (strncmp(e->name + n + 1, "din/", 4) == 0 || strncmp(e->name + n + 1, "dparam/", 7) == 0))
            largest = fmax(largest, largest_of(e));
    }
    return largest;
}

static void check_gradient(golden *g, const char *kind, const char *name, const rapt_tensor *x)
{
    const safetensors_entry *e = get(g, kind, name);
    double largest = largest_of(e);
    check_shape(g, x, e);
    if (!x->grad || !x->grad_filled)
        fail_msg("%s/%s: %s got no gradient", g->file, g->name, name);
    if (largest > 0)
        g->worst_gradient = fmax(g->worst_gradient, compare(g, e, x->grad, largest, GOLDEN_GRADIENT));
    else
        compare(g, e, x->grad, largest_gradient(g), GOLDEN_ZERO);
}

void golden_gradients(golden *g, rapt_tensor *loss)
{
    rapt_error err = {0};
    check_tape(g);
    if (rapt_backward(g->tape, loss, &err))
        fail_msg("%s/%s: %s", g->file, g->name, err.message);
    for (size_t i = 0; i < g->input_count; i++)
        check_gradient(g, "din", g->input_names[i], g->inputs[i]);
    for (size_t i = 0; i < rapt_params_count(g->set); i++) {
        const rapt_param *p = rapt_params_at(g->set, i);
        if (!p->buffer && !p->frozen)
            check_gradient(g, "dparam", p->value.name, &p->value);
    }
}

void golden_finish(golden *g, rapt_tensor *y)
{
    golden_output(g, "out", y);
    rapt_real *weights = golden_reals(g, "weights/out");
    rapt_tensor *loss = rapt_op_weighted_sum(g->tape, y, weights);
    free(weights);
    golden_gradients(g, loss);
}
