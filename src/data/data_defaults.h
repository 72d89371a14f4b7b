/* data/data_defaults.h: the defaults of options of data sets as designated initializers, for the functions that make them, and
 * for tests, which write other members behind them. */
#ifndef DATA_DATA_DEFAULTS_H
#define DATA_DATA_DEFAULTS_H

#define DATASET_DEFAULTS .size = sizeof(rapt_dataset_options), .max_len = 50
#define LOADER_DEFAULTS .size = sizeof(rapt_loader_options), .batch_size = 32

#endif
