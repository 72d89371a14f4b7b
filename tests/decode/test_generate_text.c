/* tests/decode/test_generate_text.c: tokens to text: a model that is made to say known bytes one after the other shows
 * that characters come whole, where stop texts cut, and how a text ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/generate_case.h"
#include "options.h"

/* After <start: each byte occurs once, so that it tells which one is next. Characters of 1, 2, 1, 3, 4 and 1 bytes. */
#define CHAIN "a\xC3\xA9" "b\xE6\x97\xA5\xF0\x9F\x98\x80."
#define CHAIN_BYTES 12

typedef struct setting {
    rapt_tape *t;
    rapt_lm *m;
    rapt_tokenizer *k;
} setting;

static void fill(rapt_lm *m, const char *name, rapt_real value)
{
    rapt_param *p = rapt_params_find(m->params, name);
    assert_non_null(p);
    for (size_t i = 0; i < rapt_tensor_size(&p->value); i++)
        p->value.data[i] = value;
}

/* Makes token `to` the one after `from`. */
static void link_tokens(rapt_lm *m, int32_t from, int32_t to)
{
    rapt_param *w = rapt_params_find(m->params, "output.weight");
    w->value.data[(size_t)to * BYTES_VOCAB + (size_t)from] = 1;
}

/* A block that adds nothing to its input, and a unit vector for each token: what comes out is the row of the output matrix
 * that has a 1 for the last token. */
static rapt_lm *chain_model(const rapt_tokenizer *k, size_t vocab)
{
    static const char *const zeros[] = {"positions.weight", "blocks.0.attention.o.weight", "blocks.0.ffn.dense2.weight",
                                        "embedding.weight", "output.weight"};
    rapt_error err = {0};
    rapt_lm_config c = {.vocab = vocab, .layers = 1, .context = 5, .positions = RAPT_POSITIONS_LEARNED,
                        .block = {.d_model = BYTES_VOCAB, .heads = 1, .ffn = 4, .norm_place = RAPT_NORM_PLACE_PRE,
                                  .norm_kind = RAPT_NORM_KIND_RMS, .init = RAPT_WEIGHT_INIT_PYTORCH, .no_ffn_bias = true}};
    rapt_lm *m = rapt_lm_new(&c, 1, &err);
    if (!m)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++)
        fill(m, zeros[i], 0);
    for (size_t i = 0; i < vocab; i++)
        rapt_params_find(m->params, "embedding.weight")->value.data[i * BYTES_VOCAB + i] = 1;
    link_tokens(m, case_byte(k, '<'), case_byte(k, 'a'));
    for (size_t i = 0; i + 1 < CHAIN_BYTES; i++)
        link_tokens(m, case_byte(k, (unsigned char)CHAIN[i]), case_byte(k, (unsigned char)CHAIN[i + 1]));
    return m;
}

static setting new_setting(void)
{
    rapt_tokenizer *k = case_bytes();
    setting s = {model_tape(NULL, 2), chain_model(k, BYTES_VOCAB), k};
    int32_t end = rapt_tokenizer_special(k, END_OF_TEXT);
    assert_int_equal(end, BYTES_VOCAB - 1);
    link_tokens(s.m, case_byte(k, '.'), end);
    link_tokens(s.m, end, case_byte(k, '<'));
    return s;
}

static void free_setting(setting *s)
{
    rapt_tape_free(s->t);
    rapt_lm_free(s->m);
    rapt_tokenizer_free(s->k);
}

/* Generates greedily into `got`, and into a result, which must be the same. */
static rapt_generated generate(const setting *s, const char *start, rapt_generate_options o, case_text *got)
{
    rapt_error err = {0};
    rapt_generated result;
    const rapt_model m = case_model(s->m, s->k);
    *got = (case_text){.size = 0};
    o.sample.greedy = true;
    o.on_text = case_take;
    o.context = got;
    if (case_generate(s->t, &m, start, 0, &o, &result, &err))
        fail_msg("%s", err.message);
    assert_string_equal(result.text, got->text);
    assert_int_equal(result.text_size, got->size);
    rapt_generated_free(&(rapt_generated){result.tokens, result.log_probs, .text = result.text});
    return result; /* its counts */
}

static void characters_come_whole(void **state)
{
    (void)state;
    case_text got;
    setting s = new_setting();
    rapt_generated r = generate(&s, "<", GENERATE(.max_tokens = 100), &got);
    assert_string_equal(got.text, CHAIN);
    assert_int_equal(got.pieces, 6); /* each as soon as it is complete; the sink checks that it is */
    assert_int_equal(r.prompt_tokens, 1);
    assert_int_equal(r.token_count, CHAIN_BYTES);
    assert_int_equal(r.finish, RAPT_FINISH_END_OF_TEXT);
    free_setting(&s);
}

