/* io/hub/hub_config.c: typed values of config.json. */
#include "io/hub/hub_config.h"

#include "base/quote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIZE ((json_int_t)1 << 30)

static void hub_see(hub_config *c, const char *key)
{
    if (c->count < HUB_MAX_KEYS)
        c->seen[c->count++] = key;
}

const json_t *hub_value(hub_config *c, const char *key)
{
    const json_t *value = json_object_get(c->root, key);
    hub_see(c, key);
    return json_is_null(value) ? NULL : value;
}

void hub_refuse(hub_config *c, const char *key, const char *reason)
{
    const size_t flags = JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(15);
    char *text = json_dumps(json_object_get(c->root, key), flags);
    if (!c->code)
        c->code = rapt_fail(c->err, RAPT_ERR_FORMAT, "%s: \"%s\" is %s: %s", c->path, key, text ? quote(text).text : "missing",
                            reason);
    free(text);
}

size_t hub_size(hub_config *c, const char *key, size_t otherwise)
{
    const json_t *value = hub_value(c, key);
    json_int_t n = json_integer_value(value);
    if (!value && otherwise)
        return otherwise;
    if (json_is_integer(value) && n >= 1 && n <= MAX_SIZE)
        return (size_t)n;
    hub_refuse(c, key, "it must be a whole number from 1 to 2^30");
    return 1;
}

double hub_number(hub_config *c, const char *key, double otherwise)
{
    const json_t *value = hub_value(c, key);
    if (value && !json_is_number(value))
        hub_refuse(c, key, "it must be a number");
    return value ? json_number_value(value) : otherwise;
}

double hub_within(hub_config *c, const char *key, double otherwise, double low, double high)
{
    char reason[96];
    double x = hub_number(c, key, otherwise);
    snprintf(reason, sizeof reason, "it must be a number from %g to %g", low, high);
    if (!(x >= low && x <= high))
        hub_refuse(c, key, reason);
    return x;
}

bool hub_flag(hub_config *c, const char *key, bool otherwise)
{
    const json_t *value = hub_value(c, key);
    if (value && !json_is_boolean(value))
        hub_refuse(c, key, "it must be true or false");
    return value ? json_is_true(value) : otherwise;
}

const char *hub_word(hub_config *c, const char *key, const char *otherwise)
{
    const json_t *value = hub_value(c, key);
    if (value && !json_is_string(value))
        hub_refuse(c, key, "it must be a text");
    return json_is_string(value) ? json_string_value(value) : otherwise;
}

void hub_flag_is(hub_config *c, const char *key, bool wanted, bool otherwise)
{
    if (hub_flag(c, key, otherwise) != wanted)
        hub_refuse(c, key, "rapt does not compute such models");
}

const char *const hub_inert_keys[] = {
    "model_type", "transformers_version", "transformers.js_config", "torch_dtype", "dtype", "use_cache", "bos_token_id",
    "eos_token_id", "pad_token_id", "sep_token_id", "decoder_start_token_id", "tokenizer_class", "max_sequence_length",
    "initializer_range", "return_dict", "output_hidden_states", "output_attentions", "task_specific_params", "problem_type",
    "finetuning_task", "num_labels", "id2label", "label2id", "chunk_size_feed_forward", "gradient_checkpointing",
    "neftune_noise_alpha", "unsloth_fixed", "unsloth_version", NULL};

void hub_ignore(hub_config *c, const char *const *keys)
{
    for (; *keys; keys++)
        hub_see(c, *keys);
}

static bool hub_has_seen(const hub_config *c, const char *key)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->seen[i], key) == 0)
            return true;
    return false;
}

void hub_refuse_others(hub_config *c)
{
    void *at;
    const char *key;
    json_t *value;
    json_object_foreach_safe((json_t *)c->root, at, key, value) {
        if (*key != '_' && !json_is_null(value) && !hub_has_seen(c, key))
            hub_refuse(c, key, "rapt does not know what this key changes");
    }
}
