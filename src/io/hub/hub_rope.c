/* io/hub/hub_rope.c: reads the settings of rotary positions. The types come from modeling_rope_utils.py of Hugging Face
 * transformers. */
#include "io/hub/hub_decoder.h"

#include "base/math.h"
#include "base/rows.h"

#include <math.h>
#include <string.h>

static const char *const TYPES[] = {[RAPT_ROTARY_PLAIN] = "default", [RAPT_ROTARY_LINEAR] = "linear",
                                    [RAPT_ROTARY_LLAMA3] = "llama3", [RAPT_ROTARY_YARN] = "yarn",
                                    [RAPT_ROTARY_LONG] = "longrope"};
ROWS_FIT(TYPES, RAPT_ROTARY_KINDS, 0);
enum { TYPE_COUNT = sizeof TYPES / sizeof *TYPES };

/* The values of the keys, or else the class's defaults. */
typedef struct rope_values {
    double *base, share;
    rapt_rotary_scaling *scaling;
    size_t context, count; /* count: number of factors; 0: there are none */
    const hub_rope_class *of;
} rope_values;

const char *hub_rope_key(const hub_config *c)
{
    return json_object_size(json_object_get(c->root, "rope_scaling")) ? "rope_scaling" : "rope_parameters";
}

static double rope_base(hub_config *c, const char *key, double otherwise)
{
    return hub_within(c, key, otherwise, 1, 1e12);
}

static rapt_rotary_kind rope_kind(hub_config *outer, const char *key, const char *name)
{
    for (size_t i = 0; i < TYPE_COUNT; i++)
        if (strcmp(TYPES[i], name) == 0)
            return (rapt_rotary_kind)i;
    hub_refuse(outer, key, "of rotary positions rapt knows the types default, linear, llama3, yarn and longrope");
    return RAPT_ROTARY_PLAIN;
}

static void rope_read_llama3(hub_config *c, rapt_rotary_scaling *s)
{
    s->low_factor = hub_within(c, "low_freq_factor", 0, 1e-3, 1e6);
    s->high_factor = hub_within(c, "high_freq_factor", 0, 1e-3, 1e6);
    s->original = hub_size(c, "original_max_position_embeddings", 0);
    if (!c->code && (float)s->high_factor <= (float)s->low_factor)
        hub_refuse(c, "high_freq_factor", "it must be above \"low_freq_factor\"");
}

static double rope_magnitude(double factor, double mscale)
{
    return factor <= 1 ? 1 : 0.1 * mscale * math_log(factor) + 1;
}

/* 0 and null mean the default. */
static double rope_or_else(hub_config *c, const char *key, double otherwise)
{
    const double x = hub_within(c, key, 0, 0, 1e6);
    return x != 0 ? x : otherwise;
}

static void rope_read_yarn(hub_config *c, size_t context, rapt_rotary_scaling *s)
{
    s->high_factor = rope_or_else(c, "beta_fast", 32);
    s->low_factor = rope_or_else(c, "beta_slow", 1);
    s->original = hub_size(c, "original_max_position_embeddings", context);
    s->exact_range = !hub_flag(c, "truncate", true);
    const double mscale = hub_within(c, "mscale", 0, 0, 1e3), all = hub_within(c, "mscale_all_dim", 0, 0, 1e3);
    const bool both = mscale != 0 && all != 0;
    const double otherwise = both ? rope_magnitude(s->factor, mscale) / rope_magnitude(s->factor, all)
                                  : rope_magnitude(s->factor, 1);
    s->magnitude = hub_within(c, "attention_factor", otherwise, 1e-3, 1e3);
}

/* Reads the divisors of frequencies for short texts. */
static void rope_read_factors(hub_config *c, rapt_rotary_scaling *s)
{
    const json_t *list = hub_value(c, "short_factor");
    const size_t count = json_array_size(list);
    if (count == 0 || count > RAPT_ROTARY_FACTORS_MAX)
        hub_refuse(c, "short_factor", "it must be a list of 1 to 128 numbers");
    for (size_t i = 0; i < count && !c->code; i++) {
        const double x = json_number_value(json_array_get(list, i));
        if (!(x >= 1e-3 && x <= 1e6))
            hub_refuse(c, "short_factor", "its numbers must be from 0.001 to 1e+06");
        s->factors[i] = (float)x;
    }
}

/* Texts longer than those in the first training have other factors, which would change what is already in a KV cache: the context
 * ends there. */
static void rope_read_long(hub_config *outer, hub_config *c, rope_values *v)
{
    rapt_rotary_scaling *s = v->scaling;
    const bool beside = v->of->original || json_object_get(outer->root, "original_max_position_embeddings");
    hub_value(c, "original_max_position_embeddings"); /* if both are there, the one outside counts */
    s->original = hub_size(beside ? outer : c, "original_max_position_embeddings", v->of->original);
    const double ratio = (double)v->context / (double)s->original, factor = hub_within(c, "factor", ratio, 1e-3, 1e6);
    if (factor != ratio)
        hub_refuse(c, "factor", "it must be the context by the one of the first training");
    const double otherwise = factor <= 1 ? 1 : sqrt(1 + math_log(factor) / math_log((double)s->original));
    s->magnitude = hub_within(c, "attention_factor", otherwise, 1e-3, 1e3);
    rope_read_factors(c, s);
    hub_ignore(c, (const char *const[]){"long_factor", NULL});
    v->count = json_array_size(json_object_get(c->root, "short_factor"));
    v->context = v->context < s->original ? v->context : s->original;
}

