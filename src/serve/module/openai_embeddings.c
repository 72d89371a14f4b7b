/* serve/module/openai_embeddings.c: POST /v1/embeddings: vectors of texts, or of token ids, by an encoder. A request is a job
 * of the engine for each batch of texts, so that other models compute between them. */
#define _GNU_SOURCE
#include "serve/module/openai.h"

#include "base/texts.h"
#include "io/model_core.h"
#include "serve/module/calls.h"
#include "serve/module/openai_answer.h"
#include "serve/module/openai_error.h"
#include "serve/module/replay.h"
#include "serve/module/reply.h"

#include "decode/embedder.h"
#include "text/bpe/base64.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Estimates of bytes: for a text, for each of its bytes, for a token id that the request has, for a number in the response. */
enum { TEXT = 400, BYTE = 24, ID = 4, DIGITS = 14, LETTERS = 6 };

typedef struct embedding_run {
    call_run calls;          /* one for each batch of rows */
    rapt_embedder *embedder; /* of the model */
    char *model;
    text_row *rows;          /* [count] by length */
    size_t count, features, tokens;
    rapt_real *vectors;      /* [count, features] */
    bool base64;
} embedding_run;

static void embedding_free(embedding_run *run)
{
    text_rows_free(run->rows, run->count);
    free(run->vectors);
    free(run->model);
    calls_free(&run->calls);
    free(run);
}

/* ---- the response ------------------------------------------------------------------------------------------------------- */

/* 32-bit floats, the lowest byte first, in base64. */
static json_t *vector_letters(const rapt_real *v, size_t n)
{
    unsigned char *bytes = malloc(4 * n);
    char *letters = malloc(BASE64_CAPACITY(4 * n));
    for (size_t i = 0; i < 4 * n && bytes; i++) {
        uint32_t bits;
        memcpy(&bits, &(float){(float)v[i / 4]}, sizeof bits);
        bytes[i] = (unsigned char)(bits >> 8 * (i % 4));
    }
    if (bytes && letters)
        base64_encode((const char *)bytes, 4 * n, letters);
    json_t *text = bytes && letters ? json_stringn(letters, BASE64_CAPACITY(4 * n)) : NULL;
    free(bytes);
    free(letters);
    return text;
}

