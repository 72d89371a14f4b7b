/* tests/io/test_model.c: model folders, out and in: what the files hold, and that what is loaded is what was saved.
 * For src/io/model*.c and config_*.c. Expected configurations are written out here.
 * What loading refuses is in test_model_damage.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "io/model_folder.h"

#include "loading.h"
#include "options.h"
#include "tensor/param_source.h"
#include "tensor/params.h"

/* ---- what is in the file ---------------------------------------------------------------------------------- */

static void check_config_file(const char *wanted)
{
    char *text = file_text("config.json");
    assert_string_equal(text, wanted);
    free(text);
}

static const char *hash_of(const rapt_tokenizer *k, char text[17])
{
    snprintf(text, 17, "%016llx", (unsigned long long)rapt_tokenizer_hash(k));
    return text;
}

/* Version 0.1 wrote "norm" for norm_place, and no special tokens; versions before 0.3 wrote neither "kv_heads", "ffn_kind",
 * "norm_kind", "norm_eps", "shared_norm", "positions", "rotary_base", "ffn_bias", "norm_bias" nor "std". */
static void translation_config_is_the_formats(void **state)
{
    (void)state;
    char wanted[2000], source[17], target[17];
    rapt_model *m = translation_model();
    rapt_error err = {0};
    m->translation.net->config.block.dropout = 0.1;
    must(rapt_model_save_config(m, folder_path, &err), &err);
    snprintf(wanted, sizeof wanted,
             "{\n  \"format\": \"rapt-model\",\n  \"version\": 1,\n  \"task\": \"translation\",\n  \"source_vocab\": 7,\n"
             "  \"target_vocab\": 6,\n  \"layers\": 1,\n  \"d_model\": 4,\n  \"heads\": 2,\n  \"kv_heads\": 2,\n"
             "  \"ffn\": 6,\n  \"ffn_kind\": \"relu\",\n  \"max_positions\": 8,\n  \"dropout\": 0.1,\n"
             "  \"norm_place\": \"post\",\n  \"norm_kind\": \"layer\",\n  \"norm_eps\": 1e-5,\n  \"shared_norm\": false,\n"
             "  \"positions\": \"sinusoidal\",\n  \"rotary_base\": 10000.0,\n  \"bias\": true,\n  \"ffn_bias\": true,\n"
             "  \"norm_bias\": true,\n  \"scale_embedding\": false,\n  \"tied\": false,\n  \"init\": \"xavier\",\n"
             "  \"std\": 0.02,\n  \"embedding_std\": 1.0,\n"
             "  \"shared_vocab\": false,\n  \"source_tokenizer\": \"%s\",\n  \"target_tokenizer\": \"%s\",\n"
             "  \"max_len\": 6,\n  \"pad_to_max\": false,\n  \"detokenize\": \"none\",\n  \"capitalize\": false,\n"
             "  \"by_sentence\": false,\n  \"unk_token_id\": 0,\n  \"pad_token_id\": 1,\n  \"bos_token_id\": 2,\n"
             "  \"eos_token_id\": 3\n}",
             hash_of(m->translation.source, source), hash_of(m->translation.target, target));
    check_config_file(wanted);
    assert_false(file_exists(folder_in("tokenizer.json")));
    rapt_model_free(m);
}

/* Version 0.2 passes over "ffn_kind" and "norm_eps" of a translation model, and refuses format version 2. */
static void translation_config_that_misled_is_of_version_2(void **state)
{
    (void)state;
    const rapt_block_config ours[] = {{.ffn_kind = RAPT_FFN_GELU, .norm_eps = 1e-5}, {.norm_eps = 1e-6}};
    rapt_model *m = translation_model();
    rapt_block_config *c = &m->translation.net->config.block;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        c->ffn_kind = ours[i].ffn_kind;
        c->norm_eps = ours[i].norm_eps;
        save(m);
        char *text = file_text("config.json");
        assert_non_null(strstr(text, "\n  \"version\": 2,\n  \"task\""));
        free(text);
        rapt_model *back = load();
        assert_int_equal(back->translation.net->config.block.ffn_kind, ours[i].ffn_kind);
        rapt_model_free(back);
    }
    rapt_model_free(m);
}

