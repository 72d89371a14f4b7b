/* tests/io/test_gguf_no_memory.c: every allocation of loading GGUF files is made to fail in turn: the failure is reported,
 * nothing crashes. For src/io/gguf and src/text/gguf. Linked as tests/failing.h says. */
#include "failing_json.h"

#include "loading.h"
#include "rapt/io.h"
#include "rapt/text.h"

#define GOLDEN RAPT_SOURCE_DIR "/tests/golden/gguf/"

static int set_up(void **state)
{
    failing_count_json();
    return failing_check_link(state);
}

static void tokenizers(void **state)
{
    static const char *const paths[] = {GOLDEN "pieces.gguf", GOLDEN "t5.gguf", GOLDEN "bpe.gguf"};
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        failing f = {.what = paths[i], .at_least = 3, .uncounted = true}; /* libc makes texts, too */
        rapt_error err;
        do {
            err = (rapt_error){0};
            failing_arm(&f);
            rapt_tokenizer *k = rapt_tokenizer_load(paths[i], &err);
            assert_true((k != NULL) == (err.code == RAPT_OK));
            rapt_tokenizer_free(k);
        } while (failing_again(&f, err.code));
    }
}

static void a_model(void **state)
{
    (void)state;
    failing f = {.what = "bpe.gguf as a model", .at_least = 20, .uncounted = true};
    rapt_error err;
    do {
        err = (rapt_error){0};
        failing_arm(&f);
        rapt_model *m = load_inference(GOLDEN "bpe.gguf", RAPT_TASK_LANGUAGE_MODEL, &err);
        assert_true((m != NULL) == (err.code == RAPT_OK));
        rapt_model_free(m);
    } while (failing_again(&f, err.code));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tokenizers), cmocka_unit_test(a_model)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
