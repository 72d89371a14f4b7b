/* tests/ops/test_recompute.c: blocks that are recomputed in the backward pass: training gives the same bits and takes less
 * memory, and recomputing is off in an observed pass; memory of long rows. Gradients of single blocks are checked with all
 * operations, by ops_table.h.
 * labels: not-raced sanitized-late */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nn/lm_model.h"

#include "options.h"
#include "tape/tape_core.h"
#include "rapt/train.h"

#define BATCH 3
#define TIME 75 /* more queries than the attention takes at once */
#define STEPS 2

/* ---- training with and without ---------------------------------------------------------------------------- */

/* One of the two kinds of model. */
typedef struct net {
    rapt_lm *lm;
    rapt_transformer *pairs;
    rapt_params *params;
    bool ragged; /* rows of unequal length, without padding */
} net;

static net net_of_pairs(size_t variant, bool ragged)
{
    rapt_transformer *m = model_of(model_variant(variant));
    return (net){.pairs = m, .params = m->params, .ragged = ragged};
}

static net net_of_text(size_t variant)
{
    rapt_lm_config c = lm_variant(variant);
    c.layers = 3, c.block.d_model = 36, c.block.ffn = 83, c.context = TIME;
    rapt_lm *m = lm_model(&c);
    return (net){.lm = m, .params = m->params};
}

static void net_free(net *n)
{
    rapt_lm_free(n->lm);
    rapt_transformer_free(n->pairs);
}

/* Between them: both places of the norm, both kinds, shared ones, all activations and positions, grouped heads. */
#define NETS 12
static net net_at(size_t i)
{
    static const size_t pairs[] = {0, 1, 2, 1, 4, 5}, variants[] = {0, 8, 41, 75, 98, 139};
    return i < 6 ? net_of_pairs(pairs[i], i / 2) : net_of_text(variants[i - 6]);
}

static rapt_tensor *loss_of(rapt_tape *t, const net *n)
{
    static int32_t ids[BATCH * TIME], labels[BATCH * TIME];
    static const int32_t source_lens[BATCH] = {TIME, 3, 20}, target_lens[BATCH] = {17, TIME, 1};
    const rapt_loss_options o = {.label_smoothing = 0.1, .valid_lens = n->pairs ? target_lens : NULL};
    rapt_tokens tokens = {ids, BATCH, TIME, NULL}, targets = {labels, BATCH, TIME, n->ragged ? target_lens : NULL};
    model_ids(ids, BATCH * TIME, 3);
    model_ids(labels, BATCH * TIME, 4);
    if (n->lm)
        return rapt_lm_loss(t, n->lm, tokens, targets, &o, NULL);
    tokens.lens = n->ragged ? source_lens : NULL;
    rapt_tensor *logits = rapt_transformer_forward(t, n->pairs, tokens, source_lens, targets);
    targets.lens = NULL;
    return rapt_op_cross_entropy(t, logits, targets, &o, NULL);
}

static double walk(rapt_tape *t, const net *n, rapt_pass pass)
{
    rapt_error err = {0};
    pass.record = true;
    rapt_tape_begin(t, pass);
    rapt_tensor *loss = loss_of(t, n);
    if (rapt_backward(t, loss, &err))
        fail_msg("%s", err.message);
    return (double)loss->data[0];
}

/* All that training makes, one number after the other. */
typedef struct numbers {
    rapt_real *x;
    size_t count;
} numbers;

static void keep(numbers *to, const rapt_real *x, size_t n)
{
    memcpy(to->x + to->count, x, n * sizeof *x);
    to->count += n;
}

static void keep_params(numbers *to, const rapt_params *set, bool gradients)
{
    for (size_t i = 0; i < rapt_params_count(set); i++) {
        const rapt_tensor *p = &rapt_params_at(set, i)->value;
        if (!gradients || p->grad_filled)
            keep(to, gradients ? p->grad : p->data, rapt_tensor_size(p));
    }
}

static size_t size_of(const rapt_params *set)
{
    size_t n = 0;
    for (size_t i = 0; i < rapt_params_count(set); i++)
        n += rapt_tensor_size(&rapt_params_at(set, i)->value);
    return n;
}

/* Two passes a step, so that gradients add up. */
static void take_step(rapt_tape *t, const net *n, rapt_adam *adam, uint64_t step, bool recompute, numbers *to)
{
    rapt_error err = {0};
    for (uint64_t i = 0; i < 2; i++) {
        rapt_pass pass = {.training = true, .seed = 5, .step = 2 * step + i, .recompute = recompute};
        rapt_real loss = (rapt_real)walk(t, n, pass);
        keep(to, &loss, 1);
    }
    keep_params(to, n->params, true);
    if (rapt_adam_step(adam, t, 0.01, 1, &err))
        fail_msg("%s", err.message);
    keep_params(to, n->params, false);
    rapt_params_zero_grad(n->params);
}

