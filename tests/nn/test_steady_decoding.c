/* tests/nn/test_steady_decoding.c: once a few batches have been decoded, further ones of their sizes allocate nothing: neither
 * a decoding step, nor the start of a batch, nor a prefill. Linked as tests/failing.h says. */
#include "failing.h"

#include "nn/lm_model.h"

#define BATCHES 4
#define SOURCE 40
#define STEPS 12

static const size_t SENTENCES[BATCHES] = {3, 8, 1, 5}, TIMES[BATCHES] = {7, 33, SOURCE, 12};

/* A beam of two, of which one row a sentence is left halfway. */
static void translate_batch(rapt_tape *t, const rapt_transformer *m, rapt_decoder_state *s, const int32_t *ids, size_t batch)
{
    size_t n = SENTENCES[batch], rows = n;
    int32_t parents[2 * 8];
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *memory = rapt_encoder_forward(t, &m->encoder, (rapt_tokens){ids, n, TIMES[batch]}, NULL);
    rapt_decoder_start(t, &m->decoder, s, memory, NULL, (rapt_decoder_sizes){2, STEPS + batch});
    for (size_t i = 0; i < STEPS; i++) {
        assert_int_equal(rapt_tape_error(t)->code, RAPT_OK);
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_decoder_step(t, &m->decoder, s, (rapt_tokens){ids, rows, 1});
        size_t each = i < STEPS / 2 ? 2 : 1, before = rows / n;
        for (size_t j = 0; j < n * each; j++)
            parents[j] = (int32_t)(j / each * before + j % each % before);
        rows = n * each;
        rapt_decoder_state_select(s, parents, rows);
    }
    assert_int_equal(rapt_tape_error(t)->code, RAPT_OK);
}

static void batches_of_translations(void **state)
{
    (void)state;
    rapt_transformer *m = model_new(RAPT_NORM_PLACE_POST, false);
    rapt_tape *t = model_tape(NULL, 1);
    rapt_decoder_state *s = rapt_decoder_state_new(NULL);
    int32_t ids[8 * SOURCE];
    model_ids(ids, 8 * SOURCE, 1);
    for (size_t i = 0; i < 3 * BATCHES; i++)
        translate_batch(t, m, s, ids, i % BATCHES);
    assert_true(failing_allocations() > 0);
    for (size_t i = 0; i < 2 * BATCHES; i++)
        translate_batch(t, m, s, ids, i % BATCHES);
    assert_int_equal(failing_allocations(), 0);
    rapt_decoder_state_free(s);
    rapt_tape_free(t);
    rapt_transformer_free(m);
}

/* A prefill, several samples, a window that slides. */
static void generate_texts(rapt_tape *t, const rapt_lm *m, rapt_kv_cache *c, const int32_t *text)
{
    rapt_kv_cache_clear(c, 1);
    for (size_t n = 5; n < 3 * LM_CONTEXT; n++) {
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_lm_next(t, m, c, text, (size_t)3 * LM_CONTEXT, n);
        assert_int_equal(rapt_tape_error(t)->code, RAPT_OK);
        if (n == 5)
            rapt_kv_cache_select(c, (int32_t[]){0, 0, 0}, 3);
    }
}

static void texts(void **state)
{
    (void)state;
    rapt_lm_config config = lm_variant(50);
    rapt_lm *m = lm_model(&config);
    rapt_tape *t = model_tape(NULL, 1);
    rapt_kv_cache *c = rapt_kv_cache_new(rapt_lm_kv_sizes(m, 3), NULL);
    int32_t text[3 * 3 * LM_CONTEXT];
    model_ids(text, (size_t)3 * 3 * LM_CONTEXT, 1);
    for (size_t i = 0; i < 3; i++)
        generate_texts(t, m, c, text);
    assert_true(failing_allocations() > 0);
    for (size_t i = 0; i < 3; i++)
        generate_texts(t, m, c, text);
    assert_int_equal(failing_allocations(), 0);
    rapt_kv_cache_free(c);
    rapt_tape_free(t);
    rapt_lm_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_of_translations),
        cmocka_unit_test(texts),
    };
    return cmocka_run_group_tests(tests, failing_check_link, NULL);
}
