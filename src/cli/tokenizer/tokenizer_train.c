/* cli/tokenizer/tokenizer_train.c: `rapt tokenizer train`: a vocabulary from texts, trained by the library. */
#include "cli/tokenizer/cmd_tokenizer.h"

#include "base/buffer.h"
#include "cli/cli.h"
#include "cli/say.h"
#include "data/check/check_unspaced.h"
#include "text/lines.h"
#include "text/split/split.h"
#include "text/text_in.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_TYPE = 256, KEY_VOCAB_SIZE, KEY_MIN_FREQ, KEY_SPECIAL, KEY_PATTERN, KEY_LOWERCASE, KEY_NORMALIZE };
enum { DEFAULT_ENTRIES = 8192, MAX_ENTRIES = 1 << 24 };

static const struct argp_option OPTIONS[] = {
    {"out", 'o', "FILE", 0, "The tokenizer file to write", 0},
    {"type", KEY_TYPE, "NAME", 0, "bpe (byte-level, default), characters or words", 0},
    {"vocab-size", KEY_VOCAB_SIZE, "N", 0, "Vocabulary size; bpe: at most, default 8192; words: most frequent, default all", 0},
    {"min-freq", KEY_MIN_FREQ, "N", 0, "Minimum frequency of a pair to merge (bpe, default 2) or a word (words, default 1)", 0},
    {"special", KEY_SPECIAL, "TEXT", 0, "bpe: a special token, such as <|endoftext|>; can be repeated", 0},
    {"pattern", KEY_PATTERN, "P", 0, "bpe: pre-tokenization pattern: gpt2 (default), cl100k, o200k, or a regular expression", 0},
    {"lowercase", KEY_LOWERCASE, NULL, 0, "words: lower-case text before tokenization", 0},
    {"normalize", KEY_NORMALIZE, "NAME", 0, "bpe: Unicode normalization before tokenization: nfc, plain (NFKC, ASCII "
                                            "punctuation, single spaces) or plain_lowercase", 0},
    CLI_OPTION_THREADS,
    CLI_OPTION_QUIET("No message"),
    {0}};

typedef struct arguments {
    const char *out;
    char **texts; /* [count], within argv */
    size_t count;
    rapt_tokenizer_kind kind;
    bool lowercase, quiet;
    rapt_bpe_options bpe;
    const char **specials;
} arguments;

static rapt_tokenizer_kind tokenizer_train_choose_kind(const char *text, struct argp_state *state)
{
    if (strcmp(text, "words") == 0)
        return RAPT_TOKENIZER_WORDS;
    if (strcmp(text, "characters") == 0)
        return RAPT_TOKENIZER_CHARACTERS;
    if (strcmp(text, "bpe") != 0)
        cli_usage_error(state, "--type: '%s' is none of bpe, characters, words", text);
    return RAPT_TOKENIZER_BYTE_BPE;
}

static const char *choose_pattern(const char *text)
{
    if (strcmp(text, "gpt2") == 0)
        return SPLIT_GPT2;
    if (strcmp(text, "cl100k") == 0)
        return SPLIT_CL100K;
    return strcmp(text, "o200k") == 0 ? SPLIT_O200K : text;
}

static rapt_normalization choose_normalization(const char *text, struct argp_state *state)
{
    static const char *const names[] = {"none", "nfc", "plain", "plain_lowercase"};
    for (int i = 0; i < 4; i++)
        if (strcmp(text, names[i]) == 0)
            return (rapt_normalization)i;
    cli_usage_error(state, "--normalize: '%s' is none of nfc, plain, plain_lowercase", text);
    return RAPT_NORMALIZATION_NONE;
}

static void tokenizer_train_check_usage(arguments *a, struct argp_state *state)
{
    a->texts = state->argv + state->next;
    a->count = (size_t)(state->argc - state->next);
    if (a->count == 0 || !a->out)
        cli_usage_error(state, "missing operand: TEXT, and -o FILE");
    if (a->kind != RAPT_TOKENIZER_BYTE_BPE && (a->bpe.pattern || a->bpe.special_count || a->bpe.normalization))
        cli_usage_error(state, "--%s needs --type bpe",
                        a->bpe.pattern ? "pattern" : a->bpe.special_count ? "special" : "normalize");
    if (a->kind != RAPT_TOKENIZER_WORDS && a->lowercase)
        cli_usage_error(state, "--lowercase needs --type words");
    if (a->kind == RAPT_TOKENIZER_CHARACTERS && (a->bpe.vocab_size || a->bpe.min_freq))
        cli_usage_error(state, "--type characters takes all characters: it has neither --vocab-size nor --min-freq");
}

