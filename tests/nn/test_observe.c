/* tests/nn/test_observe.c: the steps that rapt_observe hands over have the names, axes and shapes that rapt/observe.h lists, in
 * that order; each, recomputed in double from those before it, equals what was handed over within the bound of its
 * arithmetic; and the last of them are what the fused operations give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nn/observed.h"

#define U 0x1p-24 /* what rounding to float may change, relative */
#define QUERIES "batch query feature"
#define KEYS "batch key feature"
#define QUERY_HEADS "batch head query feature"
#define KEY_HEADS "batch head key feature"
#define WEIGHTS "batch head query key"
#define ROWS "batch time feature"
#define LOGITS "batch time token"

/* The list of steps, from the first to the last, beside a model that expects them. */
typedef struct walk {
    const observer *r;
    size_t next;
    const char *what, *step;
} walk;

/* A [batch, time, features] that was handed over. */
typedef struct rows {
    const rapt_real *x;
    size_t time, features;
} rows;

static size_t count_of(rows x)
{
    return BATCH * x.time;
}

static void near(const walk *w, size_t i, rapt_real got, double want, double bound)
{
    if (!(fabs((double)got - want) <= bound))
        fail_msg("%s: %s[%zu] is %.9g, computed again %.9g; %g are allowed", w->what, w->step, i, (double)got, want, bound);
}

/* The next step must be this one. `axes` has one word a dimension. */
static const rapt_real *take(walk *w, const char *prefix, const char *what, const char *axes, const size_t *shape)
{
    char name[160];
    snprintf(name, sizeof name, "%s%s", prefix, what);
    if (w->next == w->r->count)
        fail_msg("%s: %s is missing at the end", w->what, name);
    const observed *s = &w->r->steps[w->next++];
    assert_string_equal(s->name, name);
    assert_string_equal(s->axes, axes);
    assert_false(s->gradient);
    assert_true(strlen(s->formula) > 0);
    int ndim = 1;
    for (const char *c = axes; *c; c++)
        ndim += *c == ' ';
    assert_int_equal(s->tensor.ndim, ndim);
    for (int i = 0; i < ndim; i++)
        if (s->tensor.shape[i] != shape[i])
            fail_msg("%s: %s: dimension %d is %zu, not %zu", w->what, name, i, s->tensor.shape[i], shape[i]);
    w->step = s->name;
    return s->values;
}

static rows take_rows(walk *w, const char *prefix, const char *what, const char *axes, size_t time, size_t features)
{
    return (rows){take(w, prefix, what, axes, (size_t[]){BATCH, time, features}), time, features};
}

/* x W^T + b */
static rows linear(walk *w, const char *prefix, const char *what, const char *axes, rows x, const rapt_linear *l)
{
    size_t in = x.features, out = l->weight->value.shape[0];
    rows y = take_rows(w, prefix, what, axes, x.time, out);
    for (size_t i = 0; i < count_of(x); i++)
        for (size_t j = 0; j < out; j++) {
            double sum = l->bias ? (double)l->bias->value.data[j] : 0, size = fabs(sum);
            for (size_t k = 0; k < in; k++) {
                double product = (double)x.x[i * in + k] * (double)l->weight->value.data[j * in + k];
                sum += product, size += fabs(product);
            }
            near(w, i * out + j, y.x[i * out + j], sum, (double)(in + 4) * U * size);
        }
    return y;
}

static rows sum(walk *w, const char *prefix, const char *what, rows a, rows b)
{
    rows y = take_rows(w, prefix, what, ROWS, a.time, a.features);
    for (size_t i = 0; i < count_of(a) * a.features; i++) {
        double want = (double)a.x[i] + (double)b.x[i];
        near(w, i, y.x[i], want, U * fabs(want));
    }
    return y;
}

