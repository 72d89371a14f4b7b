/* tests/nn/test_kv_cache.c: what a KV cache is asked to do between decoding steps: rows are selected, positions dropped,
 * sizes changed, rows of different lengths kept, a prefill shared by several continuations; each gives the bits of the pass over
 * whole rows. */
#define _GNU_SOURCE /* mincore */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nn/kv_cache.h"
#include "nn/lm_model.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* ---- rows ----------------------------------------------------------------------------------------------------- */

#define ROWS 9
#define CAPACITY 4
#define FEATURES 3

/* Every element says whose it was. */
static void fill(rapt_kv_cache *c, size_t past)
{
    rapt_kv_cache_clear(c, ROWS);
    for (size_t layer = 0; layer < 2; layer++)
        for (size_t i = 0; i < (size_t)ROWS * CAPACITY * FEATURES; i++) {
            rapt_kv_cache_layer(c, layer)->k.data[i] = (rapt_real)(1000 * layer + i);
            rapt_kv_cache_layer(c, layer)->v.data[i] = (rapt_real)(5000 + 1000 * layer + i);
        }
    rapt_kv_cache_advance(c, past);
}

static void check_row(const rapt_tensor *x, size_t row, size_t parent, size_t past, rapt_real base)
{
    for (size_t i = 0; i < past * FEATURES; i++)
        if (x->data[row * CAPACITY * FEATURES + i] != base + (rapt_real)(parent * CAPACITY * FEATURES + i))
            fail_msg("row %zu is not what row %zu was", row, parent);
}

static void check_select(rapt_kv_cache *c, const int32_t *parents, size_t rows, size_t past)
{
    fill(c, past);
    rapt_kv_cache_select(c, parents, rows);
    assert_int_equal(rapt_kv_cache_rows(c), rows);
    assert_int_equal(rapt_kv_cache_past(c), past);
    for (size_t layer = 0; layer < 2; layer++) {
        const rapt_kv *kv = rapt_kv_cache_layer(c, layer);
        assert_int_equal(kv->k.shape[0], rows);
        assert_int_equal(kv->v.shape[0], rows);
        for (size_t i = 0; i < rows; i++) {
            check_row(&kv->k, i, (size_t)parents[i], past, (rapt_real)(1000 * layer));
            check_row(&kv->v, i, (size_t)parents[i], past, (rapt_real)(5000 + 1000 * layer));
        }
    }
}

/* Cycles, chains, forks, rows that go: some by hand, many by chance. */
static void rows_are_selected(void **state)
{
    static const int32_t maps[][ROWS] = {
        {0, 1, 2, 3, 4, 5, 6, 7, 8}, {1, 0, 2, 4, 5, 3, 6, 7, 8}, {8, 7, 6, 5, 4, 3, 2, 1, 0}, {1, 2, 3, 4, 5, 6, 7, 8, 8},
        {0, 0, 1, 2, 3, 4, 5, 6, 7}, {3, 3, 3, 0, 0, 0, 3, 4, 5}, {1, 2, 0, 0, 1, 2, 7, 8, 6}};
    (void)state;
    rapt_kv_cache *c = rapt_kv_cache_new((rapt_kv_sizes){2, ROWS, CAPACITY, FEATURES}, NULL);
    assert_non_null(c);
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        for (size_t rows = 1; rows <= ROWS; rows++)
            check_select(c, maps[i], rows, i % (CAPACITY + 1));
    for (uint64_t i = 0; i < 2000; i++) {
        int32_t parents[ROWS];
        for (size_t j = 0; j < ROWS; j++)
            parents[j] = (int32_t)rng_below(i, j, ROWS);
        check_select(c, parents, 1 + rng_below(i, ROWS, ROWS), CAPACITY);
    }
    rapt_kv_cache_free(c);
}

