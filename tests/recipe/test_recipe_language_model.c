/* tests/recipe/test_recipe_language_model.c: recipes of language models: words, presets, lists of paths, keys that do not
 * fit, and the recipes that come with rapt. For src/recipe/recipe*.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folder.h"
#include "parsed.h"
#include "rapt/recipe.h"

static void set(rapt_recipe *r, const char *assignment)
{
    rapt_error err = {0};
    rapt_recipe_set(r, assignment, &err);
    assert_string_equal(err.message, "");
}

/* ---- words ------------------------------------------------------------------------------------------------ */

/* Each word of a key in the order of the enum, whose first value is 0; the field's address tells which. */
static void check_words(rapt_recipe *r, const void *field, const char *key, const char *const *words)
{
    for (int i = 0; words[i]; i++) {
        char assignment[64];
        int value;
        snprintf(assignment, sizeof assignment, "%s=%s", key, words[i]);
        set(r, assignment);
        memcpy(&value, field, sizeof value);
        assert_int_equal(value, i);
    }
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void words_of_each_enum(void **state)
{
    (void)state;
    rapt_recipe r;
    rapt_recipe_defaults(&r);
    check_words(&r, &r.task, "task", WORDS("translation", "language_model"));
    check_words(&r, &r.tokenizer.type, "tokenizer.type",
                WORDS("words", "characters", "bpe", "file", "cl100k_base", "o200k_base", "r50k_base"));
    check_words(&r, &r.model.preset, "model.preset", WORDS("none", "seed", "gpt2"));
    check_words(&r, &r.model.ffn_kind, "model.ffn_kind", WORDS("relu", "gelu", "gelu_tanh", "swiglu", "silu"));
    check_words(&r, &r.model.norm_kind, "model.norm_kind", WORDS("layer", "rms"));
    check_words(&r, &r.model.positions, "model.positions", WORDS("sinusoidal", "learned", "rotary", "none", "alibi"));
    check_words(&r, &r.model.vocab, "model.vocab", WORDS("tokenizer", "text"));
    check_words(&r, &r.model.init, "model.init", WORDS("xavier", "pytorch", "gpt2"));
    assert_true(r.tokenizer.type == RAPT_RECIPE_TOKENIZER_R50K && r.model.ffn_kind == RAPT_FFN_SILU);
    assert_true(r.model.positions == RAPT_POSITIONS_ALIBI && r.model.init == RAPT_WEIGHT_INIT_GPT2);
}

/* ---- presets ---------------------------------------------------------------------------------------------- */

/* The sales-textbook tutorial: one block, one norm used twice, no dropout, biases, a vocabulary by the text. */
static void assert_seed(const rapt_recipe *r)
{
    assert_int_equal(r->model.preset, RAPT_RECIPE_PRESET_SEED);
    assert_true(r->model.layers == 1 && r->model.d_model == 64 && r->model.heads == 4 && r->model.kv_heads == 0);
    assert_true(r->model.ffn == 256 && r->model.context == 16 && r->model.ffn_kind == RAPT_FFN_RELU);
    assert_true(r->model.norm_place == RAPT_NORM_PLACE_POST && r->model.norm_kind == RAPT_NORM_KIND_LAYER);
    assert_true(r->model.shared_norm && r->model.bias && r->model.output_bias);
    assert_true(!r->model.tied && !r->model.scale_embedding && r->model.dropout == 0);
    assert_true(r->model.positions == RAPT_POSITIONS_SINUSOIDAL && r->model.vocab == RAPT_RECIPE_VOCAB_TEXT);
    assert_true(r->model.init == RAPT_WEIGHT_INIT_PYTORCH && r->model.embedding_std == 0);
}

/* The smallest GPT-2. */
static void assert_gpt2(const rapt_recipe *r)
{
    assert_int_equal(r->model.preset, RAPT_RECIPE_PRESET_GPT2);
    assert_true(r->model.layers == 12 && r->model.d_model == 768 && r->model.heads == 12 && r->model.kv_heads == 0);
    assert_true(r->model.ffn == 3072 && r->model.context == 1024 && r->model.ffn_kind == RAPT_FFN_GELU_TANH);
    assert_true(r->model.norm_place == RAPT_NORM_PLACE_PRE && r->model.norm_kind == RAPT_NORM_KIND_LAYER);
    assert_true(!r->model.shared_norm && r->model.bias && !r->model.output_bias);
    assert_true(r->model.tied && !r->model.scale_embedding && r->model.dropout == 0.1);
    assert_true(r->model.positions == RAPT_POSITIONS_LEARNED && r->model.vocab == RAPT_RECIPE_VOCAB_TOKENIZER);
    assert_true(r->model.init == RAPT_WEIGHT_INIT_GPT2 && r->model.std == 0.02);
}

static void presets_set_the_model(void **state)
{
    (void)state;
    rapt_recipe r = parsed("model: {preset: seed}");
    assert_seed(&r);
    r = parsed("model:\n  preset: gpt2\n");
    assert_gpt2(&r);
    set(&r, "model.shared_norm=true");
    set(&r, "model.rotary_base=7");
    set(&r, "model.preset=seed"); /* undoes what an earlier one set, and what was set by hand */
    assert_seed(&r);
    assert_true(r.model.rotary_base == 10000);
    set(&r, "model.preset=gpt2");
    assert_gpt2(&r);
    set(&r, "model.preset=none"); /* nothing but the word */
    assert_int_equal(r.model.layers, 12);
    assert_true(r.train.lr == 0.002 && r.tokenizer.vocab_size == 0);
}

static void keys_change_what_a_preset_set(void **state)
{
    (void)state;
    rapt_recipe r = parsed("seed: 4\nmodel: {preset: seed, layers: 3, vocab: tokenizer, dropout: 0.25}");
    assert_true(r.model.layers == 3 && r.model.d_model == 64 && r.model.dropout == 0.25);
    assert_int_equal(r.model.vocab, RAPT_RECIPE_VOCAB_TOKENIZER);
    set(&r, "model.d_model=32");
    assert_true(r.model.layers == 3 && r.model.d_model == 32 && r.model.heads == 4);
}

/* Written out, a preset has all of its keys behind it, and they hold. */
static void presets_read_back_equal(void **state)
{
    (void)state;
    static const char *const texts[] = {"model: {preset: gpt2}", "model: {preset: seed}",
                                        "model: {preset: seed, heads: 2, norm_place: pre, tied: true, output_bias: false}"};
    for (size_t i = 0; i < 3; i++) {
        rapt_recipe r = parsed(texts[i]);
        char *yaml, *again;
        assert_int_equal(rapt_recipe_format(&r, &yaml, NULL), RAPT_OK);
        rapt_recipe back = parsed(yaml);
        memcpy(back.given, r.given, sizeof r.given); /* it gives all keys */
        assert_memory_equal(&back, &r, sizeof r); /* padding too: both begin as zeros */
        assert_int_equal(rapt_recipe_format(&back, &again, NULL), RAPT_OK);
        assert_string_equal(yaml, again);
        free(yaml);
        free(again);
    }
}

/* ---- keys that do not fit ----------------------------------------------------------------------------------- */

/* A good recipe with changes, "KEY=VALUE KEY=VALUE ...": what check says. */
static const char *checked(rapt_error *err, const char *changes)
{
    char copy[256], *rest = copy;
    rapt_recipe r = parsed("task: language_model\ndata: {text: x}\ntokenizer: {type: characters}\nmodel: {init: gpt2}\n");
    snprintf(copy, sizeof copy, "%s", changes);
    for (char *one; (one = strsep(&rest, " "));)
        if (*one)
            set(&r, one);
    *err = (rapt_error){0};
    rapt_code code = rapt_recipe_check(&r, "p.yaml", err);
    assert_int_equal(code, err->message[0] ? RAPT_ERR_VALUE : RAPT_OK);
    rapt_recipe_free(&r);
    return err->message;
}

static void keys_that_do_not_fit(void **state)
{
    (void)state;
    rapt_error err;
    assert_string_equal(checked(&err, ""), "");
    assert_string_equal(checked(&err, "data.text="), "p.yaml: data.text is missing; it names the file to learn from");
    assert_string_equal(checked(&err, "tokenizer.type=words"),
                        "p.yaml: tokenizer.type is words, which is for translation; characters, bpe, file or a rank file's name");
    assert_string_equal(checked(&err, "tokenizer.type=file"),
                        "p.yaml: tokenizer.path is missing; it names the tokenizer's file");
    assert_string_equal(checked(&err, "tokenizer.type=r50k_base"),
                        "p.yaml: tokenizer.path is missing; it names the tokenizer's file");
    assert_string_equal(checked(&err, "tokenizer.type=r50k_base tokenizer.path=r"), "");
    assert_string_equal(checked(&err, "tokenizer.type=bpe"), "");
    assert_string_equal(checked(&err, "model.kv_heads=3"), "p.yaml: model.kv_heads is 3; it must divide model.heads, 4");
    assert_string_equal(checked(&err, "model.kv_heads=8"), "p.yaml: model.kv_heads is 8; it must divide model.heads, 4");
    assert_string_equal(checked(&err, "model.kv_heads=2"), "");
    assert_string_equal(checked(&err, "model.heads=3"), "p.yaml: model.heads is 3; it must divide model.d_model, 128");
    assert_string_equal(checked(&err, "model.positions=rotary model.d_model=12"),
                        "p.yaml: model.positions is rotary; heads of 3 features can't be turned: they must be even");
    assert_string_equal(checked(&err, "model.positions=rotary model.d_model=24"), "");
    assert_string_equal(checked(&err, "model.tied=true model.output_bias=true"),
                        "p.yaml: model.output_bias is true; with model.tied there is none");
    assert_string_equal(checked(&err, "model.tied=true"), ""); /* translation wants tokenizer.shared */
    assert_string_equal(checked(&err, "model.init=xavier"),
                        "p.yaml: model.init is xavier, which is for translation; pytorch or gpt2");
    assert_string_equal(checked(&err, "train.reduction=book"), "p.yaml: train.reduction is book, which is for translation");
    assert_string_equal(checked(&err, "train.accumulate=5 data.validation_fraction=0.5"), "");
    assert_string_equal(checked(&err, "train.epochs=0"),
                        "p.yaml: train.epochs and train.steps are both 0; one of them must be above 0");
}

/* Conversations are for fine-tuning, and have keys of their own, as a text has. */
static void keys_of_conversations(void **state)
{
    (void)state;
    rapt_error err;
    static const char *const text[][2] = {
        {"data.too_long=drop", "data.too_long is drop"}, {"data.validation=v", "data.validation is v"},
        {"train.loss_on=all", "train.loss_on is all"}};
    for (size_t i = 0; i < 3; i++) {
        char wanted[160];
        snprintf(wanted, sizeof wanted, "p.yaml: %s; with data.text it has no effect: it is for data.conversations%s", text[i][1],
                 i < 2 ? ", or task translation" : "");
        assert_string_equal(checked(&err, text[i][0]), wanted);
    }
#define TALKS "data.text= data.conversations=c.jsonl "
    assert_string_equal(checked(&err, TALKS), "p.yaml: data.conversations is set; it needs train.init, a model with a chat "
                                              "template");
    static const char *const fit[] = {"", "data.too_long=drop", "train.loss_on=all", "data.validation_fraction=0.2",
                                      "data.validation=v data.validation_fraction=0"};
    for (size_t i = 0; i < sizeof fit / sizeof *fit; i++) {
        char changes[160];
        snprintf(changes, sizeof changes, TALKS "train.init=m %s", fit[i]);
        assert_string_equal(checked(&err, changes), "");
    }
    static const char *const idle[][2] = {
        {"data.text=t", "data.text is t"}, {"data.text_files=*.md", "data.text_files is *.md"},
        {"data.text_order=shuffled", "data.text_order is shuffled"}, {"data.validation_tokens=3", "data.validation_tokens is 3"},
        {"data.special_tokens=false", "data.special_tokens is false"}};
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++) {
        char changes[160], wanted[160];
        snprintf(changes, sizeof changes, TALKS "train.init=m %s", idle[i][0]);
        snprintf(wanted, sizeof wanted, "p.yaml: %s; with data.conversations it has no effect: it is for data.text", idle[i][1]);
        assert_string_equal(checked(&err, changes), wanted);
    }
    assert_string_equal(checked(&err, TALKS "train.init=m data.validation=v data.validation_fraction=0.1"),
                        "p.yaml: data.validation and data.validation_fraction are both set; one of them makes the validation "
                        "set");
}

