/* tests/nn/test_decoding_beams.c: rows of one sentence that read one copy of its keys and values, become more and fewer,
 * and change places, equal passes over whole rows that have each its own sentence, to the bit; states that are decoded together
 * equal each by itself.
 * labels: levels */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nn/decoder_parts.h"
#include "nn/model.h"

#define SENTENCES 3
#define SOURCE 11
#define TIME 7
#define BEAM 4
#define MOST (SENTENCES * BEAM)

static const int32_t LENS[SENTENCES] = {4, SOURCE, 1};

/* What the rows of a state are: the sentence of each, and its tokens. */
typedef struct rows {
    size_t count, sentence[MOST];
    int32_t tokens[MOST][TIME];
} rows;

/* Rows after each step, by the rows before: one row becomes several, rows change places and go, sentences end. */
static const struct {
    size_t count;
    int32_t parents[MOST];
} STEPS[TIME - 1] = {
    {12, {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}},
    {11, {3, 0, 0, 1, 7, 6, 5, 4, 8, 8, 11}},
    {8, {2, 1, 3, 4, 4, 7, 10, 9}},
    {5, {1, 2, 0, 7, 6}},
    {6, {0, 2, 2, 3, 3, 4}},
    {2, {4, 5}},
};

static void follow(rows *r, size_t step)
{
    const rows old = *r;
    r->count = STEPS[step].count;
    for (size_t i = 0; i < r->count; i++) {
        size_t from = (size_t)STEPS[step].parents[i];
        r->sentence[i] = old.sentence[from];
        memcpy(r->tokens[i], old.tokens[from], sizeof r->tokens[i]);
    }
}

static void extend(rows *r, size_t step)
{
    int32_t ids[MOST];
    model_ids(ids, r->count, 100 + step);
    for (size_t i = 0; i < r->count; i++)
        r->tokens[i][step] = ids[i];
}

/* The last logits [MODEL_VOCAB] of row `i` alone, with its sentence alone. */
static void check_row(rapt_tape *t, const rapt_transformer *m, const int32_t *source, const rows *r, size_t i, size_t step,
                      const rapt_real *got)
{
    char what[80];
    snprintf(what, sizeof what, "step %zu, row %zu", step, i);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tokens in = {source + r->sentence[i] * SOURCE, 1, SOURCE}, out = {r->tokens[i], 1, step + 1};
    rapt_tensor *y = rapt_transformer_forward(t, m, in, &LENS[r->sentence[i]], out);
    model_same(what, y->data + step * MODEL_VOCAB, got, MODEL_VOCAB);
}

static rapt_decoder_state *new_state(rapt_tape *t, const rapt_transformer *m, const int32_t *source, rapt_type kv_cache)
{
    rapt_error err = {0};
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *memory = rapt_encoder_forward(t, &m->encoder, (rapt_tokens){source, SENTENCES, SOURCE}, LENS);
    rapt_decoder_state *s = rapt_decoder_state_new(&err);
    assert_non_null(s);
    rapt_decoder_start(t, &m->decoder, s, memory, LENS, (rapt_decoder_sizes){BEAM, TIME, kv_cache});
    if (rapt_tape_status(t, &err))
        fail_msg("%s", err.message);
    return s;
}

static void last_tokens(const rows *r, size_t step, int32_t ids[MOST])
{
    for (size_t i = 0; i < r->count; i++)
        ids[i] = r->tokens[i][step];
}

static rapt_real *step_of(rapt_tape *t, const rapt_transformer *m, rapt_decoder_state *s, const rows *r, size_t step)
{
    int32_t ids[MOST];
    last_tokens(r, step, ids);
    rapt_tape_begin(t, (rapt_pass){0});
    return model_copy(t, rapt_decoder_step(t, &m->decoder, s, (rapt_tokens){ids, r->count, 1}));
}

static void check_model(rapt_norm_place norm, int threads)
{
    rapt_transformer *m = model_new(norm, false);
    rapt_tape *t = model_tape(NULL, threads);
    int32_t source[SENTENCES * SOURCE];
    rows r = {.count = SENTENCES, .sentence = {0, 1, 2}};
    model_ids(source, SENTENCES * SOURCE, 1);
    rapt_decoder_state *s = new_state(t, m, source, RAPT_TYPE_FP32);
    for (size_t step = 0; step < TIME; step++) {
        extend(&r, step);
        rapt_real *got = step_of(t, m, s, &r, step);
        for (size_t i = 0; i < r.count; i++)
            check_row(t, m, source, &r, i, step, got + i * MODEL_VOCAB);
        free(got);
        if (step < TIME - 1) {
            rapt_decoder_state_select(s, STEPS[step].parents, STEPS[step].count);
            follow(&r, step);
        }
    }
    rapt_decoder_state_free(s);
    rapt_tape_free(t);
    rapt_transformer_free(m);
}

