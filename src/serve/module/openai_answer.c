/* serve/module/openai_answer.c: common steps of OpenAI's endpoints. */
#include "serve/module/openai_answer.h"

#include "serve/module/openai.h"
#include "serve/module/openai_error.h"

void openai_answer(app *a, exchange *x, const rapt_task *tasks, size_t count, openai_endpoint_fn *endpoint)
{
    served_set *models = app_models(a);
    request_error error = {0};
    fields f;
    exchange_hold(x); /* jobs that an endpoint has started may release it before this function refuses it */
    fields_read(&f, x, false, &error);
    const served *s = openai_model(&f, models, tasks, count);
    if (s) {
        exchange_note_model(x, s->name);
        endpoint(&(openai_asked){a, x, models, s, rapt_engine_model_of(s->model), app_limits_of(a), &f});
    }
    if (error.status)
        openai_refuse(x, &error);
    fields_free(&f);
    served_release(models);
    exchange_release(x);
}

void openai_generate(const openai_asked *q, openai_request *r, void (*tell)(const openai_asked *q, const openai_request *r))
{
    if (!fields_finish(q->f)) {
        openai_request_free(r);
        return;
    }
    replay_headers(q->x, q->s);
    tell(q, r);
    openai_run_start(q->app, q->x, q->models, q->s, r);
}
