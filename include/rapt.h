#ifndef RAPT_H
#define RAPT_H
#include "rapt/base.h"
#include "rapt/tensor.h"
#include "rapt/tape.h"
#include "rapt/nn.h"
#include "rapt/text.h"
#include "rapt/metrics.h"
#include "rapt/data.h"
#include "rapt/io.h"
#include "rapt/decode.h"
#include "rapt/recipe.h"
#include "rapt/train.h"
#endif