static void rows_share_sentences(void **state)
{
    (void)state;
    check_model(RAPT_NORM_PLACE_POST, 1);
    check_model(RAPT_NORM_PLACE_PRE, 3);
}

/* ---- states that are decoded together -------------------------------------------------------------------------------- */

enum { STATES = 3, LATER = 2 }; /* steps from the start of one to the start of the next */

/* A state that is decoded with others, and one of the same rows that is decoded alone. */
typedef struct twins {
    rapt_decoder_state *together, *alone;
    rows r;
    int32_t ids[MOST];
} twins;

/* One step of all that have begun and have one left. */
static void check_together(rapt_tape *t, const rapt_transformer *m, twins *all, size_t time)
{
    decoder_part parts[STATES];
    rapt_real *want[STATES];
    size_t count = 0;
    for (size_t i = 0; i < STATES; i++) {
        const size_t step = time - i * LATER;
        twins *w = &all[i];
        if (time < i * LATER || step >= TIME)
            continue;
        extend(&w->r, step);
        last_tokens(&w->r, step, w->ids);
        want[count] = step_of(t, m, w->alone, &w->r, step);
        parts[count++] = (decoder_part){w->together, w->ids, w->r.count};
    }
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_real *got = model_copy(t, decoder_step_parts(t, &m->decoder, parts, count));
    for (size_t i = 0, row = 0; i < count; row += parts[i++].rows) {
        model_same("parts", want[i], got + row * MODEL_VOCAB, parts[i].rows * MODEL_VOCAB);
        free(want[i]);
    }
    free(got);
    for (size_t i = 0; i < STATES; i++) {
        const size_t step = time - i * LATER;
        if (time < i * LATER || step >= TIME - 1)
            continue;
        rapt_decoder_state_select(all[i].together, STEPS[step].parents, STEPS[step].count);
        rapt_decoder_state_select(all[i].alone, STEPS[step].parents, STEPS[step].count);
        follow(&all[i].r, step);
    }
}

static void check_parts(const char *isa, int threads, rapt_type kv_cache, rapt_attention_capture capture)
{
    rapt_transformer *m = model_new(RAPT_NORM_PLACE_PRE, false);
    rapt_tape *t = model_tape(isa, threads);
    int32_t source[SENTENCES * SOURCE];
    twins all[STATES];
    rapt_tape_capture_attention(t, capture);
    for (size_t i = 0; i < STATES; i++) {
        model_ids(source, SENTENCES * SOURCE, 1 + i);
        all[i] = (twins){new_state(t, m, source, kv_cache), new_state(t, m, source, kv_cache),
                         {.count = SENTENCES, .sentence = {0, 1, 2}}, {0}};
    }
    for (size_t time = 0; time < TIME + (STATES - 1) * LATER; time++)
        check_together(t, m, all, time);
    for (size_t i = 0; i < STATES; i++) {
        rapt_decoder_state_free(all[i].together);
        rapt_decoder_state_free(all[i].alone);
    }
    rapt_tape_free(t);
    rapt_transformer_free(m);
}

static void states_are_decoded_together(void **state)
{
    (void)state;
    for (const char *const *isa = kernels_names; *isa; isa++)
        for (int threads = 1; threads <= 3 && kernels_of_isa(*isa, NULL); threads += 2)
            for (rapt_type kv_cache = RAPT_TYPE_FP32; kv_cache <= RAPT_TYPE_Q8_0; kv_cache++)
                check_parts(*isa, threads, kv_cache, RAPT_CAPTURE_NONE);
    check_parts(NULL, 1, RAPT_TYPE_FP32, RAPT_CAPTURE_BEFORE_DROPOUT);
}

static void shared_rows_take_one_token(void **state)
{
    (void)state;
    rapt_transformer *m = model_new(RAPT_NORM_PLACE_POST, false);
    rapt_tape *t = model_tape(NULL, 1);
    int32_t ids[SENTENCES * SOURCE];
    model_ids(ids, SENTENCES * SOURCE, 1);
    rapt_decoder_state *s = new_state(t, m, ids, RAPT_TYPE_FP32);
    rapt_decoder_state_select(s, (int32_t[]){0, 0, 1, 2}, 4);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_decoder_step(t, &m->decoder, s, (rapt_tokens){ids, 4, 2});
    assert_int_equal(rapt_tape_error(t)->code, RAPT_ERR_SHAPE);
    assert_int_equal(rapt_decoder_state_past(s), 0);
    rapt_decoder_state_free(s);
    rapt_tape_free(t);
    rapt_transformer_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_share_sentences),
        cmocka_unit_test(states_are_decoded_together),
        cmocka_unit_test(shared_rows_take_one_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
