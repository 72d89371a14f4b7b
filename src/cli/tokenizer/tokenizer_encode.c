/* cli/tokenizer/tokenizer_encode.c: `rapt tokenizer encode`: text to ids, as numbers, counts or JSON. One text is encoded on all
 * threads, and printed at the same time. */
#include "cli/tokenizer/cmd_tokenizer.h"

#include "base/quote.h"
#include "cli/cli.h"
#include "text/encode_run.h"
#include "text/json_text.h"
#include "text/tokenizer.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIGITS = 10, PRINTED = 1024 };

typedef struct encode_arguments {
    tokenizer_operands operands;
    bool lines, jsonl, count, offsets, specials;
    int threads;
} encode_arguments;

#define ARGUMENTS encode_arguments
static const cli_option OPTIONS[] = {
    OPTION_FLAG("lines", AT(lines), "Each line of the input, without its line feed, is a text of its own", .not_with = "jsonl"),
    OPTION_FLAG("jsonl", AT(jsonl), "Each line is a JSON object with `text`, to which `ids` is added"),
    OPTION_FLAG("count", AT(count), "Print the number of ids instead of the ids"),
    OPTION_FLAG("offsets", AT(offsets), "Add `offsets`: for each id the bytes [begin, end) of `text` that it comes from",
                .needs = "jsonl", .not_with = "count"),
    OPTION_FLAG("specials", AT(specials), "Special tokens in the text are encoded as such (otherwise they are ordinary text)",
                .alias = "allow-special"),
    CLI_OPTION_THREADS(AT(threads)),
    {0}};

const cli_command tokenizer_encode_command = {
    .options = OPTIONS, .operands = "TOKENIZER [FILE]", .about = "Tokenize a file, or standard input, and print the ids.",
    .notes = "Without --lines and --jsonl, the whole input is one text, whose ids are printed on one line. Special tokens in "
             "the text are ordinary text, as in tiktoken's encode_ordinary; with --specials (or --allow-special) they are "
             "encoded as such, as with allowed_special=\"all\", and those that a tokenizer.json adds before and after a text "
             "are added. The text of a file is read and encoded in portions, on all threads (--specials, --lines and --jsonl: on "
             "one). TOKENIZER: see `rapt tokenizer --help`.",
    TOKENIZER_OPERAND, .most = 2, .takes = "one file"};

static void print_ids(const int32_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        printf("%s%d", i ? " " : "", ids[i]);
    putchar('\n');
}

static rapt_code encode_text(const rapt_tokenizer *k, const encode_arguments *a, const char *text, size_t size,
                             rapt_error *err)
{
    int32_t *ids;
    size_t count;
    rapt_code code = tokenizer_encode_bytes(k, text, size, a->specials, &ids, &count, err);
    if (code == RAPT_OK && a->count)
        printf("%zu\n", count);
    else if (code == RAPT_OK)
        print_ids(ids, count);
    free(ids);
    return code;
}

/* ---- one long text -------------------------------------------------------------------------------------------- */

/* Ids are printed as they come. */
typedef struct printing {
    const file_map *map;
    bool counts;
    size_t count;
} printing;

static char *put_decimal(char *to, int32_t id)
{
    char digits[MAX_DIGITS];
    size_t length = 0;
    do
        digits[length++] = (char)('0' + id % 10);
    while ((id /= 10) > 0);
    while (length > 0)
        *to++ = digits[--length];
    return to;
}

static rapt_code take_printed(void *context, const int32_t *ids, size_t count, rapt_error *err)
{
    printing *p = context;
    char line[PRINTED * (MAX_DIGITS + 1)], *to = line;
    (void)err;
    for (size_t i = 0; !p->counts && i < count; i++) {
        if (i + p->count > 0)
            *to++ = ' ';
        to = put_decimal(to, ids[i]);
        if ((i + 1) % PRINTED == 0 || i + 1 == count) {
            fwrite(line, 1, (size_t)(to - line), stdout);
            to = line;
        }
    }
    p->count += count;
    return RAPT_OK;
}

static void forget_printed(void *context, size_t begin, size_t end)
{
    const printing *p = context;
    if (p->map)
        file_map_forget(p->map, begin, end);
}

