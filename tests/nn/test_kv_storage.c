/* tests/nn/test_kv_storage.c: KV caches that are stored in bf16 or Q8_0: a model gives the same bits however its tokens are
 * divided among steps, to a row alone and among others, at every level, with any number of threads, when rows are selected,
 * memory grows or a window slides; what is rounded, and how many bytes it takes. What a step computes of the stored numbers is
 * in tests/ops/test_stored_attention.c; in fp32 all of it is in test_kv_cache.c, test_lm_decoding.c and test_decoding.c.
 * labels: not-raced each-level sanitized-late */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nn/kv_cache.h"
#include "nn/lm_core.h"
#include "nn/lm_model.h"

enum { ROWS = 3, TIME = LM_CONTEXT, LOGITS = TIME * MODEL_VOCAB };

static const rapt_type STORAGES[] = {RAPT_TYPE_BF16, RAPT_TYPE_Q8_0};

/* ---- language models -------------------------------------------------------------------------------------------------- */

/* Heads of 4 features, all positions, norms and groups; then heads that a block of 32 does not divide, a sliding window in one
 * of the blocks, capped scores. */
#define KINDS (LM_VARIANTS / 4 + 4)
static rapt_lm_config kind(size_t i)
{
    const size_t later = i - LM_VARIANTS / 4;
    rapt_lm_config c = lm_variant(i < LM_VARIANTS / 4 ? 4 * i + i % 4 : 26);
    if (i < LM_VARIANTS / 4)
        return c;
    c.block.d_model = later % 2 ? 80 : 68;
    c.block.heads = 2;
    c.block.kv_heads = later % 2 ? 1 : 2;
    if (later >= 2) {
        c.window = 5;
        c.windowed.bits[0] = 1;
        c.block.scores.cap = 3;
    }
    return c;
}

static rapt_kv_cache *new_cache(const rapt_lm *m, size_t rows, rapt_type storage)
{
    rapt_error err = {0};
    rapt_kv_sizes sizes = rapt_lm_kv_sizes(m, rows);
    sizes.storage = storage;
    rapt_kv_cache *c = rapt_kv_cache_new(sizes, &err);
    if (!c)
        fail_msg("%s", err.message);
    return c;
}

/* Columns first .. first + count - 1 of ids [rows, time]. */
static rapt_tokens columns(const int32_t *ids, size_t rows, size_t time, size_t first, size_t count, int32_t *to)
{
    for (size_t b = 0; b < rows; b++)
        memcpy(to + b * count, ids + b * time + first, count * sizeof *to);
    return (rapt_tokens){to, rows, count};
}

/* Logits [rows, TIME, vocabulary] of ids [rows, TIME], in pieces of `length`; free() them. */
static rapt_real *in_pieces(rapt_tape *t, const rapt_lm *m, rapt_type storage, const int32_t *ids, size_t rows, size_t length)
{
    int32_t piece[ROWS * TIME];
    rapt_real *all = malloc(rows * LOGITS * sizeof *all);
    rapt_kv_cache *c = new_cache(m, rows, storage);
    assert_non_null(all);
    for (size_t first = 0; first < TIME; first += length) {
        const size_t count = length < TIME - first ? length : TIME - first;
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_real *got = model_copy(t, rapt_lm_step(t, m, c, columns(ids, rows, TIME, first, count, piece), false));
        for (size_t b = 0; b < rows; b++)
            memcpy(all + b * LOGITS + first * MODEL_VOCAB, got + b * count * MODEL_VOCAB, count * MODEL_VOCAB * sizeof *all);
        free(got);
    }
    rapt_kv_cache_free(c);
    return all;
}

static void check_pieces(const char *isa, int threads, const rapt_lm *m, rapt_type storage, const int32_t *ids,
                         const rapt_real *want)
{
    rapt_tape *t = model_tape(isa, threads);
    for (size_t length = 1; length <= TIME; length += length == 1 ? 4 : 7) {
        rapt_real *got = in_pieces(t, m, storage, ids, ROWS, length);
        model_same("pieces", want, got, ROWS * LOGITS);
        free(got);
    }
    rapt_real *alone = in_pieces(t, m, storage, ids + TIME, 1, 3);
    model_same("a row alone", want + LOGITS, alone, LOGITS);
    free(alone);
    rapt_tape_free(t);
}

