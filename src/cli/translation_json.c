/* cli/translation_json.c: a translation as JSON. */
#include "cli/translation_out.h"

#include "base/number.h"
#include "decode/token_json_text.h"
#include "io/model_core.h"

#include <math.h>
#include <stdio.h>

static bool put_last(json_t *list, json_t *value)
{
    return json_array_append_new(list, value) == 0;
}

json_t *tokens_json(const rapt_tokenizer *k, const int32_t *ids, size_t count)
{
    json_t *numbers = json_array(), *texts = json_array();
    buffer text = {0};
    bool ok = numbers && texts;
    for (size_t i = 0; i < count && ok; i++)
        ok = token_json_text(&text, k, ids[i]) && put_last(numbers, json_integer(ids[i])) &&
             put_last(texts, json_stringn(text.data ? text.data : "", text.size));
    buffer_free(&text);
    json_t *both = json_pack("{s:o, s:o}", "ids", numbers, "tokens", texts);
    if (ok)
        return both;
    json_decref(both);
    return NULL;
}

/* A float that reads back as the same one. */
static json_t *weight_json(rapt_real weight)
{
    char text[NUMBER_TEXT];
    snprintf(text, sizeof text, "%.9g", (double)weight);
    return json_real(number_read(text, NULL));
}

/* [source token, target token]: the source token with the largest weight; <eos> is not one. */
static json_t *link_json(const rapt_alignment_row *row, size_t target)
{
    size_t best = 0;
    for (size_t i = 1; i < row->count; i++)
        best = row->weights[i] > row->weights[best] ? i : best;
    return json_pack("[I, I]", (json_int_t)(row->first + best), (json_int_t)target);
}

/* A weight for each source token, which is 0 for tokens of the line's other segments, and one for the <eos> at the end. */
static json_t *weights_json(const rapt_alignment_row *row, size_t sources)
{
    json_t *list = json_array();
    bool ok = list != NULL;
    for (size_t i = 0; i <= sources && ok; i++) {
        const bool within = i >= row->first && i - row->first < row->count;
        const rapt_real weight = i == sources ? row->weights[row->count] : within ? row->weights[i - row->first] : 0;
        ok = put_last(list, weight_json(weight));
    }
    if (ok)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *alignment_json(const rapt_alignment *a, bool soft)
{
    json_t *list = json_array();
    bool ok = list != NULL;
    for (size_t j = 0; j < a->targets && ok; j++)
        ok = put_last(list, soft ? weights_json(&a->rows[j], a->sources) : link_json(&a->rows[j], j));
    if (ok)
        return list;
    json_decref(list);
    return NULL;
}

json_t *log_probs_json(const double *log_probs, size_t count)
{
    json_t *list = json_array();
    bool ok = list != NULL;
    for (size_t i = 0; i < count && ok; i++)
        ok = put_last(list, isfinite(log_probs[i]) ? json_real(log_probs[i]) : json_null());
    if (ok)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *hypothesis_json(const translation_json *j, const rapt_hypothesis *h)
{
    json_t *o = json_pack("{s:s, s:f, s:f}", "text", h->text, "score", h->score, "log_prob", h->log_prob);
    bool ok = o != NULL;
    if (ok && j->tokens)
        ok = json_object_set_new(o, "tokens", tokens_json(j->m->translation.target, h->tokens, h->token_count)) == 0 &&
             json_object_set_new(o, "token_log_probs", log_probs_json(h->log_probs, h->token_count)) == 0;
    if (ok && j->alignment)
        ok = json_object_set_new(o, "alignment", alignment_json(&h->alignment, j->soft)) == 0;
    if (ok)
        return o;
    json_decref(o);
    return NULL;
}

json_t *translation_json_of(const translation_json *j, size_t line, const rapt_translation *t)
{
    json_t *words = json_array(), *hypotheses = json_array();
    bool ok = words && hypotheses;
    for (size_t i = 0; i < t->unknown_word_count && ok; i++)
        ok = put_last(words, json_string(t->unknown_words[i]));
    for (size_t i = 0; i < t->count && ok; i++)
        ok = put_last(hypotheses, hypothesis_json(j, &t->hypotheses[i]));
    json_t *o = json_pack("{s:I, s:s, s:b, s:o, s:o}", "line", (json_int_t)line, "text", t->count ? t->hypotheses[0].text : "",
                          "truncated", (int)t->cut, "unknown_words", words, "hypotheses", hypotheses);
    if (ok && o && t->lacks_terms)
        ok = json_object_set_new(o, "lacks_terms", json_true()) == 0;
    if (ok && o && j->tokens)
        ok = json_object_set_new(o, "source", tokens_json(j->m->translation.source, t->source, t->source_count)) == 0;
    if (ok)
        return o;
    json_decref(o);
    return NULL;
}
