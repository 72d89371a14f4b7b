/* cli/alignment.c: alignments as text. decode/align.c computes them. */
#include "cli/translation_out.h"

#include "explain/input/token_name.h"
#include "io/model_core.h"
#include "text/prose/sentences.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

alignment_kind alignment_named(const char *text)
{
    if (strcmp(text, "hard") == 0)
        return ALIGNMENT_HARD;
    if (strcmp(text, "words") == 0)
        return ALIGNMENT_WORDS;
    return strcmp(text, "soft") == 0 ? ALIGNMENT_SOFT : ALIGNMENT_NONE;
}

/* The source token with the largest weight; <eos> is not one. */
static size_t most_attended_source(const rapt_alignment_row *row)
{
    size_t best = 0;
    for (size_t i = 1; i < row->count; i++)
        best = row->weights[i] > row->weights[best] ? i : best;
    return row->first + best;
}

/* The weight of a source token; 0 for tokens of the source's other segments, which got no attention. */
static double attention_weight(const rapt_alignment_row *row, size_t source, size_t sources)
{
    if (source == sources)
        return (double)row->weights[row->count];
    return source >= row->first && source - row->first < row->count ? (double)row->weights[source - row->first] : 0;
}

static void print_token_alignment(alignment_kind kind, const rapt_alignment *a, FILE *to)
{
    for (size_t j = 0; j < a->targets; j++) {
        const rapt_alignment_row *row = &a->rows[j];
        fputs(j ? " " : "", to);
        if (kind == ALIGNMENT_HARD)
            fprintf(to, "%zu-%zu", most_attended_source(row), j);
        for (size_t i = 0; i <= a->sources && kind == ALIGNMENT_SOFT; i++)
            fprintf(to, "%s%.4f", i ? "," : "", attention_weight(row, i, a->sources));
    }
}

/* ---- words -------------------------------------------------------------------------------------------------------- */

/* Whether a token of a line begins a word: it begins with a space, or it or the token before it is Chinese or Japanese. These
 * languages have no spaces, so that each token counts as a word. */
static bool begins_word(const rapt_tokenizer *k, int32_t before, int32_t id)
{
    uint32_t code;
    size_t size = 0, last = 0;
    const char *text = rapt_tokenizer_token(k, id, &size), *previous = rapt_tokenizer_token(k, before, &last);
    if (rapt_tokenizer_kind_of(k) == RAPT_TOKENIZER_WORDS || (text && size > 0 && text[0] == ' '))
        return true;
    size_t first = text ? utf8_decode(text, size, &code) : 0;
    return (first > 0 && !sentences_want_space(text, first)) || (previous && last > 0 && !sentences_want_space(previous, last));
}

/* words[i]: the number of the word that token i belongs to. Returns how many there are. */
static size_t number_words(const rapt_tokenizer *k, const int32_t *ids, size_t count, size_t *words)
{
    size_t word = 0;
    for (size_t i = 0; i < count; i++) {
        word += i > 0 && begins_word(k, ids[i - 1], ids[i]);
        words[i] = word;
    }
    return count > 0 ? word + 1 : 0;
}

/* Adds the attention weights of the target word that begins at token `j` to `sums`, [source words]. Returns where it ends. */
static size_t sum_weights_of_word(const rapt_alignment *a, const size_t *source, const size_t *target, size_t j, double *sums)
{
    size_t word = target[j];
    for (; j < a->targets && target[j] == word; j++)
        for (size_t i = 0; i < a->rows[j].count; i++)
            sums[source[a->rows[j].first + i]] += (double)a->rows[j].weights[i];
    return j;
}

static bool print_word_alignment(const rapt_model *m, const rapt_translation *t, const rapt_hypothesis *h, FILE *to)
{
    const rapt_alignment *a = &h->alignment;
    size_t *source = malloc((a->sources + a->targets + 1) * sizeof *source), *target = source ? source + a->sources : NULL;
    double *sums = malloc((a->sources + 1) * sizeof *sums);
    bool ok = source && sums;
    size_t words = ok ? number_words(m->translation.source, t->source, a->sources, source) : 0;
    if (ok)
        number_words(m->translation.target, h->tokens, a->targets, target);
    for (size_t j = 0; ok && words > 0 && j < a->targets;) {
        size_t best = 0, word = target[j];
        memset(sums, 0, words * sizeof *sums);
        j = sum_weights_of_word(a, source, target, j, sums);
        for (size_t i = 1; i < words; i++)
            best = sums[i] > sums[best] ? i : best;
        fprintf(to, "%s%zu-%zu", word ? " " : "", best, word);
    }
    free(source);
    free(sums);
    return ok;
}

bool alignment_print(alignment_kind kind, const rapt_model *m, const rapt_translation *t, const rapt_hypothesis *h, FILE *to)
{
    if (kind == ALIGNMENT_NONE)
        return true;
    fputc('\t', to);
    if (kind == ALIGNMENT_WORDS)
        return print_word_alignment(m, t, h, to);
    print_token_alignment(kind, &h->alignment, to);
    return true;
}

/* ---- tokens ------------------------------------------------------------------------------------------------------- */

bool alignment_print_names(const rapt_tokenizer *k, const int32_t *ids, size_t count, FILE *to)
{
    bool ok = true;
    fputc('\t', to);
    for (size_t i = 0; i < count && ok; i++) {
        char *name = token_name(k, ids[i]);
        ok = name != NULL;
        fprintf(to, "%s%s", i ? " " : "", ok ? name : "");
        free(name);
    }
    return ok;
}

bool alignment_print_tokens(const rapt_model *m, const rapt_translation *t, const rapt_hypothesis *h, FILE *to)
{
    return alignment_print_names(m->translation.source, t->source, t->source_count, to) &&
           alignment_print_names(m->translation.target, h->tokens, h->token_count, to);
}
