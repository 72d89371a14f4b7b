/* tape/observe.c: named intermediates of a pass, passed to the observer as they are computed, and their gradients after the
 * backward pass. For operations, which know what they compute, in the scopes of modules, which know their names. */
#include "tape/observe_op.h"

#include <stdio.h>
#include <string.h>

struct tape_step {
    tape_step *previous;
    const char *name, *what, *formula, *axes; /* what: the end of the name, within its scope */
    const rapt_tensor *tensor;
    observe_source from;
};

void rapt_observe(rapt_tape *t, rapt_observe_fn *fn, void *context)
{
    t->observer.fn = fn;
    t->observer.context = context;
}

/* The length of `name` without its last `parts` components. */
static size_t observe_without(const char *name, int parts)
{
    size_t length = strlen(name);
    for (; parts > 0 && length > 0; parts--)
        while (length > 0 && name[--length] != '.')
            ;
    return length;
}

observe_scope observe_enter(rapt_tape *t, const char *name, int parts)
{
    observe_scope outer = t->observer.scope;
    t->observer.scope = name ? (observe_scope){name, observe_without(name, parts)} : (observe_scope){"", 0};
    return outer;
}

rapt_tensor *observe_leave(rapt_tape *t, observe_scope outer, rapt_tensor *y)
{
    t->observer.scope = outer;
    return y;
}

observe_scope observe_nothing(rapt_tape *t)
{
    observe_scope outer = t->observer.scope;
    t->observer.scope = (observe_scope){0};
    return outer;
}

const char *observe_layer(rapt_tape *t, const char *parameter)
{
    size_t end = parameter ? observe_without(parameter, 1) : 0, begin = parameter ? observe_without(parameter, 2) : 0;
    begin += begin > 0; /* a dot */
    char *text = tape_alloc(t, end - begin + 1, 1);
    if (text && end > begin)
        memcpy(text, parameter + begin, end - begin);
    if (text)
        text[end - begin] = '\0';
    return text;
}

static const char *observe_join(rapt_tape *t, observe_scope s, const char *what)
{
    size_t size = s.length + strlen(what) + 2;
    char *text = tape_alloc(t, size, 1);
    if (text)
        snprintf(text, size, "%.*s%s%s", (int)s.length, s.text, s.length > 0 && *what ? "." : "", what);
    return text;
}

/* The last words of `axes`, one for each dimension of x: modules also run on rows without a batch. */
static const char *observe_axes(const rapt_tensor *x, const char *axes)
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

/* A pass that is only counted has no elements: there are no values to read. */
static void observe_hand_over(const rapt_tape *t, const tape_step *s, bool gradient)
{
    const rapt_real *values = gradient ? s->tensor->grad : s->tensor->data;
    rapt_observation o = {s->name, s->formula, s->axes, s->tensor, tape_computes(t) ? values : NULL, gradient};
    t->observer.fn(t->observer.context, &o);
}

void observe_from(rapt_tape *t, observe_source from)
{
    if (observe_here(t))
        t->observer.from = from;
}

rapt_tensor *observe_tensor(rapt_tape *t, const char *what, const char *formula, const char *axes, rapt_tensor *x)
{
    if (!observe_here(t) || tape_failed(t))
        return x;
    const observe_source from = t->observer.from;
    t->observer.from = (observe_source){0};
    tape_step *step = tape_alloc(t, 1, sizeof *step);
    const char *name = observe_join(t, t->observer.scope, what);
    if (!step || !name)
        return x;
    *step = (tape_step){t->observer.steps, name, what, formula, observe_axes(x, axes), x, from};
    t->observer.steps = step;
    observe_hand_over(t, step, false);
    return x;
}

static const tape_step *observe_step_of(const rapt_tape *t, const rapt_tensor *x)
{
    const tape_step *s = t->observer.steps;
    while (s && s->tensor != x)
        s = s->previous;
    return s;
}