/* Layer norm or RMS norm. */
static rows normed(walk *w, const char *prefix, rows x, const rapt_layer_norm *m)
{
    size_t n = x.features;
    bool rms = m->kind == RAPT_NORM_KIND_RMS;
    rows y = take_rows(w, prefix, "output", ROWS, x.time, n);
    for (size_t i = 0; i < count_of(x); i++) {
        double mean = 0, square = 0, most = 0;
        for (size_t j = 0; j < n; j++) {
            mean += rms ? 0 : (double)x.x[i * n + j] / (double)n;
            most = fmax(most, fabs((double)x.x[i * n + j]));
        }
        for (size_t j = 0; j < n; j++)
            square += pow((double)x.x[i * n + j] - mean, 2) / (double)n;
        double root = 1 / sqrt(square + m->eps);
        for (size_t j = 0; j < n; j++) {
            double gamma = (double)m->weight->value.data[j], beta = m->bias ? (double)m->bias->value.data[j] : 0;
            near(w, i * n + j, y.x[i * n + j], ((double)x.x[i * n + j] - mean) * root * gamma + beta,
                 U * ((double)(n + 16) * most * root * fabs(gamma) + fabs(beta)));
        }
    }
    return y;
}

/* ---- attention -------------------------------------------------------------------------------------------- */

/* The same numbers as [batch, heads, time, d]. */
static const rapt_real *split(walk *w, const char *prefix, const char *what, const char *axes, rows x, size_t heads)
{
    size_t d = x.features / heads;
    const rapt_real *y = take(w, prefix, what, axes, (size_t[]){BATCH, heads, x.time, d});
    for (size_t i = 0; i < count_of(x) * x.features; i++) {
        size_t b = i / x.features / x.time, time = i / x.features % x.time, h = i % x.features / d;
        near(w, i, y[((b * heads + h) * x.time + time) * d + i % d], (double)x.x[i], 0);
    }
    return y;
}

/* Pairs (j, j + d/2) of each head, turned by time / base^(2j/d). */
static rows turned(walk *w, const char *prefix, const char *what, const char *axes, rows x, size_t d)
{
    rows y = take_rows(w, prefix, what, axes, x.time, x.features);
    for (size_t i = 0; i < count_of(x) * x.features; i++) {
        size_t j = i % x.features % d, time = i / x.features % x.time;
        double angle = (double)time / pow(10000, 2 * (double)(j % (d / 2)) / (double)d);
        double a = (double)x.x[i] * cos(angle);
        double b = j < d / 2 ? -(double)x.x[i + d / 2] * sin(angle) : (double)x.x[i - d / 2] * sin(angle);
        near(w, i, y.x[i], a + b, 4 * U * (fabs(a) + fabs(b)));
    }
    return y;
}

/* The last dimension of `rows` x `n` numbers; -inf gives 0, and nothing but that zeros. */
static void softmax(walk *w, size_t count, size_t n, const rapt_real *x, const rapt_real *y)
{
    for (size_t i = 0; i < count; i++) {
        double max = -INFINITY, total = 0;
        for (size_t j = 0; j < n; j++)
            max = fmax(max, (double)x[i * n + j]);
        for (size_t j = 0; j < n && max > -INFINITY; j++)
            total += exp((double)x[i * n + j] - max);
        for (size_t j = 0; j < n; j++) {
            double below = (double)x[i * n + j] - max, want = total > 0 ? exp(below) / total : 0;
            near(w, i * n + j, y[i * n + j], want, want > 0 ? want * U * ((double)n + 8 + 2 * fabs(below)) : 0);
        }
    }
}

static bool visible(const rapt_mask *mask, size_t b, size_t query, size_t key)
{
    return !(mask->causal && key > query) && !(mask->valid_lens && (int64_t)key >= mask->valid_lens[b]);
}

/* ALiBi of the six heads of a subject: the slopes of four heads, then every other one of eight (Press et al. 2022, section 3). */
static const rapt_real *biased_of(walk *w, const char *prefix, const size_t shape[4], const rapt_real *scaled)
{
    static const double powers[] = {2, 4, 6, 8, 1, 3};
    const size_t queries = shape[2], keys = shape[3];
    const rapt_real *biased = take(w, prefix, "biased", WEIGHTS, shape);
    assert_int_equal(shape[1], 6);
    for (size_t i = 0; i < BATCH * 6 * queries * keys; i++) {
        double away = fabs((double)(i % keys) - (double)(i / keys % queries));
        double want = (double)scaled[i] - pow(2, -powers[i / keys / queries % 6]) * away;
        near(w, i, biased[i], want, 2 * U * (fabs((double)scaled[i]) + away));
    }
    return biased;
}

