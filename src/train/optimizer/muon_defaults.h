/* train/optimizer/muon_defaults.h: the defaults of Muon's options as designated initializers, for the function that makes them,
 * and for tests, which write other members behind them. */
#ifndef TRAIN_OPTIMIZER_MUON_DEFAULTS_H
#define TRAIN_OPTIMIZER_MUON_DEFAULTS_H

#define MUON_DEFAULTS .size = sizeof(rapt_muon_options), .lr_scale = 1, .momentum = 0.95, .ns_steps = 5, .nesterov = true

#endif
