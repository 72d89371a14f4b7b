/* io/gguf/gguf_rope.c: rotary positions of GGUF files as "rope_parameters" of config.json. */
#include "io/gguf/gguf_folder.h"

#include <string.h>

json_t *gguf_config_numbers(gguf_config *c, const char *tensor)
{
    const gguf_tensor *t = gguf_find_tensor(c->file, tensor);
    if (!t)
        return NULL;
    if (t->type != GGUF_PLAIN_F32 || t->ndim != 1 || t->elements > RAPT_ROTARY_FACTORS_MAX) {
        gguf_config_refuse(c, "a tensor \"rope_...\" is no vector of F32, or has more than 128 elements");
        return NULL;
    }
    json_t *list = json_array();
    if (!list && !c->code)
        c->code = rapt_fail(c->err, RAPT_ERR_MEMORY, "%s: out of memory for a configuration", c->file->path);
    for (size_t i = 0; list && i < t->elements; i++) { /* one that is not finite is left out, so that their count is refused */
        float x;
        memcpy(&x, t->data + i * sizeof x, sizeof x);
        json_array_append_new(list, json_real((double)x));
    }
    return list;
}

/* Divisors of frequencies: Llama 3's scaling, whose settings the file does not have, or longrope's, of which only the factors for
 * short texts count. Takes over both lists; without a list for long texts, both are the same. */
static json_t *rope_divided(gguf_config *c, json_t *factors, json_t *for_long, size_t original, double magnitude)
{
    const size_t context = gguf_config_size(c, "context_length", true);
    original = original ? original : context;
    json_t *rope = json_pack("{s:s, s:f, s:I, s:O, s:O}", "rope_type", "longrope", "factor",
                             original ? (double)context / (double)original : 1.0, "original_max_position_embeddings",
                             (json_int_t)original, "short_factor", factors, "long_factor", for_long ? for_long : factors);
    json_decref(factors);
    json_decref(for_long);
    gguf_config_put(c, "original_max_position_embeddings", json_integer((json_int_t)original));
    if (rope && magnitude != 0)
        json_object_set_new(rope, "attention_factor", json_real(magnitude));
    return rope;
}

static json_t *rope_yarn(gguf_config *c, double factor)
{
    static const char *const members[][2] = {{"beta_fast", "rope.scaling.yarn_beta_fast"},
                                             {"beta_slow", "rope.scaling.yarn_beta_slow"},
                                             {"attention_factor", "rope.scaling.yarn_attn_factor"}};
    json_t *rope = json_pack("{s:s, s:f, s:I}", "rope_type", "yarn", "factor", factor, "original_max_position_embeddings",
                             (json_int_t)gguf_config_size(c, "rope.scaling.original_context_length", true));
    for (size_t i = 0; rope && i < sizeof members / sizeof *members; i++)
        if (gguf_config_value(c, members[i][1]))
            json_object_set_new(rope, members[i][0], json_real(gguf_config_real(c, members[i][1], 0)));
    return rope;
}

static json_t *rope_of_type(gguf_config *c, const char *type)
{
    const double factor = gguf_config_real(c, "rope.scaling.factor", gguf_config_real(c, "rope.scale_linear", 1));
    if (strcmp(type, "linear") == 0 || (!*type && factor != 1))
        return json_pack("{s:s, s:f}", "rope_type", "linear", "factor", factor);
    if (strcmp(type, "yarn") == 0)
        return rope_yarn(c, factor);
    if (*type && strcmp(type, "none") != 0 && strcmp(type, "longrope") != 0)
        gguf_config_refuse(c, "of \"rope.scaling.type\" rapt knows none, linear, yarn and longrope");
    return json_pack("{s:s}", "rope_type", "default");
}

static json_t *rope_scaled(gguf_config *c)
{
    char type[16] = "";
    const gguf_value *value = gguf_config_value(c, "rope.scaling.type");
    const gguf_text text = value && value->type == GGUF_TEXT && !value->is_array ? gguf_text_first(value) : (gguf_text){"", 0};
    memcpy(type, text.data, text.size < sizeof type ? text.size : sizeof type - 1);
    json_t *divisors = gguf_config_numbers(c, "rope_freqs.weight");
    if (divisors)
        return rope_divided(c, divisors, NULL, 0, 1);
    json_t *factors = gguf_config_numbers(c, "rope_factors_short.weight");
    const size_t original = gguf_config_size(c, "rope.scaling.original_context_length", false);
    if (factors)
        return rope_divided(c, factors, gguf_config_numbers(c, "rope_factors_long.weight"), original,
                            gguf_config_real(c, "rope.scaling.attn_factor", 0)); /* for other types it is refused as unknown */
    if (strcmp(type, "longrope") == 0)
        gguf_config_refuse(c, "tensor \"rope_factors_short.weight\" is missing, which \"longrope\" has");
    return rope_of_type(c, type);
}

void gguf_config_put_rope(gguf_config *c, size_t head_dim)
{
    const size_t turned = gguf_config_size(c, "rope.dimension_count", false);
    json_t *rope = rope_scaled(c);
    const double base = gguf_config_real(c, "rope.freq_base", 10000);
    if (rope)
        json_object_set_new(rope, "rope_theta", json_real(base));
    if (rope && turned && head_dim && turned != head_dim)
        json_object_set_new(rope, "partial_rotary_factor", json_real((double)turned / (double)head_dim));
    gguf_config_put(c, "rope_parameters", rope);
}
