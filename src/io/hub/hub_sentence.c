/* io/hub/hub_sentence.c: reads the settings of sentence-transformers, which defines the files and keys. */
#include "io/hub/hub_sentence.h"

#include "base/chars.h"
#include "base/file.h"
#include "base/quote.h"
#include "io/hub/hub_family.h"
#include "io/json_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE ((size_t)1 << 20)

/* A file of the folder, or of a folder in it. */
typedef struct sentence_file {
    char *path;
    json_t *root; /* NULL: the file is not there */
} sentence_file;

static rapt_code sentence_open(sentence_file *f, const char *folder, const char *name, rapt_error *err)
{
    bool there = false;
    *f = (sentence_file){0};
    rapt_code code = file_path(folder, name, &f->path, err);
    code = code ? code : file_is_there(f->path, &there, err);
    f->root = !code && there ? json_file_read(f->path, MAX_FILE, err) : NULL;
    return code || !there || f->root ? code : RAPT_ERR_FORMAT;
}

/* Refuses an array, which would look like an object without keys. */
static rapt_code sentence_open_object(sentence_file *f, const char *folder, const char *name, rapt_error *err)
{
    rapt_code code = sentence_open(f, folder, name, err);
    if (code || !f->root || json_is_object(f->root))
        return code;
    return rapt_fail(err, RAPT_ERR_FORMAT, "%s: it is an array, not an object", f->path);
}

static void sentence_close(sentence_file *f)
{
    json_decref(f->root);
    free(f->path);
}

/* ---- pooling -------------------------------------------------------------------------------------------------- */

/* The one kind that is on: as a word, or as a flag for each kind. */
static void read_pooling_kind(hub_config *c, rapt_pooling *kind)
{
    static const struct {
        const char *word, *flag;
        rapt_pooling kind; /* AS_STORED: rapt does not compute it */
    } kinds[] = {{"mean", "pooling_mode_mean_tokens", RAPT_POOLING_MEAN}, {"cls", "pooling_mode_cls_token", RAPT_POOLING_CLS},
                 {"max", "pooling_mode_max_tokens", RAPT_POOLING_MAX},
                 {"mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens", RAPT_POOLING_AS_STORED},
                 {"weightedmean", "pooling_mode_weightedmean_tokens", RAPT_POOLING_AS_STORED},
                 {"lasttoken", "pooling_mode_lasttoken", RAPT_POOLING_AS_STORED}};
    const char *word = hub_word(c, "pooling_mode", ""), *key = *word ? "pooling_mode" : "pooling_mode_mean_tokens";
    size_t on = 0;
    *kind = RAPT_POOLING_AS_STORED;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const bool flag = hub_flag(c, kinds[i].flag, kinds[i].kind == RAPT_POOLING_MEAN);
        if (*word ? strcmp(word, kinds[i].word) != 0 : !flag)
            continue;
        key = *word ? key : kinds[i].flag;
        *kind = kinds[i].kind;
        on++;
    }
    if (on != 1 || *kind == RAPT_POOLING_AS_STORED)
        hub_refuse(c, key, "rapt computes one kind of pooling: mean, cls or max");
}

/* Whether a file has pooling settings: an empty one has none, although each key has a default. */
static bool says_pooling(const json_t *root)
{
    void *at;
    const char *key;
    json_t *value;
    json_object_foreach_safe((json_t *)root, at, key, value) {
        if (strncmp(key, "pooling_mode", 12) == 0 || strstr(key, "embedding_dimension"))
            return true;
    }
    return false;
}

static rapt_code read_pooling(rapt_encoder_model *e, size_t d, const sentence_file *f, rapt_error *err)
{
    hub_config c = {.root = f->root, .path = f->path, .err = err};
    static const char *const sizes[] = {"word_embedding_dimension", "embedding_dimension"};
    if (!f->root)
        return rapt_fail(err, RAPT_ERR_NOT_FOUND, "%s is missing, which modules.json asks for", f->path);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (hub_size(&c, sizes[i], d) != d)
            hub_refuse(&c, sizes[i], "the model has vectors of another size");
    read_pooling_kind(&c, &e->pooling);
    e->without_prompt = !hub_flag(&c, "include_prompt", true);
    hub_refuse_others(&c);
    if (!c.code && !says_pooling(f->root))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: neither the size of vectors nor a kind of pooling is there", f->path);
    return c.code;
}

/* ---- modules -------------------------------------------------------------------------------------------------- */

/* A module's class without those it is in: "sentence_transformers.models.Pooling". */
static const char *module_class(const json_t *module)
{
    const char *type = json_string_value(json_object_get(module, "type")), *dot = type ? strrchr(type, '.') : NULL;
    return dot ? dot + 1 : type ? type : "";
}

