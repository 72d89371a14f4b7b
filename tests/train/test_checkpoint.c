/* tests/train/test_checkpoint.c: which counters a checkpoint may hold, and how its folder is read. For
 * src/train/checkpoint/checkpoint.c, checkpoint_list.c and leftovers.c. That a resumed run goes the same way is in
 * check_resume.sh. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "folder.h"
#include "io/model_core.h"
#include "io/safetensors.h"
#include "options.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/checkpoint_list.h"
#include "train/folder/leftovers.h"
#include "train/optimizer/adam_moment.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

enum { STEP = 6, MEMBERS = 10 };

#define ONE "3ff0000000000000"      /* the bits of 1.0 */
#define INFINITE "7ff0000000000000"
#define NOT_A_NUMBER "7ff8000000000000"

/* Key, value, key, value, ... of a checkpoint of step 6, as rapt 0.1 writes it without a validation set. */
static const char *const GOOD[2 * MEMBERS + 1] = {
    "step", "6", "recipe_hash", "42", "nll", ONE, "book", ONE, "tokens", "100", "grad_norm", ONE, "best_val_loss", INFINITE,
    "val_loss", NOT_A_NUMBER, "seconds", ONE, "waited", "0"};

static rapt_params *parameters(void)
{
    rapt_params *set = rapt_params_new(1, NULL);
    rapt_params_add(set, "weight", 1, (size_t[]){1}, (rapt_init){RAPT_INIT_NORMAL, 1});
    return set;
}

enum { FIXED = 77 }; /* the hash without what a run may change */

static rapt_code load(uint64_t hash, checkpoint_state *s, rapt_error *err)
{
    rapt_params *set = parameters();
    rapt_model model = {.task = RAPT_TASK_TRANSLATION, .params = set};
    rapt_adam *adam = rapt_adam_new(set, NULL, NULL);
    checkpoint_wanted wanted = {.step = STEP, .recipe_hash = hash, .fixed_hash = FIXED};
    checkpoint_file f;
    rapt_code code = checkpoint_open("m", wanted, &model, &(moments){.adam = adam}, s, &f, err);
    if (!code)
        code = checkpoint_read(&f, s->step, set, &(moments){.adam = adam}, err);
    checkpoint_close(&f);
    rapt_adam_free(adam);
    rapt_params_free(set);
    return code;
}

static void write_with(const char *key, const char *value)
{
    const rapt_real number = 1;
    static const char *const names[] = {"weight", "adam.m.weight", "adam.v.weight"};
    safetensors_entry entries[3];
    const char *metadata[2 * MEMBERS + 3];
    bool there = *key == '\0';
    memcpy(metadata, GOOD, sizeof GOOD);
    for (size_t i = 0; i < 3; i++)
        entries[i] = (safetensors_entry){names[i], SAFETENSORS_F32, 1, {1}, &number, sizeof number};
    for (size_t i = 0; i < MEMBERS; i++)
        if (strcmp(GOOD[2 * i], key) == 0) {
            metadata[2 * i + 1] = value;
            there = true;
        }
    if (!there) { /* one that a file need not have */
        metadata[2 * MEMBERS] = key;
        metadata[2 * MEMBERS + 1] = value;
        metadata[2 * MEMBERS + 2] = NULL;
    }
    assert_int_equal(file_make_dir("m/checkpoints", NULL), RAPT_OK);
    assert_int_equal(safetensors_write("m/checkpoints/step-00000006.safetensors", entries, 3, metadata, NULL), RAPT_OK);
}

