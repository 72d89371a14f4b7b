/* tests/recipe/test_recipe.c: recipes from YAML and --set, whether their keys fit each other, and how they are written as YAML.
 * For src/recipe/recipe*.c. test_recipe_keys.c has the keys one by one, test_recipe_language_model.c the keys of language
 * models. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "rapt/recipe.h"
#include "recipe/recipe_read.h"

static rapt_code parse(const char *text, rapt_recipe *recipe, rapt_error *err)
{
    return recipe_parse("r.yaml", text, strlen(text), false, recipe, err);
}

static void words_of_each_enum(void **state)
{
    (void)state;
    rapt_recipe r;
    rapt_recipe_defaults(&r);
    assert_int_equal(rapt_recipe_set(&r, "data.too_long=error", NULL), RAPT_OK);
    assert_int_equal(r.data.too_long, RAPT_TOO_LONG_ERROR);
    assert_int_equal(rapt_recipe_set(&r, "data.too_long=cut", NULL), RAPT_OK);
    assert_int_equal(r.data.too_long, RAPT_TOO_LONG_CUT);
    assert_int_equal(rapt_recipe_set(&r, "train.schedule=inverse_sqrt", NULL), RAPT_OK);
    assert_int_equal(r.train.schedule, RAPT_RECIPE_SCHEDULE_INVERSE_SQRT);
    assert_int_equal(rapt_recipe_set(&r, "tokenizer.lowercase=false", NULL), RAPT_OK);
    assert_false(r.tokenizer.lowercase);
}

static void lenient_where_it_does_no_harm(void **state)
{
    (void)state;
    rapt_recipe r;
    rapt_error err = {0};
    assert_int_equal(parse("\xEF\xBB\xBFtrain.lr: \"+.5\"\r\nmodel: {}\r\ndata:\r\n  pairs:\r\n", &r, &err),
                     RAPT_OK);
    assert_true(r.train.lr == 0.5);
    assert_null(r.data.pairs);
    rapt_recipe_free(&r);
}

static void assignments(void **state)
{
    (void)state;
    rapt_recipe r;
    rapt_error err = {0};
    rapt_recipe_defaults(&r);
    assert_int_equal(rapt_recipe_set(&r, "train.lr=0.25", &err), RAPT_OK);
    assert_int_equal(rapt_recipe_set(&r, "data.pairs=first", &err), RAPT_OK);
    assert_int_equal(rapt_recipe_set(&r, "data.pairs=a=b c", &err), RAPT_OK);
    assert_int_equal(rapt_recipe_set(&r, "train.freeze=a", &err), RAPT_OK);
    assert_int_equal(rapt_recipe_set(&r, "train.freeze=", &err), RAPT_OK);
    assert_true(r.train.lr == 0.25);
    assert_string_equal(r.data.pairs, "a=b c");
    assert_null(r.train.freeze);
    rapt_recipe_free(&r);
    assert_null(r.data.pairs);
}

/* Sets the assignments, up to NULL, on a good recipe; returns what check says. */
static const char *checked(rapt_error *err, const char *first, const char *second)
{
    rapt_recipe r;
    rapt_recipe_defaults(&r);
    *err = (rapt_error){0};
    assert_int_equal(rapt_recipe_set(&r, "data.pairs=x", err), RAPT_OK);
    assert_int_equal(rapt_recipe_set(&r, first, err), RAPT_OK);
    assert_int_equal(rapt_recipe_set(&r, second, err), RAPT_OK);
    rapt_code code = rapt_recipe_check(&r, "p.yaml", err);
    assert_int_equal(code, err->message[0] ? RAPT_ERR_VALUE : RAPT_OK);
    rapt_recipe_free(&r);
    return err->message;
}

