/* serve/module/translating.c: requests for translations as jobs of the engine. */
#include "serve/module/translating.h"

#include "base/buffer.h"
#include "base/chars.h"
#include "base/min.h"
#include "base/quote.h"
#include "base/sized.h"
#include "decode/generate_options.h"
#include "io/model_core.h"
#include "serve/module/glossaries.h"
#include "serve/module/reply.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Estimates of bytes: for a line, for each of its bytes, and for its translations. */
enum { LINE = 800, BYTE = 40, HYPOTHESIS = 300, HYPOTHESIS_TOKENS = 200, WITH_TOKENS = 4, WEIGHT = 16, TOKEN = 4 };

/* ---- lifetime --------------------------------------------------------------------------------------------------------- */

translating *translating_new(app *a, exchange *x, const translating_dialect *dialect, request_error *error)
{
    translating *t = calloc(1, sizeof *t);
    if (!t) {
        request_fail(error, 503, NULL, "out of memory for the request");
        return NULL;
    }
    *t = (translating){.app = a, .x = x, .models = app_models(a), .dialect = dialect,
                        .options = rapt_translate_options_default()};
    exchange_hold(x);
    return t;
}

void translating_free(translating *t)
{
    if (!t)
        return;
    if (t->models)
        served_release(t->models);
    exchange_release(t->x);
    glossaries_release(t->glossary);
    rapt_glossary_free(t->terms);
    marked_texts_free(&t->marked);
    free(t->name);
    free(t->source);
    free(t->target);
    free(t->first);
    free(t->characters);
    for (size_t i = 0; i < t->stop_count; i++)
        free(t->stops[i]);
    free(t->stops);
    free(t);
}

void translating_end(translating *t, exchange *x, const translating_dialect *dialect, const request_error *error)
{
    if (!error->status)
        return;
    dialect->fail(x, error);
    translating_free(t);
}

/* ---- the model ---------------------------------------------------------------------------------------------------------- */

void translating_take(translating *t, const served *model, request_error *error)
{
    t->model = model;
    t->m = rapt_engine_model_of(model->model);
    replay_fingerprint(model, t->fingerprint);
    t->name = chars_copy(model->name);
    t->source = model->source ? chars_copy(model->source) : NULL;
    t->target = model->target ? chars_copy(model->target) : NULL;
    if (!t->name || (model->source && !t->source) || (model->target && !t->target))
        request_fail(error, 503, NULL, "out of memory for the request");
}

static bool is_any(const char *source)
{
    return !source || !*source || strcasecmp(source, "auto") == 0;
}

/* Lists the languages of all targets, or of all sources, each once. */
static void list_served_languages(const served_set *set, bool targets, char *list, size_t size)
{
    size_t used = 0;
    list[0] = '\0';
    for (size_t i = 0; i < set->count && used < size; i++) {
        const char *code = targets ? set->models[i].target : set->models[i].source;
        bool seen = set->models[i].task != RAPT_TASK_TRANSLATION || !code;
        for (size_t j = 0; j < i && !seen; j++) {
            const char *other = targets ? set->models[j].target : set->models[j].source;
            seen = set->models[j].task == RAPT_TASK_TRANSLATION && other && strcasecmp(other, code) == 0;
        }
        if (!seen)
            used += (size_t)snprintf(list + used, size - used, "%s%s", used ? ", " : "", code);
    }
}

static void refuse_other_language(const translating *t, const char *field, const char *code, bool target, request_error *error)
{
    char list[160];
    list_served_languages(t->models, target, list, sizeof list);
    request_fail(error, 400, field, "%s%s%s is not supported; %s%s", field ? field : "", field ? ": " : "", quote(code).text,
                 *list ? "there is " : "no model translates", list);
}

