/* rapt/tensor.h: tensors and named parameters.
 *
 * A tensor is plain data: row-major elements of up to four dimensions, [batch, time, feature] wherever a model is
 * concerned. Tensors that a tape returns live until the tape's next `rapt_tape_begin`; parameters live as long as
 * their set.
 */
#ifndef RAPT_TENSOR_H
#define RAPT_TENSOR_H

#include "rapt/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RAPT_MAX_DIMS 4

/* Examples of unequal length, stored one after the other without padding. In a tensor [rows, feature] that points to one, example
 * b has the rows start[b] .. start[b + 1] - 1. Operations on such a tensor compute no padding. */
typedef struct rapt_ragged {
    size_t batch;
    size_t longest;      /* rows of the longest example */
    const size_t *start; /* [batch + 1] */
} rapt_ragged;

typedef struct rapt_tensor {
    rapt_real *data;
    rapt_real *grad;  /* [shape]: NULL until the backward pass has reached this tensor. The gradient of a result is released as
                         soon as it has been passed on, unless rapt_pass.keep_gradients is set */
    int ndim;
    size_t shape[RAPT_MAX_DIMS];
    bool requires_grad;
    bool grad_filled; /* grad holds a sum already; if false, the next writer overwrites it */
    bool grad_bf16; /* grad has 16 bits per element (bf16): a parameter that rapt_train trains with train.gradients bf16 */
    const char *name; /* a parameter's name, or NULL */
    const rapt_ragged *ragged; /* how the rows of [rows, feature] are divided among examples, or NULL: [batch, time, feature] */
} rapt_tensor;

/* Numeric types in which numbers are stored or multiplied (docs/number-format.md). Each place takes some of them, and refuses the
 * others. Stored numbers are widened to fp32 where they are read; their bits are the same on every ISA.
 *   bf16  8 bits of precision, the range of fp32; rounded to nearest even, 2 bytes a number
 *   q8_0  8-bit integers in blocks of 32, each block with a 16-bit scale: 34/32 bytes a number; the last block may be shorter
 *   q4_0  4-bit integers in blocks of 32, each block with a 16-bit scale: 18/32 bytes a number; only for weights
 *   fp16  IEEE binary16, 2 bytes a number; only in files */
#define RAPT_TYPES(X)                                                                              \
    X(RAPT_TYPE_FP32, "fp32")                                                                      \
    X(RAPT_TYPE_BF16, "bf16")                                                                      \
    X(RAPT_TYPE_Q8_0, "q8_0")                                                                      \
    X(RAPT_TYPE_Q4_0, "q4_0")                                                                      \
    X(RAPT_TYPE_FP16, "fp16")

typedef enum rapt_type {
#define RAPT_TYPE_ENUM(name, text) name,
    RAPT_TYPES(RAPT_TYPE_ENUM)
#undef RAPT_TYPE_ENUM
} rapt_type;

/* "fp32", "bf16", "q8_0", "q4_0" or "fp16"; NULL: there is no such type. */
RAPT_API const char *rapt_type_name(rapt_type type);
/* Sets *type to the type with this name. RAPT_ERR_VALUE: there is none; `err` may be NULL. */
RAPT_API rapt_code rapt_type_parse(const char *name, rapt_type *type, rapt_error *err);

/* The number of elements: the product of all dimensions. */
RAPT_API size_t rapt_tensor_size(const rapt_tensor *x);
/* The number of rows: the product of all dimensions but the last. */
RAPT_API size_t rapt_tensor_rows(const rapt_tensor *x);
/* The size of the last dimension. */
RAPT_API size_t rapt_tensor_features(const rapt_tensor *x);
/* Whether two tensors have the same number of dimensions and the same sizes. */
RAPT_API bool rapt_tensor_same_shape(const rapt_tensor *a, const rapt_tensor *b);

/* Writes "[2, 3, 4]" to `text` (cut to `size`) and returns `text`. */
RAPT_API char *rapt_shape_text(const rapt_tensor *x, char *text, size_t size);

/* Token ids of a batch, row-major [batch, time]; borrowed. With batch 0 they are one sentence without a batch dimension, [time].
 * With `lens`, row b has lens[b] tokens (1 .. time) followed by padding, and tensors that are computed from it are ragged. */
typedef struct rapt_tokens {
    const int32_t *ids;
    size_t batch, time;
    const int32_t *lens; /* [batch], or NULL: every token counts */
    const int32_t *types; /* [batch, time] the type of each token, for models with token types; NULL: all have type 0 */
} rapt_tokens;

/* How a new parameter is filled. Random numbers are a function of (seed of the set, name, element) and depend on nothing else. */
typedef enum rapt_init_kind {
    RAPT_INIT_ZEROS,
    RAPT_INIT_ONES,
    RAPT_INIT_NORMAL,        /* N(0, scale^2) */
    RAPT_INIT_UNIFORM,       /* U(-scale, scale) */
    RAPT_INIT_XAVIER_UNIFORM /* U(-a, a), a = sqrt(6 / (fan_in + fan_out)); Glorot & Bengio 2010, eq. 16 */
} rapt_init_kind;

typedef struct rapt_init {
    rapt_init_kind kind;
    double scale;
} rapt_init;

