/* tests/fuzz/fuzz_hub_config.c: any text as the config.json of each type of Hugging Face model, and as its
 * generation_config.json, without weights.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "io/hub/hub_family.h"
#include "io/hub/hub_generation.h"
#include "io/hub/hub_model.h"

enum { MOST_LAYERS = 8, VOCAB = 300 };

static char path[] = "config.json";

/* A configuration that was accepted makes sense, and is one of a network. */
static void make_decoder(const rapt_lm_config *k)
{
    rapt_error err = {0};
    const rapt_block_config *b = &k->block;
    bool windowed = false;
    for (size_t i = 0; i < sizeof k->windowed.bits / sizeof *k->windowed.bits; i++)
        windowed = windowed || k->windowed.bits[i];
    require(k->vocab > 0 && k->layers > 0 && k->context > 0 && b->heads > 0 && b->kv_heads > 0 && b->heads % b->kv_heads == 0);
    require(windowed == (k->window > 0));
    require(k->positions != RAPT_POSITIONS_ROTARY || (k->rotary_base >= 1 && k->rotary_base <= 1e12));
    if (k->layers > MOST_LAYERS)
        return;
    rapt_lm *net = rapt_lm_new(k, RAPT_SEED_SHAPES, &err);
    require_outcome(net != NULL, &err);
    rapt_lm_free(net);
}

static void make_pair(const rapt_transformer_config *k)
{
    rapt_error err = {0};
    require(k->source_vocab > 0 && k->target_vocab > 0 && k->layers > 0 && k->decoder_layers > 0 && k->max_positions > 0);
    if (k->layers > MOST_LAYERS || k->decoder_layers > MOST_LAYERS)
        return;
    rapt_transformer *net = rapt_transformer_new(k, RAPT_SEED_SHAPES, &err);
    require_outcome(net != NULL, &err);
    rapt_transformer_free(net);
}

static void make_encoder(const rapt_transformer_config *k)
{
    rapt_error err = {0};
    require(k->source_vocab > 0 && k->layers > 0 && k->max_positions > 0);
    if (k->layers > MOST_LAYERS)
        return;
    rapt_encoder_only *net = rapt_encoder_only_new(k, RAPT_SEED_SHAPES, &err);
    require_outcome(net != NULL, &err);
    rapt_encoder_only_free(net);
}

static void read_as(const json_t *root, const char *type)
{
    rapt_error err = {0};
    hub_summary summary;
    const model_source from = {.config = (json_t *)root, .config_path = path};
    const rapt_code code = hub_model_check(&from, NULL, &summary, &err);
    const hub_family *family = hub_family_of(type);
    require_outcome(code == RAPT_OK, &err);
    require(family && !summary.model);
    if (code)
        return;
    rapt_lm_config lm = {0};
    rapt_transformer_config pair = {0};
    hub_config c = {.root = root, .path = path, .err = &err};
    if (family->read)
        family->read(&c, &lm);
    else
        (family->read_pair ? family->read_pair : family->read_encoder)(&c, &pair);
    require(c.code == RAPT_OK && err.code == RAPT_OK); /* as the check says */
    if (family->read)
        make_decoder(&lm);
    else if (family->read_pair)
        make_pair(&pair);
    else
        make_encoder(&pair);
}

static void read_as_all(json_t *root)
{
    hub_type_list list = hub_family_list(false);
    for (char *rest = list.text, *type; (type = strtok_r(rest, ", ", &rest)) != NULL;) {
        require(json_object_set_new(root, "model_type", json_string(type)) == 0);
        read_as(root, type);
    }
}

/* As generation_config.json, and as a config.json without one. */
static void read_as_generation(json_t *root, bool alone)
{
    rapt_error err = {0}, translator = {0}, tokens = {0};
    rapt_search_policy policy;
    int32_t ids[4];
    size_t count = 0;
    bool there;
    const hub_generation g = {.file = alone ? NULL : root, .file_path = path, .config = root, .config_path = path};
    rapt_code code = hub_generation_policy(&g, VOCAB, &policy, &err);
    require_outcome(code == RAPT_OK, &err);
    require(code || (policy.beams >= 1 && policy.forced_bos.count <= 1));
    for (size_t i = 0; i < policy.suppressed.count && !code; i++)
        require(policy.suppressed.ids[i] >= 0 && policy.suppressed.ids[i] < VOCAB);
    hub_generation_policy_free(&policy);
    require_outcome(hub_generation_check_translator(&g, &translator) == RAPT_OK, &translator);
    require_outcome(hub_generation_ids(&g, "eos_token_id", VOCAB, ids, 4, &count, &there, &tokens) == RAPT_OK, &tokens);
    require(count <= 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    json_error_t where;
    json_t *root = json_loadb((const char *)input, size, JSON_REJECT_DUPLICATES, &where);
    if (json_is_object(root)) {
        read_as_generation(root, false);
        read_as_generation(root, true);
        read_as_all(root);
    }
    json_decref(root);
    return 0;
}
