/* io/hub/hub_special.c: reads special tokens from tokenizer_config.json. */
#include "io/hub/hub_parts.h"

#include "base/file.h"
#include "text/folder_json.h"
#include "text/tokenizer.h"

#include <stdlib.h>

/* The id of a token that is given as a string, or as an object with its content; -1: there is none. */
static int32_t special_id(const rapt_tokenizer *k, const json_t *settings, const char *name)
{
    const json_t *token = json_object_get(settings, name);
    const char *text = json_string_value(json_is_object(token) ? json_object_get(token, "content") : token);
    return text ? rapt_tokenizer_special(k, text) : -1;
}

static void take_end_of_turn(rapt_language_model *l, size_t vocab, const json_t *settings)
{
    const int32_t id = special_id(l->tokenizer, settings, "eos_token");
    for (size_t i = 0; i < l->end_of_text_count; i++)
        if (l->end_of_text[i] == id)
            return;
    l->has_end_of_turn = id >= 0 && (size_t)id < vocab;
    l->end_of_turn = l->has_end_of_turn ? id : 0;
}

/* Older folders have the tokens in special_tokens_map.json. */
rapt_code hub_special_end_of_turn(rapt_language_model *l, size_t vocab, const model_source *from, rapt_error *err)
{
    json_t *settings = NULL, *map = NULL;
    if (from->places)
        return RAPT_OK;
    rapt_code code = folder_json_read(from->folder, "tokenizer_config.json", &settings, err);
    if (!code && !json_object_get(settings, "eos_token"))
        code = folder_json_read(from->folder, "special_tokens_map.json", &map, err);
    if (!code)
        take_end_of_turn(l, vocab, map ? map : settings);
    json_decref(settings);
    json_decref(map);
    return code;
}

/* Whether a flag is set that differs from what is done. */
static bool is_unheeded(const json_t *settings, const char *name, bool done)
{
    const json_t *flag = json_object_get(settings, name);
    return json_is_boolean(flag) && json_is_true(flag) != done;
}

static rapt_code special_compare(const rapt_tokenizer *k, const json_t *settings, bool unheeded[2], rapt_error *err)
{
    int32_t *ids = NULL;
    size_t count = 0;
    rapt_code code = tokenizer_encode_bytes(k, "a", 1, true, &ids, &count, err);
    if (code)
        return code;
    const int32_t bos = special_id(k, settings, "bos_token"), eos = special_id(k, settings, "eos_token");
    unheeded[0] = is_unheeded(settings, "add_bos_token", count > 0 && bos >= 0 && ids[0] == bos);
    unheeded[1] = is_unheeded(settings, "add_eos_token", count > 0 && eos >= 0 && ids[count - 1] == eos);
    free(ids);
    return RAPT_OK;
}

/* Without tokenizer.json the flags are heeded, or refused (text/layout). */
rapt_code hub_special_unheeded(const rapt_tokenizer *k, const model_source *from, bool unheeded[2], rapt_error *err)
{
    bool there = false;
    char *path = NULL;
    json_t *settings = NULL;
    if (from->places)
        return RAPT_OK;
    rapt_code code = file_path(from->folder, "tokenizer.json", &path, err);
    code = code ? code : file_is_there(path, &there, err);
    free(path);
    if (code || !there)
        return code;
    code = folder_json_read(from->folder, "tokenizer_config.json", &settings, err);
    code = code ? code : special_compare(k, settings, unheeded, err);
    json_decref(settings);
    return code;
}
