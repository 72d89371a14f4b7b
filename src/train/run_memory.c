/* train/run_memory.c: counts the memory of a run. There are no formulas for operations here: the model is made without elements
 * (RAPT_SEED_SHAPES), and the passes of a run are executed on a tape that counts memory and does not compute (tape/tape_core.h),
 * so that the count equals a real step's. */
#include "train/set_up.h"

#include "base/memory.h"
#include "io/model_core.h"
#include "tape/tape_core.h"
#include "tensor/param_source.h"
#include "tensor/params.h"
#include "train/optimizer/grad_release.h"
#include "train/optimizer/moments8.h"
#include "train/optimizer/moving_average.h"
#include "train/optimizer/muon.h"
#include "train/optimizer/sgd.h"
#include "train/shards/shard_batches.h"
#include "train/shards/step_shards.h"
#include "train/step.h"
#include "train/step_passes.h"

#include <stdio.h>

#define MAX_TOKENS ((size_t)1 << 20) /* max tokens of a batch that is counted directly; larger ones are extrapolated from two
                                        smaller ones */
#define SMALL_THINGS ((size_t)8 << 20) /* allowance for what is not counted: lists, buffers, ends of pages */
#define TRANSLATING ((size_t)16 << 20) /* for each thread of a translator: a tape, the states of a search */
#define TRANSLATING_SPACE ((size_t)96 << 20) /* addresses for its stack and its own heap */
#define ROW 32 /* bytes of a row of a batch besides its tokens */
#define REST 32 /* 1/32 of the whole for page tables, a stack, a tokenizer's cache */

typedef struct need {
    size_t parameters, trained; /* bytes */
    size_t held;                /* bytes of memory that weights which stay in their file would take (param_source_hold) */
    size_t unread;              /* bytes of parameters that the first pass will read from a file */
    size_t gradients, moments;
    size_t moments_space;       /* address space of moments, all of them */
    size_t shards_space;        /* address space of the gradients of shards */
    size_t step, scratch, workspace; /* of the tape */
    size_t batches;             /* that are drawn: of training, and of the validation set */
    size_t set;                 /* address space that the parameters will take, with their gradients */
    size_t evaluation, evaluation_space; /* for a translator: packed weights, tapes, searches */
} need;

static size_t resident(const need *n)
{
    size_t sum = n->parameters + n->gradients + n->moments + n->step + n->scratch + n->workspace + n->batches + n->evaluation;
    return sum + sum / REST + SMALL_THINGS;
}

/* The tape asks for an eighth more than it needs, at once. */
static size_t address_space(const need *n)
{
    return n->set + n->evaluation_space + n->moments_space + n->shards_space + n->step + n->step / 8 + n->scratch +
           n->scratch / 8 + n->workspace + n->batches + SMALL_THINGS;
}

/* Whether the batch size counts tokens; else it counts sentences or windows. */
static bool by_tokens(const rapt_recipe *k)
{
    return k->task == RAPT_TASK_TRANSLATION && k->train.batch_tokens > 0;
}

/* ---- counting ------------------------------------------------------------------------------------------------- */

/* Gradients of a step's shards are sums that wait for each other; for sparse parameters they have few rows (a step uses at most
 * an eighth). */
static void count_shards(const run *r, size_t dense, size_t dense_moments, need *n)
{
    size_t depth = shard_sums_depth(shard_batches_own(r), (uint32_t)r->recipe->train.shards), rows = (n->trained - dense) / 4;
    n->gradients += (depth - 1) * dense + rows;
    n->shards_space = depth * dense + rows;
    if (!r->group)
        return;
    n->moments -= dense_moments - dense_moments / (size_t)r->ranks; /* pages of other ranks' moments are never touched */
    n->gradients += rows;                                           /* rows of the other ranks */
    n->shards_space += dense + rows;                                /* parameters in one array */
}

/* Bytes of both moments of a parameter, or of Muon's one; SGD has one with momentum, else none. */
static size_t planned_moments(const run *r, const rapt_muon_options *muon, const rapt_param *p)
{
    const bool codes = r->recipe->train.optimizer == RAPT_RECIPE_OPTIMIZER_ADAM8BIT && moments8_fit(p);
    const size_t bytes = rapt_tensor_size(&p->value) * sizeof(rapt_real);
    rapt_sgd_options sgd;
    if (sgd_of_recipe(r->recipe, &sgd))
        return sgd.momentum > 0 ? bytes : 0;
    return codes ? 2 * moments8_bytes(p) : muon && muon_takes(muon, p) ? bytes : 2 * bytes;
}

