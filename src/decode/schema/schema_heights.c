/* decode/schema/schema_heights.c: the depth of the shallowest value of each node, in rounds, because nodes refer to each
 * other. */
#include "decode/schema/schema_heights.h"

static int shape_height(const schema_shape *s)
{
    int height = 0;
    if (s->kind != SCHEMA_ARRAY && s->kind != SCHEMA_OBJECT)
        return 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->kind == SCHEMA_OBJECT ? s->slots[i].required : i < s->min) {
            const int own = s->kind == SCHEMA_OBJECT ? s->slots[i].value->height : s->items[i]->height;
            height = own > height ? own : height;
        }
    if (s->kind == SCHEMA_ARRAY && s->min > s->count && s->rest->height > height)
        height = s->rest->height;
    return height < SCHEMA_DEPTH ? height + 1 : SCHEMA_NEVER;
}

/* One round of heights; whether one of them fell. */
static rapt_code lower_heights(json_schema *s, schema_work *w, bool *changed, rapt_error *err)
{
    *changed = false;
    for (size_t i = 0; i < s->node_count; i++) {
        schema_node *n = s->nodes[i];
        for (size_t k = 0; k < n->count; k++) {
            if (schema_charge(w, w->root, 2 + n->shapes[k].count / 4, err))
                return RAPT_ERR_VALUE;
            n->shapes[k].height = shape_height(&n->shapes[k]);
            if (n->shapes[k].height < n->height) {
                n->height = n->shapes[k].height;
                *changed = true;
            }
        }
    }
    return RAPT_OK;
}

/* Heights only fall, and all that stay are at most SCHEMA_DEPTH: after as many rounds none changes. */
rapt_code schema_heights(json_schema *s, schema_work *w, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (bool changed = true; changed && !code;)
        code = lower_heights(s, w, &changed, err);
    return code;
}
