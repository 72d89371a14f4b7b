/* decode/ensemble.h: models of the same vocabularies that translate together. For translators. */
#ifndef DECODE_ENSEMBLE_H
#define DECODE_ENSEMBLE_H

#include "decode/model_tapes.h"
#include "search/sentence.h"

typedef struct ensemble {
    sentence_net *nets; /* [count] the translator's model first, with the packed weights of its tapes */
    size_t count;
} ensemble;

/* Packs the weights of others[count], which must outlive the ensemble. RAPT_ERR_VALUE: one is not a translation model, has other
 * tokenizers or special tokens, or takes shorter sentences than `m`. Free it in any case. */
rapt_code ensemble_make(ensemble *e, const rapt_model *m, const rapt_model *const *others, size_t count, const model_tapes *tapes,
                        rapt_error *err);
void ensemble_free(ensemble *e); /* zeroed: does nothing */

#endif
