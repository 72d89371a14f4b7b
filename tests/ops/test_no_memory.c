/* tests/ops/test_no_memory.c: every allocation of a training step and of decoding, and every thread that is started, is
 * made to fail in turn: the failure is reported, nothing crashes, nothing leaks. Linked as tests/failing.h says.
 * labels: threads */
#include "failing.h"

#include "ops_modules.h"
#include "options.h"

#include "nn/pack.h"
#include "tape/tape_core.h"
#include "rapt/train.h"

/* A scenario returns what went wrong, RAPT_OK if nothing did, and leaves nothing behind. */
typedef rapt_code scenario(void);

/* Repeats the scenario with its first, second, ... allocation failing, until none is left to fail. */
static void fail_each_allocation(const char *what, scenario *run, long at_least, long unnoticed)
{
    failing f = {.what = what, .at_least = at_least, .unnoticed = unnoticed, .threads = true};
    do {
        failing_arm(&f);
    } while (failing_again(&f, run()));
}

/* Chunks of one block each, so that nearly every request of an operation is an allocation. */
static void small_chunks(rapt_tape *t)
{
    t->step.chunk_size = t->step.first_size = t->scratch.chunk_size = t->scratch.first_size = 64;
}

static rapt_tape *small_chunk_tape(rapt_error *err)
{
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 3}, err);
    if (t)
        small_chunks(t);
    return t;
}

static rapt_transformer *small_model(rapt_error *err)
{
    rapt_transformer_config c = {.source_vocab = 7, .target_vocab = 7, .layers = 1, .max_positions = 8,
                                 .block = {.d_model = 6, .heads = 2, .ffn = 5, .bias = true, .dropout = 0.1}};
    return rapt_transformer_new(&c, 1, err);
}

static const int32_t ids[] = {1, 2, 3, 4, 5, 6, 0, 1}, lens[] = {3, 4};

static rapt_code train(rapt_tape *t, const rapt_transformer *m, rapt_error *err)
{
    rapt_tokens tokens = {ids, 2, 4};
    for (int step = 0; step < 2; step++) {
        rapt_params_zero_grad(m->params);
        rapt_tape_capture_attention(t, RAPT_CAPTURE_AFTER_DROPOUT);
        rapt_tape_begin(t, (rapt_pass){.record = true, .training = true});
        rapt_tensor *logits = rapt_transformer_forward(t, m, tokens, lens, tokens);
        rapt_tensor *loss = rapt_op_cross_entropy(t, logits, tokens, &(rapt_loss_options){.valid_lens = lens}, NULL);
        if (rapt_backward(t, loss, err))
            return err->code;
    }
    return RAPT_OK;
}

static rapt_code training(void)
{
    rapt_error err = {0};
    rapt_transformer *m = small_model(&err);
    rapt_tape *t = m ? small_chunk_tape(&err) : NULL;
    if (t)
        train(t, m, &err);
    rapt_tape_free(t);
    rapt_transformer_free(m);
    return err.code;
}

static rapt_code decode(rapt_tape *t, rapt_transformer *m, rapt_error *err)
{
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *memory = rapt_encoder_forward(t, &m->encoder, (rapt_tokens){ids, 2, 4}, lens);
    rapt_decoder_state *s = rapt_decoder_state_new(err);
    if (s)
        rapt_decoder_start(t, &m->decoder, s, memory, lens, (rapt_decoder_sizes){.capacity = 5});
    rapt_tape_status(t, err);
    for (size_t i = 0; s && i < 3 && !err->code; i++) {
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_decoder_step(t, &m->decoder, s, (rapt_tokens){ids, 2, 1});
        const rapt_error *failure = rapt_tape_error(t);
        if (failure->code)
            rapt_fail(err, failure->code, "%s", failure->message);
    }
    rapt_decoder_state_free(s);
    return err->code;
}

static rapt_code decoding(void)
{
    rapt_error err = {0};
    rapt_transformer *m = small_model(&err);
    rapt_tape *t = m ? small_chunk_tape(&err) : NULL;
    packed_weights *packed = t ? pack_transformer(m, t, t->pool, &err) : NULL;
    if (packed) {
        tape_use_packed(t, packed);
        decode(t, m, &err);
    }
    rapt_tape_free(t);
    packed_weights_free(packed);
    rapt_transformer_free(m);
    return err.code;
}

/* A language model whose window slides. */
static rapt_code generate(rapt_tape *t, rapt_lm *m, rapt_error *err)
{
    static const int32_t text[2 * 8] = {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4};
    rapt_kv_cache *s = rapt_kv_cache_new(rapt_lm_kv_sizes(m, 2), err);
    for (size_t i = 0; s && i < 4 && !err->code; i++) {
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_lm_next(t, m, s, text, 8, 2 * i + 2);
        const rapt_error *failure = rapt_tape_error(t);
        if (failure->code)
            rapt_fail(err, failure->code, "%s", failure->message);
    }
    rapt_kv_cache_free(s);
    return err->code;
}