static numbers train(size_t which, const char *frozen, rapt_compute options, bool recompute)
{
    net n = net_at(which);
    rapt_tape *t = rapt_tape_new(&options, NULL);
    rapt_params_freeze(n.params, frozen);
    rapt_adam *adam = rapt_adam_new(n.params, &ADAM(.beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8), NULL);
    numbers to = {malloc(2 * STEPS * (size_of(n.params) + 1) * sizeof *to.x), 0};
    assert_true(t && adam && to.x);
    for (uint64_t step = 0; step < STEPS; step++)
        take_step(t, &n, adam, step, recompute, &to);
    rapt_adam_free(adam);
    rapt_tape_free(t);
    net_free(&n);
    return to;
}

static void compare(size_t which, const char *frozen, rapt_type precision)
{
    numbers want = train(which, frozen, (rapt_compute){.threads = 1, .type = precision}, false);
    for (int threads = 1; threads <= 3; threads++) {
        char what[96];
        numbers got = train(which, frozen, (rapt_compute){.threads = threads, .type = precision}, true);
        snprintf(what, sizeof what, "model %zu, %s frozen, %d threads", which, frozen, threads);
        assert_int_equal(got.count, want.count);
        model_same(what, want.x, got.x, want.count);
        free(got.x);
    }
    free(want.x);
}

static void training_gives_the_same_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < NETS; i++)
        compare(i, "nothing", RAPT_TYPE_FP32);
    compare(1, "nothing", RAPT_TYPE_BF16);
    compare(7, "nothing", RAPT_TYPE_BF16);
}

/* Blocks whose input wants no gradient, and blocks that want none at all. */
static void so_it_does_with_frozen_parts(void **state)
{
    (void)state;
    compare(0, "encoder.*", RAPT_TYPE_FP32);
    compare(1, "*.embedding.weight", RAPT_TYPE_FP32);
    compare(5, "[ep]*", RAPT_TYPE_FP32);
    compare(5, "blocks.1.*", RAPT_TYPE_FP32);
}

/* ---- which blocks are recomputed ---------------------------------------------------------------------------- */

/* How often attention was computed in a pass. */
static uint64_t attentions(rapt_tape *t, const net *n, rapt_pass pass)
{
    size_t count;
    uint64_t calls = 0;
    rapt_tape_profile(t, true);
    walk(t, n, pass);
    const rapt_profile_entry *entry = rapt_tape_profile_entries(t, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(entry[i].op, "attention") == 0 && !entry[i].backward)
            calls += entry[i].calls;
    rapt_tape_profile(t, false);
    return calls;
}

/* What is dropped later in the pass depends on how often that was done before. */
static void the_backward_pass_draws_no_dropout(void **state)
{
    uint64_t drawn[2];
    (void)state;
    net n = net_of_text(0);
    rapt_tape *t = model_tape(NULL, 1);
    for (size_t i = 0; i < 2; i++) {
        walk(t, &n, (rapt_pass){.training = true, .recompute = i});
        drawn[i] = t->dropouts;
    }
    assert_true(drawn[0] > 0 && drawn[1] == drawn[0]);
    rapt_tape_free(t);
    net_free(&n);
}

static void count_steps(void *context, const rapt_observation *step)
{
    size_t *count = context;
    *count += strstr(step->name, "ffn.hidden") != NULL && step->gradient;
}

/* A language model of three blocks; encoder and decoder of two, of one attention each and of two. */
static void blocks_run_twice_on_request(void **state)
{
    (void)state;
    net text = net_of_text(0), pairs = net_of_pairs(0, true);
    rapt_tape *t = model_tape(NULL, 1);
    assert_int_equal(attentions(t, &text, (rapt_pass){0}), 3);
    assert_int_equal(attentions(t, &text, (rapt_pass){.recompute = true}), 6);
    assert_int_equal(attentions(t, &pairs, (rapt_pass){.recompute = true}), 12);
    assert_int_equal(attentions(t, &text, (rapt_pass){.recompute = true, .keep_gradients = true}), 3);
    rapt_params_freeze(pairs.params, "encoder.*"); /* which then need not be recomputed */
    assert_int_equal(attentions(t, &pairs, (rapt_pass){.recompute = true}), 10);
    rapt_tape_begin(t, (rapt_pass){.recompute = true}); /* nothing is recorded */
    loss_of(t, &text);
    assert_int_equal(rapt_tape_error(t)->code, RAPT_OK);
    rapt_tape_free(t);
    net_free(&text);
    net_free(&pairs);
}