static void keys_of_preferences(void **state)
{
    (void)state;
    rapt_error err;
#define PREFERENCES "data.text= data.preferences=p.jsonl "
    static const char *const refused[][2] = {
        {"train.dpo.beta=0.2", "train.dpo.beta is 0.2; it needs data.preferences"},
        {"train.dpo.label_smoothing=0.2", "train.dpo.label_smoothing is 0.2; it needs data.preferences"},
        {PREFERENCES, "data.preferences is set; it needs train.init, the model to tune and the reference"},
        {PREFERENCES "train.init=m data.conversations=c.jsonl",
         "data.conversations and data.preferences are both set; a run tunes on one of them"},
        {PREFERENCES "train.init=m data.text=t", "data.text is t; with data.preferences it has no effect: it is for data.text"},
        {PREFERENCES "train.init=m train.loss_on=all", "train.loss_on is all; the loss of data.preferences is on answers only"},
        {PREFERENCES "train.init=m train.label_smoothing=0.1",
         "train.label_smoothing is 0.1; for data.preferences that is train.dpo.label_smoothing"},
        {PREFERENCES "train.init=m data.validation=v data.validation_fraction=0.1",
         "data.validation and data.validation_fraction are both set; one of them makes the validation set"}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char wanted[200];
        snprintf(wanted, sizeof wanted, "p.yaml: %s", refused[i][1]);
        assert_string_equal(checked(&err, refused[i][0]), wanted);
    }
    static const char *const fit[] = {"", "data.too_long=drop", "data.validation_fraction=0.2", "data.pack=true",
                                      "data.validation=v data.validation_fraction=0", "train.dpo.beta=0.5 train.lora.rank=2",
                                      "train.dpo.label_smoothing=0.1"};
    for (size_t i = 0; i < sizeof fit / sizeof *fit; i++) {
        char changes[160];
        snprintf(changes, sizeof changes, PREFERENCES "train.init=m %s", fit[i]);
        assert_string_equal(checked(&err, changes), "");
    }
}

