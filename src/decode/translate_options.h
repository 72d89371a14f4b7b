/* decode/translate_options.h: the options of a translator, checked, and with their defaults filled in. For translate.c. */
#ifndef DECODE_TRANSLATE_OPTIONS_H
#define DECODE_TRANSLATE_OPTIONS_H

#include "rapt/decode.h"

/* `options` (NULL: zeroed ones) as rapt/decode.h has them: no field of *out stands for a default any more, and a
 * length_penalty of 0 is none. RAPT_ERR_VALUE: not a translation model, or one is out of its range. */
rapt_code translate_options_fill(const rapt_model *m, const rapt_translate_options *options, rapt_translate_options *out,
                                 rapt_error *err);

#endif
