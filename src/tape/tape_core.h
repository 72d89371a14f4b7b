/* tape/tape_core.h: what operations share: the struct of the tape, gradients, parallel rows, scratch memory. */
#ifndef TAPE_TAPE_CORE_H
#define TAPE_TAPE_CORE_H

#include "rapt/observe.h"
#include "rapt/profile.h"
#include "rapt/tape.h"

#include "base/arena.h"
#include "base/pool.h"
#include "kernels/kernels.h"
#include "tape/free_list.h"
#include "tensor/gemm.h"
#include "tensor/packed_weights.h"
#include "tensor/param_state.h"

/* A recorded operation: the first member of each operation's own record. */
typedef struct tape_node tape_node;
struct tape_node {
    tape_node *previous;
    void (*backward)(rapt_tape *t, tape_node *node);
    struct tape_result *results; /* the newest when it was recorded: its own, and those before */
};

/* Captured attention weights (rapt_tape_store_attention). */
typedef struct tape_weights {
    struct tape_weights *previous;
    const char *name;
    rapt_tensor *weights;
} tape_weights;

/* A tensor that an operation returned, or the caller made. */
typedef struct tape_result {
    struct tape_result *previous;
    bool keeps_grad; /* the caller's */
    bool disposable; /* its own operation's backward pass does not read its elements */
    rapt_tensor tensor;
} tape_result;

/* The prefix of names: the first `length` characters of a name in the model. `text` NULL: intermediates have no name here. */
typedef struct observe_scope {
    const char *text;
    size_t length;
} observe_scope;

/* What an intermediate was computed from (observe_from); all zeroed: unknown. */
typedef struct observe_source {
    const rapt_tensor *inputs[2];     /* results of the pass, which may have been observed; or NULL */
    const rapt_tensor *parameters[2]; /* a matrix or gamma, and a bias or beta; or NULL */
    double constant;                  /* a factor, the eps of a norm, a bound; 0: none */
} observe_source;

/* The observer of a tape, if any (tape/observe_op.h). */
typedef struct tape_step tape_step;
typedef struct tape_observer {
    rapt_observe_fn *fn; /* NULL: none */
    void *context;
    observe_scope scope;           /* scope of the module that runs */
    tape_step *steps, *parameters; /* of this pass, newest first: intermediates that were computed, parameters that the backward
                                      pass reached */
    observe_source from;           /* of the next intermediate that gets a name */
} tape_observer;

#define TAPE_PROFILE_KINDS 48
typedef struct tape_profile {
    bool on;
    rapt_profile_entry entries[TAPE_PROFILE_KINDS];
    rapt_profile_entry *running; /* the operation that time since `since` belongs to, or NULL */
    size_t count;
    double since; /* seconds of the clock */
} tape_profile;

/* The watcher of gradients (tape/grad_watch.h). */
#define TAPE_ASKED 16
typedef struct tape_watch {
    void (*fn)(void *context, rapt_tensor *const *asked, size_t count); /* NULL: nobody */
    void *context;
    const rapt_tensor *const *list; /* [listed] tensors that are watched, by ascending address */
    size_t listed;
    rapt_tensor *asked[TAPE_ASKED]; /* by the node whose backward pass is running */
    size_t count;
} tape_watch;

/* A gradient that is stored in bf16, and its elements in fp32 while a node's backward pass runs (tape/grad_bf16.h). */
typedef struct tape_opened {
    rapt_tensor *x;
    rapt_real *work;
} tape_opened;

struct rapt_tape {
    /* for all passes */
    const kernels *k;
    pool *pool;
    pool *own_pool;     /* `pool`, unless that is borrowed */
    gemm_team team;     /* kernels, threads and packing memory of matrix products */
    arena step;         /* memory of a pass: results, gradients, nodes */
    rapt_kept_pass *kept; /* who keeps that memory, or NULL */
    arena scratch;      /* memory of an operation */
    bool counts;        /* memory is only counted, and nothing is computed (tape_count) */
    bool defers;        /* weight gradients may be deferred (ops/deferred.h), */
    bool releases;      /* of more rows, because a gradient is used once, and then its memory is another's */
    const packed_weights *packed; /* packed weights of the parameters, or NULL; borrowed */
    const kernels_gemm *packs;    /* the default kernels for packed weights: the kernels of `team`, or kernels of quantized
                                     weights */
    const char *weight_types;     /* rapt_compute.weights; borrowed */
    uint64_t weight_bytes;        /* bytes of packed weights that products have read so far */
    tape_profile profile;
    rapt_attention_capture capture; /* which attention weights to keep */
    void (*hook)(void *context, const rapt_error *err); /* called with every failure, or NULL */
    void *hook_context;
    rapt_tensor poison; /* what operations return after a failure */
    tape_observer observer;
    tape_watch watch;
    tape_opened opened[TAPE_ASKED]; /* by the node whose backward pass is running */
    size_t opened_count;

