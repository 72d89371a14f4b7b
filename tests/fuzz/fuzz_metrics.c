/* tests/fuzz/fuzz_metrics.c: any bytes as options, translation and references of BLEU and chrF.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "options.h"
#include "rapt/metrics.h"

#include <math.h>

/* Input: two bytes of options, then texts that end in NUL: translation, references. */
enum { OPTION_BYTES = 2, MOST_TEXTS = 4 };

typedef struct texts {
    char *memory;
    rapt_text at[MOST_TEXTS];
    size_t count;
} texts;

static texts cut(const uint8_t *bytes, size_t size)
{
    texts t = {.memory = calloc(size + 1, 1)};
    require(t.memory != NULL);
    memcpy(t.memory, bytes, size);
    for (size_t from = 0; from < size && t.count < MOST_TEXTS; from += strlen(t.memory + from) + 1)
        t.at[t.count++] = rapt_text_of(t.memory + from);
    return t;
}

static void check_score(rapt_code code, double score, const rapt_error *err)
{
    require_outcome(code == RAPT_OK, err);
    require(code != RAPT_OK || (score >= 0 && score <= 100 + 1e-6));
}

static void try_bleu(const uint8_t *options, const texts *t)
{
    rapt_bleu_options o = BLEU(.tokenize = options[0] % 5, .smooth = options[0] / 4 % 4, .lowercase = options[0] & 16,
                           .effective_order = options[0] & 32);
    rapt_bleu bleu;
    rapt_error err = {0};
    rapt_code code = rapt_bleu_sentence(&o, &t->at[0], t->at + 1, t->count - 1, &bleu, &err);
    check_score(code, code ? 0 : bleu.score, &err);
    if (code)
        return;
    char signature[RAPT_SIGNATURE_SIZE];
    rapt_bleu_signature(&o, t->count - 1, signature, sizeof signature);
    require(strlen(signature) > 0);
    err = (rapt_error){0};
    code = rapt_bleu_sentence(&o, &t->at[0], &t->at[0], 1, &bleu, &err);
    require(code == RAPT_OK && bleu.counts[0] == bleu.totals[0] && (bleu.sys_len == bleu.ref_len));
}

static void try_chrf(const uint8_t *options, const texts *t)
{
    rapt_chrf_options o = CHRF(.char_order = 1 + options[1] % 8, .word_order = options[1] / 8 % 4, .lowercase = options[1] & 32,
                           .whitespace = options[1] & 64, .eps_smoothing = options[1] & 128);
    double score;
    rapt_error err = {0};
    rapt_code code = rapt_chrf_sentence(&o, &t->at[0], t->at + 1, t->count - 1, &score, &err);
    check_score(code, code ? 0 : score, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    if (size < OPTION_BYTES)
        return 0;
    texts t = cut(input + OPTION_BYTES, size - OPTION_BYTES);
    if (t.count > 0) {
        try_bleu(input, &t);
        try_chrf(input, &t);
        double book = rapt_bleu_book(&t.at[0], &t.at[t.count - 1], 1 + input[0] % 4);
        require(isnan(book) || (book >= 0 && book <= 1 + 1e-9));
    }
    free(t.memory);
    return 0;
}
