/* tests/io/test_model_special_ids.c: a model folder names its special tokens: what is saved comes back, one id or a list; folders
 * of rapt 0.1 mean <|endoftext|>, and the ids 0 to 3. For src/io/config_lm.c and config_translation.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "io/model_folder.h"
#include "options.h"

#include <jansson.h>

#define BYTES 257 /* all bytes, and the end of text */

static rapt_model *bytes_model(void)
{
    static const char *const specials[] = {"<|endoftext|>"};
    rapt_error err = {0};
    rapt_bpe_options o = TRAIN_BPE(.vocab_size = BYTES, .specials = specials, .special_count = 1, .threads = 1);
    rapt_tokenizer *k = rapt_tokenizer_train_bpe("abc", 3, &o, &err);
    must(err.code, &err);
    rapt_lm_config c = lm_variant(2);
    c.vocab = BYTES;
    return language_model(&c, k);
}

/* Puts a value in place of the member, or takes it out (NULL). */
static void edit(const char *key, const char *value)
{
    char *text = file_text("config.json");
    json_t *root = json_loads(text, 0, NULL);
    free(text);
    assert_int_equal(value ? json_object_set_new(root, key, json_loads(value, JSON_DECODE_ANY, NULL))
                           : json_object_del(root, key), 0);
    text = json_dumps(root, 0);
    write_file("config.json", text, strlen(text));
    free(text);
    json_decref(root);
}

static void loads_ends(const int32_t *ids, size_t count)
{
    rapt_model *m = load();
    assert_int_equal(m->language.end_of_text_count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(m->language.end_of_text[i], ids[i]);
    rapt_model_free(m);
}

static void ends_of_text(void **state)
{
    (void)state;
    rapt_model *m = bytes_model();
    m->language.end_of_text[0] = 7, m->language.end_of_text[1] = 200, m->language.end_of_text_count = 2;
    save(m);
    loads_ends((int32_t[]){7, 200}, 2);
    edit("eos_token_id", "9"); /* as other programs have it */
    loads_ends((int32_t[]){9}, 1);
    edit("eos_token_id", "[]");
    loads_ends(NULL, 0);
    edit("eos_token_id", NULL); /* a folder of rapt 0.1 */
    loads_ends((int32_t[]){BYTES - 1}, 1);
    rapt_model_free(m);
}

/* A model that does not know the token. */
static void no_end_of_text(void **state)
{
    (void)state;
    rapt_lm_config c = lm_variant(2);
    rapt_model *m = language_model(&c, characters('A', MODEL_VOCAB));
    save(m);
    edit("eos_token_id", NULL);
    loads_ends(NULL, 0);
    rapt_model_free(m);
}

static void ids_of_translation_models(void **state)
{
    (void)state;
    static const char *const keys[] = {"unk_token_id", "pad_token_id", "bos_token_id", "eos_token_id"};
    rapt_model *m = translation_model(), *back;
    m->translation.special = (rapt_special_ids){.unk = 5, .pad = 4, .bos = 1, .eos = 0};
    save(m);
    back = load();
    assert_memory_equal(&back->translation.special, &m->translation.special, sizeof m->translation.special);
    rapt_model_free(back);
    for (size_t i = 0; i < 4; i++)
        edit(keys[i], NULL);
    back = load();
    assert_memory_equal(&back->translation.special, &RAPT_SPECIAL_IDS, sizeof back->translation.special);
    rapt_model_free(back);
    rapt_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(ends_of_text, empty_folder),
                                       cmocka_unit_test_teardown(no_end_of_text, empty_folder),
                                       cmocka_unit_test_teardown(ids_of_translation_models, empty_folder)};
    return cmocka_run_group_tests(tests, folder_make, remove_folder);
}
