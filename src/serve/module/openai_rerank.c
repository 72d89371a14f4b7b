/* serve/module/openai_rerank.c: scores of pairs of texts, by a cross-encoder: POST /v1/rerank as Cohere, Jina and vLLM have it,
 * POST /rerank likewise or as Hugging Face's text-embeddings-inference has it, and POST /v1/score as vLLM has it. A request is a
 * call of the engine for each batch of pairs, so that other models compute between them. */
#define _GNU_SOURCE
#include "serve/module/openai.h"

#include "io/model_core.h"
#include "serve/module/calls.h"
#include "serve/module/openai_answer.h"
#include "serve/module/openai_error.h"
#include "serve/module/replay.h"
#include "serve/module/reply.h"

#include "decode/reranker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Estimates of bytes: for a pair, for each byte of a text while it is encoded, for each token of a row. */
enum { PAIR = 700, BYTE = 24, ID = 4, ABOUT = 8 };

/* The shape of a response: a ranking, or a list of scores; or the ranking of text-embeddings-inference. */
typedef enum pair_shape { SHAPE_RANKING, SHAPE_SCORES, SHAPE_INFERENCE } pair_shape;

/* What a request asks for, as long as its fields last. */
typedef struct pair_request {
    rapt_text_pair *pairs; /* [count]; first texts that are one have the same bytes */
    size_t count, top;
    pair_shape shape;
    bool with_texts;
    bool raw, whole; /* of text-embeddings-inference: logits as scores; no pair is to be truncated */
} pair_request;

/* A request, until it is answered. */
typedef struct pair_run {
    call_run calls;          /* one for each batch of rows */
    rapt_reranker *reranker; /* of the model */
    char *model;
    text_row *rows;          /* [count] by length */
    size_t count, tokens, top;
    rapt_pair_score *scores; /* [count] */
    json_t *texts;           /* a list of the documents that the response repeats, or NULL */
    pair_shape shape;
    bool raw;
} pair_run;

static void pair_run_free(pair_run *run)
{
    text_rows_free(run->rows, run->count);
    json_decref(run->texts);
    free(run->scores);
    free(run->model);
    calls_free(&run->calls);
    free(run);
}

/* ---- the response ------------------------------------------------------------------------------------------------------- */

static json_t *pair_usage(const pair_run *run)
{
    return json_pack("{s:I, s:I}", "prompt_tokens", (json_int_t)run->tokens, "total_tokens", (json_int_t)run->tokens);
}

static json_t *ranked_entry(const pair_run *run, const rapt_pair_score *s)
{
    json_t *text = json_array_get(run->texts, s->index);
    json_t *entry = json_pack("{s:I, s:o}", "index", (json_int_t)s->index, "relevance_score", reply_real(s->score));
    if (!text || !entry || json_object_set_new(entry, "document", json_pack("{s:O}", "text", text)) == 0)
        return entry;
    json_decref(entry);
    return NULL;
}

static void write_ranking(const pair_run *run, reply_body *to)
{
    json_t *whole = json_pack("{s:s, s:s, s:n, s:o}", "object", "list", "model", run->model, "results", "usage", pair_usage(run));
    reply_frame frame = reply_frame_new(whole, "results");
    reply_frame_open(&frame, to);
    rapt_pair_scores_rank(run->scores, run->count);
    for (size_t i = 0; reply_list(to, i, run->top < run->count ? run->top : run->count); i++)
        reply_put(to, ranked_entry(run, &run->scores[i]));
    reply_frame_close(&frame, to);
}

static void write_scores(const pair_run *run, reply_body *to)
{
    json_t *whole = json_pack("{s:s, s:I, s:s, s:n, s:o}", "object", "list", "created", (json_int_t)time(NULL), "model",
                              run->model, "data", "usage", pair_usage(run));
    reply_frame frame = reply_frame_new(whole, "data");
    reply_frame_open(&frame, to);
    for (size_t i = 0; reply_list(to, i, run->count); i++)
        reply_put(to, json_pack("{s:I, s:s, s:o}", "index", (json_int_t)i, "object", "score", "score",
                                reply_real(run->scores[i].score)));
    reply_frame_close(&frame, to);
}

