/* tests/train/test_language_model_refusals.c: what rapt_train refuses of texts, tokenizers and models: one line that names the
 * file, and nothing is left behind. What works is in test_language_model_training.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "train/train_folder.h"

/* All that lies in the folder, files with their sizes and times; free it. */
static char *listing(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *p = popen("find . -type d -printf '%p\\n' -o -printf '%p %s %T@\\n' | sort", "r");
    assert_non_null(p);
    assert_true(getdelim(&text, &size, '\0', p) > 0);
    pclose(p);
    return text;
}

static void fails(const char *changes, rapt_train_options o, rapt_code code, const char *message)
{
    rapt_recipe r = lm_recipe(changes);
    rapt_error err = {0};
    rapt_code got = run(&r, o, &err);
    assert_string_equal(err.message, message);
    assert_int_equal(got, code);
    rapt_recipe_free(&r);
}

/* A run into a folder that is not there, nor are the folders above it. */
static void refused(const char *changes, const char *init, rapt_code code, const char *message)
{
    char *before = listing();
    fails(changes, (rapt_train_options){.out = "new/models/m", .init = init}, code, message);
    char *after = listing();
    assert_string_equal(after, before);
    free(before);
    free(after);
}

/* As from a program that has not called rapt_recipe_check. */
static void recipes_without_sense(void **state)
{
    (void)state;
    rapt_recipe defaults, r = lm_recipe("data.text=none.txt");
    rapt_error pairs = {0}, batch = {0};
    rapt_recipe_defaults(&defaults);
    r.train.batch = 0;
    rapt_train_options o = rapt_train_options_default();
    o.recipe = &defaults, o.out = "new";
    assert_int_equal(rapt_train(&o, &pairs), RAPT_ERR_VALUE);
    assert_non_null(strstr(pairs.message, "data.pairs is missing"));
    o.recipe = &r;
    assert_int_equal(rapt_train(&o, &batch), RAPT_ERR_VALUE);
    assert_non_null(strstr(batch.message, "train.batch is 0"));
    rapt_recipe_free(&defaults);
    rapt_recipe_free(&r);
}

/* ---- the text ---------------------------------------------------------------------------------------------------- */

static void texts(void **state)
{
    (void)state;
    put("text.txt", "abcdefghij");
    put("empty.txt", "");
    put("bytes.txt", "abcdefghij\xFFklmnopqrst");
    assert_int_equal(file_make_dir("hollow", NULL), RAPT_OK);
    refused("data.text=none.txt", NULL, RAPT_ERR_NOT_FOUND, "cannot read none.txt: No such file or directory");
    refused("data.text=text.txt:none.txt", NULL, RAPT_ERR_NOT_FOUND, "cannot read none.txt: No such file or directory");
    refused("data.text=hollow", NULL, RAPT_ERR_FORMAT, "hollow: no text in there");
    refused("data.text=empty.txt", NULL, RAPT_ERR_VALUE, "empty.txt: an empty text has no characters");
    refused("data.text=empty.txt tokenizer.type=bpe tokenizer.vocab_size=300", NULL, RAPT_ERR_VALUE,
            "empty.txt: nothing to learn from: the text is empty");
    refused("data.text=/dev/null", NULL, RAPT_ERR_IO, "cannot read /dev/null: not a regular file, so it cannot be mapped");
    refused("data.text=bytes.txt", NULL, RAPT_ERR_FORMAT, "bytes.txt: byte 11: not UTF-8 (line 1)");
    refused("data.validation_fraction=0.2", NULL, RAPT_ERR_VALUE,
            "text.txt: the training split has 8 tokens; a window of model.context 8 needs 9");
    refused("data.validation_fraction=0.1", NULL, RAPT_ERR_VALUE,
            "text.txt: the validation split has 1 tokens; a window of model.context 8 needs 9 "
            "(data.validation_fraction is its share; 0: no validation)");
    refused("data.text=text.txt:text.txt data.validation_fraction=0.5 data.validation_tokens=3", NULL, RAPT_ERR_VALUE,
            "text.txt:text.txt: the validation split has 4 tokens; a window of model.context 8 needs 9 "
            "(data.validation_fraction is its share; 0: no validation)");
    train("data.validation_fraction=0", (rapt_train_options){.out = "fits"}); /* 10 tokens: two windows */
    train("data.text=text.txt tokenizer.type=bpe tokenizer.vocab_size=300 data.validation_fraction=0",
          (rapt_train_options){.out = "any"});
}

/* ---- the tokenizer ------------------------------------------------------------------------------------------------ */

