/* io/model.c: model folders: the configuration as JSON, the tokenizers, the parameters. For the program and for C
 * programs that ship a model. */
#include "rapt/io.h"

#include "base/file.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_CONFIG ((size_t)1 << 20)
#define LARGEST ((json_int_t)1 << 30) /* of any size in a configuration */
#define MOST_LAYERS 1024

static const char *const NORMS[] = {"post", "pre"};
static const char *const INITS[] = {"xavier", "pytorch"};

#define HASH_TEXT 17

/* A tokenizer's hash as text: what a model says of the tokenizers that it was trained with. */
static const char *hash_text(const rapt_tokenizer *k, char text[HASH_TEXT])
{
    snprintf(text, HASH_TEXT, "%016llx", (unsigned long long)rapt_tokenizer_hash(k));
    return text;
}

static json_t *config_json(const rapt_model *m)
{
    char source[HASH_TEXT], target[HASH_TEXT];
    const rapt_transformer_config *c = &m->net->config;
    return json_pack("{s:s, s:i, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:s, s:b, s:b, s:b, s:s, s:f, s:b, s:s, s:s, "
                     "s:I, s:b}",
                     "format", "rapt-model", "version", RAPT_FORMAT_VERSION, "task", "translation",
                     "source_vocab", (json_int_t)c->source_vocab, "target_vocab", (json_int_t)c->target_vocab,
                     "layers", (json_int_t)c->layers, "d_model", (json_int_t)c->block.d_model,
                     "heads", (json_int_t)c->block.heads, "ffn", (json_int_t)c->block.ffn,
                     "max_positions", (json_int_t)c->max_positions, "dropout", c->block.dropout,
                     "norm", NORMS[c->block.norm], "bias", c->block.bias, "scale_embedding", c->scale_embedding,
                     "tied", c->tied, "init", INITS[c->block.init], "embedding_std", c->embedding_std,
                     "shared_vocab", m->source == m->target, "source_tokenizer", hash_text(m->source, source),
                     "target_tokenizer", hash_text(m->target, target), "max_len", (json_int_t)m->max_len,
                     "pad_to_max", m->pad_to_max);
}

static rapt_code write_json(json_t *root, const char *path, rapt_error *err)
{
    char *text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    if (!text)
        return rapt_fail(err, RAPT_NO_MEMORY, "%s: no memory for JSON", path);
    rapt_code code = file_write_atomic(path, text, strlen(text), err);
    free(text);
    return code;
}

/* Calls act(thing, "folder/name", err). */
static rapt_code at_path(const char *folder, const char *name, rapt_code (*act)(const void *, const char *, rapt_error *),
                         const void *thing, rapt_error *err)
{
    char *path = file_join(folder, name);
    rapt_code code = path ? act(thing, path, err) : rapt_fail(err, RAPT_NO_MEMORY, "%s: no memory", folder);
    free(path);
    return code;
}

static rapt_code save_config(const void *model, const char *path, rapt_error *err)
{
    json_t *root = config_json(model);
    rapt_code code = write_json(root, path, err);
    json_decref(root);
    return code;
}

static rapt_code save_tokenizer(const void *tokenizer, const char *path, rapt_error *err)
{
    return rapt_tokenizer_save(tokenizer, path, err);
}

rapt_code rapt_model_save_config(const rapt_model *m, const char *folder, rapt_error *err)
{
    rapt_code code = at_path(folder, "config.json", save_config, m, err);
    if (!code)
        code = at_path(folder, "source.tokenizer.json", save_tokenizer, m->source, err);
    if (!code && m->target != m->source)
        code = at_path(folder, "target.tokenizer.json", save_tokenizer, m->target, err);
    return code;
}

typedef struct config_reader {
    json_t *root;
    const char *path;
    rapt_error *err;
    bool failed;
} config_reader;

static json_t *member(config_reader *r, const char *key, bool (*fits)(const json_t *))
{
    json_t *v = json_object_get(r->root, key);
    if (v && fits(v))
        return v;
    rapt_fail(r->err, RAPT_FORMAT, "%s: \"%s\" is missing or of another type", r->path, key);
    r->failed = true;
    return NULL;
}

static bool is_integer(const json_t *v) { return json_is_integer(v); }
static bool is_number(const json_t *v) { return json_is_number(v); }
static bool is_boolean(const json_t *v) { return json_is_boolean(v); }
static bool is_string(const json_t *v) { return json_is_string(v); }

