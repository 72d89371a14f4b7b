/* tests/base/test_no_error.c: a rapt_error may be NULL in every public function that takes one: calls that fail, for reasons
 * found at different depths, say so by what they return, and those that succeed do as ever. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "folder.h"
#include "loading.h"
#include "options.h"
#include "rapt.h"

#include <string.h>

static const char *put(const char *name, const char *text)
{
    FILE *f = fopen(folder_in(name), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return folder_in(name);
}

static rapt_tokenizer *letters(void)
{
    rapt_tokenizer *tokenizer = rapt_tokenizer_train_characters("abc ", 4, NULL);
    assert_non_null(tokenizer);
    return tokenizer;
}

/* ---- text ------------------------------------------------------------------------------------------------- */

static rapt_code refuse_ids(void *context, const int32_t *ids, size_t count, rapt_error *err)
{
    (void)context, (void)ids, (void)count;
    return rapt_fail(err, RAPT_ERR_VALUE, "refused");
}

static void tokenizers(void **state)
{
    (void)state;
    int32_t *ids;
    size_t count;
    rapt_tokenizer *tokenizer = letters();
    assert_null(rapt_tokenizer_train_characters("", 0, NULL));
    assert_null(rapt_tokenizer_train_characters_with("\n", 1, &TRAIN_CHARACTERS(.specials_first = true), NULL));
    assert_null(rapt_tokenizer_train_bpe("abc", 3, &TRAIN_BPE(.vocab_size = 300, .pattern = "("), NULL));
    assert_null(rapt_tokenizer_load("/nowhere", NULL));
    assert_null(rapt_tokenizer_load_bytes("{}", 2, NULL));
    char *bytes;
    size_t *starts;
    assert_int_equal(rapt_tokenizer_save_bytes(tokenizer, &bytes, &count, NULL), RAPT_OK);
    free(bytes);
    const rapt_text texts[] = {{"x", 1}};
    assert_int_equal(rapt_tokenizer_encode_batch(tokenizer, texts, 1, NULL, &ids, &starts, NULL), RAPT_ERR_VALUE);
    rapt_span *offsets;
    assert_int_equal(rapt_tokenizer_encode_offsets(tokenizer, &(rapt_text){"x", 1}, NULL, &ids, &offsets, &count, NULL),
                     RAPT_ERR_VALUE);
    assert_null(rapt_tokenizer_load(put("bad.json", "{\"model\": 1}"), NULL));
    assert_null(rapt_tokenizer_load("cl100k_base:/nowhere", NULL));
    assert_int_equal(rapt_tokenizer_encode(tokenizer, "x", &ids, &count, NULL), RAPT_ERR_VALUE);
    assert_int_equal(rapt_tokenizer_encode_bytes(tokenizer, "a\xff", 2, NULL, &ids, &count, NULL), RAPT_ERR_FORMAT);
    assert_int_equal(rapt_tokenizer_encode_to(tokenizer, "abc", 3, NULL, refuse_ids, NULL, NULL), RAPT_ERR_VALUE);
    assert_int_not_equal(rapt_tokenizer_save(tokenizer, "/nowhere/tokenizer.json", NULL), RAPT_OK);
    assert_int_equal(rapt_tokenizer_encode(tokenizer, "ab", &ids, &count, NULL), RAPT_OK);
    assert_int_equal(count, 2);
    free(ids);
    rapt_real table[3] = {0};
    assert_int_not_equal(rapt_vectors_read("/nowhere", tokenizer, 3, 1, table, NULL, NULL), RAPT_OK);
    assert_int_equal(rapt_vectors_read(put("vectors", "a 0.5\n"), tokenizer, 3, 1, table, NULL, NULL), RAPT_OK);
    rapt_tokenizer_free(tokenizer);
}