static void count_parameters(const run *r, need *n)
{
    const rapt_params *set = r->model->params;
    rapt_muon_options muon;
    const bool with_muon = muon_of_recipe(r->recipe, &muon);
    size_t dense = 0, dense_moments = 0;
    for (size_t i = 0; i < rapt_params_count(set); i++) {
        const rapt_param *p = params_at(set, i);
        size_t bytes = rapt_tensor_size(&p->value) * sizeof(rapt_real), moments = planned_moments(r, with_muon ? &muon : NULL, p);
        const bool held = param_source_is_held(p) && !param_source_kept(p, true); /* what is kept takes a matrix's memory */
        n->parameters += held ? 0 : bytes;
        n->held += held ? bytes : 0;
        n->unread += !held && param_source_type(p) ? bytes : 0;
        n->trained += p->buffer || p->frozen ? 0 : bytes;
        n->gradients += p->buffer || p->frozen ? 0 : p->value.grad_bf16 ? bytes / 2 : bytes;
        n->moments += p->buffer || p->frozen ? 0 : moments;
        dense += gradient_layout_has(p) ? bytes : 0;
        dense_moments += gradient_layout_has(p) ? moments : 0;
    }
    n->moments += with_muon ? muon_room(&muon, set) * sizeof(rapt_real) : 0;
    n->moments += r->recipe->train.ema > 0 ? moving_average_bytes(set) : 0;
    n->moments_space = n->moments;
    if (r->recipe->train.shards > 1)
        count_shards(r, dense, dense_moments, n);
    n->set = params_space(set);
    if (!r->recipe->train.eval_bleu || !r->task->score)
        return;
    size_t threads = (size_t)rapt_tape_threads(r->tape);
    const size_t all = n->parameters + n->held; /* a translator packs them */
    n->evaluation = all + threads * TRANSLATING;
    n->evaluation_space = all + all / 2 + threads * TRANSLATING_SPACE;
}

static size_t batch_bytes(const train_batch *b)
{
    const size_t tokens = b->source.batch * b->source.time + b->inputs.batch * b->inputs.time + b->labels.batch * b->labels.time;
    return tokens * sizeof(int32_t) + b->labels.batch * ROW;
}

/* Counts the passes of a step and of validation over a batch of this size, in the recipe's unit. */
static rapt_code count_passes(run *r, size_t size, need *n, rapt_error *err)
{
    train_batch batch;
    pass_sums parts;
    const rapt_pass training = {.record = true, .training = true};
    rapt_code code = r->task->sized(r, size, false, &batch, err);
    n->batches = code ? 0 : batch_bytes(&batch) * (size_t)(step_passes(r->recipe) / step_draws(r->recipe));
    tape_count(r->tape, true);
    if (r->release)
        grad_release_learn(r->release);
    if (!code)
        code = step_pass(r, &batch, training, step_normalizer(r->recipe), &parts, err);
    if (r->release) {
        grad_release_learnt(r->release);
        n->gradients = grad_release_bytes(r->release);
    }
    if (!code && run_validates(r)) {
        code = r->task->sized(r, size, true, &batch, err);
        n->batches += code ? 0 : batch_bytes(&batch);
        if (!code)
            code = step_pass(r, &batch, (rapt_pass){0}, 0, &parts, err);
    }
    n->step = r->tape->step.peak;
    n->scratch = r->tape->scratch.peak;
    n->workspace = rapt_tape_memory(r->tape) - n->step - n->scratch;
    tape_count(r->tape, false);
    rapt_params_zero_grad(r->model->params);
    return code;
}

/* Linear extrapolation from two sizes. */
static size_t extrapolate(size_t at1, size_t at2, size_t size1, size_t size2, size_t size)
{
    return at2 + (size_t)((double)(at2 - at1) / (double)(size2 - size1) * (double)(size - size2));
}

