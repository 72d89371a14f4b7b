/* io/hub/hub_encoder.c: BERT, RoBERTa with XLM-RoBERTa, and DistilBERT. Rows of hub_family.c. Keys and defaults come from the
 * classes' configurations in Hugging Face transformers, tensor names from their modules. */
#include "io/hub/hub_family.h"

#include <string.h>

/* The ends of class names after the name of a family. These classes have the encoder as it was pretrained, or trained for
 * embeddings; heads are ignored. In others the head counts, and the vectors below it are not embeddings. */
static const char *const CLASSES[] = {"Model", "ForMaskedLM", "ForPreTraining"};

bool hub_encoder_is_class(const hub_family *family, const char *name)
{
    const size_t length = strlen(family->architecture);
    bool is = false;
    for (size_t i = 0; i < sizeof CLASSES / sizeof *CLASSES && strncmp(name, family->architecture, length) == 0; i++)
        is = is || strcmp(name + length, CLASSES[i]) == 0;
    return is;
}

/* Sizes under the names that the class gives them. */
typedef struct hub_encoder_keys {
    const char *d_model, *layers, *heads, *ffn, *activation;
} hub_encoder_keys;

static void read_encoder_block(hub_config *c, rapt_transformer_config *k, hub_encoder_keys keys, size_t layers)
{
    *k = (rapt_transformer_config){.source_vocab = hub_size(c, "vocab_size", 30522), .layers = hub_size(c, keys.layers, layers),
                                   .max_positions = hub_size(c, "max_position_embeddings", 512),
                                   .positions = RAPT_POSITIONS_LEARNED, .embedding_norm = true};
    k->block = (rapt_block_config){.d_model = hub_size(c, keys.d_model, 768), .heads = hub_size(c, keys.heads, 12),
                                   .ffn = hub_size(c, keys.ffn, 3072), .norm_eps = 1e-12, .bias = true,
                                   .ffn_kind = hub_activation(c, keys.activation, "gelu")};
    k->block.kv_heads = k->block.heads;
    hub_ignore(c, (const char *const[]){"tie_word_embeddings", "output_past", NULL});
}

static void refuse_pruned_heads(hub_config *c)
{
    if (json_object_size(hub_value(c, "pruned_heads")))
        hub_refuse(c, "pruned_heads", "rapt does not compute layers with fewer heads than others");
}

static void read_encoder_bert(hub_config *c, rapt_transformer_config *k)
{
    read_encoder_block(c, k, (hub_encoder_keys){"hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
                                                "hidden_act"}, 12);
    k->token_types = hub_size(c, "type_vocab_size", 2);
    k->block.norm_eps = hub_within(c, "layer_norm_eps", 1e-12, 1e-30, 1);
    if (strcmp(hub_word(c, "position_embedding_type", "absolute"), "absolute") != 0)
        hub_refuse(c, "position_embedding_type", "of such models rapt computes absolute positions");
    hub_flag_is(c, "is_decoder", false, false);
    hub_flag_is(c, "add_cross_attention", false, false);
    refuse_pruned_heads(c);
    hub_ignore(c, (const char *const[]){"hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout",
                                        "directionality", "pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers",
                                        "pooler_size_per_head", "pooler_type", NULL});
}

/* Positions begin after the index of the padding, so the first two rows of their table belong to no token. */
static void read_roberta(hub_config *c, rapt_transformer_config *k)
{
    read_encoder_bert(c, k);
    if (json_object_get(c->root, "pad_token_id") && hub_size(c, "pad_token_id", 1) != 1)
        hub_refuse(c, "pad_token_id", "rapt computes such models with 1");
    if (k->max_positions < 3)
        hub_refuse(c, "max_position_embeddings", "the first two are of no token");
    k->max_positions -= k->max_positions < 3 ? 0 : 2;
}

static void read_distilbert(hub_config *c, rapt_transformer_config *k)
{
    read_encoder_block(c, k, (hub_encoder_keys){"dim", "n_layers", "n_heads", "hidden_dim", "activation"}, 6);
    refuse_pruned_heads(c);
    k->head_relu = true;
    hub_ignore(c, (const char *const[]){"dropout", "attention_dropout", "qa_dropout", "seq_classif_dropout", "tie_weights_",
                                        "sinusoidal_pos_embds", NULL}); /* such positions are also in the files */
}

