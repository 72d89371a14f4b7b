/* cli/tokenizer/tokenizer_info.c: `rapt tokenizer info`: the facts about a tokenizer. */
#include "cli/tokenizer/cmd_tokenizer.h"

#include "base/file.h"
#include "base/quote.h"
#include "base/rows.h"
#include "cli/cli.h"
#include "cli/put_json.h"
#include "cli/say.h"
#include "io/model.h"
#include "text/bpe/byte_bpe.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct tokenizer_info_arguments {
    tokenizer_operands operands;
    bool json;
} tokenizer_info_arguments;

#define ARGUMENTS tokenizer_info_arguments
static const cli_option OPTIONS[] = {OPTION_FLAG("json", AT(json), "Print a JSON object"), {0}};

const cli_command tokenizer_info_command = {
    .options = OPTIONS, .operands = "TOKENIZER",
    .about = "Print type, vocabulary size, special tokens and pre-tokenization pattern of a tokenizer.",
    .notes = "Entries are the vocabulary size: the largest id + 1. TOKENIZER: see `rapt tokenizer --help`; for the folder of a "
             "translation model both sides are printed.",
    TOKENIZER_OPERAND, .most = 1, .takes = "one tokenizer"};

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

static const char *type_name(const rapt_tokenizer *k)
{
    static const char *const names[] = {"words", "characters", "byte-level bpe", "sentencepiece", "tokenizer.json pipeline"};
    ROWS_FIT(names, RAPT_TOKENIZER_KINDS, 0);
    return names[rapt_tokenizer_kind_of(k)];
}

/* NULL: not byte-level BPE. */
static const byte_bpe *bpe_of(const rapt_tokenizer *k)
{
    return rapt_tokenizer_kind_of(k) == RAPT_TOKENIZER_BYTE_BPE ? byte_bpe_of(k) : NULL;
}

static json_t *facts_json(const rapt_tokenizer *k, const facts *f)
{
    char hash[CONFIG_HASH_TEXT];
    const byte_bpe *b = bpe_of(k);
    model_hash(k, hash);
    return json_pack("{s:s, s:I, s:I, s:I, s:O, s:s*, s:s*, s:s}", "type", type_name(k), "entries",
                               (json_int_t)f->entries, "tokens", (json_int_t)f->tokens, "longest_token",
                               (json_int_t)f->longest, "special_tokens", f->specials, "encoding", b ? b->ranks : NULL,
                               "pattern", b ? split_pattern(b->cut) : NULL, "hash", hash);
}

static void print_facts(const rapt_tokenizer *k, const facts *f)
{
    char hash[CONFIG_HASH_TEXT];
    const char *text;
    json_t *id;
    const byte_bpe *b = bpe_of(k);
    printf("type      %s%s", type_name(k), b && b->ranks ? ", " : "");
    cli_print_clean(stdout, b && b->ranks ? b->ranks : "");
    putchar('\n');
    printf("entries   %zu, %zu of them tokens; the longest has %zu byte%s\n", f->entries, f->tokens, f->longest,
           cli_plural(f->longest));
    json_object_foreach(f->specials, text, id)
        printf("special   %" JSON_INTEGER_FORMAT " %s\n", json_integer_value(id), quote(text).text);
    if (b) {
        fputs("pattern   ", stdout);
        cli_print_clean(stdout, split_pattern(b->cut));
        putchar('\n');
    }
    model_hash(k, hash);
    printf("hash      %s\n", hash);
}

/* Prints the facts about a tokenizer as text, or sets *object to them. */
static rapt_code describe_tokenizer(const char *path, bool json, json_t **object, rapt_error *err)
{
    facts f;
    rapt_tokenizer *k = rapt_tokenizer_load(path, err);
    if (!k)
        return err->code;
    find_facts(k, &f);
    if (json)
        *object = facts_json(k, &f);
    else
        print_facts(k, &f);
    json_decref(f.specials);
    rapt_tokenizer_free(k);
    return RAPT_OK;
}

/* ---- a translation model ------------------------------------------------------------------------------------------ */

static const char *const SIDES[] = {"source", "target"};

/* The path of a side's tokenizer, which the caller frees; NULL if the folder has none. */
static rapt_code side_path(const char *folder, int side, char **path, rapt_error *err)
{
    static const char *const endings[] = {"tokenizer.json", "spm"}; /* rapt's files and Marian's */
    rapt_code code = RAPT_OK;
    *path = NULL;
    for (size_t i = 0; i < sizeof endings / sizeof *endings && !*path && !code; i++) {
        char name[32];
        bool there = false;
        snprintf(name, sizeof name, "%s.%s", SIDES[side], endings[i]);
        code = file_path(folder, name, path, err);
        if (!code)
            code = file_is_there(*path, &there, err);
        if (code || !there) {
            free(*path);
            *path = NULL;
        }
    }
    return code;
}

static rapt_code describe_sides(char *const paths[2], bool json, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    json_t *both = json_object();
    for (int side = 0; side < 2 && !code; side++) {
        json_t *object = NULL;
        if (!paths[side])
            continue;
        if (!json)
            printf("%s%s\n", side ? "\n" : "", paths[1] ? SIDES[side] : "source and target");
        code = describe_tokenizer(paths[side], json, &object, err);
        if (!code && json)
            json_object_set_new(both, SIDES[side], object);
    }
    if (!code && json)
        return put_json(both, 0, err);
    json_decref(both);
    return code;
}

int tokenizer_info(int argc, char **argv)
{
    tokenizer_info_arguments a = {0};
    rapt_error err = {0};
    json_t *object = NULL;
    options_parse(&tokenizer_info_command, argc, argv, &a);
    char *paths[2] = {NULL, NULL};
    rapt_code code = side_path(a.operands.tokenizer, 0, &paths[0], &err);
    if (!code)
        code = side_path(a.operands.tokenizer, 1, &paths[1], &err);
    if (!code)
        code = paths[0] ? describe_sides(paths, a.json, &err) : describe_tokenizer(a.operands.tokenizer, a.json, &object, &err);
    if (!code && object)
        code = put_json(object, 0, &err);
    free(paths[0]);
    free(paths[1]);
    return code ? cli_fail(&err) : 0;
}
