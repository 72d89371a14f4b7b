/* io/model_lora.c: see model_lora.h. The adapters are the model's only parameters that are trained and saved, under the names
 * that PEFT gives them; all others become buffers that are not saved. */
#define _GNU_SOURCE /* strdup */
#include "io/model_lora.h"

#include "base/quote.h"
#include "io/adapter/adapter.h"
#include "io/hub/hub_origin.h"
#include "nn/layers.h"
#include "tensor/params.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODULE = HUB_NAME, LISTED = 300 };

typedef struct lora_setup {
    rapt_lora_options o;
    char *base;
    json_t *targets; /* names of modules, as PEFT looks for them: whole, or by their ends */
    bool transposed; /* the reference's matrices are [in, out] */
} lora_setup;

typedef struct lora_walk {
    rapt_model *m;
    lora_setup *setup;
    const char *modules; /* NULL: all */
    size_t matched;
    char listed[LISTED]; /* ends of the names that there are */
    rapt_error *err;
    rapt_code code;
} lora_walk;

/* ---- names ------------------------------------------------------------------------------------------------------ */

/* The name of a layer without ".weight", as the files of the model have it. False: the file has it in one matrix with others. */
static bool lora_module(const rapt_model *m, const rapt_param *weight, char module[MODULE], bool *transposed)
{
    hub_match match = {.last = ""};
    char bare[HUB_NAME];
    const hub_origin *o = m->origin;
    const hub_name *row = o ? o->rows[weight->index] : NULL;
    *transposed = row && row->fold == HUB_TRANSPOSED;
    if (row) {
        hub_names_next(&o->naming, NULL, weight->value.name, &match);
        hub_names_of(&o->naming, row, &match, bare, module);
    } else {
        snprintf(module, MODULE, "%s", weight->value.name);
    }
    char *end = strrchr(module, '.');
    if (end)
        *end = '\0';
    return !row || (row->part == HUB_WHOLE && row->fold != HUB_ROTARY);
}

static const char *lora_last_part(const char *module)
{
    const char *dot = strrchr(module, '.');
    return dot ? dot + 1 : module;
}

/* Whether one of the comma-separated names is the module's, or its end behind a dot. */
static bool lora_is_named(const char *names, const char *module)
{
    const size_t length = strlen(module);
    for (size_t size; names && *names; names += size + (names[size] == ',')) {
        size = strcspn(names, ",");
        const bool ends = size > 0 && size <= length && strncmp(module + length - size, names, size) == 0;
        if (ends && (size == length || module[length - size - 1] == '.'))
            return true;
    }
    return !names;
}

static void lora_list(lora_walk *w, const char *module)
{
    const char *part = lora_last_part(module);
    const size_t used = strlen(w->listed);
    if (!lora_is_named(w->listed, part) || !used)
        snprintf(w->listed + used, LISTED - used, "%s%s", used ? "," : "", part);
}

/* ---- adding ----------------------------------------------------------------------------------------------------- */

static bool lora_add_target(lora_setup *s, const char *name)
{
    size_t i;
    json_t *there;
    json_array_foreach(s->targets, i, there)
        if (strcmp(json_string_value(there), name) == 0)
            return true;
    return json_array_append_new(s->targets, json_string(name)) == 0;
}

/* A layers_fn. */
static bool lora_add_layer(void *context, rapt_linear *l)
{
    lora_walk *w = context;
    char module[MODULE], prefix[MODULE + 32];
    const bool own = lora_module(w->m, l->weight, module, &w->setup->transposed);
    lora_list(w, module);
    if (!lora_is_named(w->modules, module))
        return true;
    if (!own) {
        w->code = rapt_fail(w->err, RAPT_ERR_VALUE, "%s is one matrix of the model's files, and several layers here: rapt does "
                            "not train adapters of it; name other modules", module);
        return false;
    }
    snprintf(prefix, sizeof prefix, ADAPTER_PREFIX "%s.", module);
    rapt_lora_init(l, w->m->params, prefix, &w->setup->o);
    w->matched++;
    if (!lora_add_target(w->setup, lora_last_part(module)))
        w->code = rapt_fail(w->err, RAPT_ERR_MEMORY, "out of memory for adapters");
    return !w->code;
}

