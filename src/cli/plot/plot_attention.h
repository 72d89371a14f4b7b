/* cli/plot/plot_attention.h: the two halves of `rapt plot attention`: a pass that captures attention weights, and the picture. */
#ifndef CLI_PLOT_PLOT_ATTENTION_H
#define CLI_PLOT_PLOT_ATTENTION_H

#include "cli/plot/cmd_plot.h"

typedef enum attention_kind {
    ATTENTION_ANY,   /* cross for translation, causal for language models */
    ATTENTION_SELF,  /* of the encoder */
    ATTENTION_CROSS, /* of the decoder to what the encoder made */
    ATTENTION_CAUSAL /* of the decoder, or of a language model, to what came before */
} attention_kind;

/* The captured attention weights of one kind, and the tokens along their axes. It must not be moved. */
typedef struct attention_view {
    const char *word; /* "cross-attention" */
    size_t blocks, heads;
    plot_tokens source, target; /* a language model's text is the source */
    const plot_tokens *queries, *keys; /* which of them, with names */
    const char *query, *key;           /* titles of the axes */
} attention_view;

/* Runs the model on tape `t`, which holds the weights until its next pass. `target`: the decoder's input; NULL: the greedy
 * translation. Free the view with attention_view_free, also after a failure. RAPT_ERR_VALUE: a text that is empty, too long or
 * unknown, a kind that the model does not have. */
rapt_code attention_run(rapt_tape *t, const rapt_model *m, attention_kind kind, const char *text, const char *target,
                        attention_view *v, rapt_error *err);
/* [heads, queries, keys] of a block. */
const rapt_real *attention_weights(const rapt_tape *t, const rapt_model *m, attention_kind kind, size_t block);
void attention_view_free(attention_view *v);

#endif
