/* tensor/param_source.h: parameters whose values come when they are first needed: matrices that stay in the file they are loaded
 * from, and tables of positions, which are computed. For modules and loaders that give a parameter its source; operations ask for
 * the rows that they read (tape_refresh), and rapt_params_at for all. Memory that is never asked for is never touched. */
#ifndef TENSOR_PARAM_SOURCE_H
#define TENSOR_PARAM_SOURCE_H

#include "tensor/blocks.h"
#include "tensor/param_state.h"

/* Writes rows first .. first + count - 1, those of an index of the first dimension each, to `to`. Several threads call it at
 * once. It cannot fail: what could be wrong is checked before. */
typedef void param_read_fn(const void *context, size_t first, size_t count, rapt_real *to);
/* The values are not needed for a while, or have all been read: what they are read from may take less memory. */
typedef void param_leave_fn(const void *context);

/* Where a row is stored as blocks. */
typedef const void *param_blocks_fn(const void *context, size_t row);

/* Gives p, a parameter of the set whose elements are undefined, a source. `context` lives as long as the set, `leave` may be
 * NULL. Out of memory: the failure sticks in the set. */
void param_source_set(rapt_params *set, rapt_param *p, param_read_fn *read, param_leave_fn *leave, const void *context);

/* Says that the rows of a parameter are stored as blocks of a format, which `blocks` finds; where memory for a
 * source has run out, nothing. */
void param_source_set_blocks(rapt_param *p, const block_format *format, param_blocks_fn *blocks);
/* The same of numbers that are all of 16 bits: bf16 or binary16, by their id of GGUF (kernels_stored_format); 0: they are not. */
void param_source_set_16_bits(rapt_param *p, int type);
/* The id of GGUF of what a parameter is stored in, blocks or numbers of 16 bits; 0: neither, or it has no source. */
int param_source_type(const rapt_param *p);
/* The blocks of a row of a parameter with a format; they live as long as what its source reads from. */
const void *param_source_blocks(const rapt_param *p, size_t row);

static inline bool param_has_source(const rapt_param *p)
{
    return p->state->source != NULL;
}

/* Makes sure that the elements of rows first .. first + count - 1 are there. With a pool (or NULL) its threads share the work.
 * Threads that share a model may call it at once. A parameter without a source has them. */
void param_source_rows(const rapt_param *p, pool *threads, size_t first, size_t count);

/* Of a parameter that has a source: writes these rows to `to`, and leaves the parameter's own memory alone; calls
 * param_leave_fn. */
void param_source_read(const rapt_param *p, size_t first, size_t count, rapt_real *to);
void param_source_leave(const rapt_param *p);

#endif
