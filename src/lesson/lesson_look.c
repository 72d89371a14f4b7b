/* lesson/lesson_look.c: what a sentence makes of the model between two steps: attention weights, translations, probabilities. */
#include "lesson/lesson_parts.h"

#include "explain/input/token_name.h"

#include "rapt/decode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NEXT = 50, MAX_DRAWS = 20 };

/* ---- one pass ---- */

static rapt_explanation *lesson_pass(lesson *l, const char *text, const char *target, const char *const *names, size_t count,
                                 const char *model_name, rapt_error *err)
{
    const rapt_model *m = lesson_model(l, err);
    rapt_explain_options o = rapt_explain_options_default();
    o.target = rapt_text_of(*target ? target : NULL);
    o.names = names;
    o.name_count = count;
    o.model_name = model_name;
    o.threads = 1;
    return m ? rapt_explanation_new(m, text, strlen(text), &o, err) : NULL;
}

/* The texts of tokens: labels without their positions. */
static json_t *look_tokens(const rapt_explained_sequence *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->count; i++) {
        const char *blank = strchr(s->labels[i], ' ');
        json_array_append_new(list, json_string(blank ? blank + 1 : s->labels[i]));
    }
    return list;
}

static json_t *unknown_json(const rapt_explained_sequence *a, const rapt_explained_sequence *b)
{
    json_t *list = json_array();
    for (size_t i = 0; i < a->unknown_word_count; i++)
        json_array_append_new(list, json_string(a->unknown_words[i]));
    for (size_t i = 0; i < b->unknown_word_count; i++)
        json_array_append_new(list, json_string(b->unknown_words[i]));
    return list;
}

/* Weights [1, heads, rows, columns] of a block. */
static json_t *look_weights(const rapt_intermediate *x)
{
    const size_t size = x->shape[1] * x->shape[2] * x->shape[3];
    json_t *values = json_array();
    for (size_t i = 0; i < size; i++) /* what a mask hides is 0 in weights */
        json_array_append_new(values, json_real(isfinite(x->values[i]) ? (double)x->values[i] : 0));
    return json_pack("{s:s, s:I, s:I, s:I, s:o}", "name", x->name, "heads", (json_int_t)x->shape[1], "rows",
                     (json_int_t)x->shape[2], "columns", (json_int_t)x->shape[3], "values", values);
}

static json_t *look_all_weights(const rapt_explanation *e)
{
    json_t *list = json_array();
    for (size_t i = 0; i < rapt_explanation_count(e); i++) {
        const rapt_intermediate *x = rapt_explanation_at(e, i);
        if (x->ndim == 4 && strstr(x->name, "attention.weights"))
            json_array_append_new(list, look_weights(x));
    }
    return list;
}

static json_t *losses_json(const rapt_explanation *e, size_t count, double *mean)
{
    json_t *list = json_array();
    *mean = 0;
    for (size_t i = 0; i < count; i++) {
        const rapt_explained_prediction p = rapt_explanation_prediction(e, i);
        *mean += p.loss / (double)count;
        json_array_append_new(list, lesson_number(p.loss));
    }
    return list;
}

char *lesson_look(lesson *l, const char *text, const char *target)
{
    static const char *const names[] = {"*.weights", "probabilities", "tokens", "predictions"};
    rapt_error err = {0};
    rapt_explanation *e = lesson_pass(l, text, target, names, sizeof names / sizeof *names, NULL, &err);
    if (!e)
        return lesson_error(&err);
    rapt_explanation_free(l->seen);
    l->seen = e;
    const rapt_explained_sequence source = rapt_explanation_sequence(e, 0), read = rapt_explanation_sequence(e, 1);
    double mean;
    json_t *losses = losses_json(e, read.count, &mean);
    return lesson_json(json_pack("{s:o, s:o, s:s, s:b, s:o, s:o, s:o, s:o}", "source", look_tokens(&source), "target",
                                 look_tokens(&read), "translation", rapt_explanation_target(e, NULL), "given", *target != '\0',
                                 "unknown", unknown_json(&source, &read), "loss", lesson_number(mean), "losses", losses,
                                 "weights", look_all_weights(e)));
}

