/* cli/plot/plot_attention.h: the two halves of `rapt plot attention`: a pass that captures attention weights, and the picture. */
#ifndef CLI_PLOT_PLOT_ATTENTION_H
#define CLI_PLOT_PLOT_ATTENTION_H

#include "cli/plot/cmd_plot.h"
#include "decode/known_words.h"

typedef enum attention_kind {
    ATTENTION_ANY,   /* cross for translation, causal for language models */
    ATTENTION_SELF,  /* in the encoder */
    ATTENTION_CROSS, /* from the decoder to the encoder's output */
    ATTENTION_CAUSAL /* in the decoder, or in a language model, to earlier positions */
} attention_kind;

/* What to compute with a model. */
typedef struct attention_request {
    attention_kind kind;
    const char *text, *target; /* target: the decoder's input; NULL: the greedy translation */
    bool strict;               /* unknown words are an error */
} attention_request;

/* The captured attention weights of one kind, and the tokens along their axes. It must not be moved. */
typedef struct attention_view {
    const char *word; /* "cross-attention" */
    size_t blocks, heads;
    plot_tokens source, target; /* a language model's text is the source */
    const plot_tokens *queries, *keys; /* the one of them along each axis, with names */
    const char *query, *key;           /* titles of the axes */
    unknown_list unknown_source, unknown_target; /* words that are <unk> among the tokens */
} attention_view;

/* Runs the model on tape `t`, which holds the weights until its next pass. Free the view with attention_view_free, also after a
 * failure. RAPT_ERR_VALUE: a text that is empty or too long, or unknown words with `strict`. */
rapt_code attention_run(rapt_tape *t, const rapt_model *m, const attention_request *r, attention_view *v, rapt_error *err);
/* [heads, queries, keys] of a block. */
const rapt_real *attention_weights(const rapt_tape *t, const rapt_model *m, attention_kind kind, size_t block);
void attention_view_free(attention_view *v);

#endif
