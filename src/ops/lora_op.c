/* ops/lora_op.c: y += scale (x a^T) b^T, the addition of a low-rank adapter to a linear layer (Hu et al. 2021, eq. 3). For the
 * layers of models that are fine-tuned with adapters; linear_op.c computes the layer itself.
 *
 * The sum is made in y's memory. So y's gradient is also the gradient of the layer's result: it is read here and must not be
 * changed.
 *
 * Backward, with the kept z = scale x a^T: db = dy^T z, dz = scale dy b, da = dz^T x, dx = dz a. */
#include "ops/linear_parts.h"
#include "tape/profile_op.h"

typedef struct lora_node {
    tape_node node;
    rapt_tensor *x, *y, *a, *b;
    rapt_real *z; /* [rows, rank] */
    rapt_real scale;
    size_t rows, in, out, rank;
} lora_node;

void linear_scale(const kernels *k, const void *context, size_t at, size_t n)
{
    const linear_scaling *s = context;
    k->scale(n, s->scale, s->c + at, s->c + at);
}

static double lora_flops(const lora_node *n)
{
    return 2.0 * (double)n->rows * (double)n->rank * (double)(n->in + n->out);
}

static double lora_elements(const lora_node *n)
{
    return (double)n->rows * (double)(n->in + 2 * n->out + 2 * n->rank) + (double)n->rank * (double)(n->in + n->out);
}

static void lora_backward(rapt_tape *t, tape_node *node)
{
    const lora_node *n = (const lora_node *)node;
    const ptrdiff_t in = (ptrdiff_t)n->in, out = (ptrdiff_t)n->out, rank = (ptrdiff_t)n->rank;
    bool add_a, add_b, add_x;
    gemm_job jobs[2];
    size_t count = 0;
    if (!n->y->grad_filled)
        return;
    profile_op(t, "lora", 2 * lora_flops(n), 2 * lora_elements(n));

    /* 1. dz [rows, rank] = scale dy b, and db [out, rank] (+)= dy^T z */
    const rapt_real *dy = n->y->grad;
    rapt_real *dz = tape_scratch(t, n->rows * n->rank, sizeof *dz), *db = tape_grad(t, n->b, &add_b);
    const linear_scaling scaling = {dz, n->scale};
    if (tape_failed(t))
        return;
    jobs[count++] = (gemm_job){.m = n->rows, .n = n->rank, .k = n->out, .a = {dy, out, 1}, .b = {n->b->data, rank, 1}, .c = dz,
                               .epilogue_fn = linear_scale, .context = &scaling};
    if (db)
        jobs[count++] = (gemm_job){.m = n->out, .n = n->rank, .k = n->rows, .a = {dy, 1, out}, .b = {n->z, rank, 1}, .c = db,
                                   .epilogue = {.accumulate = add_b}};
    gemm_all(&t->team, jobs, count);

    /* 2. da [rank, in] (+)= dz^T x, and dx [rows, in] (+)= dz a */
    rapt_real *da = tape_grad(t, n->a, &add_a), *dx = tape_grad(t, n->x, &add_x);
    if (tape_failed(t))
        return;
    count = 0;
    if (da)
        jobs[count++] = (gemm_job){.m = n->rank, .n = n->in, .k = n->rows, .a = {dz, 1, rank}, .b = {n->x->data, in, 1}, .c = da,
                                   .epilogue = {.accumulate = add_a}};
    if (dx)
        jobs[count++] = (gemm_job){.m = n->rows, .n = n->in, .k = n->rank, .a = {dz, rank, 1}, .b = {n->a->data, in, 1}, .c = dx,
                                   .epilogue = {.accumulate = add_x}};
    if (count > 0)
        gemm_all(&t->team, jobs, count);
}

static rapt_tensor *lora_check(rapt_tape *t, const rapt_tensor *y, const rapt_tensor *x, const rapt_lora *m)
{
    const rapt_tensor *a = &m->a->value, *b = &m->b->value;
    const size_t in = rapt_tensor_features(x), out = rapt_tensor_features(y);
    if (a->ndim != 2 || b->ndim != 2 || a->shape[0] != b->shape[1] || a->shape[1] != in || b->shape[0] != out)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "lora %s: it does not take %zu features to %zu", a->name, in, out);
    if (rapt_tensor_rows(x) != rapt_tensor_rows(y))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "lora %s: %zu rows of input, %zu of the layer", a->name, rapt_tensor_rows(x),
                              rapt_tensor_rows(y));
    return NULL;
}

/* The adapter as a sequence of unfused operations. */
static rapt_tensor *lora_unfused(rapt_tape *t, rapt_tensor *y, rapt_tensor *x, const rapt_lora *m)
{
    rapt_tensor *z = rapt_op_linear(t, x, m->a, NULL, RAPT_ACTIVATION_IDENTITY);
    z = rapt_op_linear(t, z, m->b, NULL, RAPT_ACTIVATION_IDENTITY);
    return rapt_op_add(t, y, rapt_op_scale(t, z, m->scale));
}

static rapt_tensor *lora_fused(rapt_tape *t, rapt_tensor *y, rapt_tensor *x, const rapt_lora *m)
{
    lora_node *n = tape_alloc(t, 1, sizeof *n);
    if (!n)
        return &t->poison;
    *n = (lora_node){.x = x, .y = y, .a = &m->a->value, .b = &m->b->value, .scale = (rapt_real)m->scale,
                     .rows = rapt_tensor_rows(x), .in = rapt_tensor_features(x), .out = rapt_tensor_features(y),
                     .rank = m->a->value.shape[0]};
    n->z = tape_elements(t, n->rows * n->rank);
    if (!n->z)
        return &t->poison;
    profile_op(t, "lora", lora_flops(n), lora_elements(n));
    const linear_scaling scaling = {n->z, n->scale};
    const gemm_job down = {.m = n->rows, .n = n->rank, .k = n->in, .a = {x->data, (ptrdiff_t)n->in, 1},
                           .b = {n->a->data, 1, (ptrdiff_t)n->in}, .c = n->z, .epilogue_fn = linear_scale, .context = &scaling};
    const gemm_job up = {.m = n->rows, .n = n->out, .k = n->rank, .a = {n->z, (ptrdiff_t)n->rank, 1},
                         .b = {n->b->data, 1, (ptrdiff_t)n->rank}, .c = y->data, .epilogue = {.accumulate = true}};
    gemm(&t->team, &down);
    gemm(&t->team, &up);
    if (tape_wants(t, x) || tape_wants(t, n->a) || tape_wants(t, n->b)) {
        y->requires_grad = true; /* the layer's result needs a gradient even if the layer itself is frozen */
        tape_record(t, &n->node, lora_backward);
    }
    return y;
}

rapt_tensor *rapt_op_lora(rapt_tape *t, rapt_tensor *y, rapt_tensor *x, const rapt_lora *m)
{
    if (tape_failed(t) || lora_check(t, y, x, m))
        return &t->poison;
    tape_refresh_operand(t, m->a);
    tape_refresh_operand(t, m->b);
    x = rapt_op_dropout(t, x, m->dropout);
    if (tape_failed(t))
        return &t->poison;
    return observe_here(t) ? lora_unfused(t, y, x, m) : lora_fused(t, y, x, m);
}
