/* tests/io/test_model_damage.c: model folders that are damaged, mixed up or of another task: each is refused with one line that
 * names the file and what is wrong with it. For src/io/model*.c and config_*.c. tests/fuzz/fuzz_config.c is the fuzzer. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "io/model_folder.h"

#include "loading.h"
#include "rapt/decode.h"

#include <jansson.h>

/* The folder is refused, with this message behind its name. */
static void refused(rapt_code code, const char *says)
{
    rapt_error err = {0};
    char wanted[600];
    rapt_model *m = rapt_model_load(folder_path, NULL, &err);
    snprintf(wanted, sizeof wanted, "%s%s", folder_path, says);
    if (m)
        fail_msg("loaded; it should say: %s", wanted);
    assert_string_equal(err.message, wanted);
    assert_int_equal(err.code, code);
}

static void refused_config(const char *says)
{
    char behind[600];
    snprintf(behind, sizeof behind, "/config.json: %s", says);
    refused(RAPT_ERR_FORMAT, behind);
}

/* Changes members of the configuration as it was saved; null removes one. */
static void edit(const char *original, const char *changes)
{
    json_error_t where;
    json_t *root = json_loads(original, 0, &where), *more = json_loads(changes, 0, &where);
    assert_true(root && more);
    for (void *i = json_object_iter(more); i; i = json_object_iter_next(more, i))
        if (json_is_null(json_object_iter_value(i)))
            assert_int_equal(json_object_del(root, json_object_iter_key(i)), 0);
    json_object_update_existing(root, more);
    char *text = json_dumps(root, JSON_REAL_PRECISION(17));
    write_file("config.json", text, strlen(text));
    free(text);
    json_decref(more);
    json_decref(root);
}

/* Two blocks of d_model 24, 6 heads, 2 of keys, ffn 37; context 12, sinusoidal positions, ReLU. */
static rapt_lm_config plain(void)
{
    rapt_lm_config c = lm_variant(24);
    c.tied = c.output_bias = false;
    c.block.bias = true;
    c.block.no_ffn_bias = c.block.no_norm_bias = false;
    return c;
}

static void save_language_model(void)
{
    rapt_lm_config c = plain();
    rapt_model *m = language_model(&c, characters('A', MODEL_VOCAB));
    save(m);
    rapt_model_free(m);
}

static void save_translation_model(void)
{
    rapt_model *m = translation_model();
    save(m);
    rapt_model_free(m);
}

/* ---- members ---------------------------------------------------------------------------------------------- */

static bool is_among(const char *key, const char *const *keys)
{
    while (*keys && strcmp(key, *keys) != 0)
        keys++;
    return *keys != NULL;
}

/* Members that folders of before don't have. */
static bool is_optional(const char *key, bool translation)
{
    static const char *const both[] = {"ffn_bias", "norm_bias", "eos_token_id", NULL};
    static const char *const translations[] = {
        "detokenize", "capitalize", "by_sentence", "unk_token_id", "pad_token_id", "bos_token_id", "kv_heads", "ffn_kind",
        "norm_kind", "norm_eps", "shared_norm", "positions", "rotary_base", "std", NULL};
    return is_among(key, both) || (translation && is_among(key, translations));
}

static void accepted_config(void)
{
    rapt_error err = {0};
    rapt_model *m = rapt_model_load(folder_path, NULL, &err);
    if (!m)
        fail_msg("%s", err.message);
    assert_true(m->translation.detokenize == RAPT_LANGUAGE_NONE && !m->translation.capitalize && !m->translation.by_sentence);
    assert_int_equal(m->language.end_of_text_count, 0);
    if (m->task == RAPT_TASK_TRANSLATION)
        assert_memory_equal(&m->translation.special, &RAPT_SPECIAL_IDS, sizeof m->translation.special);
    rapt_model_free(m);
}