/* A list alone. */
static void write_inference(const pair_run *run, reply_body *to)
{
    rapt_pair_scores_rank(run->scores, run->count);
    for (size_t i = 0; reply_list(to, i, run->count); i++) {
        const rapt_pair_score *s = &run->scores[i];
        json_t *text = json_array_get(run->texts, s->index);
        reply_put(to, json_pack("{s:I, s:O*, s:o}", "index", (json_int_t)s->index, "text", text, "score",
                                reply_real(run->raw ? s->logit : reranker_sigmoid(s->logit))));
    }
}

/* A call_run's `end`. */
static void pair_end(call_run *calls)
{
    pair_run *run = (pair_run *)calls;
    reply_body body = {.x = calls->x};
    exchange_note(calls->x, "prompt_tokens", (double)run->tokens);
    if (calls->error.status)
        openai_refuse(calls->x, &calls->error);
    else {
        static void (*const write[])(const pair_run *, reply_body *) = {
            [SHAPE_RANKING] = write_ranking, [SHAPE_SCORES] = write_scores, [SHAPE_INFERENCE] = write_inference};
        write[run->shape](run, &body);
        reply_text(&body);
    }
    pair_run_free(run);
}

/* Its `compute`: a batch. The reranker has threads of its own. */
static rapt_code pair_compute(call_run *calls, size_t i, rapt_error *err)
{
    pair_run *run = (pair_run *)calls;
    const size_t first = i * RAPT_RERANK_BATCH, left = run->count - first;
    return reranker_run_rows(run->reranker, run->rows + first, left < RAPT_RERANK_BATCH ? left : RAPT_RERANK_BATCH, run->scores,
                             err);
}

/* Takes the rows, even after a failure. NULL: out of memory. */
static pair_run *pair_run_new(const openai_asked *q, const pair_request *r, text_row *rows)
{
    pair_run *run = calloc(1, sizeof *run);
    if (!run) {
        text_rows_free(rows, r->count);
        return NULL;
    }
    *run = (pair_run){.reranker = rapt_engine_reranker(q->s->model), .model = strdup(q->s->name), .rows = rows, .count = r->count,
                      .top = r->top, .shape = r->shape, .raw = r->raw, .scores = calloc(r->count, sizeof *run->scores),
                      .texts = r->with_texts ? json_array() : NULL};
    run->calls = (call_run){.x = q->x, .computes = q->s->model, .count = (r->count + RAPT_RERANK_BATCH - 1) / RAPT_RERANK_BATCH,
                            .compute = pair_compute, .end = pair_end};
    calls_init(&run->calls);
    bool fine = run->model && run->scores && (run->texts || !r->with_texts);
    for (size_t i = 0; i < r->count; i++)
        run->tokens += rows[i].count;
    for (size_t i = 0; i < r->count && fine && r->with_texts; i++)
        fine = json_array_append_new(run->texts, json_stringn(r->pairs[i].second.data, r->pairs[i].second.size)) == 0;
    if (fine)
        return run;
    pair_run_free(run);
    return NULL;
}

/* ---- the request -------------------------------------------------------------------------------------------------------- */

/* Makes room for pairs; false with the error kept. */
static bool pairs_reserve(fields *f, pair_request *r, size_t count)
{
    r->pairs = malloc(count * sizeof *r->pairs);
    if (!r->pairs)
        request_fail(f->error, 503, NULL, "out of memory for the request");
    r->count = r->pairs ? count : 0;
    return r->pairs != NULL;
}

/* A document is a text, or an object with one. */
static const char *document_text(fields *f, const json_t *document, size_t i)
{
    char name[40];
    const char *text = json_string_value(json_is_object(document) ? json_object_get(document, "text") : document);
    snprintf(name, sizeof name, "documents[%zu]", i);
    if (!text)
        fields_fail(f, name, "a string, or an object with the string \"text\", is expected");
    else if (json_is_object(document) && json_object_size(document) > 1)
        fields_fail(f, name, "an object may have no other member than \"text\"");
    return text;
}

