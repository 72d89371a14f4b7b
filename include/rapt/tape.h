/* rapt/tape.h: the tape and its operations.
 *
 * An operation computes at once, records its backward pass, and returns a tensor that the tape owns. Shapes are checked first. A
 * failure stays in the tape: the operation returns a poison tensor, later operations do nothing, and one check at the end
 * (`rapt_tape_error`) tells the first cause with operation, parameter and shapes. One tape per thread. Forward passes only read
 * parameters, so threads can share a model, except while it is trained.
 */
#ifndef RAPT_TAPE_H
#define RAPT_TAPE_H

#include "rapt/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rapt_tape rapt_tape;

/* How a model or a tape computes. Zeroed: in fp32, on all threads, with the best kernels. */
typedef struct rapt_compute {
    int threads;         /* 1 to 256; 0: RAPT_THREADS, or else the number of CPUs that this process may use; results don't depend
                            on it */
    const char *isa;     /* NULL: RAPT_ISA, or else the best one; "scalar", "avx2", "avx2_vnni", "avx512", "avx512_vnni",
                            "avx512_bf16", "amx", "neon", "neon_dot", "simd128", "relaxed" */
    rapt_type type;      /* numeric type of matrix products, and of the weights that are held for them: FP32, BF16, Q8_0 or
                            Q4_0 */
    const char *weights; /* numeric types of the weights that are held for inference, as a list "T,PATTERN=T,...", where T is
                            fp32, bf16, q8_0 or q4_0. The first T applies to all weights and may be left out. A shell pattern
                            ("blocks.0.*") selects matrices of linear layers by the name that rapt has for them or that the file
                            has (rapt_param.origin); "output" is the output matrix. The last match counts, and a pattern that
                            matches no matrix is refused. NULL: all weights have the type `type`; if that is fp32, weights that a
                            file stores in fewer bits stay in its type. Borrowed until rapt_generator_new, rapt_translator_new
                            or rapt_embedder_new returns */
    rapt_type kv_cache;  /* numeric type of the keys and values that decoding keeps; their rounding is part of the result: FP32,
                            BF16 or Q8_0 */
    uint32_t reserved[7]; /* zeros, or else refused: members of later versions, in which 0 means as before. The struct has no
                             size and lies in the middle of options that have one, so it cannot grow */
} rapt_compute;

/* What `type` means for matrix products. BF16: inputs are rounded to bf16 and accumulated in fp32; parameters, gradients and
 * everything else stay in fp32. Results then depend on the processor's instructions for bf16, but neither on the number of
 * threads nor on which rows are multiplied together. Q8_0 and Q4_0 are for inference only, and change only the linear layers of
 * a generator, translator or embedder: their weights are rounded to 8 or 4 bits in blocks of 32, each block with a scale, and
 * the inputs that they are multiplied with to 8 bits. Everything else is fp32 (docs/number-format.md), so a tape that the caller
 * makes with them computes in fp32. Results are the same on every processor. With Q4_0 the output matrix has 8 bits. */

/* Makes a tape, which reads neither `weights` nor `kv_cache`. `compute` may be NULL: zeroed. Returns NULL with `err` (which may
 * be NULL) set. RAPT_ERR_MEMORY: out of memory, or a thread does not start; RAPT_ERR_VALUE: `threads` out of range, an invalid
 * RAPT_THREADS, a type that matrix products do not take, an unknown ISA; RAPT_ERR_NOT_FOUND: an ISA that this machine lacks. */
RAPT_API rapt_tape *rapt_tape_new(const rapt_compute *compute, rapt_error *err);
/* Frees the tape with the tensors of its pass, and ends its threads; NULL is fine. */
RAPT_API void rapt_tape_free(rapt_tape *t);

/* Threads for several tapes: a tape of its own for each pass then costs a microsecond or two, not the start of threads. Tapes of
 * different threads may share a pool: while one computes in all threads, the others compute in the thread that calls them, with
 * the same results. In a child of fork() a pool has the calling thread only, and can be freed, as can its tapes. */
typedef struct rapt_pool rapt_pool;
/* `threads` and failures as in rapt_tape_new; NULL with `err` (which may be NULL) set. */
RAPT_API rapt_pool *rapt_pool_new(int threads, rapt_error *err);
/* Ends the threads. All tapes of the pool must have been freed. NULL is fine. */
RAPT_API void rapt_pool_free(rapt_pool *pool);
/* rapt_tape_new for a tape that computes in the threads of `pool`; compute->threads is not read. RAPT_ERR_VALUE too: `pool` is
 * NULL. */
