/* data/conversation_tokens.c: renders conversations by a chat template, encodes them, and finds the answers in them. */
#include "data/conversation_tokens.h"

#include "text/chat/chat_template.h"
#include "text/tokenizer.h"

#include <stdlib.h>
#include <string.h>

typedef struct ids {
    int32_t *ids;
    size_t count;
} ids;

static bool is_beginning(const ids *part, const int32_t *whole, size_t count)
{
    return part->count <= count && (part->count == 0 || memcmp(part->ids, whole, part->count * sizeof *whole) == 0);
}

/* ---- messages ----------------------------------------------------------------------------------------------------- */

/* Bytes that are rendered to find the answers of a conversation. A template has no state in which a message could be added to
 * those before, so that each answer costs two renderings of all that comes before its end: 256 MiB take some seconds. */
#define MAX_WORK ((size_t)256 << 20)

static rapt_code check_work(const conversation *c, rapt_error *err)
{
    size_t before = 0, work = 0;
    for (size_t i = 0; i < c->count; i++) {
        const bool answer = i >= c->given && conversation_is_answer(c, i);
        work += answer ? before : 0;
        before += strlen(c->messages[i].content);
        work += answer ? before : 0;
    }
    return work <= MAX_WORK ? RAPT_OK
                            : rapt_fail(err, RAPT_ERR_FORMAT, "to find its answers takes %zu MiB of text, because it has %zu "
                                        "messages of %zu KiB; at most %zu MiB are allowed: split it, or train.loss_on all",
                                        work >> 20, c->count, before >> 10, MAX_WORK >> 20);
}

/* The tokens of the first `count` messages; with `prompt`, also of what the template puts before an answer. */
static rapt_code encode_messages(const conversation *c, size_t count, bool prompt, const conversation_rule *rule, ids *out,
                                 rapt_error *err)
{
    char *text = NULL;
    size_t size = 0;
    rapt_chat_options o = {CHAT_DEFAULTS};
    o.now = CONVERSATION_NOW;
    o.stop = rule->stop.stop;
    o.context = rule->stop.context;
    o.generation_prompt = prompt;
    rapt_code code = rapt_chat_apply(rule->chat, c->messages, count, &o, &text, &size, err);
    if (!code)
        code = rapt_chat_encode(rule->tokenizer, text, size, &out->ids, &out->count, err);
    free(text);
    return code;
}

/* The number of tokens of the first messages, with which the whole conversation must begin. */
static rapt_code length_of_prefix(const conversation *c, size_t count, bool prompt, const conversation_rule *rule,
                                  const conversation_tokens *whole, size_t *length, rapt_error *err)
{
    ids part = {0};
    rapt_code code = encode_messages(c, count, prompt, rule, &part, err);
    const bool begins = !code && is_beginning(&part, whole->ids, whole->count);
    *length = part.count;
    free(part.ids);
    if (code || begins)
        return code;
    return rapt_fail(err, RAPT_ERR_FORMAT, "the chat template cannot mark answers: the tokens of %zu message%s%s are not the "
                     "first ones of all %zu messages (train.loss_on all needs no marks)", count, count == 1 ? "" : "s",
                     prompt ? " and of the beginning of an answer" : "", c->count);
}

static rapt_code mark_answers(const conversation *c, const conversation_rule *rule, conversation_tokens *t, rapt_error *err)
{
    rapt_code code = check_work(c, err);
    for (size_t i = c->given; i < c->count && !code; i++) {
        size_t begin = 0, end = t->count;
        if (!conversation_is_answer(c, i))
            continue;
        code = length_of_prefix(c, i, true, rule, t, &begin, err);
        if (!code && i + 1 < c->count)
            code = length_of_prefix(c, i + 1, false, rule, t, &end, err);
        if (!code && begin < end)
            memset(t->counts + begin, 1, end - begin);
    }
    return code;
}

/* ---- plain texts -------------------------------------------------------------------------------------------------- */

static rapt_code encode_plain(const rapt_tokenizer *k, const char *text, size_t size, ids *out, rapt_error *err)
{
    return tokenizer_encode_bytes(k, text, size, true, &out->ids, &out->count, err);
}

/* The tokens of a prompt and its answer, and the number of the prompt's. */
static rapt_code encode_both(const conversation *c, const rapt_tokenizer *k, ids *out, size_t *prompt, rapt_error *err)
{
    const size_t before = c->prompt ? strlen(c->prompt) : 0, size = strlen(c->answer);
    ids part = {0};
    char *text = malloc(before + size + 1);
    if (!text)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a conversation");
    memcpy(text, c->prompt ? c->prompt : "", before);
    memcpy(text + before, c->answer, size + 1);
    rapt_code code = encode_plain(k, text, before + size, out, err);
    if (!code && c->prompt)
        code = encode_plain(k, c->prompt, before, &part, err);
    if (!code && !is_beginning(&part, out->ids, out->count))
        code = rapt_fail(err, RAPT_ERR_FORMAT, "the tokens of \"prompt\" are not the first ones of prompt and completion "
                         "together: a token reaches from one into the other");
    *prompt = part.count;
    free(part.ids);
    free(text);
    return code;
}

static rapt_code put_end(ids *all, int32_t end, rapt_error *err)
{
    if (end < 0 || (all->count > 0 && all->ids[all->count - 1] == end))
        return RAPT_OK;
    int32_t *longer = realloc(all->ids, (all->count + 1) * sizeof *longer);
    if (!longer)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a conversation");
    longer[all->count++] = end;
    all->ids = longer;
    return RAPT_OK;
}

/* ---- both --------------------------------------------------------------------------------------------------------- */

rapt_code conversation_encode(const conversation *c, const conversation_rule *rule, conversation_tokens *out, rapt_error *err)
{
    ids all = {0};
    size_t prompt = 0;
    *out = (conversation_tokens){0};
    if (c->count > 0 && !rule->chat)
        return rapt_fail(err, RAPT_ERR_FORMAT, "messages need a chat template: %s", rule->no_chat);
    rapt_code code = c->count > 0 ? encode_messages(c, c->count, false, rule, &all, err)
                                  : encode_both(c, rule->tokenizer, &all, &prompt, err);
    if (!code && c->count == 0)
        code = put_end(&all, rule->end, err);
    out->ids = all.ids;
    out->count = all.count;
    out->counts = code ? NULL : calloc(all.count + 1, sizeof *out->counts);
    if (!code && !out->counts)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a conversation");
    if (code)
        return code;
    prompt = rule->all ? 0 : prompt;
    if (c->count > 0 && !rule->all)
        code = mark_answers(c, rule, out, err);
    else
        memset(out->counts + prompt, 1, all.count - prompt);
    out->counts[0] = 0;
    return code;
}

size_t conversation_tokens_counted(const conversation_tokens *t, size_t count)
{
    size_t counted = 0;
    for (size_t i = 0; i < count; i++)
        counted += t->counts[i];
    return counted;
}

void conversation_tokens_free(conversation_tokens *t)
{
    free(t->ids);
    free(t->counts);
    *t = (conversation_tokens){0};
}
