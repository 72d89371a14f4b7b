/* tests/nn/test_decoding.c: decoding with a KV cache, token by token or in pieces, equals the pass over whole
 * rows to the bit; so do packed weights; rows can change places; rows of unequal length are refused.
 * labels: raced-late each-level sanitized-late */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nn/model.h"
#include "nn/pack.h"
#include "tape/tape_core.h"

#define BATCH 4
#define SOURCE 12
#define TIME 21

typedef struct setting {
    rapt_transformer *m;
    rapt_tape *t;
    int32_t source[BATCH * SOURCE], lens[BATCH], target[BATCH * TIME];
    bool use_lens;
    bool ragged; /* the source has no padding */
} setting;

static const int32_t *lens_of(const setting *s)
{
    return s->use_lens ? s->lens : NULL;
}

static setting new_setting(const char *isa, int threads, size_t variant)
{
    setting s = {.m = model_of(model_variant(variant)), .t = model_tape(isa, threads), .lens = {3, SOURCE, 7, 1}};
    s.use_lens = true;
    model_ids(s.source, BATCH * SOURCE, 1);
    model_ids(s.target, BATCH * TIME, 2);
    return s;
}

static void free_setting(setting *s)
{
    rapt_transformer_free(s->m);
    rapt_tape_free(s->t);
}

/* Logits of whole rows, [BATCH, time, MODEL_VOCAB]. */
static rapt_real *whole(const setting *s, const int32_t *target, size_t time)
{
    rapt_tape_begin(s->t, (rapt_pass){0});
    return model_copy(s->t, rapt_transformer_forward(s->t, s->m, (rapt_tokens){s->source, BATCH, SOURCE}, lens_of(s),
                                                     (rapt_tokens){target, BATCH, time}));
}

static rapt_decoder_state *new_state(const setting *s, size_t capacity)
{
    rapt_error err = {0};
    rapt_tokens source = {s->source, BATCH, SOURCE, s->ragged ? s->lens : NULL};
    rapt_tape_begin(s->t, (rapt_pass){0});
    rapt_tensor *memory = rapt_encoder_forward(s->t, &s->m->encoder, source, lens_of(s));
    rapt_decoder_state *state = rapt_decoder_state_new(&err);
    assert_non_null(state);
    assert_true(s->ragged == (memory->ragged != NULL));
    rapt_decoder_start(s->t, &s->m->decoder, state, memory, s->ragged ? NULL : lens_of(s),
                       (rapt_decoder_sizes){.capacity = capacity});
    if (rapt_tape_status(s->t, &err))
        fail_msg("%s", err.message);
    return state;
}

/* Decodes columns first .. first + count - 1 of target [BATCH, time]. */
static rapt_real *piece(const setting *s, rapt_decoder_state *state, const int32_t *target, size_t time, size_t first,
                        size_t count)
{
    int32_t ids[BATCH * TIME];
    for (size_t b = 0; b < BATCH; b++)
        memcpy(ids + b * count, target + b * time + first, count * sizeof *ids);
    rapt_tape_begin(s->t, (rapt_pass){0});
    assert_int_equal(rapt_decoder_state_past(state), first);
    return model_copy(s->t, rapt_decoder_step(s->t, &s->m->decoder, state, (rapt_tokens){ids, BATCH, count}));
}

static void compare_piece(const rapt_real *want, const rapt_real *got, size_t time, size_t first, size_t count)
{
    char what[80];
    for (size_t b = 0; b < BATCH; b++) {
        snprintf(what, sizeof what, "sentence %zu, tokens %zu to %zu", b, first, first + count);
        model_same(what, want + (b * time + first) * MODEL_VOCAB, got + b * count * MODEL_VOCAB, count * MODEL_VOCAB);
    }
}

/* Pieces of the given lengths, over and over. */
static void check_pieces(const setting *s, const rapt_real *want, const size_t *lengths, size_t count, size_t capacity)
{
    rapt_decoder_state *state = new_state(s, capacity);
    for (size_t first = 0, i = 0; first < TIME; first += lengths[i++ % count]) {
        size_t n = lengths[i % count] < TIME - first ? lengths[i % count] : TIME - first;
        rapt_real *got = piece(s, state, s->target, TIME, first, n);
        compare_piece(want, got, TIME, first, n);
        free(got);
    }
    rapt_decoder_state_free(state);
}

