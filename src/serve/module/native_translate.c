/* serve/module/native_translate.c: POST /v1/translate. */
#include "serve/module/native.h"

#include "base/sized.h"
#include "decode/generate_options.h"
#include "io/model_core.h"
#include "serve/module/openai.h"
#include "serve/module/openai_error.h"
#include "serve/module/replay.h"
#include "serve/module/reply.h"
#include "serve/module/translating.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the response ------------------------------------------------------------------------------------------------------- */

/* The weight of a source token, or of the <eos> after the last one; 0 for tokens of the line's other segments. */
static double attention_of(const rapt_alignment_row *row, size_t source, size_t sources)
{
    if (source == sources)
        return (double)row->weights[row->count];
    return source >= row->first && source - row->first < row->count ? (double)row->weights[source - row->first] : 0;
}

/* [source token, target token]: the source token with the largest weight; <eos> is not one. */
static json_t *hard_link(const rapt_alignment_row *row, size_t target)
{
    size_t best = 0;
    for (size_t i = 1; i < row->count; i++)
        best = row->weights[i] > row->weights[best] ? i : best;
    return json_pack("[I, I]", (json_int_t)(row->first + best), (json_int_t)target);
}

static void put_soft_row(reply_body *to, const rapt_alignment_row *row, size_t sources)
{
    for (size_t i = 0; reply_list(to, i, sources + 1); i++)
        reply_put(to, reply_real((rapt_real)attention_of(row, i, sources)));
}

/* A long line's alignment is large: the estimate does not cover its weights, so memory is asked for as they are written. */
static void put_alignment(const translating *t, reply_body *to, const rapt_alignment *a)
{
    reply_put_words(to, ",\"alignment\":");
    for (size_t j = 0; reply_list(to, j, a->targets); j++)
        if (t->has_soft_alignment)
            put_soft_row(to, &a->rows[j], a->sources);
        else
            reply_put(to, hard_link(&a->rows[j], j));
}

/* Scores of a text's lines add up, as the scores of a line's segments do. */
static void put_hypothesis(const translating *t, const rapt_translation *lines, size_t text, size_t n, reply_body *to)
{
    double score = 0, log_prob = 0;
    for (size_t i = t->first[text]; i < t->first[text + 1]; i++) {
        score += translating_hypothesis(&lines[i], n)->score;
        log_prob += translating_hypothesis(&lines[i], n)->log_prob;
    }
    const rapt_hypothesis none = {0}, *h = t->marked.is_on ? &none : translating_hypothesis(&lines[t->first[text]], n);
    reply_put_open(to, json_pack("{s:o, s:f, s:f}", "text", translating_text(t, lines, text, n), "score", score, "log_prob",
                                 log_prob));
    if (t->options.tokens) {
        reply_put_words(to, ",\"tokens\":");
        native_put_tokens(to, t->m->translation.target, h->tokens, h->token_count);
        reply_put_words(to, ",\"token_log_probs\":");
        for (size_t i = 0; reply_list(to, i, h->token_count); i++)
            reply_put(to, json_real(h->log_probs[i]));
    }
    if (t->options.alignment)
        put_alignment(t, to, &h->alignment);
    reply_put_words(to, "}");
}

/* Adds the unknown words of all lines of a text; false: out of memory. */
static bool add_unknown_words(const translating *t, const rapt_translation *lines, size_t text, json_t *list)
{
    bool ok = list != NULL;
    for (size_t i = t->first[text]; i < t->first[text + 1]; i++)
        for (size_t k = 0; ok && k < lines[i].unknown_word_count; k++)
            ok = json_array_append_new(list, json_string(lines[i].unknown_words[k])) == 0;
    return ok;
}

static void put_translation(const translating *t, const rapt_translation *lines, size_t text, reply_body *to)
{
    const rapt_translation *line = &lines[t->first[text]];
    bool cut = false, lacks = false;
    for (size_t i = t->first[text]; i < t->first[text + 1]; i++) {
        cut = cut || lines[i].cut;
        lacks = lacks || lines[i].lacks_terms;
    }
    json_t *own = json_pack("{s:o, s:b, s:[], s:n}", "text", translating_text(t, lines, text, 0), "truncated", cut,
                            "unknown_words", "hypotheses");
    to->out.failed = !add_unknown_words(t, lines, text, json_object_get(own, "unknown_words")) || to->out.failed;
    reply_frame frame = reply_frame_new(own, "hypotheses");
    reply_frame_open(&frame, to);
    for (size_t n = 0; reply_list(to, n, translating_hypotheses(t, lines, text)); n++)
        put_hypothesis(t, lines, text, n, to);
    if (lacks)
        reply_put_words(to, ",\"lacks_terms\":true");
    if (t->options.tokens) {
        reply_put_words(to, ",\"source\":");
        native_put_tokens(to, t->m->translation.source, line->source, line->source_count);
    }
    reply_frame_close(&frame, to);
}

