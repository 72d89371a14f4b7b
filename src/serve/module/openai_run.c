/* serve/module/openai_run.c: each choice of a request is a job of the engine, whose callbacks, all on the engine's thread,
 * collect texts or send them. Only a few jobs are queued at a time, the next one when another ends, so that a request with many
 * choices takes turns with other requests. The last holder of the request, a job that ends or the thread that queued the first
 * jobs, ends the response. */
#define _GNU_SOURCE
#include "serve/module/openai_run.h"

#include "io/model_core.h"
#include "serve/module/openai_calls.h"
#include "serve/module/openai_error.h"
#include "serve/module/openai_object.h"
#include "serve/module/reply.h"
#include "serve/module/sse.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { AT_ONCE = 2 }; /* times the model's slots: choices of a request that run or wait in the engine */

struct openai_run {
    exchange *x;               /* held */
    served_set *models;        /* a reference */
    const served *model_of;    /* of these */
    metrics *metrics;
    openai_request r;
    char id[48], fingerprint[REPLAY_FINGERPRINT];
    char *model;               /* its name */
    int64_t created;
    double start;
    openai_choice *choices;    /* [count] */
    size_t count;
    size_t prompt_tokens, generated_tokens, cached_tokens;
    atomic_bool stopped;       /* the client is gone, or a choice has failed: the other choices are not needed */
    pthread_mutex_t lock;      /* guards the fields that follow */
    size_t next;               /* the choice to be queued next */
    size_t pending;            /* holders of the request: jobs, and the thread that queues the first jobs */
    request_error error;       /* the first one */
};

void openai_request_free(openai_request *r)
{
    openai_options_free(&r->options);
    openai_prompts_free(&r->prompts);
    openai_tools_free(&r->tools);
}

static void openai_run_free(openai_run *run)
{
    for (size_t i = 0; i < run->count && run->choices; i++) {
        openai_logprobs_free(&run->choices[i].logprobs);
        buffer_free(&run->choices[i].text);
        openai_calls_free(run->choices[i].calls);
    }
    openai_request_free(&run->r);
    pthread_mutex_destroy(&run->lock);
    exchange_release(run->x);
    served_release(run->models);
    free(run->choices);
    free(run->model);
    free(run);
}

static void run_fail(openai_run *run, int status, const char *message)
{
    pthread_mutex_lock(&run->lock);
    request_fail(&run->error, status, NULL, "%s", message);
    pthread_mutex_unlock(&run->lock);
    atomic_store(&run->stopped, true);
}

/* ---- objects ------------------------------------------------------------------------------------------------------------ */

static json_t *run_object(const openai_run *run, const char *object, json_t *choices)
{
    return openai_object_json(&(openai_object){run->id, run->model, run->fingerprint, run->created}, object, choices);
}

static json_t *run_usage(const openai_run *run)
{
    return openai_usage_json(run->prompt_tokens, run->generated_tokens, run->cached_tokens);
}

static openai_about run_about(const openai_run *run)
{
    return (openai_about){run->x, run->id, run->model, run->fingerprint, run->created, &run->r,
                          run->prompt_tokens, run->generated_tokens, run->cached_tokens};
}

/* Sends a chunk; its usage is null if a last chunk will have it. */
static void run_send(openai_run *run, json_t *choices, json_t *usage)
{
    json_t *chunk = run_object(run, run->r.shape->chunk, choices);
    if (chunk && run->r.options.include_usage)
        json_object_set(chunk, "usage", usage ? usage : json_null());
    json_decref(usage);
    if (!sse_send(run->x, chunk)) /* a client that is gone gets nothing more */
        run_fail(run, 503, "out of memory for the response");
}

/* Sends each of the parts in a chunk of its own. */
static void choice_send_parts(openai_choice *c, json_t *parts, size_t size)
{
    json_t *part;
    size_t i;
    if (!parts || !exchange_makes(c->run->x, REPLY_COPIES * size))
        run_fail(c->run, 503, "out of memory for the response");
    else
        json_array_foreach(parts, i, part)
            run_send(c->run, json_pack("[O]", part), NULL);
    json_decref(parts);
}

static void choice_send(openai_choice *c, const char *text, size_t size, const char *finish)
{
    openai_run *run = c->run;
    const openai_about about = run_about(run);
    if (run->r.shape->events) {
        if (!buffer_append(&c->text, text, size) || !exchange_makes(run->x, REPLY_COPIES * size) ||
            !run->r.shape->events(&about, c, text, size, finish))
            run_fail(run, 503, "out of memory for the response");
        return;
    }
    json_t *logprobs = openai_logprobs_take(&c->logprobs);
    if (run->r.tools.list) {
        choice_send_parts(c, run->r.shape->parts(c, text, size, logprobs, finish), size);
        return;
    }
    json_t *choices = json_array();
    if (json_array_append_new(choices, run->r.shape->part(c, text, size, logprobs, finish)) == 0) {
        run_send(run, choices, NULL);
        return;
    }
    json_decref(choices);
    run_fail(run, 503, "out of memory for the response");
}

