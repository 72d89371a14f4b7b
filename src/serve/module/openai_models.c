/* serve/module/openai_models.c: lists the models, and finds the one for a request. */
#include "serve/module/openai.h"

#include "base/rows.h"
#include "io/model_core.h"
#include "serve/module/openai_error.h"
#include "serve/module/reply.h"

#include "base/quote.h"

#include <stdio.h>
#include <string.h>

#define ROOT "/v1/models"

static json_t *model_object(const served *s)
{
    static const char *const tasks[] = {[RAPT_TASK_TRANSLATION] = "translation", [RAPT_TASK_LANGUAGE_MODEL] = "language_model",
                                        [RAPT_TASK_ENCODER] = "encoder", [RAPT_TASK_CROSS_ENCODER] = "cross_encoder"};
    ROWS_FIT(tasks, RAPT_TASKS, 1); /* RAPT_TASK_ANY */
    json_t *model = json_pack("{s:s, s:s, s:I, s:s, s:s, s:s, s:s}", "id", s->name, "object", "model", "created",
                              (json_int_t)s->created, "owned_by", "rapt", "task", tasks[s->task], "number_format",
                              s->number_format, "fingerprint", s->fingerprint);
    bool fine = model != NULL;
    if (s->task == RAPT_TASK_TRANSLATION)
        fine = fine && json_object_set_new(model, "source", s->source ? json_string(s->source) : json_null()) == 0 &&
               json_object_set_new(model, "target", s->target ? json_string(s->target) : json_null()) == 0;
    else if (s->task == RAPT_TASK_LANGUAGE_MODEL)
        fine = fine && json_object_set_new(model, "context", json_integer((json_int_t)rapt_engine_model_of(s->model)
                                                                              ->language.net->config.context)) == 0;
    if (fine && served_damage(s))
        fine = json_object_set_new(model, "damage", json_string(served_damage(s))) == 0;
    if (fine)
        return model;
    json_decref(model);
    return NULL;
}

static json_t *model_list(const served_set *set)
{
    json_t *list = json_array();
    for (size_t i = 0; i < set->count; i++)
        if (json_array_append_new(list, model_object(&set->models[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return json_pack("{s:s, s:o}", "object", "list", "data", list);
}

static void model_not_found(request_error *e, const char *name)
{
    request_fail(e, 404, "model", "the model \"%s\" does not exist", quote(name).text);
    e->code = "model_not_found";
}

void openai_models(app *a, exchange *x)
{
    const char *path = exchange_path(x), *name = strlen(path) > strlen(ROOT) ? path + strlen(ROOT) + 1 : NULL;
    served_set *set = app_models(a);
    const served *one = name ? served_named(set, name) : NULL;
    request_error e = {0};
    if (!name || one) {
        reply_json(x, 200, one ? model_object(one) : model_list(set));
    } else {
        model_not_found(&e, name);
        openai_refuse(x, &e);
    }
    served_release(set);
}

/* ---- the model of a request --------------------------------------------------------------------------------------------- */

static bool task_is_among(rapt_task task, const rapt_task *tasks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (tasks[i] == task)
            return true;
    return false;
}

const served *openai_model(fields *f, const served_set *set, const rapt_task *tasks, size_t count)
{
    static const char *const what[] = {
        [RAPT_TASK_TRANSLATION] = "is a translation model, for POST /v1/chat/completions and /v1/translate",
        [RAPT_TASK_LANGUAGE_MODEL] = "is a language model, for POST /v1/completions",
        [RAPT_TASK_ENCODER] = "is an encoder, for POST /v1/embeddings",
        [RAPT_TASK_CROSS_ENCODER] = "is a cross-encoder, for POST /v1/rerank and /v1/score"};
    ROWS_FIT(what, RAPT_TASKS, 1); /* RAPT_TASK_ANY */
    const char *name = fields_text(f, "model");
    const served *s = name ? served_named(set, name) : NULL;
    for (size_t i = 0; i < count && !name && !s; i++)
        s = served_first(set, tasks[i]);
    if (f->error->status)
        return NULL;
    if (!s && name)
        model_not_found(f->error, name);
    else if (!s)
        fields_fail(f, "model", "this field is required, as no model of this server is for this endpoint");
    else if (!task_is_among(s->task, tasks, count))
        fields_fail(f, "model", "\"%s\" %s", quote(name).text, what[s->task]);
    return f->error->status ? NULL : s;
}

int64_t openai_max_tokens(fields *f, const char *field, int64_t absent, int64_t min, const app_limits *limits,
                          const rapt_model *m)
{
    const size_t context = m->language.net->config.context;
    const bool lower = limits->max_tokens && limits->max_tokens < context;
    const int64_t tokens = fields_integer(f, field, absent, min, lower ? (int64_t)limits->max_tokens : INT32_MAX);
    return tokens > (int64_t)context ? (int64_t)context : tokens;
}