    /* of this pass */
    rapt_pass pass;
    uint64_t passes;      /* begun so far, this one included */
    tape_node *last;      /* the newest operation recorded for the backward pass */
    tape_result *results; /* newest first */
    free_list free_list;  /* gradient buffers that were passed on, to be reused */
    tape_weights *weights; /* captured, newest first */
    uint64_t dropouts;    /* drawn so far: a component of the next dropout's key */
    bool traversed;       /* the backward pass was run */
    bool in_backward;     /* the backward pass is running */
    rapt_error error;     /* the first failure; code RAPT_OK: none */
};

/* The kernels of a table that compute with weights of a type; NULL: the build has none. */
const kernels_gemm *tape_gemm_of(const kernels *k, rapt_type precision);

/* rapt_tape_new for a tape that computes on the threads of `shared` (borrowed) instead of options->threads; others may use the
 * pool between operations of the tape. NULL: the tape makes its own pool. */
rapt_tape *tape_new_of_pool(const rapt_compute *options, pool *shared, rapt_error *err);

/* The pass is over: whoever keeps its memory gets it. */
void tape_end_kept(rapt_tape *t);

/* Whether the pass has failed, so that operations must not run. */
bool tape_failed(const rapt_tape *t);

/* Memory that lasts until the next pass. NULL on out-of-memory (the failure is recorded). */
void *tape_alloc(rapt_tape *t, size_t count, size_t size);
/* rapt_run_block for a block that changes something outside of the tape, such as a KV cache, and must therefore never be
 * recomputed: in a recorded pass its intermediates are kept. */
rapt_tensor *tape_run_once(rapt_tape *t, rapt_block_fn *fn, const void *module, rapt_block_input in);

/* Memory of an operation, until tape_release. NULL on out-of-memory (the failure is recorded). */
void *tape_scratch(rapt_tape *t, size_t count, size_t size);
/* tape_alloc for the elements of tensors, whose count depends on the batch. In a pass that is only counted they are not
 * allocated: operations may access them in loops of the pool, which are then skipped, and elsewhere only if tape_computes. */
rapt_real *tape_elements(rapt_tape *t, size_t count);
arena_mark tape_mark(const rapt_tape *t);
void tape_release(rapt_tape *t, arena_mark mark);

/* Switches to counting passes, or back, between two passes. A counting pass allocates no elements, computes nothing, and gives no
 * loss; rapt_tape_memory is then the memory that the real passes will need. Parameters and inputs need no elements either. */
void tape_count(rapt_tape *t, bool on);
/* Allocates the memory of the largest pass at once: bytes of results and of scratch. */
void tape_expect(rapt_tape *t, size_t step, size_t scratch);
static inline bool tape_computes(const rapt_tape *t)
{
    return !t->counts;
}

/* From now on, linear layers use these packed weights if theirs are among them; for inference only. NULL: none. Borrowed. */
static inline void tape_use_packed(rapt_tape *t, const packed_weights *packed)
{
    t->packed = packed;
}

/* Before an operation reads a parameter, or the rows ids[0 .. count - 1] of it: applies updates that an optimizer has deferred,
 * or waits until another process has sent them. In a pass that records it is noted that elements are read as they are. */
static inline void tape_refresh_rows(const rapt_tape *t, const rapt_param *p, const int32_t *ids, size_t count)
{
    if (t->pass.record && !p->state->read_exactly)
        p->state->read_exactly = true;
    if (tape_computes(t))
        param_refresh_rows(p, t->pool, ids, count);
}

static inline void tape_refresh(const rapt_tape *t, const rapt_param *p)
{
    tape_refresh_rows(t, p, NULL, 0);
}

