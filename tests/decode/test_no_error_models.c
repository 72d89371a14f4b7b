/* tests/decode/test_no_error_models.c: a rapt_error may be NULL in what trains and runs models, too; the rest is in
 * tests/base/test_no_error.c. tests/base/check_no_error.sh sees to it that no public function is forgotten. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "io/model_folder.h"
#include "loading.h"
#include "options.h"
#include "rapt/engine.h"
#include "rapt.h"
#include "texts.h"

#include <string.h>

/* A language model of the characters from '!' on, MODEL_VOCAB of them, in a context of LM_CONTEXT. */
static rapt_model *of_characters(void)
{
    const rapt_lm_config c = lm_variant(24);
    return language_model(&c, characters('!', c.vocab));
}

static void making(void **state)
{
    (void)state;
    assert_null(rapt_model_new_language(&(rapt_language_model){0}, NULL));
    assert_null(rapt_model_new_translation(&(rapt_translation_model){0}, NULL));
}

static void saving(void **state)
{
    (void)state;
    rapt_model *m = of_characters();
    assert_int_not_equal(rapt_model_save(m, "/dev/null/x", NULL), RAPT_OK);
    assert_int_not_equal(rapt_model_export(m, "/dev/null/x", NULL, NULL), RAPT_OK);
    assert_int_not_equal(rapt_model_save_config(m, "/nowhere", NULL), RAPT_OK);
    assert_int_not_equal(rapt_model_save_params(m, "/nowhere", NULL), RAPT_OK);
    assert_null(rapt_model_without_heads(m, (const char *const[]){"no head"}, 1, NULL));
    rapt_model_free(m);
}

static void translating(void **state)
{
    (void)state;
    const char *const bad[] = {"\xff"}, *const good[] = {"a b"}, *const prefix[] = {"\xff"};
    rapt_translation out[1];
    rapt_model *m = translation_model();
    assert_null(rapt_translator_new(m, &TRANSLATE(.compute.threads = 1, .n_best = 3, .beam = 2), NULL));
    rapt_translator *t = rapt_translator_new(m, &TRANSLATE(.compute.threads = 1), NULL);
    assert_non_null(t);
    assert_int_not_equal(rapt_translate(m, bad, 1, NULL, out, NULL), RAPT_OK);
    assert_int_not_equal(rapt_translator_run(t, NULL, TEXTS_OF(bad, 1), 1, out, NULL), RAPT_OK);
    const rapt_translator_request begun = {.prefixes = TEXTS_OF(prefix, 1)};
    assert_int_not_equal(rapt_translator_run(t, &begun, TEXTS_OF(good, 1), 1, out, NULL), RAPT_OK);
    const rapt_translate_options wide = {TRANSLATE_DEFAULTS, .beam = 1 << 17};
    assert_int_equal(rapt_translator_check(t, &wide, NULL), RAPT_ERR_VALUE);
    assert_int_equal(rapt_translator_run(t, &(rapt_translator_request){.options = &wide}, TEXTS_OF(good, 1), 1, out, NULL),
                     RAPT_ERR_VALUE);
    assert_int_equal(rapt_translator_run(t, NULL, TEXTS_OF(good, 1), 1, out, NULL), RAPT_OK);
    rapt_translations_free(out, 1);
    rapt_translator_free(t);
    rapt_model_free(m);
}

static void generating(void **state)
{
    (void)state;
    rapt_generate_options o = {GENERATE_DEFAULTS, .compute.threads = 1, .max_tokens = 2};
    rapt_generated result;
    rapt_model *m = of_characters();
    rapt_generator *g = rapt_generator_new(m, &o, NULL);
    assert_non_null(g);
    assert_int_not_equal(rapt_generator_run(g, 0, &result, NULL), RAPT_OK); /* no prompt */
    assert_int_not_equal(rapt_generator_likeliest(g, 1, (int32_t[]){0}, (double[]){0}, NULL), RAPT_OK);
    assert_int_equal(rapt_generator_likeliest(g, 0, NULL, NULL, NULL), RAPT_ERR_VALUE);
    rapt_generated_token token;
    assert_false(rapt_generator_next(g, &token, NULL)); /* no run */
    assert_int_not_equal(rapt_generator_finish(g, NULL, NULL), RAPT_OK);
    assert_int_equal(rapt_generator_start(g, 0, NULL), RAPT_OK);
    rapt_generated_free(&result);
    assert_int_not_equal(rapt_generator_begin(g, " ", 1, NULL), RAPT_OK);
    assert_int_not_equal(rapt_generator_begin_tokens(g, (int32_t[]){-1}, 1, NULL), RAPT_OK);
    assert_int_equal(rapt_generator_begin(g, "!\"", 2, NULL), RAPT_OK);
    assert_int_not_equal(rapt_generator_append(g, " ", 1, NULL), RAPT_OK);
    assert_int_not_equal(rapt_generator_append_tokens(g, (int32_t[]){-1}, 1, NULL), RAPT_OK);
    assert_int_not_equal(rapt_generator_rewind(g, 100, NULL), RAPT_OK);
    assert_int_equal(rapt_generator_run(g, 0, &result, NULL), RAPT_OK);
    rapt_generated_free(&result);
    rapt_generator_free(g);
    assert_int_not_equal(rapt_generate(m, " ", &o, &result, NULL), RAPT_OK);
    assert_null(rapt_constraint_json_schema("{", 1, NULL));
    rapt_generated_free(&result);
    rapt_model_free(m);
    m = translation_model();
    assert_null(rapt_generator_new(m, &o, NULL));
    rapt_model_free(m);
}

