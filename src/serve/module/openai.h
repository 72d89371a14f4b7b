/* serve/module/openai.h: OpenAI's endpoints (openai-openapi, version 2.3), as its clients call them. What a model or rapt lacks
 * is refused by name. */
#ifndef SERVE_MODULE_OPENAI_H
#define SERVE_MODULE_OPENAI_H

#include "serve/module/app.h"
#include "serve/module/fields.h"

void openai_models(app *a, exchange *x);      /* GET /v1/models, and /v1/models/NAME */
void openai_completions(app *a, exchange *x); /* POST /v1/completions */
void openai_chat(app *a, exchange *x);        /* POST /v1/chat/completions */
void openai_responses(app *a, exchange *x);   /* POST /v1/responses */
void openai_embeddings(app *a, exchange *x);  /* POST /v1/embeddings */

/* The model that "model" names, of one of the tasks; without that field the first one of the first task that has one. NULL with
 * the fields' error set: there is none of this name (404, model_not_found), or it is of another task. */
const served *openai_model(fields *f, const served_set *set, const rapt_task *tasks, size_t count);
/* "max_tokens", or whatever the field is called: min to the operator's limit. What is more than the context counts as the
 * context: clients ask for 4096 whatever the model. */
int64_t openai_max_tokens(fields *f, const char *field, int64_t absent, int64_t min, const app_limits *limits,
                          const rapt_model *m);

#endif