static void language_model_config_is_the_formats(void **state)
{
    (void)state;
    char wanted[2000], hash[17];
    rapt_error err = {0};
    rapt_lm_config c = {.vocab = 9, .layers = 2, .context = 5, .positions = RAPT_POSITIONS_ROTARY, .rotary_base = 500000,
                        .tied = true, .scale_embedding = true,
                        .block = {.d_model = 12, .heads = 6, .kv_heads = 2, .ffn = 20, .norm_place = RAPT_NORM_PLACE_PRE,
                                  .norm_kind = RAPT_NORM_KIND_RMS, .norm_eps = 1e-6, .ffn_kind = RAPT_FFN_SWIGLU,
                                  .shared_norm = true, .dropout = 0.25, .init = RAPT_WEIGHT_INIT_GPT2, .std = 0.5,
                                  .no_ffn_bias = true, .no_norm_bias = true}};
    rapt_model *m = language_model(&c, characters('a', 10));
    must(rapt_model_save_config(m, folder_path, &err), &err);
    snprintf(wanted, sizeof wanted,
             "{\n  \"format\": \"rapt-model\",\n  \"version\": 1,\n  \"task\": \"language_model\",\n  \"vocab\": 9,\n"
             "  \"layers\": 2,\n  \"d_model\": 12,\n  \"heads\": 6,\n  \"kv_heads\": 2,\n  \"ffn\": 20,\n  \"context\": 5,\n"
             "  \"norm_place\": \"pre\",\n  \"norm_kind\": \"rms\",\n  \"norm_eps\": 1e-6,\n"
             "  \"ffn_kind\": \"swiglu\",\n  \"positions\": \"rotary\",\n  \"rotary_base\": 500000.0,\n  \"tied\": true,\n"
             "  \"bias\": false,\n  \"ffn_bias\": false,\n  \"norm_bias\": false,\n  \"output_bias\": false,\n"
             "  \"shared_norm\": true,\n  \"scale_embedding\": true,\n"
             "  \"dropout\": 0.25,\n  \"init\": \"gpt2\",\n  \"std\": 0.5,\n  \"embedding_std\": 0.5,\n"
             "  \"tokenizer\": \"%s\",\n  \"eos_token_id\": []\n}",
             hash_of(m->language.tokenizer, hash));
    check_config_file(wanted);
    assert_true(file_exists(folder_in("tokenizer.json")));
    rapt_model_free(m);
}

/* ---- round trips ------------------------------------------------------------------------------------------ */

#define SAME(field) assert_true(a->field == b->field)

static void same_block(const rapt_block_config *a, const rapt_block_config *b)
{
    SAME(d_model), SAME(heads), SAME(kv_heads), SAME(ffn), SAME(norm_place), SAME(norm_kind), SAME(norm_eps), SAME(shared_norm);
    SAME(ffn_kind), SAME(bias), SAME(no_ffn_bias), SAME(no_norm_bias), SAME(dropout), SAME(init), SAME(std);
}

static void same_config(const rapt_lm_config *a, const rapt_lm_config *b)
{
    SAME(vocab), SAME(layers), SAME(context), SAME(positions), SAME(rotary_base);
    SAME(tied), SAME(output_bias), SAME(scale_embedding), SAME(embedding_std);
    same_block(&a->block, &b->block);
}

static void same_logits(rapt_tape *t, const rapt_lm *a, const rapt_lm *b)
{
    size_t vocab = a->config.vocab, time = a->config.context;
    int32_t ids[2 * LM_CONTEXT];
    assert_true(time <= LM_CONTEXT);
    for (size_t i = 0; i < 2 * time; i++)
        ids[i] = (int32_t)rng_below(3, i, vocab);
    rapt_real *want = lm_whole(t, a, ids, 2, time), *got = lm_whole(t, b, ids, 2, time);
    model_same("logits", want, got, 2 * time * vocab);
    free(want);
    free(got);
}

/* Saves, loads, compares. */
static void round_trip(rapt_tape *t, rapt_model *m)
{
    save(m);
    rapt_model *back = load();
    assert_int_equal(back->task, RAPT_TASK_LANGUAGE_MODEL);
    assert_non_null(back->language.net);
    assert_ptr_equal(back->params, back->language.net->params);
    assert_true(!back->translation.net && !back->translation.source && !back->translation.target);
    same_config(&m->language.net->config, &back->language.net->config);
    assert_true(rapt_tokenizer_hash(m->language.tokenizer) == rapt_tokenizer_hash(back->language.tokenizer));
    same_logits(t, m->language.net, back->language.net);
    rapt_model_free(back);
    rapt_model_free(m);
}

static void language_models_come_back(void **state)
{
    (void)state;
    rapt_tape *t = model_tape(NULL, 1);
    for (size_t i = 0; i < LM_VARIANTS; i += 13) { /* 13 has no factor in common with the numbers of choices */
        rapt_lm_config c = lm_variant(i);
        round_trip(t, language_model(&c, characters('A', MODEL_VOCAB)));
    }
    rapt_tape_free(t);
}

