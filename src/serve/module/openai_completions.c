/* serve/module/openai_completions.c: POST /v1/completions: texts that continue prompts. */
#include "serve/module/openai.h"

#include "serve/module/openai_format.h"

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

static const openai_shape SHAPE = {"cmpl", "text_completion", "text_completion", completion_whole, completion_part, NULL,
                                   false};

static void completions_read(openai_request *r, const openai_asked *q)
{
    fields *f = q->f;
    openai_options_read(&r->options, f, q->limits, q->m);
    const int64_t tokens = openai_max_tokens(f, "max_tokens", DEFAULT_TOKENS, 0, q->limits, q->m);
    r->options.o.max_tokens = (size_t)tokens;
    r->echo = fields_flag(f, "echo", false);
    const int64_t top = fields_integer(f, "logprobs", -1, 0, MOST_LOGPROBS);
    r->has_logprobs = top >= 0;
    r->top = r->has_logprobs ? (size_t)top : 0;
    const int64_t best = fields_integer(f, "best_of", (int64_t)r->options.n, 1, 128);
    if (best != (int64_t)r->options.n)
        fields_fail(f, "best_of", "only the value of n is supported");
    if (tokens == 0 && !r->echo)
        fields_fail(f, "max_tokens", "0 needs \"echo\": true");
    fields_neutral(f, "suffix", "[\"\"]");
    if (!f->error->status)
        openai_prompts_read(&r->prompts, f, q->limits->texts, r->options.n, q->m);
    openai_format_read(r, q);
}

/* The header X-Rapt-Replay: a command for each prompt. */
static void completions_replay(const openai_asked *q, const openai_request *r)
{
    replay line = {.input = 0};
    for (size_t i = 0; i < r->prompts.count && !line.unfaithful; i++) {
        const openai_prompt *p = &r->prompts.list[i];
        line.unfaithful = line.unfaithful || !p->same;
        replay_begin(&line, "generate", q->s);
        replay_words(&line, "%s --max-tokens %zu", r->echo ? "" : " --no-prompt", r->options.o.max_tokens);
        openai_options_replay(&r->options, &line);
        openai_format_replay(r, &line);
        replay_prompt(&line, p->text, p->size);
    }
    replay_end(&line, q->x);
}

static void completions_endpoint(const openai_asked *q)
{
    openai_request r = {.shape = &SHAPE};
    completions_read(&r, q);
    openai_generate(q, &r, completions_replay);
}

void openai_completions(app *a, exchange *x)
{
    static const rapt_task tasks[] = {RAPT_TASK_LANGUAGE_MODEL};
    openai_answer(a, x, tasks, 1, completions_endpoint);
}