/* Says why no model fits: the target, the source, or the two together. */
static void refuse_pair(const translating *t, const char *source, const char *target, request_error *error)
{
    const served_set *set = t->models;
    const translating_dialect *d = t->dialect;
    bool is_source = is_any(source);
    if (!served_pair(set, NULL, target)) {
        refuse_other_language(t, d->target_field, target, true, error);
        return;
    }
    for (size_t i = 0; i < set->count && !is_source; i++)
        is_source = set->models[i].target && served_pair(set, source, set->models[i].target);
    if (!is_source)
        refuse_other_language(t, d->source_field, source, false, error);
    else
        request_fail(error, 400, d->target_field, "no model translates from %s to %s", quote(source).text, quote(target).text);
}

/* The only source language of models to `target`: without a model that identifies languages, nothing else can decide. */
static const served *only_source(const translating *t, const char *target, request_error *error)
{
    const served_set *set = t->models;
    const served *chosen = NULL;
    for (size_t i = 0; i < set->count; i++) {
        const served *m = &set->models[i];
        if (m->task != RAPT_TASK_TRANSLATION || !m->source || served_pair(set, m->source, target) != m)
            continue;
        if (chosen && strcasecmp(chosen->source, m->source) != 0) {
            request_fail(error, 400, t->dialect->source_field, "languages are not detected: say whether the source is %s or %s",
                         chosen->source, m->source);
            return NULL;
        }
        chosen = chosen ? chosen : m;
    }
    return chosen;
}

void translating_choose(translating *t, const char *source, const char *target, request_error *error)
{
    if (error->status)
        return;
    t->any_source = is_any(source);
    const served *model = t->any_source ? only_source(t, target, error) : served_pair(t->models, source, target);
    if (model)
        translating_take(t, model, error);
    else if (!error->status)
        refuse_pair(t, source, target, error);
}

void translating_n_best(translating *t, size_t n)
{
    t->options.n_best = n;
    if (n > 1 && n > t->m->search.beams)
        t->options.beam = n;
}

/* ---- texts as lines ------------------------------------------------------------------------------------------------------- */

/* All lines of a request. */
typedef struct text_lines {
    char *memory;
    rapt_text *line;
    size_t count;
} text_lines;

static void text_lines_free(text_lines *l)
{
    free(l->memory);
    free(l->line);
}

static size_t count_bytes(rapt_text text, char byte)
{
    size_t n = 0;
    for (size_t i = 0; i < text.size; i++)
        n += text.data[i] == byte;
    return n;
}

