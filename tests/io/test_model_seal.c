/* tests/io/test_model_seal.c: the files of a model folder are bound to each other: changed or mixed files are refused, older
 * folders load without a seal, and a folder can be sealed as it is. For src/io/seal.c. test_model_damage.c tests damaged
 * files. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "io/model_folder.h"

#include "io/params_file.h"
#include "io/seal.h"

#include <jansson.h>

#define RUN 0x0123456789abcdefu

static rapt_model *language(char first, uint64_t run)
{
    rapt_lm_config c = lm_variant(24);
    rapt_model *m = language_model(&c, characters(first, MODEL_VOCAB));
    m->run = run;
    return m;
}

static void save_sealed(rapt_model *m, uint64_t run)
{
    rapt_error err = {0};
    m->run = run;
    must(rapt_model_save(m, folder_path, &err), &err);
    rapt_model_free(m);
}

static void write_json(const json_t *root)
{
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    write_file("config.json", text, strlen(text));
    free(text);
}

static json_t *saved_config(void)
{
    char *text = file_text("config.json");
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    free(text);
    return root;
}

static void refused_with(const char *file, const char *says)
{
    rapt_error err = {0};
    char seal[FOLDER_ROOM + 32];
    const char *path = folder_in(file);
    rapt_model *m = rapt_model_load(folder_path, NULL, &err);
    if (m)
        fail_msg("loaded; it should be refused: %s", says);
    snprintf(seal, sizeof seal, "`rapt info %s --seal`", folder_path);
    assert_int_equal(err.code, RAPT_ERR_FORMAT);
    if (strncmp(err.message, path, strlen(path)) != 0 || !strstr(err.message, says) || !strstr(err.message, seal))
        fail_msg("\"%s\" should name %s and %s, and say: %s", err.message, path, seal, says);
}

static void loads(bool sealed)
{
    bool says;
    rapt_error err = {0};
    rapt_model *m = load();
    assert_int_equal(m->sealed, sealed);
    assert_int_equal(rapt_model_is_sealed(folder_path, &says, &err), RAPT_OK);
    assert_int_equal(says, sealed);
    rapt_model_free(m);
}

/* Another value of the same kind; it need not make sense. */
static json_t *other_value(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_INTEGER: return json_integer(json_integer_value(value) * 2 + 1);
    case JSON_REAL: return json_real(json_real_value(value) + 0.0625);
    case JSON_TRUE: return json_false();
    case JSON_FALSE: return json_true();
    case JSON_ARRAY: return json_pack("[i]", 1);
    default: return json_string(strcmp(json_string_value(value), "pre") == 0 ? "post" : "pre");
    }
}

static bool is_header(const char *key)
{
    return strcmp(key, "format") == 0 || strcmp(key, "version") == 0 || strcmp(key, "task") == 0 || strcmp(key, "run") == 0;
}

/* Each member changed, then left out. */
static void each_change_is_refused(size_t least)
{
    const char *key;
    json_t *value, *original = saved_config();
    size_t tried = 0;
    json_object_foreach(original, key, value)
    {
        char says[100];
        if (is_header(key))
            continue;
        json_t *changed = json_copy(original);
        snprintf(says, sizeof says, "config.json: \"%s\" is ", key);
        assert_int_equal(json_object_set_new(changed, key, other_value(value)), 0);
        write_json(changed);
        refused_with("config.json", says);
        snprintf(says, sizeof says, "config.json: \"%s\" is missing, and ", key);
        assert_int_equal(json_object_del(changed, key), 0);
        write_json(changed);
        refused_with("config.json", says);
        json_decref(changed);
        tried++;
    }
    assert_true(tried >= least);
    write_json(original);
    loads(true);
    json_decref(original);
}

static void changed_numbers_are_refused(void **state)
{
    (void)state;
    save_sealed(language('A', 0), RUN);
    each_change_is_refused(23);
    empty_folder(NULL);
    save_sealed(translation_model(), RUN);
    each_change_is_refused(22);
}

