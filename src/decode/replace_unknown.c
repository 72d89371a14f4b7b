/* decode/replace_unknown.c: what OpenNMT and CTranslate2 call replacing unknowns: names and numbers that a vocabulary lacks are
 * often the same in both languages. The source word comes from the line's own text, since it may be <unk> itself. */
#include "decode/replace_unknown.h"

#include "base/buffer.h"
#include "decode/align.h"
#include "decode/known_words.h"
#include "decode/source_words.h"
#include "io/model_core.h"
#include "search/whole_text.h"
#include "text/prose/sentences.h"

#include <stdlib.h>
#include <string.h>

/* Among the tokens from `head` on: <eos>, whose weight is the last one, is no word. */
static size_t most_attended(const rapt_alignment_row *row, size_t head)
{
    size_t best = head;
    for (size_t i = head + 1; i < row->count; i++)
        best = row->weights[i] > row->weights[best] ? i : best;
    return best;
}

/* Appends what the tokens up to `end` add to the text of the tokens up to `from`. False: out of memory, or (*same false) the
 * text of more tokens does not begin with the text of fewer. */
static bool append_tokens(buffer *to, const rapt_tokenizer *k, const search_hypothesis *found, size_t from, size_t end,
                          bool *same)
{
    char *before = whole_text_of(k, found->tokens, from), *after = whole_text_of(k, found->tokens, end);
    const size_t size = before ? strlen(before) : 0;
    *same = *same && (!before || !after || strncmp(after, before, size) == 0);
    const bool ok = before && after && *same && buffer_append(to, after + size, strlen(after + size));
    free(before);
    free(after);
    return ok;
}

/* Takes the text of <unk> from the end of `to`, from `at` on, but for its spaces, and puts a word in its place. */
static bool put_word(buffer *to, size_t at, rapt_text word)
{
    while (at < to->size && to->data[at] == ' ')
        at++;
    to->size = at;
    const bool wants_space = at > 0 && to->data[at - 1] != ' ' && sentences_want_space(to->data, at) &&
                             sentences_want_space(word.data, word.size);
    return (!wants_space || buffer_append(to, " ", 1)) && buffer_append(to, word.data, word.size);
}

/* Writes the text of the hypothesis with its words replaced. */
static bool replace_all(buffer *to, const source_words *w, const search_hypothesis *found, const rapt_alignment *a, bool *same)
{
    const rapt_tokenizer *k = w->m->translation.target;
    const int32_t unknown = known_words_id(k);
    size_t from = 0;
    bool ok = buffer_reserve(to, 1);
    for (size_t i = 0; i < a->targets && ok; i++) {
        if (found->tokens[i] != unknown)
            continue;
        const rapt_text word = source_words_at(w, most_attended(&a->rows[i], w->segment->head));
        if (word.size == 0)
            continue;
        ok = append_tokens(to, k, found, from, i, same);
        const size_t at = to->size;
        ok = ok && append_tokens(to, k, found, i, i + 1, same) && put_word(to, at, word);
        from = i + 1;
    }
    return ok && append_tokens(to, k, found, from, found->length, same);
}

static bool has_unknown(const rapt_tokenizer *k, const search_hypothesis *found)
{
    const int32_t unknown = known_words_id(k);
    for (size_t i = 0; i < found->length && unknown >= 0; i++)
        if (found->tokens[i] == unknown)
            return true;
    return false;
}

static rapt_code replace_aligned(const source_words *w, const search_hypothesis *found, const rapt_alignment *a,
                                 rapt_hypothesis *h, rapt_error *err)
{
    buffer text = {0};
    bool same = true;
    const bool ok = replace_all(&text, w, found, a, &same);
    if (ok) {
        free(h->text);
        h->text = text.data;
        return RAPT_OK;
    }
    buffer_free(&text);
    return same ? rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a translation") : RAPT_OK;
}

rapt_code replace_unknown(rapt_tape *t, const translate_item *item, const search_hypothesis *found, rapt_hypothesis *h,
                          rapt_error *err)
{
    const rapt_model *m = item->text->setup->m;
    source_words w;
    rapt_alignment own = {0};
    if (!has_unknown(m->translation.target, found))
        return RAPT_OK;
    rapt_code code = source_words_read(&w, item, err);
    if (!code && !h->alignment.rows)
        code = align_tokens(t, m, item->source->ids, item->source->count, found->tokens, found->length, &own, err);
    const rapt_alignment *a = h->alignment.rows ? &h->alignment : &own;
    if (!code && a->sources > 0)
        code = replace_aligned(&w, found, a, h, err);
    align_free(&own);
    source_words_free(&w);
    return code;
}