RAPT_API rapt_tape *rapt_tape_new_in(rapt_pool *pool, const rapt_compute *compute, rapt_error *err);

typedef struct rapt_pass {
    bool record;   /* keep what a backward pass needs */
    bool training; /* dropout drops, max_norm is written back */
    bool keep_gradients; /* keep the gradient of every result, to inspect it; if false, gradient buffers are reused within the
                            pass */
    bool recompute; /* activation checkpointing: keep only the input of each block (rapt_run_block); the results have the same
                       bits */
    uint64_t seed; /* with `step`: the key of every random number of this pass */
    uint64_t step;
    const uint32_t *examples; /* [batch] global index of each example, which keys its dropout; NULL: 0, 1, ...;
                                 borrowed until the backward pass is over */
} rapt_pass;

/* Starts a new pass: releases all tensors of the last one and clears its error. Sets the calling thread's floating-point
 * environment to the default (round to nearest, denormals kept, no traps), because results depend on it, and leaves it so. A
 * caller that needs another environment must save and restore it (fegetenv, fesetenv). */
RAPT_API void rapt_tape_begin(rapt_tape *t, rapt_pass pass);

/* The memory of one pass: its tensors, their elements and gradients. It is counted who refers to it. */
typedef struct rapt_kept_pass rapt_kept_pass;
/* Keeps the tensors of the current pass, at any time in it, also after rapt_tape_begin and rapt_tape_free, until each reference
 * that this function has given is released. They can then be read, but are no operands of another pass, and rapt_backward is for
 * the current pass only. A kept pass takes the memory of its tensors; the tape allocates anew for the next one.
 *
 * What is not the pass's own is not kept: the elements of a parameter, which a rapt_op_reshape of it shows, and which change and
 * are freed with the parameter; the names of parameters, which tensors may have as theirs; the `ragged` that a caller has given
 * to rapt_op_reshape. In a pass that is not recorded, or with rapt_pass.recompute, a block (rapt_run_block) leaves its output
 * only. An operand whose memory an operation has taken for its result (rapt_op_lora, rapt_residual.overwrite_y) shows that
 * result.
 *
 * NULL with `err` (which may be NULL) set: RAPT_ERR_MEMORY. */
RAPT_API rapt_kept_pass *rapt_tape_keep(rapt_tape *t, rapt_error *err);
/* Gives up one reference. Any thread may, at any time. NULL is fine. */
RAPT_API void rapt_kept_pass_release(rapt_kept_pass *pass);

/* The first failure since rapt_tape_begin; code RAPT_OK if there was none. */
RAPT_API const rapt_error *rapt_tape_error(const rapt_tape *t);
/* The first failure since rapt_tape_begin as a status: returns its code, and copies the failure to `err` if there was one. */
RAPT_API rapt_code rapt_tape_status(const rapt_tape *t, rapt_error *err);
/* Records a failure, for modules that check more than their operations do. Returns the poison tensor. */
RAPT_API rapt_tensor *rapt_tape_fail(rapt_tape *t, rapt_code code, const char *format, ...) RAPT_PRINTF(3, 4);
/* Called with every failure as it is recorded, for a debugger's breakpoint or a log. `context` is the argument of
 * rapt_tape_on_error. */
typedef void rapt_error_fn(void *context, const rapt_error *err);
/* Sets the function that is called with the failures of `t`; NULL: none. */
RAPT_API void rapt_tape_on_error(rapt_tape *t, rapt_error_fn *hook, void *context);

/* Whether this pass is in training mode (rapt_pass.training). */
RAPT_API bool rapt_tape_training(const rapt_tape *t);
/* The number of threads of the tape. */
RAPT_API int rapt_tape_threads(const rapt_tape *t);
/* The ISA of its kernels: "avx2", ... */
RAPT_API const char *rapt_tape_isa(const rapt_tape *t);
/* The name of the GEMM kernels: "fp32"; for RAPT_TYPE_BF16 "amx", "avx512_bf16", or "emulated", which is no faster than
 * fp32; for RAPT_TYPE_Q8_0 the name of the kernels for packed weights, "avx512_vnni" or "q8_0". */
