/* decode/translate_settings.h: the settings of a translator and the settings of one run. For translate.c and the engine. */
#ifndef DECODE_TRANSLATE_SETTINGS_H
#define DECODE_TRANSLATE_SETTINGS_H

#include "decode/ensemble.h"
#include "decode/languages.h"
#include "decode/sampler.h"
#include "decode/suppressed.h"
#include "search/search.h"

/* The settings that all runs of a translator share. */
typedef struct translate_setup {
    const rapt_model *m;
    rapt_translate_options o; /* defaults filled in */
    languages lang;           /* *this must not move */
    suppressed suppressed;    /* the options' */
    ensemble ensemble;        /* of `m` and the models of the options, once the translator has its tapes */
} translate_setup;

/* The settings that may differ from run to run. */
typedef struct translate_settings {
    rapt_translate_options o; /* the setup's options, except the ones that rapt_translator_request.options may change */
    search_options search;
    sampler sampler;          /* of `search`, so that *this must not move */
    suppressed suppressed;    /* the run's own, if it has options */
} translate_settings;

/* `options` may be NULL. Errors as in rapt_translator_new. */
rapt_code translate_setup_init(translate_setup *s, const rapt_model *m, const rapt_translate_options *options, rapt_error *err);
void translate_setup_free(translate_setup *s); /* also after a failure; fine on a zeroed one, as the next is */
/* Makes the settings of a run with `options`; NULL: with the setup's. RAPT_ERR_VALUE: an option is out of its range. */
rapt_code translate_settings_init(translate_settings *s, const translate_setup *setup, const rapt_translate_options *options,
                                  rapt_error *err);
void translate_settings_free(translate_settings *s);

#endif
