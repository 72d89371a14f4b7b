/* serve/module/native_tokenize.c: POST /v1/tokenize and /v1/detokenize; see native.h. Answered at once: it takes less time than
 * to wait for a step of a model. */
#include "serve/module/native.h"

#include "decode/valid_text.h"
#include "serve/module/openai.h"
#include "serve/module/openai_error.h"
#include "serve/module/reply.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const rapt_task TASKS[] = {RAPT_TASK_LANGUAGE_MODEL, RAPT_TASK_TRANSLATION, RAPT_TASK_ENCODER};

static void native_no_memory(request_error *error)
{
    request_fail(error, 503, NULL, "out of memory for the response");
}

/* ---- POST /v1/tokenize -------------------------------------------------------------------------------------------------- */

/* The tokens of one text. NULL with *error set. */
static json_t *tokenize_text(const rapt_tokenizer *k, const char *text, bool specials, request_error *error)
{
    rapt_error why = {0};
    int32_t *ids;
    size_t count;
    rapt_code code = rapt_tokenizer_encode_bytes(k, text, strlen(text), specials, &ids, &count, &why);
    if (code) {
        request_fail(error, reply_status(code), "text", "%s", why.message);
        return NULL;
    }
    json_t *tokens = native_tokens(k, ids, count);
    if (!tokens)
        native_no_memory(error);
    free(ids);
    return tokens;
}

/* The body of the response. NULL with *error set. */
static json_t *tokenize_texts(const served *s, const rapt_tokenizer *k, const char **texts, size_t count, bool specials,
                              request_error *error)
{
    json_t *body = json_pack("{s:s, s:[]}", "model", s->name, "results"), *list = json_object_get(body, "results");
    if (!body)
        native_no_memory(error);
    for (size_t i = 0; i < count && !error->status; i++) {
        json_t *one = tokenize_text(k, texts[i], specials, error);
        if (one && json_array_append_new(list, one) != 0)
            native_no_memory(error);
    }
    if (!error->status)
        return body;
    json_decref(body);
    return NULL;
}

void native_tokenize(app *a, exchange *x)
{
    request_error error = {0};
    fields f;
    size_t count;
    json_t *body = NULL;
    served_set *set = app_models(a);
    fields_read(&f, x, false, &error);
    const char **texts = native_texts(&f, app_limits_of(a)->texts, &count, NULL);
    const served *s = openai_model(&f, set, TASKS, 3);
    const rapt_tokenizer *k = s ? native_tokenizer(&f, s) : NULL;
    const bool specials = fields_flag(&f, "special", false);
    if (fields_finish(&f)) {
        exchange_note_model(x, s->name);
        body = tokenize_texts(s, k, texts, count, specials, &error);
    }
    if (body)
        reply_json(x, 200, body);
    else
        openai_refuse(x, &error);
    free(texts);
    fields_free(&f);
    served_release(set);
}

/* ---- POST /v1/detokenize -------------------------------------------------------------------------------------------------- */

/* The ids of the field, to be freed; NULL with the error kept. */
static int32_t *read_id_list(fields *f, const rapt_tokenizer *k, size_t *count)
{
    json_t *list = fields_value(f, "ids"), *one;
    *count = json_array_size(list);
    if (!json_is_array(list)) {
        fields_fail(f, "ids", "a list of integers is expected");
        return NULL;
    }
    int32_t *ids = malloc((*count + 1) * sizeof *ids);
    if (!ids)
        request_fail(f->error, 503, NULL, "out of memory for the request");
    size_t i;
    json_array_foreach(list, i, one) {
        const double id = json_number_value(one); /* 3.0 is an integer, too */
        if (!ids)
            break;
        if (!json_is_number(one) || id != floor(id))
            fields_fail(f, "ids", "a list of integers is expected");
        else if (id < 0 || id > INT32_MAX || !rapt_tokenizer_token(k, (int32_t)id, NULL))
            fields_fail(f, "ids", "%.17g is not in the vocabulary", id);
        else
            ids[i] = (int32_t)id;
    }
    return ids;
}

/* Bytes that are no character are U+FFFD. NULL with *error set. */
static json_t *detokenize_ids(const served *s, const rapt_tokenizer *k, const int32_t *ids, size_t count, request_error *error)
{
    size_t size;
    char *bytes = rapt_tokenizer_decode(k, ids, count, &size), *text = bytes ? valid_text(bytes, size, &size, NULL) : NULL;
    json_t *body = text ? json_pack("{s:s, s:s%}", "model", s->name, "text", text, size) : NULL;
    if (!body)
        native_no_memory(error);
    free(bytes);
    free(text);
    return body;
}

void native_detokenize(app *a, exchange *x)
{
    request_error error = {0};
    fields f;
    size_t count = 0;
    json_t *body = NULL;
    served_set *set = app_models(a);
    fields_read(&f, x, false, &error);
    const served *s = openai_model(&f, set, TASKS, 3);
    const rapt_tokenizer *k = s ? native_tokenizer(&f, s) : NULL;
    int32_t *ids = k ? read_id_list(&f, k, &count) : NULL;
    if (fields_finish(&f)) {
        exchange_note_model(x, s->name);
        body = detokenize_ids(s, k, ids, count, &error);
    }
    if (body)
        reply_json(x, 200, body);
    else
        openai_refuse(x, &error);
    free(ids);
    fields_free(&f);
    served_release(set);
}