/* Each member of the file left out, then of a type that none has. */
static void each_member_is_needed(const char *original)
{
    json_t *root = json_loads(original, 0, NULL);
    const char *key;
    json_t *value;
    size_t members = 0;
    bool translation = json_object_get(root, "source_vocab") != NULL;
    json_object_foreach(root, key, value)
    {
        char change[100], says[200];
        snprintf(change, sizeof change, "{\"%s\": null}", key);
        snprintf(says, sizeof says, "\"%s\" is missing", key);
        edit(original, change);
        is_optional(key, translation) ? accepted_config() : refused_config(says);
        snprintf(change, sizeof change, json_is_array(value) ? "{\"%s\": true}" : "{\"%s\": [1]}", key);
        snprintf(says, sizeof says, "\"%s\" is of another type; it must be %s", key,
                 json_is_integer(value)   ? "a whole number"
                 : json_is_array(value)   ? "a whole number or a list of them"
                 : json_is_number(value)  ? "a number"
                 : json_is_boolean(value) ? "true or false"
                 : strstr(key, "tokenizer") ? "a text"
                                            : "a word");
        edit(original, change);
        refused_config(says);
        members++;
    }
    assert_true(members >= 24);
    json_decref(root);
}

static void members_of_language_models(void **state)
{
    (void)state;
    save_language_model();
    char *original = file_text("config.json");
    each_member_is_needed(original);
    free(original);
}

static void members_of_translation_models(void **state)
{
    (void)state;
    save_translation_model();
    char *original = file_text("config.json");
    each_member_is_needed(original);
    free(original);
}

typedef struct change {
    const char *json, *says;
} change;

static void each_is_refused(const change *changes, size_t count)
{
    char *original = file_text("config.json");
    for (size_t i = 0; i < count; i++) {
        edit(original, changes[i].json);
        refused_config(changes[i].says);
    }
    free(original);
}

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const change both[] = {
    {"{\"format\": \"rapt\"}", "\"format\" is \"rapt\"; this rapt knows: rapt-model"},
    {"{\"version\": 0}", "\"version\" is 0; it must be from 1 to 1073741824"},
    {"{\"version\": 3}", "format version 3; this rapt reads up to 2"},
    {"{\"version\": 3, \"task\": \"chess\"}", "format version 3; this rapt reads up to 2"},
    {"{\"task\": \"chess\\n\"}", "\"task\" is \"chess?\"; this rapt knows: translation, language_model"},
    {"{\"layers\": 0}", "\"layers\" is 0; it must be from 1 to 1024"},
    {"{\"layers\": 1025}", "\"layers\" is 1025; it must be from 1 to 1024"},
    {"{\"layers\": 1.0}", "\"layers\" is of another type; it must be a whole number"},
    {"{\"d_model\": -24}", "\"d_model\" is -24; it must be from 1 to 1073741824"},
    {"{\"d_model\": 1073741825}", "\"d_model\" is 1073741825; it must be from 1 to 1073741824"},
    {"{\"heads\": 0}", "\"heads\" is 0; it must be from 1 to 1073741824"},
    {"{\"heads\": 9223372036854775807}", "\"heads\" is 9223372036854775807; it must be from 1 to 1073741824"},
    {"{\"ffn\": -9223372036854775807}", "\"ffn\" is -9223372036854775807; it must be from 1 to 1073741824"},
    {"{\"dropout\": 1}", "\"dropout\" is 1; it must be at least 0 and below 1"},
    {"{\"dropout\": -0.5}", "\"dropout\" is -0.5; it must be at least 0 and below 1"},
    {"{\"norm_place\": \"Pre\"}", "\"norm_place\" is \"Pre\"; this rapt knows: post, pre"},
    {"{\"norm_place\": \"\"}", "\"norm_place\" is \"\"; this rapt knows: post, pre"},
    {"{\"bias\": 1}", "\"bias\" is of another type; it must be true or false"},
};

