/* cli/score_warnings.c: looks for the traces that tokenizers leave in a text. It guesses from the share of lines that have them,
 * so that a score is printed in any case. */
#include "cli/say.h"
#include "cli/score_parts.h"

#include <string.h>

static bool line_ends_in(const char *line, size_t length, const char *end)
{
    size_t size = strlen(end);
    return length >= size && memcmp(line + length - size, end, size) == 0;
}

/* The mark of a subword tokenizer in a line: subword-nmt, SentencePiece or byte-level BPE. NULL: none. */
static const char *piece_mark(const char *line, size_t length)
{
    static const char *const marks[] = {"@@ ", "\xE2\x96\x81", "\xC4\xA0"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strstr(line, marks[i]))
            return i == 0 ? "@@" : marks[i];
    return line_ends_in(line, length, "@@") ? "@@" : NULL;
}

/* No " !" or " ?": French is written so. */
static const char *word_mark(const char *line, size_t length)
{
    static const char *const marks[] = {" , ", "&apos;", "&quot;", " @-@ "};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strstr(line, marks[i]))
            return marks[i];
    return line_ends_in(line, length, " .") ? " ." : NULL;
}

/* Lines with a mark, and the first one found. */
static size_t count_marked(const struct lines *text, const char *(*find)(const char *line, size_t length), const char **mark)
{
    size_t count = 0;
    *mark = NULL;
    for (size_t i = 0; i < text->count; i++) {
        const char *found = find(text->line[i], text->length[i]);
        *mark = *mark ? *mark : found;
        count += found != NULL;
    }
    return count;
}

void score_warnings(const char *name, const struct lines *text, bool cuts_words)
{
    const char *mark;
    if (text->count > 0 && lines_mark(text->line[0], text->length[0]))
        cli_say("rapt: %s: warning: it begins with a byte order mark, which counts as part of its first word, as in "
                "sacreBLEU\n", name);
    size_t marked = count_marked(text, piece_mark, &mark);
    if (marked > text->count / 10) {
        cli_say("rapt: %s: warning: %zu of %zu lines have a tokenizer's \"%s\"; scores are defined for text, not for "
                "pieces\n", name, marked, text->count, mark);
        return;
    }
    marked = cuts_words ? count_marked(text, word_mark, &mark) : 0;
    if (marked > text->count / 2)
        cli_say("rapt: %s: warning: %zu of %zu lines look tokenized (\"%s\"); BLEU tokenizes by itself, so that its "
                "score compares with scores of untokenized text, or, with --tokenize none, of text tokenized in the same way\n",
                name, marked, text->count, mark);
}

void score_warn_of_script(const char *name, const rapt_text *references, size_t count, rapt_tokenize kind)
{
    rapt_tokenize fits = rapt_bleu_tokenize_for(references, count);
    if (fits == RAPT_TOKENIZE_13A || (kind != RAPT_TOKENIZE_13A && kind != RAPT_TOKENIZE_INTL))
        return;
    cli_say("rapt: %s: warning: most of it is %s, which --tokenize %s does not cut into words: BLEU needs --tokenize %s\n", name,
            fits == RAPT_TOKENIZE_ZH ? "Chinese" : "in a script without spaces", rapt_tokenize_name(kind),
            rapt_tokenize_name(fits));
}