static const rapt_real *weights_of(walk *w, const char *prefix, const rapt_multi_head_attention *m, const rapt_real *q,
                                   size_t queries, const rapt_real *k, size_t keys, size_t d, const rapt_mask *mask)
{
    size_t shape[] = {BATCH, m->heads, queries, keys}, n = BATCH * m->heads * queries * keys;
    const rapt_real *scores = take(w, prefix, "scores", WEIGHTS, shape);
    for (size_t i = 0; i < n; i++) {
        size_t key = i % keys, row = i / keys, head = row / queries / (m->heads / m->kv_heads);
        double dot = 0, size = 0;
        for (size_t j = 0; j < d; j++) {
            double product = (double)q[row * d + j] * (double)k[(head * keys + key) * d + j];
            dot += product, size += fabs(product);
        }
        near(w, i, scores[i], dot, (double)(d + 4) * U * size);
    }
    const rapt_real *scaled = take(w, prefix, "scaled", WEIGHTS, shape);
    for (size_t i = 0; i < n; i++)
        near(w, i, scaled[i], (double)scores[i] / sqrt((double)d), 3 * U * fabs((double)scaled[i]));
    if (m->scores.bias.slopes)
        scaled = biased_of(w, prefix, shape, scaled);
    const rapt_real *masked = take(w, prefix, "masked", WEIGHTS, shape);
    for (size_t i = 0; i < n; i++)
        if (visible(mask, i / keys / queries / m->heads, i / keys % queries, i % keys))
            near(w, i, masked[i], (double)scaled[i], 0);
        else
            assert_true(isinf((double)masked[i]) && masked[i] < 0);
    const rapt_real *weights = take(w, prefix, "weights", WEIGHTS, shape);
    softmax(w, n / keys, keys, masked, weights);
    return weights;
}

static rows attention(walk *w, const rapt_multi_head_attention *m, rows x, rows memory, rapt_mask mask)
{
    char p[96];
    snprintf(p, sizeof p, "%s.", m->name);
    rows q = linear(w, p, "q", QUERIES, x, &m->q), k = linear(w, p, "k", KEYS, memory, &m->k);
    rows v = linear(w, p, "v", KEYS, memory, &m->v);
    size_t d = q.features / m->heads;
    if (m->rotary) {
        q = turned(w, p, "q.rotated", QUERIES, q, d);
        k = turned(w, p, "k.rotated", KEYS, k, d);
    }
    const rapt_real *qh = split(w, p, "q.heads", QUERY_HEADS, q, m->heads);
    const rapt_real *kh = split(w, p, "k.heads", KEY_HEADS, k, m->kv_heads);
    const rapt_real *vh = split(w, p, "v.heads", KEY_HEADS, v, m->kv_heads);
    const rapt_real *weights = weights_of(w, p, m, qh, x.time, kh, memory.time, d, &mask);
    const rapt_real *heads = take(w, p, "heads", QUERY_HEADS, (size_t[]){BATCH, m->heads, x.time, d});
    for (size_t i = 0; i < BATCH * m->heads * x.time * d; i++) {
        size_t row = i / d, head = row / x.time / (m->heads / m->kv_heads);
        double mean = 0, size = 0;
        for (size_t j = 0; j < memory.time; j++) {
            double part = (double)weights[row * memory.time + j] * (double)vh[(head * memory.time + j) * d + i % d];
            mean += part, size += fabs(part);
        }
        near(w, i, heads[i], mean, (double)(memory.time + 4) * U * size);
    }
    rows concat = take_rows(w, p, "concat", QUERIES, x.time, q.features);
    for (size_t i = 0; i < count_of(concat) * q.features; i++) {
        size_t b = i / q.features / x.time, time = i / q.features % x.time, h = i % q.features / d;
        near(w, i, concat.x[i], (double)heads[((b * m->heads + h) * x.time + time) * d + i % d], 0);
    }
    return linear(w, p, "output", QUERIES, concat, &m->o);
}