static void sizes_change(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_kv_cache *c = rapt_kv_cache_new((rapt_kv_sizes){1, 2, 3, 4}, &err);
    rapt_kv_cache_advance(c, 3);
    assert_int_equal(rapt_kv_cache_resize(c, (rapt_kv_sizes){2, ROWS, CAPACITY, FEATURES}, &err), RAPT_OK);
    assert_int_equal(rapt_kv_cache_past(c), 0);
    assert_int_equal(rapt_kv_cache_rows(c), ROWS);
    check_select(c, (int32_t[]){1, 0}, 2, CAPACITY);
    assert_int_equal(rapt_kv_cache_resize(c, (rapt_kv_sizes){2, SIZE_MAX / 2 + 1, 2, 1}, &err), RAPT_ERR_MEMORY);
    assert_int_equal(rapt_kv_cache_resize(c, (rapt_kv_sizes){0, SIZE_MAX / 2 + 1, 1, 1}, &err), RAPT_ERR_MEMORY);
    assert_int_equal(rapt_kv_cache_rows(c), 0);
    assert_int_equal(rapt_kv_cache_sizes(c).layers, 0);
    rapt_kv_cache_free(c);
}

/* Position `at` of row `row`: its features hold `of`. */
static void put(const rapt_tensor *x, size_t row, size_t at, rapt_real of)
{
    for (size_t i = 0; i < x->shape[2]; i++)
        x->data[(row * x->shape[1] + at) * x->shape[2] + i] = of;
}

static void check_put(const rapt_tensor *x, size_t row, size_t at, rapt_real of)
{
    for (size_t i = 0; i < x->shape[2]; i++)
        if (x->data[(row * x->shape[1] + at) * x->shape[2] + i] != of)
            fail_msg("position %zu of row %zu is not what it was", at, row);
}

/* Appends a position at a time, makes room for it, and exchanges two of the rows now and then. */
static void a_cache_grows(void **state)
{
    enum { LAYERS = 2, GROWN = 1500 };
    (void)state;
    rapt_error err = {0};
    rapt_kv_cache *c = rapt_kv_cache_new((rapt_kv_sizes){LAYERS, 3, GROWN, FEATURES, .grows = true}, &err);
    size_t moves = 0, had = 0;
    assert_non_null(c);
    for (size_t n = 0; n < GROWN; n++) {
        assert_int_equal(rapt_kv_cache_reserve(c, n + 1, &err), RAPT_OK);
        for (size_t i = 0; i < LAYERS * 3; i++) {
            put(&rapt_kv_cache_layer(c, i / 3)->k, i % 3, n, (rapt_real)(10 * n + i));
            put(&rapt_kv_cache_layer(c, i / 3)->v, i % 3, n, -(rapt_real)(10 * n + i));
        }
        rapt_kv_cache_advance(c, 1);
        size_t room = rapt_kv_cache_layer(c, 0)->k.shape[1];
        assert_in_range(room, n + 1, GROWN);
        moves += room != had;
        had = room;
    }
    assert_in_range(moves, 3, 8);
    rapt_kv_cache_select(c, (int32_t[]){1, 2, 0}, 3);
    for (size_t n = 0; n < GROWN; n++)
        for (size_t i = 0; i < LAYERS * 3; i++) {
            size_t was = i / 3 * 3 + (i + 1) % 3;
            check_put(&rapt_kv_cache_layer(c, i / 3)->k, i % 3, n, (rapt_real)(10 * n + was));
            check_put(&rapt_kv_cache_layer(c, i / 3)->v, i % 3, n, -(rapt_real)(10 * n + was));
        }
    assert_int_equal(rapt_kv_cache_reserve(c, GROWN + 1, &err), RAPT_ERR_SHAPE);
    assert_string_equal(err.message, "1501 positions for a KV cache of 1500");
    rapt_kv_cache_free(c);
}

/* ---- rows of different lengths -------------------------------------------------------------------------------- */

enum { UNEVEN_LAYERS = 2, UNEVEN_ROWS = 5, LONGEST = 3000 };

/* Rows, and what each should hold: the numbers of its positions. */
typedef struct uneven {
    rapt_kv_cache *c;
    rapt_real want[UNEVEN_ROWS][LONGEST];
    size_t held[UNEVEN_ROWS], rows;
} uneven;

