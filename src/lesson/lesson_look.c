/* lesson/lesson_look.c: what a sentence makes of the model between two steps: attention weights, translations, probabilities. */
#include "lesson/lesson_parts.h"

#include "base/chars.h"
#include "explain/input/token_name.h"

#include "rapt/decode.h"
#include "rapt/heads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NEXT = 50, MAX_DRAWS = 20, MAX_OFF = 256 };

/* ---- one pass ---- */

/* The model that the page looks into: the trainer's, or *less, without the heads that are off; *less becomes NULL if all are on.
 * NULL with `err` set. */
static const rapt_model *looked_at(lesson *l, const char *off, rapt_model **less, rapt_error *err)
{
    const rapt_model *m = lesson_model(l, err);
    const char *names[MAX_OFF];
    size_t count = 0;
    *less = NULL;
    char *copy = m && off ? chars_copy(off) : NULL;
    if (!m || !off)
        return m;
    for (char *name = copy; name && *name && count < MAX_OFF; count++) {
        char *end = name + strcspn(name, " ");
        names[count] = name;
        name = *end ? end + 1 : end;
        *end = '\0';
    }
    *less = copy ? rapt_model_without_heads(m, names, count, err) : NULL;
    if (!copy)
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu heads", count);
    free(copy);
    return *less;
}

static rapt_explanation *lesson_pass(const rapt_model *m, const char *text, const char *target, const char *const *names,
                                     size_t count, const char *model_name, rapt_error *err)
{
    rapt_explain_options o = rapt_explain_options_default();
    o.target = rapt_text_of(*target ? target : NULL);
    o.names = names;
    o.name_count = count;
    o.model_name = model_name;
    o.threads = 1;
    return m ? rapt_explanation_new(m, text, strlen(text), &o, err) : NULL;
}

