/* cli/explain/explain_json.c: what `rapt explain` found out, as one JSON object: for --json, and for the page that --html
 * writes. */
#include "cli/explain/cmd_explain.h"

#include "base/math.h"
#include "cli/cmd_generate.h"
#include "cli/inspect/token_names.h"
#include "text/utf8.h"
#include "view/page/page.h"
#include "view/print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static rapt_code explain_json_no_memory(rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_MEMORY, "no memory for JSON");
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* JSON has no words for what is not a number. */
static json_t *number_json(double x)
{
    if (isfinite(x))
        return json_real(x);
    return json_string(isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
}

static json_t *values_json(const rapt_observation *s)
{
    json_t *list = json_array();
    size_t n = rapt_tensor_size(s->tensor);
    for (size_t i = 0; list && i < n; i++)
        if (json_array_append_new(list, number_json((double)s->values[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/* For the page: a JSON number takes 32 bytes and more, and a model may have millions of them. */
static json_t *letters_json(const rapt_observation *s)
{
    char *letters = page_numbers(s->values, rapt_tensor_size(s->tensor));
    json_t *string = letters ? json_string(letters) : NULL;
    free(letters);
    return string;
}

/* Adds what a step's dimensions are: words, sequences and sizes. */
static bool add_dimensions(const explanation *e, const rapt_observation *s, json_t *o)
{
    char word[16];
    json_t *axes = json_array(), *along = json_array(), *shape = json_array();
    bool ok = axes && along && shape;
    for (int i = 0; ok && i < s->tensor->ndim; i++) {
        const explain_sequence *sequence = explain_along(e, s, i);
        ok = json_array_append_new(axes, json_string(explain_axis(s, i, word))) == 0 &&
             json_array_append_new(along, sequence ? json_string(sequence->name) : json_null()) == 0 &&
             json_array_append_new(shape, json_integer((json_int_t)s->tensor->shape[i])) == 0;
    }
    ok = json_object_set_new(o, "axes", axes) == 0 && ok;
    ok = json_object_set_new(o, "sequences", along) == 0 && ok;
    return json_object_set_new(o, "shape", shape) == 0 && ok;
}

static bool add_figures(const explanation *e, const rapt_observation *s, json_t *o)
{
    print_statistics x = print_statistics_of(s->values, rapt_tensor_size(s->tensor));
    bool ok = json_object_set_new(o, "min", json_real(x.min)) == 0 && json_object_set_new(o, "mean", json_real(x.mean)) == 0 &&
              json_object_set_new(o, "max", json_real(x.max)) == 0 && json_object_set_new(o, "std", json_real(x.std)) == 0 &&
              json_object_set_new(o, "gradient", json_boolean(s->gradient)) == 0;
    if (e->a->html)
        return ok && json_object_set_new(o, "values_base64", letters_json(s)) == 0;
    return ok && (!e->a->full || json_object_set_new(o, "values", values_json(s)) == 0);
}

rapt_code explain_add_step(explanation *e, const rapt_observation *s, rapt_error *err)
{
    json_t *o = json_pack("{s:s, s:s?}", "name", s->name, "formula", s->formula);
    bool ok = o && add_dimensions(e, s, o) && add_figures(e, s, o);
    ok = ok && json_array_append(e->steps, o) == 0;
    json_decref(o);
    return ok ? RAPT_OK : explain_json_no_memory(err);
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

/* A path may be no UTF-8, nor a text of bytes. */
static json_t *valid_json(const char *given)
{
    size_t length;
    char *text = generate_valid_text(given, strlen(given), &length, NULL);
    json_t *string = text ? json_stringn(text, length) : NULL;
    free(text);
    return string;
}

static bool explain_json_is_text(const rapt_tokenizer *k, int32_t id)
{
    size_t size;
    const char *bytes = rapt_tokenizer_token(k, id, &size);
    return !bytes || utf8_valid_prefix(bytes, size) == size;
}

/* Bytes that are no text have a name instead; ids without a text have an empty one. */
static json_t *explain_json_text_json(const rapt_tokenizer *k, int32_t id)
{
    size_t size = 0;
    const char *bytes = rapt_tokenizer_token(k, id, &size);
    if (explain_json_is_text(k, id))
        return json_stringn(bytes ? bytes : "", size);
    char *name = token_name(k, id);
    json_t *string = name ? json_string(name) : NULL;
    free(name);
    return string;
}

static json_t *bytes_json(const rapt_tokenizer *k, int32_t id)
{
    size_t size;
    const char *bytes = rapt_tokenizer_token(k, id, &size);
    char *hex = malloc(2 * size + 1);
    for (size_t i = 0; hex && i < size; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned)(unsigned char)bytes[i]);
    json_t *string = hex ? json_stringn(hex, 2 * size) : NULL;
    free(hex);
    return string;
}

static bool explain_json_add_token(json_t *o, const rapt_tokenizer *k, int32_t id)
{
    bool ok = json_object_set_new(o, "id", json_integer(id)) == 0 && json_object_set_new(o, "text",
                                                                                         explain_json_text_json(k, id)) == 0;
    return ok && (explain_json_is_text(k, id) || json_object_set_new(o, "bytes", bytes_json(k, id)) == 0);
}

static json_t *explain_json_model_json(const explanation *e)
{
    const rapt_model *m = e->m;
    bool language = m->task == RAPT_TASK_LANGUAGE_MODEL;
    size_t layers = language ? m->lm->config.layers : m->net->config.layers;
    size_t heads = language ? m->lm->config.heads : m->net->config.block.heads;
    size_t d_model = language ? m->lm->config.d_model : m->net->config.block.d_model;
    return json_pack("{s:o, s:s, s:I, s:I, s:I, s:I}", "path", valid_json(e->a->model), "kind",
                     language ? "language_model" : "translation", "layers", (json_int_t)layers, "heads", (json_int_t)heads,
                     "d_model", (json_int_t)d_model, "parameters", (json_int_t)rapt_params_size(m->params));
}

static json_t *sequence_json(const explain_sequence *s)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < s->count; i++) {
        json_t *token = json_pack("{s:I}", "position", (json_int_t)i);
        bool ok = explain_json_add_token(token, s->tokenizer, s->ids[i]);
        if (json_array_append_new(list, token) != 0 || !ok) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *sequences_json(const explanation *e)
{
    json_t *o = json_object();
    for (size_t i = 0; o && i < e->sequence_count; i++)
        if (json_object_set_new(o, e->sequences[i].name, sequence_json(&e->sequences[i])) != 0) {
            json_decref(o);
            return NULL;
        }
    return o;
}

static json_t *likeliest_json(const explanation *e, size_t position)
{
    json_t *list = json_array();
    for (size_t i = position * e->top; list && i < (position + 1) * e->top; i++) {
        json_t *token = json_object();
        bool ok = explain_json_add_token(token, explain_last(e)->tokenizer, e->likeliest[i]) &&
                  json_object_set_new(token, "probability", json_real(e->probabilities[i])) == 0;
        if (json_array_append_new(list, token) != 0 || !ok) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* The token that does follow, and how well it was foreseen. */
static json_t *next_json(const explanation *e, size_t position)
{
    json_t *o = json_object();
    bool ok = explain_json_add_token(o, explain_last(e)->tokenizer, e->labels[position]) &&
              json_object_set_new(o, "probability", json_real(math_exp(-e->nll[position]))) == 0 &&
              json_object_set_new(o, "loss", json_real(e->nll[position])) == 0;
    if (ok)
        return o;
    json_decref(o);
    return NULL;
}

static json_t *predictions_json(const explanation *e)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < explain_last(e)->count; i++) {
        json_t *o = json_pack("{s:I, s:o}", "position", (json_int_t)i, "tokens", likeliest_json(e, i));
        bool ok = i >= e->label_count || json_object_set_new(o, "next", next_json(e, i)) == 0;
        if (json_array_append_new(list, o) != 0 || !ok) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* A language model's output is its likeliest next token. */
static json_t *output_json(const explanation *e)
{
    size_t last = (explain_last(e)->count - 1) * e->top;
    return e->output ? valid_json(e->output) : explain_json_text_json(e->m->tokenizer, e->likeliest[last]);
}

/* What only some passes have. */
static bool add_rest(const explanation *e, json_t *o)
{
    bool ok = true;
    if (e->m->task == RAPT_TASK_TRANSLATION)
        ok = json_object_set_new(o, "target", valid_json(e->a->target ? e->a->target : e->translation)) == 0;
    return ok && (!e->a->train || json_object_set_new(o, "loss", json_real(e->loss)) == 0);
}

json_t *explain_object(explanation *e, rapt_error *err)
{
    json_t *o = json_pack("{s:s, s:i, s:o, s:o, s:o, s:o, s:O, s:o}", "rapt", "explain", "version", 1, "model",
                          explain_json_model_json(e),
                          "text", valid_json(e->a->text), "sequences", sequences_json(e), "output", output_json(e), "steps",
                          e->steps, "predictions", predictions_json(e));
    if (o && !add_rest(e, o)) {
        json_decref(o);
        o = NULL;
    }
    if (!o)
        explain_json_no_memory(err);
    return o;
}
