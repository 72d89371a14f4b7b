/* cli/eval/eval_conversations.c: `rapt eval` of a language model on conversations: the loss of the tokens that carry loss in
 * tuning. */
#include "cli/cli.h"
#include "cli/data_conversations.h"
#include "cli/eval/cmd_eval.h"
#include "cli/eval/eval_compare.h"
#include "cli/put_json.h"
#include "cli/say.h"

#include "data/conversation_set.h"
#include "decode/score_watch.h"
#include "io/model_core.h"
#include "rapt/recipe.h"

#include <stdio.h>

/* `m`: the model in the folder `from`. */
static rapt_dataset *read_set(const eval_arguments *a, const rapt_model *m, const char *from, const char *file, rapt_error *err)
{
    conversations_of_model c = {0};
    rapt_dataset *d = NULL;
    conversation_file *f = conversation_file_open(file, err);
    if (f && data_conversations_rule(&c, m, from, err) == RAPT_OK) {
        conversation_set_options o = {.rule = c.rule, .context = m->language.net->config.context};
        o.rule.all = a->loss_on == RAPT_RECIPE_LOSS_ON_ALL;
        o.too_long = RAPT_TOO_LONG_CUT;
        d = conversation_set_new(f, &o, err);
    }
    data_conversations_rule_free(&c);
    conversation_file_close(f);
    return d;
}

static rapt_code check_ids(const rapt_model *m, const rapt_dataset *d, const char *file, rapt_error *err)
{
    const size_t vocab = m->language.net->config.vocab;
    const int32_t max = conversation_set_max_id(d);
    return (size_t)max < vocab ? RAPT_OK : rapt_fail(err, RAPT_ERR_VALUE, "%s: token %d occurs; the model knows %zu", file,
                                                     (int)max, vocab);
}

/* Whether the other model's template and tokenizer give the same tokens. */
static rapt_code check_compared(const eval_arguments *a, const rapt_model *m, const rapt_dataset *d, const char *file,
                                rapt_error *err)
{
    rapt_error reason = {0};
    if (a->compare == m)
        return RAPT_OK;
    rapt_dataset *other = read_set(a, a->compare, a->compare_with, file, &reason);
    const bool same = other && conversation_set_hash(other) == conversation_set_hash(d);
    rapt_dataset_free(other);
    if (!other)
        return rapt_fail(err, reason.code, "--compare: with %s: %s", a->compare_with, reason.message);
    return same ? RAPT_OK : eval_compare_fail_ids(a, err);
}

static void warn_cut(const eval_arguments *a, const rapt_dataset *d, const char *file)
{
    if (!a->quiet && conversation_set_cut(d) + rapt_dataset_dropped(d) > 0)
        cli_say("rapt: %s: warning: %zu conversation%s cut at the context, and %zu left out whose answers are behind it\n", file,
                conversation_set_cut(d), conversation_set_cut(d) == 1 ? " is" : "s are", rapt_dataset_dropped(d));
}

static rapt_code eval_conversations_print(const eval_arguments *a, const char *file, const rapt_dataset *d, const rapt_score *r,
                                          const eval_compare *c, rapt_error *err)
{
    const size_t count = rapt_dataset_count(d);
    if (a->json) {
        json_t *o = json_pack("{s:s, s:I, s:f, s:f, s:I}", "data", file, "conversations", (json_int_t)count, "loss", r->loss,
                              "perplexity", r->perplexity, "tokens", (json_int_t)r->tokens);
        if (o && c)
            eval_compare_put(c, o);
        return put_json(o, 0, err);
    }
    cli_print_clean(stdout, file);
    printf(": %zu conversation%s, %zu token%s with loss\nloss %.4f nats a token, perplexity %.2f\n", count, cli_plural(count),
           r->tokens, cli_plural(r->tokens), r->loss, r->perplexity);
    if (c)
        eval_compare_print(c, r->nll);
    return RAPT_OK;
}

rapt_code eval_conversations(const eval_arguments *a, rapt_model *m, const char *file, rapt_error *err)
{
    rapt_score score;
    rapt_error reason = {0};
    eval_compare compared = {0}, *c = a->compare ? &compared : NULL;
    const rapt_score_options o = {.compute = a->o.compute};
    const score_watch watch = {eval_compare_watch, c};
    rapt_dataset *d = read_set(a, m, a->model, file, err);
    rapt_code code = d ? check_ids(m, d, file, err) : err->code;
    if (!code && c)
        code = check_compared(a, m, d, file, err);
    if (!code && c)
        code = eval_compare_make(c, a->compare, &a->o, err);
    if (!code)
        warn_cut(a, d, file);
    if (!code && (code = score_conversations(m, d, &o, c ? &watch : NULL, &score, &reason)))
        rapt_fail(err, code, "%s: %s", file, reason.message);
    if (!code)
        code = eval_conversations_print(a, file, d, &score, c, err);
    eval_compare_free(&compared);
    rapt_dataset_free(d);
    return code;
}
