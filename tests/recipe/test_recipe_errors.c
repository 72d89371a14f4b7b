/* tests/recipe/test_recipe_errors.c: what is wrong with a recipe or an assignment, to the word, with its line. For
 * src/recipe/recipe*.c. tests/fuzz/fuzz_recipe.c is the fuzzer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rapt/recipe.h"
#include "base/synonyms.h"
#include "recipe/recipe_keys.h"
#include "recipe/recipe_read.h"

/* A text that is no recipe, and the whole message. */
static const struct {
    const char *text;
    rapt_code code;
    const char *message;
} malformed[] = {
    {"", RAPT_ERR_FORMAT, "r.yaml: the recipe is empty"},
    {"# only a comment\n", RAPT_ERR_FORMAT, "r.yaml: the recipe is empty"},
    {"text", RAPT_ERR_FORMAT, "r.yaml:1: a recipe is a list of \"key: value\" lines"},
    {"- seed: 1", RAPT_ERR_FORMAT, "r.yaml:1: a recipe is a list of \"key: value\" lines"},
    {"seed: 1\n---\nseed: 2\n", RAPT_ERR_FORMAT, "r.yaml:2: a recipe is one YAML document; here starts a second"},
    {"seed: 1\nmodel:\n  layers: 2\n  laiers: 2\n", RAPT_ERR_VALUE,
     "r.yaml:4: unknown key \"model.laiers\"; did you mean \"model.layers\"?"},
    {"layers: 2\n", RAPT_ERR_VALUE, "r.yaml:1: unknown key \"layers\"; did you mean \"model.layers\"?"},
    {"modle:\n  layers: 2\n", RAPT_ERR_VALUE, "r.yaml:1: unknown key \"modle\"; did you mean \"model\"?"},
    {"train:\n  quux: 2\n", RAPT_ERR_VALUE,
     "r.yaml:2: unknown key \"train.quux\""},
    {"train:\n\n  lr: -1\n", RAPT_ERR_VALUE, "r.yaml:3: train.lr is -1; it must be above 0 and at most 10"},
    {"train: {lr: 0}", RAPT_ERR_VALUE, "r.yaml:1: train.lr is 0; it must be above 0 and at most 10"},
    {"train: {lr: 1e999}", RAPT_ERR_VALUE, "r.yaml:1: train.lr is 1e999; it must be above 0 and at most 10"},
    {"train: {lr: fast}", RAPT_ERR_VALUE,
     "r.yaml:1: train.lr is \"fast\"; it must be a number above 0 and at most 10"},
    {"train: {lr: nan}", RAPT_ERR_VALUE,
     "r.yaml:1: train.lr is \"nan\"; it must be a number above 0 and at most 10"},
    {"train: {lr: 0x1}", RAPT_ERR_VALUE,
     "r.yaml:1: train.lr is \"0x1\"; it must be a number above 0 and at most 10"},
    {"train: {lr: 1-1}", RAPT_ERR_VALUE,
     "r.yaml:1: train.lr is \"1-1\"; it must be a number above 0 and at most 10"},
    {"train: {lr: }", RAPT_ERR_VALUE, "r.yaml:1: train.lr is \"\"; it must be a number above 0 and at most 10"},
    {"train: {beta2: 1}", RAPT_ERR_VALUE, "r.yaml:1: train.beta2 is 1; it must be at least 0 and below 1"},
    {"train: {eps: 1e-13}", RAPT_ERR_VALUE, "r.yaml:1: train.eps is 1e-13; it must be from 1e-12 to 1"},
    {"model: {layers: 65}", RAPT_ERR_VALUE, "r.yaml:1: model.layers is 65; it must be from 1 to 64"},
    {"model: {layers: 2.0}", RAPT_ERR_VALUE,
     "r.yaml:1: model.layers is \"2.0\"; it must be a whole number from 1 to 64"},
    {"model: {layers: -}", RAPT_ERR_VALUE,
     "r.yaml:1: model.layers is \"-\"; it must be a whole number from 1 to 64"},
    {"seed: 9007199254740993", RAPT_ERR_VALUE,
     "r.yaml:1: seed is 9007199254740993; it must be from 0 to 9007199254740992"},
    {"seed: 99999999999999999999", RAPT_ERR_VALUE,
     "r.yaml:1: seed is 99999999999999999999; it must be from 0 to 9007199254740992"},
    {"data: {pad: none}", RAPT_ERR_VALUE, "r.yaml:1: data.pad is \"none\"; it must be longest or fixed"},
    {"data: {too_long: cu}", RAPT_ERR_VALUE, "r.yaml:1: data.too_long is \"cu\"; it must be cut, drop or error"},
    {"model: {bias: yes}", RAPT_ERR_VALUE, "r.yaml:1: model.bias is \"yes\"; it must be true or false"},
    {"seed: 1\nseed: 1\n", RAPT_ERR_VALUE, "r.yaml:2: seed comes twice; first in line 1"},
    {"train: {lr: 1}\nmodel: {}\ntrain: {}\n", RAPT_ERR_VALUE, "r.yaml:3: train comes twice; first in line 1"},
    {"model: 3", RAPT_ERR_VALUE, "r.yaml:1: model is a group of keys; it has no value itself"},
    {"seed: {a: 1}", RAPT_ERR_VALUE, "r.yaml:1: seed is one value, not a group of keys"},
    {"model: {layers: {a: 1}}", RAPT_ERR_VALUE, "r.yaml:1: model.layers is one value, not a group of keys"},
    {"model: {quantization: {a: 1}}", RAPT_ERR_VALUE,
     "r.yaml:1: unknown key \"model.quantization\""},
    {"seed: [1]", RAPT_ERR_FORMAT, "r.yaml:1: a list; lists are for data.pairs, data.validation and data.text"},
    {"seed: &a 1", RAPT_ERR_FORMAT, "r.yaml:1: recipes have no anchors, aliases, tags or compound keys"},
    {"seed: !!int 1", RAPT_ERR_FORMAT, "r.yaml:1: recipes have no anchors, aliases, tags or compound keys"},
    {"seed: *a", RAPT_ERR_FORMAT, "r.yaml:1: recipes have no anchors, aliases, tags or compound keys"},
    {"model: &a {layers: 2}", RAPT_ERR_FORMAT, "r.yaml:1: recipes have no anchors, aliases or tags"},
    {"{a: b}: 1", RAPT_ERR_FORMAT, "r.yaml:1: recipes have no anchors, aliases, tags or compound keys"},
    {"data:\n  pairs: \"a\\0b\"", RAPT_ERR_FORMAT, "r.yaml:2: a text holds a NUL character"},
    /* ranges and words of keys that language models brought */
    {"task: lm", RAPT_ERR_VALUE, "r.yaml:1: task is \"lm\"; it must be translation or language_model"},
    {"data: {validation_tokens: -1}", RAPT_ERR_VALUE, "r.yaml:1: data.validation_tokens is -1; it must be from 0 to "
     "9007199254740992"},
    {"data: {validation_fraction: 0.51}", RAPT_ERR_VALUE, "r.yaml:1: data.validation_fraction is 0.51; it must be from 0 to 0.5"},
    {"tokenizer: {type: gpt2}", RAPT_ERR_VALUE,
     "r.yaml:1: tokenizer.type is \"gpt2\"; it must be words, characters, bpe, file, cl100k_base, o200k_base or r50k_base"},
    {"tokenizer: {vocab_size: 256}", RAPT_ERR_VALUE,
     "r.yaml:1: tokenizer.vocab_size is 256; it must be 0, or from 257 to 1000000"},
    {"tokenizer: {vocab_size: 1000001}", RAPT_ERR_VALUE,
     "r.yaml:1: tokenizer.vocab_size is 1000001; it must be 0, or from 257 to 1000000"},
    {"model: {preset: gpt3}", RAPT_ERR_VALUE, "r.yaml:1: model.preset is \"gpt3\"; it must be none, seed or gpt2"},
    {"model: {kv_heads: 129}", RAPT_ERR_VALUE, "r.yaml:1: model.kv_heads is 129; it must be from 0 to 128"},
    {"model: {ffn_kind: elu}", RAPT_ERR_VALUE,
     "r.yaml:1: model.ffn_kind is \"elu\"; it must be relu, gelu, gelu_tanh, swiglu or silu"},
    {"model: {norm_kind: batch}", RAPT_ERR_VALUE, "r.yaml:1: model.norm_kind is \"batch\"; it must be layer or rms"},
    {"model: {shared_norm: 1}", RAPT_ERR_VALUE, "r.yaml:1: model.shared_norm is \"1\"; it must be true or false"},
    {"model: {output_bias: no}", RAPT_ERR_VALUE, "r.yaml:1: model.output_bias is \"no\"; it must be true or false"},
    {"model: {positions: kerple}", RAPT_ERR_VALUE,
     "r.yaml:1: model.positions is \"kerple\"; it must be sinusoidal, learned, rotary, none or alibi"},
    {"model: {rotary_base: 0.5}", RAPT_ERR_VALUE, "r.yaml:1: model.rotary_base is 0.5; it must be from 1 to 1000000000"},
    {"model: {context: 1}", RAPT_ERR_VALUE, "r.yaml:1: model.context is 1; it must be from 2 to 1000000"},
    {"model: {vocab: all}", RAPT_ERR_VALUE, "r.yaml:1: model.vocab is \"all\"; it must be tokenizer or text"},
    {"model: {init: normal}", RAPT_ERR_VALUE, "r.yaml:1: model.init is \"normal\"; it must be xavier, pytorch or gpt2"},
    {"model: {std: 0}", RAPT_ERR_VALUE, "r.yaml:1: model.std is 0; it must be above 0 and at most 10"},
    {"model: {embedding_std: -0.1}", RAPT_ERR_VALUE, "r.yaml:1: model.embedding_std is -0.1; it must be from 0 to 10"},
    {"train: {accumulate: 0}", RAPT_ERR_VALUE, "r.yaml:1: train.accumulate is 0; it must be from 1 to 65536"},
    {"train: {shards: 0}", RAPT_ERR_VALUE, "r.yaml:1: train.shards is 0; it must be from 1 to 65536"},
    {"train: {lazy: lazy}", RAPT_ERR_VALUE, "r.yaml:1: train.lazy is \"lazy\"; it must be true or false"},
    {"train: {sample_every: -1}", RAPT_ERR_VALUE, "r.yaml:1: train.sample_every is -1; it must be from 0 to 9007199254740992"},
    {"train: {sample_tokens: 0}", RAPT_ERR_VALUE, "r.yaml:1: train.sample_tokens is 0; it must be from 1 to 100000"},
    {"train:\n  sample_prompt: \"a\\0b\"", RAPT_ERR_FORMAT, "r.yaml:2: a text holds a NUL character"},
    /* a preset sets other keys: behind them it would undo what was said */
    {"model:\n  layers: 2\n  preset: gpt2\n", RAPT_ERR_VALUE,
     "r.yaml:3: model.preset sets the keys of model; it must come before model.layers"},
    {"model: {dropout: 0, preset: none}", RAPT_ERR_VALUE,
     "r.yaml:1: model.preset sets the keys of model; it must come before model.dropout"},
    {"model: {preset: seed, preset: gpt2}", RAPT_ERR_VALUE, "r.yaml:1: model.preset comes twice; first in line 1"},
};