/* As `rapt embed` prints them. */
static json_t *vector_numbers(const rapt_real *v, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n && list; i++)
        if (json_array_append_new(list, reply_real(v[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *embedding_entry(const embedding_run *run, size_t i)
{
    const rapt_real *v = run->vectors + i * run->features;
    return json_pack("{s:s, s:I, s:o}", "object", "embedding", "index", (json_int_t)i, "embedding",
                     run->base64 ? vector_letters(v, run->features) : vector_numbers(v, run->features));
}

static void embedding_write(const embedding_run *run, reply_body *to)
{
    json_t *whole = json_pack("{s:s, s:n, s:s, s:{s:I, s:I}}", "object", "list", "data", "model", run->model, "usage",
                              "prompt_tokens", (json_int_t)run->tokens, "total_tokens", (json_int_t)run->tokens);
    reply_frame frame = reply_frame_new(whole, "data");
    reply_frame_open(&frame, to);
    for (size_t i = 0; reply_list(to, i, run->count); i++)
        reply_put(to, embedding_entry(run, i));
    reply_frame_close(&frame, to);
}

/* A call_run's `end`. */
static void embedding_end(call_run *calls)
{
    embedding_run *run = (embedding_run *)calls;
    reply_body body = {.x = calls->x};
    exchange_note(calls->x, "prompt_tokens", (double)run->tokens);
    if (calls->error.status)
        openai_refuse(calls->x, &calls->error);
    else {
        embedding_write(run, &body);
        reply_text(&body);
    }
    embedding_free(run);
}

/* Its `compute`: a batch. The embedder has threads of its own. */
static rapt_code embedding_compute(call_run *calls, size_t i, rapt_error *err)
{
    embedding_run *run = (embedding_run *)calls;
    const size_t first = i * RAPT_EMBED_BATCH, left = run->count - first;
    return embedder_run_rows(run->embedder, run->rows + first, left < RAPT_EMBED_BATCH ? left : RAPT_EMBED_BATCH, run->features,
                             run->vectors, err);
}

/* ---- the request -------------------------------------------------------------------------------------------------------- */

/* What a request asks for. */
typedef struct embedding_request {
    const char **texts;       /* [count]; NULL: it has token ids */
    text_row *rows;           /* [count], once they are read */
    size_t count, dimensions; /* dimensions 0: the field is absent */
    bool base64;
} embedding_request;

static bool is_ids(const json_t *input)
{
    const json_t *first = json_array_get(input, 0);
    return json_is_number(first) || json_is_array(first);
}

/* The ids of one text, as the model reads them: with the special tokens that they have. */
static void embedding_read_ids(fields *f, const char *name, const json_t *list, const rapt_model *m, text_row *row)
{
    const size_t count = json_array_size(list), most = m->encoder.max_len;
    if (!json_is_array(list))
        fields_fail(f, name, "a list of token ids is expected");
    if (count > most && !f->error->status) {
        fields_fail(f, name, "%zu tokens, where the model takes %zu", count, most);
        f->error->code = "context_length_exceeded";
    }
    if (!f->error->status)
        row->ids = fields_ids(f, name, list, &row->count);
}

/* A list of token ids, or a list of such lists. */
static void embedding_read_id_lists(fields *f, const json_t *input, size_t most, const rapt_model *m, embedding_request *r)
{
    const bool many = json_is_array(json_array_get(input, 0));
    const size_t count = many ? json_array_size(input) : 1;
    if (count > most) {
        fields_fail(f, "input", "%zu texts, where 1 to %zu are taken", count, most);
        return;
    }
    r->rows = calloc(count, sizeof *r->rows);
    r->count = r->rows ? count : 0;
    if (!r->rows)
        request_fail(f->error, 503, NULL, "out of memory for the request");
    for (size_t i = 0; i < r->count && !f->error->status; i++) {
        char name[40] = "input";
        if (many)
            snprintf(name, sizeof name, "input[%zu]", i);
        r->rows[i].index = i;
        embedding_read_ids(f, name, many ? json_array_get(input, i) : input, m, &r->rows[i]);
    }
}

static void embedding_read(fields *f, const openai_asked *q, embedding_request *r)
{
    static const char *const formats[] = {"float", "base64"};
    const size_t most = embedder_max_features(rapt_engine_embedder(q->s->model));
    const json_t *input = fields_value(f, "input");
    *r = (embedding_request){.texts = NULL};
    if (is_ids(input))
        embedding_read_id_lists(f, input, q->limits->texts, q->m, r);
    else
        r->texts = fields_texts(f, "input", 1, q->limits->texts, &r->count, NULL);
    if (!r->texts && !r->rows)
        fields_fail(f, "input", "this field is required");
    r->base64 = fields_word(f, "encoding_format", formats, 2, 0) == 1;
    r->dimensions = (size_t)fields_integer(f, "dimensions", 0, 1, (int64_t)most);
    fields_ignore(f, "user");
}

/* The tokens of all texts; a text that the model would truncate is refused, as OpenAI does. */
static void embedding_encode(fields *f, const openai_asked *q, embedding_request *r)
{
    const rapt_encoder_model *m = &q->m->encoder;
    rapt_error err = {0};
    if (r->texts) {
        rapt_text *lines = texts_of(r->texts, r->count, &err);
        r->rows = lines ? text_rows_new(m, m->prompt, lines, r->count, &err) : NULL;
        free(lines);
    } else
        text_rows_order(m, r->rows, r->count, &err);
    if (err.code)
        request_fail(f->error, err.code == RAPT_ERR_MEMORY ? 503 : 400, "input", "input: %s", err.message);
    for (size_t i = 0; i < r->count && r->rows; i++)
        if (r->rows[i].cut && !f->error->status) {
            fields_fail(f, "input", "text %zu has more than the %zu tokens that the model takes", r->rows[i].index, m->max_len);
            f->error->code = "context_length_exceeded";
        }
}

/* The command; it exists if each text is a line. */
static void embedding_replay(const embedding_request *r, const openai_asked *q)
{
    buffer lines = {0};
    replay line = {.input = 0, .unfaithful = !r->texts};
    for (size_t i = 0; i < r->count && r->texts; i++) {
        line.unfaithful = line.unfaithful || strpbrk(r->texts[i], "\r\n") || (i > 0 && !buffer_append(&lines, "\n", 1)) ||
                          !buffer_append(&lines, r->texts[i], strlen(r->texts[i]));
    }
    replay_begin(&line, "embed", q->s);
    replay_words(&line, " --format jsonl");
    if (r->dimensions)
        replay_number(&line, "--dimensions", (double)r->dimensions);
    replay_lines(&line, lines.data ? lines.data : "", lines.size);
    replay_end(&line, q->x);
    buffer_free(&lines);
}

/* Takes the rows of *r. NULL: out of memory. */
static embedding_run *embedding_new(const openai_asked *q, embedding_request *r)
{
    const served *s = q->s;
    embedding_run *run = calloc(1, sizeof *run);
    if (!run)
        return NULL;
    *run = (embedding_run){.count = r->count, .rows = r->rows, .model = strdup(s->name), .base64 = r->base64,
                           .embedder = rapt_engine_embedder(s->model)};
    run->calls = (call_run){.x = q->x, .computes = s->model, .count = (r->count + RAPT_EMBED_BATCH - 1) / RAPT_EMBED_BATCH,
                            .compute = embedding_compute, .end = embedding_end};
    calls_init(&run->calls);
    r->rows = NULL;
    run->features = r->dimensions ? r->dimensions : embedder_max_features(run->embedder);
    run->vectors = calloc(run->count * run->features, sizeof *run->vectors);
    for (size_t i = 0; i < run->count; i++)
        run->tokens += run->rows[i].count;
    if (run->model && run->vectors)
        return run;
    embedding_free(run);
    return NULL;
}

/* Asks for the memory of texts, their tokens, vectors and the response. */
static bool embedding_asks(const openai_asked *q, const embedding_request *r)
{
    const size_t features = r->dimensions ? r->dimensions : embedder_max_features(rapt_engine_embedder(q->s->model));
    size_t bytes = r->count * (TEXT + features * (sizeof(rapt_real) + REPLY_COPIES * (r->base64 ? LETTERS : DIGITS)));
    for (size_t i = 0; i < r->count; i++)
        bytes += r->texts ? strlen(r->texts[i]) * BYTE : r->rows[i].count * ID;
    return request_asks(q->x, ADMISSION_MAKING, bytes, q->f->error, "%zu vector%s of %zu numbers", r->count,
                        r->count == 1 ? "" : "s", features);
}

static void embeddings_endpoint(const openai_asked *q)
{
    embedding_request r;
    embedding_run *run = NULL;
    embedding_read(q->f, q, &r);
    if (fields_finish(q->f) && embedding_asks(q, &r))
        embedding_encode(q->f, q, &r);
    if (!q->f->error->status && !(run = embedding_new(q, &r)))
        request_fail(q->f->error, 503, NULL, "out of memory for the request");
    if (run) {
        replay_headers(q->x, q->s);
        embedding_replay(&r, q);
        calls_start(&run->calls);
    }
    text_rows_free(r.rows, r.count);
    free(r.texts);
}

void openai_embeddings(app *a, exchange *x)
{
    static const rapt_task tasks[] = {RAPT_TASK_ENCODER};
    openai_answer(a, x, tasks, 1, embeddings_endpoint);
}