static void check_setting(const setting *s)
{
    rapt_real *want = whole(s, s->target, TIME);
    check_pieces(s, want, (size_t[]){1}, 1, TIME);
    check_pieces(s, want, (size_t[]){1}, 1, TIME + 30);
    check_pieces(s, want, (size_t[]){3, 1, 5, 2}, 4, TIME + 1);
    check_pieces(s, want, (size_t[]){TIME}, 1, TIME);
    free(want);
}

static void check_level(const char *isa, int threads)
{
    for (size_t i = 0; i < MODEL_VARIANTS; i++) {
        setting s = new_setting(isa, threads, i);
        s.use_lens = i != 1;
        check_setting(&s);
        free_setting(&s);
    }
}

/* Memory for keys and values is enlarged on the way. */
static void long_rows_equal_whole_rows(void **state)
{
    enum { LONG = 600, PIECE = 20 };
    static int32_t target[BATCH * LONG];
    (void)state;
    setting s = new_setting(NULL, 2, 0);
    rapt_transformer_config config = model_variant(0);
    config.max_positions = LONG;
    rapt_transformer_free(s.m);
    s.m = model_of(config);
    model_ids(target, BATCH * LONG, 5);
    rapt_real *want = whole(&s, target, LONG);
    rapt_decoder_state *decoder = new_state(&s, LONG);
    for (size_t first = 0; first < LONG; first += PIECE) {
        rapt_real *got = piece(&s, decoder, target, LONG, first, PIECE);
        compare_piece(want, got, LONG, first, PIECE);
        free(got);
    }
    rapt_decoder_state_free(decoder);
    free(want);
    free_setting(&s);
}

static void pieces_equal_whole_rows(void **state)
{
    (void)state;
    for (const char *const *isa = kernels_names; *isa; isa++) {
        if (!kernels_of_isa(*isa, NULL)) {
            print_message("level %s: not to be had here, skipped\n", *isa);
            continue;
        }
        check_level(*isa, 1);
        check_level(*isa, 3);
    }
}

static void check_packed(const char *isa, size_t variant)
{
    rapt_error err = {0};
    setting s = new_setting(isa, 2, variant);
    rapt_real *want = whole(&s, s.target, TIME);
    packed_weights *packed = pack_transformer(s.m, s.t, s.t->pool, &err);
    if (!packed)
        fail_msg("%s", err.message);
    assert_non_null(packed_weights_find(packed, s.m->decoder.output.weight, s.t->team.gemm));
    assert_non_null(packed_weights_find(packed, s.m->encoder.blocks[1].ffn.dense2.weight, s.t->team.gemm));
    assert_null(packed_weights_find(packed, s.m->decoder.output.weight, NULL)); /* of other kernels */
    rapt_param other = {.index = s.m->decoder.output.weight->index};
    assert_null(packed_weights_find(packed, &other, s.t->team.gemm)); /* of another model */
    tape_use_packed(s.t, packed);
    rapt_real *got = whole(&s, s.target, TIME);
    model_same("packed weights", want, got, BATCH * TIME * MODEL_VOCAB);
    check_setting(&s);
    free(want);
    free(got);
    free_setting(&s);
    packed_weights_free(packed);
}

static void packed_weights_change_nothing(void **state)
{
    (void)state;
    for (const char *const *isa = kernels_names; *isa; isa++)
        if (kernels_of_isa(*isa, NULL)) {
            check_packed(*isa, 0);
            check_packed(*isa, 2);
            check_packed(*isa, 4); /* SwiGLU has a third matrix */
        }
}