/* What a task doesn't know would silently do nothing. */
static void keys_of_the_other_task(void **state)
{
    (void)state;
    rapt_error err;
    static const char *const unknown[] = {"data.pairs=x", "data.limit=3", "data.max_len=9", "data.pad=fixed",
                                          "tokenizer.shared=true", "model.max_positions=9"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        const char *equals = strchr(unknown[i], '=');
        char wanted[128];
        snprintf(wanted, sizeof wanted, "p.yaml: %.*s is %s; that is for task translation only", (int)(equals - unknown[i]),
                 unknown[i], equals + 1);
        assert_string_equal(checked(&err, unknown[i]), wanted);
    }
    static const char *const other[] = {"model.output_bias=true", "model.context=5", "model.vocab=text", "train.lazy=true",
                                        "train.sample_tokens=7", "train.sample_prompt=x"};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        const char *equals = strchr(other[i], '=');
        char wanted[128];
        rapt_recipe r = parsed("data: {pairs: x}");
        set(&r, other[i]);
        snprintf(wanted, sizeof wanted, "p: %.*s is %s; that is for task language_model only", (int)(equals - other[i]),
                 other[i], equals + 1);
        err = (rapt_error){0};
        assert_int_equal(rapt_recipe_check(&r, "p", &err), RAPT_ERR_VALUE);
        assert_string_equal(err.message, wanted);
        rapt_recipe_free(&r);
    }
}

