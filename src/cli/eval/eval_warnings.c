/* cli/eval/eval_warnings.c: warns with one line for the file, not one for each pair: data that the model was not trained on has
 * many. */
#include "cli/eval/cmd_eval.h"

#include "cli/cli.h"
#include "cli/say.h"
#include "cli/unknown_words.h"
#include "io/model_core.h"
#include "text/tokenizer.h"

#include <stdlib.h>
#include <string.h>

typedef struct eval_counts {
    size_t unknown, words, pairs, first; /* pairs with unknown words, the line of the first one */
    const char *unit; /* "word" or "character" */
    size_t cut;
} eval_counts;

static rapt_code is_long(const rapt_translation_model *m, const rapt_tokenizer *k, const char *text, bool *longer,
                         rapt_error *err)
{
    int32_t *ids = NULL;
    size_t count;
    rapt_code code = tokenizer_encode_within(k, text, strlen(text), m->specials_in_text, &ids, &count, err);
    *longer = *longer || (!code && count + 1 > m->max_len); /* with <eos> */
    free(ids);
    return code;
}

static rapt_code count_words(const rapt_model *m, const rapt_pairs *pairs, size_t i, eval_counts *c, rapt_error *err)
{
    size_t unknown, words;
    rapt_code code = unknown_words_count(m->translation.source, rapt_pairs_source(pairs, i), m->translation.specials_in_text,
                                         &unknown, &words, &c->unit, err);
    if (code)
        return code;
    c->unknown += unknown;
    c->words += words;
    if (unknown > 0 && c->pairs++ == 0)
        c->first = rapt_pairs_line(pairs, i);
    return RAPT_OK;
}

static rapt_code count_pair(const rapt_model *m, const rapt_pairs *pairs, size_t i, eval_counts *c, rapt_error *err)
{
    bool longer = false;
    rapt_code code = count_words(m, pairs, i, c, err);
    if (!code)
        code = is_long(&m->translation, m->translation.source, rapt_pairs_source(pairs, i), &longer, err);
    if (!code)
        code = is_long(&m->translation, m->translation.target, rapt_pairs_target(pairs, i), &longer, err);
    c->cut += longer;
    return code;
}

static void eval_warnings_print(const rapt_model *m, const rapt_pairs *pairs, const eval_counts *c)
{
    const char *path = rapt_pairs_path(pairs);
    size_t count = rapt_pairs_count(pairs);
    if (c->unknown > 0)
        cli_say("rapt: %s: warning: %zu of %zu source %ss %s unknown, in %zu of %zu pairs; the first is line %zu\n",
                path, c->unknown, c->words, c->unit, c->unknown == 1 ? "is" : "are", c->pairs, count, c->first);
    if (c->cut > 0)
        cli_say("rapt: %s: warning: %zu of %zu pairs %s cut for the loss: the model takes %zu tokens, <eos> included\n",
                path, c->cut, count, c->cut == 1 ? "is" : "are", m->translation.max_len);
}

static rapt_code refuse_unknown(const rapt_model *m, const rapt_pairs *pairs, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    unknown_words u = {.k = m->translation.source, .name = rapt_pairs_path(pairs), .strict = true,
                       .specials = m->translation.specials_in_text};
    for (size_t i = 0; i < rapt_pairs_count(pairs) && !code; i++)
        code = unknown_words_check(&u, rapt_pairs_line(pairs, i), rapt_pairs_source(pairs, i), err);
    return code;
}

rapt_code eval_warn(const eval_arguments *a, const rapt_model *m, const rapt_pairs *pairs, rapt_error *err)
{
    eval_counts c = {0};
    rapt_code code = RAPT_OK;
    if (a->strict)
        return refuse_unknown(m, pairs, err);
    for (size_t i = 0; i < rapt_pairs_count(pairs) && !code && !a->quiet; i++)
        code = count_pair(m, pairs, i, &c, err);
    if (!code)
        eval_warnings_print(m, pairs, &c);
    return code;
}
