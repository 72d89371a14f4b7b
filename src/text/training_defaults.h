/* text/training_defaults.h: the defaults of options for making tokenizers as designated initializers, for the functions that make
 * the options, and for tests, which write other members behind them. */
#ifndef TEXT_TRAINING_DEFAULTS_H
#define TEXT_TRAINING_DEFAULTS_H

#define WORDS_DEFAULTS .size = sizeof(rapt_words_options), .min_freq = 1
#define CHARACTERS_DEFAULTS .size = sizeof(rapt_characters_options)
#define BPE_DEFAULTS .size = sizeof(rapt_bpe_options), .min_freq = 2

#endif
