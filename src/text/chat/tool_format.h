/* text/chat/tool_format.h: how a model writes calls of tools: found from what its chat template makes of a conversation that has
 * one, not from the model's name. */
#ifndef TEXT_CHAT_TOOL_FORMAT_H
#define TEXT_CHAT_TOOL_FORMAT_H

#include "rapt/chat.h"

typedef enum tool_family {
    TOOLS_UNKNOWN, /* the template takes no tools, or writes calls in another form */
    TOOLS_HERMES,  /* <tool_call>{"name": ..., "arguments": {...}}</tool_call>, once for each call: Hermes, Qwen 2.5 and 3 */
    TOOLS_LLAMA,   /* {"name": ..., "parameters": {...}} as the whole reply, maybe after <|python_tag|>: Llama 3.1 to 3.3 */
    TOOLS_MISTRAL, /* [TOOL_CALLS] [{"name": ..., "arguments": {...}}, ...]: Mistral 7B v0.3, Nemo, Small 3 */
    TOOLS_MISTRAL_ARGS /* [TOOL_CALLS]name[ARGS]{...}, once for each call: Mistral's tokenizers since version 11, the first of
                          which have [CALL_ID]id before [ARGS] */
} tool_family;

typedef struct tool_format {
    tool_family family;
    bool takes_tools;     /* the template writes the tools that it is given */
    bool call_ids;        /* [CALL_ID] comes before [ARGS] */
    char opening[64];     /* what stands before the JSON of a call, from its marker on, without spaces at its end:
                             "<tool_call>\n"; for TOOLS_MISTRAL_ARGS before the name */
} tool_format;

/* Runs the template a few times. Whatever it does, there is an answer. */
tool_format tool_format_find(const rapt_chat_template *chat);
/* The marker with which each call begins, and the one after its JSON. "": there is none. */
const char *tool_format_marker(tool_family family);
const char *tool_format_closing(tool_family family);
/* The key of a call's arguments. */
const char *tool_format_arguments(tool_family family);

#endif
