/* text/chat/jinja_run.h: a template at work: its variables and its output. */
#ifndef TEXT_CHAT_JINJA_RUN_H
#define TEXT_CHAT_JINJA_RUN_H

#include "text/chat/jinja_call.h"
#include "text/chat/jinja_tree.h"

#include <time.h>

/* Variables of a template, of one turn of a loop, or of a macro. */
typedef struct jinja_scope {
    jinja_dict variables;
    struct jinja_scope *parent; /* the scope around it; a macro's is the scope in which it is defined; NULL for the outermost */
} jinja_scope;

typedef struct jinja_macro {
    const jinja_node *node;
    jinja_scope *scope;
} jinja_macro;

typedef struct jinja_run jinja_run;
struct jinja_run {
    jinja_work *w;
    jinja_scope *scope;
    buffer out;
    jinja_node_kind jump; /* JINJA_NODE_BREAK or JINJA_NODE_CONTINUE on the way to its loop, otherwise JINJA_NODE_DATA */
    time_t now;
    /* Calls a macro. It is a member, set by jinja_render.c, because expressions call macros and macros evaluate expressions. */
    jinja_value (*call_macro)(jinja_run *r, const jinja_macro *m, const jinja_arguments *a);
};

/* jinja_eval.c: the value of an expression; undefined after a failure. */
jinja_value jinja_eval(jinja_run *r, const jinja_node *node);

/* jinja_functions.c: names that are defined without being set: range, namespace, dict, raise_exception, strftime_now. */
jinja_value jinja_function_find(jinja_value name); /* undefined: none */
jinja_value jinja_function_call(jinja_run *r, jinja_function f, const jinja_arguments *a);

#endif