/* Sentences of two beams each: rows 0 and 1, rows 2 and 3 share their source. */
static setting beam_setting(size_t variant)
{
    setting s = new_setting(NULL, 2, variant);
    memcpy(s.source + SOURCE, s.source, SOURCE * sizeof *s.source);
    memcpy(s.source + 3 * SOURCE, s.source + 2 * SOURCE, SOURCE * sizeof *s.source);
    s.lens[0] = s.lens[1] = 9;
    s.lens[2] = s.lens[3] = 5;
    return s;
}

/* A row for each beam of the two sentences. */
static rapt_decoder_state *new_beams(const setting *s)
{
    int32_t source[2 * SOURCE], lens[2] = {s->lens[0], s->lens[2]};
    memcpy(source, s->source, SOURCE * sizeof *source);
    memcpy(source + SOURCE, s->source + 2 * SOURCE, SOURCE * sizeof *source);
    rapt_tape_begin(s->t, (rapt_pass){0});
    rapt_tensor *memory = rapt_encoder_forward(s->t, &s->m->encoder, (rapt_tokens){source, 2, SOURCE}, lens);
    rapt_decoder_state *state = rapt_decoder_state_new(NULL);
    rapt_decoder_start(s->t, &s->m->decoder, state, memory, lens, (rapt_decoder_sizes){.beam = 2, .capacity = TIME});
    rapt_decoder_state_select(state, (int32_t[]){0, 0, 1, 1}, BATCH); /* nothing to move yet */
    return state;
}

/* Row i of `target` takes the first `count` tokens of row parents[i]. */
static void reorder_tokens(int32_t *target, const int32_t *parents, size_t count)
{
    int32_t old[BATCH * TIME];
    memcpy(old, target, sizeof old);
    for (size_t b = 0; b < BATCH; b++)
        memcpy(target + b * TIME, old + (size_t)parents[b] * TIME, count * sizeof *old);
}

static void check_places(size_t variant)
{
    static const int32_t parents[][BATCH] = {{1, 0, 2, 3}, {0, 0, 3, 2}, {1, 1, 3, 3}, {0, 1, 2, 3}};
    setting s = beam_setting(variant);
    rapt_decoder_state *state = new_beams(&s);
    for (size_t first = 0; first < TIME; first++) {
        rapt_real *want = whole(&s, s.target, TIME), *got = piece(&s, state, s.target, TIME, first, 1);
        compare_piece(want, got, TIME, first, 1);
        rapt_decoder_state_select(state, parents[first % 4], BATCH);
        reorder_tokens(s.target, parents[first % 4], first + 1);
        free(want);
        free(got);
    }
    rapt_decoder_state_free(state);
    free_setting(&s);
}

static void rows_change_places(void **unused)
{
    (void)unused;
    check_places(0);
    check_places(4); /* rotary positions, one key-value head */
}

/* ---- rows without padding ------------------------------------------------------------------------------------- */

static void assert_memory_refused(const setting *s, rapt_tensor *memory, const char *message)
{
    rapt_decoder_state *state = rapt_decoder_state_new(NULL);
    rapt_decoder_start(s->t, &s->m->decoder, state, memory, s->lens, (rapt_decoder_sizes){.capacity = TIME});
    assert_int_equal(rapt_tape_error(s->t)->code, RAPT_ERR_SHAPE);
    assert_string_equal(rapt_tape_error(s->t)->message, message);
    rapt_tape_begin(s->t, (rapt_pass){0});
    rapt_decoder_step(s->t, &s->m->decoder, state, (rapt_tokens){s->target, BATCH, 1});
    assert_string_equal(rapt_tape_error(s->t)->message, "decoder: a decoding step of a state that was not started");
    rapt_decoder_state_free(state);
    rapt_tape_begin(s->t, (rapt_pass){0});
}

/* The encoder's output without padding: the same logits. */
static void memory_has_no_padding(void **unused)
{
    (void)unused;
    for (int variant = 0; variant < MODEL_VARIANTS; variant++) {
        setting s = new_setting(NULL, 2, (size_t)variant);
        rapt_real *want = whole(&s, s.target, TIME);
        s.ragged = true;
        rapt_decoder_state *state = new_state(&s, TIME);
        rapt_real *got = piece(&s, state, s.target, TIME, 0, TIME);
        assert_memory_equal(got, want, BATCH * TIME * MODEL_VOCAB * sizeof *got);
        free(want);
        free(got);
        rapt_decoder_state_free(state);
        free_setting(&s);
    }
}