/* The beginning of a choice: an empty part, or the prompt with the log-probabilities of its tokens. */
static void choice_begin(openai_choice *c)
{
    const openai_request *r = &c->run->r;
    if (c->begun)
        return;
    c->begun = true;
    if (!r->options.stream && r->echo && !buffer_append(&c->text, c->prompt->text, c->prompt->size))
        run_fail(c->run, 503, "out of memory for the response");
    if (r->options.stream && r->echo)
        choice_send(c, c->prompt->text, c->prompt->size, NULL);
    else if (r->options.stream && r->shape->opens)
        choice_send(c, "", 0, NULL);
}

/* ---- the end ------------------------------------------------------------------------------------------------------------ */

/* Writes a choice and frees its memory at the same time. */
static void choice_write(openai_choice *c, reply_body *to)
{
    reply_frame frame = reply_frame_new(c->run->r.shape->whole(c, json_null()), "logprobs");
    buffer_free(&c->text);
    reply_frame_open(&frame, to);
    openai_logprobs_write(&c->logprobs, &to->out);
    reply_frame_close(&frame, to);
}

static void run_reply(openai_run *run)
{
    reply_body body = {.x = run->x};
    const openai_about about = run_about(run);
    if (run->r.shape->response) {
        reply_json(run->x, 200, run->r.shape->response(&about, &run->choices[0]));
        return;
    }
    json_t *whole = run_object(run, run->r.shape->object, json_null());
    body.out.failed = json_object_set_new(whole, "usage", run_usage(run)) != 0;
    reply_frame frame = reply_frame_new(whole, "choices");
    reply_frame_open(&frame, &body);
    for (size_t i = 0; i < run->count; i++) {
        reply_put_words(&body, i ? "," : "["); /* not reply_list: the texts of the choices are counted as they come */
        choice_write(&run->choices[i], &body);
    }
    reply_put_words(&body, "]");
    reply_frame_close(&frame, &body);
    reply_text(&body);
}

static void run_finish_stream(openai_run *run)
{
    const request_error *e = &run->error;
    if (e->status)
        sse_send(run->x, openai_error_object(e->status, e->param, e->code, e->message));
    else if (run->r.options.include_usage)
        run_send(run, json_array(), run_usage(run));
    sse_end(run->x, !e->status && !run->r.shape->events);
}

static void run_finish(openai_run *run)
{
    exchange_note(run->x, "prompt_tokens", (double)run->prompt_tokens);
    exchange_note(run->x, "cached_tokens", (double)run->cached_tokens);
    exchange_note(run->x, "generated_tokens", (double)run->generated_tokens);
    if (run->r.options.stream)
        run_finish_stream(run);
    else if (run->error.status)
        openai_refuse(run->x, &run->error);
    else
        run_reply(run);
    openai_run_free(run);
}

/* Releases one hold on the request. */
static void run_release(openai_run *run)
{
    pthread_mutex_lock(&run->lock);
    const bool last = --run->pending == 0;
    pthread_mutex_unlock(&run->lock);
    if (last)
        run_finish(run);
}

/* ---- what the engine calls ---------------------------------------------------------------------------------------------- */

static bool choice_stop(void *context)
{
    openai_run *run = ((openai_choice *)context)->run;
    if (exchange_gone(run->x))
        atomic_store(&run->stopped, true);
    return atomic_load(&run->stopped);
}

/* A response that is not sent in parts has grown by `bytes`. */
static void choice_count(openai_choice *c, size_t bytes)
{
    if (!exchange_makes(c->run->x, REPLY_COPIES * bytes))
        run_fail(c->run, 503, "other requests have the memory that the response takes");
}

static void choice_keep(openai_choice *c)
{
    if (!c->run->r.options.stream)
        choice_count(c, openai_logprobs_keep(&c->logprobs));
}

static void choice_prompt_token(void *context, size_t position, const rapt_generated_token *token)
{
    (void)position;
    openai_choice *c = context;
    openai_logprobs_add(&c->logprobs, token, true);
    choice_keep(c);
}

static void choice_time(openai_choice *c)
{
    const double now = clock_seconds();
    openai_run *run = c->run;
    if (c->last == 0)
        metrics_first_token(run->metrics, run->model, now - run->start);
    else
        metrics_next_token(run->metrics, run->model, now - c->last);
    c->last = now;
}

static void choice_token(void *context, const rapt_generated_token *token)
{
    openai_choice *c = context;
    const openai_request *r = &c->run->r;
    choice_time(c);
    choice_begin(c);
    if (r->has_logprobs)
        openai_logprobs_add(&c->logprobs, token, false);
    choice_keep(c);
    if (r->options.stream && (token->size > 0 || r->has_logprobs))
        choice_send(c, token->text, token->size, NULL);
}

static void choice_end_part(openai_choice *c, const rapt_engine_generated *end)
{
    const openai_request *r = &c->run->r;
    if (!r->options.stream) {
        if (!buffer_append(&c->text, end->result->text ? end->result->text : "", end->result->text_size))
            run_fail(c->run, 503, "out of memory for the response");
        choice_count(c, (r->tools.list ? 2 : 1) * c->text.size); /* calls are another copy */
        return;
    }
    if (r->shape->opens && end->rest_size > 0)
        choice_send(c, end->rest, end->rest_size, NULL);
    choice_send(c, r->shape->opens ? "" : end->rest, r->shape->opens ? 0 : end->rest_size, c->finish);
}

