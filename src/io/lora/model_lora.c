/* io/lora/model_lora.c: gives a model adapters. They, and matrices that are to be saved whole, are then the only parameters that
 * are trained and saved; all others become buffers that are not saved. */
#include "io/lora/model_lora.h"

#include "base/chars.h"
#include "base/quote.h"
#include "base/sized.h"
#include "io/adapter/adapter.h"
#include "io/adapter/adapter_config.h"
#include "io/model_core.h"
#include "io/model_heads.h"
#include "nn/lora.h"
#include "tensor/param_source.h"
#include "tensor/params.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- adding ----------------------------------------------------------------------------------------------------- */

/* The matrices of a module with one layer have PEFT's names. If a module has several layers, which share A, the layer's own name
 * follows the module's ("c_attn.k.lora_B.weight"), and the model's files have one B (lora_file.c). */
static void lora_add(rapt_params *set, const lora_module *m, const rapt_lora_options *options)
{
    rapt_param *a = NULL;
    for (size_t i = 0; i < m->count; i++) {
        const char *own = m->layers[i]->weight->value.name, *end = own + strlen(own) - strlen("weight");
        const char *layer = lora_module_is_whole(m) ? end : lora_part_before(own, end - 1);
        char prefix[2 * PLACE_NAME];
        snprintf(prefix, sizeof prefix, ADAPTER_PREFIX "%s.%.*s", m->name, (int)(end - layer), layer);
        lora_init_part(m->layers[i], set, prefix, options, a);
        a = m->layers[i]->lora ? m->layers[i]->lora->a : NULL;
    }
}

/* The adapter of a module has the rank and the alpha of the patterns that match its name. */
static rapt_code lora_add_module(rapt_params *set, const lora_setup *s, lora_module *m, rapt_error *err)
{
    rapt_lora_options o = s->o;
    double rank = (double)o.rank;
    rapt_code code = adapter_patterns_find(&s->ranks, m->name, &rank, err);
    code = code ? code : adapter_patterns_find(&s->alphas, m->name, &o.alpha, err);
    o.rank = m->rank = (size_t)rank;
    if (!code)
        lora_add(set, m, &o);
    return code;
}

static rapt_code lora_read_patterns(lora_setup *s, const rapt_model_lora_options *o, rapt_error *err)
{
    adapter_pattern_kind alphas = adapter_alpha_pattern;
    alphas.min = 1e-6; /* an adapter of alpha 0 would do nothing */
    rapt_code code = adapter_patterns_parse(&s->ranks, o->rank_pattern, &adapter_rank_pattern, err);
    return code ? code : adapter_patterns_parse(&s->alphas, o->alpha_pattern, &alphas, err);
}

/* Layers whose matrices stay in files in fewer bits: products read them from there. */
static void lora_hold_base(const lora_modules *all)
{
    for (size_t i = 0; i < all->count; i++)
        for (size_t j = 0; j < all->list[i].count; j++) {
            const rapt_param *w = all->list[i].layers[j]->weight;
            if (param_source_type(w))
                param_source_hold(w);
        }
}

static rapt_code lora_add_all(const rapt_model *m, const lora_setup *s, rapt_error *err)
{
    const size_t own = rapt_params_count(m->params);
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < s->modules.count && !code; i++)
        if (s->modules.list[i].chosen)
            code = lora_add_module(m->params, s, &s->modules.list[i], err);
    if (code)
        return code;
    const char *unused = adapter_patterns_unused(&s->ranks), *other = adapter_patterns_unused(&s->alphas);
    if (unused || other)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: no layer with an adapter is called \"%s\"",
                         unused ? "rank_pattern" : "alpha_pattern", quote(unused ? unused : other).text);
    for (size_t i = 0; i < own; i++)
        if (!lora_whole_has(&s->whole, params_at(m->params, i)))
            rapt_param_make_buffer(params_at(m->params, i), false);
    lora_hold_base(&s->modules);
    const rapt_error *failed = rapt_params_error(m->params);
    return failed->code ? rapt_fail(err, failed->code, "%s", failed->message) : RAPT_OK;
}

SIZED_ENDS_WITH(rapt_model_lora_options, save);