/* tape_refresh for an operand of a matrix product, which rounds it if products are in bf16. */
static inline void tape_refresh_operand(const rapt_tape *t, const rapt_param *p)
{
    if (t->team.gemm->pair == 1)
        tape_refresh(t, p);
    else if (tape_computes(t))
        param_refresh(p, t->pool);
}

/* The output of an operation, its elements undefined; it gets a gradient if `requires_grad` and the pass records. NULL on
 * out-of-memory (the failure is recorded). */
rapt_tensor *tape_output(rapt_tape *t, int ndim, const size_t *shape, bool requires_grad);
/* tape_output of x's shape and division among examples. */
rapt_tensor *tape_output_like(rapt_tape *t, const rapt_tensor *x, bool requires_grad);
/* x's elements in another shape, in x's memory. It has x's name, and may be overwritten if x may. */
rapt_tensor *tape_view(rapt_tape *t, const rapt_tensor *x, int ndim, const size_t *shape);
/* Declares that the backward pass of the newest result's operation does not read its elements. */
void tape_set_disposable(rapt_tape *t);
/* Whether an operation may compute in place of y, an operand that the caller gives up: y's own operation doesn't read it in
 * the backward pass, no other operation can have it as an operand (it is the newest result), and the tape is not observed. To
 * be called before the result is allocated. */
bool tape_may_overwrite(const rapt_tape *t, const rapt_tensor *y);
/* tape_output_like x, in the memory of `over` (which has x's size) unless that is NULL. */
rapt_tensor *tape_output_over(rapt_tape *t, const rapt_tensor *x, const rapt_tensor *over, bool requires_grad);
/* Whether x gets a gradient in this pass; x may be NULL. */
bool tape_wants(const rapt_tape *t, const rapt_tensor *x);

/* Records an operation for the backward pass; `node` starts with a tape_node. */
void tape_record(rapt_tape *t, tape_node *node, void (*backward)(rapt_tape *, tape_node *));

/* The memory of x's gradient: *accumulate says whether it holds a sum already (add to it) or not (overwrite all of it). NULL if x
 * gets no gradient (x may be NULL), or if out of memory (the failure is recorded). */
rapt_real *tape_grad(rapt_tape *t, rapt_tensor *x, bool *accumulate);
/* tape_grad for operations that only add: filled with zeros unless it holds a sum. */
rapt_real *tape_grad_zeroed(rapt_tape *t, rapt_tensor *x);
/* Moves the gradient of y, an operation's output, to x without copying it. Does nothing and returns false if x already has a
 * gradient or gets none, or if y's gradient must be kept. Must be the operation's last access to y's gradient. */
bool tape_move_grad(rapt_tape *t, rapt_tensor *x, rapt_tensor *y);
/* Allocates x's gradient, undefined, if x gets one and has none. */
void tape_reserve_grad(rapt_tape *t, rapt_tensor *x);
/* Runs the backward pass of each recorded operation in turn, the last one's first. */
void tape_traverse(rapt_tape *t);

/* Runs fn(context, first, last, chunk, worker) over units 0 .. units-1, in chunks whose bounds depend on `units` and
 * `unit_cost` (elementary operations per unit) alone, never on the threads. */
typedef void tape_units_fn(void *context, size_t first, size_t last, size_t chunk, int worker);
void tape_units(rapt_tape *t, size_t units, size_t unit_cost, tape_units_fn *fn, void *context);
/* The number of chunks that tape_units makes. */
size_t tape_chunks(size_t units, size_t unit_cost);

/* Describes the first result of this pass that has a value that is not finite; false if there is none. Results are identified by
 * the name of their operation's parameter, which operations copy to their output. */
bool tape_first_not_finite(const rapt_tape *t, char *text, size_t size);

/* The random key of the next dropout of this pass. */
kernels_dropout tape_dropout(rapt_tape *t, double p);
/* Index in the global batch of example b of this pass. */
uint32_t tape_example(const rapt_tape *t, size_t b);

/* The number of examples of a tensor: [batch, time, feature], ragged, or [rows, feature] as one example. */
size_t tape_examples(const rapt_tensor *x);
size_t tape_longest(const rapt_tensor *x); /* rows of the longest example */
typedef struct tape_rows {
    size_t first, count;
} tape_rows;
/* The rows of one example. */
tape_rows tape_rows_of(const rapt_tensor *x, size_t example);

#endif
