/* data/preference.c: lines of JSON as two conversations with one prompt: four forms, told apart by what their keys hold. Their
 * messages are read by conversation.c. */
#include "data/preference.h"

#include "data/conversation_parts.h"
#include "text/json_text.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

#define REFUSE(p, name, ...) CONVERSATION_FAIL(&(p)->fault, name, err, __VA_ARGS__)

static const message_form PROMPT = {"prompt", "role", "content"}, CHOSEN = {"chosen", "role", "content"},
                          REJECTED = {"rejected", "role", "content"};

/* ---- texts --------------------------------------------------------------------------------------------------------- */

static rapt_code take_plain(preference *p, const json_t *line, rapt_error *err)
{
    const json_t *prompt = json_object_get(line, PROMPT.list);
    p->chosen.answer = json_string_value(json_object_get(line, CHOSEN.list));
    p->rejected.answer = json_string_value(json_object_get(line, REJECTED.list));
    p->shared = !conversation_has(line, PROMPT.list);
    p->chosen.prompt = p->rejected.prompt = p->shared ? NULL : json_string_value(prompt);
    if (!p->shared && !p->chosen.prompt)
        return REFUSE(p, FORM, "\"chosen\" and \"rejected\" are texts, and \"prompt\" is none");
    const char *empty = !p->shared && utf8_is_blank(p->chosen.prompt) ? PROMPT.list
                        : utf8_is_blank(p->chosen.answer) ? CHOSEN.list
                        : utf8_is_blank(p->rejected.answer) ? REJECTED.list : NULL;
    if (empty)
        return REFUSE(p, EMPTY, "\"%s\" has no text", empty);
    return strcmp(p->chosen.answer, p->rejected.answer) != 0 ? RAPT_OK
                                                              : REFUSE(p, SAME, "\"chosen\" and \"rejected\" are the same text");
}

/* ---- messages ------------------------------------------------------------------------------------------------------ */

static bool same_message(const rapt_chat_message *a, const rapt_chat_message *b)
{
    return strcmp(a->role, b->role) == 0 && strcmp(a->content, b->content) == 0;
}

/* The first message in which the two differ, or the number of messages of the shorter one. */
static size_t preference_difference(const preference *p)
{
    size_t i = 0;
    while (i < p->chosen.count && i < p->rejected.count && same_message(&p->chosen.messages[i], &p->rejected.messages[i]))
        i++;
    return i;
}

/* The prompt's messages, c->given of them, and then an answer's. */
static rapt_code take_side(preference *p, conversation *c, const json_t *line, const message_form *form, rapt_error *err)
{
    const json_t *prompt = json_object_get(line, PROMPT.list);
    rapt_code code = conversation_has(line, PROMPT.list) ? conversation_take_messages(c, prompt, &PROMPT, err) : RAPT_OK;
    c->given = c->count;
    if (!code && c->given == 0 && json_is_array(prompt))
        return REFUSE(p, ANSWER, "\"prompt\" has no message");
    code = code ? code : conversation_take_messages(c, json_object_get(line, form->list), form, err);
    p->fault = c->fault;
    return code;
}

static rapt_code check_difference(preference *p, rapt_error *err)
{
    const size_t at = preference_difference(p);
    if (at == p->chosen.count && at == p->rejected.count)
        return REFUSE(p, SAME, "\"chosen\" and \"rejected\" are the same messages");
    if (at == p->chosen.count || at == p->rejected.count)
        return REFUSE(p, ANSWER, "\"%s\" ends before the two differ: it has no answer of its own",
                     at == p->chosen.count ? CHOSEN.list : REJECTED.list);
    if (!conversation_is_answer(&p->chosen, at) || !conversation_is_answer(&p->rejected, at))
        return REFUSE(p, ANSWER, "\"chosen\" and \"rejected\" first differ in message %zu, which is not the assistant's in both: "
                     "their prompts differ", at + 1);
    if (p->chosen.given == 0)
        p->chosen.given = p->rejected.given = at;
    return RAPT_OK;
}

