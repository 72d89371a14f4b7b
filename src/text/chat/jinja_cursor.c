/* text/chat/jinja_cursor.c: the position of a template parser, and the tokens there. */
#include "text/chat/jinja_tree.h"

#include <stdio.h>

bool jinja_parse_sees_sign(const jinja_parser *p, const char *sign)
{
    return p->at->kind == JINJA_TOKEN_SIGN && jinja_is(p->at->value, sign);
}

bool jinja_parse_sees_name(const jinja_parser *p, const char *name)
{
    return p->at->kind == JINJA_TOKEN_NAME && jinja_is(p->at->value, name);
}

void jinja_parse_step(jinja_parser *p)
{
    while (p->w->code && p->at->kind != JINJA_TOKEN_END)
        p->at++;
    p->at += p->at->kind != JINJA_TOKEN_END;
    p->w->line = p->at->line;
}

bool jinja_parse_takes_sign(jinja_parser *p, const char *sign)
{
    bool sees = jinja_parse_sees_sign(p, sign);
    if (sees)
        jinja_parse_step(p);
    return sees;
}

bool jinja_parse_takes_name(jinja_parser *p, const char *name)
{
    bool sees = jinja_parse_sees_name(p, name);
    if (sees)
        jinja_parse_step(p);
    return sees;
}

void jinja_parse_fail(jinja_parser *p, const char *expected)
{
    static const char *const ends[] = {[JINJA_TOKEN_DATA] = "text", [JINJA_TOKEN_PRINT] = "{{", [JINJA_TOKEN_PRINT_END] = "}}",
                                       [JINJA_TOKEN_BLOCK] = "{%", [JINJA_TOKEN_BLOCK_END] = "%}", [JINJA_TOKEN_NAME] = "",
                                       [JINJA_TOKEN_CONSTANT] = "a constant", [JINJA_TOKEN_SIGN] = "",
                                       [JINJA_TOKEN_END] = "the end"};
    char found[40];
    bool named = p->at->kind == JINJA_TOKEN_NAME || p->at->kind == JINJA_TOKEN_SIGN;
    snprintf(found, sizeof found, named ? "'%.*s'" : "%.*s", named ? (int)(p->at->value.size < 30 ? p->at->value.size : 30) : 30,
             named ? p->at->value.text : ends[p->at->kind]);
    jinja_fail(p->w, "expected %s, found %s", expected, found);
    jinja_parse_step(p);
}

void jinja_parse_expect(jinja_parser *p, const char *sign)
{
    if (!jinja_parse_takes_sign(p, sign))
        jinja_parse_fail(p, sign);
}

jinja_value jinja_parse_identifier(jinja_parser *p)
{
    jinja_value name = p->at->value;
    if (p->at->kind == JINJA_TOKEN_NAME)
        jinja_parse_step(p);
    else
        jinja_parse_fail(p, "a name");
    return p->w->code ? jinja_word("") : name;
}

jinja_node *jinja_parse_node(jinja_parser *p, jinja_node_kind kind)
{
    jinja_node *node = jinja_alloc(p->w, 1, sizeof *node);
    if (!node) {
        jinja_parse_step(p);
        return &p->spare;
    }
    *node = (jinja_node){.kind = kind, .line = p->at->line, .value = JINJA_NOTHING};
    return node;
}

bool jinja_parse_enter(jinja_parser *p)
{
    if (++p->depth > JINJA_MOST_NESTED) {
        jinja_fail(p->w, "nests deeper than %d levels", JINJA_MOST_NESTED);
        jinja_parse_step(p);
    }
    return !p->w->code;
}

void jinja_parse_leave(jinja_parser *p)
{
    p->depth--;
}

void jinja_parse_put(jinja_node ***end, jinja_node *node)
{
    **end = node;
    *end = &node->next;
}