static void tokenizers(void **state)
{
    (void)state;
    put_words("text.txt", 60);
    put("xyz.txt", "xyzzy xyzzy xyzzy xyzzy xyzzy");
    put("broken.json", "{\"version\":");
    put("ranks", "YQ== 0\nYQ= 1\n");
    train("data.text=xyz.txt data.validation_fraction=0", (rapt_train_options){.out = "xyz"});
    refused("tokenizer.type=file tokenizer.path=none.json", NULL, RAPT_ERR_NOT_FOUND,
            "cannot read none.json: No such file or directory");
    refused("tokenizer.type=cl100k_base tokenizer.path=none", NULL, RAPT_ERR_NOT_FOUND,
            "cannot read none: No such file or directory");
    rapt_recipe r = lm_recipe("tokenizer.type=file tokenizer.path=broken.json");
    rapt_error err = {0};
    char *before = listing();
    assert_int_equal(run(&r, (rapt_train_options){.out = "new"}, &err), RAPT_ERR_FORMAT);
    assert_int_equal(strncmp(err.message, "broken.json:", 12), 0); /* the JSON library words the reason */
    set_all(&r, "tokenizer.type=r50k_base tokenizer.path=ranks");
    err = (rapt_error){0};
    assert_int_equal(run(&r, (rapt_train_options){.out = "new"}, &err), RAPT_ERR_FORMAT);
    assert_int_equal(strncmp(err.message, "ranks:2: ", 9), 0);
    char *after = listing();
    assert_string_equal(after, before);
    free(before);
    free(after);
    rapt_recipe_free(&r);
    size_t size;
    char *text = get(".", "text.txt", &size), message[96];
    snprintf(message, sizeof message, "text.txt: byte 1: character U+%04X is not in the vocabulary", (unsigned)text[0]);
    refused("tokenizer.type=file tokenizer.path=xyz", NULL, RAPT_ERR_VALUE, message);
    free(text);
}

/* Rather than when the first one is due. */
static void samples(void **state)
{
    (void)state;
    put_words("text.txt", 60);
    put("line.txt", "no line ends in this text, which has just one");
    refused("train.sample_every=20 train.sample_prompt=Z", NULL, RAPT_ERR_VALUE,
            "train.sample_prompt: the prompt: byte 1: character U+005A is not in the vocabulary");
    refused("data.text=line.txt data.validation_fraction=0 train.sample_every=20", NULL, RAPT_ERR_VALUE,
            "train.sample_prompt: the prompt: byte 1: character U+000A is not in the vocabulary");
    train("train.sample_prompt=Z", (rapt_train_options){.out = "m"}); /* nobody asks for a sample */
}

/* ---- the model ----------------------------------------------------------------------------------------------------- */

static void models(void **state)
{
    (void)state;
    put_words("text.txt", 200);
    refused("train.freeze=nothing.*", NULL, RAPT_ERR_VALUE, "train.freeze: no parameter is called \"nothing.*\"");
    refused("train.freeze=*", NULL, RAPT_ERR_VALUE, "train.freeze: nothing is left to train");
    refused("", "none", RAPT_ERR_NOT_FOUND, "none: there is no such model folder");
    train("", (rapt_train_options){.out = "base"});
    refused("model.context=9", "base", RAPT_ERR_VALUE, "model.context is 9; the model in base has 8 positions");
    train("model.context=7", (rapt_train_options){.out = "shorter", .init = "base"});
    put("digits.txt", "0123456789 0123456789");
    refused("data.text=digits.txt data.validation_fraction=0", "base", RAPT_ERR_VALUE,
            "digits.txt: byte 1: character U+0030 is not in the vocabulary");
}

/* A model whose vocabulary ends with the largest id of its text, by a tokenizer that knows more. */
static void a_vocabulary_that_is_too_small(void **state)
{
    (void)state;
    put("all.txt", "abcdefghijklmnopqrstuvwxyz");
    put("few.txt", "abcdcbabcdcbabcdcba");
    put("more.txt", "abcdefghgfedcbabcde");
    static const char file[] = "data.validation_fraction=0 tokenizer.type=file tokenizer.path=all model.vocab=text data.text=";
    char few[128], more[128];
    snprintf(few, sizeof few, "%sfew.txt", file);
    snprintf(more, sizeof more, "%smore.txt", file);
    train("data.text=all.txt data.validation_fraction=0", (rapt_train_options){.out = "all"});
    train(few, (rapt_train_options){.out = "few"});
    refused(more, "few", RAPT_ERR_VALUE, "more.txt: token 7 occurs; the model knows 4");
    train(few, (rapt_train_options){.out = "again", .init = "few"});
}

