/* tape/recompute.c: blocks that keep only their output. In a pass that is not recorded, nobody needs more; with activation
 * checkpointing (Chen et al. 2016), they also keep their input and are recomputed in the backward pass. For the layers of deep
 * models and for long rows; it computes nothing itself.
 *
 * The recomputation draws the same dropout and reads the same input, so it gives the same bits; its gradients go into the same
 * tensors, in the same order, as if the block had been kept. */
#include "tape/observe_op.h"

#include <string.h>

typedef struct block_node {
    tape_node node;
    rapt_block_fn *fn;
    const void *module;
    rapt_block_input in;
    rapt_tensor *out;
    uint64_t dropouts; /* how many were drawn before the block */
} block_node;

/* The state of the tape before a block: restoring it releases everything that the block added. */
typedef struct tape_snapshot {
    tape_node *last;
    tape_result *results;
    tape_weights *weights;
    free_list free_list;
    arena_mark memory;
} tape_snapshot;

static tape_snapshot snapshot_take(rapt_tape *t)
{
    tape_snapshot p = {t->last, t->results, t->weights, t->free_list, arena_save(&t->step)};
    t->last = NULL;
    t->results = NULL;
    return p;
}

static void snapshot_restore(rapt_tape *t, const tape_snapshot *p)
{
    t->last = p->last;
    t->results = p->results;
    t->weights = p->weights;
    t->free_list = p->free_list; /* buffers that the block took or added are released with it */
    arena_release(&t->step, p->memory);
}

static rapt_tensor *recompute_run(rapt_tape *t, const block_node *n)
{
    char sx[96], sy[96];
    rapt_tensor *y = n->fn(t, n->module, &n->in);
    if (!tape_failed(t) && y == n->in.x)
        return rapt_tape_fail(t, RAPT_ERR_VALUE, "block: its output is its input; it needs a tensor of its own");
    if (!tape_failed(t) && !rapt_tensor_same_shape(n->in.x, y))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "block: its output is %s, its input %s", rapt_shape_text(y, sy, sizeof sy),
                              rapt_shape_text(n->in.x, sx, sizeof sx));
    return y;
}

static void recompute_traverse(rapt_tape *t, const block_node *n)
{
    uint64_t drawn = t->dropouts;
    t->dropouts = n->dropouts;
    t->in_backward = false; /* the profile counts it as a forward pass */
    rapt_tensor *y = recompute_run(t, n);
    t->in_backward = true;
    t->dropouts = drawn;
    if (tape_failed(t))
        return;
    y->grad = n->out->grad;
    y->grad_filled = true;
    tape_traverse(t);
}

/* Gradients of the inputs outlive those inside the block, so they are allocated before the snapshot. */
static void recompute_backward(rapt_tape *t, tape_node *node)
{
    const block_node *n = (const block_node *)node;
    if (!n->out->grad_filled)
        return;
    tape_reserve_grad(t, n->in.x);
    tape_reserve_grad(t, n->in.memory);
    tape_snapshot p = snapshot_take(t);
    if (!tape_failed(t))
        recompute_traverse(t, n);
    snapshot_restore(t, &p);
}

/* The newest name among the block's results: it identifies the block in a report of values that are not finite. */
static const char *recompute_newest_name(const rapt_tape *t)
{
    const tape_result *r = t->results;
    while (r && !r->tensor.name)
        r = r->previous;
    return r ? r->tensor.name : NULL;
}

static void recompute_forward(rapt_tape *t, const block_node *n)
{
    tape_snapshot p = snapshot_take(t);
    const rapt_tensor *y = recompute_run(t, n);
    if (!tape_failed(t) && tape_computes(t))
        memcpy(n->out->data, y->data, rapt_tensor_size(y) * sizeof *y->data);
    if (!tape_failed(t)) {
        n->out->requires_grad = y->requires_grad;
        n->out->name = recompute_newest_name(t);
    }
    snapshot_restore(t, &p);
}

static block_node *recompute_node_of(rapt_tape *t, rapt_block_fn *fn, const void *module, const rapt_block_input *in)
{
    block_node *n = tape_alloc(t, 1, sizeof *n);
    size_t batch = tape_examples(in->x);
    int32_t *lens = in->lens ? tape_alloc(t, batch, sizeof *lens) : NULL;
    rapt_tensor *out = tape_output_like(t, in->x, true);
    if (tape_failed(t))
        return NULL;
    *n = (block_node){.fn = fn, .module = module, .in = *in, .out = out, .dropouts = t->dropouts};
    n->in.lens = lens ? memcpy(lens, in->lens, batch * sizeof *lens) : NULL;
    return n;
}

/* Whether blocks release their intermediates: not while the pass is inspected. */
static bool recompute_wanted(const rapt_tape *t)
{
    const bool kept = t->pass.record && (!t->pass.recompute || t->pass.keep_gradients);
    return !kept && !observe_on(t) && t->capture == RAPT_CAPTURE_NONE;
}

rapt_tensor *rapt_run_block(rapt_tape *t, rapt_block_fn *fn, const void *module, rapt_block_input in)
{
    if (tape_failed(t) || !recompute_wanted(t))
        return fn(t, module, &in);
    block_node *n = recompute_node_of(t, fn, module, &in);
    if (n)
        recompute_forward(t, n);
    if (tape_failed(t))
        return &t->poison;
    if (n->out->requires_grad)
        tape_record(t, &n->node, recompute_backward);
    return n->out;
}

rapt_tensor *tape_run_once(rapt_tape *t, rapt_block_fn *fn, const void *module, rapt_block_input in)
{
    return t->pass.record ? fn(t, module, &in) : rapt_run_block(t, fn, module, in);
}