static void choice_fail(openai_choice *c, rapt_code code, const char *message)
{
    openai_run *run = c->run;
    if (code == RAPT_ERR_INTERRUPTED)
        run_fail(run, 503, "the request was cancelled before its end");
    else /* RAPT_ERR_VALUE: the options exclude all tokens that a schema allows */
        run_fail(c->run, code == RAPT_ERR_MEMORY ? 503 : code == RAPT_ERR_VALUE ? 400 : 500, message);
}

static void run_queue_next(openai_run *run);

static void choice_done(void *context, const rapt_engine_generated *end)
{
    openai_choice *c = context;
    openai_run *run = c->run;
    run->generated_tokens += end->result ? end->result->token_count : 0;
    run->cached_tokens += c->sample == 0 ? end->cached_tokens : 0; /* other samples find the prompt of the first one */
    if (c->logprobs.failed)
        choice_fail(c, RAPT_ERR_MEMORY, "out of memory for the response");
    if (end->code)
        choice_fail(c, end->code, end->message);
    if (!atomic_load(&run->stopped)) {
        c->finish = end->result->finish == RAPT_FINISH_LENGTH ? "length" : "stop";
        choice_begin(c);
        choice_end_part(c, end);
    }
    openai_offsets_free(&c->logprobs.offsets);
    run_queue_next(run);
    run_release(run);
}

/* ---- the beginning ------------------------------------------------------------------------------------------------------ */

static bool openai_run_set_up(openai_run *run, const served *s)
{
    const openai_request *r = &run->r;
    run->count = r->prompts.count * r->options.n;
    run->choices = calloc(run->count, sizeof *run->choices);
    run->model = strdup(s->name);
    run->created = (int64_t)time(NULL);
    run->start = clock_seconds();
    run->pending = 1;
    snprintf(run->id, sizeof run->id, "%s-%s", r->shape->id, exchange_id(run->x));
    replay_fingerprint(s, run->fingerprint);
    for (size_t i = 0; i < run->count && run->choices; i++) {
        openai_choice *c = &run->choices[i];
        *c = (openai_choice){.run = run, .prompt = &r->prompts.list[i / r->options.n], .index = i, .sample = i % r->options.n,
                             .request = r, .response_id = run->id};
        c->logprobs.chat = r->shape->opens;
        c->logprobs.offsets.prompt = c->prompt;
        c->logprobs.offsets.tokenizer = rapt_engine_model_of(s->model)->language.tokenizer;
        run->prompt_tokens += c->sample == 0 ? c->prompt->count : 0;
    }
    return run->choices && run->model;
}

static bool choice_queue(openai_choice *c)
{
    const openai_request *r = &c->run->r;
    const served *s = c->run->model_of;
    rapt_error err = {0};
    const bool score = r->echo && r->has_logprobs;
    const rapt_engine_generation request = {
        .tokens = c->prompt->ids, .count = c->prompt->count, .options = &r->options.o, .sample = c->sample,
        .top = r->top, .score_prompt = score, .on_prompt_token = score ? choice_prompt_token : NULL,
        .on_token = choice_token, .on_done = choice_done, .stop = choice_stop, .context = c};
    rapt_code code = rapt_engine_generate(s->model, &request, NULL, &err);
    if (code)
        choice_fail(c, code, err.message);
    return !code;
}

/* Gives the engine another choice, if one is left and still wanted. The caller holds the request. */
static void run_queue_next(openai_run *run)
{
    pthread_mutex_lock(&run->lock);
    const bool more = run->next < run->count && !atomic_load(&run->stopped);
    const size_t i = run->next;
    run->next += more;
    run->pending += more;
    pthread_mutex_unlock(&run->lock);
    if (more && !choice_queue(&run->choices[i]))
        run_release(run);
}

void openai_run_start(app *a, exchange *x, served_set *models, const served *s, openai_request *request)
{
    request_error error = {0};
    const size_t at_once = AT_ONCE * rapt_engine_model_counts(s->model).slots;
    const bool admitted = openai_memory_ask(x, request, at_once, &error);
    openai_run *run = admitted ? calloc(1, sizeof *run) : NULL;
    if (!run) {
        openai_request_free(request);
        request_fail(&error, 503, NULL, "out of memory for the request");
        openai_refuse(x, &error);
        return;
    }
    *run = (openai_run){.x = x, .models = served_hold(models), .model_of = s, .metrics = app_metrics(a), .r = *request,
                        .lock = PTHREAD_MUTEX_INITIALIZER};
    *request = (openai_request){.shape = NULL};
    exchange_hold(x);
    if (!openai_run_set_up(run, s)) {
        openai_error(x, 503, NULL, NULL, "out of memory for the request");
        openai_run_free(run);
        return;
    }
    if (run->r.options.stream)
        sse_begin(x);
    for (size_t i = 0; i < at_once; i++)
        run_queue_next(run);
    run_release(run);
}
