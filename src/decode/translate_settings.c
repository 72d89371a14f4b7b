/* decode/translate_settings.c: combines the options of a translator with the options of a run. translate_options.c checks
 * ranges. */
#include "decode/translate_settings.h"

#include "decode/translate_options.h"
#include "io/model_core.h"

rapt_code translate_setup_init(translate_setup *s, const rapt_model *m, const rapt_translate_options *options, rapt_error *err)
{
    s->m = m;
    rapt_code code = translate_options_take(options, &s->o, err);
    code = code ? code : translate_options_fill(m, &s->o, err);
    return code ? code : languages_set(&s->lang, m, &s->o, err);
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
    o.prefix = run->prefix;
    o.alignment = run->alignment;
    o.tokens = run->tokens;
    return o;
}

rapt_code translate_settings_init(translate_settings *s, const translate_setup *setup, const rapt_translate_options *options,
                                  rapt_error *err)
{
    const rapt_model *m = setup->m;
    rapt_code code = RAPT_OK;
    s->o = setup->o;
    if (options) {
        rapt_translate_options own;
        code = translate_options_take(options, &own, err);
        if (code)
            return code;
        s->o = options_of_run(&setup->o, &own);
        code = translate_options_fill(m, &s->o, err);
    }
    s->search = (search_options){s->o.beam, s->o.length_penalty, s->o.n_best, s->o.no_repeat, s->o.max_ratio,
                                 m->translation.special, m->search.given ? &setup->lang.policy : NULL, NULL, s->o.tokens};
    return code;
}