char *lesson_page(lesson *l, const char *text, const char *target, const char *name)
{
    rapt_error err = {0};
    char *html = NULL;
    rapt_explanation *e = lesson_pass(l, text, target, NULL, 0, name, &err);
    if (e)
        rapt_explanation_page(e, NULL, &html, NULL, &err);
    rapt_explanation_free(e);
    return err.code ? lesson_error(&err) : html;
}

/* ---- what may come next ---- */

typedef struct candidate {
    double p;
    size_t id;
} candidate;

static int by_probability(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    return x->p != y->p ? (x->p < y->p ? 1 : -1) : x->id < y->id ? -1 : x->id > y->id;
}

/* The softmax at a temperature T from the softmax: p^(1/T), scaled to sum 1 among the first `kept`. As parts of the largest p, so
 * that it does not vanish with the others at a low T. */
static void at_temperature(candidate *c, size_t vocab, double temperature, size_t kept)
{
    qsort(c, vocab, sizeof *c, by_probability);
    const double most = c[0].p;
    double sum = 0;
    for (size_t i = 0; i < kept; i++)
        sum += c[i].p = pow(c[i].p / most, 1 / temperature);
    for (size_t i = 0; i < kept; i++)
        c[i].p /= sum;
}

static json_t *candidates_json(const rapt_model *m, const candidate *c, size_t count)
{
    json_t *list = json_array();
    const rapt_tokenizer *k = rapt_model_target_tokenizer(m);
    for (size_t i = 0; i < count; i++) {
        char *text = token_name(k, (int32_t)c[i].id);
        json_array_append_new(list, json_pack("[s, f]", text ? text : "", c[i].p));
        free(text);
    }
    return json_pack("{s:o}", "tokens", list);
}

char *lesson_next(lesson *l, int position, double temperature, int top_k, int count)
{
    rapt_error err = {0};
    const rapt_model *m = lesson_model(l, &err);
    const rapt_intermediate *x = m && l->seen ? rapt_explanation_find(l->seen, "probabilities", false) : NULL;
    if (m && (!x || position < 0 || (size_t)position >= x->shape[1] || !(temperature > 0) || top_k < 0 || count < 0))
        rapt_fail(&err, RAPT_ERR_VALUE, "no token has position %d, or temperature %g, top_k %d or count %d is out of range",
                  position, temperature, top_k, count);
    if (err.code)
        return lesson_error(&err);
    const size_t vocab = x->shape[2], kept = top_k > 0 && (size_t)top_k < vocab ? (size_t)top_k : vocab;
    const size_t shown = (size_t)count < kept ? (size_t)count : kept;
    candidate *c = malloc(vocab * sizeof *c);
    if (!c)
        return lesson_json(NULL);
    for (size_t i = 0; i < vocab; i++)
        c[i] = (candidate){(double)x->values[(size_t)position * vocab + i], i};
    at_temperature(c, vocab, temperature, kept);
    json_t *o = candidates_json(m, c, shown < MAX_NEXT ? shown : MAX_NEXT);
    free(c);
    return lesson_json(o);
}

/* ---- translations at random ---- */

static json_t *texts_json(const rapt_translation *t, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_string(t[i].count ? t[i].hypotheses[0].text : ""));
    return json_pack("{s:o}", "texts", list);
}

char *lesson_draw(lesson *l, const char *text, double temperature, int top_k, int count, int seed)
{
    rapt_error err = {0};
    const rapt_model *m = lesson_model(l, &err);
    const size_t n = count < 1 ? 1 : count > MAX_DRAWS ? MAX_DRAWS : (size_t)count;
    const char *lines[MAX_DRAWS];
    rapt_translation drawn[MAX_DRAWS];
    for (size_t i = 0; i < n; i++)
        lines[i] = text;
    rapt_translate_options o = rapt_translate_options_default();
    o.sample.temperature = temperature;
    o.sample.top_k = top_k > 0 ? (size_t)top_k : 0;
    o.sample.seed = (uint64_t)seed;
    o.compute.threads = 1;
    if (!m || rapt_translate(m, lines, n, &o, drawn, &err))
        return lesson_error(&err);
    json_t *texts = texts_json(drawn, n);
    rapt_translations_free(drawn, n);
    return lesson_json(texts);
}