static error_t tokenizer_train_parse(int key, char *text, struct argp_state *state)
{
    arguments *a = state->input;
    switch (key) {
    case 'o': a->out = text; return 0;
    case KEY_TYPE: a->kind = tokenizer_train_choose_kind(text, state); return 0;
    case KEY_VOCAB_SIZE: a->bpe.vocab_size = (size_t)cli_integer(text, 1, MAX_ENTRIES, "vocab-size", state); return 0;
    case KEY_MIN_FREQ: a->bpe.min_freq = (size_t)cli_integer(text, 1, INT32_MAX, "min-freq", state); return 0;
    case KEY_SPECIAL: a->specials[a->bpe.special_count++] = text; return 0;
    case KEY_PATTERN: a->bpe.pattern = choose_pattern(text); return 0;
    case KEY_LOWERCASE: a->lowercase = true; return 0;
    case KEY_NORMALIZE: a->bpe.normalization = choose_normalization(text, state); return 0;
    case CLI_KEY_THREADS: a->bpe.threads = cli_threads(text, state); return 0;
    case CLI_KEY_QUIET: a->quiet = true; return 0;
    case ARGP_KEY_ARGS: tokenizer_train_check_usage(a, state); return 0;
    case ARGP_KEY_NO_ARGS: cli_usage_error(state, "missing operand: TEXT, and -o FILE"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp ARGP = {
    .options = OPTIONS, .parser = tokenizer_train_parse, .args_doc = "TEXT... -o FILE",
    .doc = "Train a tokenizer on texts."
           "\vSeveral texts are joined into one. A TEXT can be - for standard input. The tokenizer is the same for any number of "
           "threads. A byte-level BPE is written as a Hugging Face tokenizer.json, which `tokenizers` loads as well."};

/* All texts, one after the other. */
static rapt_code read_texts(const arguments *a, char **text, size_t *size, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    buffer all = {0};
    for (size_t i = 0; i < a->count && code == RAPT_OK; i++) {
        char *part;
        size_t length;
        code = text_in_read(a->texts[i], CLI_MAX_TEXT, &part, &length, err);
        if (code)
            break;
        code = text_in_check(strcmp(a->texts[i], "-") == 0 ? "standard input" : a->texts[i], part, length, err);
        if (!code && !buffer_append(&all, part, length))
            code = rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for its %zu bytes", a->texts[i], length);
        free(part);
    }
    *text = all.data, *size = all.size;
    return code;
}

/* Takes ownership of `text`: lines_split frees it. */
static rapt_tokenizer *train_words(const arguments *a, char *text, size_t size, rapt_error *err)
{
    struct lines lines = {0};
    rapt_words_options o = {a->lowercase, a->bpe.min_freq, a->bpe.vocab_size};
    if (lines_split(a->texts[0], text, size, &lines, err) != RAPT_OK)
        return NULL;
    double characters = a->quiet ? 0 : check_unspaced_lines((const char *const *)lines.line, lines.count);
    if (characters > 0)
        cli_say("rapt: %s: warning: " CHECK_UNSPACED_WARNING "--type characters or bpe\n", a->texts[0], characters);
    rapt_tokenizer *k = rapt_tokenizer_train_words((const char *const *)lines.line, lines.count, &o, err);
    lines_free(&lines);
    return k;
}

static rapt_tokenizer *train_tokenizer(const arguments *a, rapt_error *err)
{
    char *text;
    size_t size;
    rapt_tokenizer *k = NULL;
    rapt_bpe_options bpe = a->bpe;
    bpe.vocab_size = bpe.vocab_size ? bpe.vocab_size : DEFAULT_ENTRIES;
    bpe.specials = a->specials;
    rapt_code code = read_texts(a, &text, &size, err);
    if (code == RAPT_OK && a->kind == RAPT_TOKENIZER_WORDS)
        return train_words(a, text, size, err);
    if (code == RAPT_OK && a->kind == RAPT_TOKENIZER_CHARACTERS)
        k = rapt_tokenizer_train_characters(text, size, err);
    else if (code == RAPT_OK)
        k = rapt_tokenizer_train_bpe(text, size, &bpe, err);
    free(text);
    return k;
}

int tokenizer_train(int argc, char **argv)
{
    rapt_error err = {0};
    arguments a = {.kind = RAPT_TOKENIZER_BYTE_BPE, .specials = calloc((size_t)argc, sizeof *a.specials)};
    if (!a.specials)
        return cli_fail(&(rapt_error){RAPT_ERR_MEMORY, "out of memory"});
    cli_parse(&ARGP, argc, argv, &a);
    cli_warn_threads(a.bpe.threads, a.quiet);
    rapt_tokenizer *k = train_tokenizer(&a, &err);
    rapt_code code = k ? rapt_tokenizer_save(k, a.out, &err) : err.code;
    if (code == RAPT_OK && !a.quiet)
        cli_say("%s: %zu entries\n", a.out, rapt_tokenizer_size(k));
    rapt_tokenizer_free(k);
    free(a.specials);
    return code ? cli_fail(&err) : 0;
}