static void conversations(void **state)
{
    (void)state;
    char *text;
    int32_t *ids;
    size_t size;
    const rapt_chat_message message = {"user", "x"};
    rapt_tokenizer *tokenizer = letters();
    assert_null(rapt_chat_template_load("/nowhere", NULL));
    put("chat_template.jinja", "{{ x.y }}");
    put("tokenizer_config.json", "{}");
    rapt_chat_template *chat = rapt_chat_template_load(folder_path, NULL);
    assert_non_null(chat);
    assert_int_equal(rapt_chat_apply(chat, &message, 0, NULL, &text, &size, NULL), RAPT_ERR_VALUE);
    assert_int_equal(rapt_chat_apply(chat, &message, 1, NULL, &text, &size, NULL), RAPT_ERR_FORMAT);
    assert_int_equal(rapt_chat_apply_json(chat, "[]", 2, NULL, &text, &size, NULL), RAPT_ERR_VALUE);
    assert_int_equal(rapt_chat_calls(chat, "[]", "x", 1, &text, NULL), RAPT_ERR_VALUE);
    assert_int_equal(rapt_chat_encode(tokenizer, "x", 1, &ids, &size, NULL), RAPT_ERR_VALUE);
    rapt_chat_template_free(chat);
    rapt_tokenizer_free(tokenizer);
}

static void texts_of_tensors(void **state)
{
    (void)state;
    rapt_real x[2] = {1, 2};
    const rapt_tensor tensor = {.data = x, .ndim = 1, .shape = {2}};
    const rapt_tensor_text_options bad = TENSOR_TEXT(.precision = 100);
    assert_null(rapt_tensor_text(&tensor, &bad, NULL));
    const rapt_tokens one = {(int32_t[]){1}, 1, 1, NULL};
    assert_null(rapt_tokens_text(one, &bad, NULL));
    char *text[] = {rapt_tensor_text(&tensor, NULL, NULL), rapt_tokens_text(one, NULL, NULL),
                    rapt_table_text(&(rapt_table){.values = x, .rows = 1, .columns = 2}, NULL)};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        assert_non_null(text[i]);
        free(text[i]);
    }
}

static void figures(void **state)
{
    (void)state;
    char *svg = NULL;
    const rapt_real one = 1;
    assert_int_equal(rapt_heatmap_svg(&one, 0, 1, NULL, &svg, NULL, NULL), RAPT_ERR_VALUE);
    assert_int_equal(rapt_curves_svg(NULL, 0, NULL, &svg, NULL, NULL), RAPT_ERR_VALUE);
    assert_null(svg);
}

static void scores(void **state)
{
    (void)state;
    const rapt_text good[] = {rapt_text_of("a b c d")}, bad[] = {rapt_text_of("\xff")};
    const rapt_text *const references[] = {good};
    rapt_bleu bleu;
    double score;
    assert_int_equal(rapt_bleu_corpus(NULL, &(rapt_metric_texts){bad, references, 1, 1, {0}}, &bleu, NULL), RAPT_ERR_FORMAT);
    assert_int_equal(rapt_bleu_sentence(NULL, bad, good, 1, &bleu, NULL), RAPT_ERR_FORMAT);
    assert_int_equal(rapt_chrf_corpus(NULL, &(rapt_metric_texts){good, references, 0, 1, {0}}, &score, NULL), RAPT_ERR_VALUE);
    assert_int_equal(rapt_chrf_sentence(NULL, bad, good, 1, &score, NULL), RAPT_ERR_FORMAT);
    assert_int_equal(rapt_bleu_corpus(NULL, &(rapt_metric_texts){good, references, 1, 1, {0}}, &bleu, NULL), RAPT_OK);
}

static void glossaries(void **state)
{
    (void)state;
    const rapt_glossary_term term = {{"a", 1}, {"b", 1}};
    assert_null(rapt_glossary_load("/nowhere", NULL));
    assert_null(rapt_glossary_parse("g", rapt_text_of("a b"), NULL));
    assert_null(rapt_glossary_new("g", NULL, 0, NULL));
    rapt_glossary *g = rapt_glossary_new("g", &term, 1, NULL);
    assert_non_null(g);
    rapt_glossary_free(g);
}

static void documents(void **state)
{
    (void)state;
    char *text;
    rapt_translation none = {.count = 1, .hypotheses = &(rapt_hypothesis){.text = (char[]){"a"}}};
    assert_null(rapt_markup_parse(rapt_text_of("\xFF"), NULL, NULL));
    rapt_markup *m = rapt_markup_parse(rapt_text_of("a"), NULL, NULL);
    assert_non_null(m);
    assert_int_equal(rapt_markup_write(m, &none, 0, &text, NULL, NULL), RAPT_ERR_VALUE);
    rapt_markup_free(m);
}

/* ---- data ------------------------------------------------------------------------------------------------- */