/* The tape's memory with a batch of `size`. All windows have equal length, so large batches are extrapolated from small ones. */
static rapt_code count_batch(run *r, size_t size, need *n, rapt_error *err)
{
    bool windows = r->recipe->task == RAPT_TASK_LANGUAGE_MODEL;
    size_t max = MAX_TOKENS / (size_t)r->recipe->model.context / 2 * 2;
    max = max > 2 ? max : 2;
    if (!windows || size <= max)
        return count_passes(r, size, n, err);
    need half = {0};
    rapt_code code = count_passes(r, max / 2, &half, err);
    if (!code)
        code = count_passes(r, max, n, err);
    if (!code) {
        n->step = extrapolate(half.step, n->step, max / 2, max, size);
        n->batches = extrapolate(half.batches, n->batches, max / 2, max, size);
    }
    return code;
}

/* ---- the limits ----------------------------------------------------------------------------------------------- */

typedef struct budget {
    memory_limit limits[MEMORY_LIMITS];
    size_t taken, mapped; /* memory and addresses that are already in use: parameters that were loaded; their gradients
                             are mapped, and touched by the first step */
} budget;

/* The part of a need that a limit counts, plus what is already in use. */
static size_t counted(const budget *b, int limit, const need *n)
{
    return b->limits[limit].address_space ? b->mapped + address_space(n) : resident(n);
}

/* What a limit allows in all, including what is already in use. */
static size_t capacity_of(const budget *b, int limit)
{
    const memory_limit *l = &b->limits[limit];
    size_t there = l->address_space ? b->mapped : b->taken;
    return l->available < SIZE_MAX - there ? l->available + there : SIZE_MAX;
}

/* Among the limits that are too low, the one that lacks most; MEMORY_LIMITS if none is too low. */
static int exceeded_limit(const budget *b, const need *n)
{
    int worst = MEMORY_LIMITS;
    size_t lack = 0;
    for (int limit = 0; limit < MEMORY_LIMITS; limit++) {
        size_t all = counted(b, limit, n), capacity = capacity_of(b, limit);
        if (all > capacity && all - capacity > lack) {
            lack = all - capacity;
            worst = limit;
        }
    }
    return worst;
}

/* A size between one that fits and one that doesn't: where a straight line meets the limit, or every third time halfway. */
static size_t next_size(const budget *b, int limit, const need *low, const need *high, size_t min, size_t max, int round)
{
    double from = (double)counted(b, limit, low), to = (double)counted(b, limit, high), capacity = (double)capacity_of(b, limit);
    double share = to > from && capacity > from ? (capacity - from) / (to - from) : 0;
    size_t wide = max - min, step = round % 3 == 2 ? wide / 2 : (size_t)((share < 1 ? share : 1) * (double)wide);
    return step < 1 ? min + 1 : step >= wide ? max - 1 : min + step;
}

/* The largest batch below `size` that fits, or 0. `over`: the need with `size`, for which `limit` is too low. */
static rapt_code largest_that_fits(run *r, const budget *b, need over, int limit, size_t size, size_t *fits, rapt_error *err)
{
    need fixed = over, low;
    fixed.step = fixed.scratch = fixed.batches = 0;
    low = fixed;
    size_t max = size;
    *fits = 0;
    for (int round = 0; max - *fits > 1; round++) {
        size_t middle = next_size(b, limit, &low, &over, *fits, max, round);
        need n = fixed;
        rapt_code code = count_batch(r, middle, &n, err);
        if (code)
            return code;
        int exceeded = exceeded_limit(b, &n);
        if (exceeded == MEMORY_LIMITS)
            *fits = middle, low = n;
        else
            max = middle, over = n, limit = exceeded;
    }
    return RAPT_OK;
}

/* ---- the message ---------------------------------------------------------------------------------------------- */

typedef struct size_text {
    char text[32];
} size_text;

static size_text bytes_text(size_t bytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    size_text t;
    size_t unit = 0;
    double x = (double)bytes / 1000;
    for (; x >= 999.95 && unit < 5; unit++)
        x /= 1000;
    snprintf(t.text, sizeof t.text, "%.1f %s", x, units[unit]);
    return t;
}