RAPT_API const char *rapt_tape_gemm(const rapt_tape *t);
/* Peak memory in bytes so far: the tensors of the largest pass and the scratch memory of all threads. */
RAPT_API size_t rapt_tape_memory(const rapt_tape *t);

/* The backward pass: traverses the tape from `loss` (one element, gradient 1) and adds to the gradients of all parameters that
 * are not frozen. Once per forward pass. `err` may be NULL. These failures change no gradient: the failure of the forward pass;
 * RAPT_ERR_SHAPE: `loss` is not one element; RAPT_ERR_VALUE: nothing that needs a gradient was recorded, or this is the second
 * call; RAPT_ERR_NOT_FINITE: the loss is not finite. RAPT_ERR_MEMORY may also come in the middle, after some gradients have been
 * added to. */
RAPT_API rapt_code rapt_backward(rapt_tape *t, rapt_tensor *loss, rapt_error *err);

/* A tensor of this pass with its own memory and undefined elements; `grad`: it gets a gradient. The poison tensor after a
 * failure. */
RAPT_API rapt_tensor *rapt_tape_tensor(rapt_tape *t, int ndim, const size_t *shape, bool grad);
/* A tensor of this pass with the elements of `data` (copied); `grad`: it gets a gradient. The poison tensor after a failure. */
RAPT_API rapt_tensor *rapt_tape_input(rapt_tape *t, int ndim, const size_t *shape, const rapt_real *data, bool grad);

/* ---- masks: 1 means keep --------------------------------------------------------------------------- */

/* The place of an example in a KV cache whose rows differ in length (rapt/kv.h). */
typedef struct rapt_cached_row {
    size_t row;  /* row of the cache */
    size_t past; /* positions that the row holds; the example's own positions begin there */
} rapt_cached_row;

/* Which keys a query may attend to. A key must satisfy all conditions. If a query may attend to no key, its output and gradients
 * are zeros. Arrays are copied if the backward pass needs them. A NULL mask means every key. */
typedef struct rapt_mask {
    const int32_t *valid_lens; /* keys 0 .. n-1 are valid: [batch], or [batch, queries] with per_query; or NULL */
    bool per_query;
    bool causal;               /* query i (at position past + i) attends to keys 0 .. past + i */
    size_t past;               /* positions before the first query (cached decoding) */
    const rapt_cached_row *cached; /* [batch], or NULL. Example b attends to row cached[b].row of keys and values [rows,
                                      positions, feature], and cached[b].past replaces `past`. Causal inference only, without
                                      `keep` and `valid_lens` */
    size_t window;             /* causal: a query attends only to the last `window` of these keys, its own included
                                  (sliding-window attention: Child et al. 2019; Mistral). Not with `keep`. 0: all */
    const uint8_t *keep;       /* 1 means keep: [batch, 1, keys], or [batch, queries, keys] with keep_per_query; or NULL */
    bool keep_per_query;
} rapt_mask;

/* ---- operations ----------------------------------------------------------------------------------------- */

/* What is applied to each element:
 *   RELU       max(0, x)
 *   GELU       x Phi(x), the exact form; Phi is the normal distribution (Hendrycks & Gimpel 2016)
 *   GELU_TANH  x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))): GPT-2's
 *   SILU       x / (1 + exp(-x)) */
#define RAPT_ACTIVATIONS(X)                                                                        \
    X(RAPT_ACTIVATION_IDENTITY)                                                                    \
    X(RAPT_ACTIVATION_RELU)                                                                        \
    X(RAPT_ACTIVATION_GELU)                                                                        \
    X(RAPT_ACTIVATION_GELU_TANH)                                                                   \
    X(RAPT_ACTIVATION_SILU)

typedef enum rapt_activation {
#define RAPT_ACTIVATION_ENUM(name) name,
    RAPT_ACTIVATIONS(RAPT_ACTIVATION_ENUM)
#undef RAPT_ACTIVATION_ENUM
} rapt_activation;

/* y = activation(x w^T + b). x [..., in], w [out, in], b [out] or NULL; y [..., out]. */
RAPT_API rapt_tensor *rapt_op_linear(rapt_tape *t, rapt_tensor *x, rapt_param *w, rapt_param *b, rapt_activation activation);

typedef struct rapt_linear_args {
    rapt_tensor *x;
    rapt_param *w, *b; /* b: or NULL */
} rapt_linear_args;