static const change of_language_models[] = {
    {"{\"vocab\": 0}", "\"vocab\" is 0; it must be from 1 to 1073741824"},
    {"{\"context\": 2000000000}", "\"context\" is 2000000000; it must be from 1 to 1073741824"},
    {"{\"heads\": 5}", "5 heads do not divide d_model, 24"},
    {"{\"kv_heads\": 0}", "\"kv_heads\" is 0; it must be from 1 to 1073741824"},
    {"{\"kv_heads\": 4}", "4 key-value heads do not divide 6 heads"},
    {"{\"kv_heads\": 12}", "12 key-value heads do not divide 6 heads"},
    {"{\"norm_eps\": 0}", "\"norm_eps\" is 0; it must be above 0 and below 1"},
    {"{\"norm_eps\": 1}", "\"norm_eps\" is 1; it must be above 0 and below 1"},
    {"{\"rotary_base\": 0.5}", "\"rotary_base\" is 0.5; it must be at least 1 and below 1e+12"},
    {"{\"rotary_base\": 1e300}", "\"rotary_base\" is 1e+300; it must be at least 1 and below 1e+12"},
    {"{\"std\": 0.0}", "\"std\" is 0; it must be above 0 and below 1e+06"},
    {"{\"embedding_std\": 1e6}", "\"embedding_std\" is 1e+06; it must be above 0 and below 1e+06"},
    {"{\"norm_kind\": \"group\"}", "\"norm_kind\" is \"group\"; this rapt knows: layer, rms"},
    {"{\"ffn_kind\": \"geglu\"}", "\"ffn_kind\" is \"geglu\"; this rapt knows: relu, gelu, gelu_tanh, swiglu, silu"},
    {"{\"positions\": \"kerple\"}", "\"positions\" is \"kerple\"; this rapt knows: sinusoidal, learned, rotary, none, alibi"},
    {"{\"init\": \"kaiming\"}", "\"init\" is \"kaiming\"; this rapt knows: xavier, pytorch, gpt2"},
    {"{\"tied\": true, \"output_bias\": true}", "a tied model has no output bias"},
    {"{\"positions\": \"rotary\", \"heads\": 24, \"kv_heads\": 1}",
     "rotary positions turn pairs of features; a head has 1"},
    {"{\"positions\": \"rotary\", \"context\": 1073741824}",
     "rotary positions for a context of 1073741824 take 17179869184 bytes, more than the model"},
    {"{\"tokenizer\": \"0123\"}", "\"tokenizer\" is \"0123\"; it must be 16 hexadecimal digits"},
    {"{\"tokenizer\": \"0123456789abcdeg\"}", "\"tokenizer\" is \"0123456789abcdeg\"; it must be 16 hexadecimal digits"},
    {"{\"eos_token_id\": -1}", "\"eos_token_id\" holds what is no token id"},
    {"{\"eos_token_id\": [1, \"2\"]}", "\"eos_token_id\" holds what is no token id"},
    {"{\"eos_token_id\": [2147483648]}", "\"eos_token_id\" holds what is no token id"},
    {"{\"eos_token_id\": [1, 2147483647]}", "\"eos_token_id\" has 2147483647; the vocabulary ends before 53"},
    {"{\"eos_token_id\": [1, 2, 3, 4, 5, 6, 7, 8, 9]}", "\"eos_token_id\" holds 9 token ids; this rapt takes up to 8"},
};

static const change of_translation_models[] = {
    {"{\"heads\": 3}", "3 heads do not divide d_model, 4"},
    {"{\"max_len\": 1}", "\"max_len\" is 1; it must be from 2 to \"max_positions\", 8"},
    {"{\"max_len\": 9}", "\"max_len\" is 9; it must be from 2 to \"max_positions\", 8"},
    {"{\"tied\": true}", "a model of one vocabulary, with 7 source tokens and 6 target tokens"},
    {"{\"shared_vocab\": true}", "a model of one vocabulary, with 7 source tokens and 6 target tokens"},
    {"{\"shared_vocab\": true, \"target_vocab\": 7}", "a model of one vocabulary names two tokenizers"},
    {"{\"init\": \"gpt3\"}", "\"init\" is \"gpt3\"; this rapt knows: xavier, pytorch, gpt2"},
    {"{\"kv_heads\": 3}", "3 key-value heads do not divide 2 heads"},
    {"{\"norm_kind\": \"group\"}", "\"norm_kind\" is \"group\"; this rapt knows: layer, rms"},
    {"{\"positions\": \"rotary\", \"heads\": 4, \"kv_heads\": 4}", "rotary positions turn pairs of features; a head has 1"},
    {"{\"positions\": \"rotary\", \"max_positions\": 1073741824}",
     "rotary positions for sentences of 1073741824 take 8589934592 bytes, more than the model"},
    {"{\"embedding_std\": -1}", "\"embedding_std\" is -1; it must be at least 0 and below 1e+06"},
    {"{\"bos_token_id\": -2}", "\"bos_token_id\" holds what is no token id"},
    {"{\"eos_token_id\": 6}", "a special token has the id 6; a vocabulary ends before it"},
};

