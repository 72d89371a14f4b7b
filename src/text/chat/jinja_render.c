/* text/chat/jinja_render.c: renders statements of templates, and whole templates. */
#include "text/chat/jinja.h"

#include "base/quote.h"
#include "text/chat/jinja_print.h"
#include "text/chat/jinja_run.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TEMPLATE = 1 << 20 };

struct jinja_template {
    char *name;
    jinja_work work; /* the tree's memory */
    jinja_node *first;
};

static void render_body(jinja_run *r, const jinja_node *chain);

/* ---- variables -------------------------------------------------------------------------------------------------- */

/* Makes a new scope within `parent` the run's scope; false after a failure. */
static bool render_enter_scope(jinja_run *r, jinja_scope *parent)
{
    jinja_scope *s = jinja_alloc(r->w, 1, sizeof *s);
    if (!s)
        return false;
    *s = (jinja_scope){.parent = parent};
    r->scope = s;
    return true;
}

static void render_set_tuple(jinja_run *r, const jinja_node *targets, jinja_value value)
{
    const jinja_list *list = jinja_defined(r->w, value) ? jinja_iterate(r->w, value) : NULL;
    size_t i = 0;
    for (; list && targets && i < list->count; targets = targets->next)
        jinja_dict_put(r->w, &r->scope->variables, targets->value, list->items[i++]);
    if (list && (targets || i < list->count))
        jinja_fail(r->w, "%s values to unpack", targets ? "not enough" : "too many");
}

static void render_set_attribute(jinja_run *r, const jinja_node *target, jinja_value value)
{
    jinja_value of = jinja_eval(r, target->a);
    if (of.kind != JINJA_NAMESPACE || target->kind != JINJA_NODE_ATTRIBUTE)
        jinja_fail(r->w, "cannot assign attribute on non-namespace object");
    else if (target->value.text[0] == '_')
        jinja_fail(r->w, "a namespace cannot store attributes that begin with _");
    else
        jinja_dict_put(r->w, of.dict, target->value, value);
}

static void render_set(jinja_run *r, const jinja_node *target, jinja_value value)
{
    if (r->w->code)
        return;
    if (target->kind == JINJA_NODE_NAME)
        jinja_dict_put(r->w, &r->scope->variables, target->value, value);
    else if (target->kind == JINJA_NODE_TUPLE)
        render_set_tuple(r, target->list, value);
    else
        render_set_attribute(r, target, value);
}

/* ---- output ----------------------------------------------------------------------------------------------------- */

static void render_text(jinja_run *r, jinja_value text)
{
    if (text.kind != JINJA_TEXT || r->w->code)
        return;
    if (text.size > JINJA_MOST_OUTPUT - r->out.size)
        jinja_fail(r->w, "writes more than %d MB", JINJA_MOST_OUTPUT >> 20);
    else if (jinja_step(r->w, text.size / 64) && !buffer_append(&r->out, text.text, text.size))
        jinja_no_memory(r->w);
}

/* Takes the output from a place on back, and returns it. */
static jinja_value render_taken(jinja_run *r, size_t from)
{
    jinja_value text = jinja_copy(r->w, r->out.size > from ? r->out.data + from : "", r->out.size - from);
    r->out.size = from;
    return text;
}

static jinja_value render_captured(jinja_run *r, const jinja_node *chain, jinja_scope *parent)
{
    jinja_scope *outer = r->scope;
    size_t from = r->out.size;
    if (render_enter_scope(r, parent))
        render_body(r, chain);
    r->scope = outer;
    return render_taken(r, from);
}

/* ---- loops ------------------------------------------------------------------------------------------------------ */

/* The items for which the condition of a loop holds. */
static const jinja_list *render_chosen(jinja_run *r, const jinja_node *node, const jinja_list *all)
{
    jinja_scope *outer = r->scope;
    jinja_list *chosen = jinja_list_new(r->w, JINJA_IS_LIST, all->count);
    if (!chosen)
        return NULL;
    chosen->count = 0;
    for (size_t i = 0; i < all->count && render_enter_scope(r, outer); i++) {
        render_set(r, node->d, all->items[i]);
        if (jinja_truth(jinja_eval(r, node->b)))
            chosen->items[chosen->count++] = all->items[i];
    }
    r->scope = outer;
    return chosen;
}

/* Renders the turns; returns whether any turn came to its end without break or continue. If none did, the loop's else is
 * rendered. */
