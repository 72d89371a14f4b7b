/* tests/decode/policy_case.h: what generate() of transformers finds with the small models of tests/golden, in files that
 * tools/make_hub_search.py and tools/make_hub_tokens.py write. To be included after cmocka.h, with _GNU_SOURCE. */
#ifndef TESTS_DECODE_POLICY_CASE_H
#define TESTS_DECODE_POLICY_CASE_H

#include <jansson.h>
#include <string.h>

#include "folder.h"
#include "io/model_core.h"
#include "nn/pack.h"

#define GOLDEN RAPT_SOURCE_DIR "/tests/golden/"
enum { MAX_TOKENS = 64 };

/* A rapt_stop_fn. */
static inline bool policy_never(void *context)
{
    (void)context;
    return false;
}

/* The cases of a golden file, `least` or more. The caller gives them back with json_decref. */
static inline json_t *policy_cases(const char *file, size_t least)
{
    char path[1024];
    json_error_t where;
    snprintf(path, sizeof path, GOLDEN "%s", file);
    json_t *root = json_load_file(path, 0, &where), *cases = json_incref(json_object_get(root, "cases"));
    assert_true(json_array_size(cases) >= least);
    json_decref(root);
    return cases;
}

static inline void policy_link(const char *folder, const char *file, const char *as)
{
    char path[1024], link[FOLDER_ROOM];
    snprintf(path, sizeof path, GOLDEN "%s/%s", folder, file);
    snprintf(link, sizeof link, "%s", folder_in(as));
    unlink(link);
    if (file_exists(path))
        assert_int_equal(symlink(path, link), 0);
}

/* The model of a golden folder, with one of its configurations and other settings of generation. */
static inline rapt_model *policy_model(const char *folder, const char *config, const json_t *settings)
{
    static const char *const files[] = {"model.safetensors", "pytorch_model.bin", "tokenizer.json", "source.spm", "target.spm",
                                        "vocab.json", "target_vocab.json"};
    rapt_error err = {0};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        policy_link(folder, files[i], files[i]);
    policy_link(folder, config, "config.json");
    assert_int_equal(json_dump_file(settings, folder_in("generation_config.json"), 0), 0);
    rapt_model *m = rapt_model_load(folder_path, NULL, &err);
    assert_string_equal(err.message, "");
    if (json_is_null(json_object_get(settings, "eos_token_id"))) /* where config.json still names one */
        m->language.end_of_text_count = 0;
    return m;
}

typedef struct policy_case {
    rapt_model *m;
    int32_t prompt[MAX_TOKENS];
    size_t count, max_tokens;
    const json_t *ids, *scores; /* of each hypothesis */
} policy_case;

static inline policy_case policy_read(const json_t *json, rapt_model *m)
{
    const json_t *prompt = json_object_get(json, "prompt");
    policy_case c = {.m = m, .count = json_array_size(prompt), .ids = json_object_get(json, "ids"),
                     .scores = json_object_get(json, "scores"),
                     .max_tokens = (size_t)json_integer_value(json_object_get(json, "max_new_tokens"))};
    assert_true(c.count <= MAX_TOKENS);
    for (size_t i = 0; i < c.count; i++)
        c.prompt[i] = (int32_t)json_integer_value(json_array_get(prompt, i));
    return c;
}

static inline void policy_same_ids(const json_t *json, const json_t *ids, const int32_t *tokens, size_t count)
{
    bool same = json_array_size(ids) == count;
    for (size_t i = 0; i < count && same; i++)
        same = json_integer_value(json_array_get(ids, i)) == tokens[i];
    if (!same)
        fail_msg("%s, %s: other tokens", json_string_value(json_object_get(json, "model")),
                 json_string_value(json_object_get(json, "case")));
}

#endif