static void append_to_row(uneven *u, size_t row, size_t count, rapt_real first)
{
    rapt_error err = {0};
    assert_int_equal(rapt_kv_cache_reserve(u->c, u->held[row] + count, &err), RAPT_OK);
    for (size_t i = 0; i < count; i++) {
        const rapt_real number = u->want[row][u->held[row]++] = first + (rapt_real)i;
        for (size_t layer = 0; layer < UNEVEN_LAYERS; layer++) {
            put(&rapt_kv_cache_layer(u->c, layer)->k, row, u->held[row] - 1, number + (rapt_real)layer);
            put(&rapt_kv_cache_layer(u->c, layer)->v, row, u->held[row] - 1, -number - (rapt_real)layer);
        }
    }
    kv_cache_row_advance(u->c, row, count);
}

static void check_rows(const uneven *u)
{
    size_t longest = 0;
    assert_int_equal(rapt_kv_cache_rows(u->c), u->rows);
    for (size_t row = 0; row < u->rows; row++) {
        assert_int_equal(kv_cache_row_past(u->c, row), u->held[row]);
        longest = u->held[row] > longest ? u->held[row] : longest;
        for (size_t i = 0; i < u->held[row] * UNEVEN_LAYERS; i++) {
            const size_t layer = i % UNEVEN_LAYERS, at = i / UNEVEN_LAYERS;
            check_put(&rapt_kv_cache_layer(u->c, layer)->k, row, at, u->want[row][at] + (rapt_real)layer);
            check_put(&rapt_kv_cache_layer(u->c, layer)->v, row, at, -u->want[row][at] - (rapt_real)layer);
        }
    }
    assert_int_equal(rapt_kv_cache_past(u->c), longest);
}

static void select_uneven(uneven *u, const int32_t *parents, size_t rows)
{
    static uneven before;
    before = *u;
    for (size_t i = 0; i < rows; i++) {
        memcpy(u->want[i], before.want[parents[i]], sizeof *u->want);
        u->held[i] = before.held[parents[i]];
    }
    u->rows = rows;
    rapt_kv_cache_select(u->c, parents, rows);
}

/* Does one thing to the rows, by chance. */
static void change_rows(uneven *u, uint64_t turn)
{
    const size_t row = rng_below(turn, 1, u->rows), other = rng_below(turn, 2, u->rows), held = u->held[row];
    const size_t part = rng_below(turn, 3, held + 1), room = LONGEST - held;
    int32_t parents[UNEVEN_ROWS];
    for (size_t i = 0; i < UNEVEN_ROWS; i++)
        parents[i] = (int32_t)rng_below(turn, 10 + i, u->rows);
    switch (rng_below(turn, 0, 7)) {
    case 0:
        kv_cache_row_truncate(u->c, row, part);
        u->held[row] = part;
        return;
    case 1:
        kv_cache_row_trim(u->c, row, part);
        u->held[row] = part;
        return;
    case 2:
        kv_cache_row_copy(u->c, row, other, part);
        memcpy(u->want[other], u->want[row], sizeof *u->want);
        u->held[other] = part;
        return;
    case 3:
        select_uneven(u, parents, 1 + rng_below(turn, 4, UNEVEN_ROWS));
        return;
    default:
        append_to_row(u, row, rng_below(turn, 5, (room < 700 ? room : 700) + 1), (rapt_real)(turn * 5000));
    }
}

/* Rows that are continued, cut, copied and selected one by one, in both kinds of memory, keep their own numbers. Selections are
 * of more bytes than are copied at a time. */
static void rows_have_lengths(void **state)
{
    static uneven u;
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        u = (uneven){.rows = UNEVEN_ROWS};
        u.c = rapt_kv_cache_new((rapt_kv_sizes){UNEVEN_LAYERS, UNEVEN_ROWS, LONGEST, 4, .grows = true, .sparse = sparse}, NULL);
        assert_non_null(u.c);
        for (uint64_t i = 0; i < 400; i++) {
            change_rows(&u, i);
            if (i % 5 == 0)
                check_rows(&u);
        }
        check_rows(&u);
        rapt_kv_cache_clear(u.c, UNEVEN_ROWS);
        assert_int_equal(kv_cache_row_past(u.c, UNEVEN_ROWS - 1), 0);
        rapt_kv_cache_free(u.c);
    }
}

