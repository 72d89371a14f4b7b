/* serve/module/native_score.c: POST /v1/translate/score. The worker that reads the request encodes its pairs; the engine's thread
 * computes their passes, a call for each batch, so that other requests are computed between. */
#include "serve/module/native.h"

#include "data/pairs.h"
#include "decode/pair_scoring.h"
#include "engine/engine_core.h"
#include "io/model_core.h"
#include "serve/module/calls.h"
#include "serve/module/openai_error.h"
#include "serve/module/translating.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Estimates of bytes: for a pair; for each byte of its texts, with their tokens; for a byte of a translation, which may be a
 * token, with its log-probability and what the response says of it. */
enum { PAIR = 400, TEXT_BYTE = 24, SCORED_BYTE = 48, TOLD_BYTE = 80 };

/* A request, until it is answered. */
typedef struct scoring {
    call_run calls;
    translating *choice; /* its exchange, and the names of its model and languages */
    rapt_pairs *pairs;
    pair_scoring of;
    rapt_tape *tape;     /* of the engine's model */
    size_t count;        /* pairs of the request, some of which may be empty */
    bool tokens;
} scoring;

static void scoring_free(scoring *s)
{
    if (s->calls.x)
        calls_free(&s->calls);
    pair_scoring_free(&s->of);
    rapt_pairs_free(s->pairs);
    translating_free(s->choice);
    free(s);
}

/* ---- the response ------------------------------------------------------------------------------------------------------- */

static json_t *finite_json(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* The members that `rapt eval --each --json` has. */
static void put_score(const scoring *s, const int32_t *ids, const double *log_probs, size_t count, reply_body *to)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += log_probs[i];
    reply_put_open(to, json_pack("{s:o, s:o, s:I}", "log_prob", finite_json(count ? sum : NAN), "mean_log_prob",
                                 finite_json(sum / (double)count), "token_count", (json_int_t)count));
    if (s->tokens) {
        reply_put_words(to, ",\"tokens\":");
        native_put_tokens(to, s->of.m->translation.target, ids, count);
        reply_put_words(to, ",\"token_log_probs\":");
        for (size_t i = 0; reply_list(to, i, count); i++)
            reply_put(to, finite_json(log_probs[i]));
    }
    reply_put_words(to, "}");
}

static void scoring_write(scoring *s, reply_body *to)
{
    rapt_pair_scores scores = pair_scoring_take(&s->of);
    size_t next = 0;
    reply_frame frame = reply_frame_new(json_pack("{s:s, s:s?, s:s?, s:n}", "model", s->choice->name, "source",
                                                  s->choice->source, "target", s->choice->target, "scores"), "scores");
    reply_frame_open(&frame, to);
    for (size_t i = 0; reply_list(to, i, s->count); i++) {
        const bool is_pair = next < scores.count && rapt_pairs_line(s->pairs, next) == i + 1;
        const size_t at = is_pair ? scores.begins[next] : 0, count = is_pair ? scores.begins[next + 1] - at : 0;
        put_score(s, scores.tokens + at, scores.log_probs + at, count, to);
        next += is_pair;
    }
    reply_frame_close(&frame, to);
    rapt_pair_scores_free(&scores);
}

/* A call_run's `end`. */
static void scoring_end(call_run *calls)
{
    scoring *s = (scoring *)calls;
    reply_body body = {.x = calls->x};
    exchange_note(calls->x, "pairs", (double)s->count);
    exchange_note(calls->x, "prompt_tokens", (double)s->of.sums.tokens);
    if (calls->error.status)
        openai_refuse(calls->x, &calls->error);
    else {
        scoring_write(s, &body);
        reply_text(&body);
    }
    scoring_free(s);
}

/* Its `compute`. */
static rapt_code scoring_compute(call_run *calls, size_t i, rapt_error *err)
{
    scoring *s = (scoring *)calls;
    return pair_scoring_batch(&s->of, s->tape, i, NULL, err);
}

/* ---- the request -------------------------------------------------------------------------------------------------------- */

static size_t scoring_bytes(const scoring *s, const char *const *texts, const char *const *translations)
{
    size_t bytes = s->count * PAIR;
    for (size_t i = 0; i < s->count; i++)
        bytes += strlen(texts[i]) * TEXT_BYTE + strlen(translations[i]) * (TEXT_BYTE + SCORED_BYTE + (s->tokens ? TOLD_BYTE : 0));
    return bytes;
}