/* So would what another tokenizer is learned with. One that is loaded was learned before, perhaps with those keys. */
static void keys_of_another_tokenizer(void **state)
{
    (void)state;
    rapt_error err;
    assert_string_equal(checked(&err, "tokenizer.lowercase=false"),
                        "p.yaml: tokenizer.lowercase is false; that is for tokenizer.type words only");
    assert_string_equal(checked(&err, "tokenizer.type=bpe tokenizer.min_freq=2"),
                        "p.yaml: tokenizer.min_freq is 2; that is for tokenizer.type words only");
    assert_string_equal(checked(&err, "tokenizer.type=characters tokenizer.vocab_size=300"),
                        "p.yaml: tokenizer.vocab_size is 300; that is for tokenizer.type bpe only");
    assert_string_equal(checked(&err, "tokenizer.type=characters tokenizer.normalize=nfc"),
                        "p.yaml: tokenizer.normalize is for tokenizer.type bpe");
    assert_string_equal(checked(&err, "tokenizer.type=file tokenizer.path=x tokenizer.normalize=nfc"),
                        "p.yaml: tokenizer.normalize is for tokenizer.type bpe");
    assert_string_equal(checked(&err, "tokenizer.type=characters tokenizer.chat=chatml"),
                        "p.yaml: tokenizer.chat is chatml; that is for new models with tokenizer.type bpe");
    assert_string_equal(checked(&err, "tokenizer.type=bpe tokenizer.chat=chatml model.vocab=text"),
                        "p.yaml: tokenizer.chat is chatml; model.vocab text leaves out its tokens, which the text lacks");
    assert_string_equal(checked(&err, "data.pack=true"), "p.yaml: data.pack is true; with data.text it has no effect: it is for "
                                                         "data.conversations");
    assert_string_equal(checked(&err, "tokenizer.type=file tokenizer.path=x tokenizer.vocab_size=300"), "");
    assert_string_equal(checked(&err, "tokenizer.type=bpe tokenizer.vocab_size=300 tokenizer.normalize=nfc"), "");
    static const char *const pairs[][2] = {
        {"tokenizer: {type: words, vocab_size: 300}", "p: tokenizer.vocab_size is 300; that is for tokenizer.type bpe only"},
        {"tokenizer: {type: words, normalize: plain}", "p: tokenizer.normalize is for tokenizer.type bpe"},
        {"tokenizer: {type: bpe, lowercase: false}", "p: tokenizer.lowercase is false; that is for tokenizer.type words only"},
        {"tokenizer: {type: words, min_freq: 3, lowercase: false}", ""}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        rapt_recipe r = parsed(pairs[i][0]);
        set(&r, "data.pairs=x");
        err = (rapt_error){0};
        rapt_recipe_check(&r, "p", &err);
        assert_string_equal(err.message, pairs[i][1]);
        rapt_recipe_free(&r);
    }
}

