/* tests/decode/test_translate_no_memory.c: each allocation of a translator, and of a run with options of its own, fails once: it
 * is reported, and the translator stays usable. (That no memory is left then, the address sanitizer sees.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/translate_case.h"
#include "failing.h"
#include "options.h"
#include "rapt/glossary.h"
#include "texts.h"

enum { LINES = 4 };

static rapt_model *model;

static rapt_code translate(const rapt_translate_options *own)
{
    static const char *const lines[LINES] = {"w1 w2 w3", "w4 Foo", "w1 w2 w3 w4 w5 w6 w7 w8 w9" /* two segments */, ""};
    static const char *const prefixes[LINES] = {"w5", NULL, "w6 w7", NULL};
    rapt_translate_options options = *own;
    const rapt_translator_request request = {.options = &options, .prefixes = TEXTS_OF(prefixes, LINES)};
    rapt_error err = {0};
    rapt_translation out[LINES];
    rapt_glossary *g = own->min_length == 2 ? rapt_glossary_parse("g", rapt_text_of("w2\tw20 w21\nw9\tw22\n"), &err) : NULL;
    if (err.code)
        return err.code;
    options.glossary = g;
    rapt_translator *t = rapt_translator_new(model, &TRANSLATE(.compute.threads = 1, .prefix = "w8",
                                                    .others = (const rapt_model *const[]){model}, .other_count = own->beam == 3),
                                             &err);
    rapt_code code = t ? rapt_translator_run(t, &request, TEXTS_OF(lines, LINES), LINES, out, &err) : err.code;
    if (t && !code)
        rapt_translations_free(out, LINES);
    rapt_translator_free(t);
    rapt_glossary_free(g);
    return code;
}

static void runs_survive(void **state)
{
    static const rapt_translate_options options[] = {
        {TRANSLATE_DEFAULTS},
        {TRANSLATE_DEFAULTS, .beam = 3, .n_best = 2, .tokens = true, .alignment = true, .coverage_penalty = 1},
        {TRANSLATE_DEFAULTS, .replace_unknown = true, .max_ratio = 0.5},
        {TRANSLATE_DEFAULTS, .min_length = 2}, /* with a glossary */
    };
    (void)state;
    for (int policy = 0; policy < 2; policy++) {
        model = case_translation_model(8, 2);
        if (policy)
            model->search = (rapt_search_policy){.given = true, .beams = 3, .length_penalty = 1, .repetition_penalty = 1};
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            model->translation.net->decoder.output.bias->value.data[RAPT_UNK] += options[i].replace_unknown ? 6 : 0;
            failing f = {.what = "a run with options", .at_least = 60, .uncounted = true}; /* strndup is the C library's */
            do {
                failing_arm(&f);
            } while (failing_again(&f, translate(&options[i])));
        }
        rapt_model_free(model);
    }
}

/* More segments than may begin at once: those that wait while the others fail must end, too. */
static void a_translator_stays_usable(void **state)
{
    enum { MANY = 12 };
    const char *lines[MANY];
    rapt_translation out[MANY];
    rapt_error err = {0};
    (void)state;
    for (size_t i = 0; i < MANY; i++)
        lines[i] = "w1 w2 w3";
    model = case_translation_model(8, 2);
    failing f = {.what = "a run of many lines", .at_least = 20, .uncounted = true};
    bool more;
    do {
        rapt_translator *t = rapt_translator_new(model, &TRANSLATE(.compute.threads = 1, .batch = 2), &err);
        assert_non_null(t);
        failing_arm(&f);
        rapt_code code = rapt_translator_run(t, NULL, TEXTS_OF(lines, MANY), MANY, out, &err);
        more = failing_again(&f, code);
        if (!code)
            rapt_translations_free(out, MANY);
        assert_int_equal(rapt_translator_run(t, NULL, TEXTS_OF(lines, MANY), MANY, out, NULL), RAPT_OK);
        rapt_translations_free(out, MANY);
        rapt_translator_free(t);
    } while (more);
    rapt_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs_survive), cmocka_unit_test(a_translator_stays_usable)};
    return cmocka_run_group_tests(tests, failing_check_link, NULL);
}