/* Results, their gradients and attention weights are there all the same. */
static void whoever_looks_sees_everything(void **state)
{
    size_t gradients = 0;
    (void)state;
    net n = net_of_text(8);
    rapt_tape *t = model_tape(NULL, 2);
    rapt_tape_capture_attention(t, RAPT_CAPTURE_BEFORE_DROPOUT);
    assert_int_equal(attentions(t, &n, (rapt_pass){.recompute = true}), 3);
    assert_non_null(rapt_tape_attention(t, "blocks.1.attention"));
    rapt_tape_capture_attention(t, RAPT_CAPTURE_NONE);
    rapt_observe(t, count_steps, &gradients);
    walk(t, &n, (rapt_pass){.recompute = true});
    assert_int_equal(gradients, 3);
    rapt_tape_free(t);
    net_free(&n);
}

static void reports_name_the_block(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char text[128];
        net n = net_of_text(i ? 75 : 0); /* pre-norm, whose blocks end with a sum; post-norm */
        rapt_tape *t = model_tape(NULL, 1);
        n.lm->blocks[1].attention.v.weight->value.data[0] = NAN;
        rapt_tape_begin(t, (rapt_pass){.record = true, .recompute = true});
        loss_of(t, &n);
        assert_true(tape_first_not_finite(t, text, sizeof text));
        assert_non_null(strstr(text, "the result of blocks.1."));
        rapt_tape_free(t);
        net_free(&n);
    }
}

static rapt_tensor *give_back(rapt_tape *t, const void *module, const rapt_block_input *in)
{
    (void)t, (void)module;
    return in->x;
}

static rapt_tensor *split(rapt_tape *t, const void *module, const rapt_block_input *in)
{
    (void)module;
    return rapt_op_split_heads(t, in->x, 2);
}

static void blocks_make_their_own_of_the_same_shape(void **state)
{
    static const rapt_real x[] = {1, 2, 3, 4};
    (void)state;
    rapt_tape *t = model_tape(NULL, 1);
    for (int i = 0; i < 4; i++) {
        const bool again = i % 2;
        rapt_tape_begin(t, (rapt_pass){.record = true, .recompute = again});
        rapt_block_input in = {.x = rapt_tape_input(t, 3, (size_t[]){1, 2, 2}, x, true)};
        rapt_run_block(t, i < 2 ? give_back : split, NULL, in);
        assert_int_equal(rapt_tape_error(t)->code, again ? i < 2 ? RAPT_ERR_VALUE : RAPT_ERR_SHAPE : RAPT_OK);
        if (i == 3)
            assert_string_equal(rapt_tape_error(t)->message, "block: its output is [1, 2, 2, 1], its input [1, 2, 2]");
    }
    for (int i = 0; i < 2; i++) { /* a pass that is not recorded releases them, too */
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_block_input in = {.x = rapt_tape_input(t, 3, (size_t[]){1, 2, 2}, x, true)};
        rapt_run_block(t, i ? split : give_back, NULL, in);
        assert_int_equal(rapt_tape_error(t)->code, i ? RAPT_ERR_SHAPE : RAPT_ERR_VALUE);
    }
    rapt_tape_free(t);
}

/* ---- memory ------------------------------------------------------------------------------------------------- */

#define D 32
#define VOCAB 11

static rapt_lm *narrow_model(size_t layers, size_t context)
{
    return lm_model(&(rapt_lm_config){.vocab = VOCAB, .layers = layers, .context = context, .positions = RAPT_POSITIONS_ROTARY,
                                      .block = {.d_model = D, .heads = 2, .ffn = 2 * D, .norm_place = RAPT_NORM_PLACE_PRE,
                                                .init = RAPT_WEIGHT_INIT_PYTORCH, .no_ffn_bias = true, .no_norm_bias = true}});
}

static rapt_real step_on_rows(rapt_tape *t, const rapt_lm *m, size_t batch, bool recompute)
{
    rapt_error err = {0};
    size_t n = batch * m->config.context;
    int32_t *ids = malloc((n + 1) * sizeof *ids);
    assert_non_null(ids);
    for (size_t i = 0; i <= n; i++)
        ids[i] = (int32_t)rng_below(9, i, VOCAB);
    rapt_params_zero_grad(m->params);
    rapt_tape_begin(t, (rapt_pass){.record = true, .training = true, .recompute = recompute});
    rapt_tokens tokens = {ids, batch, m->config.context, NULL}, labels = {ids + 1, batch, m->config.context, NULL};
    rapt_tensor *loss = rapt_lm_loss(t, m, tokens, labels, NULL, NULL);
    if (rapt_backward(t, loss, &err))
        fail_msg("%s", err.message);
    free(ids);
    return loss->data[0];
}