static void pairs_and_batches(void **state)
{
    (void)state;
    const char *const lines[] = {"a b", "c"};
    rapt_tokenizer *words = rapt_tokenizer_train_words(lines, 2, NULL, NULL);
    assert_null(rapt_pairs_read("/nowhere", 0, NULL));
    assert_null(rapt_pairs_read(put("untabbed", "a b\n"), 0, NULL));
    rapt_pairs *pairs = rapt_pairs_read(put("pairs", "a b\tc\na\tb\n"), 0, NULL);
    assert_null(rapt_dataset_new(pairs, words, words, &DATASET(.max_len = 1, .too_long = RAPT_TOO_LONG_ERROR),
                                 NULL));
    rapt_dataset *d = rapt_dataset_new(pairs, words, words, NULL, NULL);
    rapt_loader *l = rapt_loader_new(d, NULL, NULL);
    assert_int_equal(rapt_loader_batch(l, 0, 0)->source.batch, 2);
    rapt_loader_free(l);
    rapt_dataset_free(d);
    rapt_pairs_free(pairs);
    rapt_tokenizer_free(words);
}

static void token_files(void **state)
{
    (void)state;
    rapt_tokenizer *tokenizer = letters();
    assert_null(rapt_token_file_open("/nowhere", NULL));
    assert_null(rapt_token_file_open(put("bad.tokens", "no token file, but as long as the header of one is, or longer"), NULL));
    assert_null(rapt_token_file_from_ids((int32_t[]){7}, 1, 7, NULL));
    assert_null(rapt_token_file_ensure(tokenizer, "/nowhere", "/nowhere.tokens", NULL));
    assert_int_not_equal(rapt_token_file_make(tokenizer, "/nowhere", "/nowhere.tokens", NULL), RAPT_OK);
    rapt_token_file *f = rapt_token_file_from_ids((int32_t[]){0, 1, 2}, 3, 3, NULL);
    const rapt_token_range all = rapt_token_range_all(f);
    assert_null(rapt_windows_new(f, &all, 3, 1, 1, NULL));
    rapt_windows *w = rapt_windows_new(f, &all, 2, 1, 1, NULL);
    assert_int_equal(rapt_windows_batches(w), 1);
    rapt_windows_free(w);
    rapt_token_file_close(f);
    rapt_tokenizer_free(tokenizer);
}

/* ---- recipes ---------------------------------------------------------------------------------------------- */

static void recipes(void **state)
{
    (void)state;
    rapt_recipe r;
    char *text;
    assert_int_equal(rapt_recipe_read("/nowhere", &r, NULL), RAPT_ERR_NOT_FOUND);
    assert_int_equal(rapt_recipe_read(put("r.yaml", "model: {layers: x}\n"), &r, NULL), RAPT_ERR_VALUE);
    assert_int_equal(rapt_recipe_read(put("r.yaml", "[\n"), &r, NULL), RAPT_ERR_FORMAT);
    assert_int_equal(rapt_recipe_parse("[", 1, NULL, &r, NULL), RAPT_ERR_FORMAT);
    assert_int_equal(rapt_recipe_load("/nowhere", &r, NULL), RAPT_ERR_NOT_FOUND);
    rapt_recipe_defaults(&r);
    assert_int_equal(rapt_recipe_set(&r, "train.lr=x", NULL), RAPT_ERR_VALUE);
    assert_int_equal(rapt_recipe_set_key(&r, "train.lr", "x", NULL), RAPT_ERR_VALUE);
    assert_int_equal(rapt_recipe_check(&r, "r", NULL), RAPT_ERR_VALUE);
    r.model.layers = -1;
    assert_int_equal(rapt_recipe_format(&r, &text, NULL), RAPT_ERR_VALUE);
    assert_int_equal(rapt_recipe_help(&text, NULL), RAPT_OK);
    free(text);
    rapt_recipe_free(&r);
}

/* ---- tensors and models ----------------------------------------------------------------------------------- */

