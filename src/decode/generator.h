/* decode/generator.h: functions of a generator that training and `rapt generate --at` need and rapt/generate.h does not have. */
#ifndef DECODE_GENERATOR_H
#define DECODE_GENERATOR_H

#include "rapt/generate.h"

/* A generator that computes on the caller's tape, with the weights as they are at each run: no weights are packed, so the model
 * is not copied. options->threads and precision are the tape's. For samples in training, between passes. */
rapt_generator *generator_on_tape(const rapt_model *model, rapt_tape *tape, const rapt_generate_options *options,
                                  rapt_error *err);

/* The n <= vocabulary most probable next tokens after the text, ids[n], in descending order, and their softmax probabilities[n],
 * without any of the options. Errors as in rapt_generator_run. */
rapt_code generator_likeliest(rapt_generator *g, size_t n, int32_t *ids, double *probabilities, rapt_error *err);

#endif
