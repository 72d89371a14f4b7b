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

enum { DEFAULT_ENTRIES = 8192, MAX_ENTRIES = 1 << 24, MAX_SPECIALS = 1024 };

typedef struct tokenizer_train_arguments {
    const char *out;
    char **texts; /* [count], within argv */
    size_t count;
    rapt_tokenizer_kind kind;
    bool lowercase, quiet;
    rapt_bpe_options bpe;
    size_t min_freq; /* 0: not given */
    const char *specials[MAX_SPECIALS];
} tokenizer_train_arguments;

static void take_type(const cli_option *o, void *in, const char *text)
{
    tokenizer_train_arguments *a = in;
    if (strcmp(text, "words") == 0)
        a->kind = RAPT_TOKENIZER_WORDS;
    else if (strcmp(text, "characters") == 0)
        a->kind = RAPT_TOKENIZER_CHARACTERS;
    else if (strcmp(text, "bpe") == 0)
        a->kind = RAPT_TOKENIZER_BYTE_BPE;
    else
        usage_error("--%s: '%s' is none of bpe, characters, words", o->name, text);
}

#define ARGUMENTS tokenizer_train_arguments
static const cli_option OPTIONS[] = {
    OPTION_TEXT("out", "FILE", AT(out), "The tokenizer file to write", .letter = 'o'),
    OPTION_TAKE("type", "NAME", take_type, "bpe (byte-level, default), characters or words",
                .words = "bpe, characters, words"),
    OPTION_COUNT("vocab-size", "N", AT(bpe.vocab_size), 1, MAX_ENTRIES, "Vocabulary size; bpe: at most, default 8192; words: "
                 "most frequent, default all"),
    OPTION_COUNT("min-freq", "N", AT(min_freq), 1, INT32_MAX, "Minimum frequency of a pair to merge (bpe, default 2) or a "
                 "word (words, default 1)"),
    OPTION_TEXTS("special", "TEXT", AT(specials), AT(bpe.special_count), MAX_SPECIALS, "bpe: a special token, such as "
                 "<|endoftext|>; can be repeated"),
    OPTION_TEXT("pattern", "P", AT(bpe.pattern), "bpe: pre-tokenization pattern: gpt2 (default), cl100k, o200k, or a regular "
                "expression", .words = "gpt2, cl100k, o200k"),
    OPTION_FLAG("lowercase", AT(lowercase), "words: lower-case text before tokenization"),
    OPTION_WORD("normalize", "NAME", AT(bpe.normalization), RAPT_NORMALIZATION_NONE + 1, "nfc, plain, plain_lowercase", "bpe: "
                "Unicode normalization before tokenization: nfc, plain (NFKC, ASCII punctuation, single spaces) or "
                "plain_lowercase"),
    CLI_OPTION_THREADS(AT(bpe.threads)),
    OPTION_FLAG("quiet", AT(quiet), "No message"),
    {0}};

static const char *choose_pattern(const char *text)
{
    if (strcmp(text, "gpt2") == 0)
        return SPLIT_GPT2;
    if (strcmp(text, "cl100k") == 0)
        return SPLIT_CL100K;
    return strcmp(text, "o200k") == 0 ? SPLIT_O200K : text;
}

static void tokenizer_train_finish(void *arguments)
{
    tokenizer_train_arguments *a = arguments;
    a->texts = options_operands(&a->count);
    if (a->count == 0 || !a->out)
        usage_error("missing operand: TEXT, and -o FILE");
    if (a->kind != RAPT_TOKENIZER_BYTE_BPE && (a->bpe.pattern || a->bpe.special_count || a->bpe.normalization))
        usage_error("--%s needs --type bpe", a->bpe.pattern ? "pattern" : a->bpe.special_count ? "special" : "normalize");
    if (a->kind != RAPT_TOKENIZER_WORDS && a->lowercase)
        usage_error("--lowercase needs --type words");
    if (a->kind == RAPT_TOKENIZER_CHARACTERS && (a->bpe.vocab_size || a->min_freq))
        usage_error("--type characters takes all characters: it has neither --vocab-size nor --min-freq");
    if (a->bpe.pattern)
        a->bpe.pattern = choose_pattern(a->bpe.pattern);
    a->bpe.specials = a->specials;
}

const cli_command tokenizer_train_command = {
    .options = OPTIONS, .operands = "TEXT... -o FILE", .about = "Train a tokenizer on texts.",
    .notes = "Several texts are joined into one. A TEXT can be - for standard input. The tokenizer is the same for any number of "
             "threads. A byte-level BPE is written as a Hugging Face tokenizer.json, which `tokenizers` loads as well.",
    .finish = tokenizer_train_finish};

/* All texts, one after the other. */
static rapt_code read_texts(const tokenizer_train_arguments *a, char **text, size_t *size, rapt_error *err)
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
static rapt_tokenizer *train_words(const tokenizer_train_arguments *a, char *text, size_t size, rapt_error *err)
{
    struct lines lines = {0};
    rapt_words_options o = rapt_words_options_default();
    o.lowercase = a->lowercase;
    o.min_freq = a->min_freq ? a->min_freq : o.min_freq;
    o.max_size = a->bpe.vocab_size;
    if (lines_split(a->texts[0], text, size, &lines, err) != RAPT_OK)
        return NULL;
    double characters = a->quiet ? 0 : check_unspaced_lines((const char *const *)lines.line, lines.count);
    if (characters > 0)
        cli_say("rapt: %s: warning: " CHECK_UNSPACED_WARNING "--type characters or bpe\n", a->texts[0], characters);
    rapt_tokenizer *k = rapt_tokenizer_train_words((const char *const *)lines.line, lines.count, &o, err);
    lines_free(&lines);
    return k;
}

static rapt_tokenizer *train_tokenizer(const tokenizer_train_arguments *a, rapt_error *err)
{
    char *text;
    size_t size;
    rapt_tokenizer *k = NULL;
    rapt_bpe_options bpe = a->bpe;
    bpe.vocab_size = bpe.vocab_size ? bpe.vocab_size : DEFAULT_ENTRIES;
    bpe.min_freq = a->min_freq ? a->min_freq : bpe.min_freq;
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
    tokenizer_train_arguments a = {.kind = RAPT_TOKENIZER_BYTE_BPE, .bpe = rapt_bpe_options_default()};
    options_parse(&tokenizer_train_command, argc, argv, &a);
    cli_warn_threads(a.bpe.threads, a.quiet);
    rapt_tokenizer *k = train_tokenizer(&a, &err);
    rapt_code code = k ? rapt_tokenizer_save(k, a.out, &err) : err.code;
    if (code == RAPT_OK && !a.quiet)
        cli_say("%s: %zu entries\n", a.out, rapt_tokenizer_size(k));
    rapt_tokenizer_free(k);
    return code ? cli_fail(&err) : 0;
}