static bool render_turns(jinja_run *r, const jinja_node *node, jinja_loop *loop)
{
    bool ended = false;
    jinja_scope *outer = r->scope;
    const jinja_value shown = {.kind = JINJA_LOOP, .loop = loop};
    for (; loop->index < loop->items->count && render_enter_scope(r, outer); loop->index++) {
        render_set(r, node->d, loop->items->items[loop->index]);
        jinja_dict_put(r->w, &r->scope->variables, jinja_word("loop"), shown);
        render_body(r, node->list);
        jinja_node_kind jump = r->jump;
        r->jump = JINJA_NODE_DATA;
        ended = ended || jump == JINJA_NODE_DATA;
        if (jump == JINJA_NODE_BREAK)
            break;
    }
    r->scope = outer;
    return ended;
}

static void render_for(jinja_run *r, const jinja_node *node)
{
    jinja_value of = jinja_eval(r, node->a);
    const jinja_list *items = r->w->code ? NULL : jinja_iterate(r->w, of);
    jinja_loop *loop = jinja_alloc(r->w, 1, sizeof *loop);
    if (items && node->b)
        items = render_chosen(r, node, items);
    if (!items || !loop)
        return;
    *loop = (jinja_loop){.items = items};
    if (!render_turns(r, node, loop) && node->c) {
        jinja_scope *outer = r->scope;
        if (render_enter_scope(r, outer))
            render_body(r, node->c->list);
        r->scope = outer;
    }
}

/* ---- macros ----------------------------------------------------------------------------------------------------- */

static void render_define(jinja_run *r, const jinja_node *node)
{
    jinja_macro *m = jinja_alloc(r->w, 1, sizeof *m);
    if (!m)
        return;
    *m = (jinja_macro){node, r->scope};
    jinja_dict_put(r->w, &r->scope->variables, node->value, (jinja_value){.kind = JINJA_MACRO, .macro = m});
}

/* The argument of a parameter, by place or by name; NULL: not given. */
static const jinja_value *render_argument(jinja_run *r, const jinja_arguments *a, jinja_value name, size_t place)
{
    size_t placed = a->count - a->named;
    for (size_t i = placed; i < a->count; i++)
        if (jinja_equal(r->w, a->names[i], name)) {
            if (place < placed)
                jinja_fail(r->w, "an argument of a macro is given twice");
            return &a->values[i];
        }
    return place < placed ? &a->values[place] : NULL;
}

static void render_bind(jinja_run *r, const jinja_node *macro, const jinja_arguments *a)
{
    size_t place = 0, named = 0, placed = a->count - a->named;
    for (const jinja_node *p = macro->a; p && !r->w->code; p = p->next, place++) {
        const jinja_value *given = render_argument(r, a, p->value, place);
        named += given && place >= placed;
        jinja_dict_put(r->w, &r->scope->variables, p->value, given ? *given : p->a ? jinja_eval(r, p->a) : JINJA_NOTHING);
    }
    if (placed > place || named < a->named)
        jinja_fail(r->w, "a macro is given arguments that it does not have");
}

static jinja_value render_call(jinja_run *r, const jinja_macro *m, const jinja_arguments *a)
{
    jinja_scope *outer = r->scope;
    size_t from = r->out.size;
    if (jinja_enter(r->w) && render_enter_scope(r, m->scope)) {
        render_bind(r, m->node, a);
        render_body(r, m->node->list);
    }
    jinja_leave(r->w);
    r->scope = outer;
    return render_taken(r, from);
}

/* ---- statements ------------------------------------------------------------------------------------------------- */

static void render_if(jinja_run *r, const jinja_node *node)
{
    while (node && node->kind == JINJA_NODE_IF && !jinja_truth(jinja_eval(r, node->a)) && !r->w->code)
        node = node->b;
    if (node)
        render_body(r, node->list);
}

static void render_generation(jinja_run *r, const jinja_node *node)
{
    jinja_scope *outer = r->scope;
    if (render_enter_scope(r, outer))
        render_body(r, node->list);
    r->scope = outer;
}

static void render_node(jinja_run *r, const jinja_node *node)
{
    r->w->line = node->line;
    switch (node->kind) {
    case JINJA_NODE_DATA: render_text(r, node->value); return;
    case JINJA_NODE_PRINT: render_text(r, jinja_str(r->w, jinja_eval(r, node->a))); return;
    case JINJA_NODE_IF: render_if(r, node); return;
    case JINJA_NODE_FOR: render_for(r, node); return;
    case JINJA_NODE_SET: render_set(r, node->d, jinja_eval(r, node->a)); return;
    case JINJA_NODE_SET_BLOCK: render_set(r, node->d, render_captured(r, node->list, r->scope)); return;
    case JINJA_NODE_MACRO: render_define(r, node); return;
    case JINJA_NODE_GENERATION: render_generation(r, node); return;
    default: r->jump = node->kind; /* break and continue */
    }
}

