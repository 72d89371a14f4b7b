/* tests/text/test_token_trie.c: the bytes that a trie has for tokens are their text wherever they stand; other tokenizers are
 * refused. Byte tokens that are no characters are left out of the sequences.
 * The tokenizers are the goldens of this folder. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>

#include "base/rng.h"
#include "text/token_trie.h"
#include "text/tokenizer_files.h"
#include "text/utf8.h"

enum { SEQUENCES = 300, SEQUENCE = 12 };

static rapt_tokenizer *golden_pipeline(const char *name, const char *decoder)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/text/pipeline/%s.json", RAPT_SOURCE_DIR, name);
    json_t *root = json_load_file(path, JSON_ALLOW_NUL, NULL), *tokenizer = json_object_get(root, "tokenizer");
    assert_non_null(tokenizer);
    if (decoder)
        assert_int_equal(json_object_set_new(tokenizer, "decoder", json_loads(decoder, 0, NULL)), 0);
    char *text = json_dumps(tokenizer, 0);
    rapt_tokenizer *k = load(write_file("tokenizer.json", text, strlen(text)));
    free(text);
    json_decref(root);
    return k;
}

static rapt_tokenizer *golden_spm(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/text/sentencepiece/%s.model", RAPT_SOURCE_DIR, name);
    return load(path);
}

/* What one sequence decodes to. Spaces at the very beginning may be lost. */
static void check_sequence(const rapt_tokenizer *k, const token_trie *t, uint64_t seed)
{
    int32_t ids[SEQUENCE];
    char want[SEQUENCE * TRIE_LONGEST + 1];
    size_t count = 0, size = 0;
    for (size_t i = 0; count < SEQUENCE && i < 400; i++) {
        const int32_t id = (int32_t)rng_below(seed, i, t->vocab);
        const size_t own = token_trie_bytes(k, id, want + size);
        const bool loses = t->bare_start && count == 0 && memchr(want, ' ', own);
        if (own == 0 || loses || utf8_valid_prefix(want + size, own) < own)
            continue;
        size += own;
        ids[count++] = id;
    }
    char *got = rapt_tokenizer_decode(k, ids, count, NULL);
    want[size] = '\0';
    assert_true(count > 1);
    assert_string_equal(want + strspn(want, " "), got + strspn(got, " "));
    free(got);
}

static void check_tokens(rapt_tokenizer *k, bool bare_start)
{
    rapt_error err = {0};
    const token_trie *t = token_trie_of(k, &err);
    if (!t)
        fail_msg("%s", err.message);
    assert_int_equal(t->bare_start, bare_start);
    for (uint64_t seed = 0; seed < SEQUENCES; seed++)
        check_sequence(k, t, seed);
    rapt_tokenizer_free(k);
}

static void tokens_have_bytes(void **state)
{
    static const char *const models[] = {"bpe", "bpe_bytes", "unigram", "unigram_bytes", "unigram_suffix", "characters"};
    (void)state;
    check_tokens(golden_pipeline("llama2", NULL), false);
    check_tokens(golden_pipeline("unigram_bytes", NULL), false);
    check_tokens(golden_pipeline("gemma", NULL), false);
    check_tokens(golden_pipeline("unigram", NULL), true);
    check_tokens(golden_pipeline("precompiled", NULL), true);
    check_tokens(golden_pipeline("flags", NULL), false);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        check_tokens(golden_spm(models[i]), false);
}

static void is_impossible(rapt_tokenizer *k)
{
    rapt_error err = {0};
    assert_null(token_trie_of(k, &err));
    assert_int_equal(err.code, RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "its model cannot be constrained"));
    rapt_tokenizer_free(k);
}

#define STEPS(more) "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"String\":\"\xE2\x96\x81\"}," \
    "\"content\":\" \"},{\"type\":\"ByteFallback\"}," more "]}"
#define FUSE "{\"type\":\"Fuse\"}"
#define STRIP(content, start, stop) "{\"type\":\"Strip\",\"content\":\"" content "\",\"start\":" #start ",\"stop\":" #stop "}"

static void others_are_refused(void **state)
{
    (void)state;
    check_tokens(golden_pipeline("llama2", STEPS(FUSE "," STRIP(" ", 1, 0))), false);
    is_impossible(golden_pipeline("llama2", STEPS(STRIP(" ", 1, 0) "," FUSE))); /* of each token */
    is_impossible(golden_pipeline("llama2", STEPS(FUSE "," STRIP("{", 1, 0))));
    is_impossible(golden_pipeline("llama2", STEPS(FUSE "," STRIP(" ", 1, 1))));
    is_impossible(golden_pipeline("bert", NULL));
    is_impossible(golden_pipeline("words", NULL));
    is_impossible(golden_spm("unigram_rules")); /* changes decoded texts */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tokens_have_bytes), cmocka_unit_test(others_are_refused)};
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
