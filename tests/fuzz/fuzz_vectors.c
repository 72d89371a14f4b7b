/* tests/fuzz/fuzz_vectors.c: any bytes as a file of word vectors.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "options.h"
#include "rapt/text.h"

#include <math.h>

#define D 2

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    char path[64];
    const char *const lines[] = {"a a b"};
    rapt_real table[6 * D] = {0};
    rapt_vectors_result result = {0};
    rapt_error err = {0};
    rapt_tokenizer *k = rapt_tokenizer_train_words(lines, 1, &TRAIN_WORDS(), &err);
    require(k != NULL && rapt_tokenizer_size(k) == 6);
    int fd = fuzz_file(input, size, path);
    rapt_code code = rapt_vectors_read(path, k, 6, D, table, &result, &err);
    require_outcome(code == RAPT_OK, &err);
    require(code || (result.found > 0 && result.found <= result.tokens && result.words > 0));
    for (size_t i = 0; i < sizeof table / sizeof *table && !code; i++)
        require(isfinite(table[i]));
    close(fd);
    rapt_tokenizer_free(k);
    return 0;
}