static void keys_that_do_not_fit(void **state)
{
    (void)state;
    rapt_error err;
    assert_string_equal(checked(&err, "seed=1", "seed=2"), "");
    assert_string_equal(checked(&err, "data.pairs=", "seed=2"),
                        "p.yaml: data.pairs is missing; it names the file of sentence pairs");
    assert_string_equal(checked(&err, "model.heads=5", "seed=2"),
                        "p.yaml: model.heads is 5; it must divide model.d_model, 128");
    assert_string_equal(checked(&err, "model.heads=5", "model.d_model=40"), "");
    assert_string_equal(checked(&err, "model.tied=true", "tokenizer.shared=false"),
                        "p.yaml: model.tied is true; it needs tokenizer.shared to be true as well");
    assert_string_equal(checked(&err, "model.tied=true", "tokenizer.shared=true"), "");
    assert_string_equal(checked(&err, "data.max_len=65", "model.max_positions=64"),
                        "p.yaml: data.max_len is 65; it must be at most model.max_positions, 64");
    assert_string_equal(checked(&err, "data.max_len=64", "model.max_positions=64"), "");
    assert_string_equal(checked(&err, "train.epochs=0", "seed=2"),
                        "p.yaml: train.epochs and train.steps are both 0; one of them must be above 0");
    assert_string_equal(checked(&err, "train.epochs=0", "train.steps=1"), "");
}

/* A program may fill the struct itself; then check sees to the ranges. */
static void fields_set_by_hand(void **state)
{
    (void)state;
    rapt_recipe good, r;
    rapt_error err = {0};
    char *yaml, pairs[] = "x";
    rapt_recipe_defaults(&good);
    good.data.pairs = pairs;
    assert_int_equal(rapt_recipe_check(&good, "p", &err), RAPT_OK);
    r = good;
    r.model.heads = 0;
    assert_int_equal(rapt_recipe_check(&r, "p", &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "p: model.heads is 0; it must be from 1 to 128");
    r = good;
    r.train.lr = NAN;
    assert_int_equal(rapt_recipe_check(&r, "p", NULL), RAPT_ERR_VALUE);
    r = good;
    r.train.clip = HUGE_VAL;
    assert_int_equal(rapt_recipe_check(&r, "p", NULL), RAPT_ERR_VALUE);
    r = good;
    r.train.schedule = (rapt_recipe_schedule)5;
    assert_int_equal(rapt_recipe_check(&r, "p", NULL), RAPT_ERR_VALUE);
    assert_int_equal(rapt_recipe_format(&r, &yaml, NULL), RAPT_ERR_VALUE);
    assert_null(yaml);
}

static void formatted_text(void **state)
{
    (void)state;
    rapt_recipe r;
    char *yaml;
    rapt_recipe_defaults(&r);
    assert_int_equal(rapt_recipe_set(&r, "data.pairs=a \"b\"\\\t\xE2\x80\xA8\xC3\xA9", NULL), RAPT_OK);
    assert_int_equal(rapt_recipe_set(&r, "data.validation_fraction=0.30000000000000004", NULL), RAPT_OK);
    assert_int_equal(rapt_recipe_format(&r, &yaml, NULL), RAPT_OK);
    const char *start =
        "task: translation\nseed: 1\ndata:\n"
        "  pairs: \"a \\\"b\\\"\\\\\\t\\L\xC3\xA9\"\n  weights: \"\"\n  validation: \"\"\n  text: \"\"\n"
        "  text_files: \"\"\n  text_order: names\n  conversations: \"\"\n  preferences: \"\"\n  special_tokens: true\n"
        "  limit: 0\n  validation_fraction: 0.30000000000000004\n  validation_tokens: "
            "0\n  filter.rules: \"\"\n  filter.ratio: 3\n  filter.margin: 20\n  max_len: 50\n";
    const char *end = "  lr: 0.002\n  beta1: 0.9\n  beta2: 0.999\n  eps: 1e-08\n";
    assert_int_equal(strncmp(yaml, start, strlen(start)), 0);
    assert_non_null(strstr(yaml, end));
    free(yaml);
    rapt_recipe_free(&r);
}

static const double doubles[] = {0.1, 1.0 / 3, 1e-300, 4.9406564584124654e-324, 0.012345678901234567, 7e-4};

static void doubles_read_back_equal(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++) {
        rapt_recipe r, again;
        char *yaml;
        rapt_recipe_defaults(&r);
        r.train.lr_end = doubles[i];
        assert_int_equal(rapt_recipe_format(&r, &yaml, NULL), RAPT_OK);
        assert_int_equal(parse(yaml, &again, NULL), RAPT_OK);
        assert_true(again.train.lr_end == doubles[i]);
        free(yaml);
    }
}

