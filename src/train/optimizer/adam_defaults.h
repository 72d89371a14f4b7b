/* train/optimizer/adam_defaults.h: the defaults of Adam's options as designated initializers, for the function that makes them,
 * and for tests, which write other members behind them. */
#ifndef TRAIN_OPTIMIZER_ADAM_DEFAULTS_H
#define TRAIN_OPTIMIZER_ADAM_DEFAULTS_H

#define ADAM_DEFAULTS .size = sizeof(rapt_adam_options), .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8

#endif
