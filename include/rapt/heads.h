/* rapt/heads.h: the attention heads of a model, and the model with some of them switched off ("ablation"), to see what they
 * contribute (Michel et al. 2019; Voita et al. 2019).
 *
 *    const char *off[] = {"decoder.1.cross_attention.2", "encoder.*.attention.0"};
 *    rapt_model *less = rapt_model_without_heads(model, off, 2, &err);
 *    if (less && rapt_translate(less, lines, count, NULL, translations, &err) == RAPT_OK)
 *        ...
 *    rapt_model_free(less); // before `model`
 */
#ifndef RAPT_HEADS_H
#define RAPT_HEADS_H

#include "rapt/io.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One head. Its name is "ATTENTION.INDEX": "decoder.1.cross_attention.2". */
typedef struct rapt_head {
    const char *attention; /* belongs to the model */
    size_t index;          /* among the heads of this attention, from 0 */
    size_t off;            /* 1: it is switched off; else 0 */
} rapt_head;

/* The number of query heads in all attentions of the model. */
RAPT_API size_t rapt_model_head_count(const rapt_model *m);
/* Head `index`, in the order of the blocks. An index out of range gives zeros. */
RAPT_API rapt_head rapt_model_head(const rapt_model *m, size_t index);

/* The model with heads switched off: instead of its context, softmax(q k^T / sqrt(d)) v, such a head hands zeros to the output
 * projection, whose bias remains. It still computes its weights. names [count]: names of heads, or shell patterns that match
 * some ("*.cross_attention.0", "encoder.*"). Heads that are off in `m` stay off.
 *
 * The result shares parameters, files and tokenizers with `m`, which must outlive it, and copies no weights: many can exist at
 * once, and be used in other threads than `m`. It translates, generates, embeds, scores, evaluates and is explained like any
 * model; without a head that is off it gives the same bits as `m`. It cannot be trained, take adapters, be saved or exported
 * (RAPT_ERR_VALUE), and its parameters must not be freed or changed.
 *
 * The caller frees the result with rapt_model_free. NULL with `err` (which may be NULL) set: RAPT_ERR_NOT_FOUND for a name that
 * matches no head, with a near name or the heads that the attention has; RAPT_ERR_MEMORY. */
RAPT_API rapt_model *rapt_model_without_heads(const rapt_model *m, const char *const *names, size_t count, rapt_error *err);

#ifdef __cplusplus
}
#endif

#endif
