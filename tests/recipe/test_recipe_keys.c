/* tests/recipe/test_recipe_keys.c: every key of a recipe: its default, and that it is read and written. For
 * src/recipe/recipe*.c. The defaults are written down here once more, not taken from the table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/config_block.h"
#include "rapt/recipe.h"
#include "recipe/recipe_keys.h"
#include "recipe/recipe_read.h"

static rapt_code parse(const char *text, rapt_recipe *recipe, rapt_error *err)
{
    return recipe_parse("r.yaml", text, strlen(text), false, recipe, err);
}

/* These are of task translation; what a language model has otherwise is in test_recipe_defaults.c. */
static void defaults_of_data(void **state)
{
    (void)state;
    rapt_recipe r;
    memset(&r, 0xA5, sizeof r);
    rapt_recipe_defaults(&r);
    assert_int_equal(r.task, RAPT_TASK_TRANSLATION);
    assert_int_equal(r.seed, 1);
    assert_null(r.data.pairs);
    assert_null(r.data.text);
    assert_null(r.data.text_files);
    assert_int_equal(r.data.text_order, RAPT_RECIPE_TEXT_ORDER_NAMES);
    assert_true(r.data.special_tokens);
    assert_int_equal(r.data.limit, 0);
    assert_true(r.data.validation_fraction == 0.05);
    assert_int_equal(r.data.validation_tokens, 0);
    assert_int_equal(r.data.max_len, 50);
    assert_int_equal(r.data.too_long, RAPT_TOO_LONG_CUT);
    assert_int_equal(r.data.pad, RAPT_RECIPE_PAD_LONGEST);
    assert_int_equal(r.tokenizer.type, RAPT_RECIPE_TOKENIZER_BPE);
    assert_null(r.tokenizer.path);
    assert_int_equal(r.tokenizer.vocab_size, 0);
    assert_true(r.tokenizer.lowercase && r.tokenizer.shared);
    assert_int_equal(r.tokenizer.min_freq, 1);
    assert_int_equal(r.tokenizer.max_size, 0);
}

static void defaults_of_models(void **state)
{
    (void)state;
    rapt_recipe r;
    memset(&r, 0xA5, sizeof r);
    rapt_recipe_defaults(&r);
    assert_int_equal(r.model.preset, RAPT_RECIPE_PRESET_NONE);
    assert_int_equal(r.model.layers, 2);
    assert_int_equal(r.model.d_model, 128);
    assert_int_equal(r.model.heads, 4);
    assert_int_equal(r.model.kv_heads, 0);
    assert_int_equal(r.model.ffn, 256);
    assert_int_equal(r.model.ffn_kind, RAPT_FFN_RELU);
    assert_true(r.model.dropout == 0.1 && r.model.std == 0.02 && r.model.embedding_std == 0);
    assert_int_equal(r.model.norm_place, RAPT_NORM_PLACE_POST);
    assert_int_equal(r.model.norm_kind, RAPT_NORM_KIND_LAYER);
    assert_true(r.model.bias && r.model.scale_embedding && r.model.tied);
    assert_true(!r.model.shared_norm && !r.model.output_bias);
    assert_int_equal(r.model.positions, RAPT_POSITIONS_SINUSOIDAL);
    assert_true(r.model.rotary_base == 10000);
    assert_int_equal(r.model.context, 64);
    assert_int_equal(r.model.max_positions, 1000);
    assert_int_equal(r.model.vocab, RAPT_RECIPE_VOCAB_TOKENIZER);
    assert_int_equal(r.model.init, RAPT_WEIGHT_INIT_PYTORCH);
}

