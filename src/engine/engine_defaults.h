/* engine/engine_defaults.h: the defaults of an engine's options as designated initializers, for the functions that make them, and
 * for tests, which write other members behind them. */
#ifndef ENGINE_ENGINE_DEFAULTS_H
#define ENGINE_ENGINE_DEFAULTS_H

#include "rapt/engine.h"

#define ENGINE_DEFAULTS .size = sizeof(rapt_engine_options)

#define ENGINE_MODEL_DEFAULTS                                                                                            \
    .size = sizeof(rapt_engine_model_options), .slots = RAPT_ENGINE_SLOTS, .batch = RAPT_TRANSLATE_BATCH

#endif
