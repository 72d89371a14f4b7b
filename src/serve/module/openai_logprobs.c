/* serve/module/openai_logprobs.c: collects log-probabilities as JSON. */
#include "serve/module/openai_run.h"

#include "text/json_text.h"
#include "decode/token_json_text.h"

#include <math.h>
#include <stdio.h>

#define LEAST_LOG_PROB (-9999.0) /* OpenAI's number for a token of probability 0, because JSON has no infinity */

static json_t *log_prob_value(double log_prob)
{
    return isnan(log_prob) ? json_null() : json_real(isinf(log_prob) ? LEAST_LOG_PROB : log_prob);
}

static json_t *logprobs_text(openai_logprobs *l, const rapt_tokenizer *tokenizer, int32_t id)
{
    return token_json_text(&l->text, tokenizer, id) ? json_stringn(l->text.data, l->text.size) : NULL;
}

/* Names of the object's lists. */
static const char *const LIST_NAMES[OPENAI_LOGPROBS_LISTS] = {"tokens", "token_ids", "token_logprobs", "top_logprobs",
                                                              "top_token_ids", "text_offset"};
static const char *const CHAT_NAMES[] = {"content"};

/* ---- completions: lists beside each other ------------------------------------------------------------------------------- */

/* Two objects that have the same keys. */
typedef struct top_tokens {
    json_t *log_probs, *ids;
} top_tokens;

/* If two tokens have the same text, the less probable one is named by its id. */
static bool put_top(openai_logprobs *l, const top_tokens *to, const rapt_tokenizer *tokenizer, int32_t id, double log_prob)
{
    if (!token_json_text(&l->text, tokenizer, id))
        return false;
    if (json_object_get(to->log_probs, l->text.data))
        snprintf(l->text.data, l->text.capacity, "token_id:%d", (int)id);
    return json_object_set_new(to->log_probs, l->text.data, log_prob_value(log_prob)) == 0 &&
           json_object_set_new(to->ids, l->text.data, json_integer(id)) == 0;
}

/* The most probable tokens, and the generated token if it is not among them. */
static bool put_tops(openai_logprobs *l, const top_tokens *to, const rapt_tokenizer *tokenizer, const rapt_generated_token *token)
{
    bool fine = to->log_probs && to->ids && buffer_reserve(&l->text, 32), among = false;
    for (size_t i = 0; i < token->count && fine; i++) {
        among = among || token->ids[i] == token->id;
        fine = put_top(l, to, tokenizer, token->ids[i], token->log_probs[i]);
    }
    return fine && (among || put_top(l, to, tokenizer, token->id, token->log_prob));
}

static bool add_to_list(json_t *lists, const char *name, json_t *value)
{
    return json_array_append_new(json_object_get(lists, name), value) == 0;
}

static bool add_to_lists(openai_logprobs *l, const rapt_tokenizer *tokenizer, const rapt_generated_token *token, size_t offset)
{
    const bool first = isnan(token->log_prob);
    const top_tokens top = {first ? json_null() : json_object(), first ? json_null() : json_object()};
    if (!l->lists)
        l->lists = json_pack("{s:[], s:[], s:[], s:[], s:[], s:[]}", LIST_NAMES[0], LIST_NAMES[1], LIST_NAMES[2], LIST_NAMES[3],
                             LIST_NAMES[4], LIST_NAMES[5]);
    if (!l->lists || !(first || put_tops(l, &top, tokenizer, token))) {
        json_decref(top.log_probs);
        json_decref(top.ids);
        return false;
    }
    bool fine = add_to_list(l->lists, "top_logprobs", top.log_probs);
    fine = add_to_list(l->lists, "top_token_ids", top.ids) && fine;
    fine = fine && add_to_list(l->lists, "tokens", logprobs_text(l, tokenizer, token->id)) &&
                add_to_list(l->lists, "token_ids", json_integer(token->id)) &&
                add_to_list(l->lists, "token_logprobs", log_prob_value(token->log_prob)) &&
                add_to_list(l->lists, "text_offset", json_integer((json_int_t)offset));
    return fine;
}

/* ---- chat: an object for each token ------------------------------------------------------------------------------------- */