/* Relative to the size of b. */
static double distance(const rapt_real *a, const rapt_real *b, size_t n)
{
    double sum = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
        size += (double)b[i] * (double)b[i];
    }
    return sqrt(sum / size);
}

static void tokens_may_come_in_pieces(void **state)
{
    (void)state;
    int32_t ids[ROWS * TIME];
    model_ids(ids, ROWS * TIME, 5);
    for (size_t i = 0; i < 2 * KINDS; i++) {
        const rapt_lm_config c = kind(i / 2);
        const rapt_type storage = STORAGES[i % 2];
        rapt_lm *m = lm_model(&c);
        rapt_tape *t = model_tape("scalar", 1);
        rapt_real *want = in_pieces(t, m, storage, ids, ROWS, TIME), *exact = lm_whole(t, m, ids, ROWS, TIME);
        const double far = distance(want, exact, ROWS * LOGITS);
        if (!(far > 1e-5 && far < 0.02)) /* keys and values are rounded, and nothing else */
            fail_msg("kind %zu: logits are %g from those in fp32", i / 2, far);
        for (const char *const *isa = kernels_names; *isa; isa++)
            if (kernels_of_isa(*isa, NULL))
                check_pieces(*isa, 1 + (int)(i / 2 % 4) * 2, m, storage, ids, want);
        free(want);
        free(exact);
        rapt_tape_free(t);
        rapt_lm_free(m);
    }
}

/* Matrix products in bf16 round keys and values once more, which changes nothing. */
static void products_in_bf16_round_the_same(void **state)
{
    (void)state;
    rapt_error err = {0};
    int32_t ids[ROWS * TIME];
    model_ids(ids, ROWS * TIME, 5);
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 2, .type = RAPT_TYPE_BF16}, &err);
    assert_non_null(t);
    for (size_t i = 0; i < KINDS; i += 3) {
        const rapt_lm_config c = kind(i);
        rapt_lm *m = lm_model(&c);
        rapt_real *want = in_pieces(t, m, RAPT_TYPE_FP32, ids, ROWS, 4);
        rapt_real *got = in_pieces(t, m, RAPT_TYPE_BF16, ids, ROWS, 4);
        model_same("products in bf16", want, got, ROWS * LOGITS);
        free(want);
        free(got);
        rapt_lm_free(m);
    }
    rapt_tape_free(t);
}

/* Logits after the first n tokens of `text`, all visible ones computed anew, at once; free() them. */
static rapt_real *anew(rapt_tape *t, const rapt_lm *m, rapt_type storage, const int32_t *text, size_t n)
{
    const size_t visible = rapt_lm_visible(&m->config, n);
    rapt_kv_cache *c = new_cache(m, 1, storage);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_real *logits = model_copy(t, rapt_lm_step(t, m, c, (rapt_tokens){text + n - visible, 1, visible}, true));
    rapt_kv_cache_free(c);
    return logits;
}

static void check_next(rapt_tape *t, const rapt_lm *m, rapt_kv_cache *c, const int32_t *text, size_t stride, size_t n)
{
    const rapt_type storage = rapt_kv_cache_sizes(c).storage;
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_real *got = model_copy(t, rapt_lm_next(t, m, c, text, stride, n));
    for (size_t b = 0; b < rapt_kv_cache_rows(c); b++) {
        rapt_real *want = anew(t, m, storage, text + b * stride, n);
        model_same("the next token", want, got + b * MODEL_VOCAB, MODEL_VOCAB);
        free(want);
    }
    free(got);
}

/* A prefill becomes three texts, which change places in a cycle and go, while the window slides; then a text is cut. */
static void rows_are_selected_and_windows_slide(void **state)
{
    enum { TEXT = 3 * TIME, PROMPT = 5 };
    (void)state;
    for (size_t i = 0; i < 2 * KINDS; i += 5) {
        const rapt_lm_config config = kind(i / 2);
        rapt_lm *m = lm_model(&config);
        rapt_tape *t = model_tape(NULL, 2);
        rapt_kv_cache *c = new_cache(m, ROWS, STORAGES[i % 2]);
        int32_t text[ROWS * TEXT];
        model_ids(text, ROWS * TEXT, i);
        for (size_t b = 1; b < ROWS; b++)
            memcpy(text + b * TEXT, text, PROMPT * sizeof *text);
        rapt_kv_cache_clear(c, 1);
        check_next(t, m, c, text, TEXT, PROMPT);
        rapt_kv_cache_select(c, (int32_t[ROWS]){0}, ROWS);
        for (size_t n = PROMPT + 1; n < TEXT; n++) {
            check_next(t, m, c, text, TEXT, n);
            int32_t first[TEXT];
            memcpy(first, text, sizeof first);
            rapt_kv_cache_select(c, (int32_t[ROWS]){1, 2, 0}, ROWS);
            memmove(text, text + TEXT, (ROWS - 1) * sizeof first);
            memcpy(text + (ROWS - 1) * TEXT, first, sizeof first);
        }
        rapt_kv_cache_select(c, (int32_t[]){2}, 1);
        memmove(text, text + 2 * TEXT, TEXT * sizeof *text);
        rapt_kv_cache_truncate(c, TEXT - 4);
        text[TEXT - 4] = (text[TEXT - 4] + 1) % MODEL_VOCAB;
        check_next(t, m, c, text, TEXT, TEXT - 2);
        rapt_kv_cache_free(c);
        rapt_tape_free(t);
        rapt_lm_free(m);
    }
}

