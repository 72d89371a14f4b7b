/* tests/decode/test_generate_no_memory.c: every allocation of generating a text, and of next-token probabilities,
 * is made to fail in turn: the failure is reported, nothing crashes, nothing is left. Linked as
 * tests/failing.h says. */
#include "failing.h"

#include "decode/generate_case.h"
#include "options.h"
#include "text/token_trie.h"
#include "text/tokenizer.h"

static rapt_tokenizer *tokenizer, *bytes;
static rapt_lm *model, *of_bytes;

static int set_up(void **state)
{
    if (failing_check_link(state))
        return -1;
    rapt_lm_config c = lm_variant(100);
    tokenizer = case_characters();
    model = lm_model(&c);
    bytes = case_bytes();
    c.vocab = BYTES_VOCAB;
    of_bytes = lm_model(&c);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rapt_tokenizer_free(tokenizer);
    rapt_lm_free(model);
    rapt_tokenizer_free(bytes);
    rapt_lm_free(of_bytes);
    return 0;
}

/* Long enough for tokens and text to outgrow their first memory. */
static rapt_code text(rapt_tape *t, rapt_error *err)
{
    rapt_generate_options o = {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 1, .top_k = 9}, 150,
                               (const char *[]){"xyz", "zz"}, 2};
    rapt_generated result;
    const rapt_model m = case_model(model, tokenizer);
    rapt_code code = case_generate(t, &m, "hello", 0, &o, &result, err);
    rapt_generated_free(&result);
    return code;
}

/* A text whose proposals are right; out of memory for proposals, it is computed token by token. */
static rapt_code looping(rapt_tape *t, rapt_error *err)
{
    const rapt_logit_bias bias = {3, 100};
    rapt_generate_options o = {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .greedy = true, .biases = &bias, .bias_count = 1},
                               .max_tokens = 40};
    const rapt_model m = case_model(model, tokenizer);
    rapt_generated result;
    rapt_code code = case_generate(t, &m, "hello", 0, &o, &result, err);
    for (size_t i = 0; i < result.token_count; i++)
        assert_int_equal(result.tokens[i], 3);
    assert_true(code || result.token_count == 40);
    rapt_generated_free(&result);
    return code;
}

/* On a tape of its own, with packed weights, whose options are copied. */
static rapt_code whole(rapt_tape *t, rapt_error *err)
{
    (void)t;
    const rapt_model m = case_model(model, tokenizer);
    rapt_generate_options o = {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .biases = &(rapt_logit_bias){1, 2},
                                                             .bias_count = 1}, 3, (const char *[]){"xyz"}, 1,
                               .compute.threads = 1};
    return rapt_generate(&m, "hello", &o, NULL, err);
}

static rapt_code likeliest(rapt_tape *t, rapt_error *err)
{
    int32_t ids[3];
    double probabilities[3];
    const rapt_model m = case_model(model, tokenizer);
    rapt_generator *g = generator_on_tape(&m, t, NULL, err);
    rapt_code code = g ? rapt_generator_begin(g, "hello", 5, err) : err->code;
    code = code ? code : rapt_generator_likeliest(g, 3, ids, probabilities, err);
    rapt_generator_free(g);
    return code;
}

/* Obeys a schema, of which each kind of value has memory of its own. */
static rapt_code constrained_text(rapt_tape *t, rapt_error *err)
{
    static const char schema[] =
        "{\"properties\":{\"a\":{\"enum\":[1,\"b\"]},\"c\":{\"type\":\"string\",\"pattern\":\"^x[yz]$\"},"
        "\"d\":{\"items\":{\"type\":\"string\"}}},\"required\":[\"a\",\"c\",\"d\"],\"additionalProperties\":true}";
    const rapt_model m = case_model(of_bytes, bytes);
    rapt_constraint *c = rapt_constraint_json_schema(schema, sizeof schema - 1, err);
    rapt_generate_options o = {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 1}, 90, .constraint = c};
    rapt_generator *g = c ? generator_on_tape(&m, t, &o, err) : NULL;
    rapt_code code = g ? rapt_generator_begin_tokens(g, (int32_t[]){65}, 1, err) : err->code;
    code = code ? code : rapt_generator_run(g, 0, NULL, err);
    rapt_generator_free(g);
    rapt_constraint_free(c);
    token_trie_free(atomic_exchange(&bytes->trie, NULL)); /* made anew each time */
    return code;
}

static rapt_code with_tape(rapt_code (*run)(rapt_tape *, rapt_error *))
{
    rapt_error err = {0};
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1}, &err);
    rapt_code code = t ? run(t, &err) : err.code;
    rapt_tape_free(t);
    return code;
}

static void fail_each_allocation(const char *what, rapt_code (*run)(rapt_tape *, rapt_error *), long at_least, long unnoticed)
{
    failing f = {.what = what, .at_least = at_least, .unnoticed = unnoticed};
    do {
        failing_arm(&f);
    } while (failing_again(&f, with_tape(run)));
}

static void texts_survive(void **state)
{
    (void)state;
    fail_each_allocation("a text", text, 15, 12);
    fail_each_allocation("a text whose proposals hold", looping, 15, 12);
}

static void one_call_survives(void **state)
{
    (void)state;
    fail_each_allocation("a generator of its own", whole, 20, 0);
}

static void constraints_survive(void **state)
{
    (void)state;
    fail_each_allocation("a text that obeys a schema", constrained_text, 30, 12);
}

static void probabilities_survive(void **state)
{
    (void)state;
    fail_each_allocation("next-token probabilities", likeliest, 8, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_survive), cmocka_unit_test(one_call_survives),
                                       cmocka_unit_test(constraints_survive), cmocka_unit_test(probabilities_survive)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
