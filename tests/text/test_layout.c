/* test_layout.c: folders that hold a SentencePiece model and no tokenizer.json, with the ids and the texts that transformers
 * 4.57.6 gives; and folders that are refused. For src/text/layout. tools/golden_layouts.py makes tests/text/layout. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/file.h"
#include "text/golden_lines.h"

#define FOLDER RAPT_SOURCE_DIR "/tests/text/layout/"

static const char *const FILES[] = {"tokenizer_config.json", "config.json", "special_tokens_map.json", "added_tokens.json",
                                    "spiece.model", "sentencepiece.bpe.model", "tokenizer.model"};

static json_t *golden_of(const char *name)
{
    char path[1024];
    json_error_t where;
    snprintf(path, sizeof path, FOLDER "%s.json", name);
    json_t *root = json_load_file(path, JSON_ALLOW_NUL, &where);
    if (!root)
        fail_msg("%s: %s", path, where.text);
    return root;
}

static void put_model(const char *model, const char *name)
{
    char path[1024], *data;
    size_t size;
    snprintf(path, sizeof path, FOLDER "%s.model", model);
    assert_int_equal(file_read(path, SIZE_MAX, &data, &size, NULL), RAPT_OK);
    write_file(name, data, size);
    free(data);
}

static void put_text(const char *name, const char *text)
{
    write_file(name, text, strlen(text));
}

static void clear_folder(void)
{
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++)
        remove(folder_in(FILES[i]));
}

static void put_golden(const json_t *root)
{
    const char *name;
    const json_t *value;
    clear_folder();
    put_model(json_string_value(json_object_get(root, "model")), json_string_value(json_object_get(root, "name")));
    json_object_foreach(json_object_get(root, "files"), name, value)
    {
        char *text = json_dumps(value, 0);
        put_text(name, text);
        free(text);
    }
}

static void check_folder_lines(const json_t *root)
{
    rapt_tokenizer *k = load(folder_in("."));
    assert_int_equal(rapt_tokenizer_kind_of(k), RAPT_TOKENIZER_PIPELINE);
    assert_int_equal(rapt_tokenizer_size(k), json_integer_value(json_object_get(root, "size")));
    check_lines(k, root);
    assert_saves(k);
    rapt_tokenizer_free(k);
}

static void check_golden(void **state)
{
    json_t *root = golden_of(*state);
    put_golden(root);
    check_folder_lines(root);
    json_decref(root);
}

/* Languages have the ids of published models where the folder does not list them. */
static void languages_of_nllb(void **state)
{
    (void)state;
    json_t *root = golden_of("nllb");
    put_golden(root);
    put_text("tokenizer_config.json", "{\"tokenizer_class\": \"NllbTokenizer\", \"src_lang\": \"deu_Latn\"}");
    check_folder_lines(root);
    json_decref(root);
}

/* transformers writes 10^30 where a tokenizer has no limit. */
static void without_a_limit(void **state)
{
    (void)state;
    json_t *root = golden_of("t5");
    put_golden(root);
    put_text("tokenizer_config.json", "{\"tokenizer_class\": \"T5Tokenizer\", "
                                      "\"model_max_length\": 1000000000000000019884624838656}");
    check_folder_lines(root);
    json_decref(root);
}

/* A class that has no layout, or none: the pieces have the ids of the model. */
static void models_alone(void **state)
{
    static const char *const configs[] = {"{}", "{\"tokenizer_class\": \"AlbertTokenizer\"}"};
    (void)state;
    clear_folder();
    put_model("t5", "spiece.model");
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        put_text("tokenizer_config.json", configs[i]);
        rapt_tokenizer *k = load(folder_in("."));
        assert_int_equal(rapt_tokenizer_kind_of(k), RAPT_TOKENIZER_SENTENCEPIECE);
        assert_int_equal(rapt_tokenizer_size(k), 300);
        rapt_tokenizer_free(k);
    }
}