/* Whether a module's files are in a subfolder (`own`), or in the folder itself, "". */
static bool module_has_folder(const json_t *module, bool own)
{
    const char *path = json_string_value(json_object_get(module, "path"));
    return path && (own ? *path && *path != '.' && !strpbrk(path, "/\\") : *path == '\0');
}

static rapt_code read_pooling_module(rapt_encoder_model *e, size_t d, const json_t *module, const char *folder, rapt_error *err)
{
    char name[256];
    sentence_file f;
    snprintf(name, sizeof name, "%.200s/config.json", json_string_value(json_object_get(module, "path")));
    rapt_code code = sentence_open_object(&f, folder, name, err);
    code = code ? code : read_pooling(e, d, &f, err);
    sentence_close(&f);
    return code;
}

/* The encoder, pooling, and perhaps the division by the norm, in this order. */
static rapt_code read_modules(rapt_encoder_model *e, size_t d, const sentence_file *f, const char *folder, rapt_error *err)
{
    static const char *const order[] = {"Transformer", "Pooling", "Normalize"};
    const size_t count = json_array_size(f->root);
    for (size_t i = 0; i < count; i++) {
        const json_t *module = json_array_get(f->root, i);
        const char *class = module_class(module);
        if (i >= sizeof order / sizeof *order || strcmp(class, order[i]) != 0)
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s: module %zu is \"%s\"; rapt computes a Transformer, a Pooling and a "
                             "Normalize, one after the other", f->path, i, quote(class).text);
        if (i < 2 && !module_has_folder(module, i == 1))
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s: the \"path\" of module %zu is not %s", f->path, i,
                             i == 0 ? "empty: rapt reads a model from the folder itself" : "the name of a folder");
    }
    if (count < 2)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: there are not at least two modules, a Transformer and a Pooling", f->path);
    e->normalize = count > 2;
    return read_pooling_module(e, d, json_array_get(f->root, 1), folder, err);
}

/* ---- the rest ------------------------------------------------------------------------------------------------- */

/* What the Transformer computes, as newer folders say. */
typedef struct sentence_work {
    const char *task, *field, *output; /* of transformers; a field of what its model returns; the name that this gets */
} sentence_work;
static const sentence_work VECTORS = {"feature-extraction", "last_hidden_state", "token_embeddings"};
static const sentence_work SCORES = {"sequence-classification", "logits", "scores"};

static void check_output(hub_config *c, const sentence_work *w)
{
    const json_t *config = hub_value(c, "modality_config");
    json_t *usual = json_pack("{s:{s:s, s:s}}", "text", "method", "forward", "method_output_name", w->field);
    if (strcmp(hub_word(c, "transformer_task", w->task), w->task) != 0)
        hub_refuse(c, "transformer_task", "config.json names a class of another task");
    if (config && usual && !json_equal(config, usual))
        hub_refuse(c, "modality_config", "rapt computes another output of the model");
    if (strcmp(hub_word(c, "module_output_name", w->output), w->output) != 0)
        hub_refuse(c, "module_output_name", "rapt computes another output of the model");
    if (!usual && !c->code)
        c->code = rapt_fail(c->err, RAPT_ERR_MEMORY, "%s: out of memory for JSON", c->path);
    json_decref(usual);
}

/* If this file has a max length, it overrides all others, except the number of the model's positions. */
static rapt_code read_sentence_limit(rapt_encoder_model *e, size_t positions, const sentence_work *w,
                                     const sentence_file *f, rapt_error *err)
{
    static const char *const arguments[] = {"model_args", "tokenizer_args", "config_args"};
    hub_config c = {.root = f->root, .path = f->path, .err = err};
    if (hub_value(&c, "max_seq_length")) {
        const size_t most = hub_size(&c, "max_seq_length", positions);
        e->max_len = most < positions ? most : positions;
    }
    hub_flag_is(&c, "do_lower_case", false, false);
    check_output(&c, w);
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
        if (json_object_size(hub_value(&c, arguments[i])))
            hub_refuse(&c, arguments[i], "rapt does not know what they change");
    hub_refuse_others(&c);
    return c.code;
}

static rapt_code keep_prompt(rapt_encoder_model *e, const char *name, const json_t *text, const char *path, rapt_error *err)
{
    if (!json_is_string(text) || strlen(json_string_value(text)) != json_string_length(text))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: prompt \"%s\" is no text", path, quote(name).text);
    if (e->prompt_count == RAPT_PROMPT_MAX)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: more than %d prompts", path, RAPT_PROMPT_MAX);
    rapt_prompt *p = &e->prompts[e->prompt_count++];
    p->name = chars_copy(name);
    p->text = chars_copy(json_string_value(text));
    return p->name && p->text ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a prompt", path);
}

