/* decode/translate_text.c: the lines of one run as segments, and their translations. source_segments.c splits lines. */
#include "decode/translate_text.h"

#include "base/quote.h"
#include "base/sized.h"
#include "decode/known_words.h"
#include "decode/token_spans.h"
#include "io/model_core.h"
#include "text/prose/capitalize.h"
#include "text/prose/detokenize.h"

#include <stdlib.h>
#include <string.h>

/* ---- from lines to segments --------------------------------------------------------------------------------------- */

static source_limits translate_limits(const translate_setup *s)
{
    const rapt_translation_model *m = &s->m->translation;
    const rapt_sentence_split split = s->o.split;
    const bool fairseq = m->net->config.sinusoid_layout == RAPT_SINUSOID_LAYOUT_FAIRSEQ; /* such models count other tokens only */
    return (source_limits){
        .max_len = m->max_len,
        .by_sentence = split == RAPT_SENTENCE_SPLIT_AS_TRAINED ? m->by_sentence : split == RAPT_SENTENCE_SPLIT_ALL,
        .specials = m->specials_in_text,
        .eos = m->special.eos,
        .skipped = fairseq ? m->special.pad : -1,
        .padding = m->special.pad,
        .unknown = known_words_id(m->source),
        .begin = s->lang.begin,
        .begin_count = s->lang.count,
    };
}

/* The forced prefixes of the lines: *begins has one for each line, or one for all (*each: false), or is NULL. */
static rapt_code translate_set_prefixes(translate_text *x, const rapt_translator_request *r, const prefixes *otherwise,
                                        const search_prefix **begins, bool *each, rapt_error *err)
{
    const rapt_text own = rapt_text_of(x->settings.o.prefix); /* the request's; the setup has none */
    const rapt_text *texts = r->prefixes ? r->prefixes : own.data ? &own : NULL;
    *each = r->prefixes != NULL;
    *begins = texts || r->options || otherwise->count == 0 ? NULL : otherwise->prefix;
    if (!texts)
        return RAPT_OK;
    rapt_code code = prefixes_encode(&x->prefix, x->setup->m, &x->setup->lang.policy, texts, *each ? x->count : 1, err);
    *begins = x->prefix.prefix;
    return code;
}

