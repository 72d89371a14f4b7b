/* tests/decode/test_pack_later.c: weights that are stored as blocks wait to be packed: products read the file until then, and the
 * logits have the same bits on every level with any number of threads. For src/decode/model_tapes.c and
 * src/tensor/packed_weights.c.
 * labels: not-raced levels arm-first */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define LEVELS_QUANTIZED
#include "decode/model_tapes.h"
#include "io/stored_models.h"
#include "levels.h"
#include "tape/tape_core.h"

enum { TOKENS = 30 };

/* Logits after the first `count` tokens, whose keys and values are not cached. */
static void logits_after(const model_tapes *s, const rapt_model *m, size_t count, rapt_real *to)
{
    rapt_error err = {0};
    int32_t ids[TOKENS];
    for (size_t i = 0; i < count; i++)
        ids[i] = (int32_t)(i * 29 % 256);
    rapt_kv_cache *cache = rapt_kv_cache_new(rapt_lm_kv_sizes(m->language.net, 1), &err);
    must(err.code, &err);
    rapt_tape_begin(s->all, (rapt_pass){0});
    const rapt_tensor *logits = rapt_lm_next(s->all, m->language.net, cache, ids, count, count);
    must(rapt_tape_status(s->all, &err), &err);
    memcpy(to, logits->data, VOCAB * sizeof *to);
    rapt_kv_cache_free(cache);
}

/* Matrices that wait, and the bytes that products read. */
static size_t waiting(const packed_weights *p, size_t *bytes)
{
    size_t count = 0;
    *bytes = 0;
    for (size_t i = 0; i < p->count; i++) {
        count += p->weights[i].param && !p->weights[i].panels;
        *bytes += p->weights[i].bytes;
    }
    return count;
}

static void check_file(const stored_model *f, const char *isa, int threads)
{
    const bool blocks = f->weights == RAPT_TYPE_Q8_0 || f->weights == RAPT_TYPE_Q4_0;
    rapt_error err = {0};
    model_tapes s = {0};
    rapt_real before[2][VOCAB], after[VOCAB];
    rapt_load_options options = rapt_load_options_default();
    options.inference = true;
    rapt_model *m = rapt_model_load(folder_in(f->name), &options, &err);
    must(err.code, &err);
    const rapt_compute c = {.threads = threads, .isa = isa};
    must(model_tapes_make(&s, m, &c, MODEL_TAPES_ALL | MODEL_TAPES_PACK_LATER, &err), &err);
    size_t bytes;
    assert_int_equal(waiting(s.packed, &bytes), blocks ? (f->gpt2 ? 2 * 6 + 1 : 2 * 7 + 1) : 0);
    assert_int_equal(bytes, s.packed->bytes);
    logits_after(&s, m, 1, before[0]);
    logits_after(&s, m, TOKENS, before[1]);
    must(model_tapes_complete(&s, &err), &err);
    assert_int_equal(waiting(s.packed, &bytes), 0);
    assert_int_equal(bytes, s.packed->bytes);
    logits_after(&s, m, 1, after);
    assert_memory_equal(before[0], after, sizeof after);
    logits_after(&s, m, TOKENS, after);
    assert_memory_equal(before[1], after, sizeof after);
    model_tapes_free(&s);
    rapt_model_free(m);
}

static void logits_are_as_packed(void **state)
{
    const char *isa = levels_wanted(state);
    for (size_t i = 0; i < FILE_COUNT; i++) {
        write_model(&FILES[i]);
        for (int threads = 1; threads <= 3; threads++)
            check_file(&FILES[i], isa, threads);
        remove_model(&FILES[i]);
    }
}

int main(void)
{
    struct CMUnitTest tests[LEVELS_MOST] = {{0}};
    levels_tests(tests, "logits", logits_are_as_packed, kernels_names);
    return cmocka_run_group_tests_name("pack later", tests, folder_make, remove_folder);
}
