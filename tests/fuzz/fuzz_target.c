/* tests/fuzz/fuzz_target.c: any bytes as the target of a request line: its path and query, percent-encoded.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "serve/module/http_exchange.h"

/* What was decoded is not longer than what was sent, and what was found is found again. */
static void look_at_query(const exchange *x, size_t size)
{
    const char *name, *value;
    size_t total = 0;
    for (size_t i = 0; exchange_query_at(x, i, &name, &value); i++) {
        total += strlen(name) + strlen(value);
        require(exchange_query(x, name) != NULL);
    }
    require(total <= size);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    char *target = malloc(size + 1);
    require(target != NULL);
    memcpy(target, input, size);
    target[size] = '\0';
    exchange *x = exchange_new("GET", target, NULL, NULL);
    if (x) {
        const char *path = exchange_path(x);
        require(*path == '/' || strcmp(path, "*") == 0);
        require(strlen(path) <= size);
        look_at_query(x, size);
        exchange_release(x);
    }
    free(target);
    return 0;
}
