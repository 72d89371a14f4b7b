/* explain/explain_json.c: an explanation as one JSON object: for programs, and for the page of explain_page.c. */
#include "explain/explanation.h"

#include "io/model_core.h"
#include "search/valid_text.h"
#include "explain/page/page.h"
#include "print/printer.h"
#include "text/json_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- intermediates ----------------------------------------------------------------------------------------------- */

/* JSON cannot write NaN and infinities as numbers. */
static json_t *number_json(double x)
{
    if (isfinite(x))
        return json_real(x);
    return json_string(isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
}

static json_t *values_json(const rapt_intermediate *x)
{
    json_t *list = json_array();
    size_t n = explain_size(x);
    for (size_t i = 0; list && i < n; i++)
        if (json_array_append_new(list, number_json((double)x->values[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/* For the page: a JSON number takes 32 bytes and more, and a model may have millions of them. */
static json_t *base64_json(const rapt_intermediate *x)
{
    char *letters = page_numbers(x->values, explain_size(x));
    json_t *string = letters ? json_string(letters) : NULL;
    free(letters);
    return string;
}

/* Adds the dimensions of an intermediate: words, sequences and sizes. */
static bool add_dimensions(const rapt_explanation *e, const rapt_intermediate *x, json_t *o)
{
    char word[16];
    json_t *axes = json_array(), *along = json_array(), *shape = json_array();
    bool ok = axes && along && shape;
    for (int i = 0; ok && i < x->ndim; i++) {
        const explain_sequence *sequence = explain_along(e, x, i);
        ok = json_array_append_new(axes, json_string(explain_axis(x, i, word))) == 0 &&
             json_array_append_new(along, sequence ? json_string(sequence->name) : json_null()) == 0 &&
             json_array_append_new(shape, json_integer((json_int_t)x->shape[i])) == 0;
    }
    ok = json_object_set_new(o, "axes", axes) == 0 && ok;
    ok = json_object_set_new(o, "sequences", along) == 0 && ok;
    return json_object_set_new(o, "shape", shape) == 0 && ok;
}

/* Only for a Hugging Face model. */
static bool add_origins(const rapt_explanation *e, const rapt_intermediate *x, json_t *o)
{
    const rapt_param *with[EXPLAIN_ORIGINS];
    const size_t count = explain_origins(e, x, with);
    json_t *list = json_array();
    bool ok = list != NULL;
    for (size_t i = 0; ok && i < count; i++)
        ok = json_array_append_new(list, json_pack("{s:s, s:s}", "name", with[i]->value.name, "origin", with[i]->origin)) == 0;
    ok = ok && (count == 0 || json_object_set(o, "parameters", list) == 0);
    json_decref(list);
    return ok;
}

static bool add_statistics(const rapt_intermediate *x, json_t *o)
{
    print_statistics s = print_statistics_of(x->values, explain_size(x));
    return json_object_set_new(o, "min", json_real(s.min)) == 0 && json_object_set_new(o, "mean", json_real(s.mean)) == 0 &&
           json_object_set_new(o, "max", json_real(s.max)) == 0 && json_object_set_new(o, "std", json_real(s.std)) == 0 &&
           json_object_set_new(o, "gradient", json_boolean(x->gradient)) == 0;
}

static bool add_values(const rapt_intermediate *x, explain_values values, json_t *o)
{
    switch (values) {
    case EXPLAIN_NUMBERS: return json_object_set_new(o, "values", values_json(x)) == 0;
    case EXPLAIN_BASE64: return json_object_set_new(o, "values_base64", base64_json(x)) == 0;
    default: return true;
    }
}

static bool append_name(json_t *list, const char *name)
{
    return !name || json_array_append_new(list, json_string(name)) == 0;
}

/* For the page, which shows how an element was computed. */
static bool add_source(const explain_source *s, json_t *o)
{
    json_t *inputs = json_array(), *parameters = json_array();
    bool ok = inputs && parameters;
    for (int i = 0; ok && i < 2; i++)
        ok = append_name(inputs, s->inputs[i]) && append_name(parameters, s->parameters[i]);
    json_t *uses = json_pack("{s:o, s:o}", "inputs", inputs, "parameters", parameters);
    ok = ok && uses && (s->constant == 0 || json_object_set_new(uses, "constant", json_real(s->constant)) == 0);
    return json_object_set_new(o, "uses", uses) == 0 && ok;
}

static json_t *intermediates_json(const rapt_explanation *e, explain_values values)
{
    json_t *list = json_array();
    bool ok = list != NULL;
    for (size_t i = 0; ok && i < e->count; i++) {
        const rapt_intermediate *x = &e->items[i];
        json_t *o = json_pack("{s:s, s:s?}", "name", x->name, "formula", x->formula);
        ok = o && add_origins(e, x, o) && add_dimensions(e, x, o) && add_statistics(x, o) && add_values(x, values, o);
        ok = ok && (values != EXPLAIN_BASE64 || x->gradient || add_source(&e->sources[i], o));
        ok = json_array_append_new(list, o) == 0 && ok;
    }
    if (ok)
        return list;
    json_decref(list);
    return NULL;
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

/* A path, or a text for a byte-level tokenizer, need not be UTF-8. */
static json_t *valid_bytes_json(const char *given, size_t size)
{
    size_t length;
    char *text = valid_text(given, size, &length, NULL);
    json_t *string = text ? json_stringn(text, length) : NULL;
    free(text);
    return string;
}

static json_t *valid_string(const char *given)
{
    return valid_bytes_json(given, strlen(given));
}

static json_t *explain_model_json(const rapt_explanation *e)
{
    const rapt_model *m = e->model;
    bool language = m->task == RAPT_TASK_LANGUAGE_MODEL;
    size_t layers = language ? m->language.net->config.layers : m->translation.net->config.layers;
    size_t heads = language ? m->language.net->config.block.heads : m->translation.net->config.block.heads;
    size_t d_model = language ? m->language.net->config.block.d_model : m->translation.net->config.block.d_model;
    return json_pack("{s:o, s:s, s:I, s:I, s:I, s:I}", "path", valid_string(e->model_name), "kind",
                     language ? "language_model" : "translation", "layers", (json_int_t)layers, "heads", (json_int_t)heads,
                     "d_model", (json_int_t)d_model, "parameters", (json_int_t)rapt_params_size(m->params));
}

static json_t *sequence_json(const explain_sequence *s)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < s->count; i++) {
        json_t *token = json_pack("{s:I}", "position", (json_int_t)i);
        bool ok = explain_add_token(token, s->tokenizer, s->ids[i]);
        if (json_array_append_new(list, token) != 0 || !ok) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *sequences_json(const rapt_explanation *e)
{
    json_t *o = json_object();
    for (size_t i = 0; o && i < e->sequence_count; i++)
        if (json_object_set_new(o, e->sequences[i].name, sequence_json(&e->sequences[i])) != 0) {
            json_decref(o);
            return NULL;
        }
    return o;
}

static json_t *predictions_json(const rapt_explanation *e)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < explain_last(e)->count; i++) {
        const rapt_explained_prediction p = explain_prediction(e, &e->own, i);
        json_t *o = json_pack("{s:I, s:o}", "position", (json_int_t)i, "tokens", explain_tokens_json(e, p));
        bool ok = !p.has_label || json_object_set_new(o, "next", explain_next_json(e, p)) == 0;
        if (json_array_append_new(list, o) != 0 || !ok) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* A language model's output is its most probable next token. */
static json_t *output_json(const rapt_explanation *e)
{
    size_t last = (explain_last(e)->count - 1) * e->top;
    return e->output ? valid_string(e->output) : explain_token_text(e->model->language.tokenizer, e->own.ids[last]);
}

static json_t *unknown_words_json(const explain_sequence *s)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < s->unknown_count; i++)
        if (json_array_append_new(list, valid_string(s->unknown_words[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/* Adds members that only some passes have. */
static bool add_rest(const rapt_explanation *e, explain_values values, json_t *o)
{
    bool ok = true;
    size_t size;
    const char *target = rapt_explanation_target(e, &size);
    if (target)
        ok = json_object_set_new(o, "target", valid_bytes_json(target, size)) == 0;
    if (e->given.data)
        ok = json_object_set_new(o, "unknown_target_words", unknown_words_json(explain_last(e))) == 0 && ok;
    ok = explain_add_off(e, o) && ok;
    if (e->depths > 0 && values != EXPLAIN_BASE64)
        ok = json_object_set_new(o, "lens", explain_lens_json(e)) == 0 && ok;
    return ok && (!e->gradients || json_object_set_new(o, "loss", json_real(e->loss)) == 0);
}

json_t *explain_object(const rapt_explanation *e, explain_values values, rapt_error *err)
{
    json_t *o = json_pack("{s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "rapt", "explain", "version", 1, "model",
                          explain_model_json(e), "text", valid_bytes_json(e->text.data, e->text.size), "unknown_words",
                          unknown_words_json(&e->sequences[0]), "sequences", sequences_json(e), "output",
                          output_json(e), "steps", intermediates_json(e, values), "predictions", predictions_json(e));
    if (o && !add_rest(e, values, o)) {
        json_decref(o);
        o = NULL;
    }
    if (!o)
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for JSON");
    return o;
}

rapt_code rapt_explanation_json(const rapt_explanation *e, const rapt_explain_format *format, char **json, size_t *size,
                                rapt_error *err)
{
    rapt_explain_format f;
    if (explain_take_format(format, &f, err) != RAPT_OK)
        return RAPT_ERR_VALUE;
    json_t *o = explain_object(e, f.full ? EXPLAIN_NUMBERS : EXPLAIN_STATISTICS, err);
    if (!o)
        return RAPT_ERR_MEMORY;
    char *text = json_text(o, JSON_REAL_PRECISION(9)); /* a float comes back as it was */
    json_decref(o);
    if (!text)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for JSON");
    *json = text;
    if (size)
        *size = strlen(text);
    return RAPT_OK;
}