static void values_of_language_models(void **state)
{
    (void)state;
    save_language_model();
    each_is_refused(both, COUNT(both));
    save_language_model();
    each_is_refused(of_language_models, COUNT(of_language_models));
}

static void values_of_translation_models(void **state)
{
    (void)state;
    save_translation_model();
    each_is_refused(both, COUNT(both));
    save_translation_model();
    each_is_refused(of_translation_models, COUNT(of_translation_models));
}

#define NEITHER \
    "/config.json: \"format\" is missing, which a model of rapt has, and \"model_type\", which one of Hugging Face has"

static void texts_that_are_no_configuration(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "/config.json:1: '[' or '{' expected near end of file"},
        {"[]", NEITHER},
        {"{}", NEITHER},
        {"{\"model_type\": 5}", "/config.json: \"model_type\" is no text"},
        {"{\"model_type\": null}", "/config.json: \"model_type\" is no text"},
        {"{\"format\": 5}", "/config.json: \"format\" is of another type; it must be a word"},
        {"{\"a\":\n", "/config.json:2: unexpected token near end of file"},
        {"{\"format\": \"rapt-model\", \"format\": \"rapt-model\"}", "/config.json:1: duplicate object key near '\"format\"'"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        write_file("config.json", cases[i].text, strlen(cases[i].text));
        refused(RAPT_ERR_FORMAT, cases[i].says);
    }
}

/* ---- against the other files ------------------------------------------------------------------------------ */

/* Sizes that the file of parameters can't hold are refused before memory is taken; those near the truth, by it. */
static void sizes_that_the_parameters_do_not_have(void **state)
{
    (void)state;
    static const struct {
        const char *json, *says;
    } cases[] = {
        {"{\"ffn\": 1073741824}", " bytes; the model of config.json takes more than 412316884032\n"},
        {"{\"layers\": 1000}", " bytes; the model of config.json takes more than "},
        {"{\"context\": 1073741824}", " bytes; the model of config.json takes more than "},
        {"{\"d_model\": 1073741824, \"heads\": 1073741824, \"kv_heads\": 1}",
         " bytes; the model of config.json takes more than "},
        {"{\"layers\": 1}", ": tensor \"blocks.1."},
        {"{\"ffn\": 36}", ": tensor \"blocks.0.ffn.dense1.weight\" has not the shape [36, 24] that the configuration asks for"},
        {"{\"kv_heads\": 1}", ": tensor \"blocks.0.attention.k.weight\" has not the shape [4, 24]"},
        {"{\"bias\": false}", ".bias\" does not belong to this model"},
        {"{\"ffn_kind\": \"swiglu\", \"ffn\": 12}", ": tensor \"blocks.0.ffn.gate.weight\" is missing"},
        {"{\"output_bias\": true}", ": tensor \"output.bias\" is missing"},
        {"{\"positions\": \"rotary\"}", ": tensor \"positions.table\" does not belong to this model"},
    };
    save_language_model();
    char *original = file_text("config.json");
    for (size_t i = 0; i < COUNT(cases); i++) {
        rapt_error err = {0};
        edit(original, cases[i].json);
        assert_null(rapt_model_load(folder_path, NULL, &err));
        char *line;
        const char *path = folder_in("model.safetensors");
        assert_true(asprintf(&line, "%s\n", err.message) > 0);
        if (!strstr(line, cases[i].says) || strncmp(line, path, strlen(path)) != 0)
            fail_msg("%s: \"%s\" lacks \"%s\"", cases[i].json, err.message, cases[i].says);
        free(line);
    }
    free(original);
}

static void replace_tokenizer(const char *name, rapt_tokenizer *k)
{
    rapt_error err = {0};
    must(rapt_tokenizer_save(k, folder_in(name), &err), &err);
    rapt_tokenizer_free(k);
}

static void tokenizers_of_others(void **state)
{
    (void)state;
    save_language_model();
    replace_tokenizer("tokenizer.json", characters('B', MODEL_VOCAB));
    refused(RAPT_ERR_FORMAT, "/tokenizer.json: not the tokenizer that the model was trained with");
    replace_tokenizer("tokenizer.json", characters('A', MODEL_VOCAB + 1));
    refused(RAPT_ERR_FORMAT, "/tokenizer.json: not the tokenizer that the model was trained with");
    replace_tokenizer("tokenizer.json", characters('A', MODEL_VOCAB - 1));
    refused(RAPT_ERR_FORMAT, "/tokenizer.json: 52 tokens; the model was made for 53");
    save_translation_model();
    replace_tokenizer("source.tokenizer.json", words("a b d"));
    refused(RAPT_ERR_FORMAT, "/source.tokenizer.json: not the tokenizer that the model was trained with");
    replace_tokenizer("source.tokenizer.json", words("a b c d"));
    refused(RAPT_ERR_FORMAT, "/source.tokenizer.json: 8 tokens; the model was made for 7");
}