static size_t resident_bytes(void)
{
    size_t all = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%zu %zu", &all, &resident), 2);
    fclose(f);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* Rows of 400 MB in all that hold 4 MB take memory for these, and give it back. */
static void a_sparse_cache_is_as_large_as_what_it_holds(void **state)
{
    enum { SPARSE_ROWS = 8, WIDTH = 64, HELD = 1000, CONTEXT = 100000 };
    (void)state;
    const size_t before = resident_bytes();
    rapt_kv_cache *c = rapt_kv_cache_new((rapt_kv_sizes){1, SPARSE_ROWS, CONTEXT, WIDTH, .grows = true, .sparse = true}, NULL);
    assert_non_null(c);
    rapt_kv *kv = rapt_kv_cache_layer(c, 0);
    assert_int_equal(kv->k.shape[1], CONTEXT);
    for (size_t row = 0; row < SPARSE_ROWS; row++) {
        for (size_t i = 0; i < HELD; i++) {
            put(&kv->k, row, i, 1);
            put(&kv->v, row, i, 1);
        }
        kv_cache_row_advance(c, row, HELD);
    }
    assert_true(resident_bytes() < before + ((size_t)64 << 20));
    kv_cache_row_trim(c, 3, HELD / 10);
    check_put(&kv->k, 3, HELD / 10 - 1, 1);
    check_put(&kv->k, 4, 0, 1);
    check_put(&kv->k, 3, HELD * 6 / 10, 0); /* its page has gone, even where pages are of 64 KB */
    rapt_kv_cache_free(c);
}

/* Translators keep two caches for each sentence: one without positions has memory in two pages, where its keys begin and where
 * its values end, and none behind the scratch memory that is seldom used. */
static void an_empty_cache_takes_two_pages(void **state)
{
    enum { LAYERS = 2, WIDTH = 128, CONTEXT = 50, ALL_BYTES = 2 * LAYERS * CONTEXT * WIDTH * (int)sizeof(rapt_real) };
    unsigned char pages[2 * ALL_BYTES / 4096];
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* their allocators put bytes of their own around memory */
#endif
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* until the process ends: a page of a system with huge pages for all says nothing */
    rapt_kv_cache *c = rapt_kv_cache_new((rapt_kv_sizes){LAYERS, 1, CONTEXT, WIDTH, .grows = true}, NULL);
    assert_non_null(c);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), count = 3 * ALL_BYTES / 2 / page;
    assert_true(count <= sizeof pages);
    uintptr_t first = (uintptr_t)rapt_kv_cache_layer(c, 0) / page * page;
    assert_int_equal(mincore((void *)first, count * page, pages), 0);
    size_t resident = 0;
    for (size_t i = 0; i < count; i++)
        resident += pages[i] & 1;
    assert_in_range(resident, 1, 2);
    rapt_kv_cache_free(c);
}

/* ---- a language model ----------------------------------------------------------------------------------------- */

#define TEXT (3 * LM_CONTEXT)

/* Logits after the first n tokens of `text`, all visible ones computed anew; free() it. */
static rapt_real *anew(rapt_tape *t, const rapt_lm *m, const int32_t *text, size_t n)
{
    size_t visible = rapt_lm_visible(&m->config, n);
    rapt_real *all = lm_whole(t, m, text + n - visible, 1, visible);
    memmove(all, all + (visible - 1) * MODEL_VOCAB, MODEL_VOCAB * sizeof *all);
    return all;
}

static void check_next(const char *what, rapt_tape *t, const rapt_lm *m, rapt_kv_cache *c, const int32_t *text, size_t n)
{
    rapt_real *want = anew(t, m, text, n);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_real *got = model_copy(t, rapt_lm_next(t, m, c, text, n, n));
    model_same(what, want, got, MODEL_VOCAB);
    free(want);
    free(got);
}