/* A cache of two rows, whose memory grows on the way. */
static void a_cache_grows(void **state)
{
    enum { LONG = 600 };
    static int32_t text[2 * LONG];
    (void)state;
    rapt_lm_config config = kind(KINDS - 3);
    config.context = LONG;
    rapt_lm *m = lm_model(&config);
    rapt_tape *t = model_tape(NULL, 2);
    model_ids(text, (size_t)2 * LONG, 5);
    for (size_t i = 0; i < 2; i++) {
        rapt_kv_cache *c = new_cache(m, 2, STORAGES[i]);
        const size_t room = rapt_kv_cache_layer(c, 1)->v.shape[1];
        for (size_t n = 200; n <= LONG; n += n < 260 ? 1 : 68) {
            check_next(t, m, c, text, LONG, n);
            rapt_kv_cache_select(c, (int32_t[]){0, 1}, 2);
        }
        assert_true(room < LONG && rapt_kv_cache_layer(c, 1)->v.shape[1] == LONG);
        rapt_kv_cache_free(c);
    }
    rapt_tape_free(t);
    rapt_lm_free(m);
}

/* In fp32 the loss equals whole rows'; otherwise it equals the loss of the steps' logits. */
static void a_loss_is_that_of_the_steps(void **state)
{
    (void)state;
    int32_t ids[ROWS * TIME], labels[ROWS * TIME];
    const int32_t lens[ROWS] = {TIME, 4, 7};
    const rapt_loss_options o = {.valid_lens = lens};
    model_ids(ids, ROWS * TIME, 5);
    model_ids(labels, ROWS * TIME, 6);
    const rapt_tokens in = {ids, ROWS, TIME}, out = {labels, ROWS, TIME};
    for (size_t i = 0; i < KINDS; i += 9) {
        rapt_lm_config c = kind(i);
        c.logits_cap = i % 2 ? 2 : 0;
        rapt_lm *m = lm_model(&c);
        rapt_tape *t = model_tape(NULL, 2);
        for (rapt_type storage = RAPT_TYPE_FP32; storage <= RAPT_TYPE_Q8_0; storage++) {
            rapt_loss_sums want = {0}, got = {0};
            rapt_kv_cache *cache = new_cache(m, ROWS, storage);
            rapt_tape_begin(t, (rapt_pass){0});
            if (storage == RAPT_TYPE_FP32)
                rapt_lm_loss(t, m, in, out, &o, &want);
            else
                rapt_op_cross_entropy(t, rapt_lm_step(t, m, cache, in, false), out, &o, &want);
            for (int again = 0; again < 2; again++) {
                rapt_tape_begin(t, (rapt_pass){0});
                lm_cached_loss(t, m, cache, in, out, &o, &got);
                assert_string_equal(rapt_tape_error(t)->message, "");
                assert_memory_equal(&want.nll, &got.nll, sizeof want.nll);
                assert_int_equal(want.tokens, got.tokens);
            }
            rapt_kv_cache_free(cache);
        }
        rapt_tape_free(t);
        rapt_lm_free(m);
    }
}

/* ---- translation ------------------------------------------------------------------------------------------------------ */

enum { SOURCE = 9, SENTENCES = 3, TRANSLATIONS = MODEL_VARIANTS + 1 };

static const int32_t SOURCE_LENS[SENTENCES] = {4, SOURCE, 1};

