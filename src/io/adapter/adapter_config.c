/* io/adapter/adapter_config.c: reads adapter_config.json, with the keys of PEFT's LoraConfig. An unknown key is assumed to change
 * the result unless its value is null, false, or empty. */
#include "io/adapter/adapter_config.h"

#include "base/quote.h"
#include "text/json_text.h"

#include <stdlib.h>
#include <string.h>

#define RANK_MAX 65536
#define SAVED_MAX 64

const adapter_pattern_kind adapter_rank_pattern = {"rank_pattern", true, 1, RANK_MAX};
const adapter_pattern_kind adapter_alpha_pattern = {"alpha_pattern", false, -1e6, 1e6};

/* These keys do not change what a trained adapter adds, because the tensors tell which modules have one, and which kind of matrix
 * they have; or adapter_config_values reads them. */
static const char *const WITHOUT_EFFECT[] = {
    "auto_mapping", "base_model_name_or_path", "exclude_modules", "fan_in_fan_out",
    "inference_mode", "layers_pattern", "layers_to_transform", "lora_alpha", "lora_dropout", "megatron_core", "peft_version",
    "qalora_group_size", "r", "revision", "runtime_config", "target_modules", "use_rslora", "rank_pattern", "alpha_pattern",
    "use_dora", "modules_to_save", "ensure_weight_tying", NULL};

static bool adapter_key_is_idle(const char *key)
{
    for (const char *const *k = WITHOUT_EFFECT; *k; k++)
        if (strcmp(*k, key) == 0)
            return true;
    return false;
}

static bool says_nothing(const json_t *value)
{
    return json_is_null(value) || json_is_false(value) || (json_is_object(value) && json_object_size(value) == 0) ||
           (json_is_array(value) && json_array_size(value) == 0);
}

/* Whether the initialization leaves W unchanged. Others, such as "pissa", change W too. */
static bool keeps_base(const json_t *init)
{
    const char *word = json_string_value(init);
    return json_is_boolean(init) || json_is_null(init) || (word && strcmp(word, "gaussian") == 0);
}

