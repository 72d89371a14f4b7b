/* tests/decode/test_option_sizes.c: options without a size are refused by name wherever they are taken, and options of a program
 * that was compiled before a member was added have its default. For the functions of rapt/use.h; sized.c itself: test_sized.c.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "io/model_folder.h"
#include "options.h"
#include "rapt.h"
#include "texts.h"

#include <string.h>

static void refused(rapt_error *err, const char *name)
{
    char wanted[200];
    snprintf(wanted, sizeof wanted, "options without a size: make them with rapt_%s_options_default()", name);
    assert_int_equal(err->code, RAPT_ERR_VALUE);
    assert_string_equal(err->message, wanted);
    *err = (rapt_error){0};
}

static rapt_model *of_characters(void)
{
    const rapt_lm_config c = lm_variant(24);
    return language_model(&c, characters('!', c.vocab));
}

static void without_a_size(void **state)
{
    static const char *const lines[] = {"a b"};
    const rapt_translate_options translate = {.beam = 4};
    const rapt_generate_options generate = {.max_tokens = 4};
    const rapt_score_options score = {.strict = true};
    const rapt_engine_options engine = {.threads = 1};
    const rapt_engine_model_options model = {.slots = 1};
    rapt_error err = {0};
    rapt_translation out[1];
    rapt_score scored;
    (void)state;
    rapt_model *pair = translation_model(), *lm = of_characters();
    assert_null(rapt_translator_new(pair, &translate, &err));
    refused(&err, "translate");
    rapt_translate(pair, lines, 1, &translate, out, &err);
    refused(&err, "translate");
    rapt_translator *t = rapt_translator_new(pair, NULL, &err);
    rapt_translator_check(t, &translate, &err);
    refused(&err, "translate");
    rapt_translator_run(t, &(rapt_translator_request){.options = &translate}, TEXTS_OF(lines, 1), 1, out, &err);
    refused(&err, "translate");
    rapt_translator_free(t);
    assert_null(rapt_generator_new(lm, &generate, &err));
    refused(&err, "generate");
    rapt_generate(lm, "A", &generate, NULL, &err);
    refused(&err, "generate");
    rapt_score_text(lm, "ABC", 3, &score, &scored, &err);
    refused(&err, "score");
    assert_null(rapt_engine_new(&engine, &err));
    refused(&err, "engine");
    rapt_engine *e = rapt_engine_new(NULL, &err);
    assert_null(rapt_engine_add(e, pair, &model, &err)); /* which frees the model */
    refused(&err, "engine_model");
    rapt_engine_model *m = rapt_engine_add(e, lm, NULL, &err);
    rapt_engine_generate(m, &(rapt_engine_generation){.tokens = (int32_t[]){1}, .count = 1, .options = &generate}, NULL, &err);
    refused(&err, "generate");
    rapt_engine_free(e);
}

/* The structs of this program end before no_repeat, and before max_tokens: it says so to `..._init`, which leaves alone what lies
 * behind them. */
static void of_a_former_program(void **state)
{
    static const char *const lines[] = {"a b"};
    rapt_translate_options translate = {.no_repeat = 1, .tokens = true};
    rapt_generate_options generate = {.max_tokens = 0};
    rapt_error err = {0};
    rapt_translation former[1], now[1];
    rapt_generated text;
    (void)state;
    rapt_model *pair = translation_model(), *lm = of_characters();
    rapt_translate_options_init(&translate, offsetof(rapt_translate_options, no_repeat));
    assert_true(translate.no_repeat == 1 && translate.tokens);
    translate.beam = translate.n_best = 2;
    assert_int_equal(rapt_translate(pair, lines, 1, &translate, former, &err), RAPT_OK);
    assert_int_equal(rapt_translate(pair, lines, 1, &TRANSLATE(.beam = 2, .n_best = 2), now, &err), RAPT_OK);
    assert_int_equal(former->count, 2);
    assert_string_equal(former->hypotheses[1].text, now->hypotheses[1].text);
    assert_null(former->hypotheses[0].tokens);
    rapt_generate_options_init(&generate, offsetof(rapt_generate_options, max_tokens));
    generate.sample.greedy = true;
    assert_int_equal(rapt_generate(lm, "AB", &generate, &text, &err), RAPT_OK);
    assert_true(text.token_count > 0);
    rapt_generated_free(&text);
    rapt_generate_options_init(&generate, sizeof generate);
    generate.max_tokens = 0;
    assert_int_equal(rapt_generate(lm, "AB", &generate, &text, &err), RAPT_OK);
    assert_true(text.token_count == 0 && text.finish == RAPT_FINISH_LENGTH); /* 0 is 0 */
    rapt_generated_free(&text);
    rapt_translations_free(former, 1);
    rapt_translations_free(now, 1);
    rapt_model_free(pair);
    rapt_model_free(lm);
}

