/* rapt/use.h: everything that uses a trained model: load, translate, generate, chat, embed, score, explain, serve from a program.
 * From 0.4 on, what its headers declare keeps its ABI within a minor version. rapt/train.h has training, rapt/parts.h the parts
 * that models are made of.
 */
#ifndef RAPT_USE_H
#define RAPT_USE_H

#include "rapt/base.h"
#include "rapt/defaults.h"
#include "rapt/text.h"
#include "rapt/chat.h"
#include "rapt/policy.h"
#include "rapt/io.h"
#include "rapt/heads.h"
#include "rapt/glossary.h"
#include "rapt/metrics.h"
#include "rapt/score.h"
#include "rapt/print.h"
#include "rapt/figure.h"
#include "rapt/generate.h"
#include "rapt/decode.h"
#include "rapt/markup.h"
#include "rapt/embed.h"
#include "rapt/rerank.h"
#include "rapt/engine.h"
#include "rapt/explain.h"

#endif
