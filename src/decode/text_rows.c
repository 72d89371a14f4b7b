/* decode/text_rows.c: encodes texts for an encoder and sorts them by length. */
#include "decode/text_rows.h"

#include "base/quote.h"
#include "text/tokenizer.h"

#include <stdlib.h>
#include <string.h>

static void row_cut(const rapt_encoder_model *m, text_row *row)
{
    size_t before = 0, after = 0;
    if (row->count <= m->max_len)
        return;
    if (m->tokenizer->ops->frame)
        m->tokenizer->ops->frame(m->tokenizer, &before, &after);
    after = after < m->max_len ? after : m->max_len;
    memmove(row->ids + m->max_len - after, row->ids + row->count - after, after * sizeof *row->ids);
    row->count = m->max_len;
    row->cut = true;
}

/* A token that has no row in the embedding, or takes no position. */
static rapt_code row_check(const rapt_encoder_model *m, const text_row *row, rapt_error *err)
{
    const size_t vocab = m->net->config.source_vocab;
    if (row->count == 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "the text has no tokens, and no vector");
    for (size_t i = 0; i < row->count; i++) {
        if ((size_t)row->ids[i] >= vocab)
            return rapt_fail(err, RAPT_ERR_VALUE, "token %d is not in the model, which has %zu", (int)row->ids[i], vocab);
        if (row->ids[i] == m->skipped)
            return rapt_fail(err, RAPT_ERR_VALUE, "the text has token %d, which is padding", (int)row->ids[i]);
    }
    return RAPT_OK;
}

static rapt_code row_encode(const rapt_encoder_model *m, const char *prompt, rapt_text text, text_row *row, rapt_error *err)
{
    const size_t before = prompt ? strlen(prompt) : 0, size = text.size;
    char *whole = malloc(before + size + 1);
    if (!whole)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a text");
    memcpy(whole, prompt ? prompt : "", before);
    if (size > 0)
        memcpy(whole + before, text.data, size);
    rapt_code code = tokenizer_encode_bytes(m->tokenizer, whole, before + size, true, &row->ids, &row->count, err);
    free(whole);
    if (code)
        return code;
    row_cut(m, row);
    return row_check(m, row, err);
}

static int row_by_length(const void *a, const void *b)
{
    const text_row *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

text_row *text_rows_new(const rapt_encoder_model *m, const char *prompt, const rapt_text *texts, size_t count, rapt_error *err)
{
    rapt_error why = {0};
    text_row *rows = calloc(count + 1, sizeof *rows);
    rapt_code code = rows ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu texts", count);
    for (size_t i = 0; i < count && !code; i++) {
        rows[i].index = i;
        code = row_encode(m, prompt, texts[i], &rows[i], &why);
        if (code)
            rapt_fail(err, code, "\"%s\": %s", quote_bytes(texts[i].data, texts[i].size).text, why.message);
    }
    if (code) {
        text_rows_free(rows, count);
        return NULL;
    }
    qsort(rows, count, sizeof *rows, row_by_length);
    return rows;
}

rapt_code text_rows_order(const rapt_encoder_model *m, text_row *rows, size_t count, rapt_error *err)
{
    rapt_error why = {0};
    for (size_t i = 0; i < count; i++)
        if (row_check(m, &rows[i], &why))
            return rapt_fail(err, why.code, "text %zu: %s", rows[i].index, why.message);
    qsort(rows, count, sizeof *rows, row_by_length);
    return RAPT_OK;
}

void text_rows_free(text_row *rows, size_t count)
{
    for (size_t i = 0; rows && i < count; i++)
        free(rows[i].ids);
    free(rows);
}
