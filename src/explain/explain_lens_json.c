/* explain/explain_lens_json.c: the logit lens as JSON: a list of depths, each with a list of positions; and for the
 * page as numbers beside each other. */
#include "explain/explanation.h"

#include "base/math.h"
#include "explain/page/page.h"

#include <stdio.h>
#include <stdlib.h>

#define LENS_LETTERS ((size_t)600 * 1000) /* most letters of a page's lens, with the texts of its tokens */

static json_t *lens_rank_json(size_t rank, double probability)
{
    return json_pack("{s:I, s:f}", "rank", (json_int_t)rank, "probability", probability);
}

static json_t *lens_position_json(const rapt_explanation *e, size_t depth, size_t position)
{
    const rapt_explained_lens x = rapt_explanation_lens(e, depth, position);
    json_t *next = x.prediction.has_label ? explain_next_json(e, x.prediction) : NULL;
    json_t *o = json_pack("{s:I, s:o, s:o}", "position", (json_int_t)position, "tokens", explain_tokens_json(e, x.prediction),
                          "choice", lens_rank_json(x.choice_rank, x.choice_probability));
    bool ok = o != NULL;
    if (x.prediction.has_label)
        ok = json_object_set_new(next, "rank", json_integer((json_int_t)x.label_rank)) == 0 &&
             json_object_set(o, "next", next) == 0 && ok;
    json_decref(next);
    if (ok)
        return o;
    json_decref(o);
    return NULL;
}

static json_t *lens_depth_json(const rapt_explanation *e, size_t depth)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < explain_last(e)->count; i++)
        if (json_array_append_new(list, lens_position_json(e, depth, i)) != 0) {
            json_decref(list);
            return NULL;
        }
    return json_pack("{s:I, s:o}", "blocks", (json_int_t)depth, "positions", list);
}

json_t *explain_lens_json(const rapt_explanation *e)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < e->depths; i++)
        if (json_array_append_new(list, lens_depth_json(e, i)) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/* ---- for the page ------------------------------------------------------------------------------------------------ */

/* Numbers of a prediction of `top` tokens: ids, which floats hold exactly, probabilities, and twice a rank and a probability. */
static size_t lens_numbers(size_t top)
{
    return 2 * top + 4;
}

static void lens_pack(const rapt_explanation *e, size_t depth, size_t position, size_t top, rapt_real *to)
{
    const rapt_explained_lens x = rapt_explanation_lens(e, depth, position);
    for (size_t i = 0; i < top; i++) {
        to[i] = (rapt_real)x.prediction.ids[i];
        to[top + i] = (rapt_real)x.prediction.probabilities[i];
    }
    to += 2 * top;
    to[0] = (rapt_real)x.choice_rank;
    to[1] = (rapt_real)x.choice_probability;
    to[2] = (rapt_real)x.label_rank;
    to[3] = x.prediction.has_label ? (rapt_real)math_exp(-x.prediction.loss) : 0;
}

static json_t *lens_packed(const rapt_explanation *e, size_t top)
{
    const size_t rows = explain_last(e)->count, size = lens_numbers(top), count = e->depths * rows * size;
    rapt_real *all = calloc(count, sizeof *all);
    for (size_t i = 0; all && i < e->depths * rows; i++)
        lens_pack(e, i / rows, i % rows, top, all + i * size);
    char *letters = all ? page_numbers(all, count) : NULL;
    json_t *string = letters ? json_string(letters) : NULL;
    free(letters);
    free(all);
    return string;
}

/* The texts of all tokens by their ids, or as many as already take more than `most` letters. */
static json_t *lens_texts(const rapt_explanation *e, size_t top, size_t most)
{
    json_t *o = json_object();
    const size_t rows = explain_last(e)->count;
    for (size_t i = 0, letters = 0; o && letters <= most && i < e->depths * rows * top; i++) {
        char name[16];
        const int32_t id = rapt_explanation_lens(e, i / top / rows, i / top % rows).prediction.ids[i % top];
        snprintf(name, sizeof name, "%d", (int)id);
        if (json_object_get(o, name))
            continue;
        json_t *text = explain_token_text(explain_last(e)->tokenizer, id);
        letters += json_string_length(text);
        if (json_object_set_new(o, name, text) != 0) {
            json_decref(o);
            return NULL;
        }
    }
    return o;
}

static json_t *lens_page_of(const rapt_explanation *e, size_t top, size_t most)
{
    return json_pack("{s:I, s:I, s:I, s:o, s:o}", "depths", (json_int_t)e->depths, "positions",
                     (json_int_t)explain_last(e)->count, "top", (json_int_t)top, "numbers", lens_packed(e, top), "texts",
                     lens_texts(e, top, most));
}

json_t *explain_lens_page(const rapt_explanation *e, bool full)
{
    const size_t each = e->depths * explain_last(e)->count * sizeof(rapt_real);
    size_t letters = 0;
    if (full)
        return lens_page_of(e, e->top, SIZE_MAX);
    for (size_t top = e->top; top > 0; top--) {
        if (each * lens_numbers(top) / 3 * 4 > LENS_LETTERS)
            continue;
        json_t *o = lens_page_of(e, top, LENS_LETTERS);
        const bool counted = o && page_letters(o, &letters);
        if (counted && letters <= LENS_LETTERS)
            return o;
        json_decref(o);
        if (!counted)
            return NULL;
    }
    return json_object();
}