/* All of the names must be some layer's. */
static rapt_code lora_check_names(const lora_walk *w)
{
    if (w->matched > 0)
        return RAPT_OK;
    return rapt_fail(w->err, RAPT_ERR_VALUE, "no layer of the model is called \"%s\"; there are %s", quote(w->modules).text,
                     w->listed);
}

static rapt_code lora_add_all(lora_walk *w, const char *modules)
{
    rapt_model *m = w->m;
    const size_t own = rapt_params_count(m->params);
    char *names = strdup(modules ? modules : ""), *rest = names;
    bool all = !modules || !*modules || strcmp(modules, "all") == 0;
    if (!names)
        return rapt_fail(w->err, RAPT_ERR_MEMORY, "out of memory for adapters");
    for (char *name; !w->code && (name = all ? "all" : strsep(&rest, ","));) {
        w->modules = all ? NULL : name;
        w->matched = 0;
        if (m->language.net)
            layers_of_lm(m->language.net, lora_add_layer, w);
        else
            layers_of_transformer(m->translation.net, lora_add_layer, w);
        w->code = w->code ? w->code : lora_check_names(w);
        if (all)
            break;
    }
    free(names);
    for (size_t i = 0; !w->code && i < own; i++)
        rapt_param_make_buffer(params_at(m->params, i), false);
    const rapt_error *failed = rapt_params_error(m->params);
    return w->code || !failed->code ? w->code : rapt_fail(w->err, failed->code, "%s", failed->message);
}

rapt_code rapt_model_add_lora(rapt_model *m, const rapt_model_lora_options *options, rapt_error *err)
{
    lora_setup *s = calloc(1, sizeof *s);
    if (m->lora || !m->params || !s) {
        free(s);
        return m->lora || !m->params ? rapt_fail(err, RAPT_ERR_VALUE, "the model has adapters already, or no parameters")
                                     : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for adapters");
    }
    *s = (lora_setup){options->lora, strdup(options->base ? options->base : ""), json_array(), false};
    m->lora = s;
    if (!s->base || !s->targets)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for adapters");
    params_reseed(m->params, options->seed);
    lora_walk w = {.m = m, .setup = s, .err = err};
    return lora_add_all(&w, options->modules);
}

void lora_free(void *lora)
{
    lora_setup *s = lora;
    if (!s)
        return;
    free(s->base);
    json_decref(s->targets);
    free(s);
}

/* ---- adapter_config.json ------------------------------------------------------------------------------------------ */

rapt_code lora_describe(const rapt_model *m, json_t *root, const char *path, rapt_error *err)
{
    const lora_setup *s = m->lora;
    const bool pairs = m->task == RAPT_TASK_TRANSLATION;
    const double alpha = s->o.alpha != 0 ? s->o.alpha : (double)s->o.rank;
    json_t *number = alpha == (double)(json_int_t)alpha ? json_integer((json_int_t)alpha) : json_real(alpha);
    json_t *members = json_pack("{s:s, s:s, s:s, s:b, s:b, s:b, s:o, s:f, s:I, s:O}", "peft_type", "LORA", "task_type",
                                pairs ? "SEQ_2_SEQ_LM" : "CAUSAL_LM", "bias", "none", "fan_in_fan_out", s->transposed,
                                "inference_mode", 1, "init_lora_weights", 1, "lora_alpha", number, "lora_dropout", s->o.dropout,
                                "r", (json_int_t)s->o.rank, "target_modules", s->targets);
    bool ok = members && json_object_update(root, members) == 0 &&
              json_object_set_new(root, "base_model_name_or_path", json_string(s->base)) == 0;
    json_decref(members);
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for JSON", path);
}