/* The members of "rope_scaling" or "rope_parameters". */
static void rope_read(hub_config *outer, const char *key, const json_t *object, rope_values *v)
{
    hub_config c = {.root = object, .path = outer->path, .err = outer->err};
    rapt_rotary_scaling *s = v->scaling;
    const char *type = hub_word(&c, "type", "default");
    const char *name = hub_word(&c, "rope_type", type);
    const bool older = v->of->long_alone && (strcmp(name, "su") == 0 || strcmp(name, "yarn") == 0);
    s->kind = rope_kind(outer, key, older ? "longrope" : name);
    *v->base = rope_base(&c, "rope_theta", *v->base);
    v->share = hub_within(&c, "partial_rotary_factor", v->share, 0, 1);
    if (s->kind != RAPT_ROTARY_PLAIN && s->kind != RAPT_ROTARY_LONG)
        s->factor = hub_within(&c, "factor", 0, 1, 1e6);
    if (s->kind == RAPT_ROTARY_LLAMA3)
        rope_read_llama3(&c, s);
    if (s->kind == RAPT_ROTARY_YARN)
        rope_read_yarn(&c, v->context, s);
    if (s->kind == RAPT_ROTARY_LONG)
        rope_read_long(outer, &c, v);
    hub_refuse_others(&c);
    outer->code = outer->code ? outer->code : c.code;
}

/* Some of a head's features, as many as transformers turns. */
static void rope_take_share(hub_config *c, const hub_rope_class *of, double share, rapt_block_config *b)
{
    const size_t features = (size_t)((double)b->head_dim * share);
    if (share != 1 && !of->share_key)
        hub_refuse(c, hub_rope_key(c), "of such models rapt rotates all features of a head");
    else if (share != 1 && (features < 2 || features % 2 || b->head_dim % 2))
        hub_refuse(c, json_object_get(c->root, of->share_key) ? of->share_key : hub_rope_key(c),
                   "rotary positions turn pairs of features of a head");
    b->rotary_dim = share != 1 ? features : 0;
}

void hub_rope(hub_config *c, const hub_rope_class *of, rapt_lm_config *k)
{
    static const char *const keys[] = {"rope_scaling", "rope_parameters"};
    rope_values v = {&k->rotary_base, of->share_key ? of->share : 1, &k->rotary_scaling, k->context, 0, of};
    k->rotary_scaling = (rapt_rotary_scaling){.fp32 = !hub_flag(c, "_rapt_rotary_in_double", false)}; /* written by
                                                                                                         rapt_model_export */
    k->rotary_base = rope_base(c, of->theta_key ? of->theta_key : "rope_theta", of->theta);
    if (of->share_key)
        v.share = hub_within(c, of->share_key, of->share, 0, 1);
    size_t found = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *object = hub_value(c, keys[i]);
        if (object && !json_is_object(object))
            hub_refuse(c, keys[i], "it must be an object");
        else if (json_object_size(object) > 0 && found++)
            hub_refuse(c, keys[i], "\"rope_scaling\" is there, too");
        else if (object)
            rope_read(c, keys[i], object, &v);
    }
    if (!c->code)
        rope_take_share(c, of, v.share, &k->block);
    if (!c->code && v.count && 2 * v.count != (k->block.rotary_dim ? k->block.rotary_dim : k->block.head_dim))
        hub_refuse(c, hub_rope_key(c), "\"short_factor\" must have a number for each pair of features that is rotated");
    k->context = v.context;
}

void hub_rope_by_layer(hub_config *c, const hub_rope_class *of, double theta, rapt_lm_config *k)
{
    const json_t *both = json_object_get(c->root, "rope_parameters");
    const json_t *full = json_object_get(both, "full_attention"), *local = json_object_get(both, "sliding_attention");
    rapt_rotary_scaling plain = {0};
    rope_values v = {&k->local_rotary_base, 1, &plain, k->context, 0, of};
    k->local_rotary_base = rope_base(c, "rope_local_base_freq", theta);
    if (!full && !local) {
        if (json_object_size(both) > 0) /* transformers uses the values for neither type */
            hub_refuse(c, "rope_parameters", "it must have full_attention and sliding_attention, which have bases of their own");
        hub_rope(c, of, k);
    } else {
        hub_value(c, "rope_parameters");
        k->rotary_scaling = (rapt_rotary_scaling){.fp32 = true};
        k->rotary_base = of->theta;
        if (local)
            rope_read(c, "rope_parameters", local, &v);
        if (full)
            rope_read(c, "rope_parameters", full,
                      &(rope_values){&k->rotary_base, 1, &k->rotary_scaling, k->context, 0, of});
        if (json_object_size(both) != (full != NULL) + (size_t)(local != NULL))
            hub_refuse(c, "rope_parameters", "its members must be full_attention and sliding_attention");
    }
    if (k->rotary_scaling.kind == RAPT_ROTARY_LONG)
        hub_refuse(c, hub_rope_key(c), "of such models rapt has no longrope");
    if (plain.kind != RAPT_ROTARY_PLAIN || v.share != 1)
        hub_refuse(c, "rope_parameters", "positions of sliding_attention are not scaled");
}