/* ---- the rest of a model ---------------------------------------------------------------------------------- */

static double activated(rapt_ffn_kind kind, double x)
{
    if (kind == RAPT_FFN_GELU)
        return x / 2 * (1 + erf(x / sqrt(2)));
    if (kind == RAPT_FFN_GELU_TANH)
        return x / 2 * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
    return fmax(x, 0);
}

static rows feed_forward(walk *w, const char *prefix, const rapt_ffn *m, rows x)
{
    bool gated = m->kind == RAPT_FFN_SWIGLU;
    size_t hidden = m->dense1.weight->value.shape[0];
    rows gate = gated ? linear(w, prefix, "gate", ROWS, x, &m->gate) : x;
    rows up = linear(w, prefix, gated ? "up" : "hidden", ROWS, x, &m->dense1);
    rows active = take_rows(w, prefix, gated ? "product" : "activation", ROWS, x.time, hidden);
    for (size_t i = 0; i < count_of(active) * hidden; i++) {
        double z = (double)up.x[i], g = (double)gate.x[gated ? i : 0];
        double want = gated ? g / (1 + exp(-g)) * z : activated(m->kind, z);
        double bound = gated ? 8 * U * fabs(want) : m->kind == RAPT_FFN_RELU ? 0 : 8 * U * fabs(z);
        near(w, i, active.x[i], want, bound);
    }
    return linear(w, prefix, "output", ROWS, active, &m->dense2);
}

/* The sublayers of a block: the norm stands before or after. */
static rows before(walk *w, const char *prefix, const rapt_add_norm *m, rows x)
{
    return m->place == RAPT_NORM_PLACE_PRE ? normed(w, prefix, x, &m->norm) : x;
}

static rows after(walk *w, const char *prefix, const rapt_add_norm *m, rows x, rows y)
{
    rows both = sum(w, prefix, "sum", x, y);
    return m->place == RAPT_NORM_PLACE_PRE ? both : normed(w, prefix, both, &m->norm);
}

typedef struct part {
    char text[96];
} part;

static part of(const char *prefix, size_t block, const char *what)
{
    part p;
    snprintf(p.text, sizeof p.text, "%s%zu.%s.", prefix, block, what);
    return p;
}

/* Lookup, scale and positions; learned ones are rows of a matrix, others follow from the formula. */
static rows input(walk *w, const char *prefix, const rapt_preprocessor *m, const int32_t *ids, size_t time)
{
    const rapt_param *learned = m->positions.table && !m->positions.table->buffer ? m->positions.table : NULL;
    const rapt_tensor *e = &m->embedding.weight->value;
    size_t d = e->shape[1];
    rows x = take_rows(w, prefix, "embedding", ROWS, time, d);
    for (size_t i = 0; i < count_of(x) * d; i++)
        near(w, i, x.x[i], (double)e->data[(size_t)ids[i / d] * d + i % d], 0);
    if (m->scale) {
        rows scaled = take_rows(w, prefix, "embedding.scaled", ROWS, time, d);
        for (size_t i = 0; i < count_of(x) * d; i++)
            near(w, i, scaled.x[i], (double)x.x[i] * sqrt((double)d), 3 * U * fabs((double)scaled.x[i]));
        x = scaled;
    }
    if (!m->positions.table)
        return x;
    rows p = take_rows(w, prefix, "positions", ROWS, time, d);
    for (size_t i = 0; i < count_of(x) * d; i++) {
        double angle = (double)(i / d % time) / pow(10000, (double)(i % d / 2 * 2) / (double)d);
        double want = i % d % 2 ? cos(angle) : sin(angle);
        near(w, i, p.x[i], learned ? (double)learned->value.data[i / d % time * d + i % d] : want, learned ? 0 : 2 * U);
    }
    return sum(w, prefix, "input", x, p);
}

static void output(walk *w, const char *prefix, rows x, const rapt_linear *l)
{
    rows y = linear(w, prefix, "output", LOGITS, x, l);
    const rapt_real *p = take(w, "", "probabilities", LOGITS, (size_t[]){BATCH, y.time, y.features});
    softmax(w, count_of(y), y.features, y.x, p);
    assert_int_equal(w->next, w->r->count);
}

