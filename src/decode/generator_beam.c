/* decode/generator_beam.c: beam search for generators. The prompt is computed once, and its hypotheses are rows of one KV
 * cache. */
#include "decode/generator_beam.h"

#include "io/model_core.h"
#include "tape/tape_core.h"

/* Logits [rows, vocab] after the last tokens of the rows; NULL with `err` set. The first step computes the whole text. */
static rapt_real *generator_beam_step(const generator_beams *b, rapt_kv_cache *cache, const search *s, rapt_error *err)
{
    const bool first = rapt_kv_cache_past(cache) == 0;
    const rapt_tokens text = {.ids = b->text, .batch = 1, .time = b->count};
    const rapt_tokens next = {.ids = search_tokens(s), .batch = search_rows(s), .time = 1};
    if (b->stop(b->context)) {
        rapt_fail(err, RAPT_ERR_INTERRUPTED, "the generation was cancelled");
        return NULL;
    }
    rapt_tape_begin(b->tape, (rapt_pass){0});
    const rapt_tensor *x = rapt_lm_step(b->tape, b->model->language.net, cache, first ? text : next, true);
    return rapt_tape_status(b->tape, err) ? NULL : x->data;
}

static rapt_code generator_beam_run(const generator_beams *b, rapt_kv_cache *cache, search *s, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    rapt_kv_cache_clear(cache, 1);
    while (!code && search_rows(s) > 0) {
        rapt_real *logits = generator_beam_step(b, cache, s, err);
        code = logits ? search_extend(s, &logits, 1, err) : err->code;
        if (!code && search_rows(s) > 0 && search_parents(s))
            rapt_kv_cache_select(cache, search_parents(s), search_rows(s));
    }
    return code;
}

rapt_code generator_beam(const generator_beams *b, double repetition_penalty, arena *memory, search_result *result,
                         rapt_error *err)
{
    const rapt_language_model *m = &b->model->language;
    const size_t context = m->net->config.context;
    if (b->count > context)
        return rapt_fail(err, RAPT_ERR_VALUE, "beam search continues texts of up to the model's context, %zu tokens; this one "
                         "has %zu", context, b->count);
    rapt_search_policy policy = b->model->search;
    if (!policy.given)
        policy = (rapt_search_policy){.length_penalty = 1};
    const size_t room = context - b->count + 1; /* the step after the last token is not computed */
    const search_text text = {b->text, b->count, b->count, b->count + (b->max_tokens < room ? b->max_tokens : room),
                              b->text, b->count, m->end_of_text, m->end_of_text_count, 0};
    const search_options o = {.beam = b->beams, .n_best = b->beams, .length_penalty = policy.length_penalty,
                              .no_repeat = policy.no_repeat_ngram, .repetition_penalty = repetition_penalty, .policy = &policy};
    rapt_kv_sizes sizes = rapt_lm_kv_sizes(m->net, b->beams);
    sizes.storage = b->kv_cache;
    rapt_kv_cache *cache = rapt_kv_cache_new(sizes, err);
    if (!cache)
        return err ? err->code : RAPT_ERR_MEMORY;
    search *s = search_new(&o, &text, b->tape->k, m->net->config.vocab, memory, err);
    rapt_code code = s ? generator_beam_run(b, cache, s, err) : RAPT_ERR_MEMORY;
    if (!code)
        *result = search_found(s);
    rapt_kv_cache_free(cache);
    return code;
}
