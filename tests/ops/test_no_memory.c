/* tests/ops/test_no_memory.c: every allocation of a training step and of decoding, and every thread that is started, is
 * made to fail in turn: the failure is reported, nothing crashes, nothing leaks. Linked with
 * -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free,--wrap=pthread_create */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ops_modules.h"

#include "ops/tape.h"
#include "rapt/train.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Weak, so that a program linked without the option says so instead of not linking. */
#define REAL(type, name, ...) extern type __real_##name(__VA_ARGS__) __attribute__((weak))
REAL(void *, malloc, size_t size);
REAL(void *, calloc, size_t count, size_t size);
REAL(void *, realloc, void *old, size_t size);
REAL(void *, aligned_alloc, size_t alignment, size_t size);
REAL(void, free, void *p);
REAL(int, pthread_create, pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *argument);

/* Workers allocate nothing, but they free what they were started with. */
static long countdown = -1; /* so many more succeed, then one fails; negative: all succeed */
static long failed;
static atomic_long live;

static bool fails_now(void)
{
    if (countdown < 0 || countdown-- > 0)
        return false;
    failed++;
    return true;
}

static void *counted(void *p)
{
    live += p != NULL;
    return p;
}

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *p);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *argument);

void *__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *old, size_t size)
{
    if (fails_now())
        return NULL;
    live -= old != NULL;
    return counted(__real_realloc(old, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails_now() ? NULL : counted(__real_aligned_alloc(alignment, size));
}

void __wrap_free(void *p)
{
    live -= p != NULL;
    __real_free(p);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *argument)
{
    return fails_now() ? EAGAIN : __real_pthread_create(thread, attr, start, argument);
}

static int check_link(void **state)
{
    (void)state;
    if (__real_malloc && __real_pthread_create && __real_free)
        return 0;
    print_error("this test must be linked with --wrap, see its first lines\n");
    return -1;
}

/* A scenario returns what went wrong, RAPT_OK if nothing did, and leaves nothing behind. */
typedef rapt_code scenario(void);

/* Repeats the scenario with its first, second, ... allocation failing, until none is left to fail. */
static void fail_each_allocation(scenario *run, long at_least)
{
    for (long i = 0;; i++) {
        failed = 0, live = 0;
        countdown = i;
        rapt_code code = run();
        long happened = failed;
        countdown = -1;
        if (live != 0)
            fail_msg("%ld blocks are left when allocation %ld fails", (long)live, i);
        if (happened == 0) {
            assert_int_equal(code, RAPT_OK);
            assert_true(i >= at_least);
            print_message("%ld allocations made to fail\n", i);
            return;
        }
        if (code != RAPT_NO_MEMORY)
            fail_msg("allocation %ld fails, the code is %d", i, code);
    }
}

/* Chunks of one block each, so that nearly every request of an operation is an allocation. */
static void small_chunks(rapt_tape *t)
{
    t->step.chunk_size = t->step.first_size = t->scratch.chunk_size = t->scratch.first_size = 64;
}

static rapt_tape *small_chunk_tape(rapt_error *err)
{
    rapt_tape *t = rapt_tape_new(&(rapt_tape_options){.threads = 3}, err);
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
        rapt_tape_watch_attention(t, RAPT_WEIGHTS_AFTER_DROPOUT);
        rapt_tape_begin(t, (rapt_pass){.record = true, .training = true});
        rapt_tensor *logits = rapt_transformer_forward(t, m, tokens, lens, tokens);
        rapt_tensor *loss = rapt_cross_entropy(t, logits, tokens, &(rapt_loss_options){.valid_lens = lens}, NULL);
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
    rapt_decoder_state *s = rapt_decoder_state_new(t, &m->decoder, memory, lens, 5, err);
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
    if (t && rapt_transformer_pack(m, t, &err) == RAPT_OK)
        decode(t, m, &err);
    rapt_tape_free(t);
    rapt_transformer_free(m);
    return err.code;
}

/* A language model whose window moves on. */
static rapt_code generate(rapt_tape *t, rapt_lm *m, rapt_error *err)
{
    rapt_lm_state *s = rapt_lm_state_new(m, 2, err);
    for (size_t i = 0; s && i < 4 && !err->code; i++) {
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_lm_next(t, m, s, (rapt_tokens){ids, 2, 2});
        const rapt_error *failure = rapt_tape_error(t);
        if (failure->code)
            rapt_fail(err, failure->code, "%s", failure->message);
    }
    rapt_lm_state_free(s);
    return err->code;
}

static rapt_code generating(void)
{
    rapt_error err = {0};
    rapt_lm_config c = {.vocab = 7, .layers = 1, .d_model = 8, .heads = 2, .kv_heads = 1, .ffn = 5, .context = 4,
                        .norm_place = RAPT_PRE_NORM, .norm = RAPT_NORM_RMS, .ffn_kind = RAPT_FFN_SWIGLU,
                        .positions = RAPT_LM_ROTARY};
    rapt_lm *m = rapt_lm_new(&c, 1, &err);
    rapt_tape *t = m ? small_chunk_tape(&err) : NULL;
    if (t && rapt_lm_pack(m, t, &err) == RAPT_OK)
        generate(t, m, &err);
    rapt_tape_free(t);
    rapt_lm_free(m);
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
    rapt_embedding_init(&m, set, "e.", 300, 1000, &(rapt_embedding_options){.sparse = true, .has_padding = true});
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
    rapt_adam *a = code ? NULL : rapt_adam_new(set, &(rapt_adam_options){.beta1 = 0.9, .beta2 = 0.99}, &err);
    if (!a && !code)
        code = err.code;
    rapt_adam_free(a);
    rapt_params_free(set);
    return code;
}

static void training_survives(void **state)
{
    (void)state;
    fail_each_allocation(training, 200);
}

static void decoding_survives(void **state)
{
    (void)state;
    fail_each_allocation(decoding, 100);
}

static void generating_survives(void **state)
{
    (void)state;
    fail_each_allocation(generating, 60);
}

static void sets_survive(void **state)
{
    (void)state;
    fail_each_allocation(many_parameters, 5);
}

static void optimizers_survive(void **state)
{
    (void)state;
    fail_each_allocation(optimizing, 8);
}

/* One row of the table, set up with all the memory it wants, then run with less. */
static void check_row(const ops_row *row)
{
    ops_case c = ops_case_new(row->flags, false);
    c.reuse = true;
    rapt_error err = {0};
    rapt_tape *t = rapt_tape_new(&(rapt_tape_options){.threads = 1}, &err);
    ops_step(&c, t, row->build, NULL, &err);
    assert_int_equal(err.code, RAPT_OK);
    rapt_tape_free(t);
    for (long i = 0;; i++) {
        err = (rapt_error){0};
        t = rapt_tape_new(&(rapt_tape_options){.threads = 1}, &err);
        small_chunks(t);
        failed = 0, countdown = i;
        ops_step(&c, t, row->build, NULL, &err);
        countdown = -1;
        rapt_tape_free(t);
        if (failed == 0)
            break;
        if (err.code != RAPT_NO_MEMORY)
            fail_msg("%s: allocation %ld fails, the code is %d", row->name, i, err.code);
    }
    assert_int_equal(err.code, RAPT_OK);
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
    return cmocka_run_group_tests(tests, check_link, NULL);
}
