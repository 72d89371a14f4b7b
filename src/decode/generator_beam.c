/* decode/generator_beam.c: beam search for generators. The prompt is computed once, and its hypotheses are rows of one KV
 * cache. */
#include "decode/generator_beam.h"

#include "decode/policy_search.h"
#include "tape/tape_core.h"

/* The rows of a search. */
typedef struct beam_texts {
    const generator_beams *b;
    rapt_kv_cache *cache; /* KV cache with `beams` rows */
    bool begun;
} beam_texts;

/* The first step computes the whole text. */
static rapt_code beam_texts_step(void *context, const int32_t *tokens, size_t rows, rapt_real **logits, rapt_error *err)
{
    beam_texts *x = context;
    const generator_beams *b = x->b;
    const rapt_tokens text = {.ids = b->text, .batch = 1, .time = b->count}, next = {.ids = tokens, .batch = rows, .time = 1};
    if (b->stop(b->context))
        return rapt_fail(err, RAPT_ERR_INTERRUPTED, "the generation was cancelled");
    rapt_tape_begin(b->tape, (rapt_pass){0});
    *logits = rapt_lm_step(b->tape, b->model->language.net, x->cache, x->begun ? next : text, true)->data;
    x->begun = true;
    return rapt_tape_status(b->tape, err);
}

static void beam_texts_select(void *context, const int32_t *parents, size_t rows)
{
    beam_texts *x = context;
    rapt_kv_cache_select(x->cache, parents, rows);
}

rapt_code generator_beam(const generator_beams *b, double repetition_penalty, arena *memory, search_result *result,
                         rapt_error *err)
{
    const rapt_lm *net = b->model->language.net;
    const size_t context = net->config.context;
    if (b->count > context)
        return rapt_fail(err, RAPT_ERR_VALUE, "beam search continues texts of up to the model's context, %zu tokens; this one "
                         "has %zu", context, b->count);
    rapt_search_policy policy = b->model->search;
    if (!policy.given)
        policy = (rapt_search_policy){.length_penalty = 1};
    policy.repetition_penalty = repetition_penalty != 0 ? repetition_penalty : 1;
    const size_t room = context - b->count + 1; /* the step after the last token is not computed */
    const policy_start start = {b->text, b->count, b->max_tokens < room ? b->max_tokens : room, b->text, b->count};
    const policy_rules rules = {&policy, b->model->language.end_of_text, b->model->language.end_of_text_count, b->beams == 1};
    const policy_options o = {rules, b->beams, policy.length_penalty, b->count};
    rapt_kv_sizes sizes = rapt_lm_kv_sizes(net, b->beams);
    sizes.storage = b->kv_cache;
    beam_texts texts = {.b = b, .cache = rapt_kv_cache_new(sizes, err)};
    if (!texts.cache)
        return err ? err->code : RAPT_ERR_MEMORY;
    rapt_kv_cache_clear(texts.cache, 1);
    const policy_model model = {&texts, beam_texts_step, beam_texts_select, b->tape->k, net->config.vocab};
    rapt_code code = policy_search(&model, &start, 1, &o, memory, result, err);
    rapt_kv_cache_free(texts.cache);
    return code;
}