static void refused_folders(void **state)
{
    static const struct {
        const char *model, *class, *more, *message;
    } CASES[] = {
        {"t5", "MBart", "", "piece 0 is \"<pad>\", not <unk>, which MBartTokenizer counts on"},
        {"fairseq", "Llama", "", "its type is not that of a model for LlamaTokenizer"},
        {"fairseq_bpe", "Llama", "", "byte_fallback is not that of a model for LlamaTokenizer"},
        {"llama", "Nllb", "", "byte_fallback is not that of a model for NllbTokenizer"},
        {"llama", "Llama", "\"bos_token\": \"</s>\"", "\"bos_token\" is \"</s>\""},
        {"llama", "Llama", "\"pad_token\": \"[PAD]\"", "\"pad_token\" is \"[PAD]\""},
        {"fairseq", "Pegasus", "", "piece 0 is \"<unk>\", not <pad>"},
        {"t5", "T5", "\"sp_model_kwargs\": {\"nbest_size\": 4}", "\"sp_model_kwargs\" is {\"nbest_size\":4}"},
        {"t5", "T5", "\"extra_ids\": -1", "\"extra_ids\" is -1: it changes ids"},
        {"t5", "T5", "\"extra_ids\": \"5\"", "\"extra_ids\" is \"5\": it changes ids"},
        {"t5", "Pegasus", "\"offset\": 0", "\"offset\" is 0: it changes ids"},
        {"t5", "Pegasus", "\"mask_token_sent\": \"<m>\"", "\"mask_token_sent\" is \"<m>\""},
        {"fairseq_bpe", "Nllb", "\"legacy_behaviour\": true", "\"legacy_behaviour\" is true"},
        {"fairseq_bpe", "Nllb", "\"src_lang\": \"deu\"", "there is no \"deu\", which NllbTokenizer puts"},
        {"t5", "T5", "\"eos_token\": \"<pad>\"", "\"eos_token\" is \"<pad>\""},
        {"t5", "T5", "\"pad_token\": \"[PAD]\"", "\"pad_token\" is \"[PAD]\""},
        {"t5", "T5", "\"additional_special_tokens\": [{\"content\": \"<x>\"}]", "\"additional_special_tokens\" is \"<x>\""},
        {"t5", "T5", "\"added_tokens_decoder\": {\"5\": {\"content\": \"<x>\"}}", "gives id 5 to the added token \"<x>\""},
        {"t5", "T5", "\"added_tokens_decoder\": {\"500\": {\"content\": \"<x>\"}}", "lack one with id 400"},
        {"t5", "T5", "\"added_tokens_decoder\": {\"400\": {\"content\": \"<pad>\"}}", "there is a piece \"<pad>\""},
        {"t5", "T5", "\"added_tokens_decoder\": {\"-1\": {\"content\": \"<x>\"}}", "lack one with id 400"},
    };
    (void)state;
    clear_folder();
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char config[256];
        snprintf(config, sizeof config, "{\"tokenizer_class\": \"%sTokenizer\"%s%s}", CASES[i].class, *CASES[i].more ? ", " : "",
                 CASES[i].more);
        put_model(CASES[i].model, "spiece.model");
        put_text("tokenizer_config.json", config);
        assert_refused(folder_in("."), CASES[i].message);
    }
    put_text("tokenizer_config.json", "[]");
    assert_refused(folder_in("."), "tokenizer_config.json: not a JSON object");
}

/* Models with settings that no tokenizer.json has. */
static void refused_models(void **state)
{
    static const struct {
        const char *model, *message;
    } CASES[] = {{"characters", "its type is not that of a model for T5Tokenizer"},
                 {"unigram_bytes", "byte_fallback is not that"},
                 {"unigram_suffix", "treat_whitespace_as_suffix is not that"}};
    (void)state;
    clear_folder();
    put_text("config.json", "{\"model_type\": \"t5\"}");
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char name[64];
        snprintf(name, sizeof name, "../sentencepiece/%s", CASES[i].model);
        put_model(name, "spiece.model");
        assert_refused(folder_in("."), CASES[i].message);
    }
}

#define GOLDEN(name) {name, check_golden, NULL, NULL, name}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GOLDEN("t5"),      GOLDEN("t5_first"), GOLDEN("t5_added"),    GOLDEN("mt5"),
        GOLDEN("pegasus"), GOLDEN("mbart"),    GOLDEN("mbart50"),     GOLDEN("nllb"),
        GOLDEN("xlm_roberta"), GOLDEN("llama"), GOLDEN("llama_first"), GOLDEN("llama_bare"),
        GOLDEN("gemma"), GOLDEN("gemma_ends"),
        cmocka_unit_test(languages_of_nllb), cmocka_unit_test(without_a_limit), cmocka_unit_test(models_alone),
        cmocka_unit_test(refused_folders), cmocka_unit_test(refused_models),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