static void what_translation_cannot_do(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"tokenizer: {type: cl100k_base}", "p: tokenizer.type must be words, characters, bpe or file for translation"},
        {"tokenizer: {type: characters}", ""},
        {"tokenizer: {type: bpe}", ""},
        {"model: {init: gpt2, std: 0.03}", ""},
        {"model: {positions: learned, ffn_kind: swiglu, norm_kind: rms, norm_place: pre, kv_heads: 2, shared_norm: true}", ""},
        {"model: {positions: rotary, rotary_base: 500}", ""},
        {"model: {kv_heads: 3}", "p: model.kv_heads is 3; it must divide model.heads, 4"},
        {"model: {positions: rotary, d_model: 12}",
         "p: model.positions is rotary; heads of 3 features can't be turned: they must be even"},
        {"train: {accumulate: 2, reduction: book}", "p: train.accumulate is 2; the book's reduction knows one batch a step"},
        {"train: {shards: 2}", ""},
        {"train: {shards: 2, batch_tokens: 900}",
         "p: train.shards is 2; with train.batch_tokens it must be at most train.accumulate, 1: a shard has one batch at least"},
        {"train: {draw_by: step, batch_tokens: 900}", "p: train.draw_by is step; with train.batch_tokens it must be batch"},
        {"train: {accumulate: 8, shards: 9}",
         "p: train.shards is 9; above train.accumulate, 8, it must be a multiple of it by a number that divides train.batch, "
         "32: the shards are equal parts of batches"},
        {"train: {accumulate: 8, shards: 24}",
         "p: train.shards is 24; above train.accumulate, 8, it must be a multiple of it by a number that divides train.batch, "
         "32: the shards are equal parts of batches"},
        {"train: {accumulate: 8, shards: 32, draw_by: step}", ""},
        {"train: {shards: 2, reduction: book}", "p: train.shards is 2; the book's reduction knows one pass a step"},
        {"train: {shards: 2, gradients: bf16}",
         "p: train.gradients is bf16 and train.shards 2; sums over shards are kept in fp32, so one of them must be at its "
         "default"},
        {"train: {shards: 2, release_gradients: true}",
         "p: train.release_gradients is true and train.shards 2; sums over shards keep all gradients, so one of them must be at "
         "its default"},
        {"train: {accumulate: 8, shards: 8}", ""},
        {"train: {accumulate: 2, shards: 2, reduction: book}",
         "p: train.accumulate is 2; the book's reduction knows one batch a step"},
        {"model: {preset: gpt2}", "p: model.preset is gpt2; that is for task language_model only"},
        {"train: {accumulate: 2}", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_recipe r = parsed(cases[i][0]);
        rapt_error err = {0};
        set(&r, "data.pairs=x");
        rapt_recipe_check(&r, "p", &err);
        assert_string_equal(err.message, cases[i][1]);
        rapt_recipe_free(&r);
    }
}