static void embedding(void **state)
{
    (void)state;
    const char *const bad[] = {"\xff"}, *const good[] = {"a cat"};
    rapt_token_vectors tokens;
    rapt_model *m = of_characters();
    assert_null(rapt_embedder_new(m, NULL, NULL));
    rapt_model_free(m);
    m = load_inference(RAPT_SOURCE_DIR "/tests/golden/hub_encoder/bert_4", RAPT_TASK_ENCODER, NULL);
    rapt_embedder *e = rapt_embedder_new(m, NULL, NULL);
    assert_non_null(e);
    rapt_real *vectors = malloc(rapt_embedder_features(e) * sizeof *vectors);
    assert_non_null(vectors);
    assert_int_equal(rapt_embedder_run(e, TEXTS_OF(good, 1), 1, vectors, NULL, NULL), RAPT_OK);
    assert_int_not_equal(rapt_embedder_run(e, TEXTS_OF(bad, 1), 1, vectors, NULL, NULL), RAPT_OK);
    assert_int_not_equal(rapt_embedder_tokens(e, bad[0], strlen(bad[0]), &tokens, NULL), RAPT_OK);
    free(vectors);
    rapt_embedder_free(e);
    rapt_model_free(m);
}

static void scoring_pairs(void **state)
{
    (void)state;
    const rapt_text_pair good = {rapt_text_of("a"), rapt_text_of("b")}, bad = {rapt_text_of("a"), rapt_text_of("\xff")};
    rapt_pair_score score;
    rapt_model *m = rapt_model_load(RAPT_SOURCE_DIR "/tests/golden/hub_rerank/bert_pairs", NULL, NULL);
    rapt_reranker *r = rapt_reranker_new(m, NULL, NULL);
    assert_non_null(r);
    assert_null(rapt_reranker_new(m, &(rapt_reranker_options){.batch = 1}, NULL));
    assert_int_equal(rapt_reranker_run(r, &good, 1, &score, NULL), RAPT_OK);
    assert_int_not_equal(rapt_reranker_run(r, &bad, 1, &score, NULL), RAPT_OK);
    rapt_reranker_free(r);
    rapt_model_free(m);
}

static void explaining(void **state)
{
    (void)state;
    char *text;
    size_t size;
    rapt_model *m = of_characters();
    assert_null(rapt_explanation_new(m, " ", strlen(" "), NULL, NULL));
    rapt_explanation *e = rapt_explanation_new(m, "!\"", strlen("!\""), NULL, NULL);
    assert_non_null(e);
    assert_int_equal(rapt_explanation_text(e, &EXPLAIN_FORMAT(), &text, &size, NULL), RAPT_OK);
    free(text);
    assert_int_equal(rapt_explanation_json(e, &EXPLAIN_FORMAT(), &text, &size, NULL), RAPT_OK);
    free(text);
    if (rapt_explanation_page(e, NULL, &text, &size, NULL) == RAPT_OK)
        free(text);
    rapt_explanation_free(e);
    rapt_model_free(m);
}

static void caches(void **state)
{
    (void)state;
    const rapt_kv_sizes small = {.layers = 1, .rows = 1, .capacity = 2, .features = 4};
    const rapt_kv_sizes large = {.layers = 1, .rows = SIZE_MAX / 16, .capacity = 2, .features = 4};
    assert_null(rapt_kv_cache_new(large, NULL));
    rapt_kv_cache *cache = rapt_kv_cache_new(small, NULL);
    assert_int_equal(rapt_kv_cache_resize(cache, large, NULL), RAPT_ERR_MEMORY);
    assert_int_equal(rapt_kv_cache_reserve(cache, 3, NULL), RAPT_ERR_SHAPE);
    rapt_kv_cache_free(cache);
    rapt_decoder_state *s = rapt_decoder_state_new(NULL);
    assert_non_null(s);
    rapt_decoder_state_free(s);
}