/* U+FFFD for a character that is cut, as bytes.decode(errors="replace") of Python has it. */
static void max_tokens_cuts(void **state)
{
    (void)state;
    static const struct {
        size_t tokens;
        const char *text;
    } cases[] = {{1, "a"}, {2, "a\xEF\xBF\xBD"}, {3, "a\xC3\xA9"}, {6, "a\xC3\xA9" "b\xEF\xBF\xBD"},
                 {10, "a\xC3\xA9" "b\xE6\x97\xA5\xEF\xBF\xBD"}, {CHAIN_BYTES, CHAIN}};
    case_text got;
    setting s = new_setting();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_generated r = generate(&s, "<", GENERATE(.max_tokens = cases[i].tokens), &got);
        assert_string_equal(got.text, cases[i].text);
        assert_int_equal(r.token_count, cases[i].tokens);
        assert_int_equal(r.finish, RAPT_FINISH_LENGTH);
    }
    free_setting(&s);
}

/* Every part of the text that is whole characters, alone and beside others. */
static void stops_over_tokens(void **state)
{
    (void)state;
    case_text got;
    setting s = new_setting();
    for (size_t first = 0; first < CHAIN_BYTES; first++)
        for (size_t n = 1; first + n <= CHAIN_BYTES; n++) {
            char stop[CHAIN_BYTES + 1] = {0};
            memcpy(stop, &CHAIN[first], n);
            if (utf8_valid_prefix(stop, n) < n)
                continue;
            rapt_generate_options o = {GENERATE_DEFAULTS, .max_tokens = 100, .stops = (const char *[]){"zz", stop, "b."},
                                       .stop_count = 3};
            rapt_generated r = generate(&s, "<", o, &got);
            assert_int_equal(got.size, first);
            assert_memory_equal(got.text, CHAIN, first);
            assert_int_equal(r.finish, RAPT_FINISH_STOP);
            assert_int_equal(r.token_count, first + n); /* no token more than it takes */
        }
    rapt_generate_options never = {GENERATE_DEFAULTS, .max_tokens = 100, .stops = (const char *[]){".."}, .stop_count = 1};
    assert_int_equal(generate(&s, "<", never, &got).finish, RAPT_FINISH_END_OF_TEXT);
    assert_string_equal(got.text, CHAIN); /* what was held back for a stop that didn't come is there */
    never.max_tokens = CHAIN_BYTES;
    assert_int_equal(generate(&s, "<", never, &got).finish, RAPT_FINISH_LENGTH);
    assert_string_equal(got.text, CHAIN);
    free_setting(&s);
}

static void special_tokens_in_prompts(void **state)
{
    (void)state;
    case_text got;
    setting s = new_setting();
    rapt_generated r = generate(&s, END_OF_TEXT "<", GENERATE(.max_tokens = 2), &got);
    assert_int_equal(r.prompt_tokens, 2);
    r = generate(&s, END_OF_TEXT, GENERATE(.max_tokens = 100), &got);
    assert_string_equal(got.text, "<" CHAIN);
    r = generate(&s, "", GENERATE(.max_tokens = 100), &got); /* a text begins */
    assert_string_equal(got.text, "<" CHAIN);
    assert_int_equal(r.prompt_tokens, 1);
    assert_int_equal(r.token_count, CHAIN_BYTES + 1);
    free_setting(&s);
}

/* A model of all bytes, whose vocabulary ends before the end of text. */
static void models_without_an_end(void **state)
{
    (void)state;
    case_text got;
    rapt_error err = {0};
    rapt_tokenizer *k = case_bytes();
    setting s = {model_tape(NULL, 1), chain_model(k, BYTES_VOCAB - 1), k};
    rapt_generate_options o = {GENERATE_DEFAULTS, .max_tokens = CHAIN_BYTES + 3};
    rapt_generated r = generate(&s, "<", o, &got);
    assert_int_equal(r.token_count, CHAIN_BYTES + 3); /* after it all logits are equal: byte 0 of the vocabulary, and on */
    assert_memory_equal(got.text, CHAIN, CHAIN_BYTES);
    rapt_generated none;
    const rapt_model m = case_model(s.m, s.k);
    assert_int_equal(case_generate(s.t, &m, "", 0, &o, &none, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "a prompt of at least one token is needed");
    err = (rapt_error){0};
    assert_int_equal(case_generate(s.t, &m, "ab" END_OF_TEXT, 0, &o, &none, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "token 2, at byte 3 of the prompt, is 256; the model knows 256");
    free_setting(&s);
}

static void a_callback_that_has_enough(void **state)
{
    (void)state;
    case_text got = {.most = 2};
    rapt_error err = {0};
    rapt_generated result;
    setting s = new_setting();
    const rapt_model m = case_model(s.m, s.k);
    rapt_generate_options o = {GENERATE_DEFAULTS, .sample.greedy = true, .max_tokens = 100, .on_text = case_take,
                               .context = &got};
    assert_int_equal(case_generate(s.t, &m, "<", 0, &o, &result, &err), RAPT_ERR_INTERRUPTED);
    assert_string_equal(err.message, "enough");
    assert_int_equal(got.pieces, 2);
    assert_string_equal(got.text, "a\xC3\xA9");
    assert_int_equal(result.token_count, 3);
    assert_string_equal(result.text, got.text);
    assert_int_equal(result.finish, RAPT_FINISH_NONE);
    rapt_generated_free(&result);
    free_setting(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_come_whole),     cmocka_unit_test(max_tokens_cuts),
        cmocka_unit_test(stops_over_tokens),         cmocka_unit_test(special_tokens_in_prompts),
        cmocka_unit_test(models_without_an_end),     cmocka_unit_test(a_callback_that_has_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
