/* decode/generate_options.h: options of a generator with defaults filled in, from the model's folder if it has any. */
#ifndef DECODE_GENERATE_OPTIONS_H
#define DECODE_GENERATE_OPTIONS_H

#include "base/arena.h"
#include "rapt/generate.h"
#include "rapt/policy.h"

/* RAPT_ERR_VALUE: the model does not generate text, or an option is out of its range or does not fit the model. */
rapt_code generate_options_check(const rapt_model *m, const rapt_generate_options *o, rapt_error *err);
/* A caller's options, NULL for the defaults. RAPT_ERR_VALUE: they have no size, or a newer header's. */
rapt_code generate_options_take(const rapt_generate_options *given, rapt_generate_options *out, rapt_error *err);
/* Whether options ask for a kind of sampling, which excludes a policy's beam search. */
bool generate_options_ask(const rapt_sample_options *s);
/* Replaces RAPT_AS_MODEL by what a policy says, in members about which it says something. */
void generate_options_take_policy(const rapt_search_policy *p, rapt_sample_options *s);
/* Replaces RAPT_AS_MODEL by what the model's policy says, or by the defaults. Arrays are not copied. */
rapt_generate_options generate_options_fill(const rapt_model *m, const rapt_generate_options *o);
/* generate_options_fill, with the arrays copied to `memory`. RAPT_ERR_MEMORY. */
rapt_code generate_options_copy(const rapt_model *m, const rapt_generate_options *o, arena *memory, rapt_generate_options *copy,
                                rapt_error *err);

#endif
