/* text/chat/jinja_parse_expression.c: parses expressions of templates. One function for each precedence, from the weakest
 * binding: if-else, or, and, not, comparisons, + and -, ~, products, signs, then subscripts, calls, filters and tests. */
#include "text/chat/jinja_tree.h"

#include "text/chat/jinja_operations.h"

static jinja_node *parse_unary(jinja_parser *p, bool with_filter);

/* ---- primary expressions ---------------------------------------------------------------------------------------- */

static jinja_node *parse_constant(jinja_parser *p, jinja_value value)
{
    jinja_node *node = jinja_parse_node(p, JINJA_NODE_CONSTANT);
    node->value = value;
    jinja_parse_step(p);
    return node;
}

/* Adjacent strings are one. */
static jinja_node *parse_strings(jinja_parser *p)
{
    jinja_node *node = parse_constant(p, p->at->value);
    while (node->value.kind == JINJA_TEXT && p->at->kind == JINJA_TOKEN_CONSTANT && p->at->value.kind == JINJA_TEXT) {
        buffer b = {0};
        bool ok = buffer_append(&b, node->value.text, node->value.size) &&
                  buffer_append(&b, p->at->value.text, p->at->value.size);
        node->value = jinja_take(p->w, &b, ok);
        jinja_parse_step(p);
    }
    return node;
}

static jinja_node *parse_name(jinja_parser *p)
{
    static const char *const refused[] = {"lipsum", "cycler", "joiner", "caller", "varargs", "kwargs", "self"};
    if (jinja_parse_sees_name(p, "true") || jinja_parse_sees_name(p, "True"))
        return parse_constant(p, jinja_bool(true));
    if (jinja_parse_sees_name(p, "false") || jinja_parse_sees_name(p, "False"))
        return parse_constant(p, jinja_bool(false));
    if (jinja_parse_sees_name(p, "none") || jinja_parse_sees_name(p, "None"))
        return parse_constant(p, JINJA_NULL);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (jinja_parse_sees_name(p, refused[i]))
            jinja_fail(p->w, "the name \"%s\" is not implemented", refused[i]);
    jinja_node *node = jinja_parse_node(p, JINJA_NODE_NAME);
    node->value = jinja_parse_identifier(p);
    return node;
}

/* Items up to a closing bracket, which it takes as well. */
static jinja_node *parse_items(jinja_parser *p, jinja_node_kind kind, const char *close)
{
    jinja_node *node = jinja_parse_node(p, kind), **end = &node->list;
    while (!p->w->code && !jinja_parse_takes_sign(p, close)) {
        if (node->list) {
            jinja_parse_expect(p, ",");
            if (jinja_parse_takes_sign(p, close))
                break;
        }
        jinja_parse_put(&end, jinja_parse_expression(p, true));
        if (kind == JINJA_NODE_DICT) {
            jinja_parse_expect(p, ":");
            jinja_parse_put(&end, jinja_parse_expression(p, true));
        }
    }
    return node;
}

/* (a), or a tuple: (), (a,), (a, b) */
static jinja_node *parse_parenthesized(jinja_parser *p)
{
    if (jinja_parse_sees_sign(p, ")"))
        return parse_items(p, JINJA_NODE_TUPLE, ")");
    jinja_node *node = jinja_parse_tuple(p, true);
    jinja_parse_expect(p, ")");
    return node;
}

static jinja_node *parse_primary(jinja_parser *p)
{
    if (p->at->kind == JINJA_TOKEN_NAME)
        return parse_name(p);
    if (p->at->kind == JINJA_TOKEN_CONSTANT)
        return p->at->value.kind == JINJA_TEXT ? parse_strings(p) : parse_constant(p, p->at->value);
    if (jinja_parse_takes_sign(p, "("))
        return parse_parenthesized(p);
    if (jinja_parse_takes_sign(p, "["))
        return parse_items(p, JINJA_NODE_LIST, "]");
    if (jinja_parse_takes_sign(p, "{"))
        return parse_items(p, JINJA_NODE_DICT, "}");
    jinja_parse_fail(p, "an expression");
    return jinja_parse_node(p, JINJA_NODE_CONSTANT);
}

/* ---- what follows one ------------------------------------------------------------------------------------------- */