/* The logits of a batch with the lengths `given` are those with `counted`, of memory whose rows end at rows[BATCH], or, for NULL,
 * with padding. */
static void check_lengths(const int32_t *rows, const int32_t *given, const int32_t *counted)
{
    setting s = new_setting(NULL, 1, 0);
    const int32_t *lens[] = {given, counted};
    rapt_decoder_state *states[2];
    for (int i = 0; i < 2; i++) {
        rapt_tape_begin(s.t, (rapt_pass){0});
        rapt_tensor *memory = rapt_encoder_forward(s.t, &s.m->encoder, (rapt_tokens){s.source, BATCH, SOURCE, rows}, NULL);
        states[i] = rapt_decoder_state_new(NULL);
        rapt_decoder_start(s.t, &s.m->decoder, states[i], memory, lens[i], (rapt_decoder_sizes){.capacity = TIME});
    }
    rapt_real *got = piece(&s, states[0], s.target, TIME, 0, TIME), *want = piece(&s, states[1], s.target, TIME, 0, TIME);
    assert_memory_equal(got, want, BATCH * TIME * MODEL_VOCAB * sizeof *got);
    free(want);
    free(got);
    rapt_decoder_state_free(states[0]);
    rapt_decoder_state_free(states[1]);
    free_setting(&s);
}

/* Lengths beyond a sentence's rows count as its rows, lengths below 0 as 0; shorter lengths are used. */
static void lengths_end_with_the_rows(void **unused)
{
    (void)unused;
    const int32_t rows[BATCH] = {3, SOURCE, 7, 1};
    check_lengths(rows, (const int32_t[BATCH]){SOURCE, 2, 7, SOURCE}, (const int32_t[BATCH]){3, 2, 7, 1});
    check_lengths(NULL, (const int32_t[BATCH]){SOURCE + 1, 2, INT32_MAX, -1}, (const int32_t[BATCH]){SOURCE, 2, SOURCE, 0});
}

static void memory_of_one_sentence_is_refused(void **unused)
{
    (void)unused;
    setting s = new_setting(NULL, 1, 0);
    rapt_tape_begin(s.t, (rapt_pass){0});
    assert_memory_refused(&s, rapt_tape_tensor(s.t, 2, (size_t[]){SOURCE, 42}, false),
                          "decoder: the memory [12, 42] is neither [batch, time, feature] nor ragged");
    free_setting(&s);
}

/* Refused before anything is computed; the state is as it was. */
static void ragged_steps_are_refused(void **unused)
{
    (void)unused;
    setting s = new_setting(NULL, 1, 0);
    rapt_real *want = whole(&s, s.target, TIME);
    rapt_decoder_state *state = new_state(&s, TIME);
    free(piece(&s, state, s.target, TIME, 0, 2));
    rapt_tape_begin(s.t, (rapt_pass){0});
    rapt_decoder_step(s.t, &s.m->decoder, state, (rapt_tokens){s.target, BATCH, 2, (int32_t[]){2, 1, 2, 1}});
    assert_int_equal(rapt_tape_error(s.t)->code, RAPT_ERR_SHAPE);
    assert_string_equal(rapt_tape_error(s.t)->message, "decoder: the rows of a decoding step are of one length");
    rapt_real *got = piece(&s, state, s.target, TIME, 2, 3);
    compare_piece(want, got, TIME, 2, 3);
    free(want);
    free(got);
    rapt_decoder_state_free(state);
    free_setting(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_equal_whole_rows),
        cmocka_unit_test(long_rows_equal_whole_rows),
        cmocka_unit_test(packed_weights_change_nothing),
        cmocka_unit_test(rows_change_places),
        cmocka_unit_test(memory_has_no_padding), cmocka_unit_test(lengths_end_with_the_rows),
        cmocka_unit_test(memory_of_one_sentence_is_refused),
        cmocka_unit_test(ragged_steps_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
