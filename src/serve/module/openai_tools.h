/* serve/module/openai_tools.h: the fields "tools", "tool_choice" and "parallel_tool_calls" of a chat. */
#ifndef SERVE_MODULE_OPENAI_TOOLS_H
#define SERVE_MODULE_OPENAI_TOOLS_H

#include "serve/module/openai_answer.h"

/* Reads them into r->tools, or leaves an error in the fields: among them a model whose template takes no tools, or writes calls
 * in an unknown form. */
void openai_tools_read(openai_request *r, const openai_asked *q);
/* What the prompt ends with if the reply must be a call: the call's opening, in *text, to be freed; NULL: nothing. False: out of
 * memory, with the error set. */
bool openai_tools_opening(const openai_tools *t, char **text, fields *f);
/* Constrains the reply to calls, if it must be one. All other options have been read. Errors are left in the fields: among them
 * parameters with something that is not supported, by tool, name and place. */
void openai_tools_constrain(openai_request *r, const openai_asked *q);

#endif
