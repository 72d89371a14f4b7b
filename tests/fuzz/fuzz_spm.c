/* tests/fuzz/fuzz_spm.c: any bytes as a SentencePiece model, which then encodes its own file and its tokens.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "text/tokenizer.h"

enum { MOST_CHECKED = 100 };

/* Ids are in the vocabulary, and decode. A text that has a control piece in it is refused. */
static void check_text(const rapt_tokenizer *k, const char *text, size_t size)
{
    rapt_error err = {0};
    int32_t *ids;
    size_t count, length;
    rapt_code code = rapt_tokenizer_encode_bytes(k, text, size, NULL, &ids, &count, &err);
    require_outcome(code == RAPT_OK, &err);
    require(code == RAPT_OK || code == RAPT_ERR_VALUE);
    for (size_t i = 0; i < count; i++)
        require(rapt_tokenizer_token(k, ids[i], NULL) != NULL);
    char *back = rapt_tokenizer_decode(k, ids, count, &length);
    require(back && back[length] == '\0');
    free(back);
    free(ids);
}

static void check_tokens(const rapt_tokenizer *k)
{
    int32_t all[MOST_CHECKED];
    size_t count = rapt_tokenizer_size(k) < MOST_CHECKED ? rapt_tokenizer_size(k) : MOST_CHECKED, size;
    for (size_t i = 0; i < count; i++) {
        const char *token = rapt_tokenizer_token(k, (int32_t)i, &size);
        require(token && size > 0);
        check_text(k, token, size);
        all[i] = (int32_t)(count - 1 - i);
    }
    char *text = rapt_tokenizer_decode(k, all, count, NULL);
    require(text != NULL);
    free(text);
}

/* The file form of rapt holds the same model. */
static void check_saved(const rapt_tokenizer *k)
{
    rapt_error err = {0};
    char *text = tokenizer_to_text(k);
    require(text != NULL);
    rapt_tokenizer *again = tokenizer_from_text("again", text, strlen(text), &err);
    require(again && rapt_tokenizer_hash(again) == rapt_tokenizer_hash(k));
    rapt_tokenizer_free(again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    rapt_error err = {0};
    rapt_tokenizer *k = spm_from_bytes((const char *)input, size, "fuzz", &err);
    require_outcome(k != NULL, &err);
    if (k) {
        check_text(k, (const char *)input, size);
        check_tokens(k);
        check_saved(k);
    }
    rapt_tokenizer_free(k);
    return 0;
}
