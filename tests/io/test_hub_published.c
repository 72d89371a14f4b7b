/* tests/io/test_hub_published.c: config.json of published language models, as their repositories have them but for keys that say
 * nothing of the model's shape, against the sizes of these models. For src/io/hub, without weights. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "io/hub/hub_model.h"

#include "io/hub/hub_family.h"

typedef struct published {
    const char *name, *config;
    size_t layers, d_model, heads, kv_heads, head_dim, ffn, context, rotary_dim, window;
    bool tied;
} published;

#define TWELVE(x) x ", " x ", " x ", " x ", " x ", " x ", " x ", " x ", " x ", " x ", " x ", " x
#define THREE(x) x ", " x ", " x

static const published MODELS[] = {
    {"SmolLM2-135M",
     "{\"architectures\": [\"LlamaForCausalLM\"], \"attention_bias\": false, \"attention_dropout\": 0.0, \"bos_token_id\": 0, "
     "\"eos_token_id\": 0, \"hidden_act\": \"silu\", \"hidden_size\": 576, \"initializer_range\": 0.041666666666666664, "
     "\"intermediate_size\": 1536, \"is_llama_config\": true, \"max_position_embeddings\": 8192, \"model_type\": \"llama\", "
     "\"num_attention_heads\": 9, \"num_hidden_layers\": 30, \"num_key_value_heads\": 3, \"pretraining_tp\": 1, "
     "\"rms_norm_eps\": 1e-05, \"rope_interleaved\": false, \"rope_scaling\": null, \"rope_theta\": 100000, "
     "\"tie_word_embeddings\": true, \"torch_dtype\": \"bfloat16\", \"use_cache\": true, \"vocab_size\": 49152}",
     30, 576, 9, 3, 64, 1536, 8192, 0, 0, true},
    {"Qwen2.5-0.5B",
     "{\"architectures\": [\"Qwen2ForCausalLM\"], \"attention_dropout\": 0.0, \"bos_token_id\": 151643, "
     "\"eos_token_id\": 151643, \"hidden_act\": \"silu\", \"hidden_size\": 896, \"initializer_range\": 0.02, "
     "\"intermediate_size\": 4864, \"max_position_embeddings\": 32768, \"max_window_layers\": 24, "
     "\"model_type\": \"qwen2\", \"num_attention_heads\": 14, "
     "\"num_hidden_layers\": 24, \"num_key_value_heads\": 2, \"rms_norm_eps\": 1e-06, \"rope_theta\": 1000000.0, "
     "\"sliding_window\": 32768, \"tie_word_embeddings\": true, \"torch_dtype\": \"bfloat16\", \"use_cache\": true, "
     "\"use_mrope\": false, \"use_sliding_window\": false, \"vocab_size\": 151936}",
     24, 896, 14, 2, 64, 4864, 32768, 0, 0, true},
    {"gpt2-xl",
     "{\"activation_function\": \"gelu_new\", \"architectures\": [\"GPT2LMHeadModel\"], \"attn_pdrop\": 0.1, "
     "\"bos_token_id\": 50256, \"embd_pdrop\": 0.1, \"eos_token_id\": 50256, \"initializer_range\": 0.02, "
     "\"layer_norm_epsilon\": 1e-05, \"model_type\": \"gpt2\", \"n_ctx\": 1024, \"n_embd\": 1600, \"n_head\": 25, "
     "\"n_layer\": 48, \"n_positions\": 1024, \"output_past\": true, \"resid_pdrop\": 0.1, \"summary_activation\": null, "
     "\"summary_first_dropout\": 0.1, \"summary_proj_to_labels\": true, \"summary_type\": \"cls_index\", "
     "\"summary_use_proj\": true, \"task_specific_params\": {\"text-generation\": {\"do_sample\": true, \"max_length\": 50}}, "
     "\"vocab_size\": 50257}",
     48, 1600, 25, 25, 0, 6400, 1024, 0, 0, true},
    {"Llama-3.2-1B",
     "{\"architectures\": [\"LlamaForCausalLM\"], \"attention_bias\": false, \"bos_token_id\": 128000, \"eos_token_id\": 128001, "
     "\"head_dim\": 64, \"hidden_act\": \"silu\", \"hidden_size\": 2048, \"intermediate_size\": 8192, "
     "\"max_position_embeddings\": 131072, \"mlp_bias\": false, \"model_type\": \"llama\", \"num_attention_heads\": 32, "
     "\"num_hidden_layers\": 16, \"num_key_value_heads\": 8, \"pretraining_tp\": 1, \"rms_norm_eps\": 1e-05, "
     "\"rope_scaling\": {\"factor\": 32.0, \"high_freq_factor\": 4.0, \"low_freq_factor\": 1.0, "
     "\"original_max_position_embeddings\": 8192, \"rope_type\": \"llama3\"}, \"rope_theta\": 500000.0, "
     "\"tie_word_embeddings\": true, \"vocab_size\": 128256}",
     16, 2048, 32, 8, 64, 8192, 131072, 0, 0, true},
    {"Mistral-7B-v0.1",
     "{\"architectures\": [\"MistralForCausalLM\"], \"bos_token_id\": 1, \"eos_token_id\": 2, \"hidden_act\": \"silu\", "
     "\"hidden_size\": 4096, \"intermediate_size\": 14336, \"max_position_embeddings\": 32768, \"model_type\": \"mistral\", "
     "\"num_attention_heads\": 32, \"num_hidden_layers\": 32, \"num_key_value_heads\": 8, \"rms_norm_eps\": 1e-05, "
     "\"rope_theta\": 10000.0, \"sliding_window\": 4096, \"tie_word_embeddings\": false, \"vocab_size\": 32000}",
     32, 4096, 32, 8, 128, 14336, 32768, 0, 4096, false},
    {"Mistral-7B-v0.3",
     "{\"architectures\": [\"MistralForCausalLM\"], \"attention_dropout\": 0.0, \"bos_token_id\": 1, \"eos_token_id\": 2, "
     "\"hidden_act\": \"silu\", \"hidden_size\": 4096, \"intermediate_size\": 14336, \"max_position_embeddings\": 32768, "
     "\"model_type\": \"mistral\", \"num_attention_heads\": 32, \"num_hidden_layers\": 32, \"num_key_value_heads\": 8, "
     "\"rms_norm_eps\": 1e-05, \"rope_theta\": 1000000.0, \"sliding_window\": null, \"tie_word_embeddings\": false, "
     "\"vocab_size\": 32768}",
     32, 4096, 32, 8, 128, 14336, 32768, 0, 0, false},
    {"Qwen3-0.6B",
     "{\"architectures\": [\"Qwen3ForCausalLM\"], \"attention_bias\": false, \"attention_dropout\": 0.0, "
     "\"bos_token_id\": 151643, \"eos_token_id\": 151645, \"head_dim\": 128, \"hidden_act\": \"silu\", \"hidden_size\": 1024, "
     "\"intermediate_size\": 3072, \"max_position_embeddings\": 40960, \"max_window_layers\": 28, \"model_type\": \"qwen3\", "
     "\"num_attention_heads\": 16, \"num_hidden_layers\": 28, \"num_key_value_heads\": 8, \"rms_norm_eps\": 1e-06, "
     "\"rope_scaling\": null, \"rope_theta\": 1000000, \"sliding_window\": null, \"tie_word_embeddings\": true, "
     "\"use_sliding_window\": false, \"vocab_size\": 151936}",
     28, 1024, 16, 8, 128, 3072, 40960, 0, 0, true},
    {"pythia-70m",
     "{\"architectures\": [\"GPTNeoXForCausalLM\"], \"bos_token_id\": 0, \"eos_token_id\": 0, \"hidden_act\": \"gelu\", "
     "\"hidden_size\": 512, \"initializer_range\": 0.02, \"intermediate_size\": 2048, \"layer_norm_eps\": 1e-05, "
     "\"max_position_embeddings\": 2048, \"model_type\": \"gpt_neox\", \"num_attention_heads\": 8, \"num_hidden_layers\": 6, "
     "\"rotary_emb_base\": 10000, \"rotary_pct\": 0.25, \"tie_word_embeddings\": false, \"torch_dtype\": \"float16\", "
     "\"use_cache\": true, \"use_parallel_residual\": true, \"vocab_size\": 50304}",
     6, 512, 8, 8, 64, 2048, 2048, 16, 0, false},
    {"gemma-2b",
     "{\"architectures\": [\"GemmaForCausalLM\"], \"attention_bias\": false, \"attention_dropout\": 0.0, \"bos_token_id\": 2, "
     "\"eos_token_id\": 1, \"head_dim\": 256, \"hidden_act\": \"gelu\", \"hidden_activation\": null, \"hidden_size\": 2048, "
     "\"intermediate_size\": 16384, \"max_position_embeddings\": 8192, \"model_type\": \"gemma\", \"num_attention_heads\": 8, "
     "\"num_hidden_layers\": 18, \"num_key_value_heads\": 1, \"pad_token_id\": 0, \"rms_norm_eps\": 1e-06, "
     "\"rope_scaling\": null, \"rope_theta\": 10000.0, \"vocab_size\": 256000}",
     18, 2048, 8, 1, 256, 16384, 8192, 0, 0, true},
    {"gemma-3-1b-pt",
     "{\"architectures\": [\"Gemma3ForCausalLM\"], \"attention_bias\": false, \"attn_logit_softcapping\": null, "
     "\"bos_token_id\": 2, \"cache_implementation\": \"hybrid\", \"eos_token_id\": 1, \"final_logit_softcapping\": null, "
     "\"head_dim\": 256, \"hidden_activation\": \"gelu_pytorch_tanh\", \"hidden_size\": 1152, \"intermediate_size\": 6912, "
     "\"max_position_embeddings\": 32768, \"model_type\": \"gemma3_text\", \"num_attention_heads\": 4, "
     "\"num_hidden_layers\": 26, \"num_key_value_heads\": 1, \"pad_token_id\": 0, \"query_pre_attn_scalar\": 256, "
     "\"rms_norm_eps\": 1e-06, \"rope_local_base_freq\": 10000, \"rope_scaling\": null, \"rope_theta\": 1000000, "
     "\"sliding_window\": 512, \"sliding_window_pattern\": 6, \"vocab_size\": 262144}",
     26, 1152, 4, 1, 256, 6912, 32768, 0, 512, true},
    {"Phi-3-mini-4k-instruct",
     "{\"architectures\": [\"Phi3ForCausalLM\"], \"attention_dropout\": 0.0, \"auto_map\": {\"AutoConfig\": "
     "\"configuration_phi3.Phi3Config\"}, \"bos_token_id\": 1, \"embd_pdrop\": 0.0, \"eos_token_id\": 32000, "
     "\"hidden_act\": \"silu\", \"hidden_size\": 3072, \"intermediate_size\": 8192, \"max_position_embeddings\": 4096, "
     "\"model_type\": \"phi3\", \"num_attention_heads\": 32, \"num_hidden_layers\": 32, \"num_key_value_heads\": 32, "
     "\"original_max_position_embeddings\": 4096, \"pad_token_id\": 32000, \"resid_pdrop\": 0.0, \"rms_norm_eps\": 1e-05, "
     "\"rope_scaling\": null, \"rope_theta\": 10000.0, \"sliding_window\": 2047, \"tie_word_embeddings\": false, "
     "\"attention_bias\": false, \"vocab_size\": 32064}",
     32, 3072, 32, 32, 96, 8192, 4096, 0, 2047, false},
    {"Phi-4-mini-instruct", /* its long_factor, which rapt does not read, is left out */
     "{\"architectures\": [\"Phi3ForCausalLM\"], \"attention_bias\": false, \"attention_dropout\": 0.0, "
     "\"auto_map\": {\"AutoConfig\": \"configuration_phi3.Phi3Config\"}, \"bos_token_id\": 199999, \"embd_pdrop\": 0.0, "
     "\"eos_token_id\": 199999, \"full_attn_mod\": 1, \"hidden_act\": \"silu\", \"hidden_size\": 3072, "
     "\"initializer_range\": 0.02, \"intermediate_size\": 8192, \"interpolate_factor\": 1, \"lm_head_bias\": false, "
     "\"max_position_embeddings\": 131072, \"mlp_bias\": false, \"model_type\": \"phi3\", \"num_attention_heads\": 24, "
     "\"num_hidden_layers\": 32, \"num_key_value_heads\": 8, "
     "\"original_max_position_embeddings\": 4096, \"pad_token_id\": 199999, "
     "\"partial_rotary_factor\": 0.75, \"resid_pdrop\": 0.0, \"rms_norm_eps\": 1e-05, \"rope_scaling\": {\"short_factor\": ["
     TWELVE("1.0, 1.0, 1.0, 1.0") "], \"type\": \"longrope\"}, \"rope_theta\": 10000.0, \"sliding_window\": 262144, "
     "\"tie_word_embeddings\": true, \"torch_dtype\": \"bfloat16\", \"use_cache\": true, \"vocab_size\": 200064}",
     32, 3072, 24, 8, 128, 8192, 4096, 96, 262144, true},
    {"SmolLM3-3B",
     "{\"architectures\": [\"SmolLM3ForCausalLM\"], \"attention_bias\": false, \"attention_dropout\": 0.0, "
     "\"bos_token_id\": 128000, \"eos_token_id\": 128012, \"hidden_act\": \"silu\", \"hidden_size\": 2048, "
     "\"initializer_range\": 0.02, \"intermediate_size\": 11008, \"layer_types\": ["
     THREE(TWELVE("\"full_attention\"")) "], \"max_position_embeddings\": 65536, \"max_window_layers\": 28, "
     "\"mlp_bias\": false, \"model_type\": \"smollm3\", \"no_rope_layer_interval\": 4, \"no_rope_layers\": ["
     THREE(THREE("1, 1, 1, 0")) "], \"num_attention_heads\": 16, \"num_hidden_layers\": 36, \"num_key_value_heads\": 4, "
     "\"pad_token_id\": 128004, \"pretraining_tp\": 2, \"rms_norm_eps\": 1e-06, \"rope_scaling\": null, "
     "\"rope_theta\": 5000000.0, \"sliding_window\": null, \"torch_dtype\": \"bfloat16\", \"use_cache\": true, "
     "\"use_sliding_window\": false, \"vocab_size\": 128256}",
     36, 2048, 16, 4, 128, 11008, 65536, 0, 0, true},
    {"granite-3.0-2b-base",
     "{\"architectures\": [\"GraniteForCausalLM\"], \"attention_bias\": false, \"attention_dropout\": 0.1, "
     "\"attention_multiplier\": 0.015625, \"bos_token_id\": 0, \"embedding_multiplier\": 12.0, \"eos_token_id\": 0, "
     "\"hidden_act\": \"silu\", \"hidden_size\": 2048, \"intermediate_size\": 8192, \"logits_scaling\": 8.0, "
     "\"max_position_embeddings\": 4096, \"mlp_bias\": false, \"model_type\": \"granite\", \"num_attention_heads\": 32, "
     "\"num_hidden_layers\": 40, \"num_key_value_heads\": 8, \"pad_token_id\": 0, \"residual_multiplier\": 0.22, "
     "\"rms_norm_eps\": 1e-05, \"rope_scaling\": null, \"rope_theta\": 10000, \"tie_word_embeddings\": true, "
     "\"vocab_size\": 49152}",
     40, 2048, 32, 8, 64, 8192, 4096, 0, 0, true},
    {"OLMo-2-0425-1B",
     "{\"architectures\": [\"Olmo2ForCausalLM\"], \"attention_bias\": false, \"attention_dropout\": 0.0, "
     "\"eos_token_id\": 100257, \"hidden_act\": \"silu\", \"hidden_size\": 2048, \"intermediate_size\": 8192, "
     "\"max_position_embeddings\": 4096, \"model_type\": \"olmo2\", \"num_attention_heads\": 16, "
     "\"num_hidden_layers\": 16, \"num_key_value_heads\": 16, "
     "\"pad_token_id\": 100277, \"rms_norm_eps\": 1e-06, \"rope_scaling\": null, \"rope_theta\": 500000, "
     "\"tie_word_embeddings\": false, \"vocab_size\": 100352}",
     16, 2048, 16, 16, 128, 8192, 4096, 0, 0, false},
    {"starcoder2-3b",
     "{\"architectures\": [\"Starcoder2ForCausalLM\"], \"attention_dropout\": 0.1, \"bos_token_id\": 0, "
     "\"embedding_dropout\": 0.1, \"eos_token_id\": 0, \"hidden_act\": \"gelu_pytorch_tanh\", \"hidden_size\": 3072, "
     "\"initializer_range\": 0.018042, \"intermediate_size\": 12288, \"max_position_embeddings\": 16384, "
     "\"mlp_type\": \"default\", \"model_type\": \"starcoder2\", \"norm_epsilon\": 1e-05, \"norm_type\": \"layer_norm\", "
     "\"num_attention_heads\": 24, \"num_hidden_layers\": 30, \"num_key_value_heads\": 2, \"residual_dropout\": 0.1, "
     "\"rope_theta\": 999999.4420358813, \"sliding_window\": 4096, \"use_bias\": true, \"use_cache\": true, "
     "\"vocab_size\": 49152}",
     30, 3072, 24, 2, 128, 12288, 16384, 0, 4096, true},
    {"bloom-560m",
     "{\"apply_residual_connection_post_layernorm\": false, \"attention_dropout\": 0.0, \"attention_softmax_in_fp32\": true, "
     "\"architectures\": [\"BloomForCausalLM\"], \"bias_dropout_fusion\": true, \"bos_token_id\": 1, \"eos_token_id\": 2, "
     "\"pad_token_id\": 3, \"unk_token_id\": 0, \"hidden_dropout\": 0.0, \"initializer_range\": 0.02, "
     "\"layer_norm_epsilon\": 1e-05, \"masked_softmax_fusion\": true, \"model_type\": \"bloom\", \"n_embed\": 1024, "
     "\"n_inner\": null, \"n_layer\": 24, \"num_attention_heads\": 16, \"offset_alibi\": 100, \"pretraining_tp\": 1, "
     "\"skip_bias_add\": true, \"skip_bias_add_qkv\": false, \"use_cache\": true, \"vocab_size\": 250880}",
     24, 1024, 16, 16, 0, 4096, 2048, 0, 0, true}};