static void training(void **state)
{
    (void)state;
    rapt_recipe r;
    rapt_model *m = of_characters();
    rapt_adam *a = rapt_adam_new(rapt_model_params(m), NULL, NULL);
    assert_null(rapt_muon_new(rapt_model_params(m), &MUON(.momentum = 1), NULL, NULL));
    assert_null(rapt_sgd_new(rapt_model_params(m), &SGD(.momentum = 1), NULL));
    rapt_tape *t = rapt_tape_new(NULL, NULL);
    assert_true(a && t);
    rapt_tape_begin(t, (rapt_pass){.record = true});
    rapt_tape_fail(t, RAPT_ERR_VALUE, "failed");
    assert_int_equal(rapt_adam_step(a, t, 0.1, 1, NULL), RAPT_ERR_VALUE);
    rapt_tape_free(t);
    rapt_adam_free(a);
    const rapt_model_lora_options nowhere = MODEL_LORA(.lora = {.rank = 1}, .modules = "nowhere");
    assert_int_equal(rapt_model_add_lora(m, &nowhere, NULL), RAPT_ERR_VALUE);
    rapt_model_free(m);
    rapt_recipe_defaults(&r);
    rapt_train_options run = rapt_train_options_default();
    run.recipe = &r, run.out = "/nowhere";
    assert_int_equal(rapt_train(&run, NULL), RAPT_ERR_VALUE);
    assert_null(rapt_trainer_new(&run, NULL));
    char *value;
    assert_int_not_equal(rapt_recipe_get(&r, "nothing", &value, NULL), RAPT_OK);
    const char *const broken[] = {"a\nb"};
    assert_null(rapt_pairs_from_lines(broken, broken, 1, NULL));
    assert_int_not_equal(rapt_average("/nowhere", 2, "/nowhere/out", NULL), RAPT_OK);
    uint64_t *steps;
    size_t count;
    assert_int_equal(rapt_checkpoint_steps("/nowhere", &steps, &count, NULL), RAPT_OK); /* there are none */
    assert_null(steps);
    assert_null(rapt_model_load_checkpoint("/nowhere", 1, NULL));
}

static void nothing(void *context, const rapt_model *m, int threads)
{
    (void)m, (void)threads;
    *(bool *)context = true;
}

static void serving(void **state)
{
    (void)state;
    const char *const bad[] = {"\xff"}, *const good[] = {"a b"};
    bool called = false;
    assert_null(rapt_engine_new(&ENGINE(.threads = 1000), NULL));
    rapt_engine *e = rapt_engine_new(&ENGINE(.threads = 1), NULL);
    assert_non_null(e);
    const rapt_engine_model_options wrong = {ENGINE_MODEL_DEFAULTS, .translate = &TRANSLATE(.n_best = 3, .beam = 2)};
    assert_null(rapt_engine_add(e, translation_model(), &wrong, NULL));
    rapt_engine_model *m = rapt_engine_add(e, translation_model(), NULL, NULL);
    assert_non_null(m);
    const rapt_engine_translation refused = {.lines = TEXTS_OF(bad, 1), .count = 1};
    const rapt_engine_translation taken = {.lines = TEXTS_OF(good, 1), .count = 1};
    assert_int_not_equal(rapt_engine_translate(m, &refused, NULL, NULL), RAPT_OK);
    assert_int_equal(rapt_engine_translate(m, &taken, NULL, NULL), RAPT_OK);
    assert_int_not_equal(rapt_engine_generate(m, &(rapt_engine_generation){0}, NULL, NULL), RAPT_OK);
    assert_int_equal(rapt_engine_call(m, nothing, NULL, &called, NULL, NULL), RAPT_OK);
    assert_int_equal(rapt_engine_check(m, NULL), RAPT_OK);
    rapt_engine_free(e);
    assert_true(called);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(making),
        cmocka_unit_test(saving), cmocka_unit_test(translating), cmocka_unit_test(serving), cmocka_unit_test(generating),
        cmocka_unit_test(embedding), cmocka_unit_test(scoring_pairs),
        cmocka_unit_test(explaining), cmocka_unit_test(caches), cmocka_unit_test(training),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
