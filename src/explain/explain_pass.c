/* explain/explain_pass.c: the pass that is explained: forward over all positions at once, on request the loss and the backward
 * pass, and then the logit lens. Copies what was asked for. The pass runs twice: first it is only counted, to know its cost, then
 * it is computed. */
#include "explain/explanation.h"

#include "base/buffer.h"
#include "explain/explain_lens.h"
#include "io/model_core.h"
#include "rapt/observe.h"
#include "tape/observe_op.h"

#include <string.h>

#define KEPT 512 /* bytes of an intermediate besides its elements: its names */

/* A pass while it runs. */
typedef struct pass {
    rapt_explanation *e;
    rapt_tape *t;
    explain_selection *selection;
    explain_lens *lens; /* NULL: not asked for */
    rapt_explain_cost cost;
    rapt_code failure; /* set by a callback, which cannot return it */
} pass;

/* ---- intermediates ----------------------------------------------------------------------------------------------- */

/* NULL stays NULL. *failed: out of memory. */
static const char *explain_name(rapt_explanation *e, const char *name, bool *failed)
{
    const char *copy = name ? arena_string(&e->memory, name) : NULL;
    *failed = *failed || (name && !copy);
    return copy;
}

static bool explain_take_source(const pass *p, const rapt_observation *o, explain_source *to)
{
    bool failed = false;
    const observe_names from = o->gradient ? (observe_names){0} : observe_sources(p->t);
    *to = (explain_source){.constant = from.constant};
    for (int i = 0; i < 2; i++) {
        to->inputs[i] = explain_name(p->e, from.inputs[i], &failed);
        to->parameters[i] = explain_name(p->e, from.parameters[i], &failed);
    }
    return !failed;
}

static rapt_code explain_keep(const pass *p, const rapt_observation *o, rapt_error *err)
{
    rapt_explanation *e = p->e;
    if (!ARRAY_RESERVE(&e->items, &e->capacity, e->count + 1) ||
        !ARRAY_RESERVE(&e->sources, &e->source_capacity, e->count + 1) || !explain_take_source(p, o, &e->sources[e->count]))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu intermediates", e->count + 1);
    size_t size = rapt_tensor_size(o->tensor);
    rapt_real *values = arena_array(&e->memory, size, sizeof *values);
    rapt_intermediate x = {.name = arena_string(&e->memory, o->name), .gradient = o->gradient, .ndim = o->tensor->ndim,
                           .formula = o->formula ? arena_string(&e->memory, o->formula) : NULL,
                           .axes = o->axes ? arena_string(&e->memory, o->axes) : NULL, .values = values};
    if (!values || !x.name || (o->formula && !x.formula) || (o->axes && !x.axes))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu elements of %s", size, o->name);
    memcpy(values, o->values, size * sizeof *values);
    memcpy(x.shape, o->tensor->shape, (size_t)x.ndim * sizeof *x.shape);
    e->items[e->count++] = x;
    return RAPT_OK;
}

/* In the pass that is counted, whose observations have no values. */
static void explain_count(void *context, const rapt_observation *o)
{
    pass *p = context;
    const size_t size = rapt_tensor_size(o->tensor);
    p->cost.elements += size;
    if (!explain_wants(p->selection, o->name))
        return;
    p->cost.kept += size;
    p->cost.steps++;
    p->cost.bytes += size * sizeof(rapt_real) + KEPT;
}

/* A failure here ends the pass. */
static void explain_take(void *context, const rapt_observation *o)
{
    pass *p = context;
    rapt_error err = {0};
    if (p->failure)
        return;
    p->failure = o->gradient ? RAPT_OK : explain_predict(p->e, p->t->k, o, &p->e->own, &err);
    if (p->lens)
        explain_lens_note(p->lens, o);
    if (explain_matches(p->selection, o->name) && !p->failure)
        p->failure = explain_keep(p, o, &err);
    if (p->failure)
        rapt_tape_fail(p->t, p->failure, "%s", err.message);
}

/* ---- the pass ---------------------------------------------------------------------------------------------------- */

static rapt_tokens pass_tokens_of(const explain_sequence *s)
{
    return (rapt_tokens){.ids = s->ids, .batch = 1, .time = s->count};
}

static rapt_tensor *explain_forward(const pass *p)
{
    const rapt_explanation *e = p->e;
    if (e->model->task == RAPT_TASK_LANGUAGE_MODEL)
        return rapt_lm_forward(p->t, e->model->language.net, pass_tokens_of(&e->sequences[0]));
    return rapt_transformer_forward(p->t, e->model->translation.net, pass_tokens_of(&e->sequences[0]), NULL,
                                    pass_tokens_of(&e->sequences[1]));
}

static rapt_tensor *explain_loss(const pass *p, rapt_tensor *logits)
{
    const rapt_explanation *e = p->e;
    int32_t len = (int32_t)e->label_count;
    rapt_tokens labels = {.ids = e->labels, .batch = 1, .time = explain_last(e)->count};
    return rapt_op_cross_entropy(p->t, logits, labels, &(rapt_loss_options){.valid_lens = &len}, NULL);
}

/* Counted or computed. Names come in this order: a message lists the first of them. */
static rapt_code explain_run(pass *p, rapt_observe_fn *observer, rapt_error *err)
{
    rapt_explanation *e = p->e;
    rapt_observe(p->t, observer, p);
    rapt_tape_begin(p->t, (rapt_pass){.record = e->gradients});
    rapt_tensor *logits = explain_forward(p);
    if (observer == explain_count)
        e->parts.predictions = explain_wants(p->selection, "predictions");
    if (p->lens && observer == explain_count)
        e->parts.lens = explain_wants(p->selection, "lens");
    rapt_tensor *loss = e->gradients ? explain_loss(p, logits) : NULL;
    if (loss && observer == explain_count)
        e->parts.loss = explain_wants(p->selection, "loss");
    rapt_code code = rapt_tape_status(p->t, err);
    if (loss && !code && tape_computes(p->t))
        e->loss = (double)loss->data[0];
    if (loss && !code)
        code = rapt_backward(p->t, loss, err);
    rapt_observe(p->t, NULL, NULL);
    code = code ? code : rapt_tape_status(p->t, err);
    return code || !p->lens ? code : explain_lens_run(p->lens, observer == explain_count ? &p->cost : NULL, err);
}

static rapt_code explain_ask(pass *p, const rapt_explain_options *o, rapt_error *err)
{
    tape_count(p->t, true);
    rapt_code code = explain_run(p, explain_count, err);
    const size_t step = p->t->step.peak, scratch = p->t->scratch.peak;
    p->cost.bytes += step + scratch;
    tape_count(p->t, false);
    tape_expect(p->t, step, scratch);
    if (p->e->gradients)
        rapt_params_zero_grad(p->e->model->params); /* their buffers count as filled */
    code = code ? code : explain_selection_check(p->selection, o, err);
    return code || !o->admit ? code : o->admit(o->context, &p->cost, err);
}

rapt_code explain_pass(rapt_explanation *e, rapt_tape *t, explain_selection *s, const rapt_explain_options *o, rapt_error *err)
{
    explain_lens lens;
    pass p = {.e = e, .t = t, .selection = s, .lens = o->lens ? &lens : NULL};
    explain_lens_init(&lens, e, t);
    e->parts.model = s->count == 0;
    e->parts.tokens = explain_wants(s, "tokens");
    rapt_code code = explain_ask(&p, o, err);
    if (!code && o->lens)
        code = explain_lens_open(&lens, err);
    code = code ? code : explain_run(&p, explain_take, err);
    explain_lens_free(&lens);
    return code;
}
