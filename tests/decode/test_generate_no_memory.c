/* tests/decode/test_generate_no_memory.c: every allocation of generating a text, and of looking at what a model expects,
 * is made to fail in turn: the failure is reported, nothing crashes, nothing is left. Linked as
 * tests/failing.h says. */
#include "failing.h"

#include "decode/generate_case.h"

#include "decode/prompt.h"

static rapt_tokenizer *tokenizer;
static rapt_lm *model;

static int set_up(void **state)
{
    if (failing_check_link(state))
        return -1;
    rapt_lm_config c = lm_variant(100);
    tokenizer = case_characters();
    model = lm_model(&c);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rapt_tokenizer_free(tokenizer);
    rapt_lm_free(model);
    return 0;
}

/* Long enough for tokens and text to outgrow their first memory. */
static rapt_code text(rapt_tape *t, rapt_error *err)
{
    rapt_generate_options o = {{.temperature = 1, .top_k = 9}, 150, (const char *[]){"xyz", "zz"}, 2};
    free(rapt_generate_text(t, model, tokenizer, "hello", 5, &o, NULL, err));
    return err->code;
}

static rapt_code expectation(rapt_tape *t, rapt_error *err)
{
    prompt p;
    int32_t ids[3];
    double probabilities[3];
    rapt_code code = prompt_encode(model, tokenizer, "hello", 5, &p, err);
    if (!code)
        code = prompt_likeliest(t, model, &p, 2, 3, ids, probabilities, err);
    free(p.ids);
    return code;
}

static rapt_code with_tape(rapt_code (*run)(rapt_tape *, rapt_error *))
{
    rapt_error err = {0};
    rapt_tape *t = rapt_tape_new(&(rapt_tape_options){.threads = 1}, &err);
    rapt_code code = t ? run(t, &err) : err.code;
    rapt_tape_free(t);
    return code;
}

static void fail_each_allocation(const char *what, rapt_code (*run)(rapt_tape *, rapt_error *), long at_least)
{
    failing f = {.what = what, .at_least = at_least};
    do {
        failing_arm(&f);
    } while (failing_again(&f, with_tape(run)));
}

static void texts_survive(void **state)
{
    (void)state;
    fail_each_allocation("a text", text, 15);
}

static void expectations_survive(void **state)
{
    (void)state;
    fail_each_allocation("an expectation", expectation, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_survive), cmocka_unit_test(expectations_survive)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
