/* tests/io/test_hub_config.c: keys of config.json alone, without a folder: what Hugging Face transformers makes of them. For
 * src/io/hub. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "io/hub/hub_model.h"

#include "io/hub/hub_family.h"

#include <stdio.h>
#include <string.h>

/* A small decoder of a type with further keys: `k` as it is read, or the message in `err`. */
static void read_decoder(const char *type, const char *keys, rapt_lm_config *k, rapt_error *err)
{
    char text[2048], path[] = "config.json";
    json_error_t where;
    hub_summary summary;
    snprintf(text, sizeof text,
             "{\"model_type\": \"%s\", \"vocab_size\": 64, \"hidden_size\": 32, \"num_hidden_layers\": 8, "
             "\"num_attention_heads\": 4, \"num_key_value_heads\": 2, "
             "\"intermediate_size\": 48%s%s}", type, *keys ? ", " : "", keys);
    json_t *root = json_loads(text, 0, &where);
    assert_non_null(root);
    hub_config c = {.root = root, .path = path, .err = err};
    const model_source from = {.config = root, .config_path = path};
    if (hub_model_check(&from, NULL, &summary, err) == RAPT_OK)
        hub_family_of(type)->read(&c, k);
    json_decref(root);
}

/* In Gemma 3 all layers except every sixth have windows; transformers writes the key with an underscore, and does not read it. */
static void windows_of_gemma3_follow_the_pattern_that_is_read(void **state)
{
    static const struct {
        const char *keys;
        uint64_t layers;
    } cases[] = {{"", 0xdf}, {"\"sliding_window_pattern\": 2", 0x55}, {"\"_sliding_window_pattern\": 2", 0xdf}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_lm_config k = {0};
        rapt_error err = {0};
        read_decoder("gemma3_text", cases[i].keys, &k, &err);
        assert_string_equal(err.message, "");
        assert_int_equal(k.windowed.bits[0], cases[i].layers);
    }
}

/* Phi-3's module also knows longrope by older names, and prefers the key beside the object, whose default is 4096. YaRN without
 * an original context takes the number of all positions, 2048 in a Llama. */
static void types_of_positions_are_those_of_their_class(void **state)
{
#define LONG(type) "{\"type\": \"" type "\", \"short_factor\": [1, 1, 2, 2]"
    static const struct {
        const char *type, *keys;
        rapt_rotary_kind kind;
        size_t original, context;
    } cases[] = {
        {"phi3", "\"original_max_position_embeddings\": 48, \"rope_scaling\": " LONG("su") "}", RAPT_ROTARY_LONG, 48, 48},
        {"phi3", "\"original_max_position_embeddings\": 48, \"rope_scaling\": " LONG("yarn") "}", RAPT_ROTARY_LONG, 48, 48},
        {"phi3", "\"max_position_embeddings\": 9000, \"rope_scaling\": " LONG("longrope") "}", RAPT_ROTARY_LONG, 4096, 4096},
        {"phi3", "\"original_max_position_embeddings\": 48, \"rope_scaling\": " LONG("longrope")
         ", \"original_max_position_embeddings\": 50}", RAPT_ROTARY_LONG, 48, 48},
        {"llama", "\"rope_scaling\": " LONG("longrope") ", \"original_max_position_embeddings\": 50}", RAPT_ROTARY_LONG, 50, 50},
        {"llama", "\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 4}", RAPT_ROTARY_YARN, 2048, 2048}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_lm_config k = {0};
        rapt_error err = {0};
        read_decoder(cases[i].type, cases[i].keys, &k, &err);
        assert_string_equal(err.message, "");
        assert_int_equal(k.rotary_scaling.kind, cases[i].kind);
        assert_int_equal(k.rotary_scaling.original, cases[i].original);
        assert_int_equal(k.context, cases[i].context);
    }
}

/* A message shows the value that it is about, wherever that is. */
static void what_is_refused_is_shown(void **state)
{
    static const char *const cases[][3] = {
        {"llama", "\"rope_parameters\": {\"rope_theta\": -1}", "\"rope_theta\" is -1: it must be a number from 1 to 1e+12"},
        {"llama", "\"rope_theta\": 0", "\"rope_theta\" is 0: it must be a number from 1 to 1e+12"},
        {"gpt_neox", "\"rotary_emb_base\": 0.5", "\"rotary_emb_base\" is 0.5: it must be a number from 1 to 1e+12"},
        {"gpt_neox", "\"rope_parameters\": {\"partial_rotary_factor\": 0.4}",
         "\"rope_parameters\" is {\"partial_rotary_factor\":0.4}: rotary positions turn pairs of features of a head"},
        {"llama", "\"rope_scaling\": {\"partial_rotary_factor\": 0.5}",
         "\"rope_scaling\" is {\"partial_rotary_factor\":0.5}: of such models rapt rotates all features of a head"},
        {"llama", "\"head_dim\": 10, \"rope_parameters\": " LONG("longrope")
         ", \"original_max_position_embeddings\": 5, \"long_factor\": [1]}",
         "\"rope_parameters\" is {\"long_factor\":[1],\"original_max_position_embeddings\":5,\"short_factor\":[1,1,2,2],"
         "\"type\":\"longrope\"}: "},
        {"gemma3_text", "\"rope_scaling\": " LONG("longrope") ", \"original_max_position_embeddings\": 5}",
         "\"rope_scaling\" is {"},
        {"gemma3_text", "\"rope_local_base_freq\": -2", "\"rope_local_base_freq\" is -2: "}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_lm_config k = {0};
        rapt_error err = {0};
        read_decoder(cases[i][0], cases[i][1], &k, &err);
        if (strncmp(err.message, "config.json: ", 13) != 0 || strncmp(err.message + 13, cases[i][2], strlen(cases[i][2])) != 0)
            fail_msg("%s with %s: %s", cases[i][0], cases[i][1], err.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(windows_of_gemma3_follow_the_pattern_that_is_read),
                                       cmocka_unit_test(types_of_positions_are_those_of_their_class),
                                       cmocka_unit_test(what_is_refused_is_shown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