static size_t count_code_points(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

/* Copies a text to *to, each of its lines without the line feed, and a carriage return before it. */
static void split_text(text_lines *l, const char *text, char **to)
{
    for (bool more = true; more;) {
        size_t size = strcspn(text, "\n");
        more = text[size] == '\n';
        const size_t length = size - (size > 0 && text[size - 1] == '\r');
        l->line[l->count++] = (rapt_text){memcpy(*to, text, length), length};
        *to += length;
        text += size + more;
    }
}

/* The lines of documents as one list, which the documents own. */
static void list_document_lines(translating *t, text_lines *l)
{
    for (size_t i = 0; i < t->marked.count; i++) {
        const size_t count = rapt_markup_count(t->marked.documents[i]);
        t->first[i] = l->count;
        if (count > 0)
            memcpy(l->line + l->count, rapt_markup_lines(t->marked.documents[i]), count * sizeof *l->line);
        l->count += count;
    }
}

/* False: out of memory, more lines than are allowed, or a document that is refused. */
static bool split_texts(translating *t, text_lines *l, const char *const *texts, size_t count, request_error *error)
{
    const size_t limit = app_limits_of(t->app)->texts;
    size_t bytes = 0, lines = 0;
    marked_texts_read(&t->marked, t->x, texts, count, &lines, &bytes, error);
    if (error->status)
        return false;
    t->first = malloc((count + 1) * sizeof *t->first);
    t->characters = malloc((count + 1) * sizeof *t->characters);
    for (size_t i = 0; i < count && t->first && t->characters; i++) {
        t->first[i] = lines;
        t->characters[i] = count_code_points(texts[i]);
        if (t->marked.is_on)
            continue;
        bytes += strlen(texts[i]) + 1;
        lines += count_bytes(rapt_text_of(texts[i]), '\n') + 1;
    }
    if (lines > limit) {
        request_fail(error, 413, NULL, "%zu lines are more than the %zu that a request may have", lines, limit);
        return false;
    }
    l->memory = malloc(bytes + 1);
    l->line = malloc((lines + 1) * sizeof *l->line);
    if (!t->first || !t->characters || !l->memory || !l->line) {
        request_fail(error, 503, NULL, "out of memory for the request");
        return false;
    }
    t->count = count;
    t->first[count] = lines;
    char *to = l->memory;
    for (size_t i = 0; i < count && !t->marked.is_on; i++)
        split_text(l, texts[i], &to);
    list_document_lines(t, l);
    return true;
}

/* ---- replay ------------------------------------------------------------------------------------------------------------- */

static void replay_sampling(replay *r, const rapt_sample_options *s)
{
    const rapt_sample_options defaults = rapt_sample_options_default();
    if (!SIZED_AS_MODEL(s->temperature))
        replay_number(r, "--temperature", s->temperature);
    if (!SIZED_AS_MODEL(s->top_k))
        replay_words(r, " --top-k %zu", s->top_k);
    if (!SIZED_AS_MODEL(s->top_p))
        replay_number(r, "--top-p", s->top_p);
    if (!SIZED_AS_MODEL(s->min_p))
        replay_number(r, "--min-p", s->min_p);
    if (!SIZED_AS_MODEL(s->typical_p))
        replay_number(r, "--typical-p", s->typical_p);
    if (!SIZED_AS_MODEL(s->repetition_penalty))
        replay_number(r, "--repetition-penalty", s->repetition_penalty);
    if (s->seed != defaults.seed)
        replay_words(r, " --seed %llu", (unsigned long long)s->seed);
}

static void replay_options(replay *r, const translating *t)
{
    const rapt_translate_options *o = &t->options;
    if (!SIZED_AS_MODEL(o->beam))
        replay_words(r, " --beam %zu", o->beam);
    if (o->n_best > 1)
        replay_words(r, " --n-best %zu", o->n_best);
    if (o->alternatives)
        replay_words(r, " --alternatives");
    if (!SIZED_AS_MODEL(o->length_penalty))
        replay_number(r, "--length-penalty", o->length_penalty);
    if (o->coverage_penalty > 0)
        replay_number(r, "--coverage-penalty", o->coverage_penalty);
    if (o->patience > 0)
        replay_number(r, "--patience", o->patience);
    if (!SIZED_AS_MODEL(o->no_repeat))
        replay_words(r, " --no-repeat-ngram %zu", o->no_repeat);
    if (!SIZED_AS_MODEL(o->max_ratio))
        replay_number(r, "--max-length-ratio", o->max_ratio);
    if (!SIZED_AS_MODEL(o->min_length))
        replay_words(r, " --min-length %zu", o->min_length);
    replay_sampling(r, &o->sample);
    for (const char *line = o->suppress; line && *line; line += strcspn(line, "\n") + 1)
        replay_text(r, "--suppress", line, strcspn(line, "\n"));
    if (o->prefix)
        replay_text(r, "--prefix", o->prefix, strlen(o->prefix));
    if (o->replace_unknown)
        replay_words(r, " --replace-unknown");
    if (o->alignment)
        replay_words(r, " --alignment %s", t->has_soft_alignment ? "soft" : "hard");
    if (o->tokens)
        replay_words(r, " --tokens");
}

static void tell_replay(const translating *t, const char *const *texts, size_t count)
{
    replay r = {0};
    buffer input = {0};
    bool ok = buffer_reserve(&input, 1);
    for (size_t i = 0; i < count && ok; i++)
        ok = (i == 0 || buffer_append(&input, "\n", 1)) && buffer_append(&input, texts[i], strlen(texts[i]));
    replay_begin(&r, "translate", t->model);
    marked_texts_replay(&r, &t->marked);
    replay_options(&r, t);
    replay_lines(&r, ok ? input.data : "", ok ? input.size : 0);
    const bool own = t->stop_count || t->options.glossary; /* there is no --stop, and --glossary takes a file */
    const bool lines = count > 1 || t->options.n_best > 1 || t->options.prefix; /* for lines, not for a document */
    r.unfaithful = r.unfaithful || !ok || own || (t->marked.is_on && lines);
    replay_headers(t->x, t->model);
    replay_end(&r, t->x);
    buffer_free(&input);
}

/* ---- the job ------------------------------------------------------------------------------------------------------------ */

static bool translating_is_stopped(void *context)
{
    return exchange_gone(((translating *)context)->x);
}

static void translating_done(void *context, rapt_code code, const char *message, const rapt_translation *out)
{
    translating *t = context;
    request_error error = {0};
    reply_body body = {.x = t->x};
    size_t characters = 0;
    if (code)
        request_fail(&error, reply_status(code), NULL, "%s", message ? message : rapt_code_name(code));
    else if (!t->streams)
        t->dialect->body(t, out, &body);
    if (body.out.failed)
        request_fail(&error, 503, NULL, "out of memory for the response");
    for (size_t i = 0; i < t->count; i++)
        characters += t->characters[i];
    if (!error.status)
        metrics_translated(app_metrics(t->app), characters);
    exchange_note(t->x, "texts", (double)t->count);
    exchange_note(t->x, "characters", (double)characters);
    if (t->counts_tokens && !code) {
        const translating_tokens n = translating_count_tokens(t, out);
        exchange_note(t->x, "prompt_tokens", (double)n.source);
        exchange_note(t->x, "generated_tokens", (double)n.target);
    }
    if (error.status) {
        buffer_free(&body.out.bytes);
        t->dialect->fail(t->x, &error);
    } else if (t->streams)
        t->dialect->stream(t, out);
    else
        reply_text(&body);
    translating_free(t);
}

/* The bytes that a hypothesis of a line of `size` bytes may have: about as many, unless a request forces it to be longer, by
 * terms too, or draws it. */
static size_t hypothesis_size(const translating *t, size_t size)
{
    const rapt_translate_options *o = &t->options;
    const size_t most = t->m->translation.net->config.max_positions;
    const double ratio = SIZED_AS_MODEL(o->max_ratio) ? 2 : o->max_ratio, limit = ratio * ((double)size + 1);
    size_t tokens = SIZED_AS_MODEL(o->min_length) ? 0 : MIN(o->min_length, most);
    if (generate_options_ask(&o->sample) || o->glossary)
        tokens = limit < (double)most ? (size_t)limit : most;
    return tokens * TOKEN > size ? tokens * TOKEN : size;
}

/* The bytes of a line's alignment: for each word of the translation, weights of the words of its segment, which a model's
 * positions bound; in a response of all words. Scripts without spaces have a word in a character, and other texts one in eight
 * bytes at least. */
static size_t alignment_bytes(const translating *t, rapt_text line)
{
    const size_t most = t->has_soft_alignment ? SIZE_MAX : t->m->translation.net->config.max_positions;
    size_t words = 1;
    for (size_t i = 0; i < line.size; i++)
        words += line.data[i] == ' ' || (unsigned char)line.data[i] >= 0xE0;
    words = words > line.size / 8 ? words : line.size / 8;
    return words * MIN(words, most) * WEIGHT;
}

/* Asks for the memory of lines in the engine, and of their hypotheses in the response. */
static bool ask_for_lines(const translating *t, const text_lines *l, request_error *error)
{
    const rapt_translate_options *o = &t->options;
    const size_t own = t->m->search.beams, beam = !SIZED_AS_MODEL(o->beam) ? o->beam : own ? own : 1, best = o->n_best;
    const size_t each = HYPOTHESIS + (o->tokens || o->alignment || t->counts_tokens || t->marked.is_on ? HYPOTHESIS_TOKENS : 0);
    const bool aligned = t->has_soft_alignment || t->marked.is_on;
    size_t bytes = t->terms_bytes + t->marked.bytes * (t->marked.is_on ? 1 + best * REPLY_COPIES : 1);
    for (size_t i = 0; i < l->count; i++) {
        const size_t size = l->line[i].size;
        const size_t reply = REPLY_COPIES * hypothesis_size(t, size) * (o->tokens ? WITH_TOKENS : 1);
        bytes += LINE + BYTE * size + best * (each + reply);
        if (aligned)
            bytes += best * alignment_bytes(t, l->line[i]);
    }
    return request_asks(t->x, ADMISSION_MAKING, bytes, error, "%zu line%s with %zu of %s%zu hypotheses%s", l->count,
                        l->count == 1 ? "" : "s", best, o->glossary ? "at least " : "", beam,
                        aligned ? " and their alignments" : "");
}

void translating_submit(translating *t, const char *const *texts, size_t count, request_error *error)
{
    rapt_error why = {0};
    text_lines lines = {0};
    if (error->status || !split_texts(t, &lines, texts, count, error) || !ask_for_lines(t, &lines, error)) {
        text_lines_free(&lines);
        return;
    }
    rapt_translate_options options = t->options;
    options.tokens = t->options.tokens || t->counts_tokens || t->marked.is_on;
    options.alignment = t->options.alignment || t->marked.is_on;
    options.spans = t->marked.is_on;
    const rapt_engine_translation request = {.lines = lines.line, .count = lines.count, .options = &options,
                                             .on_done = translating_done, .stop = translating_is_stopped, .context = t};
    exchange_note_model(t->x, t->model->name);
    tell_replay(t, texts, count);
    served_set *models = t->models;
    const served *model = t->model;
    t->models = NULL;
    if (rapt_engine_translate(model->model, &request, NULL, &why)) /* after success, t belongs to the engine */
        request_fail(error, reply_status(why.code), NULL, "%s", why.message);
    served_release(models);
    text_lines_free(&lines);
}

/* ---- lines as texts ----------------------------------------------------------------------------------------------------- */

translating_tokens translating_count_tokens(const translating *t, const rapt_translation *lines)
{
    translating_tokens n = {0};
    for (size_t i = 0; i < t->first[t->count]; i++) {
        n.source += lines[i].source_count;
        n.target += translating_hypothesis(&lines[i], 0)->token_count;
    }
    return n;
}

size_t translating_hypotheses(const translating *t, const rapt_translation *lines, size_t text)
{
    size_t most = 0;
    for (size_t i = t->first[text]; i < t->first[text + 1]; i++)
        most = lines[i].count > most ? lines[i].count : most;
    return t->first[text] == t->first[text + 1] ? 1 : most;
}

const rapt_hypothesis *translating_hypothesis(const rapt_translation *line, size_t n)
{
    static const rapt_hypothesis none = {.text = ""};
    if (line->count == 0)
        return &none;
    return &line->hypotheses[n < line->count ? n : line->count - 1];
}

json_t *translating_text(const translating *t, const rapt_translation *lines, size_t text, size_t n)
{
    if (t->marked.is_on)
        return marked_texts_write(&t->marked, text, lines + t->first[text], n);
    buffer b = {0};
    bool ok = buffer_reserve(&b, 1);
    for (size_t i = t->first[text]; i < t->first[text + 1] && ok; i++) {
        const char *line = translating_hypothesis(&lines[i], n)->text;
        ok = (i == t->first[text] || buffer_append(&b, "\n", 1)) && buffer_append(&b, line, strlen(line));
    }
    json_t *string = ok ? json_stringn(b.data, b.size) : NULL;
    buffer_free(&b);
    return string;
}