/* Arguments, up to the parenthesis that closes them. */
static void parse_arguments(jinja_parser *p, jinja_node *call)
{
    jinja_node **end = &call->list;
    bool named = false;
    while (!p->w->code && !jinja_parse_takes_sign(p, ")")) {
        if (call->list) {
            jinja_parse_expect(p, ",");
            if (jinja_parse_takes_sign(p, ")"))
                return;
        }
        if (jinja_parse_sees_sign(p, "*") || jinja_parse_sees_sign(p, "**"))
            jinja_fail(p->w, "arguments with * or ** are not implemented");
        bool keyword = p->at->kind == JINJA_TOKEN_NAME && p->at[1].kind == JINJA_TOKEN_SIGN && jinja_is(p->at[1].value, "=");
        jinja_node *argument = keyword ? jinja_parse_node(p, JINJA_NODE_KEYWORD) : NULL;
        if (keyword) {
            argument->value = jinja_parse_identifier(p);
            jinja_parse_expect(p, "=");
            argument->a = jinja_parse_expression(p, true);
        } else {
            argument = jinja_parse_expression(p, true);
        }
        if (named && !keyword)
            jinja_fail(p->w, "an argument without a name follows one with a name");
        named = named || keyword;
        jinja_parse_put(&end, argument);
    }
}

static jinja_node *parse_attribute(jinja_parser *p, jinja_node *of)
{
    jinja_node *node = jinja_parse_node(p, JINJA_NODE_ATTRIBUTE);
    node->a = of;
    if (p->at->kind == JINJA_TOKEN_CONSTANT && p->at->value.kind == JINJA_INT) {
        node->kind = JINJA_NODE_ITEM;
        node->b = parse_constant(p, p->at->value);
    } else {
        node->value = jinja_parse_identifier(p);
    }
    return node;
}

/* An end of a slice, if there is one. */
static jinja_node *parse_slice_end(jinja_parser *p)
{
    bool none = jinja_parse_sees_sign(p, ":") || jinja_parse_sees_sign(p, "]");
    return none ? NULL : jinja_parse_expression(p, true);
}

static jinja_node *parse_subscript(jinja_parser *p, jinja_node *of)
{
    jinja_node *node = jinja_parse_node(p, JINJA_NODE_ITEM);
    node->a = of;
    node->b = parse_slice_end(p);
    if (!node->b && jinja_parse_sees_sign(p, "]"))
        jinja_parse_fail(p, "a subscript");
    if (jinja_parse_takes_sign(p, ":")) {
        node->kind = JINJA_NODE_SLICE;
        node->c = parse_slice_end(p);
        if (jinja_parse_takes_sign(p, ":"))
            node->d = parse_slice_end(p);
    }
    if (jinja_parse_sees_sign(p, ","))
        jinja_fail(p->w, "subscripts of several values are not implemented");
    jinja_parse_expect(p, "]");
    return node;
}

static jinja_node *parse_call(jinja_parser *p, jinja_node *of)
{
    jinja_node *node = jinja_parse_node(p, JINJA_NODE_CALL);
    node->a = of;
    parse_arguments(p, node);
    return node;
}

static jinja_node *parse_postfix(jinja_parser *p, jinja_node *node)
{
    while (!p->w->code)
        if (jinja_parse_takes_sign(p, "."))
            node = parse_attribute(p, node);
        else if (jinja_parse_takes_sign(p, "["))
            node = parse_subscript(p, node);
        else if (jinja_parse_takes_sign(p, "("))
            node = parse_call(p, node);
        else
            break;
    return node;
}

static jinja_node *parse_filter(jinja_parser *p, jinja_node *of)
{
    jinja_node *node = jinja_parse_node(p, JINJA_NODE_FILTER);
    node->a = of;
    node->value = jinja_parse_identifier(p);
    if (!p->w->code && !jinja_filter_known(node->value))
        jinja_fail(p->w, "the filter \"%.*s\" is not implemented", (int)(node->value.size < 40 ? node->value.size : 40),
                   node->value.text);
    if (jinja_parse_takes_sign(p, "("))
        parse_arguments(p, node);
    return node;
}

/* Whether the argument of a test without parentheses follows: x is divisibleby 3 */
static bool sees_test_argument(const jinja_parser *p)
{
    if (p->at->kind == JINJA_TOKEN_NAME)
        return !jinja_parse_sees_name(p, "else") && !jinja_parse_sees_name(p, "or") && !jinja_parse_sees_name(p, "and");
    return p->at->kind == JINJA_TOKEN_CONSTANT || jinja_parse_sees_sign(p, "[") || jinja_parse_sees_sign(p, "{");
}

