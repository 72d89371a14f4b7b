/* tensor/param_source.h: parameters whose values are made when they are first needed: matrices that stay in the file from which a
 * model was loaded, and tables of positions, which are computed. For modules and loaders, which give a parameter its source.
 * Operations ask for the rows that they read (tape_refresh), rapt_params_at asks for all. The memory of rows that nobody asks for
 * is never touched. */
#ifndef TENSOR_PARAM_SOURCE_H
#define TENSOR_PARAM_SOURCE_H

#include "tensor/blocks.h"
#include "tensor/param_state.h"

/* Writes rows first .. first + count - 1 (a row is an index of the first dimension) to `to`. Several threads may call it at once.
 * It cannot fail: everything is checked before. */
typedef void param_read_fn(const void *context, size_t first, size_t count, rapt_real *to);
/* Called when the values are not needed for a while, or have all been read, so that the source can give back memory. */
typedef void param_leave_fn(const void *context);

/* The stored blocks of a row. */
typedef const void *param_blocks_fn(const void *context, size_t row);

/* Gives p, a parameter of the set whose elements are undefined, a source. `context` lives as long as the set, `leave` may be
 * NULL. Out of memory: the failure sticks in the set. */
void param_source_set(rapt_params *set, rapt_param *p, param_read_fn *read, param_leave_fn *leave, const void *context);

/* Says that the rows of a parameter are stored as blocks of a format, which `blocks` finds. Does nothing if memory for the source
 * has run out. */
void param_source_set_blocks(rapt_param *p, const block_format *format, param_blocks_fn *blocks);
/* Says that the rows of a parameter are stored as 16-bit numbers: bf16 or binary16, by the id of GGUF (kernels_stored_format); 0:
 * they are not. */
void param_source_set_16_bits(rapt_param *p, int type);
/* The id of GGUF of the blocks or 16-bit numbers in which a parameter is stored; 0: neither, or it has no source. */
int param_source_type(const rapt_param *p);
/* The blocks of a row of a parameter that has a format; they live as long as the file of its source. */
const void *param_source_blocks(const rapt_param *p, size_t row);

static inline bool param_has_source(const rapt_param *p)
{
    return p->state->source != NULL;
}

/* Makes sure that the elements of rows first .. first + count - 1 have been read, with the threads of a pool (or NULL). Threads
 * that share a model may call it at once. Does nothing for a parameter without a source. */
void param_source_rows(const rapt_param *p, pool *threads, size_t first, size_t count);

/* Writes these rows of a parameter that has a source to `to`, without the parameter's own memory; then calls param_leave_fn. */
void param_source_read(const rapt_param *p, size_t first, size_t count, rapt_real *to);
void param_source_leave(const rapt_param *p);

/* Reads all elements of p, which has no source from then on: for parameters that are trained, whose values are no longer the
 * file's. Does nothing without a source. */
void param_source_end(rapt_param *p);

/* From now on matrix products read p, which is stored in fewer bits and is not trained, from its source in each pass
 * (tensor/source_panels.h): its own memory stays untouched as long as no other code asks for its elements. p has a source. */
void param_source_hold(const rapt_param *p);
bool param_source_is_held(const rapt_param *p);

/* A packed form of a held parameter that stays in memory (ops/held_weight.h). */
typedef struct param_kept {
    const void *made_for; /* the kernels */
    rapt_real *panels;
    bool filled;
} param_kept;

/* Gives p, which is held, memory for the packed forms of W and, in the second place, of W^T, of these sizes in elements; it is
 * not touched until they are made. Out of memory: the failure sticks in the set. */
void param_source_keep(rapt_params *set, const rapt_param *p, const void *made_for, const size_t sizes[2]);
/* The packed form of W, or of W^T if `turned`; NULL: none is kept. */
param_kept *param_source_kept(const rapt_param *p, bool turned);

#endif
