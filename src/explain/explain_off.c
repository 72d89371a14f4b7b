/* explain/explain_off.c: the names of heads that were switched off in the model of an explanation (rapt/heads.h), for the text,
 * the JSON and the page. */
#include "explain/explanation.h"

#include "io/model_heads.h"

rapt_code explain_keep_off(rapt_explanation *e, const rapt_model *m, rapt_error *err)
{
    const size_t count = rapt_model_head_count(m);
    char name[MODEL_HEAD_NAME];
    size_t off = 0;
    for (size_t i = 0; i < count; i++)
        off += rapt_model_head(m, i).off;
    e->off = arena_array(&e->memory, off + 1, sizeof *e->off);
    for (size_t i = 0; i < count && e->off && e->off_count < off; i++) {
        const rapt_head head = rapt_model_head(m, i);
        if (head.off && !(e->off[e->off_count++] = arena_string(&e->memory, model_heads_name(head, name))))
            e->off = NULL;
    }
    return e->off ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the names of %zu heads", off);
}

const char *const *rapt_explanation_heads_off(const rapt_explanation *e, size_t *count)
{
    *count = e->off_count;
    return e->off;
}

void explain_print_off(const rapt_explanation *e, FILE *to)
{
    for (size_t i = 0; i < e->off_count; i++)
        fprintf(to, "%s%s%s", i == 0 ? "heads that are off: " : ", ", e->off[i], i + 1 == e->off_count ? "\n" : "");
}

bool explain_add_off(const rapt_explanation *e, json_t *o)
{
    json_t *list = json_array();
    bool ok = list != NULL;
    for (size_t i = 0; ok && i < e->off_count; i++)
        ok = json_array_append_new(list, json_string(e->off[i])) == 0;
    ok = ok && (e->off_count == 0 || json_object_set(o, "heads_off", list) == 0);
    json_decref(list);
    return ok;
}