static jinja_node *parse_test(jinja_parser *p, jinja_node *of)
{
    jinja_node *node = jinja_parse_node(p, JINJA_NODE_TEST), *negated = NULL;
    if (jinja_parse_takes_name(p, "not"))
        negated = jinja_parse_node(p, JINJA_NODE_NOT);
    node->a = of;
    node->value = jinja_parse_identifier(p);
    if (!p->w->code && !jinja_test_known(node->value))
        jinja_fail(p->w, "the test \"%.*s\" is not implemented", (int)(node->value.size < 40 ? node->value.size : 40),
                   node->value.text);
    if (jinja_parse_takes_sign(p, "("))
        parse_arguments(p, node);
    else if (jinja_parse_sees_name(p, "is"))
        jinja_fail(p->w, "tests cannot follow each other");
    else if (sees_test_argument(p))
        node->list = parse_postfix(p, parse_primary(p));
    if (negated)
        negated->a = node;
    return negated ? negated : node;
}

static jinja_node *parse_filters(jinja_parser *p, jinja_node *node)
{
    while (!p->w->code)
        if (jinja_parse_takes_sign(p, "|"))
            node = parse_filter(p, node);
        else if (jinja_parse_takes_name(p, "is"))
            node = parse_test(p, node);
        else if (jinja_parse_takes_sign(p, "("))
            node = parse_call(p, node);
        else
            break;
    return node;
}

/* ---- operators -------------------------------------------------------------------------------------------------- */

static jinja_node *parse_signed(jinja_parser *p, jinja_node_kind kind)
{
    jinja_node *node = jinja_parse_node(p, kind);
    jinja_parse_step(p);
    node->a = parse_unary(p, false);
    return node;
}

static jinja_node *parse_unary(jinja_parser *p, bool with_filter)
{
    jinja_node *node = &p->spare;
    if (!jinja_parse_enter(p))
        node = &p->spare;
    else if (jinja_parse_sees_sign(p, "-"))
        node = parse_signed(p, JINJA_NODE_NEGATIVE);
    else if (jinja_parse_sees_sign(p, "+"))
        node = parse_signed(p, JINJA_NODE_POSITIVE);
    else
        node = parse_primary(p);
    node = parse_postfix(p, node);
    node = with_filter ? parse_filters(p, node) : node;
    jinja_parse_leave(p);
    return node;
}

static jinja_node *parse_binary(jinja_parser *p, jinja_node *left)
{
    jinja_node *node = jinja_parse_node(p, JINJA_NODE_BINARY);
    node->value = p->at->value;
    node->a = left;
    jinja_parse_step(p);
    return node;
}

static jinja_node *parse_product(jinja_parser *p)
{
    jinja_node *node = parse_unary(p, true);
    while (jinja_parse_sees_sign(p, "*") || jinja_parse_sees_sign(p, "/") || jinja_parse_sees_sign(p, "//") ||
           jinja_parse_sees_sign(p, "%")) {
        node = parse_binary(p, node);
        node->b = parse_unary(p, true);
    }
    if (jinja_parse_sees_sign(p, "**"))
        jinja_fail(p->w, "the operator ** is not implemented");
    return node;
}

static jinja_node *parse_concat(jinja_parser *p)
{
    jinja_node *first = parse_product(p);
    if (!jinja_parse_sees_sign(p, "~"))
        return first;
    jinja_node *node = jinja_parse_node(p, JINJA_NODE_CONCAT), **end = &node->list;
    jinja_parse_put(&end, first);
    while (jinja_parse_takes_sign(p, "~"))
        jinja_parse_put(&end, parse_product(p));
    return node;
}

static jinja_node *parse_sum(jinja_parser *p)
{
    jinja_node *node = parse_concat(p);
    while (jinja_parse_sees_sign(p, "+") || jinja_parse_sees_sign(p, "-")) {
        node = parse_binary(p, node);
        node->b = parse_concat(p);
    }
    return node;
}

/* Takes the operator of a comparison; the result is not a text if there is none. */
static jinja_value parse_comparison_sign(jinja_parser *p)
{
    static const char *const signs[] = {"==", "!=", "<", "<=", ">", ">="};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (jinja_parse_takes_sign(p, signs[i]))
            return jinja_word(signs[i]);
    if (jinja_parse_takes_name(p, "in"))
        return jinja_word("in");
    if (jinja_parse_sees_name(p, "not") && p->at[1].kind == JINJA_TOKEN_NAME && jinja_is(p->at[1].value, "in")) {
        jinja_parse_step(p);
        jinja_parse_step(p);
        return jinja_word("not in");
    }
    return JINJA_NOTHING;
}

