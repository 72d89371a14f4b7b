/* tests/io/test_stored_no_memory.c: every allocation of writing a folder with weights of fewer bits, and of loading it, is made
 * to fail in turn: the failure is reported, no folder appears, nothing leaks. For src/io/stored_file.c, stored_blocks.c and what
 * stands on them. Linked as tests/failing.h says.
 * labels: late */
#define _GNU_SOURCE
#include "failing_json.h"

#include "io/stored_folder.h"
#include "loading.h"

#include <string.h>

static int set_up(void **state)
{
    if (failing_check_link(state))
        return -1;
    failing_count_json();
    return folder_make(state);
}

static rapt_code write_once(const rapt_model *m)
{
    rapt_error err = {0};
    const rapt_export_options o = {.size = sizeof o, .to = RAPT_EXPORT_RAPT, .weights = RAPT_TYPE_Q4_0};
    rapt_code code = rapt_model_export(m, folder_in("s"), &o, &err);
    assert_int_equal(code, err.code);
    assert_true(!code || !file_exists(folder_in("s")) || strstr(err.message, "cannot sync the folder of"));
    return code;
}

static rapt_code load_once(bool inference)
{
    rapt_error err = {0};
    rapt_model *m = load_for(folder_in("s"), inference, &err);
    assert_true((m != NULL) == (err.code == RAPT_OK));
    rapt_model_free(m);
    return err.code;
}

/* What is there of a folder goes after each time. */
static void fail_each(const char *what, rapt_model *m)
{
    const bool uncounted = m->family != NULL; /* libc makes texts, too */
    failing f = {.what = what, .at_least = 20, .threads = true, .uncounted = uncounted};
    bool again = true;
    while (again) {
        stored_remove("s");
        failing_arm(&f);
        again = failing_again(&f, write_once(m));
    }
    rapt_model_free(m);
    for (int inference = 0; inference < 2; inference++) {
        /* A language model's tokenizer that gets no thread of its own is read in this one. */
        failing g = {.what = "loading it", .at_least = 20, .unnoticed = 1, .threads = true, .uncounted = uncounted};
        do {
            failing_arm(&g);
        } while (failing_again(&g, load_once(inference)));
    }
}

static void models_of_rapt(void **state)
{
    (void)state;
    fail_each("storing a language model", stored_lm(STORED_LLAMA));
    fail_each("storing a translator", stored_translator());
}

static void hugging_face_folders(void **state)
{
    (void)state;
    fail_each("storing a language model of Hugging Face", stored_hub(stored_lm(STORED_LLAMA)));
    fail_each("storing a translator of Hugging Face", stored_hub(stored_translator()));
}

/* The loss and the gradients of adapters on a model whose weights stay in its file. */
static rapt_code adapt_once(void)
{
    static const int32_t ids[] = {3, 1, 4, 1, 5, 9, 2, 6};
    rapt_error err = {0};
    rapt_load_options o = rapt_load_options_default();
    o.held = true;
    rapt_model *m = rapt_model_load(folder_in("s"), &o, &err);
    rapt_tape *t = m ? rapt_tape_new(&(rapt_compute){.threads = 1}, &err) : NULL;
    if (t && rapt_model_add_lora(m, &MODEL_LORA(.lora.rank = 2), &err) == RAPT_OK) {
        const rapt_tokens x = {.ids = ids, .batch = 1, .time = 7}, y = {.ids = ids + 1, .batch = 1, .time = 7};
        rapt_tape_begin(t, (rapt_pass){.record = true, .training = true});
        rapt_tensor *loss = rapt_lm_loss(t, m->language.net, x, y, NULL, NULL);
        rapt_backward(t, loss, &err);
    }
    rapt_tape_free(t);
    rapt_model_free(m);
    return err.code;
}

static void held_models(void **state)
{
    rapt_error err = {0};
    (void)state;
    rapt_model *m = stored_lm(STORED_LLAMA);
    const rapt_export_options o = {.size = sizeof o, .to = RAPT_EXPORT_RAPT, .weights = RAPT_TYPE_BF16};
    stored_remove("s");
    must(rapt_model_export(m, folder_in("s"), &o, &err), &err);
    rapt_model_free(m);
    failing f = {.what = "training adapters on it", .at_least = 40, .unnoticed = 1, .threads = true};
    do {
        failing_arm(&f);
    } while (failing_again(&f, adapt_once()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(models_of_rapt), cmocka_unit_test(hugging_face_folders),
                                       cmocka_unit_test(held_models)};
    return cmocka_run_group_tests(tests, set_up, folder_remove);
}