static json_t *logprobs_bytes(const rapt_tokenizer *tokenizer, int32_t id)
{
    size_t size = 0;
    const char *bytes = rapt_tokenizer_token(tokenizer, id, &size);
    json_t *list = bytes ? json_array() : json_null();
    for (size_t i = 0; i < size && bytes && list; i++)
        if (json_array_append_new(list, json_integer((unsigned char)bytes[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *token_as_object(openai_logprobs *l, const rapt_tokenizer *tokenizer, int32_t id, double log_prob)
{
    return json_pack("{s:o, s:o, s:o}", "token", logprobs_text(l, tokenizer, id), "logprob", log_prob_value(log_prob), "bytes",
                     logprobs_bytes(tokenizer, id));
}

static bool add_to_content(openai_logprobs *l, const rapt_tokenizer *tokenizer, const rapt_generated_token *token)
{
    json_t *entry = token_as_object(l, tokenizer, token->id, token->log_prob), *top = json_array();
    bool fine = json_object_set_new(entry, "top_logprobs", top) == 0;
    for (size_t i = 0; i < token->count && fine; i++)
        fine = json_array_append_new(top, token_as_object(l, tokenizer, token->ids[i], token->log_probs[i])) == 0;
    if (!l->lists)
        l->lists = json_pack("{s:[], s:n}", "content", "refusal");
    if (fine && l->lists)
        return add_to_list(l->lists, "content", entry);
    json_decref(entry);
    return false;
}

/* ---- both --------------------------------------------------------------------------------------------------------------- */

void openai_logprobs_add(openai_logprobs *l, const rapt_generated_token *token, bool of_prompt)
{
    openai_offsets *o = &l->offsets;
    size_t offset = 0;
    bool fine = l->chat || (of_prompt ? openai_offsets_of_prompt(o, token->id, &offset) :
                                        openai_offsets_of_next(o, token->id, &offset));
    fine = fine && (l->chat ? add_to_content(l, o->tokenizer, token) : add_to_lists(l, o->tokenizer, token, offset));
    l->failed = l->failed || !fine;
}

json_t *openai_logprobs_take(openai_logprobs *l)
{
    json_t *taken = l->lists && !l->failed ? l->lists : NULL;
    if (!taken)
        return json_null();
    l->lists = NULL;
    return taken;
}

/* ---- kept as text ------------------------------------------------------------------------------------------------------- */

static size_t logprobs_names(const openai_logprobs *l, const char *const **names)
{
    *names = l->chat ? CHAT_NAMES : LIST_NAMES;
    return l->chat ? 1 : OPENAI_LOGPROBS_LISTS;
}

static bool keep_list(buffer *to, json_t *list)
{
    size_t i;
    json_t *one;
    bool fine = true;
    json_array_foreach(list, i, one) {
        char *text = fine ? json_text(one, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
        fine = text && (to->size == 0 || buffer_append(to, ",", 1)) && buffer_append(to, text, strlen(text));
        free(text);
    }
    json_array_clear(list);
    return fine;
}

size_t openai_logprobs_keep(openai_logprobs *l)
{
    const char *const *names;
    const size_t count = l->lists ? logprobs_names(l, &names) : 0;
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t before = l->kept[i].size;
        l->failed = !keep_list(&l->kept[i], json_object_get(l->lists, names[i])) || l->failed;
        bytes += l->kept[i].size - before;
    }
    return bytes;
}

void openai_logprobs_write(openai_logprobs *l, buffer_writer *to)
{
    const char *const *names;
    const size_t count = logprobs_names(l, &names);
    if (l->kept[0].size == 0) {
        buffer_print(to, "null");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        buffer_print(to, "%s\"%s\":[", i ? "]," : "{", names[i]);
        buffer_put(to, l->kept[i].data, l->kept[i].size);
        buffer_free(&l->kept[i]);
    }
    buffer_print(to, "]%s}", l->chat ? ",\"refusal\":null" : "");
}

void openai_logprobs_free(openai_logprobs *l)
{
    for (size_t i = 0; i < OPENAI_LOGPROBS_LISTS; i++)
        buffer_free(&l->kept[i]);
    json_decref(l->lists);
    openai_offsets_free(&l->offsets);
    buffer_free(&l->text);
    *l = (openai_logprobs){.lists = NULL};
}
