/* metrics/metric_defaults.h: the defaults of options of metrics as designated initializers, for the functions that make them, and
 * for tests, which write other members behind them. */
#ifndef METRICS_METRIC_DEFAULTS_H
#define METRICS_METRIC_DEFAULTS_H

#define BLEU_DEFAULTS .size = sizeof(rapt_bleu_options)
#define CHRF_DEFAULTS .size = sizeof(rapt_chrf_options), .char_order = 6, .beta = 2

#endif