static rapt_code read_prompts(rapt_encoder_model *e, const sentence_file *f, rapt_error *err)
{
    hub_config c = {.root = f->root, .path = f->path, .err = err};
    const json_t *prompts = hub_value(&c, "prompts");
    const char *chosen = hub_word(&c, "default_prompt_name", NULL), *name;
    json_t *text;
    rapt_code code = RAPT_OK;
    json_object_foreach((json_t *)prompts, name, text)
    {
        code = code ? code : keep_prompt(e, name, text, f->path, err);
    }
    for (size_t i = 0; i < e->prompt_count && chosen && !code; i++)
        if (strcmp(e->prompts[i].name, chosen) == 0)
            e->prompt = e->prompts[i].text;
    if (chosen && !e->prompt && !code)
        hub_refuse(&c, "default_prompt_name", "it is not among \"prompts\"");
    if (strcmp(hub_word(&c, "model_type", "SentenceTransformer"), "SentenceTransformer") != 0)
        hub_refuse(&c, "model_type", "of such folders rapt runs SentenceTransformer");
    hub_ignore(&c, (const char *const[]){"__version__", "similarity_fn_name", NULL});
    hub_refuse_others(&c);
    return code ? code : c.code;
}

rapt_code hub_sentence_load(rapt_encoder_model *e, const rapt_transformer_config *net, const char *folder, rapt_error *err)
{
    sentence_file modules, limit = {0}, prompts = {0};
    rapt_code code = sentence_open(&modules, folder, "modules.json", err);
    if (!code && modules.root) {
        code = read_modules(e, net->block.d_model, &modules, folder, err);
        code = code ? code : sentence_open_object(&limit, folder, "sentence_bert_config.json", err);
        code = code || !limit.root ? code : read_sentence_limit(e, net->max_positions, &VECTORS, &limit, err);
        code = code ? code : sentence_open_object(&prompts, folder, "config_sentence_transformers.json", err);
        code = code || !prompts.root ? code : read_prompts(e, &prompts, err);
    }
    sentence_close(&modules);
    sentence_close(&limit);
    sentence_close(&prompts);
    return code;
}

/* ---- cross-encoders ------------------------------------------------------------------------------------------- */

static rapt_code read_pair_modules(const sentence_file *f, rapt_error *err)
{
    const json_t *module = json_array_get(f->root, 0);
    if (json_array_size(f->root) != 1 || strcmp(module_class(module), "Transformer") != 0 || !module_has_folder(module, false))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: of a cross-encoder rapt computes one module, a Transformer in the folder "
                         "itself", f->path);
    return RAPT_OK;
}

/* A prompt would be put before both texts by default, if one is named. */
static rapt_code read_pair_settings(rapt_encoder_model *e, const sentence_file *f, rapt_error *err)
{
    hub_config c = {.root = f->root, .path = f->path, .err = err};
    hub_read_activation(&c, "activation_fn", &e->sigmoid);
    if (hub_value(&c, "default_prompt_name"))
        hub_refuse(&c, "default_prompt_name", "rapt puts no prompts before pairs");
    if (strcmp(hub_word(&c, "model_type", "CrossEncoder"), "CrossEncoder") != 0)
        hub_refuse(&c, "model_type", "config.json names a class of another task");
    hub_ignore(&c, (const char *const[]){"__version__", "prompts", "similarity_fn_name", NULL});
    hub_refuse_others(&c);
    return c.code;
}

rapt_code hub_sentence_load_pairs(rapt_encoder_model *e, const rapt_transformer_config *net, const char *folder, rapt_error *err)
{
    sentence_file modules, limit = {0}, settings = {0};
    rapt_code code = sentence_open(&modules, folder, "modules.json", err);
    if (!code && modules.root) {
        code = read_pair_modules(&modules, err);
        code = code ? code : sentence_open_object(&limit, folder, "sentence_bert_config.json", err);
        code = code || !limit.root ? code : read_sentence_limit(e, net->max_positions, &SCORES, &limit, err);
        code = code ? code : sentence_open_object(&settings, folder, "config_sentence_transformers.json", err);
        code = code || !settings.root ? code : read_pair_settings(e, &settings, err);
    }
    sentence_close(&modules);
    sentence_close(&limit);
    sentence_close(&settings);
    return code;
}

bool hub_sentence_is_there(const char *folder)
{
    bool there = false;
    char *path = file_join(folder, "modules.json");
    rapt_code code = path ? file_is_there(path, &there, NULL) : RAPT_ERR_MEMORY;
    free(path);
    return !code && there;
}
