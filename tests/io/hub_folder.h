/* tests/io/hub_folder.h: a golden folder of a Hugging Face model with another config.json. For test_hub.c,
 * test_hub_translation.c and test_hub_encoder.c. */
#ifndef TESTS_IO_HUB_FOLDER_H
#define TESTS_IO_HUB_FOLDER_H

#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "folder.h"
#include "io/model_core.h"

/* The test's own folder, with the files of `golden`, a path that ends in "/", and `name` in it, but for config.json, whose "key"
 * becomes a value, or goes where that is "". */
static inline const char *hub_folder_with(const char *golden, const char *name, const char *key, const char *value)
{
    static const char *const others[] = {"model.safetensors", "pytorch_model.bin", "generation_config.json", "source.spm",
                                         "target.spm", "tokenizer.json", "vocab.json", "target_vocab.json", "vocab.txt",
                                         "tokenizer_config.json"};
    char path[1024], copied[FOLDER_ROOM];
    json_error_t where;
    snprintf(path, sizeof path, "%s%s/config.json", golden, name);
    json_t *config = json_load_file(path, 0, &where);
    if (*value)
        json_object_set_new(config, key, json_loads(value, JSON_DECODE_ANY, &where));
    else
        json_object_del(config, key);
    assert_int_equal(json_dump_file(config, folder_in("config.json"), 0), 0);
    json_decref(config);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(path, sizeof path, "%s%s/%s", golden, name, others[i]);
        snprintf(copied, sizeof copied, "%s", folder_in(others[i]));
        unlink(copied);
        if (access(path, F_OK) == 0)
            assert_int_equal(symlink(path, copied), 0);
    }
    return folder_path;
}

/* Saves a model, and compares the bits of what is loaded from there. */
static inline void hub_folder_comes_back(const rapt_model *m)
{
    rapt_error err = {0};
    assert_int_equal(rapt_model_save(m, folder_in("saved"), &err), RAPT_OK);
    rapt_model *again = rapt_model_load(folder_in("saved"), NULL, &err);
    assert_string_equal(err.message, "");
    assert_string_equal(again->family, m->family);
    assert_int_equal(rapt_params_count(again->params), rapt_params_count(m->params));
    for (size_t i = 0; i < rapt_params_count(m->params); i++) {
        const rapt_tensor *a = &rapt_params_at(m->params, i)->value, *b = &rapt_params_at(again->params, i)->value;
        assert_memory_equal(a->data, b->data, rapt_tensor_size(a) * sizeof *a->data);
    }
    rapt_model_free(again);
}

#endif
