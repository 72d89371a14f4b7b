/* tests/io/test_model_no_memory.c: every allocation of saving and loading a model folder is made to fail in turn: the
 * failure is reported, nothing crashes, nothing leaks.
 * For src/io/model*.c, config_*.c and adapter/, and what they stand on. Linked as tests/failing.h says. */
#define _GNU_SOURCE
#include "failing_json.h"

#include "io/adapter/adapter.h"
#include "io/adapter/adapter_config.h"
#include "io/model_folder.h"
#include "loading.h"

static int set_up(void **state)
{
    if (failing_check_link(state))
        return -1;
    failing_count_json();
    return folder_make(state);
}

static rapt_code save_once(const rapt_model *m)
{
    rapt_error err = {0};
    rapt_code code = rapt_model_save_config(m, folder_path, &err);
    if (!code)
        code = rapt_model_save_params(m, folder_path, &err);
    assert_int_equal(code, err.code);
    return code;
}

static rapt_code load_once(const rapt_model *like)
{
    rapt_error err = {0};
    rapt_model *m = load_task(folder_path, like->task, &err);
    assert_true((m != NULL) == (err.code == RAPT_OK));
    rapt_model_free(m);
    return err.code;
}

static rapt_code seal_once(const rapt_model *like)
{
    rapt_error err = {0};
    (void)like;
    rapt_code code = rapt_model_seal(folder_path, &err);
    assert_int_equal(code != RAPT_OK, err.code != RAPT_OK);
    return err.code;
}

static void fail_each_allocation(const char *what, rapt_code (*act)(const rapt_model *), const rapt_model *m)
{
    failing f = {.what = what, .at_least = 6, .threads = true};
    do {
        failing_arm(&f);
    } while (failing_again(&f, act(m)));
}

static void language_models(void **state)
{
    (void)state;
    rapt_lm_config c = lm_variant(24);
    rapt_model *m = language_model(&c, characters('A', MODEL_VOCAB));
    save(m);
    fail_each_allocation("saving a language model", save_once, m);
    fail_each_allocation("loading a language model", load_once, m);
    fail_each_allocation("sealing a language model", seal_once, m);
    rapt_model_free(m);
}

static void translation_models(void **state)
{
    (void)state;
    rapt_model *m = translation_model();
    save(m);
    fail_each_allocation("saving a translation model", save_once, m);
    fail_each_allocation("loading a translation model", load_once, m);
    fail_each_allocation("sealing a translation model", seal_once, m);
    rapt_model_free(m);
}

static const char *adapter_folder;

static rapt_code adapter_once(const rapt_model *m)
{
    rapt_error err = {0};
    adapter *a;
    (void)m;
    rapt_code code = adapter_open(adapter_folder, &a, &err);
    assert_int_equal(code, err.code);
    assert_true((a != NULL) == (code == RAPT_OK));
    adapter_close(a);
    return code;
}

static rapt_code patterns_once(const rapt_model *m)
{
    rapt_error err = {0};
    adapter_patterns p;
    double value = 0;
    (void)m;
    rapt_code code = adapter_patterns_parse(&p, "layers.0.q_proj=2,v_proj=3", &adapter_rank_pattern, &err);
    if (!code)
        code = adapter_patterns_find(&p, "model.layers.1.v_proj", &value, &err);
    assert_int_equal(code, err.code);
    adapter_patterns_free(&p);
    return code;
}

static void adapters(void **state)
{
    (void)state;
    adapter_folder = RAPT_SOURCE_DIR "/tests/golden/adapters/patterns";
    fail_each_allocation("reading adapters with patterns", adapter_once, NULL);
    adapter_folder = RAPT_SOURCE_DIR "/tests/golden/adapters/dora";
    fail_each_allocation("reading adapters with magnitudes", adapter_once, NULL);
    adapter_folder = RAPT_SOURCE_DIR "/tests/golden/adapters/saved";
    fail_each_allocation("reading matrices that are saved whole", adapter_once, NULL);
    failing f = {.what = "reading patterns", .at_least = 1};
    do {
        failing_arm(&f);
    } while (failing_again(&f, patterns_once(NULL)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(language_models, empty_folder),
        cmocka_unit_test_teardown(translation_models, empty_folder),
        cmocka_unit_test(adapters),
    };
    return cmocka_run_group_tests(tests, set_up, remove_folder);
}