observe_names observe_sources(const rapt_tape *t)
{
    const observe_source *from = &t->observer.steps->from;
    observe_names names = {.constant = from->constant};
    for (int i = 0; i < 2; i++) {
        const tape_step *input = from->inputs[i] ? observe_step_of(t, from->inputs[i]) : NULL;
        names.inputs[i] = input ? input->name : NULL;
        names.parameters[i] = from->parameters[i] ? from->parameters[i]->name : NULL;
    }
    return names;
}

bool observe_is(const rapt_tape *t, const rapt_tensor *x, const char *what)
{
    const tape_step *s = observe_step_of(t, x);
    return s && strcmp(s->what, what) == 0;
}

rapt_tensor *observe_dropped(rapt_tape *t, const rapt_tensor *x, rapt_tensor *y)
{
    const tape_step *s = observe_here(t) && y != x ? observe_step_of(t, x) : NULL;
    const char *what = s ? observe_join(t, (observe_scope){s->what, strlen(s->what)}, "dropped") : NULL;
    return what ? observe_tensor(t, what, "dropout", s->axes, y) : y;
}

rapt_tensor *observe_copy(rapt_tape *t, const rapt_tensor *x)
{
    rapt_tensor *y = tape_failed(t) ? NULL : tape_alloc(t, 1, sizeof *y);
    rapt_real *data = y ? tape_elements(t, rapt_tensor_size(x)) : NULL;
    if (!data)
        return NULL;
    *y = (rapt_tensor){.data = data, .ndim = x->ndim};
    memcpy(y->shape, x->shape, sizeof y->shape);
    return y;
}

/* softmax(logits), a copy for the observer. */
static void observe_probabilities(rapt_tape *t, const rapt_tensor *logits)
{
    rapt_tensor *y = observe_copy(t, logits);
    if (!y)
        return;
    size_t classes = rapt_tensor_features(y), rows = rapt_tensor_rows(y);
    rapt_real max, inv_sum;
    for (size_t i = 0; tape_computes(t) && i < rows; i++)
        t->k->softmax(classes, classes, logits->data + i * classes, NULL, 1, y->data + i * classes, &max, &inv_sum);
    observe_scope outer = observe_enter(t, NULL, 0);
    observe_leave(t, outer, observe_tensor(t, "probabilities", "softmax(output)", OBSERVE_LOGITS, y));
}

rapt_tensor *observe_logits(rapt_tape *t, const char *formula, rapt_tensor *logits)
{
    if (!observe_here(t) || tape_failed(t))
        return logits;
    observe_tensor(t, "output", formula, OBSERVE_LOGITS, logits);
    observe_probabilities(t, logits);
    return logits;
}

/* ---- gradients --------------------------------------------------------------------------------------------- */

static bool observe_is_result(const rapt_tape *t, const rapt_tensor *x)
{
    for (const tape_result *r = t->results; r; r = r->previous)
        if (&r->tensor == x)
            return true;
    return false;
}

/* A parameter has a name and is not a result of this pass. */
void observe_reached(rapt_tape *t, const rapt_tensor *x)
{
    for (const tape_step *s = t->observer.parameters; s; s = s->previous)
        if (s->tensor == x)
            return;
    if (!x->name || observe_is_result(t, x))
        return;
    tape_step *step = tape_alloc(t, 1, sizeof *step);
    if (!step)
        return;
    *step = (tape_step){.previous = t->observer.parameters, .name = x->name, .what = x->name,
                        .axes = observe_axes(x, NULL), .tensor = x};
    t->observer.parameters = step;
}

static tape_step *observe_reversed(tape_step *list)
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

static void observe_list(const rapt_tape *t, const tape_step *list)
{
    for (const tape_step *s = list; s && observe_on(t) && !tape_failed(t); s = s->previous)
        if (s->tensor->grad && s->tensor->grad_filled)
            observe_hand_over(t, s, true);
}

/* In the order of the backward pass: the gradient of the last intermediate is complete first. */
void observe_gradients(rapt_tape *t)
{
    t->observer.parameters = observe_reversed(t->observer.parameters);
    observe_list(t, t->observer.steps);
    observe_list(t, t->observer.parameters);
}