static void errors_name_line_and_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        rapt_error err = {0};
        rapt_recipe r;
        rapt_code code = recipe_parse("r.yaml", malformed[i].text, strlen(malformed[i].text), false, &r, &err);
        assert_string_equal(err.message, malformed[i].message);
        assert_int_equal(code, malformed[i].code);
        assert_int_equal(r.model.layers, 2); /* the defaults, and nothing to free */
        assert_null(r.data.pairs);
    }
}

/* Here libyaml words the reason; ours is the place. */
static void not_yaml_at_all(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size;
        const char *starts;
    } cases[] = {
        {"seed: 1\nmodel: {layers: 2\n", 26, "r.yaml:3: not YAML: "},
        {"train:\n  lr: 1\n epochs: 3\n", 26, "r.yaml:3: not YAML: "},
        {"\tseed: 1", 8, "r.yaml:1: not YAML: a tab; lines are indented with spaces"},
        {"seed: 1\n# \xFF\n", 12, "r.yaml:2: not YAML: "},
        {"seed: 1\n\n\0", 10, "r.yaml:3: not YAML: "},
        {"\xFF\xFEs\0e\0", 6, "r.yaml:1: not YAML: "}, /* UTF-16 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        rapt_recipe r;
        assert_int_equal(recipe_parse("r.yaml", cases[i].text, cases[i].size, false, &r, &err), RAPT_ERR_FORMAT);
        assert_int_equal(strncmp(err.message, cases[i].starts, strlen(cases[i].starts)), 0);
        assert_null(strchr(err.message, '\n'));
    }
}

static void wrong_assignments(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"train.lr=-1", "--set train.lr=-1: train.lr is -1; it must be above 0 and at most 10"},
        {"model.laiers=2",
         "--set model.laiers=2: unknown key \"model.laiers\"; did you mean \"model.layers\"?"},
        {"seed", "--set seed: an assignment is KEY=VALUE"},
        {"", "--set : an assignment is KEY=VALUE"},
        {"=1", "--set =1: unknown key \"\""},
        {"train=1", "--set train=1: train is a group of keys; it has no value itself"},
        {"data.pairs=\xC3", "--set data.pairs=?: data.pairs is not UTF-8 text"},
        {"seed=1\n2",
         "--set seed=1?2: seed is \"1?2\"; it must be a whole number from 0 to 9007199254740992"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_recipe r;
        rapt_error err = {0};
        rapt_recipe_defaults(&r);
        assert_int_equal(rapt_recipe_set(&r, cases[i][0], &err), RAPT_ERR_VALUE);
        assert_string_equal(err.message, cases[i][1]);
        assert_true(r.train.lr == 0.002 && r.seed == 1);
    }
}

/* What the parameters are called in d2l's classes, in nanoGPT's train.py, in configurations and TrainingArguments of
 * transformers, in PyTorch's nn.Transformer, and in fairseq-train. */
static void names_of_others_are_known(void **state)
{
    static const char *const cases[][2] = {
        /* d2l */ {"num_hiddens", "model.d_model"}, {"ffn_num_hiddens", "model.ffn"}, {"num_heads", "model.heads"},
        {"num_blks", "model.layers"}, {"num_layers", "model.layers"}, {"batch_size", "train.batch"},
        {"num_steps", "data.max_len"},
        {"num_epochs", "train.epochs"}, {"lr", "train.lr"}, {"dropout", "model.dropout"},
        /* nanoGPT */ {"n_layer", "model.layers"}, {"n_head", "model.heads"}, {"n_embd", "model.d_model"},
        {"block_size", "model.context"}, {"learning_rate", "train.lr"}, {"max_iters", "train.steps"},
        {"min_lr", "train.lr_end"},
        {"warmup_iters", "train.warmup"}, {"grad_clip", "train.clip"}, {"beta1", "train.beta1"},
        {"gradient_accumulation_steps", "train.accumulate"}, {"eval_interval", "train.report_every"},
        /* transformers */ {"hidden_size", "model.d_model"}, {"num_hidden_layers", "model.layers"},
        {"vocab_size", "tokenizer.vocab_size"}, {"weight_decay", "train.weight_decay"},
        {"num_attention_heads", "model.heads"}, {"num_key_value_heads", "model.kv_heads"}, {"intermediate_size", "model.ffn"},
        {"max_position_embeddings", "model.max_positions"}, {"hidden_act", "model.ffn_kind"}, {"rope_theta", "model.rotary_base"},
        {"tie_word_embeddings", "model.tied"}, {"warmup_steps", "train.warmup"}, {"max_grad_norm", "train.clip"},
        {"per_device_train_batch_size", "train.batch"}, {"num_train_epochs", "train.epochs"}, {"max_steps", "train.steps"},
        {"label_smoothing_factor", "train.label_smoothing"}, {"lr_scheduler_type", "train.schedule"},
        {"metric_for_best_model", "train.best_by"},
        /* PyTorch */ {"d_model", "model.d_model"}, {"nhead", "model.heads"}, {"dim_feedforward", "model.ffn"},
        {"num_encoder_layers", "model.layers"},
        /* fairseq */ {"clip-norm", "train.clip"}, {"update-freq", "train.accumulate"},
        {"label-smoothing", "train.label_smoothing"},
        /* JoeyNMT, Sockeye */ {"early_stopping_metric", "train.best_by"}, {"optimized-metric", "train.best_by"},
        {"decrease_factor", "train.plateau.factor"}, {"learning-rate-reduce-num-not-improved", "train.plateau.patience"},
        /* with a group, right or not */ {"model.num_heads", "model.heads"}, {"train.d_model", "model.d_model"},
        {"model.N_LAYER", "model.layers"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_recipe r;
        rapt_error err = {0};
        char assignment[64], wanted[200];
        rapt_recipe_defaults(&r);
        snprintf(assignment, sizeof assignment, "%s=2", cases[i][0]);
        snprintf(wanted, sizeof wanted, "--set %s: unknown key \"%s\"; did you mean \"%s\"?", assignment, cases[i][0],
                 cases[i][1]);
        assert_int_equal(rapt_recipe_set(&r, assignment, &err), RAPT_ERR_VALUE);
        assert_string_equal(err.message, wanted);
    }
}

/* A key that is renamed must be renamed there, too. */
static void synonyms_name_keys(void **state)
{
    static const char *const ours[] = {
#define SYNONYM_OURS(other, ours) ours,
        SYNONYMS(SYNONYM_OURS)};
    (void)state;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strchr(ours[i], '.') && !recipe_key_find(ours[i]))
            fail_msg("%s is no key", ours[i]);
}

static void long_texts_have_a_limit(void **state)
{
    (void)state;
    rapt_recipe r;
    rapt_error err = {0};
    char *text = malloc(70000);
    memset(text, 'x', 70000);
    memcpy(text, "data.pairs=", 11);
    text[11 + 65537] = '\0';
    rapt_recipe_defaults(&r);
    assert_int_equal(rapt_recipe_set(&r, text, &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "data.pairs has 65537 bytes; at most 65536 are allowed"));
    text[11 + 65536] = '\0';
    assert_int_equal(rapt_recipe_set(&r, text, NULL), RAPT_OK);
    rapt_recipe_free(&r);
    memset(text, 'k', 5000);
    text[4999] = '=';
    text[5000] = '\0';
    err = (rapt_error){0};
    assert_int_equal(rapt_recipe_set(&r, text, &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "unknown key"));
    free(text);
}

static void unreadable_files(void **state)
{
    (void)state;
    rapt_recipe r;
    rapt_error err = {0};
    assert_int_equal(rapt_recipe_read("/nowhere/r.yaml", &r, &err), RAPT_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "/nowhere/r.yaml"));
    assert_int_equal(r.model.layers, 2);
    err = (rapt_error){0};
    assert_int_equal(rapt_recipe_read("/tmp", &r, &err), RAPT_ERR_IO);
    err = (rapt_error){0};
    assert_int_equal(rapt_recipe_read("/dev/null", &r, &err), RAPT_ERR_IO);
    assert_string_equal(err.message, "cannot read /dev/null: not a regular file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_name_line_and_reason),
        cmocka_unit_test(not_yaml_at_all),
        cmocka_unit_test(wrong_assignments),
        cmocka_unit_test(names_of_others_are_known),
        cmocka_unit_test(synonyms_name_keys),
        cmocka_unit_test(long_texts_have_a_limit),
        cmocka_unit_test(unreadable_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
