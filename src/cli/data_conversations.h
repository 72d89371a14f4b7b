/* cli/data_conversations.h: `rapt data check` for a file of conversations, and how a model takes them. For cmd_data.c, and
 * eval/eval_conversations.c. */
#ifndef CLI_DATA_CONVERSATIONS_H
#define CLI_DATA_CONVERSATIONS_H

#include "data/conversation_tokens.h"
#include "rapt/io.h"

typedef struct conversations_check {
    const char *path;
    const char *model; /* model whose template and tokenizer are tried, or NULL */
    size_t show;       /* conversations whose tokens are printed; needs `model` */
    bool json, lines;  /* print a JSON object; print only lines with defects */
} conversations_check;

/* Whether a file of this name has conversations: it ends in .jsonl, maybe with .gz. */
bool data_conversations_name(const char *path);
/* How a model takes conversations: with its template, unless it has none. */
typedef struct conversations_of_model {
    conversation_rule rule; /* borrows the model, and */
    rapt_chat_template *chat;
    rapt_error no_chat;
} conversations_of_model;

/* `path`: where the model is, and its template. The struct must stay where it is. Free it in any case. */
rapt_code data_conversations_rule(conversations_of_model *c, const rapt_model *m, const char *path, rapt_error *err);
void data_conversations_rule_free(conversations_of_model *c);

/* Checks the file, and prints what the options ask for. */
rapt_code data_conversations_check(const conversations_check *o, rapt_error *err);

#endif