static void walk_lm(walk *w, const rapt_lm *m, const int32_t *ids)
{
    rows x = input(w, "", &m->input, ids, TIME);
    for (size_t i = 0; i < m->layers; i++) {
        const rapt_lm_block *b = &m->blocks[i];
        part n1 = of("blocks.", i, "norm1"), n2 = of("blocks.", i, "norm2"), f = of("blocks.", i, "ffn");
        rows h = before(w, n1.text, &b->norm1, x);
        x = after(w, n1.text, &b->norm1, x, attention(w, &b->attention, h, h, (rapt_mask){.causal = true}));
        h = before(w, n2.text, &b->norm2, x);
        x = after(w, n2.text, &b->norm2, x, feed_forward(w, f.text, &b->ffn, h));
    }
    output(w, "", m->has_norm ? normed(w, "norm.", x, &m->norm) : x, &m->output);
}

static rows walk_encoder(walk *w, const rapt_encoder *m, const int32_t *ids)
{
    rows x = input(w, "encoder.", &m->input, ids, SOURCE_TIME);
    for (size_t i = 0; i < m->layers; i++) {
        const rapt_encoder_block *b = &m->blocks[i];
        part n1 = of("encoder.", i, "norm1"), n2 = of("encoder.", i, "norm2"), f = of("encoder.", i, "ffn");
        rapt_mask mask = {.valid_lens = subject_source_lens};
        rows h = before(w, n1.text, &b->norm1, x);
        x = after(w, n1.text, &b->norm1, x, attention(w, &b->attention, h, h, mask));
        h = before(w, n2.text, &b->norm2, x);
        x = after(w, n2.text, &b->norm2, x, feed_forward(w, f.text, &b->ffn, h));
    }
    return m->has_norm ? normed(w, "encoder.norm.", x, &m->norm) : x;
}

static void walk_decoder(walk *w, const rapt_decoder *m, const int32_t *ids, rows memory)
{
    rows x = input(w, "decoder.", &m->input, ids, TIME);
    for (size_t i = 0; i < m->layers; i++) {
        const rapt_decoder_block *b = &m->blocks[i];
        part n1 = of("decoder.", i, "norm1"), n2 = of("decoder.", i, "norm2"), n3 = of("decoder.", i, "norm3");
        rapt_mask mask = {.valid_lens = subject_source_lens};
        rows h = before(w, n1.text, &b->norm1, x);
        x = after(w, n1.text, &b->norm1, x, attention(w, &b->self_attention, h, h, (rapt_mask){.causal = true}));
        h = before(w, n2.text, &b->norm2, x);
        x = after(w, n2.text, &b->norm2, x, attention(w, &b->cross_attention, h, memory, mask));
        h = before(w, n3.text, &b->norm3, x);
        x = after(w, n3.text, &b->norm3, x, feed_forward(w, of("decoder.", i, "ffn").text, &b->ffn, h));
    }
    output(w, "decoder.", m->has_norm ? normed(w, "decoder.norm.", x, &m->norm) : x, &m->output);
}

static void every_step_follows_from_those_before(void **state)
{
    (void)state;
    int32_t source[BATCH * SOURCE_TIME], ids[BATCH * TIME];
    subject_ids(source, BATCH * SOURCE_TIME, 5);
    subject_ids(ids, BATCH * TIME, 6);
    rapt_tape *t = model_tape(NULL, 2);
    for (size_t i = 0; i < SUBJECTS; i++) {
        subject s = subject_new(i);
        observer r = {0};
        walk w = {.r = &r, .what = s.what};
        rapt_observe(t, observer_keep, &r);
        rapt_tape_begin(t, (rapt_pass){0});
        subject_logits(t, &s);
        subject_check(t, s.what);
        if (s.lm)
            walk_lm(&w, s.lm, ids);
        else
            walk_decoder(&w, &s.pair->decoder, ids, walk_encoder(&w, &s.pair->encoder, source));
        observer_free(&r);
        subject_free(&s);
    }
    rapt_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_follows_from_those_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