static void accepts(const char *key, const char *value)
{
    checkpoint_state s = {0};
    rapt_error err = {0};
    write_with(key, value);
    rapt_code code = load(42, &s, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(code, RAPT_OK);
}

static void refuses(const char *key, const char *value)
{
    char message[256];
    checkpoint_state s = {0};
    rapt_error err = {0};
    write_with(key, value);
    snprintf(message, sizeof message, "m/checkpoints/step-00000006.safetensors: \"%s\" is \"%s\", which no checkpoint holds", key,
             value);
    assert_int_equal(load(42, &s, &err), RAPT_ERR_FORMAT);
    assert_string_equal(err.message, message);
}

static void whole_numbers(void **state)
{
    (void)state;
    static const char *const bad[] = {"abc", "", "-1", "+6", " 6", "6 ", "6.0", "0x6", "6e0", "18446744073709551616"};
    static const char *const keys[] = {"step", "recipe_hash", "tokens", "waited"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        for (size_t j = 0; j < sizeof bad / sizeof *bad; j++)
            refuses(keys[i], bad[j]);
    accepts("step", "6");
    accepts("tokens", "18446744073709551615");
}

static void numbers_with_a_point(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "1.0", "3ff000000000000", "3ff00000000000000", "3FF0000000000000", " ff0000000000000",
                                      "-ff0000000000000", "0x3ff00000000000", "7ff0000000000001 "};
    static const char *const finite[] = {"nll", "book", "grad_norm", "seconds"};
    static const char *const any[] = {"best_val_loss", "val_loss"};
    for (size_t i = 0; i < sizeof finite / sizeof *finite; i++) {
        for (size_t j = 0; j < sizeof bad / sizeof *bad; j++)
            refuses(finite[i], bad[j]);
        refuses(finite[i], INFINITE);
        refuses(finite[i], NOT_A_NUMBER);
        accepts(finite[i], "0000000000000000");
    }
    for (size_t i = 0; i < 2; i++) {
        refuses(any[i], "1.0");
        refuses(any[i], "fff0000000000000");
        accepts(any[i], ONE);
    }
    refuses("seconds", "bff0000000000000");
    accepts("best_score", ONE);
    refuses("best_score", "1.0");
    refuses("best_score", NOT_A_NUMBER);
    refuses("best_score", INFINITE);
    accepts("reductions", "3");
    refuses("reductions", "-3");
    refuses("stale", ONE);
    refuses("best_val_loss", NOT_A_NUMBER);
    refuses("val_loss", INFINITE);
    checkpoint_state s = {0};
    write_with("", "");
    assert_int_equal(load(42, &s, NULL), RAPT_OK);
    assert_true(isnan(s.best_score) && s.stale == 0 && s.reductions == 0); /* files of earlier versions have none */
    assert_true(s.step == 6 && s.tokens == 100 && s.waited == 0 && s.nll == 1 && s.seconds == 1 && isnan(s.val_loss) &&
                isinf(s.best_val_loss));
}

static void fails(uint64_t hash, const char *step, rapt_code code, const char *message)
{
    checkpoint_state s = {0};
    rapt_error err = {0};
    write_with("step", step);
    assert_int_equal(load(hash, &s, &err), code);
    assert_string_equal(err.message, message);
}

static void steps_of_another_file(void **state)
{
    (void)state;
    fails(42, "5", RAPT_ERR_FORMAT,
          "m/checkpoints/step-00000006.safetensors: the file is of step 5, which is not that of its name");
    fails(42, "18446744073709551615", RAPT_ERR_FORMAT,
          "m/checkpoints/step-00000006.safetensors: the file is of step 18446744073709551615, which is not that of its name");
    fails(41, "6", RAPT_ERR_VALUE,
          "m: the checkpoint of step 6 belongs to another recipe, model or data (see its recipe.yaml)");
}

/* Files of earlier versions have neither a hash that leaves out the learning rate nor its value. */
static void another_learning_rate(void **state)
{
    (void)state;
    checkpoint_state s = {0};
    write_with("fixed_hash", "77");
    assert_int_equal(load(41, &s, NULL), RAPT_OK);
    assert_true(s.recipe_hash == 41 && s.fixed_hash == FIXED && s.changed_after == 0 && !*s.tuned);
    write_with("fixed_hash", "78");
    assert_int_equal(load(41, &s, NULL), RAPT_ERR_VALUE);
    assert_int_equal(load(42, &s, NULL), RAPT_OK);
    write_with("tuned", "train.lr=0.5");
    assert_int_equal(load(41, &s, NULL), RAPT_ERR_VALUE);
    assert_int_equal(load(42, &s, NULL), RAPT_OK);
    assert_string_equal(s.tuned, "train.lr=0.5");
    refuses("changed_after", "-1");
}

/* ---- moments in 8 bits: 64 x 64 codes, and a byte for each 256 of them ---------------------------------------------- */

enum { CODES = 64 * 64, BYTES = CODES + 16 };

/* Reads a checkpoint whose moments m have `bytes` bytes of that type; its codes, where it can be read. */
static rapt_code load_codes(safetensors_dtype type, size_t bytes, uint8_t *found, rapt_error *err)
{
    static rapt_real values[CODES];
    static uint8_t codes[4 * BYTES];
    for (size_t i = 0; i < sizeof codes; i++)
        codes[i] = (uint8_t)(i * 7);
    const safetensors_entry entries[] = {
        {"large", SAFETENSORS_F32, 2, {64, 64}, values, sizeof values},
        {"adam8.m.large", type, 1, {bytes / safetensors_dtype_bytes(type)}, codes, bytes},
        {"adam8.v.large", SAFETENSORS_U8, 1, {BYTES}, codes + 1, BYTES},
    };
    assert_int_equal(file_make_dir("m/checkpoints", NULL), RAPT_OK);
    assert_int_equal(safetensors_write("m/checkpoints/step-00000006.safetensors", entries, 3, GOOD, NULL), RAPT_OK);
    rapt_params *set = rapt_params_new(1, NULL);
    rapt_params_add(set, "large", 2, (size_t[]){64, 64}, (rapt_init){RAPT_INIT_NORMAL, 1});
    rapt_model model = {.task = RAPT_TASK_TRANSLATION, .params = set};
    rapt_adam *adam = rapt_adam_new(set, &ADAM(.bits8 = true), NULL);
    checkpoint_state s;
    checkpoint_file f;
    rapt_code code = checkpoint_open("m", (checkpoint_wanted){.step = STEP, .recipe_hash = 42}, &model,
                                     &(moments){.adam = adam}, &s, &f, err);
    if (!code)
        code = checkpoint_read(&f, s.step, set, &(moments){.adam = adam}, err);
    if (!code)
        memcpy(found, adam_moment_of(adam, 0, true).data, BYTES);
    checkpoint_close(&f);
    rapt_adam_free(adam);
    rapt_params_free(set);
    return code;
}

static void moments_in_8_bits(void **state)
{
    static const char message[] = "m/checkpoints/step-00000006.safetensors: tensor \"adam8.m.large\" has not the 4112 bytes of "
                                  "moments in 8 bits";
    uint8_t found[BYTES];
    rapt_error err = {0};
    (void)state;
    assert_int_equal(load_codes(SAFETENSORS_U8, BYTES, found, &err), RAPT_OK);
    for (size_t i = 0; i < BYTES; i++)
        assert_int_equal(found[i], (uint8_t)((i + 1) * 7));
    const struct {
        safetensors_dtype type;
        size_t bytes;
    } bad[] = {{SAFETENSORS_U8, BYTES - 1}, {SAFETENSORS_U8, BYTES + 1}, {SAFETENSORS_I8, BYTES}, {SAFETENSORS_F32, BYTES}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err = (rapt_error){0};
        assert_int_equal(load_codes(bad[i].type, bad[i].bytes, found, &err), RAPT_ERR_FORMAT);
        assert_string_equal(err.message, message);
    }
}

/* ---- the folder ------------------------------------------------------------------------------------------------- */

static void touch(const char *path)
{
    assert_int_equal(file_write_atomic(path, "", 0, NULL), RAPT_OK);
}

static void lists(const char *folder, size_t count, uint64_t first, uint64_t newest)
{
    checkpoint_list l;
    rapt_error err = {0};
    rapt_code code = checkpoint_list_read(folder, &l, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(code, RAPT_OK);
    assert_int_equal(l.count, count);
    assert_int_equal(checkpoint_list_newest(&l), newest);
    for (size_t i = 1; i < count; i++)
        assert_true(l.steps[i - 1] < l.steps[i]);
    assert_true(count == 0 || l.steps[0] == first);
    checkpoint_list_free(&l);
}

static void lists_not(const char *message)
{
    checkpoint_list l;
    rapt_error err = {0};
    assert_int_equal(checkpoint_list_read("m", &l, &err), RAPT_ERR_IO);
    assert_string_equal(err.message, message);
    assert_int_equal(l.count, 0);
    assert_false(checkpoint_list_any("m"));
}

static void a_folder_is_read_or_it_is_an_error(void **state)
{
    (void)state;
    char path[64];
    lists("m", 0, 0, 0);
    assert_int_equal(file_make_dir("m/checkpoints", NULL), RAPT_OK);
    lists("m", 0, 0, 0);
    for (int i = 20; i > 0; i--) {
        snprintf(path, sizeof path, "m/checkpoints/step-%08d.safetensors", 7 * i % 23);
        touch(path);
    }
    static const char *const others[] = {"step-9.safetensors", "step-00000099.safetensors.tmp", "step-0000009x.safetensors",
                                         "step-00000000.safetensors", "notes"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(path, sizeof path, "m/checkpoints/%s", others[i]);
        touch(path);
    }
    lists("m", 20, 1, 22);
    assert_true(checkpoint_list_any("m"));
    assert_int_equal(rename("m/checkpoints", "away"), 0);
    assert_int_equal(symlink("../away", "m/checkpoints"), 0);
    lists("m", 20, 1, 22); /* on another disk */
    assert_int_equal(rename("away", "unmounted"), 0);
    lists_not("cannot read the folder m/checkpoints: it is a link that leads nowhere");
    assert_int_equal(unlink("m/checkpoints"), 0);
    touch("m/checkpoints");
    lists_not("cannot read the folder m/checkpoints: Not a directory");
}

static void only_what_runs_leave_is_removed(void **state)
{
    (void)state;
    static const char *const left[] = {"m/.model.safetensors.1234.0.tmp", "m/.train.jsonl.1.17.tmp", "m/text.tokens.before",
                                       "m/text.txt.before", "m/best/.config.json.99.0.tmp",
                                       "m/checkpoints/.step-00000006.safetensors.7.0.tmp"};
    static const char *const stay[] = {"m/model.safetensors", "m/notes.1.0.tmp", "m/..1.0.tmp", "m/.notes.tmp", "m/.notes.1.tmp",
                                       "m/.notes.x.0.tmp", "m/.notes.1.0.tmp~", "m/.notes.1..tmp", "m/notes.before",
                                       "m/average/.model.safetensors.1.0.tmp", "elsewhere/.model.safetensors.1.0.tmp"};
    static const char *const folders[] = {"m/best", "m/checkpoints", "m/average", "elsewhere"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        assert_int_equal(file_make_dir(folders[i], NULL), RAPT_OK);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        touch(left[i]);
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++)
        touch(stay[i]);
    assert_int_equal(symlink("model.safetensors", "m/.link.1.0.tmp"), 0);
    assert_int_equal(mkdir("m/.folder.1.0.tmp", 0777), 0);
    leftovers_remove("m", true);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        assert_false(file_exists(left[i]));
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++)
        assert_true(file_exists(stay[i]));
    assert_true(file_exists("m/.link.1.0.tmp") && file_exists("m/.folder.1.0.tmp"));
    assert_int_equal(system("rm -r m/best && ln -s ../elsewhere m/best"), 0);
    leftovers_remove("m", true);
    assert_true(file_exists("elsewhere/.model.safetensors.1.0.tmp"));
    leftovers_remove("none", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(whole_numbers),
        IN_FOLDER(numbers_with_a_point),
        IN_FOLDER(steps_of_another_file),
        IN_FOLDER(another_learning_rate),
        IN_FOLDER(moments_in_8_bits),
        IN_FOLDER(a_folder_is_read_or_it_is_an_error),
        IN_FOLDER(only_what_runs_leave_is_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
