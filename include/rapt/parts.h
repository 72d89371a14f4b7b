/* rapt/parts.h: the parts that models are made of: tensors, the tape and its operations, modules, KV caches, whole networks. For
 * modules and training loops of one's own. They may change with each minor version.
 */
#ifndef RAPT_PARTS_H
#define RAPT_PARTS_H

#include "rapt/tensor.h"
#include "rapt/tape.h"
#include "rapt/observe.h"
#include "rapt/profile.h"
#include "rapt/kv.h"
#include "rapt/nn.h"
#include "rapt/transformer.h"
#include "rapt/lm.h"

#endif
