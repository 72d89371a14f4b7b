/* explain/explain_lens.c: the logit lens. The model's own functions for what follows the last block run once for each depth, with
 * the residual stream of that depth in place of the last block's output: at the last depth they repeat what the pass did, to the
 * bit. */
#include "explain/explain_lens.h"

#include "io/model_core.h"
#include "nn/decoder_core.h"
#include "nn/lm_core.h"
#include "tape/tape_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The language model, or the decoder of a translation model. */
static const rapt_lm *lens_lm(const explain_lens *l)
{
    return l->e->model->task == RAPT_TASK_LANGUAGE_MODEL ? l->e->model->language.net : NULL;
}

static const rapt_decoder *lens_decoder(const explain_lens *l)
{
    return &l->e->model->translation.net->decoder;
}

void explain_lens_init(explain_lens *l, rapt_explanation *e, rapt_tape *t)
{
    *l = (explain_lens){.e = e, .t = t, .rows = explain_last(e)->count};
    const rapt_lm *m = lens_lm(l);
    l->depths = 1 + (m ? m->layers : lens_decoder(l)->layers);
    l->features = m ? m->config.block.d_model : l->e->model->translation.net->config.block.d_model;
}

static bool lens_open_depth(explain_lens *l, explain_depth *d)
{
    arena *memory = &l->e->memory;
    d->label_ranks = arena_array(memory, l->e->label_count + 1, sizeof *d->label_ranks);
    d->choice_ranks = arena_array(memory, l->rows, sizeof *d->choice_ranks);
    d->choice_probabilities = arena_array(memory, l->rows, sizeof *d->choice_probabilities);
    return d->label_ranks && d->choice_ranks && d->choice_probabilities;
}

rapt_code explain_lens_open(explain_lens *l, rapt_error *err)
{
    rapt_explanation *e = l->e;
    l->streams = calloc(l->depths * l->rows, l->features * sizeof *l->streams);
    e->lens = arena_zeroed(&e->memory, l->depths, sizeof *e->lens);
    bool ok = l->streams && e->lens;
    for (size_t i = 0; ok && i < l->depths; i++)
        ok = lens_open_depth(l, &e->lens[i]);
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a logit lens of %zu depths", l->depths);
}

void explain_lens_free(explain_lens *l)
{
    free(l->streams);
}

/* ---- the residual streams --------------------------------------------------------------------------------------- */

/* The input of block 0 is the last of these that the model has. */
static bool lens_is_input(const char *rest)
{
    static const char *const names[] = {"embedding", "embedding.scaled", "input", "embedding_norm.output"};
    bool is = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is = is || strcmp(rest, names[i]) == 0;
    return is;
}

/* The output of a block is what its last norm gives, or else the last residual sum. */
static bool lens_is_output(const explain_lens *l, const char *rest)
{
    const bool lm = lens_lm(l) != NULL;
    const rapt_norm_place place = lm ? lens_lm(l)->config.block.norm_place
                                     : l->e->model->translation.net->config.block.norm_place;
    char wanted[32];
    snprintf(wanted, sizeof wanted, ".norm%d.%s", lm ? 2 : 3, place == RAPT_NORM_PLACE_POST ? "output" : "sum");
    return strcmp(rest, wanted) == 0;
}

/* The depth at which the intermediate of this name is the residual stream; l->depths: at none. */
static size_t lens_depth_of(const explain_lens *l, const char *name)
{
    const char *prefix = lens_lm(l) ? "" : "decoder.", *blocks = lens_lm(l) ? "blocks." : "decoder.";
    if (strncmp(name, prefix, strlen(prefix)) == 0 && lens_is_input(name + strlen(prefix)))
        return 0;
    if (strncmp(name, blocks, strlen(blocks)) != 0)
        return l->depths;
    char *rest;
    const unsigned long block = strtoul(name + strlen(blocks), &rest, 10);
    return rest > name + strlen(blocks) && block + 1 < l->depths && lens_is_output(l, rest) ? block + 1 : l->depths;
}

