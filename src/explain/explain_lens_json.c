/* explain/explain_lens_json.c: the logit lens as JSON: a list of depths, each with a list of positions. */
#include "explain/explanation.h"

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