static void a_translation_model(void **state)
{
    (void)state;
    rapt_recipe r;
    rapt_error err = {0};
    put_words("text.txt", 200);
    put("pairs.tsv", "a b\tc d\ne\tf\n");
    rapt_recipe_defaults(&r);
    set_all(&r, "data.pairs=pairs.tsv model.layers=1 model.d_model=8 model.heads=2 model.ffn=8 train.steps=1 "
            "data.validation_fraction=0");
    run(&r, (rapt_train_options){.out = "pairs"}, &err);
    assert_string_equal(err.message, "");
    refused("", "pairs", RAPT_ERR_VALUE, "pairs is a translation model; rapt translate runs it");
    train("", (rapt_train_options){.out = "lm"});
    assert_int_equal(run(&r, (rapt_train_options){.out = "new", .init = "lm"}, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "lm is a language model; rapt generate runs it");
    assert_false(file_exists("new"));
    rapt_recipe_free(&r);
}

/* ---- the folder ---------------------------------------------------------------------------------------------------- */

static void folders(void **state)
{
    (void)state;
    put_words("text.txt", 100);
    put_words("other.txt", 120);
    train("", (rapt_train_options){.out = "m"});
    char *before = listing();
    fails("data.text=other.txt", (rapt_train_options){.out = "m"}, RAPT_ERR_VALUE,
          "m holds checkpoints of an earlier run: --resume continues it; or choose another folder");
    fails("", (rapt_train_options){.out = "text.txt"}, RAPT_ERR_IO, "cannot make folder text.txt: Not a directory");
    fails("", (rapt_train_options){.out = "text.txt/m"}, RAPT_ERR_IO, "cannot make folder text.txt/m: Not a directory");
    fails("train.beta2=0.98", (rapt_train_options){.out = "m", .resume = true}, RAPT_ERR_VALUE,
          "m: the checkpoint of step 24 belongs to another recipe: train.beta2 is \"0.98\", and \"0.999\" in its recipe.yaml; "
          "to resume with that: rapt train --resume --out m");
    fails("train.lr=0.02", (rapt_train_options){.out = "m", .resume = true}, RAPT_ERR_VALUE,
          "m: the run is finished, at step 24, so that train.lr 0.02 (was 0.01) would change nothing; to train longer, set "
          "train.steps higher");
    fails("data.text=other.txt", (rapt_train_options){.out = "m", .resume = true}, RAPT_ERR_VALUE,
          "m: the checkpoint of step 24 belongs to another model or data; a run that began with --init is resumed with it");
    fails("", (rapt_train_options){.out = "m", .init = "m", .resume = true}, RAPT_ERR_VALUE,
          "m: the checkpoint of step 24 belongs to another model or data");
    char *after = listing(); /* with the tokens of its own text */
    assert_string_equal(after, before);
    free(before);
    free(after);
    assert_int_equal(unlink("m/recipe.yaml"), 0);
    fails("train.beta2=0.98", (rapt_train_options){.out = "m", .resume = true}, RAPT_ERR_VALUE,
          "m: the checkpoint of step 24 belongs to another recipe, model or data (see its recipe.yaml)");
    train("", (rapt_train_options){.out = "m", .resume = true}); /* and it is still good */
}

/* A run replaces its joined texts by another list's only when the run may be resumed with that list. */
static void joined_texts_of_a_refused_run(void **state)
{
    (void)state;
    put_words("text.txt", 100);
    put_words("other.txt", 120);
    train("data.text=text.txt:other.txt", (rapt_train_options){.out = "m"});
    fails("data.text=other.txt:text.txt", (rapt_train_options){.out = "m", .resume = true}, RAPT_ERR_VALUE,
          "m: the checkpoint of step 24 belongs to another model or data; a run that began with --init is resumed with it");
    put("m/text.tokens.before", "left by a run of 0.1 that was killed");
    train("data.text=text.txt:other.txt", (rapt_train_options){.out = "m", .resume = true});
    assert_int_equal(system("test -z \"$(find . -name '*.before')\""), 0);
    train("data.text=text.txt:other.txt", (rapt_train_options){.out = "fresh"});
    assert_same_bytes("m", "fresh", "text.txt", 0, 0);
    assert_same_bytes("m", "fresh", "text.tokens", 0, 0);
}

/* What a run would write over may be someone's, or a model that was shipped without its checkpoints. */
static void a_folder_of_someone(void **state)
{
    (void)state;
    put_words("text.txt", 100);
    static const char *const names[] = {"config.json", "model.safetensors", "recipe.yaml", "train.jsonl",
                                        "tokenizer.json", "text.txt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[64], message[160];
        assert_int_equal(file_make_dir("own", NULL), RAPT_OK);
        snprintf(path, sizeof path, "own/%s", names[i]);
        bool trained = strcmp(names[i], "model.safetensors") == 0 || strcmp(names[i], "train.jsonl") == 0;
        snprintf(message, sizeof message, "own holds %s and no checkpoint: choose another folder%s", names[i],
                 trained ? "" : ", or where a run stopped early, --resume to start it again");
        put(path, "mine");
        char *before = listing();
        fails("data.text=text.txt:text.txt", (rapt_train_options){.out = "own"}, RAPT_ERR_VALUE, message);
        char *after = listing();
        assert_string_equal(after, before);
        free(before);
        free(after);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(file_make_dir("own/best", NULL), RAPT_OK);
    fails("data.text=text.txt", (rapt_train_options){.out = "own"}, RAPT_ERR_VALUE,
          "own holds best and no checkpoint: choose another folder");
    assert_int_equal(rmdir("own/best"), 0);
    put("own/notes", "no file of a run's");
    put_words("own/text.txt", 100); /* one text is read where it is */
    train("data.text=own/text.txt", (rapt_train_options){.out = "own"});
    train("", (rapt_train_options){.out = "other"});
    assert_same_bytes("own", "other", "model.safetensors", 0, 0);
}

/* In a folder that was there, what was there stays. */
static void a_folder_that_was_there(void **state)
{
    (void)state;
    put("text.txt", "too short");
    assert_int_equal(file_make_dir("mine/deeper", NULL), RAPT_OK);
    put("mine/notes", "keep me");
    char *before = listing();
    static const char *const outs[] = {"mine", "mine/", "mine/deeper", "mine/new/m", "mine/new/m/", "./new/m"};
    for (size_t i = 0; i < sizeof outs / sizeof *outs; i++) {
        char message[128];
        const char *lists[] = {"text.txt", "text.txt:text.txt"};
        for (size_t j = 0; j < 2; j++) {
            char changes[96];
            snprintf(changes, sizeof changes, "data.validation_fraction=0 model.context=30 data.text=%s", lists[j]);
            snprintf(message, sizeof message, "%s: the training split has %d tokens; a window of model.context 30 needs 31",
                     lists[j], j ? 18 : 9);
            fails(changes, (rapt_train_options){.out = outs[i]}, RAPT_ERR_VALUE, message);
        }
    }
    char *after = listing();
    assert_string_equal(after, before);
    free(before);
    free(after);
}

/* Weight decay 1 at rate 10 multiplies every matrix by -9 at each step, until it overflows. By then the folder is the run's:
 * its log and the checkpoint of its first report stay, and without that the folder is no start for another try. */
static void numbers_that_stop_being_numbers(void **state)
{
    (void)state;
    rapt_error err = {0};
    put_words("text.txt", 200);
    rapt_recipe r = lm_recipe("train.lr=10 train.weight_decay=1 train.steps=500 train.report_every=2 train.checkpoint_every=400");
    assert_int_equal(run(&r, (rapt_train_options){.out = "m"}, &err), RAPT_ERR_NOT_FINITE);
    assert_int_equal(strncmp(err.message, "step ", 5), 0);
    assert_non_null(strstr(err.message, " is not finite; the first bad tensor is "));
    assert_null(strchr(err.message, '\n'));
    assert_non_null(strstr(err.message, " (the last good checkpoint is kept)"));
    assert_true(file_exists("m/model.safetensors") && file_exists("m/checkpoints/step-00000002.safetensors"));
    assert_int_equal(system("test -z \"$(find . -name '*.tmp')\""), 0);
    rapt_recipe_free(&r);
    assert_int_equal(system("rm -r m/checkpoints m/model.safetensors"), 0);
    fails("", (rapt_train_options){.out = "m", .resume = true}, RAPT_ERR_VALUE, "m holds train.jsonl but no checkpoint to resume "
          "from: bring back its folder \"checkpoints\", or choose another folder to start again");
    assert_int_equal(system("rm -r m/train.jsonl m/best"), 0);
    train("", (rapt_train_options){.out = "m", .resume = true}); /* the next run may have the folder */
    train("", (rapt_train_options){.out = "fresh"});
    assert_same_model("m", "fresh");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(recipes_without_sense),
        IN_FOLDER(texts),
        IN_FOLDER(tokenizers),
        IN_FOLDER(samples),
        IN_FOLDER(models),
        IN_FOLDER(a_vocabulary_that_is_too_small),
        IN_FOLDER(a_translation_model),
        IN_FOLDER(folders),
        IN_FOLDER(joined_texts_of_a_refused_run),
        IN_FOLDER(a_folder_of_someone),
        IN_FOLDER(a_folder_that_was_there),
        IN_FOLDER(numbers_that_stop_being_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