void explain_lens_note(explain_lens *l, const rapt_observation *o)
{
    const size_t depth = o->gradient ? l->depths : lens_depth_of(l, o->name), size = l->rows * l->features;
    if (depth < l->depths && rapt_tensor_size(o->tensor) == size)
        memcpy(l->streams + depth * size, o->values, size * sizeof *o->values);
}

/* ---- what they predict ------------------------------------------------------------------------------------------ */

/* The place of a token: 1 + the number of those that the model's order of tokens has before it. */
static size_t lens_rank(const rapt_real *logits, size_t vocab, int32_t id)
{
    size_t before = 0;
    const rapt_real x = logits[id];
    for (size_t i = 0; i < vocab; i++)
        before += logits[i] > x || (logits[i] == x && i < (size_t)id);
    return before + 1;
}

static int32_t lens_choice(const explain_lens *l, size_t position)
{
    return l->e->own.ids[position * l->e->top];
}

static void lens_take_ranks(const explain_lens *l, const rapt_real *logits, size_t vocab)
{
    explain_depth *d = &l->e->lens[l->depth];
    for (size_t i = 0; i < l->rows; i++) {
        d->choice_ranks[i] = lens_rank(logits + i * vocab, vocab, lens_choice(l, i));
        if (i < l->e->label_count)
            d->label_ranks[i] = lens_rank(logits + i * vocab, vocab, l->e->labels[i]);
    }
}

static void lens_take_probabilities(const explain_lens *l, const rapt_real *probabilities, size_t vocab)
{
    for (size_t i = 0; i < l->rows; i++)
        l->e->lens[l->depth].choice_probabilities[i] = (double)probabilities[i * vocab + (size_t)lens_choice(l, i)];
}

static void lens_take(void *context, const rapt_observation *o)
{
    explain_lens *l = context;
    rapt_error err = {0};
    const size_t vocab = rapt_tensor_features(o->tensor);
    if (l->failure)
        return;
    l->failure = explain_predict(l->e, l->t->k, o, &l->e->lens[l->depth].at, &err);
    if (l->failure)
        rapt_tape_fail(l->t, l->failure, "the logit lens after %zu blocks: %s", l->depth, err.message);
    else if (explain_is_logits(l->e, o))
        lens_take_ranks(l, o->values, vocab);
    else if (explain_is_probabilities(o))
        lens_take_probabilities(l, o->values, vocab);
}

static void lens_count(void *context, const rapt_observation *o)
{
    explain_lens *l = context;
    l->cost->elements += rapt_tensor_size(o->tensor);
}

static rapt_code lens_run_depth(explain_lens *l, rapt_error *err)
{
    rapt_tape *t = l->t;
    rapt_tensor x = {.data = l->streams ? l->streams + l->depth * l->rows * l->features : NULL, .ndim = 3,
                     .shape = {1, l->rows, l->features}};
    rapt_observe(t, l->cost ? lens_count : lens_take, l);
    rapt_tape_begin(t, (rapt_pass){0});
    if (lens_lm(l))
        lm_logits(t, lens_lm(l), lm_last_norm(t, lens_lm(l), &x));
    else
        decoder_logits(t, lens_decoder(l), decoder_last_norm(t, lens_decoder(l), &x));
    rapt_observe(t, NULL, NULL);
    return rapt_tape_status(t, err);
}

/* What the streams and the results take, besides the memory of the tape. */
static void lens_add_cost(explain_lens *l)
{
    const size_t list = sizeof(int32_t) + sizeof(double), one = 4 * sizeof(double);
    l->cost->lens = l->depths * l->rows;
    l->cost->bytes += l->cost->lens * (l->features * sizeof(rapt_real) + EXPLAIN_TOP * list + one);
}

rapt_code explain_lens_run(explain_lens *l, rapt_explain_cost *cost, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    l->cost = cost;
    for (l->depth = 0; l->depth < l->depths && !code; l->depth++)
        code = lens_run_depth(l, err);
    if (cost)
        lens_add_cost(l);
    else if (!code)
        l->e->depths = l->depths;
    return code;
}
