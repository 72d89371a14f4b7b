/* decode/translate_options.h: the options of a translator, checked, and with their defaults filled in. For translate.c. */
#ifndef DECODE_TRANSLATE_OPTIONS_H
#define DECODE_TRANSLATE_OPTIONS_H

#include "rapt/decode.h"

/* Copies `options` (NULL: zeroed ones) to *out with all defaults filled in; a length_penalty of 0 in *out means none.
 * RAPT_ERR_VALUE: not a translation model, or an option is out of its range. */
rapt_code translate_options_fill(const rapt_model *m, const rapt_translate_options *options, rapt_translate_options *out,
                                 rapt_error *err);

#endif