/* All variants of this folder's model, and one with relative positions, as T5 has them. */
static rapt_transformer *translation_model(size_t i)
{
    rapt_transformer_config c = model_variant(i % MODEL_VARIANTS);
    if (i == MODEL_VARIANTS) {
        c.positions = RAPT_POSITIONS_RELATIVE;
        c.relative = (rapt_relative_options){.buckets = 8, .farthest = 13};
    }
    rapt_transformer *m = model_of(c);
    if (i == MODEL_VARIANTS)
        rapt_param_fill(m->params, m->decoder.relative.weight, (rapt_init){RAPT_INIT_NORMAL, 1});
    return m;
}

static rapt_decoder_state *begin(rapt_tape *t, const rapt_transformer *m, const int32_t *source, size_t first, size_t count,
                                 rapt_type storage)
{
    const rapt_tokens in = {source + first * SOURCE, count, SOURCE};
    rapt_decoder_state *s = rapt_decoder_state_new(NULL);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_decoder_start(t, &m->decoder, s, rapt_encoder_forward(t, &m->encoder, in, SOURCE_LENS + first), SOURCE_LENS + first,
                       (rapt_decoder_sizes){2, TIME, storage});
    assert_string_equal(rapt_tape_error(t)->message, "");
    return s;
}

/* Logits [TIME, vocabulary] of one sentence alone, all tokens at once; free() them. */
static rapt_real *translation_alone(rapt_tape *t, const rapt_transformer *m, const int32_t *source, size_t sentence,
                                    const int32_t *target, rapt_type storage)
{
    rapt_decoder_state *s = begin(t, m, source, sentence, 1, storage);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_real *logits = model_copy(t, rapt_decoder_step(t, &m->decoder, s, (rapt_tokens){target, 1, TIME}));
    rapt_decoder_state_free(s);
    return logits;
}

/* Token by token, with two rows of each sentence, which change places. */
static void check_beams(rapt_tape *t, const rapt_transformer *m, const int32_t *source, const int32_t *target,
                        rapt_real *const *want, rapt_type storage)
{
    enum { BEAMS = 2 * SENTENCES };
    int32_t ids[BEAMS], parents[BEAMS] = {0, 0, 1, 1, 2, 2};
    rapt_decoder_state *s = begin(t, m, source, 0, SENTENCES, storage);
    rapt_decoder_state_select(s, parents, BEAMS);
    for (size_t time = 0; time < TIME; time++) {
        for (size_t i = 0; i < BEAMS; i++)
            ids[i] = target[i / 2 * TIME + time];
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_real *got = model_copy(t, rapt_decoder_step(t, &m->decoder, s, (rapt_tokens){ids, BEAMS, 1}));
        for (size_t i = 0; i < BEAMS; i++)
            model_same("a beam", want[i / 2] + time * MODEL_VOCAB, got + i * MODEL_VOCAB, MODEL_VOCAB);
        free(got);
        for (size_t i = 0; i < BEAMS; i++)
            parents[i] = (int32_t)(time % 2 ? i ^ 1 : i - i % 2);
        rapt_decoder_state_select(s, parents, BEAMS);
    }
    rapt_decoder_state_free(s);
}

static void translations_have_the_same_bits(void **state)
{
    (void)state;
    int32_t source[SENTENCES * SOURCE], target[SENTENCES * TIME];
    model_ids(source, SENTENCES * SOURCE, 1);
    model_ids(target, SENTENCES * TIME, 2);
    for (size_t i = 0; i < 2 * TRANSLATIONS; i++) {
        rapt_transformer *m = translation_model(i / 2);
        rapt_tape *first = model_tape("scalar", 1);
        rapt_real *want[SENTENCES], *exact;
        for (size_t b = 0; b < SENTENCES; b++)
            want[b] = translation_alone(first, m, source, b, target + b * TIME, STORAGES[i % 2]);
        exact = translation_alone(first, m, source, 1, target + TIME, RAPT_TYPE_FP32);
        const double far = distance(want[1], exact, LOGITS);
        if (!(far > 1e-5 && far < 0.02))
            fail_msg("model %zu: logits are %g from those in fp32", i / 2, far);
        for (const char *const *isa = kernels_names; *isa; isa++)
            if (kernels_of_isa(*isa, NULL)) {
                rapt_tape *t = model_tape(*isa, 1 + (int)(i / 2 % 4) * 2);
                check_beams(t, m, source, target, want, STORAGES[i % 2]);
                rapt_tape_free(t);
            }
        for (size_t b = 0; b < SENTENCES; b++)
            free(want[b]);
        free(exact);
        rapt_tape_free(first);
        rapt_transformer_free(m);
    }
}

