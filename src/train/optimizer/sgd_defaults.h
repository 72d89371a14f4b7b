/* train/optimizer/sgd_defaults.h: the defaults of SGD's options as designated initializers, for the function that makes them, and
 * for tests, which write other members behind them. */
#ifndef TRAIN_OPTIMIZER_SGD_DEFAULTS_H
#define TRAIN_OPTIMIZER_SGD_DEFAULTS_H

#define SGD_DEFAULTS .size = sizeof(rapt_sgd_options)

#endif
