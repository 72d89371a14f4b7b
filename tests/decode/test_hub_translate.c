/* tests/decode/test_hub_translate.c: translating with Hugging Face folders, against what generate() of transformers makes of the same
 * texts: tokens, scores and texts, alone and in batches. For src/decode/policy_*.c. tests/golden/hub_translation is made by
 * tools/make_hub_translation.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rapt/decode.h"

#define GOLDEN RAPT_SOURCE_DIR "/tests/golden/hub_translation/"
enum { TEXTS = 3 };

static const char *const NAMES[] = {"marian", "marian_4"};
enum { COUNT = sizeof NAMES / sizeof *NAMES };

typedef struct reference {
    rapt_model *m;
    json_t *root;
    const char *lines[TEXTS];
} reference;

static reference reference_open(const char *name)
{
    char path[1024];
    json_error_t where;
    rapt_error err = {0};
    snprintf(path, sizeof path, GOLDEN "%s", name);
    reference r = {.m = rapt_model_load(path, &err)};
    assert_string_equal(err.message, "");
    snprintf(path, sizeof path, GOLDEN "%s/expected.json", name);
    r.root = json_load_file(path, 0, &where);
    assert_int_equal(json_array_size(json_object_get(r.root, "texts")), TEXTS);
    for (size_t i = 0; i < TEXTS; i++)
        r.lines[i] = json_string_value(json_array_get(json_object_get(r.root, "texts"), i));
    return r;
}

static void reference_close(reference *r)
{
    json_decref(r->root);
    rapt_model_free(r->m);
}

/* The reference's ids begin with the start token, and end with the end of text, which a hypothesis does not have. */
static void same_as_reference(const reference *r, const char *search, size_t text, const rapt_hypothesis *h)
{
    const json_t *expected = json_array_get(json_object_get(r->root, search), text), *ids = json_object_get(expected, "ids");
    const json_t *score = json_object_get(expected, "score");
    const size_t end = json_array_size(ids) - 1;
    assert_int_equal(json_integer_value(json_array_get(ids, 0)), r->m->translation.special.bos);
    assert_int_equal(json_integer_value(json_array_get(ids, end)), r->m->translation.special.eos);
    assert_int_equal(h->token_count, end - 1);
    for (size_t i = 1; i < end; i++)
        assert_int_equal(h->tokens[i - 1], json_integer_value(json_array_get(ids, i)));
    assert_string_equal(h->text, json_string_value(json_object_get(expected, "text")));
    if (!json_is_null(score))
        assert_true(fabs(h->score - json_real_value(score)) < 1e-4);
}

/* `beam` 0: as the folder says. */
static void check_search(const char *search, size_t beam)
{
    for (size_t n = 0; n < COUNT; n++) {
        reference r = reference_open(NAMES[n]);
        for (size_t batch = 1; batch <= TEXTS; batch++) {
            rapt_error err = {0};
            rapt_translation out[TEXTS];
            const rapt_translate_options o = {.beam = beam, .batch = batch, .threads = (int)batch, .tokens = true};
            assert_int_equal(rapt_translate(r.m, r.lines, TEXTS, &o, out, &err), RAPT_OK);
            for (size_t i = 0; i < TEXTS; i++)
                same_as_reference(&r, search, i, &out[i].hypotheses[0]);
            rapt_translations_free(out, TEXTS);
        }
        reference_close(&r);
    }
}

static void folders_search_as_the_reference(void **state)
{
    (void)state;
    check_search("beams", 0);
}

static void greedy_search_is_the_references(void **state)
{
    (void)state;
    check_search("greedy", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(folders_search_as_the_reference),
                                       cmocka_unit_test(greedy_search_is_the_references)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
