/* serve/module/openai_embeddings.c: POST /v1/embeddings: vectors of texts, by an encoder. A request is a job of the engine for
 * each batch of texts, so that other models compute between them. */
#define _GNU_SOURCE
#include "serve/module/openai.h"

#include "base/texts.h"
#include "io/model_core.h"
#include "serve/module/openai_answer.h"
#include "serve/module/openai_error.h"
#include "serve/module/replay.h"
#include "serve/module/reply.h"

#include "decode/text_rows.h"
#include "text/bpe/base64.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Estimates of bytes: for a text, for each of its bytes, for a number in the response. */
enum { TEXT = 400, BYTE = 24, DIGITS = 14, LETTERS = 6 };

typedef struct embedding_run embedding_run;

/* Texts that are computed together. */
typedef struct embedding_batch {
    embedding_run *run;
    size_t first, count;
} embedding_batch;

struct embedding_run {
    exchange *x;             /* held */
    rapt_engine_model *computes; /* the model, while one of its jobs lives */
    rapt_embedder *embedder; /* of it */
    char *model;
    char **texts;            /* [count] */
    rapt_text *lines;        /* [count] the same, with sizes */
    size_t count, features, tokens;
    rapt_real *vectors;      /* [count, features] */
    embedding_batch *batches;
    bool base64;
    pthread_mutex_t lock;    /* guards the fields that follow */
    size_t pending;          /* jobs, and the thread that queues them */
    request_error error;     /* the first one */
};

