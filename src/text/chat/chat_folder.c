/* text/chat/chat_folder.c: the chat template of a Hugging Face folder, and its special tokens, from the files from which
 * transformers takes them. */
#include "text/chat/chat_template.h"

#include "base/chars.h"
#include "base/file.h"
#include "text/folder_json.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 64 << 20 };

static const char *const TOKENS[] = {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};
enum { TOKEN_COUNT = sizeof TOKENS / sizeof *TOKENS };

/* A file of the folder and its name; NULL data: there is none. */
typedef struct chat_file {
    char *path, *data;
    size_t size;
} chat_file;

static void chat_file_free(chat_file *f)
{
    free(f->path);
    free(f->data);
}

static rapt_code chat_file_read(const char *folder, const char *name, chat_file *f, rapt_error *err)
{
    bool there;
    *f = (chat_file){0};
    rapt_code code = file_path(folder, name, &f->path, err);
    code = code ? code : file_is_there(f->path, &there, err);
    return code || !there ? code : file_read_regular(f->path, MOST_BYTES, &f->data, &f->size, err);
}

/* ---- special tokens --------------------------------------------------------------------------------------------- */

/* The text of a token that is written as a string, or as an object with its content. */
static const json_t *token_text(const json_t *token)
{
    const json_t *text = json_is_object(token) ? json_object_get(token, "content") : token;
    return json_is_string(text) ? text : NULL;
}

/* Whether a class of transformers adds no special tokens itself. A class that does could have tokens that the files leave out. */
static bool class_is_plain(const json_t *config)
{
    const char *name = json_string_value(json_object_get(config, "tokenizer_class"));
    return !name || strcmp(name, "PreTrainedTokenizerFast") == 0 || strcmp(name, "TokenizersBackend") == 0;
}

static rapt_code chat_put_token(json_t *tokens, const char *name, const json_t *token, rapt_error *err)
{
    const json_t *text = token_text(token);
    bool ok = !text || !json_object_set_new(tokens, name, json_string(json_string_value(text)));
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a chat template");
}

/* Tokens that only this model has: members called "..._token", and members of "extra_special_tokens". */
static rapt_code model_tokens(const json_t *config, json_t *tokens, rapt_error *err)
{
    json_t *extra = json_object_get(config, "extra_special_tokens"), *token;
    const char *name;
    rapt_code code = RAPT_OK;
    json_object_foreach((json_t *)config, name, token) {
        size_t length = strlen(name);
        if (!code && length > 6 && strcmp(name + length - 6, "_token") == 0)
            code = chat_put_token(tokens, name, token, err);
    }
    json_object_foreach(extra, name, token)
        code = code ? code : chat_put_token(tokens, name, token, err);
    return code;
}

static rapt_code chat_tokens(const char *folder, const json_t *config, const json_t *map, const chat_file *template,
                             json_t *tokens, rapt_error *err)
{
    for (size_t i = 0; i < TOKEN_COUNT; i++) {
        const json_t *later = json_object_get(map, TOKENS[i]), *token = later ? later : json_object_get(config, TOKENS[i]);
        const json_t *text = token_text(token);
        if (!token && !class_is_plain(config) && chars_find(template->data, template->size, TOKENS[i], strlen(TOKENS[i])))
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s/tokenizer_config.json: the chat template uses \"%s\", which is not there; "
                                                   "what its tokenizer_class has for it is not known here", folder, TOKENS[i]);
        if (token && !text && !json_is_null(token))
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s/tokenizer_config.json: \"%s\" is no text", folder, TOKENS[i]);
        rapt_code code = chat_put_token(tokens, TOKENS[i], token, err);
        if (code)
            return code;
    }
    return RAPT_OK;
}

/* ---- the template ----------------------------------------------------------------------------------------------- */

/* "chat_template" of tokenizer_config.json: a text, or a list of {"name", "template"}. NULL: none. */
static const json_t *configured_template(const json_t *given)
{
    for (size_t i = 0; i < json_array_size(given); i++) {
        const json_t *one = json_array_get(given, i);
        const char *name = json_string_value(json_object_get(one, "name"));
        if (name && strcmp(name, "default") == 0)
            return json_object_get(one, "template");
    }
    return json_is_string(given) ? given : NULL;
}

static rapt_code chat_template_find(const char *folder, const json_t *config, chat_file *f, rapt_error *err)
{
    rapt_code code = chat_file_read(folder, "chat_template.jinja", f, err);
    const json_t *all = json_object_get(config, "chat_template"), *given = configured_template(all);
    if (code || f->data)
        return code;
    if (!json_is_string(given) && !json_is_null(all) && all)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s/tokenizer_config.json: \"chat_template\" is neither a text nor a list with a "
                         "template called \"default\"", folder);
    if (!json_is_string(given))
        return rapt_fail(err, RAPT_ERR_NOT_FOUND,
                         "%s: no chat template: neither chat_template.jinja nor \"chat_template\" in tokenizer_config.json; a "
                         "model without one continues texts: `rapt generate`", folder);
    free(f->path);
    code = file_path(folder, "tokenizer_config.json: chat_template", &f->path, err);
    f->size = json_string_length(given);
    f->data = code ? NULL : malloc(f->size + 1);
    if (!f->data)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a chat template");
    memcpy(f->data, json_string_value(given), f->size + 1);
    return RAPT_OK;
}

rapt_chat_template *rapt_chat_template_load(const char *folder, rapt_error *err)
{
    rapt_error why = {0};
    json_t *config = NULL, *map = NULL;
    chat_file template = {0};
    rapt_chat_template *chat = calloc(1, sizeof *chat);
    if (!chat || !(chat->tokens = json_object()))
        rapt_fail(&why, RAPT_ERR_MEMORY, "out of memory for a chat template");
    rapt_code code = why.code ? why.code : folder_json_read(folder, "tokenizer_config.json", &config, &why);
    if (!code && !json_object_get(config, "added_tokens_decoder")) /* files of old versions */
        code = folder_json_read(folder, "special_tokens_map.json", &map, &why);
    code = code ? code : chat_template_find(folder, config, &template, &why);
    code = code ? code : model_tokens(config, chat->tokens, &why);
    code = code ? code : chat_tokens(folder, config, map, &template, chat->tokens, &why);
    if (!code)
        chat->jinja = jinja_template_new(template.path, template.data, template.size, &why);
    chat_file_free(&template);
    json_decref(config);
    json_decref(map);
    if (!why.code)
        return chat;
    rapt_chat_template_free(chat);
    rapt_fail(err, why.code, "%s", why.message);
    return NULL;
}
