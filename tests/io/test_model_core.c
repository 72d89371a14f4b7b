/* tests/io/test_model_core.c: what a program outside can do with a model: read its members, and make one of a net of its own. The
 * public headers alone are included. For src/io/model_core.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "folder.h"
#include "options.h"
#include "rapt.h"

#include <string.h>

#define GOLDEN RAPT_SOURCE_DIR "/tests/golden/"

static rapt_language_model language(void)
{
    rapt_lm_config c;
    assert_int_equal(rapt_lm_preset("seed", &c, NULL), RAPT_OK);
    c.vocab = 4;
    c.context = 6;
    rapt_language_model l = {.net = rapt_lm_new(&c, 1, NULL), .tokenizer = rapt_tokenizer_train_characters("abcd", 4, NULL),
                             .end_of_text = {3}, .end_of_text_count = 1};
    assert_true(l.net && l.tokenizer);
    return l;
}

static rapt_translation_model translation(void)
{
    const rapt_transformer_config c = {.source_vocab = 7, .target_vocab = 6, .layers = 1, .max_positions = 8, .embedding_std = 1,
                                       .block = {.d_model = 4, .heads = 2, .ffn = 6, .bias = true}};
    const char *const lines[] = {"a b c", "d e"};
    rapt_translation_model t = {.net = rapt_transformer_new(&c, 1, NULL), .special = RAPT_SPECIAL_IDS, .max_len = 6,
                                .source = rapt_tokenizer_train_words(&lines[0], 1, NULL, NULL),
                                .target = rapt_tokenizer_train_words(&lines[1], 1, NULL, NULL)};
    assert_true(t.net && t.source && t.target);
    return t;
}

static void a_net_of_ones_own_is_saved_and_read(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_language_model l = language();
    rapt_model *m = rapt_model_new_language(&l, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(rapt_model_task(m), RAPT_TASK_LANGUAGE_MODEL);
    assert_ptr_equal(rapt_model_params(m), l.net->params);
    assert_ptr_equal(rapt_model_language(m)->net, l.net);
    assert_ptr_equal(rapt_model_source_tokenizer(m), l.tokenizer);
    assert_ptr_equal(rapt_model_target_tokenizer(m), l.tokenizer);
    assert_null(rapt_model_translation(m));
    assert_null(rapt_model_encoder(m));
    assert_null(rapt_model_family(m));
    assert_null(rapt_model_stored_type(m));
    assert_true(rapt_model_run(m) == 0 && !rapt_model_was_sealed(m) && rapt_model_search(m)->beams == 0);
    assert_int_equal(rapt_model_save(m, folder_path, &err), RAPT_OK);
    rapt_model *back = rapt_model_load(folder_path, NULL, &err);
    assert_string_equal(err.message, "");
    assert_true(rapt_model_was_sealed(back));
    assert_int_equal(rapt_model_language(back)->end_of_text[0], 3);
    for (size_t i = 0; i < rapt_params_count(l.net->params); i++) {
        const rapt_tensor *x = &rapt_params_at(l.net->params, i)->value, *y = &rapt_params_at(rapt_model_params(back), i)->value;
        assert_memory_equal(x->data, y->data, rapt_tensor_size(x) * sizeof *x->data);
    }
    rapt_model_free(back);
    rapt_model_free(m);
}

static void a_translation_model_has_two_tokenizers(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_translation_model t = translation();
    rapt_model *m = rapt_model_new_translation(&t, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(rapt_model_task(m), RAPT_TASK_TRANSLATION);
    assert_ptr_equal(rapt_model_source_tokenizer(m), t.source);
    assert_ptr_equal(rapt_model_target_tokenizer(m), t.target);
    assert_int_equal(rapt_model_translation(m)->max_len, 6);
    assert_null(rapt_model_language(m));
    rapt_model_free(m);
}

/* What the folders' own files say: "model_type" of config.json; an encoder has one tokenizer. */
static void models_of_hugging_face_have_a_family(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_model *m = rapt_model_load(GOLDEN "hub_encoder/bert_4", NULL, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(rapt_model_task(m), RAPT_TASK_ENCODER);
    assert_string_equal(rapt_model_family(m), "bert");
    assert_ptr_equal(rapt_model_source_tokenizer(m), rapt_model_encoder(m)->tokenizer);
    assert_ptr_equal(rapt_model_target_tokenizer(m), rapt_model_encoder(m)->tokenizer);
    assert_null(rapt_model_language(m));
    rapt_model_free(m);
}

/* The net and the tokenizers are still the caller's. */
static void assert_refuses_language(rapt_language_model l, const char *reason)
{
    rapt_error err = {0};
    assert_null(rapt_model_new_language(&l, &err));
    assert_int_equal(err.code, RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, reason));
}

static void assert_refuses_translation(rapt_translation_model t, const char *reason)
{
    rapt_error err = {0};
    assert_null(rapt_model_new_translation(&t, &err));
    assert_int_equal(err.code, RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, reason));
}

static void members_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    rapt_language_model l = language(), bad = l;
    bad.net = NULL;
    assert_refuses_language(bad, "needs a net and a tokenizer");
    bad = l;
    bad.tokenizer = NULL;
    assert_refuses_language(bad, "needs a net and a tokenizer");
    bad = l;
    bad.end_of_text[0] = 4;
    assert_refuses_language(bad, "end_of_text has the token 4; the vocabulary has 4");
    bad = l;
    bad.end_of_text_count = RAPT_END_OF_TEXT_MAX + 1;
    assert_refuses_language(bad, "end_of_text has 9 tokens; a model has at most 8");
    bad = l;
    bad.has_end_of_turn = true;
    bad.end_of_turn = -1;
    assert_refuses_language(bad, "end_of_turn has the token -1");
    rapt_lm_free(l.net);
    rapt_tokenizer_free(l.tokenizer);

    rapt_translation_model t = translation(), wrong = t;
    wrong.target = NULL;
    assert_refuses_translation(wrong, "needs a net, a source and a target tokenizer");
    wrong = t;
    wrong.special.eos = 6; /* a token of the source alone */
    assert_refuses_translation(wrong, "special has the token 6; the vocabulary has 6");
    wrong = t;
    wrong.source_begin_count = 1;
    wrong.source_begin[0] = 7;
    assert_refuses_translation(wrong, "source_begin has the token 7");
    wrong = t;
    wrong.max_len = 9;
    assert_refuses_translation(wrong, "max_len is 9");
    rapt_transformer_free(t.net);
    rapt_tokenizer_free(t.source);
    rapt_tokenizer_free(t.target);
}

static void adapters_by_default(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_language_model l = language();
    rapt_model *m = rapt_model_new_language(&l, &err);
    assert_int_equal(rapt_model_add_lora(m, &(rapt_model_lora_options){.lora.rank = 2}, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "options without a size: make them with rapt_model_lora_options_default()");
    err = (rapt_error){0};
    assert_int_equal(rapt_model_add_lora(m, &MODEL_LORA(.lora = {.rank = 2, .reserved = {1}}), &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "rapt_lora_options.reserved is not zero: this version of rapt has no members there");
    err = (rapt_error){0};
    assert_int_equal(rapt_model_add_lora(m, NULL, &err), RAPT_OK);
    assert_int_equal(l.net->blocks[0].attention.q.lora->a->value.shape[0], 8);
    rapt_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_net_of_ones_own_is_saved_and_read),
        cmocka_unit_test(a_translation_model_has_two_tokenizers),
        cmocka_unit_test(models_of_hugging_face_have_a_family),
        cmocka_unit_test(members_that_do_not_fit_are_refused),
        cmocka_unit_test(adapters_by_default),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
