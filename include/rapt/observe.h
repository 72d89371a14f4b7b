/* rapt/observe.h: inspect a model: every named intermediate of a pass, and in the backward pass its gradient, passed to the
 * caller as it is computed.
 *
 * Names come from the model file: the parameter "encoder.0.attention.q.weight" makes the intermediate "encoder.0.attention.q".
 * The table has them in the order of computation. P stands for the prefix "encoder.", "decoder." or "" (language models), A for
 * the name of an attention module ("decoder.0.self_attention"), N for a norm ("decoder.0.norm1"), F for a feed-forward network
 * ("decoder.0.ffn"):
 *
 *   name                    formula                     axes
 *   Pembedding              E[id], rows of the table    batch time feature
 *   Pembedding.scaled       times sqrt(d_model)         batch time feature      where the model scales
 *   Ppositions              P[position]                 batch time feature      where positions are added
 *   Pinput                  their sum                   batch time feature      where positions are added
 *   A.q  A.k  A.v           projections                 batch query feature, batch key feature
 *   A.q_norm.output  A.k_norm.output                    1 rows feature          where queries, keys are normalized, row by row:
 *   A.q.normed  A.k.normed  root mean square norm       as A.q, A.k             the same, in place
 *   A.q.rotated  A.k.rotated  rotated by position       as A.q, A.k             where positions are rotary
 *   A.q.heads  A.k.heads  A.v.heads                     batch head query feature, batch head key feature
 *   A.scores                Q K^T                       batch head query key
 *   A.scaled                scores / sqrt(d_k)          batch head query key    or times another constant
 *   A.biased                plus relative biases        batch head query key    where positions are relative or ALiBi's
 *   A.capped                c tanh(scaled / c)          batch head query key    where scores have a bound c (Gemma 2)
 *   A.masked                -inf where masked           batch head query key    a copy, for the observer
 *   A.weights               softmax                     batch head query key    a query without keys: zeros
 *   A.heads                 weights V                   batch head query feature
 *   A.concat                heads side by side          batch query feature
 *   A.output                times W_o                   batch query feature
 *   N.output                norm                        batch time feature      where it is: before its sublayer, of its result,
 *                                                                               or of the sum
 *   N.output.output         norm of the sublayer's result  batch time feature   where there is one besides that before it
 *   N.scaled                times a constant            batch time feature      where the sublayer's result is multiplied
 *   N.sum                   x + the sublayer's output   batch time feature
 *   F.hidden                before the activation       batch time feature
 *   F.activation            after it                    batch time feature
 *   F.gate  F.up  F.product                             batch time feature      in place of these two: SwiGLU; with
 *                                                                               F.activation of the gate: GEGLU
 *   F.activation.dropped  F.product.dropped  dropout    batch time feature      in training, where hidden features drop
 *   F.output                                            batch time feature
 *   Pembedding_norm.output  norm of the embedded input  batch time feature      where there is one
 *   Pnorm.output            the last norm               batch time feature      pre-norm
 *   Pnorm.scaled            times a constant            batch time feature      where logits are divided by it
 *   Poutput                 logits                      batch time token        "decoder.output", "output"; with their bound
 *   probabilities           softmax(logits)             batch time token        a copy, for the observer
 *
 * "time" and "query" run along the module's own sequence, "key" along the sequence that is attended to: in a cross-attention, the
 * encoder's sequence. If several heads share keys and values, A.k.heads and A.v.heads have fewer heads. In training, the result
 * of dropout is an intermediate of its own unless its probability is 0: "Pinput.dropped", "A.weights.dropped", "N.dropped" (the
 * sublayer's output). If a block uses its one norm a second time (rapt_block_config.shared_norm), that use has the name of a
 * second norm.
 *
 * If a caller runs rapt_embedding_forward or rapt_positions_forward by itself, the parameter "X.weight" makes "X", and
 * "Xpositions.table" makes "Xpositions" and "Xinput".
 */
#ifndef RAPT_OBSERVE_H
#define RAPT_OBSERVE_H

#include "rapt/tape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One named intermediate of a pass, as it is computed; or, in the backward pass, its gradient. */
typedef struct rapt_observation {
    const char *name;    /* "decoder.0.self_attention.scores"; for a parameter's gradient, the name of the parameter */
    const char *formula; /* "Q K^T", "softmax(masked)", ...; ASCII; NULL for gradients of parameters */
    const char *axes;    /* one word per dimension: "batch head query key"; for parameters "feature", "row column" */
    const rapt_tensor *tensor; /* the intermediate or parameter: its shape and values */
    const rapt_real *values;   /* the elements: tensor->data, or tensor->grad */
    bool gradient;             /* values are the gradient */
} rapt_observation;

/* `context` is the argument of rapt_observe. `step` is valid during the call. The function must not run operations on the tape,
 * but may call rapt_tape_fail to end the pass. */
typedef void rapt_observe_fn(void *context, const rapt_observation *step);

/* From now on `fn` gets every named intermediate of every pass of t, in the order of computation; NULL ends this. rapt_backward
 * then hands over the gradients of the intermediates, each one complete, in reverse order, and after them the gradients of the
 * parameters that this pass reached (these include gradients accumulated in earlier passes and not yet zeroed). Intermediates
 * that the loss does not depend on have no gradient. If rapt_backward fails, nothing is handed over.
 *
 * While a tape is observed, operations compute step by step what they otherwise fuse: results, gradients and dropout decisions
 * are the same, except for rounding. Gradients of all results are kept, as with rapt_pass.keep_gradients, so a pass takes more
 * memory and time. Tokens with `lens` are computed with their padding: intermediates are [batch, time, ...], rows of padding mean
 * nothing, and losses need `valid_lens`. Cached decoding is observed too: the axes "time" and "query" are then the new positions,
 * "key" is all positions; the keys and values of a cross-attention are projected once, by rapt_decoder_start, and are not handed
 * over. rapt_op_output_loss makes its logits and never defers a gradient. */
RAPT_API void rapt_observe(rapt_tape *t, rapt_observe_fn *fn, void *context);

#ifdef __cplusplus
}
#endif

#endif
