/* serve/module/explain_memory.c: bytes of the response while it is made from the values that were kept: for each element, for
 * each intermediate, for each prediction, and for all the rest. The text of a page, whose size has a limit, exists three
 * times. */
#include "serve/module/explain_memory.h"

enum {
    ELEMENT = sizeof(rapt_real),
    ELEMENT_JSON = 80, /* a number in a tree and in a text */
    ELEMENT_HTML = 10, /* as base64 of the JSON, and as a number of the page */
    STEP_JSON = 4096,
    LENS_HTML = 1024, /* a prediction in a page: numbers, and five texts in a tree */
    MOST_HTML = 8 << 20, /* all predictions of a page, at most */
    REST_JSON = 1 << 20,
    REST_HTML = 12 << 20
};

size_t explain_memory(const rapt_explain_cost *c, explain_kind kind)
{
    static const size_t elements[] = {ELEMENT, ELEMENT + ELEMENT_JSON, ELEMENT + ELEMENT_HTML};
    return c->kept * elements[kind] + c->steps * STEP_JSON + (kind == EXPLAIN_KIND_HTML ? REST_HTML : REST_JSON);
}

static size_t lens_html(size_t predictions)
{
    return predictions < MOST_HTML / LENS_HTML ? predictions * LENS_HTML : MOST_HTML;
}

size_t explain_memory_lens(const rapt_explain_cost *c, explain_kind kind)
{
    return kind == EXPLAIN_KIND_HTML ? lens_html(c->lens) : c->lens * EXPLAIN_MEMORY_PREDICTION;
}

static size_t token_bytes(const rapt_tokenizer *k, int32_t id)
{
    size_t size = 0;
    rapt_tokenizer_token(k, id, &size);
    return size * EXPLAIN_MEMORY_TEXT;
}

static size_t prediction_bytes(rapt_explained_prediction p, const rapt_tokenizer *k)
{
    size_t sum = EXPLAIN_MEMORY_PREDICTION + (p.has_label ? token_bytes(k, p.label) : 0);
    for (size_t i = 0; i < p.count; i++)
        sum += token_bytes(k, p.ids[i]);
    return sum;
}

size_t explain_memory_predictions(const rapt_explanation *e, const rapt_tokenizer *k, explain_kind kind)
{
    const size_t rows = rapt_explanation_sequence(e, rapt_explanation_sequence_count(e) - 1).count;
    const size_t depths = rapt_explanation_lens_count(e);
    size_t sum = kind == EXPLAIN_KIND_HTML ? lens_html(depths * rows) : 0;
    for (size_t i = 0; i < rows; i++)
        sum += prediction_bytes(rapt_explanation_prediction(e, i), k);
    for (size_t i = 0; i < depths * rows && kind != EXPLAIN_KIND_HTML; i++)
        sum += prediction_bytes(rapt_explanation_lens(e, i / rows, i % rows).prediction, k);
    return sum;
}