/* ---- paths ------------------------------------------------------------------------------------------------ */

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* `text` in a recipe, and what it becomes: @ stands for the recipe's folder. */
static const char *const lists[][2] = {{"a", "@/a"},         {"a:b", "@/a:@/b"},      {"/a:b", "/a:@/b"},
                                       {"a:/b", "@/a:/b"},   {"../x:y/z", "@/../x:@/y/z"}, {"a:", "@/a:"},
                                       {":a", ":@/a"},       {"a::b", "@/a::@/b"},    {"/a", "/a"}};

static void assert_expanded(const char *got, const char *wanted)
{
    char expanded[4 * FOLDER_ROOM] = "";
    for (const char *c = wanted; *c; c++) {
        size_t used = strlen(expanded);
        snprintf(expanded + used, sizeof expanded - used, "%s", *c == '@' ? folder_path : (char[]){*c, '\0'});
    }
    assert_string_equal(got, expanded);
}

static void relative_paths_start_at_the_recipe(void **state)
{
    (void)state;
    char text[128];
    const char *path = folder_in("r.yaml");
    rapt_recipe r;
    rapt_error err = {0};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        snprintf(text, sizeof text, "data: {text: \"%s\"}\ntokenizer: {path: ../ranks:1}\n", lists[i][0]);
        write_text(path, text);
        assert_int_equal(rapt_recipe_read(path, &r, &err), RAPT_OK);
        assert_expanded(r.data.text, lists[i][1]);
        assert_expanded(r.tokenizer.path, "@/../ranks:1"); /* one path, whatever is in it */
        rapt_recipe_free(&r);
    }
    write_text(folder_in("12:30.txt"), "something of the whole name is one path");
    write_text(path, "data: {text: \"12:30.txt\"}");
    assert_int_equal(rapt_recipe_read(path, &r, &err), RAPT_OK);
    assert_expanded(r.data.text, "@/12:30.txt");
    rapt_recipe_free(&r);
    rapt_recipe_defaults(&r);
    set(&r, "data.text=a:b"); /* from the working directory */
    assert_string_equal(r.data.text, "a:b");
    rapt_recipe_free(&r);
}

/* ---- the recipes that come with rapt -------------------------------------------------------------------------- */