/* Writes advice: which value to lower. */
static void advise(const run *r, size_t size, size_t fits, char *text, size_t capacity)
{
    const rapt_recipe *k = r->recipe;
    bool pairs = k->task == RAPT_TASK_TRANSLATION;
    const char *key = by_tokens(k) ? "train.batch_tokens" : "train.batch";
    const char *length = pairs ? "data.max_len" : "model.context", *again = k->train.recompute ? "" : ", or set train.recompute";
    const size_t accumulate = fits ? ((size_t)k->train.accumulate * size + fits - 1) / fits : 0;
    const size_t cuts = (size_t)(step_passes(k) / (uint64_t)k->train.accumulate); /* passes of a batch, each of `size` */
    if (fits && k->train.release_gradients) /* which does not accumulate */
        snprintf(text, capacity, "%s is %zu, and at most %zu fits; or lower %s%s", key, size, fits, length, again);
    else if (fits)
        snprintf(text, capacity, "%s is %zu, and at most %zu fits (with train.accumulate %zu a step sees as much); or lower %s%s",
                 key, size * cuts, fits * cuts, accumulate, length, again);
    else
        snprintf(text, capacity, "not even %s 1 fits: lower model.layers, model.d_model or %s%s", key, length, again);
}

static rapt_code run_memory_refuse(run *r, const budget *b, const need *n, int limit, size_t size, rapt_error *err)
{
    char advice[256];
    size_t fits;
    const memory_limit *l = &b->limits[limit];
    rapt_code code = largest_that_fits(r, b, *n, limit, size, &fits, err);
    if (code)
        return code;
    advise(r, size, fits, advice, sizeof advice);
    const size_t work = n->step + n->scratch + n->workspace + n->batches;
    return rapt_fail(err, RAPT_ERR_MEMORY,
                     "this run takes %s of %s (parameters %s, gradients and optimizer %s, activations and scratch %s); %s %s: %s",
                     bytes_text(counted(b, limit, n)).text, l->address_space ? "address space" : "memory",
                     bytes_text(n->parameters).text, bytes_text(n->gradients + n->moments).text,
                     bytes_text(work).text, l->says, bytes_text(capacity_of(b, limit)).text, advice);
}

/* ---- all of it ------------------------------------------------------------------------------------------------ */

/* Tells the plan: a process alone at once, a group when all ranks have theirs (ranks_tell_plan). */
static void run_memory_report(run *r, const need *n)
{
    rapt_memory_plan plan = {.parameters = n->parameters, .gradients = n->gradients, .moments = n->moments,
                             .activations = n->step + n->scratch + n->workspace, .evaluation = n->evaluation,
                             .batches = n->batches, .parameter_count = rapt_params_size(r->model->params),
                             .trained_count = n->trained / sizeof(rapt_real),
                             .frozen_count = r->base_count, .gemm = rapt_tape_gemm(r->tape)};
    for (size_t i = 0; i < rapt_params_count(r->model->params); i++) {
        const rapt_param *p = params_at(r->model->params, i);
        plan.sparse += p->sparse ? rapt_tensor_size(&p->value) : 0;
    }
    r->task->describe(r, &plan);
    r->plan = plan;
    if (r->options->on_plan && !r->group)
        r->options->on_plan(r->options->context, &plan);
}

rapt_code memory_check(run *r, rapt_error *err)
{
    need n = {0};
    budget b = {.taken = 0};
    size_t size = by_tokens(r->recipe) ? (size_t)r->recipe->train.batch_tokens : step_pass_rows(r->recipe);
    count_parameters(r, &n);
    memory_limits("", b.limits);
    if (r->recipe->train.release_gradients && !(r->release = grad_release_new(r->tape, r->model->params, err)))
        return err->code;
    rapt_code code = count_batch(r, size, &n, err);
    if (code)
        return code;
    run_memory_report(r, &n);
    b.taken = r->init ? n.parameters - n.unread : 0;
    b.mapped = r->init ? n.parameters + n.held + n.trained : 0;
    int limit = exceeded_limit(&b, &n);
    if (limit < MEMORY_LIMITS)
        return run_memory_refuse(r, &b, &n, limit, size, err);
    tape_expect(r->tape, n.step + n.step / 8, n.scratch + n.scratch / 8);
    return RAPT_OK;
}
