/* tests/fuzz/fuzz_encode.c: any bytes as a text for byte-level BPE, with patterns matched by hand and by PCRE2.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "options.h"
#include "rapt/text.h"
#include "text/split/split.h"

enum { PATTERNS = 4 };

/* Two patterns, each by hand and, as a group, by PCRE2. */
static const char *const patterns[PATTERNS] = {SPLIT_CL100K, "(?:" SPLIT_CL100K ")", SPLIT_O200K, "(?:" SPLIT_O200K ")"};

static rapt_tokenizer *tokenizers[PATTERNS];

static void free_tokenizers(void)
{
    for (int i = 0; i < PATTERNS; i++)
        rapt_tokenizer_free(tokenizers[i]);
}

static void make_tokenizers(void)
{
    static const char text[] = "the then they're TheirS \xC3\xA9t\xC3\xA9 \xC3\xA9t\xC3\xA9 12345 123\n\n\n  \n\t!!! !! "
                               "\xE4\xB8\xAD\xE4\xB8\xAD";
    static const char *const specials[] = {"<|x|>", "<|x|>y"};
    rapt_bpe_options o = TRAIN_BPE(.vocab_size = 300, .specials = specials, .special_count = 2, .threads = 1);
    for (int i = 0; i < PATTERNS; i++) {
        o.pattern = patterns[i];
        tokenizers[i] = rapt_tokenizer_train_bpe(text, sizeof text - 1, &o, NULL);
        require(tokenizers[i] != NULL);
    }
    atexit(free_tokenizers);
}

static void check_round_trip(const rapt_tokenizer *k, const uint8_t *input, size_t size, bool specials)
{
    int32_t *ids;
    size_t count, back_size;
    rapt_error err = {0};
    const rapt_encode_options o = ENCODE(.specials = specials);
    require(rapt_tokenizer_encode_bytes(k, (const char *)input, size, &o, &ids, &count, &err) == RAPT_OK);
    require(count <= size);
    char *back = rapt_tokenizer_decode(k, ids, count, &back_size);
    require(back && back_size == size && (size == 0 || memcmp(back, input, size) == 0));
    free(back);
    free(ids);
}

/* Below U+0530 no version of Unicode that is in use differs from another in what the patterns ask for. */
static bool is_old(const uint8_t *input, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (input[i] >= 0xD4)
            return false;
    return true;
}

static void check_pieces(const char *pattern, const char *same, const uint8_t *input, size_t size)
{
    split *s = split_new(pattern, NULL), *t = split_new(same, NULL);
    split_walk *w = split_walk_new(s, NULL), *v = split_walk_new(t, NULL);
    require(w && v);
    for (size_t at = 0, end, other; at < size; at = end) {
        require(split_next(w, (const char *)input, size, at, &end, NULL) == RAPT_OK);
        require(split_next(v, (const char *)input, size, at, &other, NULL) == RAPT_OK);
        require(end > at && end <= size && end == other);
    }
    split_walk_free(w);
    split_walk_free(v);
    split_free(s);
    split_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    if (!tokenizers[0])
        make_tokenizers();
    for (int i = 0; i < PATTERNS; i++) {
        check_round_trip(tokenizers[i], input, size, false);
        check_round_trip(tokenizers[i], input, size, true);
    }
    for (int i = 0; i < PATTERNS && is_old(input, size); i += 2)
        check_pieces(patterns[i], patterns[i + 1], input, size);
    return 0;
}