char *lesson_heads(lesson *l, const char *names)
{
    rapt_error err = {0};
    rapt_model *less;
    const rapt_model *m = looked_at(l, *names ? names : NULL, &less, &err);
    char *off = m && *names ? chars_copy(names) : NULL;
    rapt_model_free(less);
    if (!m || (*names && !off))
        return m ? lesson_json(NULL) : lesson_error(&err);
    lesson_forget(l);
    free(l->off);
    l->off = off;
    return lesson_json(json_object());
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

/* The tokens that were seen, in the model with all heads on. */
static rapt_explanation *whole_pass(lesson *l, rapt_error *err)
{
    static const char *const names[] = {"probabilities"};
    rapt_explain_options o = rapt_explain_options_default();
    const rapt_model *m = lesson_model(l, err);
    o.like = l->seen;
    o.names = names;
    o.name_count = 1;
    o.threads = 1;
    return m ? rapt_explanation_new(m, NULL, 0, &o, err) : NULL;
}

/* What the model with all heads on has in place of what was seen. NULL with `err` set. */
static json_t *whole_json(lesson *l, const char *text, size_t count, rapt_error *err)
{
    rapt_translation t;
    double mean;
    rapt_translate_options o = rapt_translate_options_default();
    o.compute.threads = 1;
    if (!l->whole || rapt_translate(lesson_model(l, err), &text, 1, &o, &t, err))
        return NULL;
    json_decref(losses_json(l->whole, count, &mean));
    json_t *json = json_pack("{s:s, s:o}", "translation", t.count ? t.hypotheses[0].text : "", "loss", lesson_number(mean));
    rapt_translations_free(&t, 1);
    return json;
}

/* Reads the sentence into `seen`, and if heads are off into `whole`. */
static rapt_code look(lesson *l, const char *text, const char *target, rapt_error *err)
{
    static const char *const names[] = {"*.weights", "probabilities", "tokens", "predictions"};
    rapt_model *less;
    const rapt_model *m = looked_at(l, l->off, &less, err);
    rapt_explanation *e = lesson_pass(m, text, target, names, sizeof names / sizeof *names, NULL, err);
    if (!e) {
        rapt_model_free(less);
        return err->code;
    }
    lesson_forget(l);
    l->seen = e;
    l->less = less;
    l->whole = less ? whole_pass(l, err) : NULL;
    return err->code;
}

char *lesson_look(lesson *l, const char *text, const char *target)
{
    rapt_error err = {0};
    if (look(l, text, target, &err))
        return lesson_error(&err);
    const rapt_explained_sequence source = rapt_explanation_sequence(l->seen, 0), read = rapt_explanation_sequence(l->seen, 1);
    double mean;
    json_t *losses = losses_json(l->seen, read.count, &mean), *whole = l->less ? whole_json(l, text, read.count, &err) : NULL;
    json_t *o = json_pack("{s:o, s:o, s:s, s:b, s:o, s:o, s:o, s:o}", "source", look_tokens(&source), "target",
                          look_tokens(&read), "translation", rapt_explanation_target(l->seen, NULL), "given", *target != '\0',
                          "unknown", unknown_json(&source, &read), "loss", lesson_number(mean), "losses", losses,
                          "weights", look_all_weights(l->seen));
    if (whole)
        json_object_set_new(o, "whole", whole);
    if (!err.code)
        return lesson_json(o);
    json_decref(o);
    return lesson_error(&err);
}

char *lesson_page(lesson *l, const char *text, const char *target, const char *name)
{
    rapt_error err = {0};
    char *html = NULL;
    rapt_model *less;
    const rapt_model *m = looked_at(l, l->off, &less, &err);
    rapt_explanation *e = lesson_pass(m, text, target, NULL, 0, name, &err);
    if (e)
        rapt_explanation_page(e, NULL, &html, NULL, &err);
    rapt_explanation_free(e);
    rapt_model_free(less);
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

/* The candidates after a position, the first `kept` of them with their shares. [vocab], from malloc. NULL: out of memory. */
static candidate *candidates_of(const rapt_explanation *e, size_t position, double temperature, size_t kept)
{
    const rapt_intermediate *x = rapt_explanation_find(e, "probabilities", false);
    const size_t vocab = x->shape[2];
    candidate *c = malloc(vocab * sizeof *c);
    for (size_t i = 0; c && i < vocab; i++)
        c[i] = (candidate){(double)x->values[position * vocab + i], i};
    if (c)
        at_temperature(c, vocab, temperature, kept);
    return c;
}

static double share_of(const candidate *c, size_t kept, size_t id)
{
    for (size_t i = 0; i < kept; i++)
        if (c[i].id == id)
            return c[i].p;
    return 0;
}

/* `whole` NULL: all heads are on. */
static json_t *candidates_json(const rapt_model *m, const candidate *c, const candidate *whole, size_t kept, size_t count)
{
    json_t *list = json_array();
    const rapt_tokenizer *k = rapt_model_target_tokenizer(m);
    for (size_t i = 0; i < count; i++) {
        char *text = token_name(k, (int32_t)c[i].id);
        json_t *one = json_pack("[s, f]", text ? text : "", c[i].p);
        if (whole)
            json_array_append_new(one, json_real(share_of(whole, kept, c[i].id)));
        json_array_append_new(list, one);
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
    candidate *c = candidates_of(l->seen, (size_t)position, temperature, kept);
    candidate *whole = l->whole ? candidates_of(l->whole, (size_t)position, temperature, kept) : NULL;
    const bool failed = !c || (l->whole && !whole);
    json_t *o = failed ? NULL : candidates_json(m, c, whole, kept, shown < MAX_NEXT ? shown : MAX_NEXT);
    free(c);
    free(whole);
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
    rapt_model *less;
    const rapt_model *m = looked_at(l, l->off, &less, &err);
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
    const bool done = m && rapt_translate(m, lines, n, &o, drawn, &err) == RAPT_OK;
    rapt_model_free(less);
    if (!done)
        return lesson_error(&err);
    json_t *texts = texts_json(drawn, n);
    rapt_translations_free(drawn, n);
    return lesson_json(texts);
}