static void values_are_shown(void **state)
{
    (void)state;
    save_sealed(language('A', 0), RUN);
    json_t *root = saved_config();
    json_object_set_new(root, "norm_eps", json_real(0.1));
    write_json(root);
    refused_with("config.json", "\"norm_eps\" is 0.1, and 1e-5 in model.safetensors; if it was changed on purpose, ");
    json_decref(root);
}

/* What is written otherwise and says the same is the same; members that nobody knows, or that a newer rapt adds, count as
 * nothing. */
static void other_spellings_are_taken(void **state)
{
    (void)state;
    save_sealed(language('A', 0), RUN);
    json_t *root = saved_config();
    json_object_set_new(root, "comment", json_string("mine"));
    json_object_set_new(root, "rotary_base", json_integer(10000));
    char *text = json_dumps(root, JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    write_file("config.json", text, strlen(text));
    loads(true);
    free(text);
    json_decref(root);
}

/* Both have the same sizes and the same tokenizer. */
static void parameters_of_another_run(void **state)
{
    (void)state;
    save_sealed(language('A', 0), RUN + 1);
    char *config = file_text("config.json");
    save_sealed(language('A', 0), RUN);
    write_file("config.json", config, strlen(config));
    refused_with("model.safetensors", "model.safetensors: of another training run than config.json; ");
    free(config);
}

static void parameters_for_another_tokenizer(void **state)
{
    (void)state;
    save_sealed(language('A', 0), RUN);
    char *config = file_text("config.json");
    empty_folder(NULL);
    save_sealed(language('B', 0), RUN);
    write_file("config.json", config, strlen(config));
    refused_with("config.json", "config.json: \"tokenizer\" is ");
    free(config);
}

static void without_seals(void **state)
{
    (void)state;
    rapt_model *m = language('A', 0);
    save(m);
    loads(false);
    rapt_model_free(m);
    m = load();
    assert_int_equal(m->run, 0);
    rapt_model_free(m);
}

/* A copy of the configuration that no checksum protects is compared, but is no seal. */
static void without_checksums(void **state)
{
    (void)state;
    rapt_error err = {0};
    save_sealed(language('A', 0), RUN);
    char *bytes;
    size_t size;
    must(file_read(folder_in("model.safetensors"), 1 << 24, &bytes, &size, &err), &err);
    for (const char *key = SAFETENSORS_HASH_KEY; key; key = key[7] ? NULL : SAFETENSORS_HEADER_HASH_KEY) {
        char *digits = safetensors_hash_at(bytes, size, key);
        assert_non_null(digits);
        digits[-4] = 'X'; /* the end of the key's name: the reader doesn't know it */
    }
    write_file("model.safetensors", bytes, size);
    free(bytes);
    loads(false);
}

/* As of a program that writes the header anew with spaces, and keeps the metadata: the checksum's digits aren't where they were,
 * and the header isn't compared with them. */
static void with_a_header_written_anew(void **state)
{
    (void)state;
    rapt_error err = {0};
    save_sealed(language('A', 0), RUN);
    char *bytes;
    size_t size;
    uint64_t header;
    must(file_read(folder_in("model.safetensors"), 1 << 24, &bytes, &size, &err), &err);
    char *digits = safetensors_hash_at(bytes, size, SAFETENSORS_HEADER_HASH_KEY), *spaced = malloc(size + 1);
    assert_non_null(digits);
    assert_non_null(spaced);
    size_t before = (size_t)(digits - bytes) - 1; /* and the colon */
    memcpy(spaced, bytes, before);
    spaced[before] = ' ';
    memcpy(spaced + before + 1, bytes + before, size - before);
    memcpy(&header, spaced, sizeof header);
    header++;
    memcpy(spaced, &header, sizeof header);
    write_file("model.safetensors", spaced, size + 1);
    free(spaced);
    free(bytes);
    loads(false);
}

static void sealed_again(void)
{
    rapt_error err = {0};
    must(rapt_model_seal(folder_path, &err), &err);
    loads(true);
}

static void sealing(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_model *m = language('A', 0);
    save(m); /* as rapt 0.1 did */
    sealed_again();
    json_t *root = saved_config();
    json_object_set_new(root, "norm_eps", json_real(0.5));
    json_object_set_new(root, "comment", json_string("mine"));
    write_json(root);
    refused_with("config.json", "\"norm_eps\" is 0.5");
    sealed_again();
    json_t *after = saved_config();
    assert_true(json_equal(root, after));
    json_decref(after);
    json_decref(root);
    rapt_tokenizer *k = characters('B', MODEL_VOCAB);
    must(rapt_tokenizer_save(k, folder_in("tokenizer.json"), &err), &err);
    rapt_tokenizer_free(k);
    assert_null(rapt_model_load(folder_path, NULL, &err));
    sealed_again();
    rapt_model *loaded = load();
    assert_true(loaded->language.net->config.block.norm_eps == 0.5);
    assert_memory_equal(rapt_params_at(loaded->params, 0)->value.data, rapt_params_at(m->params, 0)->value.data, 64);
    rapt_model_free(loaded);
    rapt_model_free(m);
}

/* It blesses what was chosen, not what is broken. */
static void sealing_does_not_mend(void **state)
{
    (void)state;
    rapt_error err = {0};
    save_sealed(language('A', 0), RUN);
    json_t *root = saved_config();
    json_object_set_new(root, "heads", json_integer(5));
    write_json(root);
    json_decref(root);
    assert_int_equal(rapt_model_seal(folder_path, &err), RAPT_ERR_FORMAT);
    assert_non_null(strstr(err.message, "config.json: 5 heads do not divide d_model, 24"));
    err = (rapt_error){0};
    assert_int_equal(rapt_model_seal("/tmp/rapt-no-such-folder", &err), RAPT_ERR_NOT_FOUND);
    assert_string_equal(err.message, "/tmp/rapt-no-such-folder: there is no such model folder");
}

/* A checkpoint belongs to the model whose configuration it carries. */
static void checkpoints_of_other_models(void **state)
{
    (void)state;
    rapt_error err = {0};
    safetensors *file;
    uint64_t run;
    save_sealed(language('A', 0), RUN);
    rapt_model *m = load();
    const char *path = folder_in("model.safetensors");
    must(safetensors_open(path, &file, &err), &err);
    must(seal_run(file, path, &run, &err), &err);
    assert_true(run == RUN && m->run == RUN);
    must(seal_check_model(file, path, m, &err), &err);
    m->language.net->config.block.norm_eps = 0.25;
    assert_int_equal(seal_check_model(file, path, m, &err), RAPT_ERR_FORMAT);
    assert_non_null(strstr(err.message, ": of another model: \"norm_eps\" is 1e-5, and should be 0.25"));
    safetensors_close(file);
    rapt_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(changed_numbers_are_refused, empty_folder),
        cmocka_unit_test_teardown(values_are_shown, empty_folder),
        cmocka_unit_test_teardown(other_spellings_are_taken, empty_folder),
        cmocka_unit_test_teardown(parameters_of_another_run, empty_folder),
        cmocka_unit_test_teardown(parameters_for_another_tokenizer, empty_folder),
        cmocka_unit_test_teardown(without_seals, empty_folder),
        cmocka_unit_test_teardown(without_checksums, empty_folder),
        cmocka_unit_test_teardown(with_a_header_written_anew, empty_folder),
        cmocka_unit_test_teardown(sealing, empty_folder),
        cmocka_unit_test_teardown(sealing_does_not_mend, empty_folder),
        cmocka_unit_test_teardown(checkpoints_of_other_models, empty_folder),
    };
    return cmocka_run_group_tests(tests, folder_make, remove_folder);
}