void rapt_model_lora_options_init(rapt_model_lora_options *o, size_t size)
{
    const rapt_model_lora_options defaults = {.size = sizeof defaults, .lora.rank = 8, .seed = 1};
    sized_init(o, size, &defaults, sizeof defaults);
}

rapt_code rapt_model_add_lora(rapt_model *m, const rapt_model_lora_options *options, rapt_error *err)
{
    rapt_model_lora_options o = rapt_model_lora_options_default();
    if (sized_take(&o, options, NULL, 0, "model_lora_options", err) != RAPT_OK)
        return RAPT_ERR_VALUE;
    if (sized_check_reserved(o.lora.reserved, sizeof o.lora.reserved, "lora_options", err) != RAPT_OK)
        return RAPT_ERR_VALUE;
    if (model_heads_refuse(m, "trained", err) != RAPT_OK)
        return RAPT_ERR_VALUE;
    if (m->lora || !m->params)
        return rapt_fail(err, RAPT_ERR_VALUE, "the model has adapters already, or no parameters");
    lora_setup *s = m->lora = calloc(1, sizeof *s);
    if (s)
        *s = (lora_setup){.o = o.lora, .base = chars_copy(o.base ? o.base : "")};
    if (!s || !s->base)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for adapters");
    if (s->o.alpha == 0)
        s->o.alpha = (double)s->o.rank;
    params_reseed(m->params, o.seed);
    rapt_code code = lora_read_patterns(s, &o, err);
    code = code ? code : lora_whole_choose(&s->whole, m, o.save, err);
    code = code ? code : lora_modules_find(&s->modules, m, err);
    code = code ? code : lora_modules_choose(&s->modules, o.modules, err);
    return code ? code : lora_add_all(m, s, err);
}

void lora_free(void *lora)
{
    lora_setup *s = lora;
    if (!s)
        return;
    free(s->base);
    adapter_patterns_free(&s->ranks);
    adapter_patterns_free(&s->alphas);
    lora_modules_free(&s->modules);
    free(s);
}

/* ---- adapter_config.json ------------------------------------------------------------------------------------------ */

/* Whether the matrices of the adapters' modules are [in, out] in the files. */
static bool lora_is_transposed(const lora_modules *all)
{
    bool any = false;
    for (size_t i = 0; i < all->count; i++)
        any = any || (all->list[i].chosen && all->list[i].transposed);
    return any;
}

/* A reference to the object of patterns as it was given, or an empty one. */
static json_t *lora_patterns_json(const adapter_patterns *p)
{
    return p->object ? json_incref(p->object) : json_object();
}

rapt_code lora_describe(const rapt_model *m, json_t *root, const char *path, rapt_error *err)
{
    const lora_setup *s = m->lora;
    const bool pairs = m->task == RAPT_TASK_TRANSLATION;
    const double alpha = s->o.alpha;
    json_t *number = alpha == (double)(json_int_t)alpha ? json_integer((json_int_t)alpha) : json_real(alpha);
    json_t *members = json_pack("{s:s, s:s, s:s, s:b, s:b, s:b, s:o, s:f, s:I, s:o}", "peft_type", "LORA", "task_type",
                                pairs ? "SEQ_2_SEQ_LM" : "CAUSAL_LM", "bias", "none", "fan_in_fan_out",
                                lora_is_transposed(&s->modules), "inference_mode", 1, "init_lora_weights", 1, "lora_alpha",
                                number, "lora_dropout", s->o.dropout, "r", (json_int_t)s->o.rank, "target_modules",
                                lora_modules_targets(&s->modules));
    bool ok = members && json_object_update(root, members) == 0 &&
              json_object_set_new(root, "base_model_name_or_path", json_string(s->base)) == 0 &&
              json_object_set_new(root, "use_rslora", json_boolean(s->o.rslora)) == 0 &&
              json_object_set_new(root, "use_dora", json_boolean(s->o.dora)) == 0 &&
              json_object_set_new(root, "rank_pattern", lora_patterns_json(&s->ranks)) == 0 &&
              json_object_set_new(root, "alpha_pattern", lora_patterns_json(&s->alphas)) == 0 &&
              json_object_set_new(root, "ensure_weight_tying", json_boolean(lora_whole_is_tied(&s->whole))) == 0 &&
              json_object_set_new(root, "modules_to_save", lora_whole_json(&s->whole)) == 0;
    json_decref(members);
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for JSON", path);
}