static void native_body(const translating *t, const rapt_translation *lines, reply_body *to)
{
    reply_frame frame = reply_frame_new(json_pack("{s:s, s:s?, s:s?, s:n}", "model", t->name, "source", t->source, "target",
                                                  t->target, "translations"), "translations");
    reply_frame_open(&frame, to);
    for (size_t i = 0; reply_list(to, i, t->count); i++)
        put_translation(t, lines, i, to);
    reply_frame_close(&frame, to);
}

static const translating_dialect NATIVE = {.source_field = "source", .target_field = "target", .body = native_body,
                                           .fail = openai_refuse};

enum { MAX_SUPPRESSED = 64 };

/* ---- the request -------------------------------------------------------------------------------------------------------- */

void native_choose_translator(translating *t, fields *f)
{
    const char *source = fields_text(f, "source"), *target = fields_text(f, "target");
    if (!source && !target) {
        static const rapt_task tasks[] = {RAPT_TASK_TRANSLATION};
        const served *s = openai_model(f, t->models, tasks, 1);
        if (s)
            translating_take(t, s, f->error);
        return;
    }
    if (fields_text(f, "model"))
        fields_fail(f, "model", "a model, or languages, not both");
    if (!target)
        fields_fail(f, "target", "this field is required with a source");
    translating_choose(t, source, target, f->error);
}

static void read_draws(rapt_sample_options *s, fields *f)
{
    s->temperature = fields_number(f, "temperature", RAPT_AS_MODEL, 0, 1e6);
    s->top_k = (size_t)fields_integer(f, "top_k", RAPT_AS_MODEL, 0, INT32_MAX);
    s->top_p = fields_number(f, "top_p", RAPT_AS_MODEL, 0, 1);
    s->min_p = fields_number(f, "min_p", RAPT_AS_MODEL, 0, 1);
    s->typical_p = fields_number(f, "typical_p", RAPT_AS_MODEL, 0, 1);
    s->repetition_penalty = fields_number(f, "repetition_penalty", RAPT_AS_MODEL, 0.001, 1000);
    s->seed = (uint64_t)fields_integer(f, "seed", 1, 0, REPLAY_MAX_SEED);
    if (s->top_p == 0)
        s->top_p = 1;
}

static void read_search_options(translating *t, fields *f)
{
    rapt_translate_options *o = &t->options;
    const int64_t most = (int64_t)app_limits_of(t->app)->n;
    o->beam = (size_t)fields_integer(f, "beam", RAPT_AS_MODEL, 1, most);
    o->n_best = (size_t)fields_integer(f, "n_best", 1, 1, most);
    o->length_penalty = fields_number(f, "length_penalty", RAPT_AS_MODEL, -10, 10);
    o->coverage_penalty = fields_number(f, "coverage_penalty", 0, 0, 10);
    o->patience = fields_number(f, "patience", 0, 0.01, 16);
    o->no_repeat = (size_t)fields_integer(f, "no_repeat_ngram", RAPT_AS_MODEL, 0, 1024);
    o->max_ratio = fields_number(f, "max_length_ratio", RAPT_AS_MODEL, 0.01, 1000);
    o->min_length = (size_t)fields_integer(f, "min_length", RAPT_AS_MODEL, 0, 65536);
    o->prefix = fields_text(f, "prefix");
    o->alternatives = fields_flag(f, "alternatives", false);
    o->replace_unknown = fields_flag(f, "replace_unknown", false);
    read_draws(&o->sample, f);
    if (!t->m)
        return;
    const bool draws = generate_options_ask(&o->sample);
    const size_t own = draws ? 1 : o->alternatives ? o->n_best : t->m->search.beams;
    const size_t beam = !SIZED_AS_MODEL(o->beam) ? o->beam : own ? own : 1;
    if (draws && beam > 1)
        fields_fail(f, "beam", "a beam does not sample: not with temperature, top_k, top_p, min_p and typical_p");
    if (o->n_best > beam)
        fields_fail(f, "n_best", "%zu hypotheses need a beam of %zu or more", o->n_best, o->n_best);
}