static double memory_of(size_t layers, size_t batch, size_t context, bool recompute)
{
    rapt_tape *t = model_tape(NULL, 2);
    rapt_lm *m = narrow_model(layers, context);
    step_on_rows(t, m, batch, recompute);
    double bytes = (double)rapt_tape_memory(t);
    rapt_tape_free(t);
    rapt_lm_free(m);
    return bytes;
}

/* A further block keeps its input; otherwise at least what the products of its backward pass multiply: queries, keys,
 * values, what the heads give, and the hidden features, which are twice as many. */
static void a_block_costs_one_tensor(void **state)
{
    (void)state;
    const size_t batch = 4, context = 128;
    double tensor = (double)(batch * context * D * sizeof(rapt_real)), details = 2048;
    double with = memory_of(12, batch, context, true) - memory_of(2, batch, context, true);
    double without = memory_of(12, batch, context, false) - memory_of(2, batch, context, false);
    print_message("a block more takes %.2f of its input, %.2f without\n", with / 10 / tensor, without / 10 / tensor);
    assert_true(with <= 10 * (tensor + details));
    assert_true(without >= 10 * 6 * tensor);
}

/* Memory for a prompt: whole, or with a KV cache, which counts separately. */
static double inference_memory(size_t layers, bool cached)
{
    rapt_error err = {0};
    rapt_tape *t = model_tape(NULL, 2);
    rapt_lm *m = narrow_model(layers, 256);
    rapt_kv_cache *cache = rapt_kv_cache_new(rapt_lm_kv_sizes(m, 1), &err);
    int32_t ids[256] = {1, 2, 3};
    assert_non_null(cache);
    rapt_tape_begin(t, (rapt_pass){0});
    const rapt_tokens tokens = {ids, 1, 256, NULL};
    if (cached)
        rapt_lm_step(t, m, cache, tokens, true);
    else
        rapt_lm_hidden(t, m, tokens);
    assert_int_equal(rapt_tape_error(t)->code, RAPT_OK);
    const double bytes = (double)rapt_tape_memory(t);
    rapt_kv_cache_free(cache);
    rapt_lm_free(m);
    rapt_tape_free(t);
    return bytes;
}

/* A further block keeps its output. */
static void inference_keeps_one_tensor_a_block(void **state)
{
    const double tensor = 256 * D * sizeof(rapt_real), details = 2048;
    (void)state;
    for (int cached = 0; cached < 2; cached++) {
        const double more = inference_memory(12, cached) - inference_memory(2, cached);
        print_message("a block more takes %.2f of its input\n", more / 10 / tensor);
        assert_true(more <= 10 * (tensor + details));
    }
}

/* One matrix of weights [time, time], of whatever head or block, would make the growth four times as large. */
static void memory_is_linear_in_the_row(void **state)
{
    (void)state;
    for (int recompute = 0; recompute < 2; recompute++) {
        double bytes[3];
        for (size_t i = 0; i < 3; i++)
            bytes[i] = memory_of(2, 1, (size_t)512 << i, recompute);
        print_message("rows of 512, 1,024 and 2,048 tokens: %.0f, %.0f and %.0f KiB\n", bytes[0] / 1024, bytes[1] / 1024,
                      bytes[2] / 1024);
        assert_true(bytes[2] - bytes[1] <= 2.1 * (bytes[1] - bytes[0]));
    }
}

static void rows_of_8192_tokens(void **state)
{
    (void)state;
    rapt_tape *t = model_tape(NULL, 2);
    rapt_lm *m = narrow_model(1, 8192);
    rapt_real without = step_on_rows(t, m, 1, false);
    numbers want = {malloc(size_of(m->params) * sizeof *want.x), 0}, got = {malloc(size_of(m->params) * sizeof *got.x), 0};
    assert_true(want.x && got.x);
    keep_params(&want, m->params, true);
    for (size_t i = 0; i < want.count; i++)
        assert_true(isfinite((double)want.x[i]));
    rapt_real with = step_on_rows(t, m, 1, true);
    keep_params(&got, m->params, true);
    model_same("the loss", &without, &with, 1);
    model_same("the gradients", want.x, got.x, want.count);
    free(want.x);
    free(got.x);
    rapt_tape_free(t);
    rapt_lm_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_gives_the_same_bits),
        cmocka_unit_test(so_it_does_with_frozen_parts),
        cmocka_unit_test(blocks_run_twice_on_request),
        cmocka_unit_test(the_backward_pass_draws_no_dropout),
        cmocka_unit_test(whoever_looks_sees_everything),
        cmocka_unit_test(reports_name_the_block),
        cmocka_unit_test(blocks_make_their_own_of_the_same_shape),
        cmocka_unit_test(a_block_costs_one_tensor), cmocka_unit_test(inference_keeps_one_tensor_a_block),
        cmocka_unit_test(memory_is_linear_in_the_row),
        cmocka_unit_test(rows_of_8192_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
