/* tests/io/test_export_no_memory.c: every allocation of writing a model for another program is made to fail in turn: the failure
 * is reported, nothing is left in the folder, nothing leaks. For src/io/export. Linked as tests/failing.h says. */
#define _GNU_SOURCE
#include "failing_json.h"

#include "io/model_folder.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static rapt_export_format format;

static int set_up(void **state)
{
    if (failing_check_link(state))
        return -1;
    failing_count_json();
    return folder_make(state);
}

static rapt_code export_once(const rapt_model *m)
{
    rapt_error err = {0};
    const rapt_export_options o = {.size = sizeof o, .to = format};
    rapt_code code = rapt_model_export(m, folder_in("out"), &o, &err);
    assert_int_equal(code, err.code);
    if (code && strstr(err.message, "cannot sync the folder of")) /* a file, which has appeared whole by then */
        unlink(folder_in("out"));
    if (code)
        assert_int_equal(folder_entries(folder_path), 0);
    return code;
}

static void fail_each_allocation(const char *what, const rapt_model *m)
{
    failing f = {.what = what, .at_least = 6, .threads = true};
    do {
        failing_arm(&f);
    } while (failing_again(&f, export_once(m)));
    folder_remove(NULL);
    assert_int_equal(mkdir(folder_path, 0777), 0);
}

static void models_for_other_programs(void **state)
{
    (void)state;
    rapt_lm_config c = {.vocab = MODEL_VOCAB, .layers = 1, .context = 8, .tied = true, .positions = RAPT_POSITIONS_LEARNED,
                        .block = {.d_model = 4, .heads = 2, .ffn = 6, .bias = true, .norm_place = RAPT_NORM_PLACE_PRE}};
    rapt_model *lm = language_model(&c, characters('A', MODEL_VOCAB)), *translator = translation_model();
    format = RAPT_EXPORT_HF;
    fail_each_allocation("writing a language model for transformers", lm);
    fail_each_allocation("writing a translator for transformers", translator);
    format = RAPT_EXPORT_CTRANSLATE2;
    fail_each_allocation("writing a language model for CTranslate2", lm);
    fail_each_allocation("writing a translator for CTranslate2", translator);
    format = RAPT_EXPORT_GGUF;
    c.block.ffn_kind = RAPT_FFN_GELU_TANH;
    rapt_model *gpt2 = language_model(&c, characters('A', MODEL_VOCAB));
    fail_each_allocation("writing a language model for llama.cpp", gpt2);
    rapt_model_free(gpt2);
    rapt_model_free(lm);
    rapt_model_free(translator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(models_for_other_programs)};
    return cmocka_run_group_tests(tests, set_up, folder_remove);
}
