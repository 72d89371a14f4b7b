/* train/checkpoint/averages.h (internal): moving averages of parameters (train.ema) in a checkpoint: a tensor "ema.NAME" beside
 * each parameter that is trained. For checkpoint.c, and for readers of checkpoints as models, which are the averages where there
 * are any. */
#ifndef TRAIN_CHECKPOINT_AVERAGES_H
#define TRAIN_CHECKPOINT_AVERAGES_H

#include "io/safetensors.h"
#include "train/checkpoint/moments.h"

/* "ema.NAME"; to be freed; NULL: out of memory. */
char *averages_name(const rapt_param *p);
/* The average of a parameter, or NULL: it has none. */
rapt_real *averages_of(const moments *m, const rapt_param *p);

/* Refuses a file that lacks the average of a parameter, or has it in another shape. */
rapt_code averages_check(const safetensors *file, const char *path, const rapt_param *p, const moments *m, rapt_error *err);
/* Reads the average of a parameter, on rank 0 (else `file` is NULL), from a file that has been checked, and gives it to the other
 * ranks. Does nothing if there is none. */
rapt_code averages_read(const safetensors *file, const char *path, const rapt_param *p, const moments *m, rapt_error *err);
/* Gives a parameter its value in the model that a checkpoint stands for: its average if the file has one, else its own. Errors as
 * in params_read. */
rapt_code averages_read_model(const safetensors *file, const char *path, rapt_tensor *x, rapt_error *err);

#endif
