/* tests/options.h: options in initializers: the defaults, with what a test writes behind them. */
#ifndef TESTS_OPTIONS_H
#define TESTS_OPTIONS_H

#include "data/data_defaults.h"
#include "decode/option_defaults.h"
#include "engine/engine_defaults.h"
#include "explain/explanation.h"
#include "group/group_core.h"
#include "metrics/metric_defaults.h"
#include "print/printer.h"
#include "rapt/engine.h"
#include "rapt/explain.h"
#include "rapt/metrics.h"
#include "rapt/rerank.h"
#include "rapt/score.h"
#include "rapt/train.h"
#include "text/chat/chat_template.h"
#include "text/training_defaults.h"
#include "train/optimizer/adam_defaults.h"
#include "train/optimizer/muon_defaults.h"
#include "train/optimizer/sgd_defaults.h"

#define TRANSLATE(...) ((rapt_translate_options){TRANSLATE_DEFAULTS, __VA_ARGS__})
#define GENERATE(...) ((rapt_generate_options){GENERATE_DEFAULTS, __VA_ARGS__})
#define SAMPLE(...) ((rapt_sample_options){SAMPLE_DEFAULTS, __VA_ARGS__})
#define EMBEDDER(...) ((rapt_embedder_options){EMBEDDER_DEFAULTS, __VA_ARGS__})
#define RERANKER(...) ((rapt_reranker_options){RERANKER_DEFAULTS, __VA_ARGS__})
#define SCORE(...) ((rapt_score_options){SCORE_DEFAULTS, __VA_ARGS__})
#define ENCODE(...) ((rapt_encode_options){.size = sizeof(rapt_encode_options), __VA_ARGS__})
#define ADAM(...) ((rapt_adam_options){ADAM_DEFAULTS, __VA_ARGS__})
#define MUON(...) ((rapt_muon_options){MUON_DEFAULTS, __VA_ARGS__})
#define SGD(...) ((rapt_sgd_options){SGD_DEFAULTS, __VA_ARGS__})
#define EXPLAIN(...) ((rapt_explain_options){.size = sizeof(rapt_explain_options), __VA_ARGS__})
#define EXPLAIN_PAGE(...) ((rapt_explain_page_options){.size = sizeof(rapt_explain_page_options), __VA_ARGS__})
#define MODEL_LORA(...) ((rapt_model_lora_options){.size = sizeof(rapt_model_lora_options), __VA_ARGS__})
#define TRAIN_WORDS(...) ((rapt_words_options){WORDS_DEFAULTS, __VA_ARGS__})
#define TRAIN_CHARACTERS(...) ((rapt_characters_options){CHARACTERS_DEFAULTS, __VA_ARGS__})
#define TRAIN_BPE(...) ((rapt_bpe_options){BPE_DEFAULTS, __VA_ARGS__})
#define BLEU(...) ((rapt_bleu_options){BLEU_DEFAULTS, __VA_ARGS__})
#define CHRF(...) ((rapt_chrf_options){CHRF_DEFAULTS, __VA_ARGS__})
#define EXPLAIN_FORMAT(...) ((rapt_explain_format){EXPLAIN_FORMAT_DEFAULTS, __VA_ARGS__})
#define CHAT(...) ((rapt_chat_options){CHAT_DEFAULTS, __VA_ARGS__})
#define TENSOR_TEXT(...) ((rapt_tensor_text_options){TENSOR_TEXT_DEFAULTS, __VA_ARGS__})
#define DATASET(...) ((rapt_dataset_options){DATASET_DEFAULTS, __VA_ARGS__})
#define LOADER(...) ((rapt_loader_options){LOADER_DEFAULTS, __VA_ARGS__})
#define GROUP(...) ((rapt_group_options){GROUP_DEFAULTS, __VA_ARGS__})
#define ENGINE(...) ((rapt_engine_options){ENGINE_DEFAULTS, __VA_ARGS__})
#define ENGINE_MODEL(...) ((rapt_engine_model_options){ENGINE_MODEL_DEFAULTS, __VA_ARGS__})

#if defined(__clang__)
#pragma clang diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif

#endif