static rapt_recipe shipped(const char *path)
{
    rapt_recipe r;
    rapt_error err = {0};
    rapt_recipe_read(path, &r, &err);
    rapt_recipe_check(&r, path, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(r.task, RAPT_TASK_LANGUAGE_MODEL);
    return r;
}

static void assert_shakespeare(const rapt_recipe *r)
{
    assert_true(r->tokenizer.type == RAPT_RECIPE_TOKENIZER_CHARACTERS && r->data.validation_fraction == 0.1);
    assert_true(r->model.norm_place == RAPT_NORM_PLACE_PRE && r->model.positions == RAPT_POSITIONS_LEARNED);
    assert_true(!r->model.bias && r->model.tied && r->model.init == RAPT_WEIGHT_INIT_GPT2 && r->model.std == 0.02);
    assert_true(r->train.lr == 1e-3 && r->train.lr_end == 1e-4 && r->train.schedule == RAPT_RECIPE_SCHEDULE_COSINE);
    assert_true(r->train.warmup == 100 && r->train.beta1 == 0.9 && r->train.beta2 == 0.99);
    assert_true(r->train.weight_decay == 0.1 && r->train.clip == 1);
    assert_int_equal(r->model.ffn, 4 * r->model.d_model);
}

/* nanoGPT's settings: for a CPU, and its "baby GPT". */
static void shipped_shakespeare(void **state)
{
    (void)state;
    rapt_recipe r = shipped("recipes/shakespeare-char.yaml");
    assert_shakespeare(&r);
    assert_true(r.model.layers == 4 && r.model.heads == 4 && r.model.d_model == 128 && r.model.context == 64);
    assert_true(r.train.batch == 12 && r.train.steps == 2000 && r.model.dropout == 0 && r.data.validation_tokens == 0);
    rapt_recipe_free(&r);
    r = shipped("recipes/shakespeare-baby.yaml");
    assert_shakespeare(&r);
    assert_true(r.model.layers == 6 && r.model.heads == 6 && r.model.d_model == 384 && r.model.context == 256);
    assert_true(r.train.batch == 64 && r.train.steps == 5000 && r.model.dropout == 0.2);
    rapt_recipe_free(&r);
}

static void shipped_others(void **state)
{
    (void)state;
    rapt_recipe r = shipped("recipes/sales-textbook-seed.yaml");
    assert_seed(&r);
    assert_true(r.tokenizer.type == RAPT_RECIPE_TOKENIZER_CL100K && r.train.batch == 4 && r.data.validation_fraction == 0.1);
    rapt_recipe_free(&r);
    r = shipped("recipes/sales-textbook.yaml");
    assert_true(r.model.layers == 8 && r.model.norm_place == RAPT_NORM_PLACE_PRE && r.model.context == 16 && r.train.batch == 4);
    assert_true(r.tokenizer.type == RAPT_RECIPE_TOKENIZER_CL100K && r.model.vocab == RAPT_RECIPE_VOCAB_TEXT);
    rapt_recipe_free(&r);
    r = shipped("recipes/own-sources.yaml");
    assert_string_equal(r.data.text, "recipes/../docs:recipes/../include:recipes/../src");
    assert_string_equal(r.data.text_files, "*.c,*.h,*.md"); /* an SVG is text, too */
    assert_int_equal(r.data.text_order, RAPT_RECIPE_TEXT_ORDER_SHUFFLED);
    assert_int_equal(r.tokenizer.type, RAPT_RECIPE_TOKENIZER_BPE);
    rapt_recipe_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_each_enum),
        cmocka_unit_test(presets_set_the_model),
        cmocka_unit_test(keys_change_what_a_preset_set),
        cmocka_unit_test(presets_read_back_equal),
        cmocka_unit_test(keys_that_do_not_fit),
        cmocka_unit_test(keys_of_conversations),
        cmocka_unit_test(keys_of_preferences),
        cmocka_unit_test(keys_of_the_other_task),
        cmocka_unit_test(keys_of_another_tokenizer),
        cmocka_unit_test(what_translation_cannot_do),
        IN_FOLDER(relative_paths_start_at_the_recipe),
        cmocka_unit_test(shipped_shakespeare),
        cmocka_unit_test(shipped_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
