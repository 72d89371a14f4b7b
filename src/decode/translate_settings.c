/* decode/translate_settings.c: combines the options of a translator with the options of a run. translate_options.c checks
 * ranges. */
#include "decode/translate_settings.h"

#include "base/sized.h"
#include "decode/translate_options.h"
#include "io/model_core.h"

rapt_code translate_setup_init(translate_setup *s, const rapt_model *m, const rapt_translate_options *options, rapt_error *err)
{
    s->m = m;
    rapt_code code = translate_options_take(options, &s->o, err);
    code = code ? code : translate_options_fill(m, &s->o, err);
    code = code ? code : languages_set(&s->lang, m, &s->o, err);
    code = code ? code : suppressed_encode(&s->suppressed, m, s->o.suppress, err);
    s->o.suppress = NULL; /* it doesn't last */
    return code;
}

void translate_setup_free(translate_setup *s)
{
    suppressed_free(&s->suppressed);
    ensemble_free(&s->ensemble);
}

void translate_settings_free(translate_settings *s)
{
    suppressed_free(&s->suppressed);
}

/* The options of a run: the ones that rapt_translator_request.options may change come from the run, the others are fixed. */
static rapt_translate_options options_of_run(const rapt_translate_options *fixed, const rapt_translate_options *run)
{
    rapt_translate_options o = *fixed;
    o.beam = run->beam;
    o.length_penalty = run->length_penalty;
    o.n_best = run->n_best;
    o.no_repeat = run->no_repeat;
    o.max_ratio = run->max_ratio;
    o.min_length = run->min_length;
    o.prefix = run->prefix;
    o.suppress = run->suppress;
    o.sample = run->sample;
    o.alignment = run->alignment;
    o.tokens = run->tokens;
    o.spans = run->spans;
    o.replace_unknown = run->replace_unknown;
    o.patience = run->patience;
    o.alternatives = run->alternatives;
    o.coverage_penalty = run->coverage_penalty;
    o.glossary = run->glossary;
    return o;
}

/* A search_draw_fn. */
static rapt_code translate_draw(const void *context, const search_place *at, int32_t *token, rapt_error *err)
{
    sampler s = *(const sampler *)context;
    s.k = at->k;
    const sampler_input in = {.logits = at->x, .vocab = at->classes, .row = at->row, .position = at->position};
    return sampler_choose(&s, &in, at->scratch, token, err);
}

/* The penalty of repetitions is the search's. */
static rapt_code translate_set_sampler(translate_settings *s, rapt_error *err)
{
    rapt_sample_options o = s->o.sample;
    o.repetition_penalty = 1;
    s->search.repetition_penalty = s->o.sample.repetition_penalty;
    s->search.draw = o.greedy ? NULL : translate_draw;
    s->search.sampler = &s->sampler;
    return sampler_init(&s->sampler, &o, NULL, err);
}

rapt_code translate_settings_init(translate_settings *s, const translate_setup *setup, const rapt_translate_options *options,
                                  rapt_error *err)
{
    const rapt_model *m = setup->m;
    rapt_code code = RAPT_OK;
    s->o = setup->o;
    s->suppressed = (suppressed){0};
    if (options) {
        rapt_translate_options own;
        code = translate_options_take(options, &own, err);
        if (code)
            return code;
        s->o = options_of_run(&setup->o, &own);
        code = translate_options_fill(m, &s->o, err);
        code = code ? code : suppressed_encode(&s->suppressed, m, s->o.suppress, err);
    }
    const suppressed *none_of = options ? &s->suppressed : &setup->suppressed;
    const size_t least = s->o.min_length;
    s->search = (search_options){
        .beam = s->o.beam, .length_penalty = s->o.length_penalty, .patience = s->o.patience, .alternatives = s->o.alternatives,
        .n_best = s->o.coverage_penalty > 0 ? s->o.beam : s->o.n_best, .no_repeat = s->o.no_repeat, .max_ratio = s->o.max_ratio,
        .min_length = SIZED_AS_MODEL(least) ? 0 : least == 0 ? SIZE_MAX : least, .special = m->translation.special,
        .suppressed = none_of->lists, .suppressed_count = none_of->count,
        .policy = m->search.given ? &setup->lang.policy : NULL, .log_probs = s->o.tokens};
    return code ? code : translate_set_sampler(s, err);
}