static size_t read_size(config_reader *r, const char *key)
{
    json_int_t v = json_integer_value(member(r, key, is_integer));
    if (!r->failed && (v < 1 || v > LARGEST)) {
        rapt_fail(r->err, RAPT_FORMAT, "%s: \"%s\" is %lld", r->path, key, (long long)v);
        r->failed = true;
    }
    return r->failed ? 0 : (size_t)v;
}

static double read_fraction(config_reader *r, const char *key, double below)
{
    double v = json_number_value(member(r, key, is_number));
    if (!r->failed && !(v >= 0 && v < below)) {
        rapt_fail(r->err, RAPT_FORMAT, "%s: \"%s\" is %g", r->path, key, v);
        r->failed = true;
    }
    return v;
}

static bool read_bool(config_reader *r, const char *key)
{
    return json_is_true(member(r, key, is_boolean));
}

static int read_word(config_reader *r, const char *key, const char *const *words, int count)
{
    const char *v = json_string_value(member(r, key, is_string));
    for (int i = 0; v && i < count; i++)
        if (strcmp(v, words[i]) == 0)
            return i;
    rapt_fail(r->err, RAPT_FORMAT, "%s: \"%s\" is \"%s\"", r->path, key, v ? v : "");
    r->failed = true;
    return 0;
}

static void read_hash(config_reader *r, const char *key, char hash[HASH_TEXT])
{
    const char *v = json_string_value(member(r, key, is_string));
    snprintf(hash, HASH_TEXT, "%s", v ? v : "");
}

static rapt_transformer_config read_transformer(config_reader *r)
{
    rapt_transformer_config c = {.source_vocab = read_size(r, "source_vocab"), .target_vocab = read_size(r, "target_vocab"),
                                 .layers = read_size(r, "layers"), .max_positions = read_size(r, "max_positions")};
    c.block.d_model = read_size(r, "d_model");
    c.block.heads = read_size(r, "heads");
    c.block.ffn = read_size(r, "ffn");
    c.block.dropout = read_fraction(r, "dropout", 1);
    c.block.norm = (rapt_norm_place)read_word(r, "norm", NORMS, 2);
    c.block.init = (rapt_linear_init_kind)read_word(r, "init", INITS, 2);
    c.block.bias = read_bool(r, "bias");
    c.scale_embedding = read_bool(r, "scale_embedding");
    c.tied = read_bool(r, "tied");
    c.embedding_std = read_fraction(r, "embedding_std", 1e6);
    return c;
}

static void check_header(config_reader *r)
{
    static const char *const formats[] = {"rapt-model"}, *const tasks[] = {"translation"};
    read_word(r, "format", formats, 1);
    size_t version = r->failed ? 0 : read_size(r, "version");
    if (!r->failed && version > RAPT_FORMAT_VERSION) {
        rapt_fail(r->err, RAPT_FORMAT, "%s: format version %zu; this rapt reads up to %d", r->path, version,
                  RAPT_FORMAT_VERSION);
        r->failed = true;
    }
    if (!r->failed)
        read_word(r, "task", tasks, 1);
}

typedef struct model_plan {
    rapt_transformer_config config;
    bool shared_vocab, pad_to_max;
    char source_hash[HASH_TEXT], target_hash[HASH_TEXT];
    size_t max_len;
} model_plan;

static rapt_code parse_config(json_t *root, const char *path, model_plan *plan, rapt_error *err)
{
    config_reader r = {root, path, err, false};
    check_header(&r);
    if (r.failed)
        return RAPT_FORMAT;
    plan->config = read_transformer(&r);
    plan->shared_vocab = read_bool(&r, "shared_vocab");
    read_hash(&r, "source_tokenizer", plan->source_hash);
    read_hash(&r, "target_tokenizer", plan->target_hash);
    plan->max_len = read_size(&r, "max_len");
    plan->pad_to_max = read_bool(&r, "pad_to_max");
    if (!r.failed && (plan->max_len > plan->config.max_positions || plan->max_len < 2 ||
                      plan->config.layers > MOST_LAYERS)) {
        rapt_fail(err, RAPT_FORMAT, "%s: max_len %zu for %zu positions, %zu layers", path, plan->max_len,
                  plan->config.max_positions, plan->config.layers);
        r.failed = true;
    }
    return r.failed ? RAPT_FORMAT : RAPT_OK;
}

static rapt_code read_plan(const char *folder, model_plan *plan, rapt_error *err)
{
    char *path = file_join(folder, "config.json"), *text = NULL;
    size_t size;
    json_error_t where;
    rapt_code code = path ? file_read(path, MAX_CONFIG, &text, &size, err)
                          : rapt_fail(err, RAPT_NO_MEMORY, "%s: no memory", folder);
    if (!code) {
        json_t *root = json_loadb(text, size, 0, &where);
        code = root ? parse_config(root, path, plan, err)
                    : rapt_fail(err, RAPT_FORMAT, "%s:%d: %s", path, where.line, where.text);
        json_decref(root);
    }
    free(text);
    free(path);
    return code;
}