static jinja_node *parse_comparison(jinja_parser *p)
{
    jinja_node *first = parse_sum(p), *node = NULL, **end = NULL;
    for (jinja_value sign; (sign = parse_comparison_sign(p)).kind == JINJA_TEXT;) {
        if (!node) {
            node = jinja_parse_node(p, JINJA_NODE_COMPARE);
            node->a = first;
            end = &node->list;
        }
        jinja_node *operand = jinja_parse_node(p, JINJA_NODE_OPERAND);
        operand->value = sign;
        operand->a = parse_sum(p);
        jinja_parse_put(&end, operand);
    }
    return node ? node : first;
}

static jinja_node *parse_not(jinja_parser *p)
{
    jinja_node *node = &p->spare;
    if (!jinja_parse_enter(p)) {
        node = &p->spare;
    } else if (jinja_parse_sees_name(p, "not")) {
        node = jinja_parse_node(p, JINJA_NODE_NOT);
        jinja_parse_step(p);
        node->a = parse_not(p);
    } else {
        node = parse_comparison(p);
    }
    jinja_parse_leave(p);
    return node;
}

static jinja_node *parse_logical(jinja_parser *p, bool is_or)
{
    jinja_node *node = is_or ? parse_logical(p, false) : parse_not(p);
    while (jinja_parse_takes_name(p, is_or ? "or" : "and")) {
        jinja_node *both = jinja_parse_node(p, is_or ? JINJA_NODE_OR : JINJA_NODE_AND);
        both->a = node;
        both->b = is_or ? parse_logical(p, false) : parse_not(p);
        node = both;
    }
    return node;
}

jinja_node *jinja_parse_expression(jinja_parser *p, bool with_condition)
{
    jinja_node *node = jinja_parse_enter(p) ? parse_logical(p, true) : &p->spare;
    while (with_condition && jinja_parse_takes_name(p, "if")) {
        jinja_node *choice = jinja_parse_node(p, JINJA_NODE_CONDITION);
        choice->a = parse_logical(p, true);
        choice->b = node;
        choice->c = jinja_parse_takes_name(p, "else") ? jinja_parse_expression(p, true) : NULL;
        node = choice;
    }
    jinja_parse_leave(p);
    return node;
}

static bool sees_tuple_end(const jinja_parser *p)
{
    return p->at->kind == JINJA_TOKEN_PRINT_END || p->at->kind == JINJA_TOKEN_BLOCK_END || jinja_parse_sees_sign(p, ")");
}

jinja_node *jinja_parse_tuple(jinja_parser *p, bool with_condition)
{
    jinja_node *first = jinja_parse_expression(p, with_condition);
    if (!jinja_parse_sees_sign(p, ","))
        return first;
    jinja_node *node = jinja_parse_node(p, JINJA_NODE_TUPLE), **end = &node->list;
    jinja_parse_put(&end, first);
    while (jinja_parse_takes_sign(p, ",") && !sees_tuple_end(p))
        jinja_parse_put(&end, jinja_parse_expression(p, with_condition));
    return node;
}

/* ---- targets ---------------------------------------------------------------------------------------------------- */

static jinja_node *parse_target_name(jinja_parser *p)
{
    static const char *const denied[] = {"true", "false", "none", "True", "False", "None", "loop",
                                         "not",  "and",   "or",   "in",   "is",    "if"};
    jinja_node *node = jinja_parse_node(p, JINJA_NODE_NAME);
    for (size_t i = 0; i < sizeof denied / sizeof *denied; i++)
        if (jinja_parse_sees_name(p, denied[i]))
            jinja_fail(p->w, "\"%s\" cannot be set", denied[i]);
    node->value = jinja_parse_identifier(p);
    return node;
}

jinja_node *jinja_parse_target(jinja_parser *p, bool with_attribute)
{
    bool parenthesized = jinja_parse_takes_sign(p, "(");
    jinja_node *first = parse_target_name(p), *node = first;
    if (with_attribute && !parenthesized && jinja_parse_takes_sign(p, "."))
        return parse_attribute(p, first);
    if (jinja_parse_sees_sign(p, ",")) {
        node = jinja_parse_node(p, JINJA_NODE_TUPLE);
        jinja_node **end = &node->list;
        jinja_parse_put(&end, first);
        while (jinja_parse_takes_sign(p, ",") && p->at->kind == JINJA_TOKEN_NAME && !jinja_parse_sees_name(p, "in"))
            jinja_parse_put(&end, parse_target_name(p));
    }
    if (parenthesized)
        jinja_parse_expect(p, ")");
    return node;
}
