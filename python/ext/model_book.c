/* model_book.c: what a translation model is as the book's modules, or why it is none. The modules are in the package, and so are
 * the names of their parameters. */
#include "model.h"

#include "rapt/transformer.h"

/* What the book's blocks lack of this model's; NULL: nothing. */
static const char *block_lacks(const rapt_block_config *b)
{
    return b->norm_place != RAPT_NORM_PLACE_POST ? "norms before its sublayers"
           : b->norm_kind != RAPT_NORM_KIND_LAYER || b->norm_ndim != 0 ? "norms that are no layer norms"
           : b->shared_norm ? "one norm for all places of a block"
           : b->no_norm_bias ? "norms without biases"
           : b->kv_heads != 0 && b->kv_heads != b->heads ? "fewer heads of keys and values than of queries"
           : b->head_dim != 0 && b->head_dim * b->heads != b->d_model ? "heads that are not num_hiddens / num_heads wide"
           : b->scores.scale != 0 || b->scores.cap != 0 ? "scores of attention that are scaled otherwise"
           : b->qk_norm != RAPT_QK_NORM_NONE ? "norms of queries and keys"
           : b->residual_scale != 0 && b->residual_scale != 1 ? "sublayers that are scaled"
           : b->ffn_kind == RAPT_FFN_SWIGLU || b->ffn_kind == RAPT_FFN_GEGLU_TANH ? "feed-forward networks with a gate"
           : b->no_ffn_bias ? "feed-forward networks without biases"
           : b->bias && b->no_o_bias ? "biases of attention in all but the last projection" : NULL;
}

static const char *transformer_lacks(const rapt_transformer_config *c)
{
    return c->positions != RAPT_POSITIONS_SINUSOIDAL ? "positions that are not sinusoidal"
           : !c->scale_embedding ? "embeddings that are not multiplied by sqrt(num_hiddens)"
           : c->embedding_norm ? "a norm of the embeddings"
           : c->token_types ? "embeddings of token types"
           : c->output_scale != 0 && c->output_scale != 1 ? "hidden states that are scaled before the output"
           : block_lacks(&c->block);
}

static const char *activation_of(rapt_ffn_kind kind)
{
    return kind == RAPT_FFN_GELU ? "gelu" : kind == RAPT_FFN_GELU_TANH ? "gelu_tanh" : kind == RAPT_FFN_SILU ? "silu" : "relu";
}

/* book(): a dict of the arguments of the book's TransformerEncoder and TransformerDecoder. InvalidValueError: they are not this
 * model. */
PyObject *model_book(PyObject *self, PyObject *unused)
{
    PyObject *hold, *dict = NULL;
    (void)unused;
    if (!model_begin(self, &hold))
        return NULL;
    const rapt_translation_model *m = rapt_model_translation(((model *)self)->model);
    const rapt_transformer_config *c = m ? &m->net->config : NULL;
    const rapt_block_config *b = c ? &c->block : NULL;
    const char *more = c ? transformer_lacks(c) : NULL;
    if (!c)
        ext_invalid("the book's modules are an encoder and a decoder; this is no translation model");
    else if (more)
        ext_invalid("the model has %s, which the book's modules have not", more);
    else
        dict = Py_BuildValue("{sn sn sn sn sn sn sn sn sn sd sd sO ss sn}", "source_vocab", (Py_ssize_t)c->source_vocab,
                             "target_vocab", (Py_ssize_t)c->target_vocab, "num_hiddens", (Py_ssize_t)b->d_model, "ffn",
                             (Py_ssize_t)b->ffn, "heads", (Py_ssize_t)b->heads, "layers", (Py_ssize_t)c->layers, "decoder_ffn",
                             (Py_ssize_t)(c->decoder_ffn ? c->decoder_ffn : b->ffn), "decoder_heads",
                             (Py_ssize_t)(c->decoder_heads ? c->decoder_heads : b->heads), "decoder_layers",
                             (Py_ssize_t)(c->decoder_layers ? c->decoder_layers : c->layers), "dropout", b->dropout, "eps",
                             b->norm_eps > 0 ? b->norm_eps : 1e-5, "use_bias", b->bias ? Py_True : Py_False, "activation",
                             activation_of(b->ffn_kind), "max_len", (Py_ssize_t)c->max_positions);
    model_end(self, hold);
    return dict;
}