static void files_that_are_missing(void **state)
{
    (void)state;
    static const char *const files[] = {"config.json", "tokenizer.json", "model.safetensors"};
    for (size_t i = 0; i < COUNT(files); i++) {
        rapt_error err = {0};
        save_language_model();
        const char *path = folder_in(files[i]);
        unlink(path);
        assert_null(rapt_model_load(folder_path, NULL, &err));
        assert_int_equal(err.code, RAPT_ERR_NOT_FOUND);
        assert_non_null(strstr(err.message, path));
    }
    rapt_error err = {0};
    assert_null(rapt_model_load("/tmp/rapt-no-such-folder", NULL, &err));
    assert_string_equal(err.message, "/tmp/rapt-no-such-folder: there is no such model folder");
}

static void parameters_that_are_cut_off(void **state)
{
    (void)state;
    save_language_model();
    char *bytes = file_text("model.safetensors");
    write_file("model.safetensors", bytes, 20000);
    free(bytes);
    rapt_error err = {0};
    assert_null(rapt_model_load(folder_path, NULL, &err));
    assert_non_null(strstr(err.message, "/model.safetensors: byte 20000: the file ends before byte "));
}

/* ---- tasks ------------------------------------------------------------------------------------------------ */

static void refused_for(rapt_task task, const char *says)
{
    rapt_error err = {0};
    char wanted[FOLDER_ROOM + 128];
    snprintf(wanted, sizeof wanted, "%s %s", folder_path, says);
    assert_null(load_task(folder_path, task, &err));
    assert_string_equal(err.message, wanted);
    assert_int_equal(err.code, RAPT_ERR_VALUE);
}

/* It is told apart by its configuration: other files may be gone. */
static void models_of_the_other_task(void **state)
{
    (void)state;
    rapt_error err = {0};
    save_language_model();
    rapt_model *m = load_task(folder_path, RAPT_TASK_LANGUAGE_MODEL, &err);
    assert_non_null(m);
    rapt_model_free(m);
    unlink(folder_in("model.safetensors"));
    refused_for(RAPT_TASK_TRANSLATION, "is a language model; rapt generate runs it");
    save_translation_model();
    m = load_task(folder_path, RAPT_TASK_TRANSLATION, &err);
    assert_non_null(m);
    rapt_model_free(m);
    refused_for(RAPT_TASK_LANGUAGE_MODEL, "is a translation model; rapt translate runs it");
}

static void language_models_do_not_translate(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_translation out[1];
    const char *line = "a b";
    rapt_lm_config c = plain();
    rapt_model *m = language_model(&c, characters('A', MODEL_VOCAB));
    assert_int_equal(rapt_translate(m, &line, 1, NULL, out, &err), RAPT_ERR_VALUE);
    assert_int_equal(out[0].count, 0);
    rapt_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(members_of_language_models, empty_folder),
        cmocka_unit_test_teardown(members_of_translation_models, empty_folder),
        cmocka_unit_test_teardown(values_of_language_models, empty_folder),
        cmocka_unit_test_teardown(values_of_translation_models, empty_folder),
        cmocka_unit_test_teardown(texts_that_are_no_configuration, empty_folder),
        cmocka_unit_test_teardown(sizes_that_the_parameters_do_not_have, empty_folder),
        cmocka_unit_test_teardown(tokenizers_of_others, empty_folder),
        cmocka_unit_test_teardown(files_that_are_missing, empty_folder),
        cmocka_unit_test_teardown(parameters_that_are_cut_off, empty_folder),
        cmocka_unit_test_teardown(models_of_the_other_task, empty_folder),
        cmocka_unit_test_teardown(language_models_do_not_translate, empty_folder),
    };
    return cmocka_run_group_tests(tests, folder_make, remove_folder);
}
