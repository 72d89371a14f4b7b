/* cli/tokenizer/tokenizer_decode.c: `rapt tokenizer decode`: ids to text. */
#include "cli/tokenizer/cmd_tokenizer.h"

#include "base/quote.h"
#include "search/valid_text.h"
#include "text/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIGITS = 9 };
static const char SPACES[] = " \t\r\n";

typedef struct decode_arguments {
    tokenizer_operands operands;
    bool lines;
} decode_arguments;

#define ARGUMENTS decode_arguments
static const cli_option OPTIONS[] = {OPTION_FLAG("lines", AT(lines), "Each line of ids gives a line of text"), {0}};

const cli_command tokenizer_decode_command = {
    .options = OPTIONS, .operands = "TOKENIZER [FILE]", .about = "Decode ids, from a file or standard input, to text.",
    .notes = "Ids are separated by white space. The text is printed without an added line end. "
             "TOKENIZER: see `rapt tokenizer --help`.",
    TOKENIZER_OPERAND, .most = 2, .takes = "one file"};

/* The text of ids. A file of the library `tokenizers` gives U+FFFD for bytes that are not a character, as that library does;
 * rapt's own tokenizers give all bytes back. NULL: out of memory. */
static char *text_of_ids(const rapt_tokenizer *k, const int32_t *ids, size_t count, size_t *size)
{
    char *bytes = rapt_tokenizer_decode(k, ids, count, size);
    if (!bytes || !tokenizer_is_foreign(k))
        return bytes;
    char *text = valid_text(bytes, *size, size, NULL);
    free(bytes);
    return text;
}

/* Parses a word of digits as an id; `number` counts the words of the input, for messages. */
static rapt_code parse_id(const rapt_tokenizer *k, const char *word, size_t size, size_t number, int32_t *id,
                          rapt_error *err)
{
    char copy[64];
    snprintf(copy, sizeof copy, "%.*s", (int)(size < sizeof copy ? size : sizeof copy), word);
    if (size > MAX_DIGITS || strspn(copy, "0123456789") != size)
        return rapt_fail(err, RAPT_ERR_FORMAT, "word %zu, \"%s\", is not an id", number, quote(copy).text);
    *id = (int32_t)atol(copy);
    if (!rapt_tokenizer_token(k, *id, NULL))
        return rapt_fail(err, RAPT_ERR_VALUE, "word %zu: id %d is not in the vocabulary", number, *id);
    return RAPT_OK;
}

/* Parses the ids in text[0 .. size), which ends in a NUL or white space; *words counts them over all calls. */
static rapt_code parse_ids(const rapt_tokenizer *k, const char *text, size_t size, int32_t *ids, size_t *count,
                           size_t *words, rapt_error *err)
{
    const char *end = text + size;
    rapt_code code = RAPT_OK;
    *count = 0;
    for (text += strspn(text, SPACES); text < end && code == RAPT_OK; text += strspn(text, SPACES)) {
        size_t length = strcspn(text, SPACES);
        code = parse_id(k, text, length ? length : 1, ++*words, &ids[(*count)++], err);
        text += length ? length : 1;
    }
    return code;
}

static rapt_code print_decoded(const rapt_tokenizer *k, const int32_t *ids, size_t count, rapt_error *err)
{
    size_t size;
    char *text = text_of_ids(k, ids, count, &size);
    if (!text)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the text of %zu ids", count);
    fwrite(text, 1, size, stdout);
    free(text);
    return RAPT_OK;
}

static rapt_code decode_ids(const rapt_tokenizer *k, const void *arguments_of, const tokenizer_text *input, rapt_error *err)
{
    const decode_arguments *a = arguments_of;
    const char *text = input->data;
    size_t size = input->size, count, words = 0;
    rapt_code code = RAPT_OK;
    int32_t *ids = malloc((size / 2 + 1) * sizeof *ids);
    if (!ids)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for ids");
    for (size_t at = 0; at < size && code == RAPT_OK;) {
        const char *feed = a->lines ? memchr(text + at, '\n', size - at) : NULL;
        size_t length = feed ? (size_t)(feed - (text + at)) : size - at;
        code = parse_ids(k, text + at, length, ids, &count, &words, err);
        if (code == RAPT_OK)
            code = print_decoded(k, ids, count, err);
        if (code == RAPT_OK && a->lines)
            putchar('\n');
        at += length + 1;
    }
    free(ids);
    return code;
}

int tokenizer_decode(int argc, char **argv)
{
    decode_arguments a = {0};
    options_parse(&tokenizer_decode_command, argc, argv, &a);
    return tokenizer_run(&a.operands, decode_ids, &a);
}