/* Whether a tokenizer is the one that the model was trained with. */
static bool tokenizer_fits(const rapt_tokenizer *k, const char *path, size_t entries, const char *hash, rapt_error *err)
{
    char own[HASH_TEXT];
    if (rapt_tokenizer_size(k) != entries)
        rapt_fail(err, RAPT_FORMAT, "%s: %zu tokens; the model was made for %zu", path, rapt_tokenizer_size(k), entries);
    else if (strcmp(hash_text(k, own), hash) != 0)
        rapt_fail(err, RAPT_FORMAT, "%s: not the tokenizer that the model was trained with", path);
    else
        return true;
    return false;
}

static rapt_tokenizer *load_tokenizer(const char *folder, const char *name, size_t entries, const char *hash,
                                      rapt_error *err)
{
    char *path = file_join(folder, name);
    rapt_tokenizer *k = path ? rapt_tokenizer_load(path, err) : NULL;
    if (!path)
        rapt_fail(err, RAPT_NO_MEMORY, "%s: no memory", folder);
    if (k && !tokenizer_fits(k, path, entries, hash, err)) {
        rapt_tokenizer_free(k);
        k = NULL;
    }
    free(path);
    return k;
}

/* Bytes that the largest parameters of such a model take at the least. */
static double least_bytes(const rapt_transformer_config *c)
{
    double d = (double)c->block.d_model, rows = (double)c->source_vocab + 2 * (double)c->max_positions;
    return (rows * d + (double)c->layers * (12 * d * d + 4 * d * (double)c->block.ffn)) * sizeof(rapt_real);
}

/* A damaged configuration must not cost memory for a model that the file can't hold. */
static rapt_code check_size(const char *path, const model_plan *plan, rapt_error *err)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return rapt_fail(err, RAPT_NOT_FOUND, "cannot read %s: %s", path, strerror(errno));
    if ((double)info.st_size < least_bytes(&plan->config))
        return rapt_fail(err, RAPT_FORMAT, "%s: %lld bytes; the model of config.json takes more than %.0f", path,
                         (long long)info.st_size, least_bytes(&plan->config));
    return RAPT_OK;
}

static rapt_code load_net(rapt_model *m, const char *path, const model_plan *plan, rapt_error *err)
{
    rapt_code code = check_size(path, plan, err);
    if (code)
        return code;
    m->net = rapt_transformer_new(&plan->config, RAPT_SEED_NONE, err);
    return m->net ? rapt_params_load(m->net->params, path, err) : RAPT_NO_MEMORY;
}

static rapt_code load_parts(rapt_model *m, const char *folder, const model_plan *plan, rapt_error *err)
{
    m->max_len = plan->max_len;
    m->pad_to_max = plan->pad_to_max;
    m->source = load_tokenizer(folder, "source.tokenizer.json", plan->config.source_vocab, plan->source_hash, err);
    if (m->source)
        m->target = plan->shared_vocab ? m->source
                                       : load_tokenizer(folder, "target.tokenizer.json", plan->config.target_vocab,
                                                        plan->target_hash, err);
    char *path = file_join(folder, "model.safetensors");
    rapt_code code = m->target && path ? load_net(m, path, plan, err) : RAPT_NO_MEMORY;
    free(path);
    return code;
}

rapt_model *rapt_model_load(const char *folder, rapt_error *err)
{
    model_plan plan;
    if (!file_exists(folder)) {
        rapt_fail(err, RAPT_NOT_FOUND, "%s: there is no such model folder", folder);
        return NULL;
    }
    if (read_plan(folder, &plan, err))
        return NULL;
    rapt_model *m = calloc(1, sizeof *m);
    if (!m)
        rapt_fail(err, RAPT_NO_MEMORY, "%s: no memory for a model", folder);
    else if (load_parts(m, folder, &plan, err) == RAPT_OK)
        return m;
    rapt_fail(err, RAPT_NO_MEMORY, "%s: no memory for a model", folder);
    rapt_model_free(m);
    return NULL;
}

void rapt_model_free(rapt_model *m)
{
    if (!m)
        return;
    if (m->target != m->source)
        rapt_tokenizer_free(m->target);
    rapt_tokenizer_free(m->source);
    rapt_transformer_free(m->net);
    free(m);
}