/* What a program gets is what the library takes in place of NULL. */
static void defaults_have_their_size(void **state)
{
    const rapt_translate_options translate = rapt_translate_options_default(), t = {TRANSLATE_DEFAULTS};
    const rapt_generate_options generate = rapt_generate_options_default();
    const rapt_embedder_options embedder = rapt_embedder_options_default();
    const rapt_reranker_options reranker = rapt_reranker_options_default();
    const rapt_engine_model_options model = rapt_engine_model_options_default();
    (void)state;
    assert_true(reranker.size == sizeof reranker && reranker.batch == RAPT_RERANK_BATCH);
    assert_true(translate.size == sizeof translate && translate.n_best == 1 && translate.batch == RAPT_TRANSLATE_BATCH);
    assert_true(translate.beam == t.beam && translate.length_penalty == RAPT_AS_MODEL && translate.no_repeat == t.no_repeat);
    assert_true(generate.size == sizeof generate && generate.max_tokens == RAPT_GENERATE_TOKENS && generate.sample.seed == 1);
    assert_int_equal(generate.lookup, RAPT_GENERATE_LOOKUP);
    assert_true(embedder.size == sizeof embedder && embedder.batch == RAPT_EMBED_BATCH && embedder.normalize == RAPT_AS_MODEL);
    assert_true(model.size == sizeof model && model.slots == RAPT_ENGINE_SLOTS && model.batch == RAPT_TRANSLATE_BATCH);
    assert_int_equal(rapt_score_options_default().size, sizeof(rapt_score_options));
    assert_int_equal(rapt_engine_options_default().size, sizeof(rapt_engine_options));
    assert_int_equal(rapt_load_options_default().size, sizeof(rapt_load_options));
}

