/* serve/module/openai_completions.c: POST /v1/completions: texts that continue prompts. */
#include "serve/module/openai.h"

#include "serve/module/openai_error.h"
#include "serve/module/openai_run.h"

enum { DEFAULT_TOKENS = 16, MOST_LOGPROBS = 5 };

static json_t *completion_whole(const openai_choice *c, json_t *logprobs)
{
    return json_pack("{s:s%, s:i, s:o, s:s?}", "text", c->text.data ? c->text.data : "", c->text.size, "index", (int)c->index,
                     "logprobs", logprobs, "finish_reason", c->finish);
}

static json_t *completion_part(const openai_choice *c, const char *text, size_t size, json_t *logprobs, const char *finish)
{
    return json_pack("{s:s%, s:i, s:o, s:s?}", "text", text ? text : "", size, "index", (int)c->index, "logprobs", logprobs,
                     "finish_reason", finish);
}

static const openai_shape SHAPE = {"cmpl", "text_completion", "text_completion", completion_whole, completion_part, false};

static void completions_read(openai_request *r, fields *f, const app_limits *limits, const rapt_model *m)
{
    r->shape = &SHAPE;
    openai_options_read(&r->options, f, limits, m);
    const int64_t tokens = openai_max_tokens(f, "max_tokens", DEFAULT_TOKENS, 0, limits, m);
    r->no_tokens = tokens == 0;
    r->options.o.max_tokens = (size_t)tokens;
    r->echo = fields_flag(f, "echo", false);
    const int64_t top = fields_integer(f, "logprobs", -1, 0, MOST_LOGPROBS);
    r->has_logprobs = top >= 0;
    r->top = r->has_logprobs ? (size_t)top : 0;
    const int64_t best = fields_integer(f, "best_of", (int64_t)r->options.n, 1, 128);
    if (best != (int64_t)r->options.n)
        fields_fail(f, "best_of", "only the value of n is supported");
    if (r->no_tokens && !r->echo)
        fields_fail(f, "max_tokens", "0 needs \"echo\": true");
    fields_neutral(f, "suffix", "[\"\"]");
    if (!f->error->status)
        openai_prompts_read(&r->prompts, f, limits->texts, r->options.n, m);
}

/* The header X-Rapt-Replay: a command for each prompt. */
static void completions_replay(const openai_request *r, exchange *x, const served *s)
{
    replay line = {.input = 0};
    for (size_t i = 0; i < r->prompts.count && !line.unfaithful; i++) {
        const openai_prompt *p = &r->prompts.list[i];
        line.unfaithful = line.unfaithful || !p->same;
        replay_begin(&line, "generate", s);
        replay_words(&line, "%s --max-tokens %zu", r->echo ? "" : " --no-prompt", r->options.o.max_tokens);
        openai_options_replay(&r->options, &line);
        replay_prompt(&line, p->text, p->size);
    }
    replay_end(&line, x);
}

static void completions_answer(app *a, exchange *x, served_set *set)
{
    static const rapt_task tasks[] = {RAPT_TASK_LANGUAGE_MODEL};
    request_error error = {0};
    openai_request r = {.shape = NULL};
    fields f;
    fields_read(&f, x, false, &error);
    const served *s = error.status ? NULL : openai_model(&f, set, tasks, 1);
    if (s) {
        exchange_note_model(x, s->name);
        completions_read(&r, &f, app_limits_of(a), rapt_engine_model_of(s->model));
        fields_finish(&f);
    }
    if (error.status) {
        openai_refuse(x, &error);
        openai_request_free(&r);
    } else {
        replay_headers(x, s);
        completions_replay(&r, x, s);
        openai_run_start(a, x, set, s, &r);
    }
    fields_free(&f);
}

void openai_completions(app *a, exchange *x)
{
    served_set *set = app_models(a);
    completions_answer(a, x, set);
    served_release(set);
}
