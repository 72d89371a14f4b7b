/* decode/generator.h: what training needs of a generator and rapt/generate.h does not have. */
#ifndef DECODE_GENERATOR_H
#define DECODE_GENERATOR_H

#include "rapt/generate.h"

/* A generator that computes on the caller's tape, with the weights as they are at each run: no weights are packed, so the model
 * is not copied. options->threads and precision are the tape's. For samples in training, between passes. */
rapt_generator *generator_on_tape(const rapt_model *model, rapt_tape *tape, const rapt_generate_options *options,
                                  rapt_error *err);

#endif