/* What training keeps for a parameter; private to the library. */
typedef struct rapt_param_state rapt_param_state;

/* A named parameter, or a buffer: a tensor that is never trained.
 *
 * Values may lag behind. Adam defers the updates of rows of a sparse parameter that a step does not use. An operation applies the
 * deferred updates to the rows that it reads; rapt_params_at and rapt_params_find apply them to all rows of the parameter that
 * they return. A caller that reads or writes elements of a sparse parameter outside of operations must therefore fetch it with
 * one of these two functions, once after each optimizer step, even if a module holds the same pointer. While rapt_train runs with
 * several processes, this applies to every parameter: most of it comes from other processes, and the two functions wait for it.
 * The table of rotary positions of a loaded model is computed as it is read, and the two functions compute all of it. Nothing
 * else is deferred. */
typedef struct rapt_param {
    rapt_tensor value;
    bool buffer;      /* never trained */
    bool transient;   /* left out of saved models */
    bool frozen;      /* keeps its value in training */
    bool sparse;      /* gradient and optimizer touch only the rows that a step used */
    size_t index; /* in its set: the argument of rapt_params_at */
    const char *origin; /* name of the tensor of a Hugging Face folder that this was read from, or is part of; NULL: none */
    rapt_param_state *state;
} rapt_param;

/* A set of parameters; owns them and their memory. */
typedef struct rapt_params rapt_params;

#define RAPT_SEED_NONE UINT64_MAX /* random parameters become zeros, because they will be loaded */
#define RAPT_SEED_SHAPES (UINT64_MAX - 1) /* parameters have shapes only: to measure a model before it is allocated */
#define RAPT_SEED_UNSET (UINT64_MAX - 2) /* for inference: vectors become zeros, matrices have memory but no values yet */

/* An empty set. `seed` keys the random initialization of its parameters; RAPT_SEED_NONE, RAPT_SEED_SHAPES and RAPT_SEED_UNSET are
 * reserved. NULL with `err` set (it may be NULL): out of memory. */
RAPT_API rapt_params *rapt_params_new(uint64_t seed, rapt_error *err);
/* Frees the set with its parameters; NULL is fine. */
RAPT_API void rapt_params_free(rapt_params *set);

/* Adds a parameter of 1 to 4 dimensions. A failure (name taken, shape empty or too large, out of memory) stays in the set for
 * rapt_params_error, and a stand-in is returned, so that the code that sets up a module needs no checks of its own. */
RAPT_API rapt_param *rapt_params_add(rapt_params *set, const char *name, int ndim, const size_t *shape, rapt_init init);

/* Fills p, a parameter of the set, with initial values again, as rapt_params_add does. */
RAPT_API void rapt_param_fill(const rapt_params *set, rapt_param *p, rapt_init init);
/* Makes p a buffer: it is never trained, and saved with the model only if `persistent`. */
RAPT_API void rapt_param_make_buffer(rapt_param *p, bool persistent);
/* Makes the gradient of an embedding matrix [rows, features] sparse: backward passes and the optimizer then touch only the rows
 * that were looked up. That pays off if a step uses a small part of the rows. With Adam the values are the same as for a dense
 * gradient (unless rapt_adam_options.lazy is set). Only for matrices that rapt_op_embed, rapt_op_linear and rapt_op_output_loss
 * read. Out of memory: the failure stays in the set, and p stays dense. */
RAPT_API void rapt_param_make_sparse(rapt_params *set, rapt_param *p);

/* The first failure of the set; its code is RAPT_OK if there was none. */
RAPT_API const rapt_error *rapt_params_error(const rapt_params *set);
/* Records a failure of a module's own checks, such as heads that don't divide d_model. */
RAPT_API void rapt_params_fail(rapt_params *set, rapt_code code, const char *format, ...) RAPT_PRINTF(3, 4);

/* Zeroed memory that lives as long as the set, for the structs of a module. Out of memory: NULL, and the failure stays in the
 * set. */
RAPT_API void *rapt_params_alloc(rapt_params *set, size_t count, size_t size);

/* How many parameters the set has, buffers included. */
RAPT_API size_t rapt_params_count(const rapt_params *set);
/* Parameter number `index` (below rapt_params_count), in the order in which they were added. Applies deferred updates first. */
RAPT_API rapt_param *rapt_params_at(const rapt_params *set, size_t index);
/* The parameter with this name, or NULL if there is none. Applies deferred updates first. */
RAPT_API rapt_param *rapt_params_find(const rapt_params *set, const char *name);
/* The seed that rapt_params_new was given. */
RAPT_API uint64_t rapt_params_seed(const rapt_params *set);
/* The number of elements of all parameters: frozen ones included, buffers excluded. */
RAPT_API size_t rapt_params_size(const rapt_params *set);

/* Freezes every parameter whose name matches a shell pattern (`encoder.*`, `*.embedding.weight`): it gets no gradient. Returns
 * the number of matches. */
RAPT_API size_t rapt_params_freeze(rapt_params *set, const char *pattern);
/* Zeroes all gradients. */
RAPT_API void rapt_params_zero_grad(rapt_params *set);

#ifdef __cplusplus
}
#endif

#endif