static void read_ranking(const openai_asked *q, pair_request *r)
{
    fields *f = q->f;
    const char *query = fields_required_text(f, "query");
    const json_t *documents = fields_value(f, "documents");
    const size_t count = json_array_size(documents);
    r->top = (size_t)fields_integer(f, "top_n", (int64_t)count, 1, INT32_MAX);
    r->with_texts = fields_flag(f, "return_documents", false);
    fields_ignore(f, "user");
    if (!json_is_array(documents))
        fields_fail(f, "documents", "a list of texts is expected");
    else if (count < 1 || count > q->limits->texts)
        fields_fail(f, "documents", "%zu texts, where 1 to %zu are taken", count, q->limits->texts);
    if (f->error->status || !pairs_reserve(f, r, count))
        return;
    for (size_t i = 0; i < count && !f->error->status; i++) {
        const char *text = document_text(f, json_array_get(documents, i), i);
        r->pairs[i] = (rapt_text_pair){rapt_text_of(query), rapt_text_of(text)};
    }
}

/* The request of text-embeddings-inference. */
static void read_inference(const openai_asked *q, pair_request *r)
{
    static const char *const directions[] = {"right", "Right"};
    fields *f = q->f;
    const char *query = fields_required_text(f, "query");
    bool list;
    size_t count;
    const char **texts = fields_texts(f, "texts", 1, q->limits->texts, &count, &list);
    r->raw = fields_flag(f, "raw_scores", false);
    r->with_texts = fields_flag(f, "return_text", false);
    r->whole = !fields_flag(f, "truncate", true);
    fields_word(f, "truncation_direction", directions, 2, 0);
    r->top = count;
    if (texts && !list)
        fields_fail(f, "texts", "a list of texts is expected");
    if (!f->error->status && pairs_reserve(f, r, count))
        for (size_t i = 0; i < count; i++)
            r->pairs[i] = (rapt_text_pair){rapt_text_of(query), rapt_text_of(texts[i])};
    free(texts);
}

/* One text with each of the others, or as many texts as others. */
static void read_scores(const openai_asked *q, pair_request *r)
{
    fields *f = q->f;
    size_t first, second;
    const char **a = fields_texts(f, "text_1", 1, q->limits->texts, &first, NULL);
    const char **b = fields_texts(f, "text_2", 1, q->limits->texts, &second, NULL);
    fields_ignore(f, "user");
    if (!a)
        fields_fail(f, "text_1", "this field is required");
    if (!b)
        fields_fail(f, "text_2", "this field is required");
    if (a && b && first != 1 && first != second)
        fields_fail(f, "text_2", "%zu texts, where text_1 has %zu: as many are expected, or one text_1", second, first);
    if (!f->error->status && pairs_reserve(f, r, second))
        for (size_t i = 0; i < second; i++)
            r->pairs[i] = (rapt_text_pair){rapt_text_of(a[first == 1 ? 0 : i]), rapt_text_of(b[i])};
    free(a);
    free(b);
}

/* Asks for the memory of rows, scores and the response, of which texts are the largest part. A row has at most as many tokens as
 * the model takes, whatever its query. */
static bool pairs_ask(const openai_asked *q, const pair_request *r)
{
    const size_t most = q->m->encoder.max_len;
    size_t bytes = r->count * PAIR;
    for (size_t i = 0; i < r->count; i++) {
        const size_t first = r->pairs[i].first.size, second = r->pairs[i].second.size;
        bytes += second * BYTE + (first + ABOUT < most ? first + ABOUT : most) * ID;
        bytes += r->with_texts ? second * (1 + REPLY_COPIES) : 0;
        bytes += i == 0 || r->pairs[i].first.data != r->pairs[i - 1].first.data ? first * BYTE : 0;
    }
    return request_asks(q->x, ADMISSION_MAKING, bytes, q->f->error, "the scores of %zu pair%s of texts", r->count,
                        r->count == 1 ? "" : "s");
}

/* The rows; together they have no more tokens than a body of texts of the largest size could have, because a long query counts in
 * each of them. NULL with the error kept. */