/* Defaults for a program whose struct ends `less` bytes earlier, and for one whose struct is 16 bytes longer. */
#define CHECK_INIT(kind, less)                                                                            \
    do {                                                                                                  \
        union {                                                                                           \
            rapt_##kind##_options o;                                                                      \
            unsigned char bytes[sizeof(rapt_##kind##_options) + 32];                                      \
        } own, given;                                                                                     \
        const size_t size = sizeof own.o;                                                                 \
        memset(&own, 0, sizeof own);                                                                      \
        rapt_##kind##_options_init(&own.o, size);                                                         \
        assert_int_equal(own.o.size, size);                                                               \
        memset(&given, 0xA5, sizeof given);                                                               \
        rapt_##kind##_options_init(&given.o, size - (less));                                              \
        assert_int_equal(given.o.size, size - (less));                                                    \
        given.o.size = size;                                                                              \
        assert_memory_equal(given.bytes, own.bytes, size - (less));                                       \
        for (size_t i = size - (less); i < sizeof given.bytes; i++)                                       \
            assert_int_equal(given.bytes[i], 0xA5);                                                       \
        rapt_##kind##_options_init(&given.o, size + 16);                                                  \
        assert_int_equal(given.o.size, size + 16);                                                        \
        for (size_t i = size; i < sizeof given.bytes; i++)                                                \
            assert_int_equal(given.bytes[i], i < size + 16 ? 0 : 0xA5);                                   \
    } while (0)

static void programs_with_other_headers(void **state)
{
    (void)state;
    CHECK_INIT(translate, 8);
    CHECK_INIT(generate, 8);
    CHECK_INIT(embedder, 8);
    CHECK_INIT(reranker, 8);
    CHECK_INIT(score, 8);
    CHECK_INIT(engine, 8);
    CHECK_INIT(engine_model, 8);
    CHECK_INIT(load, 8);
}

/* rapt_sample_options_init: it has no size. */
static void sample_options(void **state)
{
    rapt_sample_options o;
    unsigned char *bytes = (unsigned char *)&o;
    (void)state;
    memset(&o, 0xA5, sizeof o);
    rapt_sample_options_init(&o, offsetof(rapt_sample_options, reserved));
    assert_true(o.temperature == RAPT_AS_MODEL && o.seed == 1 && o.frequency_penalty == 0);
    for (size_t i = offsetof(rapt_sample_options, reserved); i < sizeof o; i++)
        assert_int_equal(bytes[i], 0xA5);
}

static void of_a_newer_program(void **state)
{
    struct {
        rapt_generate_options o;
        double later;
    } newer;
    rapt_error err = {0};
    rapt_generated text;
    (void)state;
    rapt_model *lm = of_characters();
    rapt_generate_options_init(&newer.o, sizeof newer);
    assert_int_equal(rapt_generate(lm, "AB", &newer.o, &text, &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "made with the headers of a newer rapt"));
    rapt_model_free(lm);
}

static void is_reserved(rapt_code code, rapt_error *err, const char *name)
{
    char wanted[200];
    snprintf(wanted, sizeof wanted, "rapt_%s.reserved is not zero: this version of rapt has no members there", name);
    assert_int_equal(code, RAPT_ERR_VALUE);
    assert_string_equal(err->message, wanted);
    *err = (rapt_error){0};
}

static void reserved_members_are_zero(void **state)
{
    static const char *const lines[] = {"a b"};
    const rapt_compute compute = {.reserved[6] = 1};
    rapt_error err = {0};
    rapt_translation out[1];
    rapt_generated text;
    rapt_score score;
    (void)state;
    rapt_model *pair = translation_model(), *lm = of_characters();
    is_reserved(rapt_translate(pair, lines, 1, &TRANSLATE(.reserved[0] = 1), out, &err), &err, "translate_options");
    is_reserved(rapt_translate(pair, lines, 1, &TRANSLATE(.compute = compute), out, &err), &err, "compute");
    is_reserved(rapt_generate(lm, "A", &GENERATE(.reserved[6] = 1), &text, &err), &err, "generate_options");
    is_reserved(rapt_generate(lm, "A", &GENERATE(.sample.reserved[6] = 1), &text, &err), &err, "sample_options");
    is_reserved(rapt_generate(lm, "A", &GENERATE(.compute = compute), &text, &err), &err, "compute");
    is_reserved(rapt_score_text(lm, "AB", 2, &SCORE(.reserved[6] = 1), &score, &err), &err, "score_options");
    is_reserved(rapt_score_text(lm, "AB", 2, &SCORE(.compute = compute), &score, &err), &err, "compute");
    assert_null(rapt_engine_new(&ENGINE(.reserved[3] = 1), &err));
    is_reserved(err.code, &err, "engine_options");
    assert_null(rapt_tape_new(&compute, &err));
    is_reserved(err.code, &err, "compute");
    rapt_model_free(pair);
    rapt_model_free(lm);
}

static void refuses_as_model(rapt_code code, rapt_error *err, const char *name)
{
    char wanted[200];
    snprintf(wanted, sizeof wanted, "%s is RAPT_AS_MODEL: a model's folder does not decide it", name);
    assert_int_equal(code, RAPT_ERR_VALUE);
    assert_string_equal(err->message, wanted);
    *err = (rapt_error){0};
}

static void members_that_no_model_decides(void **state)
{
    static const char *const lines[] = {"a b"};
    const size_t as_model = (size_t)RAPT_AS_MODEL;
    rapt_error err = {0};
    rapt_translation out[1];
    rapt_generated text;
    (void)state;
    rapt_model *pair = translation_model(), *lm = of_characters();
    refuses_as_model(rapt_translate(pair, lines, 1, &TRANSLATE(.n_best = as_model), out, &err), &err, "n_best");
    refuses_as_model(rapt_translate(pair, lines, 1, &TRANSLATE(.batch = as_model), out, &err), &err, "batch");
    refuses_as_model(rapt_generate(lm, "A", &GENERATE(.max_tokens = as_model), &text, &err), &err, "max_tokens");
    refuses_as_model(rapt_generate(lm, "A", &GENERATE(.stop_count = as_model), &text, &err), &err, "stop_count");
    refuses_as_model(rapt_generate(lm, "A", &GENERATE(.lookup = as_model), &text, &err), &err, "lookup");
    refuses_as_model(rapt_generate(lm, "A", &GENERATE(.sample.repetition_window = as_model), &text, &err), &err,
                     "repetition_window");
    refuses_as_model(rapt_generate(lm, "A", &GENERATE(.sample.bias_count = as_model), &text, &err), &err, "bias_count");
    assert_int_equal(rapt_generate(lm, "A", &GENERATE(.sample.seed = as_model, .max_tokens = 1), &text, &err), RAPT_OK);
    rapt_generated_free(&text); /* a seed like any other */
    rapt_engine *e = rapt_engine_new(&ENGINE(.threads = 1), &err);
    assert_null(rapt_engine_add(e, pair, &ENGINE_MODEL(.chunk = as_model), &err));
    refuses_as_model(err.code, &err, "chunk");
    assert_null(rapt_engine_add(e, lm, &ENGINE_MODEL(.kv_memory = as_model), &err));
    refuses_as_model(err.code, &err, "kv_memory");
    rapt_engine_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_size),
        cmocka_unit_test(of_a_former_program),
        cmocka_unit_test(defaults_have_their_size),
        cmocka_unit_test(programs_with_other_headers),
        cmocka_unit_test(sample_options),
        cmocka_unit_test(of_a_newer_program),
        cmocka_unit_test(reserved_members_are_zero),
        cmocka_unit_test(members_that_no_model_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
