/* serve/module/openai_answer.h: the common steps of OpenAI's endpoints: they read the body, find and note the model, and refuse
 * errors. For completions, chats, responses and embeddings. */
#ifndef SERVE_MODULE_OPENAI_ANSWER_H
#define SERVE_MODULE_OPENAI_ANSWER_H

#include "serve/module/openai_run.h"

/* A request whose body is read, for a model that is there. */
typedef struct openai_asked {
    app *app;
    exchange *x;
    served_set *models;       /* held until the endpoint's function returns */
    const served *s;          /* of these */
    const rapt_model *m;      /* its own */
    const app_limits *limits;
    fields *f;
} openai_asked;

/* Reads the fields and answers, or leaves an error in them; the caller then refuses the request. */
typedef void openai_endpoint_fn(const openai_asked *q);

/* Answers a request for a model of one of the tasks; without "model" it is for the first one of the first task that has one. */
void openai_answer(app *a, exchange *x, const rapt_task *tasks, size_t count, openai_endpoint_fn *endpoint);
/* The end of an endpoint that has read `r` and whose response is texts of a language model: starts it, with the headers, among
 * them the one that `tell` adds. If the fields have an error, it only frees `r`. */
void openai_generate(const openai_asked *q, openai_request *r, void (*tell)(const openai_asked *q, const openai_request *r));

#endif