/* In many locales a number has a comma; a recipe never has. */
static void locale_does_not_matter(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8")) {
        print_message("no locale with a decimal comma\n");
        skip();
    }
    rapt_recipe r;
    char *yaml;
    rapt_code code = parse("train: {lr: 0.25}", &r, NULL);
    rapt_code formatted = rapt_recipe_format(&r, &yaml, NULL);
    char printed[8];
    snprintf(printed, sizeof printed, "%.1f", 0.5);
    setlocale(LC_ALL, "C");
    assert_string_equal(printed, "0,5"); /* the program's own locale is back */
    assert_int_equal(code, RAPT_OK);
    assert_int_equal(formatted, RAPT_OK);
    assert_true(r.train.lr == 0.25);
    assert_non_null(strstr(yaml, "lr: 0.25\n"));
    free(yaml);
}

static void help_lists_every_key(void **state)
{
    (void)state;
    char *text;
    assert_int_equal(rapt_recipe_help(&text, NULL), RAPT_OK);
    size_t lines = 0, meaning = (size_t)(strstr(text, "meaning") - text);
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        const size_t length = (size_t)(end - line);
        assert_in_range(length, 1, 130);
        assert_true(line[length - 1] != ' ');
        if (*line == ' ') /* the range or the meaning continues */
            continue;
        lines++;
        assert_true(length > meaning);
        assert_true(line[meaning - 1] == ' ' && line[meaning] != ' '); /* the columns are aligned */
    }
    assert_int_equal(lines, 1 + 123);
    assert_non_null(strstr(text, "\ntrain.lr "));
    assert_non_null(strstr(text, "cut|drop|error"));
    assert_non_null(strstr(text, ">0..10"));
    free(text);
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void relative_paths_start_at_the_recipe(void **state)
{
    (void)state;
    const char *path = folder_in("r.yaml"), *expected = folder_in("../data/x.tsv");
    write_text(path, "data: {pairs: ../data/x.tsv}");
    rapt_recipe r;
    rapt_error err = {0};
    assert_int_equal(rapt_recipe_read(path, &r, &err), RAPT_OK);
    assert_string_equal(r.data.pairs, expected);
    rapt_recipe_free(&r);
    write_text(path, "data: {pairs: /data/x.tsv}");
    assert_int_equal(rapt_recipe_read(path, &r, &err), RAPT_OK);
    assert_string_equal(r.data.pairs, "/data/x.tsv");
    rapt_recipe_free(&r);
    write_text("r.yaml", "data: {pairs: x.tsv}");
    assert_int_equal(rapt_recipe_read("r.yaml", &r, &err), RAPT_OK);
    assert_string_equal(r.data.pairs, "x.tsv");
    rapt_recipe_free(&r);
}

/* The recipes that come with rapt are good, and the book's has the book's settings. */
static void shipped_recipes(void **state)
{
    (void)state;
    static const char *const paths[] = {"recipes/quickstart.yaml", "recipes/fra-eng.yaml",
                                        "recipes/d2l-seq2seq.yaml"};
    rapt_recipe r;
    rapt_error err = {0};
    if (access(paths[0], R_OK) != 0) {
        print_message("not started from the project's root\n");
        skip();
    }
    for (size_t i = 0; i < 3; i++) {
        rapt_code code = rapt_recipe_read(paths[i], &r, &err);
        assert_string_equal(err.message, "");
        assert_int_equal(code, RAPT_OK);
        assert_int_equal(rapt_recipe_check(&r, paths[i], &err), RAPT_OK);
        assert_string_equal(r.data.pairs, i ? "recipes/../data/fra-eng/fra.txt" : "recipes/../data/en-fr.tsv");
        if (i < 2)
            rapt_recipe_free(&r);
    }
    assert_true(r.data.limit == 601 && r.data.max_len == 10 && r.data.validation_fraction == 0);
    assert_true(r.data.too_long == RAPT_TOO_LONG_CUT && r.data.pad == RAPT_RECIPE_PAD_FIXED);
    assert_true(r.tokenizer.lowercase && r.tokenizer.min_freq == 2 && !r.tokenizer.shared);
    assert_true(r.model.layers == 2 && r.model.d_model == 32 && r.model.heads == 4 && r.model.ffn == 64);
    assert_true(r.model.dropout == 0.1 && r.model.norm_place == RAPT_NORM_PLACE_POST && !r.model.bias);
    assert_true(r.model.scale_embedding && r.model.init == RAPT_WEIGHT_INIT_XAVIER && r.model.embedding_std == 1);
    assert_true(r.train.lr == 0.005 && r.train.clip == 1 && r.train.batch == 64 && r.train.epochs == 200);
    assert_true(r.train.reduction == RAPT_RECIPE_REDUCTION_BOOK && r.train.schedule == RAPT_RECIPE_SCHEDULE_CONSTANT &&
                r.seed == 1);
    rapt_recipe_free(&r);
}

