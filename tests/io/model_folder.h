/* tests/io/model_folder.h: small models in a folder of their own, for the tests of model folders. It checks nothing but
 * that its own steps succeed. Needs _GNU_SOURCE. */
#ifndef TESTS_IO_MODEL_FOLDER_H
#define TESTS_IO_MODEL_FOLDER_H

#include "nn/lm_model.h"

#include "base/file.h"
#include "folder.h"
#include "io/model_core.h"
#include "options.h"

/* After each test. */
static inline int empty_folder(void **state)
{
    static const char *const files[] = {"config.json", "model.safetensors", "source.tokenizer.json", "target.tokenizer.json",
                                        "tokenizer.json"};
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(folder_in(files[i]));
    return 0;
}

static inline int remove_folder(void **state)
{
    empty_folder(state);
    return folder_remove_empty(state);
}

static inline void must(rapt_code code, const rapt_error *err)
{
    if (code)
        fail_msg("%s", err->message);
}

/* `count` characters from `first` on, of one byte each. */
static inline rapt_tokenizer *characters(char first, size_t count)
{
    char text[128];
    rapt_error err = {0};
    for (size_t i = 0; i < count; i++)
        text[i] = (char)(first + (char)i);
    rapt_tokenizer *k = rapt_tokenizer_train_characters(text, count, &err);
    must(err.code, &err);
    assert_int_equal(rapt_tokenizer_size(k), count);
    return k;
}

static inline rapt_tokenizer *words(const char *line)
{
    rapt_error err = {0};
    rapt_tokenizer *k = rapt_tokenizer_train_words(&line, 1, &TRAIN_WORDS(.lowercase = true), &err);
    must(err.code, &err);
    return k;
}

/* Takes over the tokenizer. */
static inline rapt_model *language_model(const rapt_lm_config *config, rapt_tokenizer *k)
{
    rapt_model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->task = RAPT_TASK_LANGUAGE_MODEL;
    m->language.net = lm_model(config);
    m->params = m->language.net->params;
    m->language.tokenizer = k;
    return m;
}

/* Translates words "a b c" to "d e". */
static inline rapt_model *translation_model(void)
{
    rapt_error err = {0};
    rapt_transformer_config c = {.source_vocab = 7, .target_vocab = 6, .layers = 1, .max_positions = 8, .embedding_std = 1,
                                 .block = {.d_model = 4, .heads = 2, .ffn = 6, .bias = true}};
    rapt_model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->translation.net = rapt_transformer_new(&c, 1, &err);
    must(err.code, &err);
    m->params = m->translation.net->params;
    m->translation.source = words("a b c");
    m->translation.target = words("d e");
    m->translation.special = RAPT_SPECIAL_IDS;
    m->translation.max_len = 6;
    return m;
}

static inline void save(const rapt_model *m)
{
    rapt_error err = {0};
    must(rapt_model_save_config(m, folder_path, &err), &err);
    must(rapt_params_save(m->params, folder_in("model.safetensors"), &err), &err);
}

static inline rapt_model *load(void)
{
    rapt_error err = {0};
    rapt_model *m = rapt_model_load(folder_path, NULL, &err);
    must(err.code, &err);
    assert_non_null(m);
    return m;
}

/* The bytes of a file of the folder_path, as a text; free() it. */
static inline char *file_text(const char *name)
{
    char *text;
    size_t size;
    rapt_error err = {0};
    must(file_read(folder_in(name), 1 << 24, &text, &size, &err), &err);
    return text;
}

static inline void write_file(const char *name, const char *bytes, size_t size)
{
    FILE *file = fopen(folder_in(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

#endif
