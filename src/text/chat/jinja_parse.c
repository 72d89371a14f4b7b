/* text/chat/jinja_parse.c: parses statements of templates. Statements that are not implemented are refused here by name. */
#include "text/chat/jinja_tree.h"


/* Statements up to {% NAME %} with one of the names in `ends`, where the parser then is, or if `ends` is NULL, to the end of the
 * template. */
static jinja_node *parse_body(jinja_parser *p, const char *const *ends);

static void parse_block_end(jinja_parser *p)
{
    if (p->at->kind == JINJA_TOKEN_BLOCK_END)
        jinja_parse_step(p);
    else
        jinja_parse_fail(p, "%}");
}

/* A body that ends with {% NAME %}, and that tag. */
static jinja_node *parse_whole_body(jinja_parser *p, const char *name)
{
    const char *const ends[] = {name, NULL};
    parse_block_end(p);
    jinja_node *list = parse_body(p, ends);
    jinja_parse_takes_name(p, name);
    parse_block_end(p);
    return list;
}

/* Parses from the condition on; elif and else are chained to it. */
static jinja_node *parse_if(jinja_parser *p)
{
    static const char *const ends[] = {"elif", "else", "endif", NULL}, *const last[] = {"endif", NULL};
    jinja_node *whole = jinja_parse_node(p, JINJA_NODE_IF), *node = whole;
    for (bool more = true; more && !p->w->code;) {
        node->a = jinja_parse_tuple(p, false);
        parse_block_end(p);
        node->list = parse_body(p, ends);
        more = jinja_parse_takes_name(p, "elif");
        if (more) {
            node->b = jinja_parse_node(p, JINJA_NODE_IF);
            node = node->b;
        }
    }
    if (jinja_parse_takes_name(p, "else")) {
        parse_block_end(p);
        node->b = jinja_parse_node(p, JINJA_NODE_BODY);
        node->b->list = parse_body(p, last);
    }
    jinja_parse_takes_name(p, "endif");
    parse_block_end(p);
    return whole;
}

static jinja_node *parse_for(jinja_parser *p)
{
    static const char *const ends[] = {"else", "endfor", NULL}, *const last[] = {"endfor", NULL};
    jinja_node *node = jinja_parse_node(p, JINJA_NODE_FOR);
    node->d = jinja_parse_target(p, false);
    if (!jinja_parse_takes_name(p, "in"))
        jinja_parse_fail(p, "'in'");
    node->a = jinja_parse_tuple(p, false);
    if (jinja_parse_takes_name(p, "if"))
        node->b = jinja_parse_expression(p, true);
    if (jinja_parse_sees_name(p, "recursive"))
        jinja_fail(p->w, "a recursive loop is not implemented");
    parse_block_end(p);
    p->loops++;
    node->list = parse_body(p, ends);
    p->loops--;
    if (jinja_parse_takes_name(p, "else")) {
        parse_block_end(p);
        node->c = jinja_parse_node(p, JINJA_NODE_BODY);
        node->c->list = parse_body(p, last);
    }
    jinja_parse_takes_name(p, "endfor");
    parse_block_end(p);
    return node;
}

/* A body with a separate output; break and continue in it cannot leave a loop around it. */
static jinja_node *parse_own_body(jinja_parser *p, const char *end)
{
    size_t loops = p->loops;
    p->loops = 0;
    jinja_node *list = parse_whole_body(p, end);
    p->loops = loops;
    return list;
}

static jinja_node *parse_set(jinja_parser *p)
{
    jinja_node *node = jinja_parse_node(p, JINJA_NODE_SET);
    node->d = jinja_parse_target(p, true);
    if (jinja_parse_takes_sign(p, "=")) {
        node->a = jinja_parse_tuple(p, true);
        parse_block_end(p);
        return node;
    }
    if (jinja_parse_sees_sign(p, "|"))
        jinja_fail(p->w, "a set block with a filter is not implemented");
    if (node->d->kind == JINJA_NODE_TUPLE)
        jinja_fail(p->w, "a set block sets one name");
    node->kind = JINJA_NODE_SET_BLOCK;
    node->list = parse_own_body(p, "endset");
    return node;
}