#define SAME(m, value, expected)                                                                                         \
    if ((value) != (expected))                                                                                           \
        fail_msg("%s: %s is %zu, not %zu", (m)->name, #value, (size_t)(value), (size_t)(expected))

static void check_published(const published *m)
{
    json_error_t where;
    rapt_error err = {0};
    rapt_lm_config k = {0};
    json_t *root = json_loads(m->config, 0, &where);
    assert_non_null(root);
    hub_config c = {.root = root, .path = "config.json", .err = &err};
    hub_summary summary;
    char path[] = "config.json";
    const model_source from = {.config = root, .config_path = path};
    if (hub_model_check(&from, NULL, &summary, &err))
        fail_msg("%s: %s", m->name, err.message);
    hub_family_of(json_string_value(json_object_get(root, "model_type")))->read(&c, &k);
    SAME(m, k.layers, m->layers);
    SAME(m, k.block.d_model, m->d_model);
    SAME(m, k.block.heads, m->heads);
    SAME(m, k.block.kv_heads, m->kv_heads);
    SAME(m, k.block.head_dim, m->head_dim);
    SAME(m, k.block.ffn, m->ffn);
    SAME(m, k.context, m->context);
    SAME(m, k.block.rotary_dim, m->rotary_dim);
    SAME(m, k.window, m->window);
    SAME(m, k.tied, m->tied);
    json_object_set_new(root, "num_experts", json_integer(8));
    assert_int_equal(hub_model_check(&from, NULL, &summary, &err), RAPT_ERR_FORMAT);
    assert_string_equal(err.message, "config.json: \"num_experts\" is 8: rapt does not know what this key changes");
    json_decref(root);
}

static void published_models_are_accepted(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof MODELS / sizeof *MODELS; i++)
        check_published(&MODELS[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(published_models_are_accepted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