static void render_body(jinja_run *r, const jinja_node *chain)
{
    if (jinja_enter(r->w))
        for (; chain && !r->w->code && r->jump == JINJA_NODE_DATA; chain = chain->next)
            if (jinja_step(r->w, 1))
                render_node(r, chain);
    jinja_leave(r->w);
}

/* ---- whole templates -------------------------------------------------------------------------------------------- */

static rapt_code check_template(const char *name, const char *text, size_t size, rapt_error *err)
{
    size_t valid = utf8_valid_prefix(text, size);
    if (size > MOST_TEMPLATE)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: a chat template of %zu bytes; at most %d", quote(name).text, size,
                         MOST_TEMPLATE);
    if (valid < size)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: not UTF-8 at byte %zu", quote(name).text, valid + 1);
    return RAPT_OK;
}

jinja_template *jinja_template_new(const char *name, const char *text, size_t size, rapt_error *err)
{
    rapt_error why = {0};
    if (check_template(name, text, size, err))
        return NULL;
    jinja_template *t = calloc(1, sizeof *t);
    if (!t || !(t->name = malloc(strlen(name) + 1))) {
        free(t);
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a chat template");
        return NULL;
    }
    strcpy(t->name, name);
    jinja_work_begin(&t->work, t->name, &why);
    t->first = jinja_parse(&t->work, text, size);
    if (!t->work.code)
        return t;
    rapt_fail(err, t->work.code, "%s", why.message);
    jinja_template_free(t);
    return NULL;
}

void jinja_template_free(jinja_template *t)
{
    if (!t)
        return;
    jinja_work_end(&t->work);
    free(t->name);
    free(t);
}

/* JSON as a value. */
static jinja_value value_of_json(jinja_work *w, const json_t *json);

static jinja_value row_of_json(jinja_work *w, const json_t *json)
{
    jinja_list *list = jinja_list_new(w, JINJA_IS_LIST, json_array_size(json));
    for (size_t i = 0; list && i < list->count; i++)
        list->items[i] = value_of_json(w, json_array_get(json, i));
    return jinja_row(list);
}

/* Puts the members of an object into a dict; null becomes None. */
static void dict_of_json(jinja_work *w, const json_t *json, jinja_dict *d)
{
    for (void *at = json_object_iter((json_t *)json); at && d; at = json_object_iter_next((json_t *)json, at)) {
        jinja_value key = jinja_copy(w, json_object_iter_key(at), strlen(json_object_iter_key(at)));
        jinja_dict_put(w, d, key, value_of_json(w, json_object_iter_value(at)));
    }
}

static jinja_value value_of_json(jinja_work *w, const json_t *json)
{
    jinja_value v = JINJA_NULL;
    if (!jinja_enter(w))
        json = NULL;
    if (json_is_boolean(json))
        v = jinja_bool(json_is_true(json));
    else if (json_is_integer(json))
        v = jinja_int(json_integer_value(json));
    else if (json_is_real(json))
        v = jinja_float(json_real_value(json));
    else if (json_is_string(json))
        v = jinja_copy(w, json_string_value(json), json_string_length(json));
    else if (json_is_array(json))
        v = row_of_json(w, json);
    else if (json_is_object(json)) {
        v = jinja_table(jinja_dict_new(w));
        dict_of_json(w, json, v.dict);
    }
    jinja_leave(w);
    return v;
}

rapt_code jinja_template_render(const jinja_template *t, const json_t *variables, const jinja_bounds *bounds, char **text,
                                size_t *size, rapt_error *err)
{
    const jinja_bounds b = bounds ? *bounds : (jinja_bounds){0};
    rapt_error why = {0};
    jinja_work w;
    *text = NULL;
    *size = 0;
    jinja_work_begin(&w, t->name, &why);
    jinja_work_bound(&w, b.memory, b.stop, b.context);
    jinja_scope scope = {0};
    jinja_run r = {.w = &w, .scope = &scope, .jump = JINJA_NODE_DATA, .call_macro = render_call};
    r.now = b.now ? (time_t)b.now : time(NULL);
    dict_of_json(&w, variables, &scope.variables);
    if (!buffer_reserve(&r.out, 0))
        jinja_no_memory(&w);
    render_body(&r, t->first);
    if (w.code) {
        buffer_free(&r.out);
        rapt_fail(err, w.code, "%s", why.message);
    } else {
        *text = r.out.data;
        *size = r.out.size;
        (*text)[*size] = '\0'; /* it may have been longer in between */
    }
    jinja_work_end(&w);
    return w.code;
}