static jinja_node *parse_parameters(jinja_parser *p)
{
    jinja_node *first = NULL, **end = &first;
    bool optional = false;
    jinja_parse_expect(p, "(");
    while (!p->w->code && !jinja_parse_takes_sign(p, ")")) {
        if (first)
            jinja_parse_expect(p, ",");
        jinja_node *parameter = jinja_parse_node(p, JINJA_NODE_KEYWORD);
        parameter->value = jinja_parse_identifier(p);
        if (jinja_parse_takes_sign(p, "="))
            parameter->a = jinja_parse_expression(p, true);
        else if (optional)
            jinja_fail(p->w, "a parameter without a default follows one with a default");
        optional = parameter->a != NULL;
        jinja_parse_put(&end, parameter);
    }
    return first;
}

static jinja_node *parse_macro(jinja_parser *p)
{
    jinja_node *node = jinja_parse_node(p, JINJA_NODE_MACRO);
    node->value = jinja_parse_identifier(p);
    node->a = parse_parameters(p);
    node->list = parse_own_body(p, "endmacro");
    return node;
}

static jinja_node *parse_jump(jinja_parser *p, jinja_node_kind kind)
{
    if (p->loops == 0)
        jinja_fail(p->w, "break or continue outside of a loop");
    parse_block_end(p);
    return jinja_parse_node(p, kind);
}

static jinja_node *parse_tag(jinja_parser *p)
{
    if (jinja_parse_takes_name(p, "if"))
        return parse_if(p);
    if (jinja_parse_takes_name(p, "for"))
        return parse_for(p);
    if (jinja_parse_takes_name(p, "set"))
        return parse_set(p);
    if (jinja_parse_takes_name(p, "macro"))
        return parse_macro(p);
    if (jinja_parse_takes_name(p, "break"))
        return parse_jump(p, JINJA_NODE_BREAK);
    if (jinja_parse_takes_name(p, "continue"))
        return parse_jump(p, JINJA_NODE_CONTINUE);
    jinja_node *node = jinja_parse_node(p, JINJA_NODE_GENERATION);
    if (jinja_parse_takes_name(p, "generation")) {
        node->list = parse_own_body(p, "endgeneration");
        return node;
    }
    jinja_value name = jinja_parse_identifier(p);
    jinja_fail(p->w, "the tag \"%.*s\" does not belong there, or is not implemented", (int)(name.size < 40 ? name.size : 40),
               name.text);
    jinja_parse_step(p);
    return node;
}

static jinja_node *parse_print(jinja_parser *p)
{
    jinja_node *node = jinja_parse_node(p, JINJA_NODE_PRINT);
    node->a = jinja_parse_tuple(p, true);
    if (p->at->kind == JINJA_TOKEN_PRINT_END)
        jinja_parse_step(p);
    else
        jinja_parse_fail(p, "}}");
    return node;
}

static jinja_node *parse_data(jinja_parser *p)
{
    jinja_node *node = jinja_parse_node(p, JINJA_NODE_DATA);
    node->value = p->at->value;
    jinja_parse_step(p);
    return node;
}

static bool sees_end(const jinja_parser *p, const char *const *ends)
{
    for (; *ends; ends++)
        if (jinja_parse_sees_name(p, *ends))
            return true;
    return false;
}

static jinja_node *parse_body(jinja_parser *p, const char *const *ends)
{
    jinja_node *first = NULL, **end = &first;
    if (jinja_parse_enter(p))
        while (!p->w->code && p->at->kind != JINJA_TOKEN_END) {
            if (p->at->kind == JINJA_TOKEN_DATA) {
                jinja_parse_put(&end, parse_data(p));
                continue;
            }
            bool prints = p->at->kind == JINJA_TOKEN_PRINT;
            jinja_parse_step(p);
            if (!prints && ends && sees_end(p, ends))
                break;
            jinja_parse_put(&end, prints ? parse_print(p) : parse_tag(p));
        }
    if (ends && p->at->kind == JINJA_TOKEN_END)
        jinja_fail(p->w, "{%% %s %%} is missing", *ends);
    jinja_parse_leave(p);
    return first;
}

jinja_node *jinja_parse(jinja_work *w, const char *text, size_t size)
{
    jinja_parser p = {.w = w, .at = jinja_lex(w, text, size)};
    return w->code ? NULL : parse_body(&p, NULL);
}