static rapt_code generating(void)
{
    rapt_error err = {0};
    rapt_lm_config c = {.vocab = 7, .layers = 1, .context = 4, .positions = RAPT_POSITIONS_ROTARY,
                        .block = {.d_model = 8, .heads = 2, .kv_heads = 1, .ffn = 5, .norm_place = RAPT_NORM_PLACE_PRE,
                                  .norm_kind = RAPT_NORM_KIND_RMS, .ffn_kind = RAPT_FFN_SWIGLU,
                                  .init = RAPT_WEIGHT_INIT_PYTORCH, .no_ffn_bias = true}};
    rapt_lm *m = rapt_lm_new(&c, 1, &err);
    rapt_tape *t = m ? small_chunk_tape(&err) : NULL;
    packed_weights *packed = t ? pack_lm(m, t, t->pool, false, &err) : NULL;
    if (packed) {
        tape_use_packed(t, packed);
        generate(t, m, &err);
    }
    rapt_tape_free(t);
    packed_weights_free(packed);
    rapt_lm_free(m);
    return err.code;
}

/* A KV cache that grows, twice. */
static rapt_code growing(void)
{
    rapt_error err = {0};
    rapt_kv_cache *c = rapt_kv_cache_new((rapt_kv_sizes){2, 3, 1000, 4, .grows = true}, &err);
    if (c && !rapt_kv_cache_reserve(c, 300, &err))
        rapt_kv_cache_reserve(c, 1000, &err);
    rapt_kv_cache_free(c);
    return err.code;
}

/* More parameters than the list has room for at first, one of them sparse. */
static rapt_code many_parameters(void)
{
    rapt_error err = {0};
    rapt_params *set = rapt_params_new(1, &err);
    rapt_embedding m;
    if (!set)
        return err.code;
    rapt_embedding_init(&m, set, "e.", 300, 1000, &(rapt_embedding_options){.sparse = true, .embed.has_padding = true});
    for (int i = 0; i < 200; i++) {
        char name[] = {(char)('a' + i % 20), (char)('a' + i / 20), 0};
        rapt_params_add(set, name, 2, (size_t[]){50, 100}, (rapt_init){RAPT_INIT_ONES, 0});
    }
    rapt_code code = rapt_params_error(set)->code;
    rapt_params_free(set);
    return code;
}

/* The optimizer: moments, and the rows of a sparse parameter. */
static rapt_code optimizing(void)
{
    rapt_error err = {0};
    rapt_params *set = rapt_params_new(1, &err);
    rapt_embedding m;
    if (!set)
        return err.code;
    rapt_embedding_init(&m, set, "e.", 30, 10, &(rapt_embedding_options){.sparse = true});
    rapt_params_add(set, "w", 2, (size_t[]){500, 1000}, (rapt_init){RAPT_INIT_ONES, 0});
    rapt_code code = rapt_params_error(set)->code;
    rapt_adam *a = code ? NULL : rapt_adam_new(set, &ADAM(.beta1 = 0.9, .beta2 = 0.99), &err);
    if (!a && !code)
        code = err.code;
    rapt_adam_free(a);
    rapt_params_free(set);
    return code;
}

static void training_survives(void **state)
{
    (void)state;
    fail_each_allocation("training", training, 200, 0);
}

static void decoding_survives(void **state)
{
    (void)state;
    fail_each_allocation("decoding", decoding, 100, 0);
}

static void generating_survives(void **state)
{
    (void)state;
    fail_each_allocation("generating", generating, 60, 0);
    fail_each_allocation("growing", growing, 18, 0);
}

static void sets_survive(void **state)
{
    (void)state;
    /* Where a chunk cannot be allocated that is half as large as all others, an arena asks for a small one. */
    fail_each_allocation("many parameters", many_parameters, 5, 4);
}

static void optimizers_survive(void **state)
{
    (void)state;
    fail_each_allocation("optimizing", optimizing, 8, 0);
}

/* One row of the table, set up with all the memory it wants, then run with less. */
static void check_row(const ops_row *row)
{
    ops_case c = ops_case_new(row->flags, false);
    c.reuse = true;
    rapt_error err = {0};
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1}, &err);
    ops_step(&c, t, row->build, NULL, &err);
    assert_int_equal(err.code, RAPT_OK);
    rapt_tape_free(t);
    failing f = {.what = row->name, .threads = true, .uncounted = true}; /* the tape is made before, and freed after */
    do {
        err = (rapt_error){0};
        t = rapt_tape_new(&(rapt_compute){.threads = 1}, &err);
        small_chunks(t);
        failing_arm(&f);
        ops_step(&c, t, row->build, NULL, &err);
        failing_disarm();
        rapt_tape_free(t);
    } while (failing_again(&f, err.code));
    ops_case_free(&c);
}

static void every_operation_survives(void **state)
{
    (void)state;
    for (size_t i = 0; i < OPS_ROWS; i++)
        check_row(&ops_rows[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_survives),
        cmocka_unit_test(decoding_survives),
        cmocka_unit_test(generating_survives),
        cmocka_unit_test(sets_survive),
        cmocka_unit_test(optimizers_survive),
        cmocka_unit_test(every_operation_survives),
    };
    return cmocka_run_group_tests(tests, failing_check_link, NULL);
}
