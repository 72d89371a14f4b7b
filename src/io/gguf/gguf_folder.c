/* io/gguf/gguf_folder.c: the Hugging Face folder for which a GGUF file stands. gguf_architectures.c has the members of each
 * architecture; this file has what all architectures share. */
#include "io/gguf/gguf_folder.h"

#include "base/quote.h"
#include "text/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY = 128 };

/* ---- what all models have --------------------------------------------------------------------------------------- */

/* The vocabulary size is the number of rows of the embedding; there may be fewer tokens. */
static void gguf_put_vocabulary(gguf_config *c)
{
    const gguf_tensor *embedding = gguf_find_tensor(c->file, "token_embd.weight");
    const gguf_value *tokens = gguf_find(c->file, "tokenizer.ggml.tokens");
    gguf_config_size(c, "vocab_size", false);
    if (!embedding || embedding->ndim != 2)
        gguf_config_refuse(c, "tensor \"token_embd.weight\" is missing, or no matrix");
    else if (tokens && tokens->count > embedding->shape[0])
        gguf_config_refuse(c, "there are more tokens than rows of \"token_embd.weight\"");
    else
        gguf_config_put(c, "vocab_size", json_integer((json_int_t)embedding->shape[0]));
}

static void gguf_put_token(gguf_config *c, const gguf_vocab *v, const char *member, const char *key)
{
    int64_t id = -1;
    if (!c->code)
        c->code = gguf_vocab_special(v, key, &id, c->err);
    gguf_config_put(c, member, id >= 0 ? json_integer((json_int_t)id) : json_null()); /* overrides a default of the class */
}

static bool gguf_is_end_of_turn(const gguf_vocab *v, size_t id)
{
    static const char *const names[] = {"<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>"};
    const gguf_kind kind = gguf_vocab_kind(v, id);
    for (size_t i = 0; (kind == GGUF_CONTROL || kind == GGUF_USER_DEFINED) && i < sizeof names / sizeof *names; i++)
        if (v->tokens[id].size == strlen(names[i]) && memcmp(v->tokens[id].data, names[i], v->tokens[id].size) == 0)
            return true;
    return false;
}

static void gguf_add_end(gguf_config *c, const gguf_vocab *v, json_t *ends, int64_t id)
{
    bool there = id < 0;
    for (size_t i = 0; i < json_array_size(ends); i++)
        there = there || json_integer_value(json_array_get(ends, i)) == id;
    if (!there && !c->code && json_array_append_new(ends, json_integer((json_int_t)id)) != 0)
        c->code = gguf_vocab_no_memory(v, c->err);
}

/* Files name the end of text, and maybe the ends of a turn and of a message. Other ends of chats, which generation_config.json
 * would list, are recognized by their texts, as in llama.cpp. */
static void gguf_put_ends(gguf_config *c, const gguf_vocab *v)
{
    static const char *const keys[] = {"eos_token_id", "eot_token_id", "eom_token_id"};
    json_t *ends = json_array();
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !c->code; i++) {
        int64_t id = -1;
        c->code = gguf_vocab_special(v, keys[i], &id, c->err);
        gguf_add_end(c, v, ends, id);
    }
    for (size_t i = 0; i < v->count && !c->code; i++)
        if (gguf_is_end_of_turn(v, i))
            gguf_add_end(c, v, ends, (int64_t)i);
    if (json_array_size(ends) == 1)
        gguf_config_put(c, "eos_token_id", json_incref(json_array_get(ends, 0)));
    else if (json_array_size(ends) > 1)
        gguf_config_put(c, "eos_token_id", json_incref(ends));
    json_decref(ends);
}

static void gguf_put_tokens(gguf_config *c)
{
    gguf_vocab v;
    c->code = gguf_vocab_open(&v, c->file, c->err);
    if (!c->code) {
        gguf_put_token(c, &v, "bos_token_id", "bos_token_id");
        gguf_put_token(c, &v, "pad_token_id", "padding_token_id");
        gguf_put_ends(c, &v);
    }
    gguf_vocab_free(&v);
}