/* Special tokens are looked for by one thread. */
static rapt_code encode_one_text(const rapt_tokenizer *k, const encode_arguments *a, const tokenizer_text *text, rapt_error *err)
{
    printing p = {.map = text->map, .counts = a->count};
    rapt_encode_options options = rapt_encode_options_default();
    options.specials = a->specials;
    pool *threads = pool_new(a->threads, err);
    encode_run run = {.text = text->data, .size = text->size, .chunk = ENCODE_CHUNK, .pool = threads, .sink = take_printed,
                      .passed = forget_printed, .context = &p};
    if (!threads)
        return err->code;
    rapt_code code = a->specials ? rapt_tokenizer_encode_to(k, text->data, text->size, &options, take_printed, &p, err)
                                 : encode_run_all(k, &run, err);
    pool_free(threads);
    if (code == RAPT_OK && a->count)
        printf("%zu", p.count);
    if (code == RAPT_OK || (p.count > 0 && !a->count))
        putchar('\n');
    return code;
}

/* ---- JSON --------------------------------------------------------------------------------------------------- */

/* The ids of a text, and with --offsets their places, or else NULL. */
typedef struct encoded_text {
    int32_t *ids;
    rapt_span *offsets;
    size_t count;
} encoded_text;

/* NULL: out of memory. */
static json_t *ids_json(const encoded_text *t)
{
    json_t *list = json_array();
    for (size_t i = 0; i < t->count; i++)
        if (json_array_append_new(list, json_integer(t->ids[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *offsets_json(const encoded_text *t)
{
    json_t *list = json_array();
    for (size_t i = 0; i < t->count; i++) {
        json_t *pair = json_pack("[I, I]", (json_int_t)t->offsets[i].begin, (json_int_t)t->offsets[i].end);
        if (json_array_append_new(list, pair) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static rapt_code print_encoded_object(const encode_arguments *a, json_t *object, const encoded_text *t, rapt_error *err)
{
    json_t *result = a->count ? json_integer((json_int_t)t->count) : ids_json(t);
    bool ok = json_object_set_new(object, a->count ? "count" : "ids", result) == 0 &&
              (!t->offsets || json_object_set_new(object, "offsets", offsets_json(t)) == 0);
    char *line = ok ? json_text(object, 0) : NULL;
    if (!line)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a JSON object");
    puts(line);
    free(line);
    return RAPT_OK;
}

static rapt_code encode_string(const rapt_tokenizer *k, const encode_arguments *a, const json_t *text, encoded_text *t,
                               rapt_error *err)
{
    const rapt_text bytes = {json_string_value(text), json_string_length(text)};
    rapt_encode_options o = rapt_encode_options_default();
    o.specials = a->specials;
    return a->offsets ? rapt_tokenizer_encode_offsets(k, &bytes, &o, &t->ids, &t->offsets, &t->count, err)
                      : rapt_tokenizer_encode_bytes(k, bytes.data, bytes.size, &o, &t->ids, &t->count, err);
}

static rapt_code encode_object(const rapt_tokenizer *k, const encode_arguments *a, const char *line, size_t size, rapt_error *err)
{
    json_error_t where;
    json_t *object = json_loadb(line, size, JSON_ALLOW_NUL, &where), *text = json_object_get(object, "text");
    rapt_code code = RAPT_OK;
    encoded_text t = {0};
    if (!object)
        code = rapt_fail(err, RAPT_ERR_FORMAT, "%s", quote(where.text).text);
    else if (!json_is_string(text))
        code = rapt_fail(err, RAPT_ERR_FORMAT, "not an object with a string `text`");
    else
        code = encode_string(k, a, text, &t, err);
    if (code == RAPT_OK)
        code = print_encoded_object(a, object, &t, err);
    free(t.ids);
    free(t.offsets);
    json_decref(object);
    return code;
}

/* ---- files -------------------------------------------------------------------------------------------------- */

static rapt_code encode_lines(const rapt_tokenizer *k, const encode_arguments *a, const char *text, size_t size,
                              rapt_error *err)
{
    rapt_error why = {0};
    for (size_t at = 0, number = 1; at < size; number++) {
        const char *feed = memchr(text + at, '\n', size - at);
        size_t length = feed ? (size_t)(feed - (text + at)) : size - at;
        rapt_code code = (a->jsonl ? encode_object : encode_text)(k, a, text + at, length, &why);
        if (code)
            return rapt_fail(err, code, "line %zu: %s", number, why.message);
        at += length + 1;
    }
    return RAPT_OK;
}

static rapt_code encode_input(const rapt_tokenizer *k, const void *arguments_of, const tokenizer_text *text, rapt_error *err)
{
    const encode_arguments *a = arguments_of;
    return a->lines || a->jsonl ? encode_lines(k, a, text->data, text->size, err) : encode_one_text(k, a, text, err);
}

int tokenizer_encode(int argc, char **argv)
{
    encode_arguments a = {.operands.maps = true};
    options_parse(&tokenizer_encode_command, argc, argv, &a);
    cli_warn_threads(a.threads, false);
    return tokenizer_run(&a.operands, encode_input, &a);
}
