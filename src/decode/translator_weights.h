/* decode/translator_weights.h: the bytes of weights that a translator reads. For `rapt-bench`. */
#ifndef DECODE_TRANSLATOR_WEIGHTS_H
#define DECODE_TRANSLATOR_WEIGHTS_H

#include "rapt/decode.h"
#include "tensor/packed_weights.h"

/* The packed weights that all its threads read. *read: how many bytes of them products have read since the translator was made;
 * each product reads its weights once. */
const packed_weights *translator_weights(const rapt_translator *t, uint64_t *read);

#endif