/* The texts of "suppress" as lines, to be freed after the engine has read them; NULL: none. */
static char *read_suppressed(translating *t, fields *f)
{
    size_t count, size = 1;
    const char **texts = fields_texts(f, "suppress", 0, MAX_SUPPRESSED, &count, NULL);
    for (size_t i = 0; i < count; i++) {
        size += strlen(texts[i]) + 1;
        if (!*texts[i] || strpbrk(texts[i], "\r\n"))
            fields_fail(f, "suppress", "text %zu: one line is expected", i);
    }
    char *lines = count ? malloc(size) : NULL, *to = lines;
    if (count && !lines)
        request_fail(f->error, 503, NULL, "out of memory for the request");
    for (size_t i = 0; i < count && lines; i++)
        to += sprintf(to, "%s\n", texts[i]);
    free(texts);
    t->options.suppress = lines;
    return lines;
}

/* An object of sources and their targets. */
static void read_glossary(translating *t, fields *f)
{
    enum { TERM = 120 };
    json_t *object = fields_value(f, "glossary"), *target;
    rapt_error why = {0};
    size_t count = 0;
    const char *source;
    if (!object)
        return;
    if (!json_is_object(object)) {
        fields_fail(f, "glossary", "an object of texts and what they are translated to is expected");
        return;
    }
    json_object_foreach(object, source, target)
        t->terms_bytes += TERM + 2 * (strlen(source) + json_string_length(target));
    if (!request_asks(t->x, ADMISSION_MAKING, t->terms_bytes, f->error, "a glossary of %zu terms", json_object_size(object)))
        return;
    rapt_glossary_term *terms = malloc((json_object_size(object) + 1) * sizeof *terms);
    json_object_foreach(object, source, target) {
        if (!json_is_string(target))
            fields_fail(f, "glossary", "\"%.60s\": a string is expected", source);
        else if (terms)
            terms[count++] = (rapt_glossary_term){rapt_text_of(source), rapt_text_of(json_string_value(target))};
    }
    if (!terms)
        request_fail(f->error, 503, NULL, "out of memory for the request");
    else if (!f->error->status && !(t->terms = rapt_glossary_new("glossary", terms, count, &why)))
        request_fail(f->error, reply_status(why.code), "glossary", "%s", why.message);
    t->options.glossary = t->terms;
    free(terms);
}

static void read_format(translating *t, fields *f)
{
    static const char *const formats[] = {"text", "html", "xml"};
    marked_texts_format(&t->marked, fields_word(f, "format", formats, 3, 0));
    marked_texts_fields(&t->marked, f, "format");
}

/* Tokens and alignments belong to one line, so that texts of several lines are refused with them. */
static void read_insights(translating *t, fields *f, const char **texts, size_t count)
{
    enum { HARD, SOFT, NONE };
    static const char *const kinds[] = {"hard", "soft"};
    size_t kind = fields_word(f, "alignment", kinds, 2, NONE);
    t->options.alignment = kind != NONE;
    t->has_soft_alignment = kind == SOFT;
    t->options.tokens = fields_flag(f, "tokens", false);
    if (t->marked.is_on && (t->options.alignment || t->options.tokens))
        fields_fail(f, t->options.alignment ? "alignment" : "tokens", "a document has many lines; this is of one");
    for (size_t i = 0; i < count && (t->options.alignment || t->options.tokens); i++)
        if (strchr(texts[i], '\n'))
            fields_fail(f, t->options.alignment ? "alignment" : "tokens", "text %zu has several lines; this is of one", i);
}

void native_translate(app *a, exchange *x)
{
    request_error error = {0};
    fields f;
    size_t count = 0;
    translating *t = translating_new(a, x, &NATIVE, &error);
    fields_read(&f, x, false, &error);
    const char **texts = native_texts(&f, app_limits_of(a)->texts, &count, NULL);
    char *suppressed = NULL;
    if (t) {
        native_choose_translator(t, &f);
        read_search_options(t, &f);
        read_format(t, &f);
        read_glossary(t, &f);
        read_insights(t, &f, texts, count);
        suppressed = read_suppressed(t, &f);
    }
    fields_finish(&f);
    translating_submit(t, texts, count, &error);
    translating_end(t, x, &NATIVE, &error);
    free(suppressed);
    free(texts);
    fields_free(&f);
}
