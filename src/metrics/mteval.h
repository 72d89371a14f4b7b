/* metrics/mteval.h: the word boundaries of BLEU. For BLEU only. Not a tokenizer for models: it must do what the tools of
 * published scores do. */
#ifndef METRICS_MTEVAL_H
#define METRICS_MTEVAL_H

#include "rapt/metrics.h"
#include "metrics/codes.h"

/* Puts white space round the words of `text`; `scratch` is overwritten.
 * RAPT_ERR_MEMORY. */
rapt_code mteval_tokenize(rapt_tokenize kind, struct codes *text, struct codes *scratch, rapt_error *err);

#endif
