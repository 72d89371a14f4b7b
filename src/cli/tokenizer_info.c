/* cli/tokenizer_info.c: `rapt tokenizer info`: what a tokenizer is. */
#include "cli/tokenizer.h"

#include "base/quote.h"
#include "cli/cli.h"
#include "io/model.h"
#include "text/byte_bpe.h"
#include "text/json_text.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEY_JSON = 256 };

static const struct argp_option OPTIONS[] = {{"json", KEY_JSON, NULL, 0, "Print a JSON object", 0}, {0}};

typedef struct arguments {
    tokenizer_operands operands;
    bool json;
} arguments;

static error_t parse(int key, char *text, struct argp_state *state)
{
    arguments *a = state->input;
    switch (key) {
    case KEY_JSON: a->json = true; return 0;
    default: return tokenizer_operand(key, text, state, &a->operands, 0);
    }
}

static const struct argp ARGP = {
    .options = OPTIONS, .parser = parse, .args_doc = "TOKENIZER",
    .doc = "Tell the type and the size of a tokenizer, its special tokens, and how it cuts text."
           "\vEntries are the largest id and one. TOKENIZER: see `rapt tokenizer --help`."};

typedef struct facts {
    size_t entries, tokens, longest; /* tokens: entries without holes; longest: in bytes */
    json_t *specials;                /* text to id */
} facts;

static void find_facts(const rapt_tokenizer *k, facts *f)
{
    *f = (facts){.entries = rapt_tokenizer_size(k), .specials = json_object()};
    for (size_t i = 0; i < f->entries; i++) {
        size_t size = 0;
        const char *token = rapt_tokenizer_token(k, (int32_t)i, &size);
        f->tokens += token != NULL;
        f->longest = size > f->longest ? size : f->longest;
        if (token && rapt_tokenizer_special(k, token) == (int32_t)i)
            json_object_set_new(f->specials, token, json_integer((json_int_t)i));
    }
}

static const char *name_of(const rapt_tokenizer *k)
{
    static const char *const names[] = {"words", "characters", "byte-level bpe"};
    return names[rapt_tokenizer_kind_of(k)];
}

/* NULL: not byte-level BPE. */
static const byte_bpe *bpe_of(const rapt_tokenizer *k)
{
    return rapt_tokenizer_kind_of(k) == RAPT_BYTE_BPE ? byte_bpe_of(k) : NULL;
}

static rapt_code print_json(const rapt_tokenizer *k, const facts *f, rapt_error *err)
{
    char hash[CONFIG_HASH_TEXT];
    const byte_bpe *b = bpe_of(k);
    model_hash(k, hash);
    json_t *object = json_pack("{s:s, s:I, s:I, s:I, s:O, s:s*, s:s*, s:s}", "type", name_of(k), "entries",
                               (json_int_t)f->entries, "tokens", (json_int_t)f->tokens, "longest_token",
                               (json_int_t)f->longest, "special_tokens", f->specials, "encoding", b ? b->ranks : NULL,
                               "pattern", b ? split_pattern(b->cut) : NULL, "hash", hash);
    char *text = json_text(object, 0);
    json_decref(object);
    if (!text)
        return rapt_fail(err, RAPT_NO_MEMORY, "no memory for a JSON object");
    puts(text);
    free(text);
    return RAPT_OK;
}

static void print_text(const rapt_tokenizer *k, const facts *f)
{
    char hash[CONFIG_HASH_TEXT];
    const char *text;
    json_t *id;
    const byte_bpe *b = bpe_of(k);
    printf("type      %s%s%s\n", name_of(k), b && b->ranks ? ", " : "", b && b->ranks ? b->ranks : "");
    printf("entries   %zu, %zu of them tokens; the longest has %zu bytes\n", f->entries, f->tokens, f->longest);
    json_object_foreach(f->specials, text, id)
        printf("special   %" JSON_INTEGER_FORMAT " %s\n", json_integer_value(id), quote(text).text);
    if (b)
        printf("pattern   %s\n", split_pattern(b->cut));
    model_hash(k, hash);
    printf("hash      %s\n", hash);
}

int tokenizer_info(int argc, char **argv)
{
    facts f;
    arguments a = {0};
    rapt_error err = {0};
    cli_parse(&ARGP, argc, argv, &a);
    rapt_tokenizer *k = rapt_tokenizer_load(a.operands.tokenizer, &err);
    if (!k)
        return cli_fail(&err);
    find_facts(k, &f);
    rapt_code code = a.json ? print_json(k, &f, &err) : RAPT_OK;
    if (!a.json)
        print_text(k, &f);
    json_decref(f.specials);
    rapt_tokenizer_free(k);
    return code ? cli_fail(&err) : 0;
}