static int translate_by_length(const void *a, const void *b)
{
    const source_segment *x = (*(translate_item *const *)a)->source, *y = (*(translate_item *const *)b)->source;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* Which random numbers segment `i` of a line draws by, whatever portions the lines come in. */
static uint64_t translate_row(const translate_text *x, size_t line, size_t i)
{
    return ((uint64_t)i << 40) + x->first_line + line;
}

/* If a line has several segments, the first one begins with the prefix. */
static rapt_code translate_set_items(translate_text *x, const search_prefix *begins, bool each, rapt_error *err)
{
    const size_t count = x->source.count;
    x->segments = calloc(count + 1, sizeof *x->segments);
    x->items = calloc(count + 1, sizeof *x->items);
    x->order = calloc(count + 1, sizeof *x->order);
    if (!x->segments || !x->items || !x->order)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu translations", x->count);
    for (size_t line = 0; line < x->count; line++)
        for (size_t i = x->first[line]; i < x->first[line + 1]; i++) {
            const search_prefix begin = begins && i == x->first[line] ? begins[each ? line : 0] : (search_prefix){0};
            x->items[i] = (translate_item){x, &x->source.segment[i], begin, line, translate_row(x, line, i - x->first[line]),
                                           false, &x->segments[i], {0}};
            x->order[i] = &x->items[i];
        }
    if (count > 0)
        qsort(x->order, count, sizeof *x->order, translate_by_length);
    atomic_init(&x->left, count);
    return RAPT_OK;
}

/* The line's tokens that take the place of its text; NULL: its text. */
static const rapt_source_tokens *translate_line_tokens(const translate_text *x, size_t line)
{
    return x->tokens && x->tokens[line].ids ? &x->tokens[line] : NULL;
}

static rapt_code translate_encode_tokens(translate_text *x, size_t line, const source_limits *limits, rapt_error *err)
{
    rapt_error reason = {0};
    const rapt_code code = source_segments_add_tokens(&x->source, *limits, translate_line_tokens(x, line),
                                                      x->setup->m->translation.net->config.source_vocab, &x->fits[line], &reason);
    x->fits[line].unknown = false; /* there is no text in which unknown words could be found */
    return code ? rapt_fail(err, code, "line %zu: %s", line + 1, reason.message) : RAPT_OK;
}

static rapt_code translate_encode_text(translate_text *x, size_t line, source_limits limits, rapt_error *err)
{
    if (!x->lines || !x->lines[line].data || (x->tokens && x->tokens[line].count > 0))
        return rapt_fail(err, RAPT_ERR_VALUE, "line %zu has neither a text nor tokens", line + 1);
    const rapt_code code = languages_of_line(x->setup->m, x->lines[line], &limits.language, &limits.language_size, err);
    return code ? code
                : source_segments_add(&x->source, x->setup->m->translation.source, limits, x->lines[line], &x->fits[line], err);
}

static rapt_code translate_encode_lines(translate_text *x, rapt_error *err)
{
    const source_limits limits = translate_limits(x->setup);
    rapt_code code = RAPT_OK;
    x->first = calloc(x->count + 1, sizeof *x->first);
    x->fits = calloc(x->count + 1, sizeof *x->fits);
    if (!x->first || !x->fits)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu lines", x->count);
    for (size_t i = 0; i < x->count && !code; i++) {
        code = translate_line_tokens(x, i) ? translate_encode_tokens(x, i, &limits, err)
                                           : translate_encode_text(x, i, limits, err);
        x->first[i + 1] = x->source.count;
    }
    return code;
}

static rapt_code translate_find_terms(translate_text *x, rapt_error *err)
{
    const rapt_glossary *g = x->settings.o.glossary;
    rapt_code code = RAPT_OK;
    for (size_t line = 0; line < x->count && g && !code; line++) {
        const size_t first = x->first[line], count = x->first[line + 1] - first;
        segment_terms *terms = count > 0 && !translate_line_tokens(x, line) ? calloc(count, sizeof *terms) : NULL;
        if (count == 0 || translate_line_tokens(x, line))
            continue;
        if (!terms)
            return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the terms of %zu lines", x->count);
        code = terms_find(x->setup->m, g, x->lines[line], x->source.segment + first, count, terms, err);
        for (size_t i = 0; i < count; i++) /* after a failure, too: they are freed with the items */
            x->items[first + i].terms = terms[i];
        for (size_t i = 0; i < count && !code; i++) {
            const size_t beam = search_beam(&x->settings.search, &(search_phrases){terms[i].phrases, terms[i].count});
            x->beam = beam > x->beam ? beam : x->beam;
        }
        free(terms);
    }
    return code;
}

rapt_code translate_text_encode(translate_text *x, const translate_setup *setup, const rapt_translator_request *request,
                                const prefixes *prefix, rapt_error *err)
{
    const search_prefix *begins;
    bool each;
    thread_mutex_init(&x->lock);
    x->setup = setup;
    x->tokens = request->tokens;
    x->first_line = request->first_line;
    x->failed = SIZE_MAX;
    rapt_code code = sized_check_reserved(request->reserved, sizeof request->reserved, "translator_request", err);
    code = code ? code : translate_settings_init(&x->settings, setup, request->options, err);
    code = code ? code : translate_set_prefixes(x, request, prefix, &begins, &each, err);
    code = code ? code : translate_encode_lines(x, err);
    code = code ? code : translate_set_items(x, begins, each, err);
    x->beam = x->settings.o.beam;
    return code ? code : translate_find_terms(x, err);
}

void translate_text_free(translate_text *x)
{
    if (x->segments)
        rapt_translations_free(x->segments, x->source.count);
    for (size_t i = 0; x->items && i < x->source.count; i++)
        terms_free(&x->items[i].terms);
    free(x->segments);
    free(x->items);
    free(x->order);
    free(x->first);
    free(x->fits);
    prefixes_free(&x->prefix);
    translate_settings_free(&x->settings);
    source_segments_free(&x->source);
    thread_mutex_free(&x->lock);
}

/* ---- what happens to segments ------------------------------------------------------------------------------------- */

bool translate_text_is_stopped(const translate_item *item)
{
    const translate_text *x = item->text;
    return (x->stop_all && x->stop_all(x->context)) || (x->stop && x->stop(x->context, item->line));
}

/* Ends `count` items. */
static void translate_drop(translate_text *x, size_t count)
{
    atomic_bool *ended = x->ended; /* x may be freed as soon as no item is left */
    if (count > 0 && atomic_fetch_sub(&x->left, count) == count && ended)
        atomic_store(ended, true);
}

void translate_text_end(translate_item *item)
{
    translate_drop(item->text, 1);
}

size_t translate_text_waiting(const translate_text *x)
{
    return x->source.count - x->next;
}

size_t translate_text_running(const translate_text *x)
{
    return atomic_load(&x->left) - translate_text_waiting(x);
}

void translate_text_check(translate_text *x)
{
    const size_t first = x->next;
    if (translate_text_waiting(x) > 0 && x->stop_all && x->stop_all(x->context))
        x->next = x->source.count;
    while (x->next < x->source.count && !translate_text_is_wanted(x->order[x->next]))
        x->next++;
    translate_drop(x, x->next - first);
}

void translate_text_fail(translate_item *item, const rapt_error *err)
{
    translate_text *x = item->text;
    thread_lock(&x->lock);
    if (item->source->index < x->failed) {
        x->failed = item->source->index;
        x->error = *err;
    }
    thread_unlock(&x->lock);
    translate_text_end(item);
}

bool translate_text_is_wanted(const translate_item *item)
{
    translate_text *x = item->text;
    thread_lock(&x->lock);
    bool wanted = item->source->index < x->failed;
    thread_unlock(&x->lock);
    return wanted;
}

/* ---- from segments to lines --------------------------------------------------------------------------------------- */

static rapt_code translate_replace(char **text, char *by, rapt_error *err)
{
    if (!by)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a translation");
    free(*text);
    *text = by;
    return RAPT_OK;
}

/* The texts of all hypotheses, from the model's tokens to raw text: detokenized, and capitalized. */
static rapt_code write_raw_text(const translate_setup *s, rapt_translation *out, rapt_error *err)
{
    rapt_language language = s->o.detokenize ? s->o.detokenize : s->m->translation.detokenize;
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < out->count && !s->o.as_tokens && !code; i++) {
        char **text = &out->hypotheses[i].text;
        if (language)
            code = translate_replace(text, detokenize(*text, language, s->m->translation.capitalize), err);
        else if (s->m->translation.capitalize)
            code = translate_replace(text, capitalize(*text), err);
    }
    return code;
}

