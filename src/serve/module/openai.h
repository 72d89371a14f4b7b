/* serve/module/openai.h: OpenAI's endpoints (openai-openapi, version 2.3), as its clients call them, and endpoints for
 * cross-encoders, which it lacks, as other servers have them. Functions that a model or
 * rapt lacks are refused by name. */
#ifndef SERVE_MODULE_OPENAI_H
#define SERVE_MODULE_OPENAI_H

#include "serve/module/app.h"
#include "serve/module/fields.h"

void openai_models(app *a, exchange *x);      /* GET /v1/models, and /v1/models/NAME */
void openai_completions(app *a, exchange *x); /* POST /v1/completions */
void openai_chat(app *a, exchange *x);        /* POST /v1/chat/completions */
void openai_responses(app *a, exchange *x);   /* POST /v1/responses */
void openai_embeddings(app *a, exchange *x);  /* POST /v1/embeddings */
void openai_rerank(app *a, exchange *x);      /* POST /v1/rerank, and /v2/rerank */
void openai_any_rerank(app *a, exchange *x);  /* POST /rerank, also with the fields of text-embeddings-inference */
void openai_score(app *a, exchange *x);       /* POST /v1/score */

/* The model that "model" names, of one of the tasks; without that field, the first model of the first task that has one. NULL
 * with the fields' error set: no model has this name (404, model_not_found), or it is of another task. */
const served *openai_model(fields *f, const served_set *set, const rapt_task *tasks, size_t count);
/* "max_tokens", or the same under the name `field`: min to the operator's limit. More than the context counts as the context:
 * clients ask for 4096 regardless of the model. */
int64_t openai_max_tokens(fields *f, const char *field, int64_t absent, int64_t min, const app_limits *limits,
                          const rapt_model *m);

#endif