static void embedding_free(embedding_run *run)
{
    for (size_t i = 0; i < run->count && run->texts; i++)
        free(run->texts[i]);
    exchange_release(run->x);
    pthread_mutex_destroy(&run->lock);
    free(run->texts);
    free(run->lines);
    free(run->vectors);
    free(run->batches);
    free(run->model);
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

static void embedding_release(embedding_run *run, size_t count)
{
    pthread_mutex_lock(&run->lock);
    run->pending -= count;
    const bool last = run->pending == 0;
    pthread_mutex_unlock(&run->lock);
    if (!last)
        return;
    exchange_note(run->x, "prompt_tokens", (double)run->tokens);
    reply_body body = {.x = run->x};
    if (run->error.status)
        openai_refuse(run->x, &run->error);
    else {
        embedding_write(run, &body);
        reply_text(&body);
    }
    embedding_free(run);
}

static void embedding_fail(embedding_run *run, rapt_code code, const char *message)
{
    const int status = code == RAPT_ERR_MEMORY || code == RAPT_ERR_INTERRUPTED ? 503 : 500;
    pthread_mutex_lock(&run->lock);
    request_fail(&run->error, status, NULL, "%s", message);
    pthread_mutex_unlock(&run->lock);
}

/* ---- what the engine calls ---------------------------------------------------------------------------------------------- */

static bool embedding_stop(void *context)
{
    return exchange_gone(((embedding_batch *)context)->run->x);
}

static void embedding_compute(void *context, const rapt_model *model, int threads)
{
    (void)threads; /* the embedder has its own */
    embedding_batch *b = context;
    embedding_run *run = b->run;
    rapt_error err = {0};
    rapt_code code = RAPT_OK;
    if (model)
        code = rapt_embedder_run(run->embedder, run->lines + b->first, b->count,
                                 run->vectors + b->first * run->features, NULL, &err);
    code = code ? code : rapt_engine_check(run->computes, &err);
    if (!code && !model)
        code = rapt_fail(&err, RAPT_ERR_INTERRUPTED, "the request was cancelled before its end");
    if (code)
        embedding_fail(run, code, err.message);
    embedding_release(run, 1);
}

/* ---- the request -------------------------------------------------------------------------------------------------------- */

/* Counts the tokens of all texts; a text that the model would truncate is refused, as OpenAI does. */
static size_t embedding_count_tokens(fields *f, const char *const *texts, size_t count, const rapt_model *m)
{
    rapt_error err = {0};
    size_t sum = 0;
    rapt_text *lines = texts_of(texts, count, &err);
    text_row *rows = lines ? text_rows_new(&m->encoder, m->encoder.prompt, lines, count, &err) : NULL;
    free(lines);
    if (!rows)
        request_fail(f->error, err.code == RAPT_ERR_MEMORY ? 503 : 400, "input", "input: %s", err.message);
    for (size_t i = 0; i < count && rows; i++) {
        sum += rows[i].count;
        if (rows[i].cut && !f->error->status) {
            fields_fail(f, "input", "text %zu has more than the %zu tokens that the model takes", rows[i].index,
                        m->encoder.max_len);
            f->error->code = "context_length_exceeded";
        }
    }
    text_rows_free(rows, count);
    return sum;
}

/* The command; it exists if each text is a line. */
static void embedding_replay(const embedding_run *run, const served *s)
{
    buffer lines = {0};
    replay line = {.input = 0};
    for (size_t i = 0; i < run->count; i++) {
        line.unfaithful = line.unfaithful || strpbrk(run->texts[i], "\r\n") || (i > 0 && !buffer_append(&lines, "\n", 1)) ||
                          !buffer_append(&lines, run->texts[i], strlen(run->texts[i]));
    }
    replay_begin(&line, "embed", s);
    replay_words(&line, " --format jsonl");
    replay_lines(&line, lines.data ? lines.data : "", lines.size);
    replay_end(&line, run->x);
    buffer_free(&lines);
}

static embedding_run *embedding_new(exchange *x, const served *s, const char *const *texts, size_t count)
{
    embedding_run *run = calloc(1, sizeof *run);
    if (!run)
        return NULL;
    *run = (embedding_run){.x = x, .count = count, .model = strdup(s->name), .lock = PTHREAD_MUTEX_INITIALIZER,
                           .computes = s->model, .embedder = rapt_engine_embedder(s->model)};
    exchange_hold(x);
    const size_t batches = (count + RAPT_EMBED_BATCH - 1) / RAPT_EMBED_BATCH;
    run->features = rapt_embedder_features(run->embedder);
    run->texts = calloc(count, sizeof *run->texts);
    run->lines = calloc(count, sizeof *run->lines);
    run->vectors = calloc(count * run->features, sizeof *run->vectors);
    run->batches = calloc(batches, sizeof *run->batches);
    run->pending = batches + 1;
    bool fine = run->model && run->texts && run->lines && run->vectors && run->batches;
    for (size_t i = 0; i < count && fine; i++) {
        fine = (run->texts[i] = strdup(texts[i])) != NULL;
        run->lines[i] = rapt_text_of(run->texts[i]);
    }
    if (fine)
        return run;
    embedding_free(run);
    return NULL;
}

static void embedding_queue(embedding_run *run, const served *s)
{
    rapt_error err = {0};
    rapt_code code = RAPT_OK;
    const size_t batches = run->pending - 1;
    size_t queued = 0;
    while (queued < batches && !code) {
        embedding_batch *b = &run->batches[queued];
        const size_t first = queued * RAPT_EMBED_BATCH, left = run->count - first;
        *b = (embedding_batch){run, first, left < RAPT_EMBED_BATCH ? left : RAPT_EMBED_BATCH};
        code = rapt_engine_call(s->model, embedding_compute, embedding_stop, b, NULL, &err);
        queued += !code;
    }
    if (code)
        embedding_fail(run, code, err.message);
    embedding_release(run, 1 + batches - queued);
}

/* Asks for the memory of texts, their tokens, vectors and the response. */
static bool embedding_asks(const openai_asked *q, const char *const *texts, size_t count, bool base64)
{
    const size_t features = rapt_embedder_features(rapt_engine_embedder(q->s->model));
    size_t bytes = count * (TEXT + features * (sizeof(rapt_real) + REPLY_COPIES * (base64 ? LETTERS : DIGITS)));
    for (size_t i = 0; i < count; i++)
        bytes += strlen(texts[i]) * BYTE;
    return request_asks(q->x, ADMISSION_MAKING, bytes, q->f->error, "%zu vector%s of %zu numbers", count, count == 1 ? "" : "s",
                        features);
}

static void embeddings_endpoint(const openai_asked *q)
{
    static const char *const formats[] = {"float", "base64"};
    char features[32];
    const served *s = q->s;
    fields *f = q->f;
    embedding_run *run = NULL;
    size_t count, tokens = 0;
    const json_t *first = json_array_get(fields_value(f, "input"), 0);
    if (json_is_integer(first) || json_is_array(first))
        fields_fail(f, "input", "token ids are not supported; texts are");
    const char **texts = fields_texts(f, "input", 1, q->limits->texts, &count, NULL);
    if (!texts)
        fields_fail(f, "input", "this field is required");
    const bool base64 = fields_word(f, "encoding_format", formats, 2, 0) == 1;
    snprintf(features, sizeof features, "[%zu]", rapt_embedder_features(rapt_engine_embedder(s->model)));
    fields_neutral(f, "dimensions", features);
    fields_ignore(f, "user");
    if (fields_finish(f) && embedding_asks(q, texts, count, base64))
        tokens = embedding_count_tokens(f, texts, count, q->m);
    if (!f->error->status && !(run = embedding_new(q->x, s, texts, count)))
        request_fail(f->error, 503, NULL, "out of memory for the request");
    free(texts);
    if (!run)
        return;
    run->base64 = base64;
    run->tokens = tokens;
    replay_headers(q->x, s);
    embedding_replay(run, s);
    embedding_queue(run, s);
}

void openai_embeddings(app *a, exchange *x)
{
    static const rapt_task tasks[] = {RAPT_TASK_ENCODER};
    openai_answer(a, x, tasks, 1, embeddings_endpoint);
}
