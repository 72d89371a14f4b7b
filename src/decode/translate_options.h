/* decode/translate_options.h: the options of a translator, checked, and with their defaults filled in. For translate.c. */
#ifndef DECODE_TRANSLATE_OPTIONS_H
#define DECODE_TRANSLATE_OPTIONS_H

#include "rapt/decode.h"

/* A caller's options, NULL for the defaults. RAPT_ERR_VALUE: they have no size, or a newer header's. */
rapt_code translate_options_take(const rapt_translate_options *given, rapt_translate_options *out, rapt_error *err);
/* Replaces RAPT_AS_MODEL by what the model's policy says, or by the defaults; a max_ratio of 0 is the search's own limit then.
 * RAPT_ERR_VALUE: not a translation model, or an option is out of its range. */
rapt_code translate_options_fill(const rapt_model *m, rapt_translate_options *o, rapt_error *err);

#endif