/* Encodes the pairs, and asks for memory: for them and their scores before, for the passes when their lengths are known. */
static void scoring_encode(scoring *s, const char *const *texts, const char *const *translations, bool strict,
                           request_error *error)
{
    rapt_error why = {0};
    exchange *x = s->choice->x;
    rapt_score_options o = rapt_score_options_default();
    o.strict = strict;
    o.stop = exchange_stops;
    o.context = x;
    size_t pass = 0;
    const size_t bytes = scoring_bytes(s, texts, translations);
    if (error->status || !request_asks(x, ADMISSION_MAKING, bytes, error, "%zu pairs", s->count))
        return;
    s->pairs = pairs_of_lines(texts, translations, s->count, &why);
    rapt_code code = s->pairs ? pair_scoring_begin(&s->of, s->choice->m, s->pairs, &o, true, true, &why) : why.code;
    code = code ? code : pair_scoring_memory(&s->of, &pass, &why);
    if (code)
        request_fail(error, reply_status(code), NULL, "%s", why.message);
    else
        request_asks(x, ADMISSION_MAKING, bytes + pass, error, "the pass of the longest pair, of %zu bytes,", pass);
}

/* `rapt eval` has no --kv-cache for pairs. */
static void scoring_replay(const scoring *s, const char *const *texts, const char *const *translations)
{
    buffer lines = {0};
    const char *options = s->choice->model->options;
    replay r = {.unfaithful = options && (strstr(options, "--kv-cache") || strstr(options, "--from") || strstr(options, "--to"))};
    for (size_t i = 0; i < s->count; i++)
        r.unfaithful = r.unfaithful || strchr(texts[i], '\t') || strchr(translations[i], '\t') ||
                       (i > 0 && !buffer_append(&lines, "\n", 1)) || !buffer_append(&lines, texts[i], strlen(texts[i])) ||
                       !buffer_append(&lines, "\t", 1) || !buffer_append(&lines, translations[i], strlen(translations[i]));
    replay_begin(&r, "eval", s->choice->model);
    replay_words(&r, " - --each%s", s->tokens ? " --tokens" : "");
    replay_lines(&r, lines.data ? lines.data : "", lines.size);
    replay_headers(s->choice->x, s->choice->model);
    replay_end(&r, s->choice->x);
    buffer_free(&lines);
}

/* Hands everything to the engine. */
static void scoring_start(scoring *s)
{
    translating *t = s->choice;
    s->tape = engine_translation_tape(t->model->model);
    s->calls = (call_run){.x = t->x, .computes = t->model->model, .count = pair_scoring_batches(&s->of),
                          .compute = scoring_compute, .end = scoring_end};
    calls_init(&s->calls);
    served_set *models = t->models;
    t->models = NULL;
    calls_start(&s->calls);
    served_release(models);
}

static const translating_dialect CHOICE = {.source_field = "source", .target_field = "target", .fail = openai_refuse};

/* The lists of both sides. */
static void native_read_pairs(fields *f, size_t most, const char ***texts, const char ***translations, size_t *count)
{
    size_t others;
    bool lists = true, list;
    *texts = fields_texts(f, "texts", 1, most, count, &list);
    lists = lists && list;
    *translations = fields_texts(f, "translations", 1, most, &others, &list);
    lists = lists && list;
    if (!*texts || !*translations)
        fields_fail(f, *texts ? "translations" : "texts", "this field is required, a list of strings");
    else if (!lists)
        fields_fail(f, "texts", "texts and translations are lists of strings");
    else if (others != *count)
        fields_fail(f, "translations", "%zu translations of %zu texts", others, *count);
}

void native_score(app *a, exchange *x)
{
    request_error error = {0};
    fields f;
    const char **texts, **translations;
    scoring *s = calloc(1, sizeof *s);
    translating *t = translating_new(a, x, &CHOICE, &error);
    if (!s)
        request_fail(&error, 503, NULL, "out of memory for the request");
    exchange_hold(x); /* the engine may end the request before this function does */
    fields_read(&f, x, false, &error);
    size_t count = 0;
    native_read_pairs(&f, app_limits_of(a)->texts, &texts, &translations, &count);
    if (t)
        native_choose_translator(t, &f);
    const bool tokens = fields_flag(&f, "tokens", false), strict = fields_flag(&f, "strict", false);
    if (s)
        *s = (scoring){.choice = t, .count = count, .tokens = tokens};
    else
        translating_free(t);
    if (fields_finish(&f)) {
        exchange_note_model(x, t->name);
        scoring_encode(s, texts, translations, strict, &error);
    }
    if (!error.status)
        scoring_replay(s, texts, translations);
    free(texts);
    free(translations);
    fields_free(&f);
    if (!error.status)
        scoring_start(s);
    if (error.status) {
        openai_refuse(x, &error);
        if (s)
            scoring_free(s);
    }
    exchange_release(x);
}