/* Numbers that no decimal fraction of few digits equals. */
static void numbers_come_back_to_the_bit(void **state)
{
    (void)state;
    rapt_tape *t = model_tape(NULL, 1);
    rapt_lm_config c = lm_variant(77);
    c.block.norm_eps = 1.0 / 3e5, c.block.dropout = 1.0 / 3, c.block.std = 0.1 / 3;
    c.rotary_base = 1e5 / 7, c.embedding_std = 2.0 / 3;
    c.block.init = RAPT_WEIGHT_INIT_GPT2;
    round_trip(t, language_model(&c, characters('A', MODEL_VOCAB)));
    rapt_tape_free(t);
}

static void tokenizers_of_all_kinds_come_back(void **state)
{
    (void)state;
    static const char text[] = "the cat sat on the mat, the dog sat on the cat";
    rapt_tape *t = model_tape(NULL, 1);
    rapt_error err = {0};
    rapt_lm_config c = lm_variant(0);
    rapt_tokenizer *pairs = rapt_tokenizer_train_bpe(text, sizeof text - 1, &TRAIN_BPE(.vocab_size = 260), &err);
    must(err.code, &err);
    c.vocab = 260;
    round_trip(t, language_model(&c, pairs));
    c.vocab = 7;
    round_trip(t, language_model(&c, words("a b c")));
    rapt_tape_free(t);
}

/* A text may use a part of a tokenizer's ids only. */
static void a_vocabulary_may_be_smaller_than_the_tokenizers(void **state)
{
    (void)state;
    rapt_tape *t = model_tape(NULL, 1);
    rapt_lm_config c = lm_variant(2);
    c.vocab = 11;
    round_trip(t, language_model(&c, characters('!', 90)));
    rapt_tape_free(t);
}

static void same_net_config(const rapt_transformer_config *a, const rapt_transformer_config *b)
{
    SAME(source_vocab), SAME(target_vocab), SAME(layers), SAME(max_positions), SAME(positions), SAME(rotary_base);
    SAME(scale_embedding), SAME(tied), SAME(embedding_std);
    same_block(&a->block, &b->block);
}

static void translation_models_come_back(void **state)
{
    (void)state;
    rapt_model *m = translation_model();
    m->translation.pad_to_max = m->translation.capitalize = m->translation.by_sentence = true;
    m->translation.detokenize = RAPT_LANGUAGE_FRENCH;
    save(m);
    rapt_model *back = load();
    assert_int_equal(back->task, RAPT_TASK_TRANSLATION);
    assert_ptr_equal(back->params, back->translation.net->params);
    assert_true(!back->language.net && !back->language.tokenizer);
    assert_true(back->translation.pad_to_max && back->translation.max_len == 6);
    assert_true(back->translation.capitalize && back->translation.by_sentence);
    assert_true(back->translation.detokenize == RAPT_LANGUAGE_FRENCH);
    same_net_config(&m->translation.net->config, &back->translation.net->config);
    assert_int_equal(rapt_params_count(back->params), rapt_params_count(m->params));
    for (size_t i = 0; i < rapt_params_count(m->params); i++) {
        const rapt_tensor *want = &rapt_params_at(m->params, i)->value, *got = &rapt_params_at(back->params, i)->value;
        assert_string_equal(want->name, got->name);
        model_same(want->name, want->data, got->data, rapt_tensor_size(want));
    }
    rapt_model_free(back);
    rapt_model_free(m);
}

/* Whether the matrices of the model in the folder stay there when it is loaded for inference; its numbers equal m's. */
static void check_inference(const rapt_model *m, bool stay)
{
    rapt_error err = {0};
    rapt_model *back = load_for(folder_path, true, &err);
    must(err.code, &err);
    for (size_t i = 0; i < rapt_params_count(m->params); i++) {
        const rapt_param *p = params_at(back->params, i);
        assert_int_equal(!p->buffer && param_has_source(p), stay && !p->buffer && p->value.ndim == 2);
    }
    for (size_t i = 0; i < rapt_params_count(m->params); i++) {
        const rapt_tensor *want = &rapt_params_at(m->params, i)->value, *got = &rapt_params_at(back->params, i)->value;
        model_same(want->name, want->data, got->data, rapt_tensor_size(want));
    }
    rapt_model_free(back);
}

/* A program that was compiled before load options had an adapter or a flag for inference. */
static void options_of_other_sizes(void **state)
{
    rapt_error err = {0};
    rapt_load_options o = rapt_load_options_default();
    const char *const messages[] = {"options without a size: make them with rapt_load_options_default()",
                                    "is a translation model; rapt translate runs it"};
    (void)state;
    rapt_model *m = translation_model();
    save(m);
    rapt_model_free(m);
    o.adapter = "/nowhere";
    o.inference = true;
    o.size = offsetof(rapt_load_options, inference);
    m = rapt_model_load(folder_path, &o, &err);
    must(err.code, &err);
    rapt_model_free(m);
    o.task = RAPT_TASK_LANGUAGE_MODEL;
    for (int i = 1; i >= 0; i--) {
        assert_null(rapt_model_load(folder_path, &o, &err));
        assert_int_equal(err.code, RAPT_ERR_VALUE);
        assert_non_null(strstr(err.message, messages[i]));
        err = (rapt_error){0};
        o.size = 0;
    }
}

