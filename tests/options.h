/* tests/options.h: options in initializers: the defaults, with what a test writes behind them. */
#ifndef TESTS_OPTIONS_H
#define TESTS_OPTIONS_H

#include "decode/option_defaults.h"
#include "engine/engine_defaults.h"
#include "rapt/engine.h"
#include "rapt/explain.h"
#include "rapt/score.h"
#include "rapt/train.h"
#include "train/optimizer/adam_defaults.h"

#define TRANSLATE(...) ((rapt_translate_options){TRANSLATE_DEFAULTS, __VA_ARGS__})
#define GENERATE(...) ((rapt_generate_options){GENERATE_DEFAULTS, __VA_ARGS__})
#define SAMPLE(...) ((rapt_sample_options){SAMPLE_DEFAULTS, __VA_ARGS__})
#define EMBEDDER(...) ((rapt_embedder_options){EMBEDDER_DEFAULTS, __VA_ARGS__})
#define SCORE(...) ((rapt_score_options){SCORE_DEFAULTS, __VA_ARGS__})
#define ENCODE(...) ((rapt_encode_options){.size = sizeof(rapt_encode_options), __VA_ARGS__})
#define ADAM(...) ((rapt_adam_options){ADAM_DEFAULTS, __VA_ARGS__})
#define EXPLAIN(...) ((rapt_explain_options){.size = sizeof(rapt_explain_options), __VA_ARGS__})
#define EXPLAIN_PAGE(...) ((rapt_explain_page_options){.size = sizeof(rapt_explain_page_options), __VA_ARGS__})
#define MODEL_LORA(...) ((rapt_model_lora_options){.size = sizeof(rapt_model_lora_options), __VA_ARGS__})
#define ENGINE(...) ((rapt_engine_options){ENGINE_DEFAULTS, __VA_ARGS__})
#define ENGINE_MODEL(...) ((rapt_engine_model_options){ENGINE_MODEL_DEFAULTS, __VA_ARGS__})

#if defined(__clang__)
#pragma clang diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif

#endif
