/* decode/pair_rows.c: pairs of texts as rows of tokens: both are encoded, and the longer one is truncated. For text_rows.h. */
#include "decode/text_rows.h"

#include "base/quote.h"
#include "text/bpe/byte_bpe.h"
#include "text/tokenizer.h"

#include <stdlib.h>
#include <string.h>

/* The rows that are made. */
typedef struct pair_rows {
    const rapt_encoder_model *m;
    const id_pair *about;
    size_t room;        /* tokens of both texts */
    rapt_text first;    /* the text that `ids` are of */
    int32_t *ids;       /* [count] */
    size_t count;
    rapt_error *err;
} pair_rows;

static const id_pair *pair_of(const rapt_encoder_model *m)
{
    const id_pair *about = m->tokenizer->ops->pair ? m->tokenizer->ops->pair(m->tokenizer) : NULL;
    return about && about->known ? about : NULL;
}

static size_t ids_about(const id_pair *about)
{
    return about->before.count + about->between.count + about->after.count;
}

rapt_code text_rows_check_pairs(const rapt_encoder_model *m, rapt_error *err)
{
    const id_pair *about = pair_of(m);
    if (!about)
        return rapt_fail(err, RAPT_ERR_VALUE, "the model's tokenizer does not say how two texts become one, or rapt does not "
                         "have its form of pairs");
    if (ids_about(about) >= m->max_len)
        return rapt_fail(err, RAPT_ERR_VALUE, "the model takes %zu tokens, and %zu are around two texts", m->max_len,
                         ids_about(about));
    return RAPT_OK;
}

/* ---- one pair ------------------------------------------------------------------------------------------------- */

/* The tokens that two texts of `a` and `b` tokens keep where there is room for `room`, as tokenizers' "longest_first" has it. */
static void pair_divide(size_t room, size_t *a, size_t *b)
{
    size_t *shorter = *a <= *b ? a : b, *longer = *a <= *b ? b : a;
    if (*a + *b <= room)
        return;
    const size_t rest = *shorter < room ? room - *shorter : 0;
    *longer = rest > *shorter ? rest : *shorter;
    if (*shorter + *longer > room) {
        *shorter = room / 2;
        *longer = room - room / 2;
    }
}

static void pair_put(text_row *row, const int32_t *ids, size_t count)
{
    if (count > 0) /* else `ids` may be NULL */
        memcpy(row->ids + row->count, ids, count * sizeof *ids);
    row->count += count;
}

static void pair_fill(const pair_rows *p, const int32_t *second, size_t a, size_t b, text_row *row)
{
    const id_pair *about = p->about;
    const bool typed = about->typed && p->m->typed_pairs;
    pair_put(row, about->before.ids, about->before.count);
    pair_put(row, p->ids, a);
    row->second = typed ? row->count + about->first_type : 0;
    pair_put(row, about->between.ids, about->between.count);
    pair_put(row, second, b);
    pair_put(row, about->after.ids, about->after.count);
}

static rapt_code pair_encode(const pair_rows *p, rapt_text text, int32_t **ids, size_t *count)
{
    rapt_error why = {0};
    rapt_code code = tokenizer_encode_within(p->m->tokenizer, text.data ? text.data : "", text.size, true, ids, count, &why);
    return code ? rapt_fail(p->err, code, "\"%s\": %s", quote_bytes(text.data, text.size).text, why.message) : RAPT_OK;
}

static rapt_code pair_take_first(pair_rows *p, rapt_text text)
{
    if (p->ids && text.data == p->first.data && text.size == p->first.size)
        return RAPT_OK;
    free(p->ids);
    p->ids = NULL;
    p->first = text;
    return pair_encode(p, text, &p->ids, &p->count);
}

static rapt_code make_row(pair_rows *p, const rapt_text_pair *pair, text_row *row)
{
    int32_t *second = NULL;
    size_t a, b = 0;
    rapt_code code = pair_take_first(p, pair->first);
    code = code ? code : pair_encode(p, pair->second, &second, &b);
    if (!code) {
        a = p->count;
        row->cut = p->count + b > p->room;
        pair_divide(p->room, &a, &b);
        row->ids = malloc((ids_about(p->about) + a + b + 1) * sizeof *row->ids);
        if (row->ids)
            pair_fill(p, second, a, b, row);
        else
            code = rapt_fail(p->err, RAPT_ERR_MEMORY, "out of memory for a pair of texts");
    }
    free(second);
    return code;
}

/* ---- all ------------------------------------------------------------------------------------------------------ */

text_row *text_rows_of_pairs(const rapt_encoder_model *m, const rapt_text_pair *pairs, size_t count, size_t most,
                             rapt_error *err)
{
    pair_rows p = {.m = m, .about = pair_of(m), .err = err};
    size_t sum = 0;
    rapt_code code = text_rows_check_pairs(m, err);
    text_row *rows = code ? NULL : calloc(count + 1, sizeof *rows);
    if (!code && !rows)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu pairs", count);
    p.room = code ? 0 : m->max_len - ids_about(p.about);
    for (size_t i = 0; i < count && !code; i++) {
        rows[i].index = i;
        code = make_row(&p, &pairs[i], &rows[i]);
        sum += rows[i].count;
        if (!code && sum > most)
            code = rapt_fail(err, RAPT_ERR_VALUE, "the pairs have more than %zu tokens together", most);
    }
    free(p.ids);
    code = code ? code : text_rows_order(m, rows, count, err);
    if (!code)
        return rows;
    text_rows_free(rows, count);
    return NULL;
}