static rapt_code tell_unknown_words(const translate_text *x, size_t line, rapt_translation *out, rapt_error *err)
{
    unknown_list list;
    const rapt_translation_model *m = &x->setup->m->translation;
    rapt_code code = known_words_find(m->source, x->lines[line], m->specials_in_text, &list, err);
    out->unknown_words = list.words;
    out->unknown_word_count = list.count;
    return code;
}

/* A line that was cancelled is translated as an empty one. */
static rapt_code translate_write_line(translate_text *x, size_t line, rapt_translation *out, rapt_error *err)
{
    const size_t first = x->first[line], count = x->first[line + 1] - first;
    out->split = x->fits[line].split;
    out->cut = x->fits[line].cut;
    for (size_t i = first; i < first + count; i++) {
        out->cancelled |= x->items[i].stopped;
        out->lacks_terms |= x->items[i].terms.lacks;
    }
    rapt_code code = source_segments_join(x->segments + first, out->cancelled ? 0 : count, out, err);
    if (!code && x->fits[line].unknown)
        code = tell_unknown_words(x, line, out, err);
    code = code ? code : write_raw_text(x->setup, out, err);
    if (!code && x->settings.o.spans)
        code = token_spans_find(x, first, count, out, err);
    return code;
}

static rapt_code translate_failure(const translate_text *x, rapt_error *err)
{
    if (x->error.code == RAPT_ERR_MEMORY)
        return rapt_fail(err, x->error.code, "%s", x->error.message);
    const size_t number = x->items[x->failed].line;
    if (translate_line_tokens(x, number))
        return rapt_fail(err, x->error.code, "line %zu: %s", number + 1, x->error.message);
    const rapt_text line = x->lines[number];
    return rapt_fail(err, x->error.code, "\"%s\": %s", quote_bytes(line.data, line.size).text, x->error.message);
}

rapt_code translate_text_write(translate_text *x, rapt_translation *out, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    memset(out, 0, x->count * sizeof *out);
    if (x->failed != SIZE_MAX)
        return translate_failure(x, err);
    for (size_t i = 0; i < x->count && !code; i++)
        code = translate_write_line(x, i, &out[i], err);
    if (code)
        rapt_translations_free(out, x->count);
    return code;
}
