/* tests/fuzz/fuzz_keys.c: any bytes as a file of API keys; and its lines, and all of it, as what a client says is one.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "serve/module/keys.h"

/* Each line is a key as it stands, but for blanks at its ends, empty lines, comments and names. */
static void try_lines(const keys *k, char *text)
{
    static const char blanks[] = " \t\r";
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        const char *key = line + strspn(line, blanks);
        const size_t length = strlen(line);
        require(keys_owner(k, line) || *key == '\0' || strchr(key, '#'));
        if (length) {
            line[length - 1] ^= 1;
            keys_owner(k, line);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    char path[64], *text = malloc(size + 1);
    rapt_error err = {0};
    require(text != NULL);
    const int fd = fuzz_file(input, size, path);
    keys *k = keys_read(path, &err);
    require_outcome(k != NULL, &err);
    memcpy(text, input, size);
    text[size] = '\0';
    if (k) {
        require(!keys_owner(k, NULL) && !keys_owner(k, ""));
        keys_owner(k, text);
        try_lines(k, text);
    }
    keys_free(k);
    free(text);
    close(fd);
    return 0;
}