#define RAPT_OP_LINEARS_MAX 3
/* y[i] = x[i] w[i]^T + b[i], with the bits of rapt_op_linear. Computes up to RAPT_OP_LINEARS_MAX layers side by side, which keeps
 * all threads busy if each layer is small, such as the projections of queries, keys and values. After a failure all y are poison
 * tensors. */
RAPT_API void rapt_op_linears(rapt_tape *t, size_t count, const rapt_linear_args *in, rapt_tensor **y);

/* A low-rank adapter of a linear layer. */
typedef struct rapt_lora {
    rapt_param *a, *b; /* [rank, in], [out, rank] */
    double scale;      /* alpha / rank, or rank-stabilized, alpha / sqrt(rank) */
    double dropout;    /* of the layer's input, before a */
    rapt_param *magnitude; /* [out] lengths that the rows of the sum get (rapt_op_dora); NULL: their own */
    const double *squares; /* with a magnitude: [out] sums of squares of the rows of the layer's matrix, which may not change */
} rapt_lora;

/* y + scale (dropout(x) a^T) b^T (Hu et al. 2021, section 4.1; dropout as in PEFT). x [..., in] is the input of a linear layer; y
 * [..., out] is its result, from rapt_op_linear without activation or from rapt_op_linears. No other operation may have read y:
 * the sum overwrites y's memory, and y is returned (in an observed pass, a new tensor is). */
RAPT_API rapt_tensor *rapt_op_lora(rapt_tape *t, rapt_tensor *y, rapt_tensor *x, const rapt_lora *m);

/* g u + b, where g[i] = m->magnitude[i] / |row i of V| and V = W + scale B A: a layer with an adapter whose rows have trained
 * lengths (DoRA: Liu et al. 2024, eq. 5; as in the paper's section 4.3 and in PEFT the backward pass takes |V| for a constant). u
 * [..., out] is x V^T, from rapt_op_linear without a bias and rapt_op_lora; w [out, in] is W, which is not trained; b [out] or
 * NULL. A row of V that is all zeros has the g 1. */
RAPT_API rapt_tensor *rapt_op_dora(rapt_tape *t, rapt_tensor *u, const rapt_lora *m, rapt_param *w, rapt_param *b);

/* Batched matrix product over equal leading dimensions: a [..., m, k], b [..., k, n], or [..., n, k] with `transpose_b`; gives
 * [..., m, n]. For a [batch, heads, m, k], b may have fewer heads, whose number divides the heads of a: consecutive heads of a
 * then share one head of b. */
RAPT_API rapt_tensor *rapt_op_matmul(rapt_tape *t, rapt_tensor *a, rapt_tensor *b, bool transpose_b);

/* a + b. Different shapes are broadcast as in PyTorch and NumPy: they are aligned at their last dimensions, and a dimension that
 * is 1 or missing is repeated. [2, 10, 16] plus [1, 10, 16], [10, 16] or [16] gives [2, 10, 16]. */
RAPT_API rapt_tensor *rapt_op_add(rapt_tape *t, rapt_tensor *a, rapt_tensor *b);
RAPT_API rapt_tensor *rapt_op_subtract(rapt_tape *t, rapt_tensor *a, rapt_tensor *b); /* a - b, broadcast as in rapt_op_add */
RAPT_API rapt_tensor *rapt_op_scale(rapt_tape *t, rapt_tensor *x, double alpha); /* alpha x */
RAPT_API rapt_tensor *rapt_op_relu(rapt_tape *t, rapt_tensor *x);                /* max(0, x) */
/* activation(x), elementwise; RAPT_ACTIVATION_IDENTITY returns x itself. */
RAPT_API rapt_tensor *rapt_op_activate(rapt_tape *t, rapt_tensor *x, rapt_activation activation);
/* silu(gate) * up, elementwise: the gate of SwiGLU (Shazeer 2020, eq. 6). Same shape. */
RAPT_API rapt_tensor *rapt_op_swiglu(rapt_tape *t, rapt_tensor *gate, rapt_tensor *up);

/* a * b, elementwise, broadcast as in rapt_op_add. */
RAPT_API rapt_tensor *rapt_op_multiply(rapt_tape *t, rapt_tensor *a, rapt_tensor *b);

