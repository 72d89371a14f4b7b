/* io/hub/hub_bart.c: BART, mBART, Pegasus and M2M100 with NLLB. Rows of hub_family.c. They differ as their classes in Hugging
 * Face transformers do. */
#include "io/hub/hub_pair.h"

static void read_pegasus(hub_config *c, rapt_transformer_config *k)
{
    hub_pair_read(c, k, (hub_pair_class){.place = RAPT_NORM_PLACE_PRE, .positions = RAPT_POSITIONS_SINUSOIDAL,
                                         .layout = RAPT_SINUSOID_LAYOUT_HALVES, .bias = RAPT_OUTPUT_BIAS_ALWAYS,
                                         .activation = "gelu"});
    hub_flag_is(c, "tie_word_embeddings", true, true);
}

static void read_bart(hub_config *c, rapt_transformer_config *k)
{
    hub_pair_read(c, k, (hub_pair_class){.positions = RAPT_POSITIONS_LEARNED, .embedding_norm = true,
                                         .bias = RAPT_OUTPUT_BIAS_ALWAYS, .activation = "gelu"});
    hub_flag_is(c, "tie_word_embeddings", true, true);
}

static void read_mbart(hub_config *c, rapt_transformer_config *k)
{
    hub_pair_read(c, k, (hub_pair_class){.place = RAPT_NORM_PLACE_PRE, .positions = RAPT_POSITIONS_LEARNED,
                                         .embedding_norm = true, .bias = RAPT_OUTPUT_BIAS_ALWAYS, .activation = "gelu"});
    hub_flag_is(c, "tie_word_embeddings", true, true);
}

/* Positions begin after the index of the padding. */
static void read_m2m_100(hub_config *c, rapt_transformer_config *k)
{
    hub_pair_read(c, k, (hub_pair_class){.place = RAPT_NORM_PLACE_PRE, .positions = RAPT_POSITIONS_SINUSOIDAL,
                                         .layout = RAPT_SINUSOID_LAYOUT_FAIRSEQ, .bias = RAPT_OUTPUT_BIAS_NEVER,
                                         .activation = "relu", .scale = true});
    hub_flag_is(c, "tie_word_embeddings", true, true);
    if (json_object_get(c->root, "pad_token_id") && hub_size(c, "pad_token_id", 1) != 1)
        hub_refuse(c, "pad_token_id", "rapt computes such models with 1");
}

const hub_family HUB_PEGASUS = {"pegasus", "PegasusForConditionalGeneration", &HUB_PAIR_PLACES, true, -1, NULL, read_pegasus};
const hub_family HUB_BART = {"bart", "BartForConditionalGeneration", &HUB_PAIR_PLACES, false, -1, NULL, read_bart};
const hub_family HUB_MBART = {"mbart", "MBartForConditionalGeneration", &HUB_PAIR_PLACES, false, -1, NULL, read_mbart};
const hub_family HUB_M2M_100 = {"m2m_100", "M2M100ForConditionalGeneration", &HUB_PAIR_PLACES, false, -1, NULL, read_m2m_100};
