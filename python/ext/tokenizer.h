/* tokenizer.h: the handle of a tokenizer, for the files that lend a model's. */
#ifndef RAPT_PYTHON_TOKENIZER_H
#define RAPT_PYTHON_TOKENIZER_H

#include "ext.h"

#include "rapt/text.h"

/* A handle of a tokenizer that `owner` keeps alive. */
PyObject *tokenizer_view(const ext_state *s, const rapt_tokenizer *t, PyObject *owner);
/* The tokenizer of a handle; NULL with TypeError set. */
const rapt_tokenizer *tokenizer_of(const ext_state *s, PyObject *handle);

#endif
