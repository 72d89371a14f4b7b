/* io/hub/hub_marian.c: Marian's translators, including OPUS-MT. A row of hub_family.c. Keys and defaults come from MarianConfig
 * in Hugging Face transformers, tensor names from MarianMTModel. "forced_eos_token_id" has no default: the class has 0, which
 * generate() used in transformers 4 but does not use in 5. */
#include "io/hub/hub_pair.h"

static void read_marian(hub_config *c, rapt_transformer_config *k)
{
    hub_pair_read(c, k, (hub_pair_class){.positions = RAPT_POSITIONS_SINUSOIDAL, .layout = RAPT_SINUSOID_LAYOUT_HALVES,
                                         .bias = RAPT_OUTPUT_BIAS_ALWAYS, .activation = "gelu"});
    k->tied = hub_flag(c, "share_encoder_decoder_embeddings", true);
    k->tied_output = hub_flag(c, "tie_word_embeddings", true);
    if (k->tied && !k->tied_output)
        hub_refuse(c, "tie_word_embeddings", "the embeddings are one matrix, and rapt also ties the output to it");
    k->target_vocab = hub_size(c, "decoder_vocab_size", k->source_vocab);
    if (k->tied)
        k->target_vocab = k->source_vocab;
}

const hub_family HUB_MARIAN = {"marian", "MarianMTModel", &HUB_PAIR_PLACES, true, -1, NULL, read_marian};
