/* tests/fuzz/fuzz_tokenizer_file.c: any bytes as a tokenizer file.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "options.h"
#include "rapt/text.h"
#include "text/bpe/byte_bpe.h"

enum { MOST_CHECKED = 300 };

/* A word encodes to known ids, and decodes to one line. */
static void check_word(const rapt_tokenizer *k, const char *token)
{
    rapt_error err = {0};
    int32_t *ids;
    size_t count;
    require(token && *token && !strpbrk(token, " \t\r\n\v\f"));
    require(rapt_tokenizer_encode(k, token, &ids, &count, &err) == RAPT_OK);
    for (size_t j = 0; j < count; j++)
        require(rapt_tokenizer_token(k, ids[j], NULL) != NULL);
    char *text = rapt_tokenizer_decode(k, ids, count, NULL);
    require(text && !strchr(text, '\n'));
    free(text);
    free(ids);
}

/* A character of a tokenizer of lines decodes to one line. */
static void check_character(const rapt_tokenizer *k, const char *token, size_t size)
{
    rapt_error err = {0};
    int32_t *ids;
    size_t count;
    require(rapt_tokenizer_encode_bytes(k, token, size, NULL, &ids, &count, &err) == RAPT_OK);
    char *text = rapt_tokenizer_decode(k, ids, count, NULL);
    require(text && !strchr(text, '\n'));
    free(text);
    free(ids);
}

/* With places the ids are the same, and each place is within the text. */
static void check_offsets(const rapt_tokenizer *k, const char *token, size_t size, bool specials, const int32_t *ids,
                          size_t count)
{
    rapt_error err = {0};
    int32_t *again;
    rapt_span *places;
    size_t again_count;
    const rapt_code code = rapt_tokenizer_encode_offsets(k, &(rapt_text){token, size}, &ENCODE(.specials = specials), &again,
                                                         &places, &again_count, &err);
    require(code == RAPT_OK && again_count == count && (count == 0 || memcmp(again, ids, count * sizeof *ids) == 0));
    for (size_t i = 0; i < count; i++)
        require(places[i].begin <= places[i].end && places[i].end <= size);
    free(again);
    free(places);
}

/* A pipeline's tokens encode to known ids, unless the file lacks the unknown token or a pattern is too slow; and decode. */
static void check_pipeline(const rapt_tokenizer *k, const char *token, size_t size)
{
    rapt_error err = {0};
    int32_t *ids;
    size_t count, back_size;
    for (int specials = 0; specials < 2; specials++) {
        if (rapt_tokenizer_encode_bytes(k, token, size, &ENCODE(.specials = specials), &ids, &count, &err) != RAPT_OK) {
            require(err.code == RAPT_ERR_VALUE);
            continue;
        }
        for (size_t j = 0; j < count; j++)
            require(rapt_tokenizer_token(k, ids[j], NULL) != NULL);
        check_offsets(k, token, size, specials, ids, count);
        char *back = rapt_tokenizer_decode(k, ids, count, &back_size);
        require(!back || strlen(back) <= back_size);
        free(back);
        free(ids);
    }
}

/* Bytes come back as they were, unless the file asks for another form; a pattern may be too slow. */
static void check_bytes(const rapt_tokenizer *k, const char *token, size_t size)
{
    rapt_error err = {0};
    int32_t *ids;
    size_t count, back_size;
    const rapt_tokenizer_kind kind = rapt_tokenizer_kind_of(k);
    if ((kind == RAPT_TOKENIZER_BYTE_BPE && byte_bpe_of(k)->normal.count > 0) || kind == RAPT_TOKENIZER_SENTENCEPIECE)
        return;
    if (rapt_tokenizer_encode_bytes(k, token, size, NULL, &ids, &count, &err) != RAPT_OK) {
        require(err.code == RAPT_ERR_VALUE);
        return;
    }
    check_offsets(k, token, size, false, ids, count);
    char *back = rapt_tokenizer_decode(k, ids, count, &back_size);
    require(back && back_size == size && memcmp(back, token, size) == 0);
    free(back);
    free(ids);
}

static void check_tokens(const rapt_tokenizer *k)
{
    bool words = rapt_tokenizer_kind_of(k) == RAPT_TOKENIZER_WORDS;
    bool lines = rapt_tokenizer_kind_of(k) == RAPT_TOKENIZER_CHARACTERS && rapt_tokenizer_has_specials(k);
    require(!words || rapt_tokenizer_size(k) >= RAPT_SPECIALS);
    for (size_t i = 0; i < rapt_tokenizer_size(k) && i < MOST_CHECKED; i++) {
        size_t size;
        const char *token = rapt_tokenizer_token(k, (int32_t)i, &size);
        if (words)
            check_word(k, token);
        else if (lines)
            check_character(k, token, size);
        else if (token && rapt_tokenizer_kind_of(k) == RAPT_TOKENIZER_PIPELINE)
            check_pipeline(k, token, size);
        else if (token)
            check_bytes(k, token, size);
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
    require(rapt_tokenizer_hash(again) == rapt_tokenizer_hash(k));
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
        check_tokens(k);
        write_and_read(k);
    }
    rapt_tokenizer_free(k);
    close(fd);
    return 0;
}