/* A text is cut anywhere and continued otherwise, before and after its window slid. */
static void prefixes_are_continued(void **state)
{
    (void)state;
    rapt_lm_config config = lm_variant(26);
    rapt_lm *m = lm_model(&config);
    rapt_tape *t = model_tape(NULL, 1);
    rapt_kv_cache *c = rapt_kv_cache_new(rapt_lm_kv_sizes(m, 1), NULL);
    int32_t text[TEXT];
    model_ids(text, TEXT, 1);
    for (uint64_t i = 0; i < 60; i++) {
        size_t keep = rng_below(77, i, TEXT - 2), n = keep + 1 + rng_below(78, i, TEXT - keep - 1);
        model_ids(text + keep, TEXT - keep, i);
        rapt_kv_cache_truncate(c, keep);
        assert_true(rapt_kv_cache_past(c) == 0 || rapt_kv_cache_first(c) + rapt_kv_cache_past(c) <= keep);
        check_next("another continuation", t, m, c, text, n);
        check_next("the same again", t, m, c, text, n);
    }
    rapt_kv_cache_free(c);
    rapt_tape_free(t);
    rapt_lm_free(m);
}

/* A text longer than a cache has room for at first: token by token, and at once. */
static void a_long_text(void **state)
{
    enum { LONG = 700 };
    (void)state;
    rapt_lm_config config = lm_variant(26);
    config.context = LONG;
    rapt_lm *m = lm_model(&config);
    rapt_tape *t = model_tape(NULL, 2);
    rapt_kv_cache *c = rapt_kv_cache_new(rapt_lm_kv_sizes(m, 1), NULL);
    int32_t text[LONG];
    model_ids(text, LONG, 5);
    assert_true(rapt_kv_cache_layer(c, 1)->v.shape[1] < LONG / 2);
    for (size_t n = 300; n <= LONG; n += n < 500 ? 1 : 50)
        check_next("a long text", t, m, c, text, n);
    m->config.context = 40; /* fewer are seen from now on */
    for (size_t n = 30; n <= 60; n++)
        check_next("a lowered context", t, m, c, text, n);
    rapt_kv_cache_free(c);
    rapt_tape_free(t);
    rapt_lm_free(m);
}

/* Only what comes after the cut is computed: keys of the prefix stay where they are, whatever they are. */
static void a_prefix_is_not_computed_again(void **state)
{
    (void)state;
    rapt_lm_config config = lm_variant(1);
    rapt_lm *m = lm_model(&config);
    rapt_tape *t = model_tape(NULL, 1);
    rapt_kv_cache *c = rapt_kv_cache_new(rapt_lm_kv_sizes(m, 1), NULL);
    int32_t text[LM_CONTEXT];
    model_ids(text, LM_CONTEXT, 1);
    check_next("a prefill", t, m, c, text, 8);
    rapt_kv *kv = rapt_kv_cache_layer(c, 1);
    kv->k.data[4 * kv->k.shape[2]] = 123;
    rapt_kv_cache_truncate(c, 5);
    text[5]++;
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_lm_next(t, m, c, text, LM_CONTEXT, 7);
    assert_true(kv->k.data[4 * kv->k.shape[2]] == 123);
    assert_int_equal(rapt_kv_cache_past(c), 7);
    rapt_kv_cache_free(c);
    rapt_tape_free(t);
    rapt_lm_free(m);
}

/* Several samples from one prefill: its row becomes three, each continued by itself; then two of them stay. */
static void samples_share_a_prefill(void **state)
{
    enum { SAMPLES = 3, PROMPT = 5 };
    (void)state;
    rapt_lm_config config = lm_variant(50);
    rapt_lm *m = lm_model(&config);
    rapt_tape *t = model_tape(NULL, 2);
    rapt_kv_cache *c = rapt_kv_cache_new(rapt_lm_kv_sizes(m, SAMPLES), NULL);
    int32_t text[SAMPLES * TEXT];
    model_ids(text, SAMPLES * TEXT, 4);
    for (size_t i = 1; i < SAMPLES; i++)
        memcpy(text + i * TEXT, text, PROMPT * sizeof *text);
    rapt_kv_cache_clear(c, 1);
    check_next("the prefill", t, m, c, text, PROMPT);
    rapt_kv_cache_select(c, (int32_t[SAMPLES]){0}, SAMPLES);
    for (size_t n = PROMPT + 1; n <= TEXT; n++) {
        if (n == TEXT / 2) { /* sample 1 is finished */
            rapt_kv_cache_select(c, (int32_t[]){0, 2}, 2);
            memcpy(text + TEXT, text + 2 * TEXT, TEXT * sizeof *text);
        }
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_real *got = model_copy(t, rapt_lm_next(t, m, c, text, TEXT, n));
        for (size_t i = 0; i < rapt_kv_cache_rows(c); i++) {
            rapt_real *want = anew(t, m, text + i * TEXT, n);
            model_same("a sample", want, got + i * MODEL_VOCAB, MODEL_VOCAB);
            free(want);
        }
        free(got);
    }
    rapt_kv_cache_free(c);
    rapt_tape_free(t);
    rapt_lm_free(m);
}

