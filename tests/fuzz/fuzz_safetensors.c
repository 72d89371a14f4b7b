/* tests/fuzz/fuzz_safetensors.c: any bytes as a safetensors file, and any text as its header.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/safetensors.h"

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* Reads every byte of every tensor, so that the sanitizer sees a wrong pointer. */
static unsigned walk(const safetensors *s)
{
    unsigned sum = 0;
    for (size_t i = 0; i < safetensors_count(s); i++) {
        const safetensors_entry *e = safetensors_at(s, i);
        const unsigned char *data = e->data;
        require(safetensors_find(s, e->name) == e);
        require((uintptr_t)data % safetensors_dtype_bytes(e->dtype) == 0);
        for (size_t j = 0; j < e->bytes; j++)
            sum += data[j];
    }
    return sum + (safetensors_metadata(s, "format") != NULL);
}

static void try_file(char *bytes, size_t size)
{
    rapt_error err = {0};
    safetensors *s;
    rapt_code code = safetensors_parse("fuzz", bytes, size, &s, &err);
    require((code == RAPT_OK) == (s != NULL));
    require((code == RAPT_OK) == (err.message[0] == '\0'));
    require(!strchr(err.message, '\n'));
    volatile unsigned sum = s ? walk(s) : 0;
    (void)sum;
    safetensors_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    char *copy = malloc(size ? size : 1);
    memcpy(copy, input, size);
    try_file(copy, size);
    if (size < 1)
        return 0;
    uint64_t header =
        size - 1; /* again, as a header before input[0] bytes of data: its length is always right */
    size_t whole = 8 + size - 1 + input[0];
    char *file = calloc(whole, 1);
    memcpy(file, &header, 8);
    memcpy(file + 8, input + 1, size - 1);
    try_file(file, whole);
    return 0;
}