static void from_memory(void **state)
{
    (void)state;
    rapt_recipe r;
    rapt_error err = {0};
    static const char text[] = "data: {pairs: a.tsv:/b.tsv, validation: ../v.tsv}\ntrain: {lr: 0.5}\n";
    assert_int_equal(rapt_recipe_parse(text, strlen(text), "here/data", &r, &err), RAPT_OK);
    assert_string_equal(r.data.pairs, "here/data/a.tsv:/b.tsv");
    assert_string_equal(r.data.validation, "here/data/../v.tsv");
    assert_true(r.train.lr == 0.5);
    rapt_recipe_free(&r);
    assert_int_equal(rapt_recipe_parse(text, strlen(text), NULL, &r, &err), RAPT_OK);
    assert_string_equal(r.data.pairs, "a.tsv:/b.tsv");
    rapt_recipe_free(&r);
    const size_t first = (size_t)(strchr(text, '\n') - text); /* the rest is not read */
    assert_int_equal(rapt_recipe_parse(text, first, "", &r, &err), RAPT_OK);
    assert_true(r.train.lr != 0.5);
    rapt_recipe_free(&r);
    static const char wrong[] = "seed: 2\ntrain: {lr: -1}";
    assert_int_equal(rapt_recipe_parse(wrong, strlen(wrong), "d", &r, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "recipe:2: train.lr is -1; it must be above 0 and at most 10");
    assert_int_equal(r.seed, 1);
    err = (rapt_error){0};
    assert_int_equal(rapt_recipe_parse(NULL, 0, NULL, &r, &err), RAPT_ERR_FORMAT);
    assert_string_equal(err.message, "recipe: the recipe is empty");
}

static void too_large_a_text(void **state)
{
    (void)state;
    const size_t size = ((size_t)1 << 20) + 1;
    rapt_recipe r;
    rapt_error err = {0};
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, '\n', size);
    memcpy(text, "seed: 3", 7);
    assert_int_equal(rapt_recipe_parse(text, size - 1, NULL, &r, &err), RAPT_OK);
    assert_int_equal(r.seed, 3);
    assert_int_equal(rapt_recipe_parse(text, size, NULL, &r, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "recipe is larger than 1048576 bytes");
    free(text);
}

static void one_key(void **state)
{
    (void)state;
    rapt_recipe r;
    rapt_error err = {0};
    rapt_recipe_defaults(&r);
    assert_int_equal(rapt_recipe_set_key(&r, "data.pairs", "a=b\nc", &err), RAPT_OK);
    assert_string_equal(r.data.pairs, "a=b\nc");
    assert_int_equal(rapt_recipe_set_key(&r, "train.lr", "0.25", &err), RAPT_OK);
    assert_true(r.train.lr == 0.25);
    assert_int_equal(rapt_recipe_set_key(&r, "train.lr", "-1", &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "train.lr is -1; it must be above 0 and at most 10");
    err = (rapt_error){0};
    assert_int_equal(rapt_recipe_set_key(&r, "train.lr=1", "2", &err), RAPT_ERR_VALUE);
    err = (rapt_error){0};
    assert_int_equal(rapt_recipe_set_key(&r, "train.quux", "2", &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "unknown key \"train.quux\"");
    assert_true(r.train.lr == 0.25);
    rapt_recipe_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_each_enum),
        cmocka_unit_test(lenient_where_it_does_no_harm),
        cmocka_unit_test(assignments),
        cmocka_unit_test(keys_that_do_not_fit),
        cmocka_unit_test(fields_set_by_hand),
        cmocka_unit_test(formatted_text),
        cmocka_unit_test(doubles_read_back_equal),
        cmocka_unit_test(locale_does_not_matter),
        cmocka_unit_test(help_lists_every_key),
        cmocka_unit_test(from_memory),
        cmocka_unit_test(too_large_a_text),
        cmocka_unit_test(one_key),
        IN_FOLDER(relative_paths_start_at_the_recipe),
        cmocka_unit_test(shipped_recipes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