/* ---- sizes and refusals ----------------------------------------------------------------------------------------------- */

static void positions_have_their_bytes(void **state)
{
    (void)state;
    rapt_kv_sizes s = {.layers = 3, .rows = 5, .capacity = 7, .features = 80, .head = 40};
    assert_int_equal(rapt_kv_position_bytes(&s), 2 * 3 * 80 * 4);
    s.storage = RAPT_TYPE_BF16;
    assert_int_equal(rapt_kv_position_bytes(&s), 2 * 3 * 80 * 2);
    s.storage = RAPT_TYPE_Q8_0;
    assert_int_equal(rapt_kv_position_bytes(&s), 2 * 3 * 2 * (34 + 2 + 8));
    s.head = 0; /* one head: blocks of 32, 32 and 16 */
    assert_int_equal(rapt_kv_position_bytes(&s), 2 * 3 * (34 + 34 + 2 + 16));
    s.layers = SIZE_MAX / 2;
    assert_true(rapt_kv_position_bytes(&s) == SIZE_MAX);
}

static void what_is_refused(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_kv_sizes sizes = {.layers = 2, .rows = 1, .capacity = 4, .features = 24, .head = 5};
    assert_null(rapt_kv_cache_new(sizes, &err));
    assert_int_equal(err.code, RAPT_ERR_VALUE);
    assert_string_equal(err.message, "a KV cache of 24 features, which heads of 5 do not divide");
    err = (rapt_error){0};
    sizes.head = 4;
    sizes.storage = (rapt_type)3;
    assert_null(rapt_kv_cache_new(sizes, &err));
    assert_string_equal(err.message, "keys and values in q4_0; there are fp32, bf16 and q8_0");
    rapt_lm_config config = lm_variant(1); /* 6 heads of 4 */
    rapt_lm *m = lm_model(&config);
    rapt_tape *t = model_tape(NULL, 1);
    sizes.storage = RAPT_TYPE_Q8_0;
    sizes.head = 8;
    rapt_kv_cache *c = rapt_kv_cache_new(sizes, NULL);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_lm_step(t, m, c, (rapt_tokens){(int32_t[]){1}, 1, 1}, true);
    assert_int_equal(rapt_tape_error(t)->code, RAPT_ERR_SHAPE);
    rapt_kv_cache_free(c);
    rapt_tape_free(t);
    rapt_lm_free(m);
}

/* Rows of 42 features in Q8_0 as one head, to a module of three. */
static void cross_attention_refuses_other_heads(void **state)
{
    enum { KEYS = 5 };
    static rapt_real numbers[KEYS * 42];
    (void)state;
    rapt_transformer *m = model_new(RAPT_NORM_PLACE_POST, false);
    rapt_tape *t = model_tape(NULL, 1);
    for (size_t heads = 1; heads <= 3; heads += 2) {
        rapt_kv_cache *c = rapt_kv_cache_new((rapt_kv_sizes){.layers = 1, .rows = 1, .capacity = KEYS, .features = 42,
                                                             .head = 42 / heads, .storage = RAPT_TYPE_Q8_0}, NULL);
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_tensor *x = rapt_tape_input(t, 3, (size_t[]){1, KEYS, 42}, numbers, false);
        kv_cache_append(kernels_active(NULL), rapt_kv_cache_layer(c, 0), x, x, 0);
        rapt_cached_cross_attention(t, &m->decoder.blocks[0].cross_attention, x, rapt_kv_cache_layer(c, 0), NULL);
        assert_int_equal(rapt_tape_error(t)->code, heads == 3 ? RAPT_OK : RAPT_ERR_SHAPE);
        rapt_kv_cache_free(c);
    }
    rapt_tape_free(t);
    rapt_transformer_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_may_come_in_pieces),           cmocka_unit_test(products_in_bf16_round_the_same),
        cmocka_unit_test(rows_are_selected_and_windows_slide), cmocka_unit_test(a_cache_grows),
        cmocka_unit_test(a_loss_is_that_of_the_steps),         cmocka_unit_test(translations_have_the_same_bits),
        cmocka_unit_test(positions_have_their_bytes),          cmocka_unit_test(what_is_refused),
        cmocka_unit_test(cross_attention_refuses_other_heads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
