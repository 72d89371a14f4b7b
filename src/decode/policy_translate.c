/* decode/policy_translate.c: greedy and beam search for translations as the folder of a Hugging Face model says (rapt/policy.h).
 * For rapt_translate. The search itself is in policy_search.c. */
#include "decode/policy_search.h"

#include <string.h>

typedef struct policy_translation {
    search_run base;
    rapt_search_policy policy; /* with the options' no-repeat n-gram size */
    policy_options options;
    policy_model model;
    rapt_decoder_state *state;
    policy_run *run;
} policy_translation;

/* A policy_model's select. Its step is the caller's of the search. */
static void policy_translate_select(void *context, const int32_t *parents, size_t rows)
{
    policy_translation *s = context;
    rapt_decoder_state_select(s->state, parents, rows);
}

/* The start token; if there is a prefix, also the token that the policy would force before it. */
static bool policy_translate_start(const search_batch *b, size_t sentence, const search_options *o, arena *memory,
                                   policy_start *start)
{
    const search_prefix none = {0}, prefix = b->prefixes ? b->prefixes[sentence] : none;
    int32_t *prompt = arena_array(memory, prefix.count + 2, sizeof *prompt);
    size_t count = 0;
    if (!prompt)
        return false;
    prompt[count++] = o->special.bos;
    if (prefix.count > 0 && o->policy->forced_bos.count > 0)
        prompt[count++] = o->policy->forced_bos.ids[0];
    if (prefix.count > 0)
        memcpy(prompt + count, prefix.ids, prefix.count * sizeof *prompt);
    count += prefix.count;
    *start = (policy_start){prompt, count, b->limits[sentence] - (count - 1), b->source.ids + sentence * b->source.time,
                            (size_t)b->source_lens[sentence]};
    return true;
}

static policy_start *policy_translate_starts(const search_batch *b, const search_options *o, arena *memory)
{
    policy_start *starts = arena_array(memory, b->source.batch, sizeof *starts);
    bool ok = starts != NULL;
    for (size_t i = 0; ok && i < b->source.batch; i++)
        ok = policy_translate_start(b, i, o, memory, &starts[i]);
    return ok ? starts : NULL;
}

/* A search's extend. */
static rapt_code policy_translation_step(search_run *base, rapt_decoder_state *state, rapt_real *logits, rapt_error *err)
{
    policy_translation *s = (policy_translation *)base;
    s->state = state;
    rapt_code code = policy_search_extend(s->run, logits, err);
    base->tokens = policy_search_tokens(s->run, &base->rows);
    return code;
}

rapt_code search_policy(const searcher *on, const search_batch *batch, const search_options *options, arena *memory,
                        search_result *results, search_run **out, rapt_error *err)
{
    const size_t sentences = batch->source.batch;
    policy_start *starts = policy_translate_starts(batch, options, memory);
    policy_translation *s = arena_array(memory, 1, sizeof *s);
    if (!starts || !s)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a search");
    *s = (policy_translation){.base.extend = policy_translation_step, .policy = *options->policy};
    s->policy.no_repeat_ngram = options->no_repeat;
    s->model = (policy_model){.context = s, .select = policy_translate_select, .k = search_kernels(on->t),
                              .classes = on->m->config.target_vocab};
    s->options = (policy_options){{&s->policy, &options->special.eos, 1, options->beam == 1}, options->beam,
                                  options->length_penalty, 1, batch->stop, batch->over};
    *out = &s->base;
    rapt_code code = policy_search_begin(&s->model, starts, sentences, &s->options, memory, results, &s->run, err);
    if (!code)
        s->base.tokens = policy_search_tokens(s->run, &s->base.rows);
    return code ? code : search_start(on, batch, options->beam, err);
}