static text_row *pairs_encode(const openai_asked *q, const pair_request *r)
{
    rapt_error err = {0};
    text_row *rows = text_rows_of_pairs(&q->m->encoder, r->pairs, r->count, q->limits->body, &err);
    static const char *const fields_of[] = {
        [SHAPE_RANKING] = "documents", [SHAPE_SCORES] = "text_2", [SHAPE_INFERENCE] = "texts"};
    const char *field = fields_of[r->shape];
    if (!rows)
        request_fail(q->f->error, err.code == RAPT_ERR_MEMORY ? 503 : 400, field, "%s: %s", field, err.message);
    for (size_t i = 0; i < r->count && rows && r->whole; i++)
        if (rows[i].cut && !q->f->error->status) {
            fields_fail(q->f, field, "text %zu and the query have more than the %zu tokens that the model takes", rows[i].index,
                        q->m->encoder.max_len);
            q->f->error->code = "context_length_exceeded";
        }
    return rows;
}

/* ---- the command -------------------------------------------------------------------------------------------------------- */

/* Adds a text to lines unless it would not come back as what it is. */
static void add_line_text(replay *line, buffer *lines, rapt_text text, const char *not_in)
{
    line->unfaithful = line->unfaithful || strpbrk(text.data, not_in) || !buffer_append(lines, text.data, text.size);
}

static void add_line_mark(replay *line, buffer *lines, const char *mark)
{
    line->unfaithful = line->unfaithful || !buffer_append(lines, mark, 1);
}

static void pairs_replay(const openai_asked *q, const pair_request *r)
{
    const bool ranks = r->shape != SHAPE_SCORES;
    buffer lines = {0};
    replay line = {.input = 0};
    for (size_t i = 0; i < r->count; i++) {
        if (i > 0)
            add_line_mark(&line, &lines, "\n");
        if (!ranks) {
            add_line_text(&line, &lines, r->pairs[i].first, "\r\n\t");
            add_line_mark(&line, &lines, "\t");
        }
        add_line_text(&line, &lines, r->pairs[i].second, ranks ? "\r\n" : "\r\n\t");
    }
    replay_begin(&line, "rerank", q->s);
    if (ranks)
        replay_text(&line, "--query", r->pairs->first.data, r->pairs->first.size);
    else
        replay_words(&line, " --pairs");
    if (ranks && r->top < r->count)
        replay_number(&line, "--top", (double)r->top);
    replay_words(&line, " --json");
    replay_lines(&line, lines.data ? lines.data : "", lines.size);
    replay_end(&line, q->x);
    buffer_free(&lines);
}

/* ---- endpoints ---------------------------------------------------------------------------------------------------------- */

static void pairs_answer(const openai_asked *q, pair_request *r)
{
    text_row *rows = fields_finish(q->f) && pairs_ask(q, r) ? pairs_encode(q, r) : NULL;
    if (rows && q->f->error->status) {
        text_rows_free(rows, r->count);
        rows = NULL;
    }
    pair_run *run = rows ? pair_run_new(q, r, rows) : NULL;
    if (rows && !run)
        request_fail(q->f->error, 503, NULL, "out of memory for the request");
    if (run) {
        replay_headers(q->x, q->s);
        pairs_replay(q, r);
        calls_start(&run->calls);
    }
    free(r->pairs);
}

static void rerank_endpoint(const openai_asked *q)
{
    pair_request r = {.shape = SHAPE_RANKING};
    read_ranking(q, &r);
    pairs_answer(q, &r);
}

/* Told apart by the name of the documents. */
static void any_rerank_endpoint(const openai_asked *q)
{
    pair_request r = {.shape = fields_value(q->f, "texts") ? SHAPE_INFERENCE : SHAPE_RANKING};
    (r.shape == SHAPE_INFERENCE ? read_inference : read_ranking)(q, &r);
    pairs_answer(q, &r);
}

static void score_endpoint(const openai_asked *q)
{
    pair_request r = {.shape = SHAPE_SCORES};
    read_scores(q, &r);
    pairs_answer(q, &r);
}

static const rapt_task TASKS[] = {RAPT_TASK_CROSS_ENCODER};

void openai_rerank(app *a, exchange *x)
{
    openai_answer(a, x, TASKS, 1, rerank_endpoint);
}

void openai_any_rerank(app *a, exchange *x)
{
    openai_answer(a, x, TASKS, 1, any_rerank_endpoint);
}

void openai_score(app *a, exchange *x)
{
    openai_answer(a, x, TASKS, 1, score_endpoint);
}