static void defaults_of_training(void **state)
{
    (void)state;
    rapt_recipe r;
    memset(&r, 0xA5, sizeof r);
    rapt_recipe_defaults(&r);
    assert_int_equal(r.train.epochs, 15);
    assert_int_equal(r.train.steps, 0);
    assert_int_equal(r.train.batch, 32);
    assert_int_equal(r.train.accumulate, 1);
    assert_int_equal(r.train.shards, 1);
    assert_int_equal(r.train.draw_by, RAPT_RECIPE_DRAW_BY_BATCH);
    assert_false(r.train.recompute);
    assert_true(r.train.lr == 0.002 && r.train.beta1 == 0.9 && r.train.beta2 == 0.999 && r.train.eps == 1e-8);
    assert_true(r.train.weight_decay == 0 && r.train.clip == 1 && r.train.label_smoothing == 0.1 && !r.train.lazy);
    assert_int_equal(r.train.reduction, RAPT_RECIPE_REDUCTION_TOKEN);
    assert_int_equal(r.train.schedule, RAPT_RECIPE_SCHEDULE_COSINE);
    assert_true(r.train.warmup == 100 && r.train.lr_end == 0);
    assert_true(r.train.report_every == 0 && r.train.checkpoint_every == 0);
    assert_int_equal(r.train.keep, 2);
    assert_false(r.train.keep_untrained);
    assert_false(r.train.tensorboard);
    assert_int_equal(r.train.sample_every, 0);
    assert_int_equal(r.train.sample_tokens, 100);
    assert_null(r.train.sample_prompt);
    assert_null(r.train.freeze);
    assert_null(r.train.init);
    assert_true(!r.train.vectors && !r.train.target_vectors && !r.train.freeze_vectors);
}

/* Every key, none at its default. No task knows them all, so that reading and writing are tested here, and checking
 * below. */
static const char all_keys[] =
    "# all keys\n"
    "task: language_model\n"
    "seed: 9007199254740992\n"
    "data: {pairs: 'x: #y', text: 'a b.txt:c', text_files: '*.c', text_order: shuffled, special_tokens: false,\n"
    "       conversations: talks.jsonl, preferences: p.jsonl,\n"
    "       limit: 600, validation_fraction: 0.25,\n"
    "       validation_tokens: 12345, max_len: 10, too_long: drop, pad: fixed}\n"
    "tokenizer:\n"
    "  type: o200k_base\n"
    "  path: ranks/o200k\n"
    "  vocab_size: 257\n"
    "  lowercase: false   # comment\n"
    "  min_freq: 2\n"
    "  max_size: 10000\n"
    "  shared: true\n"
    "model:\n"
    "  preset: gpt2\n"
    "  layers: 6\n"
    "  d_model: 512\n"
    "  heads: 8\n"
    "  kv_heads: 2\n"
    "  ffn: 2048\n"
    "  ffn_kind: swiglu\n"
    "  dropout: 0.3\n"
    "  norm_place: pre\n"
    "  norm_kind: rms\n"
    "  shared_norm: true\n"
    "  bias: false\n"
    "  output_bias: true\n"
    "  scale_embedding: false\n"
    "  tied: true\n"
    "  positions: rotary\n"
    "  rotary_base: 500000\n"
    "  context: 48\n"
    "  max_positions: 64\n"
    "  vocab: text\n"
    "  init: pytorch\n"
    "  std: 0.05\n"
    "  embedding_std: 0.02\n"
    "train:\n"
    "  epochs: 3\n"
    "  steps: 1000\n"
    "  batch: 128\n"
    "  accumulate: 4\n"
    "  shards: 3\n"
    "  recompute: true\n"
    "  lr: 7e-4\n"
    "  beta1: 0.8\n"
    "  beta2: 0.98\n"
    "  eps: 1e-9\n"
    "  weight_decay: 0.01\n"
    "  lazy: true\n"
    "  clip: 0\n"
    "  label_smoothing: 0.1\n"
    "  loss_on: all\n"
    "  dpo: {beta: 0.25, label_smoothing: 0.125}\n"
    "  reduction: book\n"
    "  schedule: cosine\n"
    "  warmup: 4000\n"
    "  lr_end: 1e-5\n"
    "  report_every: 50\n"
    "  checkpoint_every: 500\n"
    "  keep: 5\n"
    "  keep_untrained: true\n"
    "  tensorboard: true\n"
    "  sample_every: 100\n"
    "  sample_tokens: 7\n"
    "  sample_prompt: \"Once\\nupon \"\n"
    "  init: 'some/model'\n"
    "  freeze: \"encoder.*,*.bias\"\n"
    "  vectors: glove.txt\n"
    "  target_vectors: 'french vectors.bin'\n"
    "  freeze_vectors: true\n";

