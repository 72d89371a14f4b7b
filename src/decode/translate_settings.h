/* decode/translate_settings.h: what a translator is made with, and what the options of one run ask for. For translate.c and the
 * engine. */
#ifndef DECODE_TRANSLATE_SETTINGS_H
#define DECODE_TRANSLATE_SETTINGS_H

#include "decode/languages.h"
#include "decode/search.h"

/* What all runs of a translator have in common. */
typedef struct translate_setup {
    const rapt_model *m;
    rapt_translate_options o; /* defaults filled in */
    languages lang;           /* *this stays where it is */
} translate_setup;

/* What may differ from run to run. */
typedef struct translate_settings {
    rapt_translate_options o; /* those of the setup, but for what rapt_translator_request.options names */
    search_options search;
} translate_settings;

/* `options` may be NULL. Errors as of rapt_translator_new. */
rapt_code translate_setup_init(translate_setup *s, const rapt_model *m, const rapt_translate_options *options, rapt_error *err);
/* Of a run with `options`, or with the setup's where they are NULL. RAPT_ERR_VALUE: one is out of its range. */
rapt_code translate_settings_init(translate_settings *s, const translate_setup *setup, const rapt_translate_options *options,
                                  rapt_error *err);
/* Whether segments of both can be translated in one batch. */
bool translate_settings_equal(const translate_settings *a, const translate_settings *b);

#endif
