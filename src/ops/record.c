/* ops/record.c: named steps of a pass, handed to the caller as they are computed, and their gradients after the walk back.
 * For modules, which know the names; the numbers are those of their operations. */
#include "ops/record_steps.h"

#include "ops/mask.h"

#include <math.h>
#include <string.h>

struct tape_step {
    tape_step *previous;
    const char *name, *formula, *axes;
    const rapt_tensor *tensor;
};

void rapt_observe(rapt_tape *t, rapt_observe_fn *fn, void *context)
{
    t->recorder.fn = fn;
    t->recorder.context = context;
}

record_scope record_scope_of(const char *name, int parts)
{
    record_scope s = {name, name ? strlen(name) : 0};
    for (; parts > 0 && s.length > 0; parts--)
        while (s.length > 0 && s.text[--s.length] != '.')
            ;
    return s;
}

static const char *joined(rapt_tape *t, record_scope s, const char *what)
{
    size_t n = strlen(what), dot = s.length > 0 && n > 0;
    char *text = tape_alloc(t, s.length + dot + n + 1, 1);
    if (!text)
        return NULL;
    if (s.length > 0)
        memcpy(text, s.text, s.length);
    if (dot)
        text[s.length] = '.';
    memcpy(text + s.length + dot, what, n + 1);
    return text;
}

/* The last words, as many as x has dimensions: modules work on rows without a batch, too. */
static const char *axes_of(const rapt_tensor *x, const char *axes)
{
    static const char *const plain[] = {"", "feature", "row column", "table row column", "batch table row column"};
    int words = axes ? 1 : 0;
    for (const char *c = axes; c && *c; c++)
        words += *c == ' ';
    if (words < x->ndim)
        return plain[x->ndim];
    for (; words > x->ndim; words--)
        axes = strchr(axes, ' ') + 1;
    return axes;
}

static void hand_over(const rapt_tape *t, const tape_step *s, bool gradient)
{
    rapt_observation step = {s->name, s->formula, s->axes, s->tensor, gradient ? s->tensor->grad : s->tensor->data, gradient};
    t->recorder.fn(t->recorder.context, &step);
}

void record_step(rapt_tape *t, record_scope s, const char *what, const char *formula, const char *axes, rapt_tensor *x)
{
    if (!record_on(t) || tape_failed(t))
        return;
    tape_step *step = tape_alloc(t, 1, sizeof *step);
    const char *name = joined(t, s, what);
    if (!step || !name)
        return;
    *step = (tape_step){t->recorder.steps, name, formula, axes_of(x, axes), x};
    t->recorder.steps = step;
    hand_over(t, step, false);
}

rapt_tensor *record_dropout(rapt_tape *t, record_scope s, const char *what, const char *axes, rapt_tensor *x, double p)
{
    rapt_tensor *y = rapt_op_dropout(t, x, p);
    if (y != x)
        record_step(t, s, what, "dropout", axes, y);
    return y;
}

/* A tensor to look at, its numbers undefined. Not a result of the tape, whose results should be finite. */
static rapt_tensor *copy_of(rapt_tape *t, const rapt_tensor *x)
{
    rapt_tensor *y = tape_failed(t) ? NULL : tape_alloc(t, 1, sizeof *y);
    rapt_real *data = y ? tape_alloc(t, rapt_tensor_size(x), sizeof *data) : NULL;
    if (!data)
        return NULL;
    *y = (rapt_tensor){.data = data, .ndim = x->ndim};
    memcpy(y->shape, x->shape, sizeof y->shape);
    return y;
}

static void hide(rapt_real *scores, size_t keys, mask_row row)
{
    for (size_t j = 0; j < keys; j++)
        if (j >= row.count || (row.keep && !row.keep[j]))
            scores[j] = -(rapt_real)INFINITY;
}

void record_masked(rapt_tape *t, record_scope s, const char *axes, const rapt_tensor *scores, const rapt_mask *mask)
{
    rapt_tensor *y = record_on(t) ? copy_of(t, scores) : NULL;
    if (!y)
        return;
    size_t heads = y->shape[1], queries = y->shape[2], keys = y->shape[3];
    memcpy(y->data, scores->data, rapt_tensor_size(y) * sizeof *y->data);
    for (size_t i = 0; i < y->shape[0] * heads * queries; i++)
        hide(y->data + i * keys, keys, mask_row_of(mask, i / queries / heads, i % queries, queries, keys));
    record_step(t, s, "masked", "scaled, -inf where hidden", axes, y);
}

void record_logits(rapt_tape *t, record_scope s, const char *formula, rapt_tensor *logits)
{
    record_step(t, s, "output", formula, RECORD_LOGITS, logits);
    rapt_tensor *y = record_on(t) ? copy_of(t, logits) : NULL;
    if (!y)
        return;
    size_t n = rapt_tensor_features(y), rows = rapt_tensor_rows(y);
    rapt_real max, inv_sum;
    for (size_t i = 0; i < rows; i++)
        t->k->softmax(n, n, logits->data + i * n, NULL, 1, y->data + i * n, &max, &inv_sum);
    record_step(t, (record_scope){0}, "probabilities", "softmax(output)", RECORD_LOGITS, y);
}

/* ---- the way back ------------------------------------------------------------------------------------------ */

static bool is_result(const rapt_tape *t, const rapt_tensor *x)
{
    for (const tape_result *r = t->results; r; r = r->previous)
        if (&r->tensor == x)
            return true;
    return false;
}

/* Parameters are what has a name and is no result of this pass. */
void record_reached(rapt_tape *t, const rapt_tensor *x)
{
    for (const tape_step *s = t->recorder.parameters; s; s = s->previous)
        if (s->tensor == x)
            return;
    if (!x->name || is_result(t, x))
        return;
    tape_step *step = tape_alloc(t, 1, sizeof *step);
    if (!step)
        return;
    *step = (tape_step){t->recorder.parameters, x->name, NULL, axes_of(x, NULL), x};
    t->recorder.parameters = step;
}

static tape_step *reversed(tape_step *list)
{
    tape_step *turned = NULL;
    while (list) {
        tape_step *next = list->previous;
        list->previous = turned;
        turned = list;
        list = next;
    }
    return turned;
}

static void hand_over_gradients(const rapt_tape *t, const tape_step *list)
{
    for (const tape_step *s = list; s && record_on(t) && !tape_failed(t); s = s->previous)
        if (s->tensor->grad && s->tensor->grad_filled)
            hand_over(t, s, true);
}

/* Of the steps, what was computed last is complete first. */
void record_gradients(rapt_tape *t)
{
    t->recorder.parameters = reversed(t->recorder.parameters);
    hand_over_gradients(t, t->recorder.steps);
    hand_over_gradients(t, t->recorder.parameters);
}