/* cap tanh(x / cap), elementwise; cap > 0. */
RAPT_API rapt_tensor *rapt_op_softcap(rapt_tape *t, rapt_tensor *x, double cap);
RAPT_API rapt_tensor *rapt_op_tanh(rapt_tape *t, rapt_tensor *x); /* tanh x, elementwise */
RAPT_API rapt_tensor *rapt_op_exp(rapt_tape *t, rapt_tensor *x);  /* e^x, elementwise; too large: inf */
RAPT_API rapt_tensor *rapt_op_log(rapt_tape *t, rapt_tensor *x);  /* ln x, elementwise; of 0: -inf; of negative numbers: NaN */

/* Rotary positions (Su et al. 2021, eq. 34): within each head of d features, the pair (j, j + d/2) of the token at position
 * first + i is rotated by the angle whose cosine and sine are table[first + i][j] and table[first + i][d/2 + j]. x [batch,
 * time, heads * d], or ragged; table [max_len, d], a buffer; d is even. */
RAPT_API rapt_tensor *rapt_op_rotary(rapt_tape *t, rapt_tensor *x, const rapt_param *table, size_t first);

/* In training, zeroes each element with probability p and multiplies the others by 1/(1-p); otherwise returns x itself. x [batch,
 * time, feature] or [batch, heads, queries, keys]. The random numbers are keyed by (example, position, feature). */
RAPT_API rapt_tensor *rapt_op_dropout(rapt_tape *t, rapt_tensor *x, double p);

/* (x - mean) / sqrt(var + eps) * gamma + beta with the population variance (Ba et al. 2016, eq. 4), over the trailing dimensions
 * of x that have gamma's shape. beta may be NULL: 0. gamma and beta may both be NULL: over the last dimension. */
RAPT_API rapt_tensor *rapt_op_layer_norm(rapt_tape *t, rapt_tensor *x, rapt_param *gamma, rapt_param *beta, double eps);

/* x / sqrt(mean(x^2) + eps) * gamma over the last dimension (Zhang & Sennrich 2019, eq. 4); gamma may be NULL. */
RAPT_API rapt_tensor *rapt_op_rms_norm(rapt_tape *t, rapt_tensor *x, rapt_param *gamma, double eps);

/* How the result y of a sublayer is added to its input. */
typedef struct rapt_residual {
    double dropout;   /* probability, for y's elements */
    bool overwrite_y; /* the caller no longer needs y, so the sum may be computed in y's memory. It is, if y is the newest result
                         of the pass, y's own operation does not need y for the backward pass, and the tape is not observed; so
                         gradients are right in any case */
} rapt_residual;

/* x + dropout(y): the residual connection (He et al. 2016). x and y have the same shape; dropout is rapt_op_dropout. */
RAPT_API rapt_tensor *rapt_op_residual(rapt_tape *t, rapt_tensor *x, rapt_tensor *y, rapt_residual residual);

/* layer_norm(x + dropout(y)) in one pass: the book's AddNorm. x and y have the same shape; gamma, beta and eps are as in
 * rapt_op_layer_norm. */
RAPT_API rapt_tensor *rapt_op_add_norm(rapt_tape *t, rapt_tensor *x, rapt_tensor *y, rapt_param *gamma, rapt_param *beta,
                                       double eps, rapt_residual residual);

/* Softmax over the last dimension under a mask. x [batch, queries, keys], [batch, heads, queries, keys], or [queries, keys] for
 * one example. */
RAPT_API rapt_tensor *rapt_op_masked_softmax(rapt_tape *t, rapt_tensor *x, const rapt_mask *mask);

/* x's elements, row-major, in another shape: `shape` has `ndim` (1 to 4) dimensions and as many elements. A view: the result
 * shares x's memory. `ragged` says how the rows of a result [rows, feature] are divided among examples (borrowed until the
 * backward pass is over); NULL: the result is not ragged. It is a failure if the number of elements differs, or if `ragged` has
 * another number of rows.
 */
RAPT_API rapt_tensor *rapt_op_reshape(rapt_tape *t, rapt_tensor *x, int ndim, const size_t *shape, const rapt_ragged *ragged);

/* x with dimensions that are 1 or missing repeated, as rapt_op_add repeats them, so that it has `shape` of `ndim` (1 to 4)
 * dimensions: a copy, or x itself if it has that shape. PyTorch's expand. */
RAPT_API rapt_tensor *rapt_op_expand(rapt_tape *t, rapt_tensor *x, int ndim, const size_t *shape);

