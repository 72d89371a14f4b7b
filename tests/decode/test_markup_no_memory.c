/* tests/decode/test_markup_no_memory.c: each allocation of reading and of writing a document, and of the spans that this
 * needs, fails once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/translate_case.h"
#include "failing.h"
#include "markup_case.h"
#include "options.h"

static const char document[] =
    "<html><p>one <b>two <i>three</i></b> &eacute; <code>four</code> <p>five <b>six<p>seven</b> <pre>x</pre> <ul><li>eight</ul>";

static rapt_markup *parse(void)
{
    rapt_markup_options o = rapt_markup_options_default();
    o.ignore = "x,y";
    o.splitting = "z";
    rapt_error err = {0};
    return rapt_markup_parse(rapt_text_of(document), &o, &err);
}

static void reading_survives(void **state)
{
    failing f = {.what = "reading a document", .at_least = 15};
    bool more;
    (void)state;
    do {
        failing_arm(&f);
        rapt_markup *m = parse();
        const bool made = m != NULL;
        rapt_markup_free(m);
        more = failing_again(&f, made ? RAPT_OK : RAPT_ERR_MEMORY);
    } while (more);
}

static void writing_survives(void **state)
{
    failing f = {.what = "writing a document", .at_least = 40};
    bool more;
    (void)state;
    rapt_markup *m = parse();
    const size_t count = rapt_markup_count(m);
    rapt_translation t[8];
    assert_true(count <= 8);
    for (size_t i = 0; i < count; i++)
        t[i] = case_copy(rapt_markup_lines(m)[i]);
    do {
        rapt_error err = {0};
        char *text;
        failing_arm(&f);
        const rapt_code code = rapt_markup_write(m, t, 0, &text, NULL, &err);
        free(text);
        more = failing_again(&f, code);
    } while (more);
    rapt_translations_free(t, count);
    rapt_markup_free(m);
}

static void spans_survive(void **state)
{
    static const char *const lines[] = {"w1 w2 w3", "w1 w2 w3 w4 w5 w6 w7 w8 w9 w10"};
    (void)state;
    rapt_model *m = case_translation_model(8, 2);
    failing f = {.what = "a run with spans", .at_least = 60, .uncounted = true};
    bool more;
    do {
        rapt_translation out[2];
        rapt_error err = {0};
        failing_arm(&f);
        const rapt_code code = rapt_translate(m, lines, 2, &TRANSLATE(.compute.threads = 1, .tokens = true, .spans = true), out,
                                              &err);
        if (!code)
            rapt_translations_free(out, 2);
        more = failing_again(&f, code);
    } while (more);
    rapt_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reading_survives), cmocka_unit_test(writing_survives),
                                       cmocka_unit_test(spans_survive)};
    return cmocka_run_group_tests(tests, failing_check_link, NULL);
}