static void assert_all_model_keys(const rapt_recipe *r)
{
    assert_int_equal(r->model.preset, RAPT_RECIPE_PRESET_GPT2);
    assert_int_equal(r->model.layers, 6);
    assert_int_equal(r->model.d_model, 512);
    assert_int_equal(r->model.heads, 8);
    assert_int_equal(r->model.kv_heads, 2);
    assert_int_equal(r->model.ffn, 2048);
    assert_int_equal(r->model.ffn_kind, RAPT_FFN_SWIGLU);
    assert_true(r->model.dropout == 0.3 && r->model.std == 0.05 && r->model.embedding_std == 0.02);
    assert_int_equal(r->model.norm_place, RAPT_NORM_PLACE_PRE);
    assert_int_equal(r->model.norm_kind, RAPT_NORM_KIND_RMS);
    assert_true(r->model.shared_norm && r->model.output_bias);
    assert_true(!r->model.bias && !r->model.scale_embedding && r->model.tied);
    assert_int_equal(r->model.positions, RAPT_POSITIONS_ROTARY);
    assert_true(r->model.rotary_base == 500000);
    assert_int_equal(r->model.context, 48);
    assert_int_equal(r->model.max_positions, 64);
    assert_int_equal(r->model.vocab, RAPT_RECIPE_VOCAB_TEXT);
    assert_int_equal(r->model.init, RAPT_WEIGHT_INIT_PYTORCH);
}

static void assert_all_keys(const rapt_recipe *r)
{
    assert_int_equal(r->task, RAPT_TASK_LANGUAGE_MODEL);
    assert_true(r->seed == 9007199254740992);
    assert_string_equal(r->data.pairs, "x: #y");
    assert_string_equal(r->data.text, "a b.txt:c");
    assert_string_equal(r->data.text_files, "*.c");
    assert_int_equal(r->data.text_order, RAPT_RECIPE_TEXT_ORDER_SHUFFLED);
    assert_string_equal(r->data.conversations, "talks.jsonl");
    assert_string_equal(r->data.preferences, "p.jsonl");
    assert_false(r->data.special_tokens);
    assert_int_equal(r->data.limit, 600);
    assert_true(r->data.validation_fraction == 0.25);
    assert_int_equal(r->data.validation_tokens, 12345);
    assert_int_equal(r->data.max_len, 10);
    assert_int_equal(r->data.too_long, RAPT_TOO_LONG_DROP);
    assert_int_equal(r->data.pad, RAPT_RECIPE_PAD_FIXED);
    assert_int_equal(r->tokenizer.type, RAPT_RECIPE_TOKENIZER_O200K);
    assert_string_equal(r->tokenizer.path, "ranks/o200k");
    assert_int_equal(r->tokenizer.vocab_size, 257);
    assert_true(!r->tokenizer.lowercase && r->tokenizer.shared);
    assert_int_equal(r->tokenizer.min_freq, 2);
    assert_int_equal(r->tokenizer.max_size, 10000);
    assert_all_model_keys(r);
    assert_int_equal(r->train.epochs, 3);
    assert_int_equal(r->train.steps, 1000);
    assert_int_equal(r->train.batch, 128);
    assert_int_equal(r->train.accumulate, 4);
    assert_int_equal(r->train.shards, 3);
    assert_true(r->train.recompute);
    assert_true(r->train.lr == 0.0007 && r->train.beta1 == 0.8 && r->train.beta2 == 0.98 &&
                r->train.eps == 1e-9);
    assert_true(r->train.weight_decay == 0.01 && r->train.clip == 0 && r->train.label_smoothing == 0.1 && r->train.lazy);
    assert_int_equal(r->train.loss_on, RAPT_RECIPE_LOSS_ON_ALL);
    assert_true(r->train.dpo.beta == 0.25 && r->train.dpo.label_smoothing == 0.125);
    assert_int_equal(r->train.reduction, RAPT_RECIPE_REDUCTION_BOOK);
    assert_int_equal(r->train.schedule, RAPT_RECIPE_SCHEDULE_COSINE);
    assert_int_equal(r->train.warmup, 4000);
    assert_true(r->train.lr_end == 1e-5);
    assert_int_equal(r->train.report_every, 50);
    assert_int_equal(r->train.checkpoint_every, 500);
    assert_int_equal(r->train.keep, 5);
    assert_true(r->train.keep_untrained);
    assert_true(r->train.tensorboard);
    assert_int_equal(r->train.sample_every, 100);
    assert_int_equal(r->train.sample_tokens, 7);
    assert_string_equal(r->train.sample_prompt, "Once\nupon ");
    assert_string_equal(r->train.init, "some/model");
    assert_string_equal(r->train.freeze, "encoder.*,*.bias");
    assert_string_equal(r->train.vectors, "glove.txt");
    assert_string_equal(r->train.target_vectors, "french vectors.bin");
    assert_true(r->train.freeze_vectors);
}

