/* text/chat/jinja_eval.c: evaluates expressions of templates. jinja_render.c has statements. */
#include "text/chat/jinja_run.h"

#include "text/chat/jinja_operations.h"
#include "text/chat/jinja_print.h"
#include "text/chat/jinja_text.h"

#include <string.h>

static jinja_value eval_undefined_name(jinja_run *r, jinja_value name)
{
    jinja_value v = JINJA_NOTHING;
    char *text = jinja_alloc(r->w, name.size + 1, 1);
    if (text) {
        memcpy(text, name.text, name.size);
        text[name.size] = '\0';
        v.text = text;
    }
    return v;
}

static jinja_value eval_name(jinja_run *r, jinja_value name)
{
    for (const jinja_scope *s = r->scope; s; s = s->parent) {
        const jinja_value *found = jinja_dict_find(r->w, &s->variables, name);
        if (found)
            return *found;
    }
    jinja_value function = jinja_function_find(name);
    return function.kind == JINJA_FUNCTION ? function : eval_undefined_name(r, name);
}

static size_t chain_length(const jinja_node *node)
{
    size_t count = 0;
    for (; node; node = node->next)
        count++;
    return count;
}

static jinja_list *eval_items(jinja_run *r, const jinja_node *chain, jinja_shape shape)
{
    jinja_list *list = jinja_list_new(r->w, shape, chain_length(chain));
    for (size_t i = 0; list && chain; chain = chain->next)
        list->items[i++] = jinja_eval(r, chain);
    return list;
}

static jinja_value eval_dict(jinja_run *r, const jinja_node *chain)
{
    jinja_dict *d = jinja_dict_new(r->w);
    for (; d && chain && !r->w->code; chain = chain->next->next) {
        jinja_value key = jinja_eval(r, chain);
        jinja_dict_put(r->w, d, key, jinja_eval(r, chain->next));
    }
    return jinja_table(d);
}

static jinja_value eval_concat(jinja_run *r, const jinja_node *chain)
{
    jinja_list *texts = eval_items(r, chain, JINJA_IS_LIST);
    for (size_t i = 0; texts && i < texts->count && !r->w->code; i++)
        texts->items[i] = jinja_str(r->w, texts->items[i]);
    return texts && !r->w->code ? jinja_text_join(r->w, jinja_word(""), texts) : JINJA_NOTHING;
}

/* ---- operators -------------------------------------------------------------------------------------------------- */

static bool eval_holds(jinja_work *w, jinja_value op, jinja_value a, jinja_value b)
{
    if (jinja_is(op, "=="))
        return jinja_equal(w, a, b);
    if (jinja_is(op, "!="))
        return !jinja_equal(w, a, b);
    if (jinja_is(op, "<"))
        return jinja_less(w, a, b, "<");
    if (jinja_is(op, ">"))
        return jinja_less(w, b, a, ">");
    if (jinja_is(op, "<="))
        return jinja_less(w, a, b, "<=") || jinja_equal(w, a, b);
    if (jinja_is(op, ">="))
        return jinja_less(w, b, a, ">=") || jinja_equal(w, a, b);
    return jinja_contains(w, b, a) == jinja_is(op, "in");
}

/* a < b < c is a < b and b < c. */
static jinja_value eval_comparison(jinja_run *r, const jinja_node *node)
{
    jinja_value left = jinja_eval(r, node->a);
    for (const jinja_node *operand = node->list; operand && !r->w->code; operand = operand->next) {
        jinja_value right = jinja_eval(r, operand->a);
        if (r->w->code || !eval_holds(r->w, operand->value, left, right))
            return jinja_bool(false);
        left = right;
    }
    return jinja_bool(true);
}

static jinja_value eval_condition(jinja_run *r, const jinja_node *node)
{
    if (jinja_truth(jinja_eval(r, node->a)))
        return jinja_eval(r, node->b);
    return node->c ? jinja_eval(r, node->c) : JINJA_NOTHING;
}

static jinja_value eval_logical(jinja_run *r, const jinja_node *node)
{
    jinja_value left = jinja_eval(r, node->a);
    return jinja_truth(left) == (node->kind == JINJA_NODE_AND) ? jinja_eval(r, node->b) : left;
}

static jinja_value eval_binary(jinja_run *r, const jinja_node *node)
{
    jinja_value a = jinja_eval(r, node->a), b = jinja_eval(r, node->b);
    return r->w->code ? JINJA_NOTHING : jinja_binary(r->w, node->value, a, b);
}