static void models(void **state)
{
    (void)state;
    const rapt_transformer_config pairs = {.source_vocab = 5, .target_vocab = 5, .layers = 1, .max_positions = 4,
                                           .block = {.d_model = 5, .heads = 2, .ffn = 3}};
    const rapt_lm_config text = {.vocab = 5, .layers = 1, .context = 4,
                                 .block = {.d_model = 5, .heads = 2, .ffn = 3}};
    rapt_lm_config preset;
    bool sealed;
    assert_null(rapt_transformer_new(&pairs, 1, NULL));
    assert_null(rapt_lm_new(&text, 1, NULL));
    assert_null(rapt_encoder_only_new(&pairs, 1, NULL));
    assert_int_equal(rapt_lm_preset("quux", &preset, NULL), RAPT_ERR_NOT_FOUND);
    assert_int_equal(rapt_type_parse("fp17", &(rapt_type){0}, NULL), RAPT_ERR_VALUE);
    assert_null(rapt_model_load("/nowhere", &(rapt_load_options){0}, NULL));
    assert_null(rapt_model_load("/nowhere", NULL, NULL));
    assert_null(load_task("/nowhere", RAPT_TASK_TRANSLATION, NULL));
    assert_null(load_adapted("/nowhere", "/nowhere", NULL));
    assert_null(load_inference("/nowhere", RAPT_TASK_LANGUAGE_MODEL, NULL));
    put("config.json", "{\"format\": \"rapt-model\"}");
    assert_null(rapt_model_load(folder_path, NULL, NULL));
    assert_int_not_equal(rapt_model_seal("/nowhere", NULL), RAPT_OK);
    assert_int_not_equal(rapt_model_is_sealed("/nowhere", &sealed, NULL), RAPT_OK);
}

static void parameters(void **state)
{
    (void)state;
    rapt_params *set = rapt_params_new(1, NULL);
    rapt_params_add(set, "w", 1, (size_t[]){3}, (rapt_init){RAPT_INIT_ONES, 0});
    assert_int_not_equal(rapt_params_load(set, "/nowhere", NULL), RAPT_OK);
    assert_int_not_equal(rapt_params_load(set, put("bad.safetensors", "????????????????"), NULL), RAPT_OK);
    assert_int_not_equal(rapt_params_save(set, "/nowhere/p.safetensors", NULL), RAPT_OK);
    assert_int_equal(rapt_params_save(set, folder_in("p.safetensors"), NULL), RAPT_OK);
    assert_int_equal(rapt_params_load(set, folder_in("p.safetensors"), NULL), RAPT_OK);
    rapt_params_free(set);
}

static void tapes(void **state)
{
    (void)state;
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1}, NULL);
    assert_non_null(t);
    assert_null(rapt_pool_new(-1, NULL));
    rapt_pool *pool = rapt_pool_new(1, NULL);
    assert_null(rapt_tape_new_in(pool, &(rapt_compute){.isa = "none"}, NULL));
    rapt_pool_free(pool);
    rapt_tape_begin(t, (rapt_pass){.record = true});
    rapt_kept_pass_release(rapt_tape_keep(t, NULL));
    rapt_tensor *x = rapt_tape_input(t, 1, (size_t[]){2}, (rapt_real[]){1, 2}, true);
    rapt_tensor *y = rapt_tape_input(t, 1, (size_t[]){3}, (rapt_real[]){1, 2, 3}, true);
    assert_int_equal(rapt_tape_status(t, NULL), RAPT_OK);
    rapt_tensor *sum = rapt_op_add(t, x, y);
    assert_int_equal(rapt_tape_status(t, NULL), RAPT_ERR_SHAPE);
    assert_int_equal(rapt_backward(t, rapt_op_sum(t, sum), NULL), RAPT_ERR_SHAPE);
    rapt_tape_free(t);
}

static void groups(void **state)
{
    (void)state;
    assert_null(rapt_group_local(0, NULL));
    rapt_transport *transports = rapt_group_local(1, NULL);
    assert_non_null(transports);
    assert_null(rapt_group_new(transports, &GROUP(.launched = 2), NULL));
    rapt_group *g = rapt_group_new(transports, NULL, NULL);
    assert_non_null(g);
    assert_int_equal(rapt_group_size(g), 1);
    rapt_group_free(g);
    rapt_group_local_free(transports);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokenizers), cmocka_unit_test(conversations), cmocka_unit_test(texts_of_tensors),
        cmocka_unit_test(figures), cmocka_unit_test(scores), cmocka_unit_test(glossaries), cmocka_unit_test(documents),
        cmocka_unit_test(pairs_and_batches),
        cmocka_unit_test(token_files), cmocka_unit_test(recipes),   cmocka_unit_test(models),
        cmocka_unit_test(parameters), cmocka_unit_test(tapes), cmocka_unit_test(groups),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
