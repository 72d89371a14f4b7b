/* tests/nn/test_relative.c: relative position biases: the buckets of distances, as transformers 5.23 has them, and attention with
 * them: decoding steps, observed passes, and no gradients. What a whole T5 computes is in tests/io/test_hub_translation.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nn/model.h"
#include "rapt/observe.h"

enum { FARTHEST_TESTED = 2048, TIME = 30 };

typedef struct bucket_case {
    rapt_relative_options options;
    size_t first[40]; /* the distances at which the next bucket begins; 0 ends them */
} bucket_case;

/* By T5Attention._relative_position_bucket of all distances from -2048 to 2048. */
static const bucket_case CASES[] = {
    {{32, 128, true}, {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91}},
    {{32, 128, false}, {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                        19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113}},
    {{64, 512, true}, {1,  2,  3,  4,  5,  6,  7,  8,  9,   10,  11,  12,  13,  14,  15, 16,
                       20, 25, 31, 39, 48, 59, 73, 91, 113, 140, 174, 216, 268, 332, 413}},
    {{40, 300, false}, {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13,  14,  15,  16,  17,  18,  19, 20,
                        23, 27, 31, 35, 40, 46, 52, 60, 68, 78, 89, 102, 117, 134, 153, 175, 200, 229, 263}}};

static void buckets_are_the_references(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const bucket_case *c = &CASES[i];
        size_t bucket = 0;
        for (size_t d = 0; d <= FARTHEST_TESTED; d++) {
            bucket += c->first[bucket] != 0 && d == c->first[bucket];
            size_t behind = c->options.both_ways && d ? c->options.buckets / 2 + bucket : 0;
            assert_int_equal(rapt_relative_bucket(-(ptrdiff_t)d, &c->options), bucket);
            assert_int_equal(rapt_relative_bucket((ptrdiff_t)d, &c->options), behind);
        }
    }
}

static rapt_transformer *relative_model(void)
{
    rapt_transformer_config c = model_config(RAPT_NORM_PLACE_PRE, true);
    c.positions = RAPT_POSITIONS_RELATIVE;
    c.relative = (rapt_relative_options){.buckets = 8, .farthest = 13};
    c.output_scale = 0.3;
    c.block.dropout = 0;
    rapt_transformer *m = model_of(c);
    rapt_param *tables[] = {m->encoder.relative.weight, m->decoder.relative.weight};
    for (size_t i = 0; i < 2; i++)
        rapt_param_fill(m->params, tables[i], (rapt_init){RAPT_INIT_NORMAL, 1});
    return m;
}

static rapt_tensor *relative_logits(rapt_tape *t, const rapt_transformer *m, const int32_t *ids)
{
    rapt_tape_begin(t, (rapt_pass){0});
    return rapt_transformer_forward(t, m, (rapt_tokens){ids, 1, TIME}, NULL, (rapt_tokens){ids, 1, TIME});
}

static void steps_equal_whole_rows(void **state)
{
    (void)state;
    int32_t ids[TIME];
    rapt_transformer *m = relative_model();
    rapt_tape *t = model_tape(NULL, 2);
    rapt_decoder_state *s = rapt_decoder_state_new(NULL);
    model_ids(ids, TIME, 5);
    rapt_real *whole = model_copy(t, relative_logits(t, m, ids));
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_decoder_start(t, &m->decoder, s, rapt_encoder_forward(t, &m->encoder, (rapt_tokens){ids, 1, TIME}, NULL), NULL,
                       (rapt_decoder_sizes){.capacity = TIME});
    for (size_t i = 0; i < TIME; i++) {
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_real *step = model_copy(t, rapt_decoder_step(t, &m->decoder, s, (rapt_tokens){ids + i, 1, 1}));
        model_same("a step", whole + i * MODEL_VOCAB, step, MODEL_VOCAB);
        free(step);
    }
    free(whole);
    rapt_decoder_state_free(s);
    rapt_tape_free(t);
    rapt_transformer_free(m);
}

static void count_biased(void *context, const rapt_observation *step)
{
    size_t *count = context, length = strlen(step->name);
    *count += length > 7 && strcmp(step->name + length - 7, ".biased") == 0;
}

static void an_observed_pass_shows_the_same(void **state)
{
    (void)state;
    int32_t ids[TIME];
    size_t biased = 0;
    rapt_transformer *m = relative_model();
    rapt_tape *t = model_tape(NULL, 1);
    model_ids(ids, TIME, 5);
    rapt_real *fused = model_copy(t, relative_logits(t, m, ids));
    rapt_observe(t, count_biased, &biased);
    rapt_real *observed = model_copy(t, relative_logits(t, m, ids));
    assert_int_equal(biased, 4); /* two layers on both sides */
    for (size_t i = 0; i < TIME * MODEL_VOCAB; i++)
        assert_true(fabs((double)(fused[i] - observed[i])) < 1e-4);
    free(fused);
    free(observed);
    rapt_tape_free(t);
    rapt_transformer_free(m);
}

static void gradients_are_refused(void **state)
{
    (void)state;
    int32_t ids[TIME];
    rapt_transformer *m = relative_model();
    rapt_tape *t = model_tape(NULL, 1);
    model_ids(ids, TIME, 5);
    rapt_tape_begin(t, (rapt_pass){.record = true});
    rapt_transformer_forward(t, m, (rapt_tokens){ids, 1, TIME}, NULL, (rapt_tokens){ids, 1, TIME});
    assert_non_null(strstr(rapt_tape_error(t)->message, "there is no backward pass of relative biases"));
    rapt_tape_free(t);
    rapt_transformer_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(buckets_are_the_references), cmocka_unit_test(steps_equal_whole_rows),
                                       cmocka_unit_test(an_observed_pass_shows_the_same),
                                       cmocka_unit_test(gradients_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