static void another_model_is_refused(void **state)
{
    (void)state;
    rapt_lm_config config = lm_variant(1);
    rapt_lm *m = lm_model(&config);
    rapt_tape *t = model_tape(NULL, 1);
    rapt_kv_cache *c = rapt_kv_cache_new((rapt_kv_sizes){1, 1, LM_CONTEXT, 24}, NULL);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_lm_step(t, m, c, (rapt_tokens){(int32_t[]){1}, 1, 1}, true);
    assert_string_equal(rapt_tape_error(t)->message, "a KV cache of 1 layers for a model of 2");
    rapt_kv_cache_free(c);
    rapt_tape_free(t);
    rapt_lm_free(m);
}

/* ---- translation ---------------------------------------------------------------------------------------------- */

#define SOURCE 8
#define TARGET 6

/* Logits after `count` target tokens of one sentence, all computed anew; free() it. */
static rapt_real *translation_anew(rapt_tape *t, const rapt_transformer *m, rapt_tokens source, const int32_t *target,
                                   size_t count)
{
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *y = rapt_transformer_forward(t, m, source, NULL, (rapt_tokens){target, 1, count});
    rapt_real *all = model_copy(t, y);
    memmove(all, all + (count - 1) * MODEL_VOCAB, MODEL_VOCAB * sizeof *all);
    return all;
}

/* One state serves batches of any size, and the step may be in the pass that encoded. */
static void a_state_serves_many_batches(void **state)
{
    static const size_t times[] = {3, SOURCE, 1, 5};
    (void)state;
    rapt_transformer *m = model_new(RAPT_NORM_PLACE_PRE, false);
    rapt_tape *t = model_tape(NULL, 1);
    rapt_decoder_state *s = rapt_decoder_state_new(NULL);
    int32_t ids[SOURCE], target[TARGET];
    model_ids(target, TARGET, 2);
    for (size_t i = 0; i < 8; i++) {
        rapt_tokens source = {ids, 1, times[i % 4]};
        model_ids(ids, SOURCE, 10 + i);
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_tensor *memory = rapt_encoder_forward(t, &m->encoder, source, NULL);
        rapt_decoder_start(t, &m->decoder, s, memory, NULL, (rapt_decoder_sizes){1 + i % 3, TARGET + i % 2});
        assert_int_equal(rapt_decoder_state_past(s), 0);
        for (size_t n = 1; n <= TARGET; n++) {
            rapt_real *got = model_copy(t, rapt_decoder_step(t, &m->decoder, s, (rapt_tokens){target + n - 1, 1, 1}));
            rapt_real *want = translation_anew(t, m, source, target, n);
            model_same("a batch of many", want, got, MODEL_VOCAB);
            free(want);
            free(got);
        }
    }
    rapt_decoder_state_free(s);
    rapt_decoder_state_free(NULL);
    rapt_tape_free(t);
    rapt_transformer_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_cache_takes_two_pages), /* before others have used memory that it could get */
        cmocka_unit_test(rows_are_selected),
        cmocka_unit_test(sizes_change),
        cmocka_unit_test(a_cache_grows),
        cmocka_unit_test(rows_have_lengths),
        cmocka_unit_test(a_sparse_cache_is_as_large_as_what_it_holds),
        cmocka_unit_test(prefixes_are_continued),
        cmocka_unit_test(a_long_text),
        cmocka_unit_test(a_prefix_is_not_computed_again),
        cmocka_unit_test(samples_share_a_prefill),
        cmocka_unit_test(another_model_is_refused),
        cmocka_unit_test(a_state_serves_many_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