static rapt_code take_talks(preference *p, const json_t *line, rapt_error *err)
{
    if (json_is_string(json_object_get(line, PROMPT.list)))
        return REFUSE(p, FORM, "\"prompt\" is a text, and \"chosen\" and \"rejected\" are lists of messages; if these have "
                      "the prompt, leave it out");
    rapt_code code = take_side(p, &p->chosen, line, &CHOSEN, err);
    code = code ? code : take_side(p, &p->rejected, line, &REJECTED, err);
    code = code ? code : check_difference(p, err);
    if (code)
        return code;
    code = conversation_check_answers(&p->chosen, err);
    code = code ? code : conversation_check_answers(&p->rejected, err);
    if (code == RAPT_ERR_FORMAT)
        p->fault = CONVERSATION_FAULT_ANSWER;
    return code;
}

/* ---- lines --------------------------------------------------------------------------------------------------------- */

rapt_code preference_read(char *line, size_t size, preference *p, rapt_error *err)
{
    *p = (preference){0};
    rapt_code code = conversation_read_json(line, size, &p->chosen, err);
    code = code ? code : conversation_check_beside(&p->chosen, err);
    p->fault = p->chosen.fault;
    if (code)
        return code;
    const json_t *object = p->chosen.json, *chosen = json_object_get(object, CHOSEN.list),
                 *rejected = json_object_get(object, REJECTED.list);
    p->rejected.json = json_incref(p->chosen.json);
    if (!conversation_has(object, CHOSEN.list) || !conversation_has(object, REJECTED.list))
        return REFUSE(p, FORM, "no \"%s\"", conversation_has(object, CHOSEN.list) ? REJECTED.list : CHOSEN.list);
    if (json_is_string(chosen) && json_is_string(rejected))
        return take_plain(p, object, err);
    if (json_is_array(chosen) && json_is_array(rejected))
        return take_talks(p, object, err);
    return REFUSE(p, FORM, "\"chosen\" and \"rejected\" must both be texts, or both lists of messages");
}

void preference_free(preference *p)
{
    conversation_free(&p->chosen);
    conversation_free(&p->rejected);
}

bool preference_is(const char *line, size_t size)
{
    json_error_t where;
    char *copy = size <= CONVERSATION_MAX_BYTES ? malloc(size + 1) : NULL;
    json_t *json = copy ? json_text_read(memcpy(copy, line, size), size, 0, &where) : NULL;
    const bool is = conversation_has(json, CHOSEN.list) && conversation_has(json, REJECTED.list);
    json_decref(json);
    free(copy);
    return is;
}

/* ---- tokens -------------------------------------------------------------------------------------------------------- */

/* What two texts begin with is their prompt. */
static void mark_shared(preference_tokens *t)
{
    const size_t most = t->chosen.count < t->rejected.count ? t->chosen.count : t->rejected.count;
    size_t same = 0;
    while (same < most && t->chosen.ids[same] == t->rejected.ids[same])
        same++;
    memset(t->chosen.counts, 0, same);
    memset(t->rejected.counts, 0, same);
}

rapt_code preference_encode(const preference *p, const conversation_rule *rule, preference_tokens *out, rapt_error *err)
{
    *out = (preference_tokens){0};
    rapt_code code = conversation_encode(&p->chosen, rule, &out->chosen, err);
    code = code ? code : conversation_encode(&p->rejected, rule, &out->rejected, err);
    if (code)
        return code;
    if (p->shared)
        mark_shared(out);
    const bool chosen = conversation_tokens_counted(&out->chosen, out->chosen.count) > 0;
    if (chosen && conversation_tokens_counted(&out->rejected, out->rejected.count) > 0)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_FORMAT, "no token of \"%s\" carries loss", chosen ? REJECTED.list : CHOSEN.list);
}

void preference_tokens_free(preference_tokens *t)
{
    conversation_tokens_free(&t->chosen);
    conversation_tokens_free(&t->rejected);
}
