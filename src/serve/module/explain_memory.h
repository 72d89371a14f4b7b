/* serve/module/explain_memory.h: what the response of /v1/explain takes while it is made. For native_explain.c, which asks for
 * it before the pass, and after the pass, when the tokens are known, a second time. */
#ifndef SERVE_MODULE_EXPLAIN_MEMORY_H
#define SERVE_MODULE_EXPLAIN_MEMORY_H

#include "rapt/explain.h"

enum {
    /* Bytes of one prediction as JSON, in a tree and in a text that grows: six tokens, without their texts. */
    EXPLAIN_MEMORY_PREDICTION = 6656,
    /* Bytes of one byte of a token's text: at most six letters, or an escape and two digits, in a text that grows. */
    EXPLAIN_MEMORY_TEXT = 28
};

typedef enum explain_kind { EXPLAIN_KIND_JSON, EXPLAIN_KIND_FULL, EXPLAIN_KIND_HTML } explain_kind;

/* All but the predictions. */
size_t explain_memory(const rapt_explain_cost *c, explain_kind kind);
/* The logit lens of a pass that is only counted, as if its tokens had no texts. */
size_t explain_memory_lens(const rapt_explain_cost *c, explain_kind kind);
/* All predictions of a pass, with the texts of their tokens. */
size_t explain_memory_predictions(const rapt_explanation *e, const rapt_tokenizer *k, explain_kind kind);

#endif
