/* tests/fuzz/fuzz_ranks.c: any bytes as a rank file, and as base64.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "rapt/text.h"
#include "text/bpe/base64.h"

/* What is read is written the same. */
static void check_base64(const uint8_t *input, size_t size)
{
    size_t length;
    char *bytes = malloc(size + 1), *letters;
    require(bytes != NULL);
    if (base64_decode((const char *)input, size, bytes, &length)) {
        require(length <= size / 4 * 3);
        letters = malloc(BASE64_CAPACITY(length) + 1);
        base64_encode(bytes, length, letters);
        require(BASE64_CAPACITY(length) == size && (size == 0 || memcmp(letters, input, size) == 0));
        free(letters);
    }
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    char path[64], spec[96];
    rapt_error err = {0};
    int fd = fuzz_file(input, size, path);
    snprintf(spec, sizeof spec, "r50k_base:%s", path);
    rapt_tokenizer *k = rapt_tokenizer_load(spec, &err);
    require_outcome(k != NULL, &err);
    rapt_tokenizer_free(k);
    close(fd);
    check_base64(input, size);
    return 0;
}