/* An axis is a dimension by its index, from 0; negative indices count from the end: -1 is the last one. An axis that x does not
 * have is a failure (RAPT_ERR_SHAPE). Slices and concatenations of features (the last axis) keep the division of rows among
 * examples (rapt_ragged); the other operations along an axis drop it. */

/* The sum, or the mean, over an axis, which the result lacks: [2, 10, 16] over axis 1 gives [2, 16], and [16] gives [1]. */
RAPT_API rapt_tensor *rapt_op_sum_axis(rapt_tape *t, rapt_tensor *x, int axis);
RAPT_API rapt_tensor *rapt_op_mean_axis(rapt_tape *t, rapt_tensor *x, int axis);
/* x with its axes in another order, copied: axis i of the result is axis order[i] of x, i < x->ndim, each named once. */
RAPT_API rapt_tensor *rapt_op_permute(rapt_tape *t, rapt_tensor *x, const int *order);
/* x with two of its axes exchanged, copied. */
RAPT_API rapt_tensor *rapt_op_transpose(rapt_tape *t, rapt_tensor *x, int a, int b);
/* The elements first .. first + count - 1 along an axis, copied; count > 0. PyTorch's narrow. */
RAPT_API rapt_tensor *rapt_op_slice(rapt_tape *t, rapt_tensor *x, int axis, size_t first, size_t count);
/* The tensors x[0 .. count - 1] one after the other along an axis; their other dimensions are equal. count > 0. PyTorch's cat. */
RAPT_API rapt_tensor *rapt_op_concat(rapt_tape *t, size_t count, rapt_tensor *const *x, int axis);

/* [batch, time, heads * d] to [batch, heads, time, d]. */
RAPT_API rapt_tensor *rapt_op_split_heads(rapt_tape *t, rapt_tensor *x, size_t heads);
/* [batch, heads, time, d] to [batch, time, heads * d]. */
RAPT_API rapt_tensor *rapt_op_concat_heads(rapt_tape *t, rapt_tensor *x);

/* Which attention weights a tape captures. */
typedef enum rapt_attention_capture { RAPT_CAPTURE_NONE, RAPT_CAPTURE_BEFORE_DROPOUT,
                                     RAPT_CAPTURE_AFTER_DROPOUT } rapt_attention_capture;

/* Makes every multi-head attention of later passes capture its weights, until it is called with RAPT_CAPTURE_NONE. */
RAPT_API void rapt_tape_capture_attention(rapt_tape *t, rapt_attention_capture capture);
/* The last value that rapt_tape_capture_attention was given; RAPT_CAPTURE_NONE at first. */
RAPT_API rapt_attention_capture rapt_tape_attention_capture(const rapt_tape *t);
/* Stores captured weights under the name of their module ("encoder.0.attention"; borrowed) until the next pass. */
RAPT_API void rapt_tape_store_attention(rapt_tape *t, const char *name, rapt_tensor *weights);
/* The captured weights of the module with this name, [batch, heads, queries, keys]; NULL if there are none. */
RAPT_API rapt_tensor *rapt_tape_attention(const rapt_tape *t, const char *name);

/* Relative position biases. For a query at position i and a key at position j, head h adds weight[bucket[c + reach]][h] to the
 * scaled score; c is j - i, limited to -reach .. reach. Or it adds -slopes[h] |j - i| (ALiBi, Press et al. 2022; of causal
 * attention, where j <= i, the paper's bias). */
typedef struct rapt_relative_bias {
    rapt_param *weight; /* [buckets, heads], for inference only; NULL: no biases in buckets */
    uint16_t *bucket;   /* [2 reach + 1] */
    size_t reach;
    rapt_real *slopes;  /* [heads], constants, in place of a weight; NULL: none */
} rapt_relative_bias;

/* What happens to the scores q k^T before their softmax. Zeroed: they are divided by sqrt(d). */
typedef struct rapt_attention_scores {
    double scale; /* multiplies the scores; 0: 1 / sqrt(d) */
    double cap;   /* then a score s becomes cap tanh(s / cap) (Gemma 2); 0: no cap */
    rapt_relative_bias bias; /* a failure if scores are capped, or if it has a weight and a gradient is needed */
} rapt_attention_scores;