static void every_key_is_read_and_written(void **state)
{
    (void)state;
    rapt_recipe r, again;
    rapt_error err = {0};
    char *yaml;
    assert_int_equal(parse(all_keys, &r, &err), RAPT_OK);
    assert_all_keys(&r);
    assert_int_equal(rapt_recipe_format(&r, &yaml, &err), RAPT_OK);
    assert_int_equal(parse(yaml, &again, &err), RAPT_OK);
    assert_all_keys(&again);
    free(yaml);
    rapt_recipe_free(&r);
    rapt_recipe_free(&again);
}

/* Every key is told as data, and its value can be taken and set again. */
static void keys_are_data(void **state)
{
    (void)state;
    rapt_recipe r, again;
    rapt_error err = {0};
    char *table;
    assert_int_equal(rapt_recipe_help(&table, &err), RAPT_OK);
    rapt_recipe_defaults(&r);
    assert_int_equal(rapt_recipe_set(&r, "model.layers=7", &err), RAPT_OK);
    assert_int_equal(rapt_recipe_set(&r, "data.pairs=a b.tsv", &err), RAPT_OK);
    rapt_recipe_defaults(&again);
    assert_true(rapt_recipe_key_count() > 80);
    for (size_t i = 0; i < rapt_recipe_key_count(); i++) {
        rapt_recipe_key key;
        char *value, assignment[512];
        rapt_recipe_key_at(i, &key);
        assert_non_null(strstr(table, key.name));
        assert_true(strlen(key.meaning) > 5 && strlen(key.range) > 0 && strlen(key.standard) > 0);
        assert_int_equal(rapt_recipe_get(&r, key.name, &value, &err), RAPT_OK);
        snprintf(assignment, sizeof assignment, "%s=%s", key.name, value);
        if (*value && rapt_recipe_set(&again, assignment, &err) != RAPT_OK)
            fail_msg("%s", err.message);
        if (strcmp(key.name, "model.layers") == 0)
            assert_string_equal(value, "7");
        if (strcmp(key.name, "data.pairs") == 0)
            assert_string_equal(value, "a b.tsv");
        if (strcmp(key.name, "train.lr") == 0)
            assert_string_equal(key.type, "float");
        free(value);
    }
    assert_int_equal(again.model.layers, 7);
    assert_string_equal(again.data.pairs, "a b.tsv");
    char *value;
    assert_int_equal(rapt_recipe_get(&r, "model.laiers", &value, &err), RAPT_ERR_VALUE);
    assert_null(value);
    assert_non_null(strstr(err.message, "model.layers"));
    rapt_recipe_free(&r);
    rapt_recipe_free(&again);
    free(table);
}

/* A recipe and the config.json of its model name a kind by the same word; base/rows.h sees to it that config.json has one for
 * each enumerator. */
static void words_are_those_of_config_json(void **state)
{
    (void)state;
    const struct {
        const char *key;
        const char *const *words;
    } cases[] = {{"model.ffn_kind", CONFIG_FFN_KINDS}, {"model.norm_place", CONFIG_NORM_PLACES}, {"model.init", CONFIG_INITS},
                 {"model.norm_kind", CONFIG_NORM_KINDS}, {"model.positions", CONFIG_POSITIONS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[100] = "";
        for (const char *const *word = cases[i].words; *word; word++)
            snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted), "%s%s", *wanted ? "|" : "", *word);
        assert_string_equal(recipe_key_find(cases[i].key)->words, wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_data),
        cmocka_unit_test(defaults_of_data),
        cmocka_unit_test(defaults_of_models),
        cmocka_unit_test(defaults_of_training),
        cmocka_unit_test(every_key_is_read_and_written),
        cmocka_unit_test(words_are_those_of_config_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