/* A translation model's matrices do, because its products read packed copies; a language model reads its matrices in place. */
static void matrices_for_inference_stay_in_the_file(void **state)
{
    (void)state;
    const rapt_lm_config c = {.vocab = 9, .layers = 1, .context = 5, .block = {.d_model = 4, .heads = 2, .ffn = 6}};
    rapt_model *pair = translation_model(), *lm = language_model(&c, characters('a', 9));
    save(pair);
    check_inference(pair, true);
    save(lm);
    check_inference(lm, false);
    rapt_model_free(lm);
    rapt_model_free(pair);
}

/* Members that a later version of the program may add are none of ours. */
static void other_members_are_left_alone(void **state)
{
    (void)state;
    rapt_lm_config c = lm_variant(0);
    rapt_model *m = language_model(&c, characters('A', MODEL_VOCAB));
    char more[3000];
    save(m);
    char *text = file_text("config.json");
    snprintf(more, sizeof more, "{\"name\": [\"Ada\"], %s", text + 1);
    write_file("config.json", more, strlen(more));
    rapt_model_free(load());
    free(text);
    rapt_model_free(m);
}

/* ---- what is not saved --------------------------------------------------------------------------------------- */

/* A folder that could not be read again is not written. */
static void not_saved(rapt_model *m, const char *says)
{
    rapt_error err = {0};
    assert_int_not_equal(rapt_model_save_config(m, folder_path, &err), RAPT_OK);
    if (!strstr(err.message, says))
        fail_msg("\"%s\" lacks \"%s\"", err.message, says);
    assert_false(file_exists(folder_in("config.json")));
    assert_false(file_exists(folder_in("tokenizer.json")));
    rapt_model_free(m);
}

static void models_that_could_not_be_loaded(void **state)
{
    (void)state;
    rapt_lm_config c = lm_variant(24);
    not_saved(language_model(&c, characters('A', MODEL_VOCAB - 1)), "52 tokens; the model was made for 53");
    rapt_model *m = language_model(&c, characters('A', MODEL_VOCAB));
    m->language.net->config.block.dropout = 1;
    not_saved(m, "\"dropout\" is 1; it must be at least 0 and below 1");
    m = language_model(&c, characters('A', MODEL_VOCAB));
    m->language.net->config.block.norm_eps = 0.0 / 0.0;
    not_saved(m, "\"norm_eps\" is");
    m = language_model(&c, characters('A', MODEL_VOCAB));
    m->language.net->config.block.ffn_kind = (rapt_ffn_kind)9;
    not_saved(m, "\"ffn_kind\" has no word for 9");
    m = language_model(&c, characters('A', MODEL_VOCAB));
    m->language.net->config.block.head_dim = 1;
    not_saved(m, "our config.json does not describe models with \"head_dim\"");
    m = language_model(&c, characters('A', MODEL_VOCAB));
    m->language.net->config.block.scores.scale = 0.5;
    not_saved(m, "models with \"scores\"");
    m = translation_model();
    m->translation.max_len = 9;
    not_saved(m, "\"max_len\" is 9");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(translation_config_is_the_formats, empty_folder),
        cmocka_unit_test_teardown(translation_config_that_misled_is_of_version_2, empty_folder),
        cmocka_unit_test_teardown(language_model_config_is_the_formats, empty_folder),
        cmocka_unit_test_teardown(language_models_come_back, empty_folder),
        cmocka_unit_test_teardown(numbers_come_back_to_the_bit, empty_folder),
        cmocka_unit_test_teardown(tokenizers_of_all_kinds_come_back, empty_folder),
        cmocka_unit_test_teardown(a_vocabulary_may_be_smaller_than_the_tokenizers, empty_folder),
        cmocka_unit_test_teardown(translation_models_come_back, empty_folder),
        cmocka_unit_test_teardown(matrices_for_inference_stay_in_the_file, empty_folder),
        cmocka_unit_test_teardown(options_of_other_sizes, empty_folder),
        cmocka_unit_test_teardown(other_members_are_left_alone, empty_folder),
        cmocka_unit_test_teardown(models_that_could_not_be_loaded, empty_folder),
    };
    return cmocka_run_group_tests(tests, folder_make, remove_folder);
}