/* How queries attend to keys. Borrowed during the call. */
typedef struct rapt_op_attention_options {
    size_t heads;           /* 1 or more */
    const rapt_mask *mask;  /* NULL: every query attends to all keys */
    rapt_attention_scores scores;
    double dropout;         /* its probability for a weight, 0 to below 1 */
    rapt_attention_capture capture;
    rapt_tensor **weights;  /* becomes the weights; NULL: they are not wanted */
    const uint8_t *off;     /* [heads]: not 0 where a head is switched off, whose features of the result are zeros. NULL: all are
                               on. There is no backward pass of heads that are off */
} rapt_op_attention_options;

/* softmax(q k^T / sqrt(d)) v for each head, with dropout on the weights (Vaswani et al. 2017, eq. 1). q [batch, queries,
 * heads * d], k [batch, keys, heads * d], v [batch, keys, heads * dv]; gives [batch, queries, heads * dv]. The weights are stored
 * only on request: if options->weights is not NULL, and `capture` is not NONE or the module is observed, the pointer there
 * becomes a tensor [batch, heads, queries, keys], which has a gradient only if it is observed; else it becomes NULL. The result
 * equals the unfused operations (rapt_op_split_heads, rapt_op_matmul, rapt_op_scale, rapt_op_masked_softmax,
 * rapt_op_dropout, rapt_op_matmul, rapt_op_concat_heads) within 8 (d + keys) 2^-24 relative to the largest |v|. A scale that is
 * not finite is a failure. */
RAPT_API rapt_tensor *rapt_op_attention(rapt_tape *t, rapt_tensor *q, rapt_tensor *k, rapt_tensor *v,
                                        const rapt_op_attention_options *options);

/* The options of PyTorch's nn.Embedding, and what is fused behind the lookup. */
typedef struct rapt_embed_options {
    bool has_padding;        /* row `padding_idx` gets no gradient */
    int32_t padding_idx;
    double max_norm;         /* > 0: rows that are looked up and have a larger norm are scaled down to it (in training the table
                                is changed) */
    double norm_type;        /* p of the p-norm for max_norm; 0 means 2 */
    bool scale_grad_by_freq; /* divide a row's gradient by the number of times that it occurs in the batch */
    double scale;            /* multiplies the looked-up rows; 0 means 1 */
    rapt_param *positions;   /* [max_len, d], or NULL: row p is added to the token at position p. Trained unless it is a buffer */
    size_t first_position;
    const rapt_cached_row *cached; /* [batch], or NULL: example b begins at position cached[b].past instead of first_position;
                                      inference only */
    double dropout;          /* after the sum */
} rapt_embed_options;

/* y[b, i] = dropout(scale * w[ids[b, i]] + positions[first_position + i]); gives [batch, time, d], or [time, d] if tokens.batch
 * is 0. `options` may be NULL. An id outside w, or a position beyond the table, is a failure. */
RAPT_API rapt_tensor *rapt_op_embed(rapt_tape *t, rapt_param *w, rapt_tokens tokens, const rapt_embed_options *options);

/* dropout(x + table[first + i]) with probability p, for position i of each example. x [batch, time, d] or [time, d]; table
 * [max_len, d] is trained unless it is a buffer. A position beyond the table is a failure. */
RAPT_API rapt_tensor *rapt_op_add_positions(rapt_tape *t, rapt_tensor *x, rapt_param *table, size_t first, double p);

enum { RAPT_NO_LABEL = -1 }; /* stands in place of a label whose position does not count */

typedef struct rapt_loss_options {
    double label_smoothing;   /* e: target is (1-e) one-hot + e/classes (Szegedy et al. 2016, section 7) */
    const int32_t *valid_lens; /* [batch]: only positions 0 .. n-1 of a row count; NULL: all */
    double normalizer;        /* divides the sum of the losses; 0: the number of positions that count */
} rapt_loss_options;

/* The sums that the loss was computed from, for reports. */
typedef struct rapt_loss_sums {
    double nll;    /* sum of -log p(label) over positions that count, in nats, without smoothing */
    size_t tokens; /* positions that count */
} rapt_loss_sums;

/* Masked cross-entropy with softmax: logits [batch, time, classes], labels [batch, time], each a class or
 * RAPT_NO_LABEL; gives one element. `parts` gets the sums unless it is NULL. */
RAPT_API rapt_tensor *rapt_op_cross_entropy(rapt_tape *t, rapt_tensor *logits, rapt_tokens labels,
                                            const rapt_loss_options *options, rapt_loss_sums *parts);

