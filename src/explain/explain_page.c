/* explain/explain_page.c: collects the data of an explanation's page: its JSON, the attention weights and predictions of each
 * checkpoint of the training run, the address of the book. page/ makes the page itself. */
#include "explain/explanation.h"

#include "base/ends.h"
#include "base/sized.h"
#include "explain/page/book_address.h"
#include "explain/page/page.h"

#include <string.h>

static rapt_code explain_page_no_memory(rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for JSON");
}

static bool has_tokens_of(const rapt_explanation *a, const rapt_explanation *b)
{
    bool same = a->sequence_count == b->sequence_count;
    for (size_t i = 0; same && i < a->sequence_count; i++) {
        const explain_sequence *s = &a->sequences[i], *other = &b->sequences[i];
        same = s->count == other->count && memcmp(s->ids, other->ids, s->count * sizeof *s->ids) == 0;
    }
    return same;
}

static bool is_attention(const json_t *step)
{
    const char *name = json_string_value(json_object_get(step, "name"));
    return name && ends_in(name, ".weights") && !json_is_true(json_object_get(step, "gradient"));
}

/* The steps of an explanation that are attention weights, as a new list. NULL: out of memory. */
static json_t *attention_steps(const json_t *explanation)
{
    json_t *steps = json_array(), *step;
    size_t i;
    json_array_foreach(json_object_get(explanation, "steps"), i, step)
        if (is_attention(step) && json_array_append(steps, step) != 0) {
            json_decref(steps);
            return NULL;
        }
    return steps;
}

static rapt_code add_checkpoint_json(const rapt_explanation *e, const rapt_explained_checkpoint *c, json_t *list, rapt_error *err)
{
    const unsigned long long step = c->step;
    if (!has_tokens_of(c->explanation, e))
        return rapt_fail(err, RAPT_ERR_VALUE, "the explanation of step %llu has other tokens", step);
    json_t *whole = explain_object(c->explanation, EXPLAIN_BASE64, err), *steps = whole ? attention_steps(whole) : NULL;
    if (!whole)
        return RAPT_ERR_MEMORY;
    rapt_code code = steps ? RAPT_OK : explain_page_no_memory(err);
    if (steps && json_array_size(steps) == 0)
        code = rapt_fail(err, RAPT_ERR_VALUE, "the explanation of step %llu has no attention weights", step);
    json_t *o = code ? NULL : json_pack("{s:I, s:O, s:O}", "step", (json_int_t)c->step, "steps", steps, "predictions",
                                        json_object_get(whole, "predictions"));
    if (!code && json_array_append_new(list, o) != 0)
        code = explain_page_no_memory(err);
    json_decref(steps);
    json_decref(whole);
    return code;
}

static rapt_code add_book(const char *book, json_t *o, rapt_error *err)
{
    if (book_address_check(book, err))
        return RAPT_ERR_VALUE;
    return json_object_set_new(o, "book", json_string(book)) == 0 ? RAPT_OK : explain_page_no_memory(err);
}

static rapt_code add_page_options(const rapt_explanation *e, const rapt_explain_page_options *options, json_t *o, rapt_error *err)
{
    json_t *list = json_array();
    rapt_code code = list ? RAPT_OK : explain_page_no_memory(err);
    for (size_t i = 0; i < options->checkpoint_count && !code; i++)
        code = add_checkpoint_json(e, &options->checkpoints[i], list, err);
    if (!code && options->checkpoint_count > 0 && json_object_set(o, "checkpoints", list) != 0)
        code = explain_page_no_memory(err);
    json_t *parameters = code ? NULL : explain_parameters(e, options->full, err);
    if (!code && !parameters)
        code = RAPT_ERR_MEMORY;
    if (!code && json_object_set(o, "parameters", parameters) != 0)
        code = explain_page_no_memory(err);
    json_decref(parameters);
    if (!code && e->depths > 0 && json_object_set_new(o, "lens", explain_lens_page(e, options->full)) != 0)
        code = explain_page_no_memory(err);
    if (!code && options->full && json_object_set_new(o, "full", json_true()) != 0)
        code = explain_page_no_memory(err);
    json_decref(list);
    return code || !options->book ? code : add_book(options->book, o, err);
}

SIZED_ENDS_WITH(rapt_explain_page_options, book);

void rapt_explain_page_options_init(rapt_explain_page_options *o, size_t size)
{
    sized_init(o, size, &(rapt_explain_page_options){.size = sizeof(rapt_explain_page_options)}, sizeof *o);
}

rapt_code rapt_explanation_page(const rapt_explanation *e, const rapt_explain_page_options *options, char **html,
                                size_t *size, rapt_error *err)
{
    rapt_explain_page_options o = rapt_explain_page_options_default();
    if (sized_take(&o, options, NULL, 0, "explain_page_options", err) != RAPT_OK)
        return RAPT_ERR_VALUE;
    json_t *whole = explain_object(e, EXPLAIN_BASE64, err);
    rapt_code code = whole ? add_page_options(e, &o, whole, err) : RAPT_ERR_MEMORY;
    if (!code)
        code = page_make(whole, html, size, err);
    json_decref(whole);
    return code;
}