static rapt_code adapter_refuse(const char *path, const char *key, const json_t *value, const char *reason, rapt_error *err)
{
    char *text = value ? json_text(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    rapt_code code = rapt_fail(err, RAPT_ERR_VALUE, "%s: \"%s\" is %s; %s", path, quote(key).text,
                               text ? quote(text).text : "missing", reason);
    free(text);
    return code;
}

static rapt_code adapter_check_word(const json_t *root, const char *path, const char *key, const char *wanted, const char *reason,
                                    rapt_error *err)
{
    const json_t *value = json_object_get(root, key);
    const char *word = json_string_value(value);
    return word && strcmp(word, wanted) == 0 ? RAPT_OK : adapter_refuse(path, key, value, reason, err);
}

/* An adapter of a classifier was trained for another head than the model has. */
static rapt_code adapter_check_task(const json_t *root, const char *path, rapt_error *err)
{
    static const char *const texts[] = {"CAUSAL_LM", "SEQ_2_SEQ_LM", "FEATURE_EXTRACTION"};
    const json_t *value = json_object_get(root, "task_type");
    const char *word = json_string_value(value);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (word && strcmp(word, texts[i]) == 0)
            return RAPT_OK;
    return !value || json_is_null(value) ? RAPT_OK
                                         : adapter_refuse(path, "task_type", value, "rapt adds adapters to models of texts", err);
}

static rapt_code adapter_check_keys(const json_t *root, const char *path, rapt_error *err)
{
    const char *key;
    json_t *value;
    rapt_code code = adapter_check_word(root, path, "peft_type", "LORA", "of adapters rapt reads those of type LORA", err);
    if (!code)
        code = adapter_check_task(root, path, err);
    if (!code && json_object_get(root, "bias"))
        code = adapter_check_word(root, path, "bias", "none", "rapt reads adapters without biases, \"none\"", err);
    json_object_foreach((json_t *)root, key, value)
    {
        const bool checked = strcmp(key, "peft_type") == 0 || strcmp(key, "bias") == 0 || strcmp(key, "task_type") == 0;
        if (code || checked || adapter_key_is_idle(key))
            continue;
        if (strcmp(key, "init_lora_weights") == 0 ? !keeps_base(value) : !says_nothing(value))
            code = adapter_refuse(path, key, value, "rapt reads plain LoRA, W + alpha / r B A, without it", err);
    }
    return code;
}

static rapt_code adapter_read_switch(const json_t *root, const char *key, bool *on, rapt_error *err)
{
    const json_t *value = json_object_get(root, key);
    *on = json_is_true(value);
    return !value || json_is_boolean(value) || json_is_null(value)
               ? RAPT_OK : rapt_fail(err, RAPT_ERR_FORMAT, "\"%s\" must be true or false", key);
}

static rapt_code adapter_read_saved(const json_t *root, adapter_config *c, rapt_error *err)
{
    const json_t *list = json_object_get(root, "modules_to_save");
    bool ok = json_is_array(list) && json_array_size(list) <= SAVED_MAX;
    for (size_t i = 0; ok && i < json_array_size(list); i++)
        ok = json_is_string(json_array_get(list, i));
    c->saved = ok ? list : NULL;
    return ok || !list || json_is_null(list)
               ? RAPT_OK : rapt_fail(err, RAPT_ERR_FORMAT, "\"modules_to_save\" must be a list of at most %d names", SAVED_MAX);
}

bool adapter_config_saves(const adapter_config *c, const char *module, size_t length)
{
    for (size_t i = 0; i < json_array_size(c->saved); i++) {
        const json_t *name = json_array_get(c->saved, i);
        const size_t size = json_string_length(name);
        if (c->tying) /* PEFT saves what is tied to a listed module, too */
            return true;
        if (size > 0 && size <= length && memcmp(module + length - size, json_string_value(name), size) == 0 &&
            (size == length || module[length - size - 1] == '.'))
            return true;
    }
    return false;
}

static rapt_code adapter_config_values(const json_t *root, adapter_config *c, rapt_error *err)
{
    const json_t *rank = json_object_get(root, "r"), *alpha = json_object_get(root, "lora_alpha");
    const char *base = json_string_value(json_object_get(root, "base_model_name_or_path"));
    if (!json_is_integer(rank) || json_integer_value(rank) < 1 || json_integer_value(rank) > RANK_MAX)
        return rapt_fail(err, RAPT_ERR_FORMAT, "\"r\" must be a whole number from 1 to %d", RANK_MAX);
    if (!json_is_number(alpha) || !(json_number_value(alpha) > -1e6 && json_number_value(alpha) < 1e6))
        return rapt_fail(err, RAPT_ERR_FORMAT, "\"lora_alpha\" must be a number within a million");
    c->rank = (size_t)json_integer_value(rank);
    c->alpha = json_number_value(alpha);
    c->base = base ? base : "";
    rapt_code code = adapter_read_switch(root, "use_rslora", &c->rslora, err);
    code = code ? code : adapter_read_switch(root, "use_dora", &c->dora, err);
    code = code ? code : adapter_read_switch(root, "ensure_weight_tying", &c->tying, err);
    code = code ? code : adapter_read_saved(root, c, err);
    code = code ? code : adapter_patterns_take(&c->ranks, json_object_get(root, "rank_pattern"), &adapter_rank_pattern, err);
    return code ? code : adapter_patterns_take(&c->alphas, json_object_get(root, "alpha_pattern"), &adapter_alpha_pattern, err);
}

rapt_code adapter_config_read(const json_t *root, const char *path, adapter_config *c, rapt_error *err)
{
    rapt_error own = {0};
    *c = (adapter_config){.base = ""};
    rapt_code code = adapter_check_keys(root, path, err);
    if (!code && adapter_config_values(root, c, &own) != RAPT_OK)
        code = rapt_fail(err, own.code, "%s: %s", path, own.message);
    return code;
}

void adapter_config_end(adapter_config *c)
{
    adapter_patterns_free(&c->ranks);
    adapter_patterns_free(&c->alphas);
}