/* Refuses keys of the architecture that were not read, because they could change what the model computes. */
static void gguf_refuse_others(gguf_config *c)
{
    static const char *const without_effect[] = {"vocab_size", "rope.scaling.finetuned", "expert_count", "expert_used_count"};
    const size_t length = strlen(c->of->name);
    for (size_t i = 0; i < sizeof without_effect / sizeof *without_effect && !c->code; i++) {
        const gguf_value *value = gguf_config_value(c, without_effect[i]);
        int64_t experts = 0;
        if (value && i >= 2 && (value->is_array || !gguf_whole(value, 0, &experts) || experts != 0))
            gguf_config_refuse(c, "\"expert_count\" is not 0: rapt does not run mixtures of experts");
    }
    for (size_t i = 0; i < c->file->value_count && !c->code; i++) {
        const gguf_text *key = &c->file->values[i].key;
        char name[KEY];
        const bool own = key->size > length && memcmp(key->data, c->of->name, length) == 0 && key->data[length] == '.';
        if (!own || c->seen[i])
            continue;
        snprintf(name, sizeof name, "%.*s", key->size < KEY ? (int)key->size : KEY - 1, key->data);
        c->code = rapt_fail(c->err, RAPT_ERR_FORMAT, "%s: rapt does not know what \"%s\" changes", c->file->path,
                            quote(name).text);
    }
}

static void gguf_read_architecture(gguf_config *c)
{
    gguf_config_put(c, "model_type", json_string(c->of->family->type));
    gguf_config_put(c, "architectures", json_pack("[s]", c->of->family->architecture));
    gguf_put_vocabulary(c);
    if (!c->code)
        c->of->read(c);
    if (!c->code)
        gguf_put_tokens(c);
    gguf_refuse_others(c);
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static const gguf_architecture *gguf_find_architecture(const gguf_file *f, rapt_error *err)
{
    char list[160], name[64] = "";
    const gguf_value *value = gguf_find(f, "general.architecture");
    const bool is_text = value && value->type == GGUF_TEXT && !value->is_array;
    const gguf_text none = {"", 0}, text = is_text ? gguf_text_first(value) : none;
    snprintf(name, sizeof name, "%.*s", text.size < sizeof name ? (int)text.size : (int)sizeof name - 1, text.data);
    const gguf_architecture *a = gguf_architecture_of(name);
    gguf_architecture_list(list, sizeof list);
    if (!is_text)
        rapt_fail(err, RAPT_ERR_FORMAT, "%s: there is no \"general.architecture\"", f->path);
    else if (!a)
        rapt_fail(err, RAPT_ERR_VALUE, "%s: a model of architecture \"%s\"; of GGUF files rapt runs %s", f->path,
                  quote(name).text, list);
    return is_text ? a : NULL;
}

static json_t *gguf_make_config(const gguf_file *f, const place_table **places, rapt_error *err)
{
    const gguf_architecture *a = gguf_find_architecture(f, err);
    if (!a)
        return NULL;
    gguf_config c = {.file = f, .of = a, .root = json_object(), .err = err};
    c.seen = calloc(f->value_count + 1, sizeof *c.seen);
    *places = a->places;
    if (c.root && c.seen)
        gguf_read_architecture(&c);
    else
        c.code = rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a configuration", f->path);
    free(c.seen);
    if (!c.code)
        return c.root;
    json_decref(c.root);
    return NULL;
}

json_t *gguf_folder_config(const char *path, const place_table **places, rapt_error *err)
{
    gguf_file *f;
    *places = NULL;
    json_t *root = gguf_open(path, &f, err) ? NULL : gguf_make_config(f, places, err);
    gguf_close(f);
    return root;
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

static json_t *gguf_config_of_file(const gguf_file *f, rapt_error *err)
{
    const place_table *places;
    return gguf_folder_config(f->path, &places, err);
}

static const struct {
    const char *name;
    json_t *(*make)(const gguf_file *f, rapt_error *err);
} FILES[] = {{"config.json", gguf_config_of_file},
             {"tokenizer.json", gguf_tokenizer_json},
             {"tokenizer_config.json", gguf_tokenizer_settings}};

static rapt_code gguf_write_text(const char *path, size_t file, char **text, rapt_error *err)
{
    rapt_error why = {0};
    gguf_file *f;
    rapt_code code = gguf_open(path, &f, &why);
    json_t *root = code ? NULL : FILES[file].make(f, &why);
    *text = root ? json_text(root, JSON_INDENT(2)) : NULL;
    if (root && !*text)
        rapt_fail(&why, RAPT_ERR_MEMORY, "%s: out of memory for JSON", path);
    json_decref(root);
    gguf_close(f);
    return why.code ? rapt_fail(err, why.code, "%s", why.message) : RAPT_OK;
}

rapt_code gguf_folder_text(const char *path, const char *name, char **text, rapt_error *err)
{
    *text = NULL;
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++)
        if (strcmp(FILES[i].name, name) == 0)
            return gguf_write_text(path, i, text, err);
    return RAPT_OK;
}