/* "gamma" and "beta" are how BERT's own code named the weight and bias of a norm. */
#define BERT_ROWS(positions) \
    {"encoder.embedding.weight", "embeddings.word_embeddings.weight"}, \
    {"encoder.positions.weight", "embeddings.position_embeddings.weight", positions}, \
    {"encoder.types.weight", "embeddings.token_type_embeddings.weight"}, \
    {"encoder.embedding_norm.@", "embeddings.LayerNorm.@"}, \
    {"encoder.embedding_norm.weight", "embeddings.LayerNorm.gamma"}, \
    {"encoder.embedding_norm.bias", "embeddings.LayerNorm.beta"}, \
    {"encoder.#.attention.q.@", "encoder.layer.#.attention.self.query.@"}, \
    {"encoder.#.attention.k.@", "encoder.layer.#.attention.self.key.@"}, \
    {"encoder.#.attention.v.@", "encoder.layer.#.attention.self.value.@"}, \
    {"encoder.#.attention.o.@", "encoder.layer.#.attention.output.dense.@"}, \
    {"encoder.#.norm1.@", "encoder.layer.#.attention.output.LayerNorm.@"}, \
    {"encoder.#.norm1.weight", "encoder.layer.#.attention.output.LayerNorm.gamma"}, \
    {"encoder.#.norm1.bias", "encoder.layer.#.attention.output.LayerNorm.beta"}, \
    {"encoder.#.ffn.dense1.@", "encoder.layer.#.intermediate.dense.@"}, \
    {"encoder.#.ffn.dense2.@", "encoder.layer.#.output.dense.@"}, \
    {"encoder.#.norm2.@", "encoder.layer.#.output.LayerNorm.@"}, \
    {"encoder.#.norm2.weight", "encoder.layer.#.output.LayerNorm.gamma"}, \
    {"encoder.#.norm2.bias", "encoder.layer.#.output.LayerNorm.beta"}

static const place_row BERT_TABLE[] = {BERT_ROWS(0),
                                       {"head.dense.@", "pooler.dense.@"},
                                       {"head.output.@", "/classifier.@"},
                                       {0}};
static const place_row ROBERTA_TABLE[] = {BERT_ROWS(PLACE_BEHIND_TWO),
                                          {"head.dense.@", "/classifier.dense.@"},
                                          {"head.output.@", "/classifier.out_proj.@"},
                                          {0}};
static const place_row DISTILBERT_TABLE[] = {
    {"encoder.embedding.weight", "embeddings.word_embeddings.weight"},
    {"encoder.positions.weight", "embeddings.position_embeddings.weight"},
    {"encoder.embedding_norm.@", "embeddings.LayerNorm.@"},
    {"encoder.#.attention.q.@", "transformer.layer.#.attention.q_lin.@"},
    {"encoder.#.attention.k.@", "transformer.layer.#.attention.k_lin.@"},
    {"encoder.#.attention.v.@", "transformer.layer.#.attention.v_lin.@"},
    {"encoder.#.attention.o.@", "transformer.layer.#.attention.out_lin.@"},
    {"encoder.#.norm1.@", "transformer.layer.#.sa_layer_norm.@"},
    {"encoder.#.ffn.dense1.@", "transformer.layer.#.ffn.lin1.@"},
    {"encoder.#.ffn.dense2.@", "transformer.layer.#.ffn.lin2.@"},
    {"encoder.#.norm2.@", "transformer.layer.#.output_layer_norm.@"},
    {"head.dense.@", "/pre_classifier.@"},
    {"head.output.@", "/classifier.@"},
    {0}};

/* Poolers, heads, and numbers of positions. */
static const char *const BERT_HEADS[] = {"pooler.dense.@", "embeddings.position_ids", "cls.predictions.bias",
                                         "cls.predictions.decoder.@", "cls.predictions.transform.dense.@",
                                         "cls.predictions.transform.LayerNorm.@", "cls.predictions.transform.LayerNorm.gamma",
                                         "cls.predictions.transform.LayerNorm.beta", "cls.seq_relationship.@", "classifier.@",
                                         "qa_outputs.@", NULL};
static const char *const ROBERTA_HEADS[] = {"pooler.dense.@", "embeddings.position_ids", "lm_head.bias", "lm_head.dense.@",
                                            "lm_head.layer_norm.@", "lm_head.decoder.@", "classifier.@", "classifier.dense.@",
                                            "classifier.out_proj.@", "qa_outputs.@", NULL};
static const char *const DISTILBERT_HEADS[] = {"embeddings.position_ids", "vocab_transform.@", "vocab_layer_norm.@",
                                               "vocab_projector.@", "pre_classifier.@", "classifier.@", "qa_outputs.@", NULL};

static const place_table BERT_PLACES = {BERT_TABLE, BERT_HEADS, "bert."};
static const place_table ROBERTA_PLACES = {ROBERTA_TABLE, ROBERTA_HEADS, "roberta."};
static const place_table DISTILBERT_PLACES = {DISTILBERT_TABLE, DISTILBERT_HEADS, "distilbert."};

const hub_family HUB_BERT = {"bert", "Bert", &BERT_PLACES, .end_of_text = -1, .read_encoder = read_encoder_bert, .scores = true};
const hub_family HUB_ROBERTA = {"roberta", "Roberta", &ROBERTA_PLACES, .end_of_text = -1, .read_encoder = read_roberta,
                                .scores = true, .skips_padding = true};
const hub_family HUB_XLM_ROBERTA = {"xlm-roberta", "XLMRoberta", &ROBERTA_PLACES, .end_of_text = -1, .read_encoder = read_roberta,
                                    .scores = true, .skips_padding = true};
const hub_family HUB_DISTILBERT = {"distilbert", "DistilBert", &DISTILBERT_PLACES, .end_of_text = -1,
                                   .read_encoder = read_distilbert, .scores = true};
