/* train/optimizer/moving_average.h (internal): the exponential moving average of all trained parameters of a set (Polyak &
 * Juditsky 1992; Marian's exponential smoothing). For the training loop, which evaluates and saves it in place of the parameters.
 * */
#ifndef TRAIN_OPTIMIZER_MOVING_AVERAGE_H
#define TRAIN_OPTIMIZER_MOVING_AVERAGE_H

#include "rapt/train.h"

typedef struct moving_average moving_average;

/* Averages of the parameters that the set has now, which they begin with; `set` must outlive them. NULL: out of memory. */
moving_average *moving_average_new(rapt_params *set, double decay, rapt_error *err);
void moving_average_free(moving_average *a);
/* The bytes that they take. */
size_t moving_average_bytes(const rapt_params *set);

/* After step `step` (from 1), with the parameters that params_sync has brought up to date: average += (1 - d) (parameter -
 * average), where d = min(decay, (1 + step) / (10 + step)), so that the first steps, which begin far from anything, count less.
 * */
void moving_average_update(moving_average *a, rapt_tape *t, uint64_t step);
/* Exchanges averages and parameters, all of which are up to date; a second call restores them. */
void moving_average_exchange(moving_average *a, rapt_tape *t);
/* The averages of parameter `index`, in its shape, or NULL: it is not trained. */
rapt_real *moving_average_of(const moving_average *a, size_t index);

#endif
