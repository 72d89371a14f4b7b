/* tests/fuzz/fuzz_tokenizer_file.c: any bytes as a tokenizer file.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "rapt/text.h"

/* Every token encodes to itself where it is a word as the tokenizer writes words, and to known ids in any case. */
static void check_tokens(const rapt_tokenizer *k)
{
    for (size_t i = 0; i < rapt_tokenizer_size(k); i++) {
        rapt_error err = {0};
        int32_t *ids;
        size_t count;
        const char *token = rapt_tokenizer_token(k, (int32_t)i);
        require(token && *token && !strpbrk(token, " \t\r\n\v\f"));
        require(rapt_tokenizer_encode(k, token, &ids, &count, &err) == RAPT_OK);
        for (size_t j = 0; j < count; j++)
            require(rapt_tokenizer_token(k, ids[j]) != NULL);
        char *text = rapt_tokenizer_decode(k, ids, count);
        require(text && !strchr(text, '\n'));
        free(text);
        free(ids);
    }
}

static char folder[] = "/tmp/rapt-fuzz-XXXXXX";
static char file[64];

static void remove_folder(void)
{
    rmdir(folder);
}

static void make_folder(void)
{
    require(mkdtemp(folder) != NULL);
    snprintf(file, sizeof file, "%s/t.json", folder);
    atexit(remove_folder);
}

/* What was read can be written, and reads back the same. */
static void write_and_read(const rapt_tokenizer *k)
{
    rapt_error err = {0};
    if (!*file)
        make_folder();
    require(rapt_tokenizer_save(k, file, &err) == RAPT_OK);
    rapt_tokenizer *again = rapt_tokenizer_load(file, &err);
    unlink(file);
    require(again && rapt_tokenizer_size(again) == rapt_tokenizer_size(k));
    for (size_t i = 0; i < rapt_tokenizer_size(k); i++)
        require(strcmp(rapt_tokenizer_token(k, (int32_t)i), rapt_tokenizer_token(again, (int32_t)i)) == 0);
    rapt_tokenizer_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    char path[64];
    rapt_error err = {0};
    int fd = fuzz_file(input, size, path);
    rapt_tokenizer *k = rapt_tokenizer_load(path, &err);
    require_outcome(k != NULL, &err);
    if (k) {
        require(rapt_tokenizer_size(k) >= RAPT_SPECIALS);
        check_tokens(k);
        write_and_read(k);
    }
    rapt_tokenizer_free(k);
    close(fd);
    return 0;
}