static jinja_value eval_slice(jinja_run *r, const jinja_node *node)
{
    jinja_value of = jinja_eval(r, node->a);
    jinja_value ends[3] = {JINJA_NULL, JINJA_NULL, JINJA_NULL};
    const jinja_node *const given[3] = {node->b, node->c, node->d};
    for (size_t i = 0; i < 3; i++)
        if (given[i])
            ends[i] = jinja_eval(r, given[i]);
    return r->w->code ? JINJA_NOTHING : jinja_slice(r->w, of, ends[0], ends[1], ends[2]);
}

/* ---- calls ------------------------------------------------------------------------------------------------------ */

static bool eval_arguments(jinja_run *r, const jinja_node *chain, jinja_arguments *a)
{
    *a = (jinja_arguments){.count = 0};
    for (; chain && !r->w->code; chain = chain->next) {
        bool named = chain->kind == JINJA_NODE_KEYWORD;
        if (a->count == JINJA_MOST_ARGUMENTS) {
            jinja_fail(r->w, "more than %d arguments", JINJA_MOST_ARGUMENTS);
            break;
        }
        a->names[a->count] = named ? chain->value : JINJA_NOTHING;
        a->values[a->count++] = jinja_eval(r, named ? chain->a : chain);
        a->named += named;
    }
    return !r->w->code;
}

static jinja_value eval_call(jinja_run *r, const jinja_node *node)
{
    jinja_arguments a;
    jinja_value called = jinja_eval(r, node->a);
    if (!eval_arguments(r, node->list, &a))
        return JINJA_NOTHING;
    r->w->line = node->line;
    switch (called.kind) {
    case JINJA_FUNCTION: return jinja_function_call(r, called.function, &a);
    case JINJA_METHOD: return jinja_method_call(r->w, called.method, &a);
    case JINJA_MACRO: return r->call_macro(r, called.macro, &a);
    default: break;
    }
    if (jinja_defined(r->w, called))
        jinja_fail(r->w, "'%s' object is not callable", jinja_type(called));
    return JINJA_NOTHING;
}

static jinja_value eval_filter(jinja_run *r, const jinja_node *node)
{
    jinja_arguments a;
    jinja_value v = jinja_eval(r, node->a);
    return eval_arguments(r, node->list, &a) ? jinja_filter(r->w, node->value, v, &a) : JINJA_NOTHING;
}

static jinja_value eval_test(jinja_run *r, const jinja_node *node)
{
    jinja_arguments a;
    jinja_value v = jinja_eval(r, node->a);
    return jinja_bool(eval_arguments(r, node->list, &a) && jinja_test(r->w, node->value, v, &a));
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static jinja_value eval_item(jinja_run *r, const jinja_node *node)
{
    jinja_value of = jinja_eval(r, node->a), key = jinja_eval(r, node->b);
    return r->w->code ? JINJA_NOTHING : jinja_item(r->w, of, key);
}

static jinja_value eval_node(jinja_run *r, const jinja_node *node)
{
    r->w->line = node->line;
    switch (node->kind) {
    case JINJA_NODE_CONSTANT: return node->value;
    case JINJA_NODE_NAME: return eval_name(r, node->value);
    case JINJA_NODE_LIST: return jinja_row(eval_items(r, node->list, JINJA_IS_LIST));
    case JINJA_NODE_TUPLE: return jinja_row(eval_items(r, node->list, JINJA_IS_TUPLE));
    case JINJA_NODE_DICT: return eval_dict(r, node->list);
    case JINJA_NODE_ATTRIBUTE: return jinja_attribute(r->w, jinja_eval(r, node->a), node->value);
    case JINJA_NODE_ITEM: return eval_item(r, node);
    case JINJA_NODE_SLICE: return eval_slice(r, node);
    case JINJA_NODE_CALL: return eval_call(r, node);
    case JINJA_NODE_FILTER: return eval_filter(r, node);
    case JINJA_NODE_TEST: return eval_test(r, node);
    case JINJA_NODE_NOT: return jinja_bool(!jinja_truth(jinja_eval(r, node->a)));
    case JINJA_NODE_NEGATIVE:
    case JINJA_NODE_POSITIVE: return jinja_signed(r->w, jinja_eval(r, node->a), node->kind == JINJA_NODE_NEGATIVE);
    case JINJA_NODE_AND:
    case JINJA_NODE_OR: return eval_logical(r, node);
    case JINJA_NODE_CONDITION: return eval_condition(r, node);
    case JINJA_NODE_COMPARE: return eval_comparison(r, node);
    case JINJA_NODE_CONCAT: return eval_concat(r, node->list);
    case JINJA_NODE_BINARY: return eval_binary(r, node);
    default: return JINJA_NOTHING; /* statements, which are never operands */
    }
}

jinja_value jinja_eval(jinja_run *r, const jinja_node *node)
{
    jinja_value v = jinja_enter(r->w) ? eval_node(r, node) : JINJA_NOTHING;
    jinja_leave(r->w);
    return r->w->code ? JINJA_NOTHING : v;
}