/* rapt_op_cross_entropy(rapt_op_linear(x, w, b), labels) in chunks of classes: logits are held once and overwritten by their
 * gradient, which halves the memory that a large vocabulary takes. x [batch, time, in], w [classes, in], b [classes] or NULL. The
 * bits are the same as with the two operations, except that a gradient of 0 may differ in sign. Positions that don't count cost
 * nothing. */
RAPT_API rapt_tensor *rapt_op_output_loss(rapt_tape *t, rapt_tensor *x, rapt_param *w, rapt_param *b, rapt_tokens labels,
                                          const rapt_loss_options *options, rapt_loss_sums *parts);

/* The log-probability of each row of labels, in nats: y[b] = sum_i log softmax(x[b, i])[labels[b, i]], over positions as in
 * rapt_op_cross_entropy (valid_lens, which may be NULL, and RAPT_NO_LABEL). logits [batch, time, classes]; gives [batch]. */
RAPT_API rapt_tensor *rapt_op_log_probs(rapt_tape *t, rapt_tensor *logits, rapt_tokens labels, const int32_t *valid_lens);
/* rapt_op_log_probs(rapt_op_linear(x, w, b), labels, valid_lens) as rapt_op_output_loss computes it. */
RAPT_API rapt_tensor *rapt_op_output_log_probs(rapt_tape *t, rapt_tensor *x, rapt_param *w, rapt_param *b, rapt_tokens labels,
                                               const int32_t *valid_lens);

typedef struct rapt_dpo_options {
    double beta;            /* how far the model may go from the reference: large is near; above 0 */
    double label_smoothing; /* e: the probability that a pair is the wrong way round (Mitchell 2023), 0 or more and below 0.5 */
    double normalizer;      /* divides the sum of the losses; 0: the number of pairs */
} rapt_dpo_options;

/* The sums over pairs that the loss was computed from, for reports. A reward is beta (log-probability - reference). */
typedef struct rapt_dpo_sums {
    double loss;             /* with label smoothing */
    double chosen, rejected; /* rewards */
    size_t pairs, correct;   /* correct: pairs whose chosen answer has the larger reward */
} rapt_dpo_sums;

/* The loss of direct preference optimization (Rafailov et al. 2023, eq. 7) for n pairs of answers: log_probs [2 n] holds the
 * model's log-probabilities, of pair i's chosen answer at 2 i and of its rejected answer at 2 i + 1; `reference` [2 n], which is
 * read at once, has log-probabilities by a model that stays as it is. With z the difference of a pair's rewards and e the label
 * smoothing, the loss of a pair is
 *
 *    (1 - e) log(1 + exp(-z)) + e log(1 + exp(z))
 *
 * Gives one element. `options` must be given. `sums` gets the sums unless it is NULL. */
RAPT_API rapt_tensor *rapt_op_dpo_loss(rapt_tape *t, rapt_tensor *log_probs, const rapt_real *reference,
                                       const rapt_dpo_options *options, rapt_dpo_sums *sums);

/* What a block computes from. */
typedef struct rapt_block_input {
    rapt_tensor *x;
    rapt_tensor *memory; /* a second input, such as an encoder's output; or NULL */
    const int32_t *lens; /* [examples of x], or NULL; copied if it is needed later */
} rapt_block_input;
typedef rapt_tensor *rapt_block_fn(rapt_tape *t, const void *module, const rapt_block_input *in);

/* Runs fn(t, module, &in), a block of a deep model, and releases the block's intermediates at once if the pass is not recorded.
 * With rapt_pass.recompute (activation checkpointing, Chen et al. 2016, section 4.1) it releases them too; the backward pass then
 * recomputes them, bit for bit. fn must therefore compute the same result each time, from `in`, parameters and constants alone,
 * in a new tensor of x's shape, and `module` must last as long as the pass. While the tape is inspected (rapt_observe,
 * rapt_tape_capture_attention, keep_gradients), nothing is released. */
RAPT_API rapt_tensor *rapt_run_block(rapt_tape *t, rapt_block_fn *fn, const void *module, rapt_block_input in);

/* The sum of all elements, as a simple loss for experiments and tests. */
RAPT_API rapt_tensor *rapt_op_sum(rapt_tape *t, rapt_tensor *x);
/* The sum of x * w with constant w of the same size (copied): a loss with an arbitrary upstream gradient w, for tests. */
RAPT_API rapt_tensor *rapt_op_weighted_sum(rapt_tape *t, rapt_tensor *x, const rapt_real *w);

#ifdef __cplusplus
}
#endif

#endif
