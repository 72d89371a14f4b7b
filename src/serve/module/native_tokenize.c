/* serve/module/native_tokenize.c: POST /v1/tokenize and /v1/detokenize. Answered without the engine: that takes less time than
 * waiting for a step of a model. */
#include "serve/module/native.h"

#include "search/valid_text.h"
#include "serve/module/openai.h"
#include "serve/module/openai_error.h"
#include "serve/module/reply.h"
#include "text/tokenizer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Estimates of bytes: for a text of ids, for each of its bytes; for ids of texts, for each of their bytes while it is read. */
enum { DECODED_COPIES = 12, MAKING_BASE = 4 << 10, MAKING_BYTE = 48 + 8 };

static const rapt_task TASKS[] = {RAPT_TASK_LANGUAGE_MODEL, RAPT_TASK_TRANSLATION, RAPT_TASK_ENCODER,
                                  RAPT_TASK_CROSS_ENCODER};
enum { TASK_COUNT = sizeof TASKS / sizeof *TASKS };

static void native_no_memory(request_error *error)
{
    request_fail(error, 503, NULL, "out of memory for the response");
}

/* ---- POST /v1/tokenize -------------------------------------------------------------------------------------------------- */

/* Writes the tokens of one text. */
static void tokenize_text(reply_body *to, const rapt_tokenizer *k, const char *text, bool specials, request_error *error)
{
    rapt_error why = {0};
    int32_t *ids = NULL;
    size_t count;
    rapt_code code = tokenizer_encode_bytes(k, text, strlen(text), specials, &ids, &count, &why);
    if (code)
        request_fail(error, reply_status(code), "text", "%s", why.message);
    else
        native_put_tokens(to, k, ids, count);
    free(ids);
}

/* Writes the body of the response. */
static void tokenize_texts(reply_body *body, const served *s, const rapt_tokenizer *k, const char **texts, size_t count,
                           bool specials, request_error *error)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += strlen(texts[i]);
    if (!request_asks(body->x, ADMISSION_MAKING, MAKING_BASE + bytes * MAKING_BYTE, error, "the tokens of %zu bytes", bytes))
        return;
    reply_frame frame = reply_frame_new(json_pack("{s:s, s:n}", "model", s->name, "results"), "results");
    reply_frame_open(&frame, body);
    for (size_t i = 0; !error->status && reply_list(body, i, count); i++) {
        body->out.failed = exchange_stops(body->x);
        tokenize_text(body, k, texts[i], specials, error);
    }
    reply_frame_close(&frame, body);
    if (!error->status && body->out.failed)
        native_no_memory(error);
}

void native_tokenize(app *a, exchange *x)
{
    request_error error = {0};
    fields f;
    size_t count;
    reply_body body = {.x = x};
    served_set *set = app_models(a);
    fields_read(&f, x, false, &error);
    const char **texts = native_texts(&f, app_limits_of(a)->texts, &count, NULL);
    const served *s = openai_model(&f, set, TASKS, TASK_COUNT);
    const rapt_tokenizer *k = s ? native_tokenizer(&f, s) : NULL;
    const bool specials = fields_flag(&f, "special", false);
    if (fields_finish(&f)) {
        exchange_note_model(x, s->name);
        tokenize_texts(&body, s, k, texts, count, specials, &error);
    }
    if (error.status) {
        buffer_free(&body.out.bytes);
        openai_refuse(x, &error);
    } else
        reply_text(&body);
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
        const double id = json_number_value(one); /* 3.0 counts as an integer */
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

/* Bytes that are not a character become U+FFFD. NULL with *error set. */
static json_t *detokenize_ids(exchange *x, const served *s, const rapt_tokenizer *k, const int32_t *ids, size_t count,
                              request_error *error)
{
    size_t size, all = MAKING_BASE;
    for (size_t i = 0; i < count; i++)
        all += rapt_tokenizer_token(k, ids[i], &size) ? size : 0;
    if (!request_asks(x, ADMISSION_MAKING, all * DECODED_COPIES, error, "the text of %zu tokens", count))
        return NULL;
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
    const served *s = openai_model(&f, set, TASKS, TASK_COUNT);
    const rapt_tokenizer *k = s ? native_tokenizer(&f, s) : NULL;
    int32_t *ids = k ? read_id_list(&f, k, &count) : NULL;
    if (fields_finish(&f)) {
        exchange_note_model(x, s->name);
        body = detokenize_ids(x, s, k, ids, count, &error);
    }
    if (body)
        reply_json(x, 200, body);
    else
        openai_refuse(x, &error);
    free(ids);
    fields_free(&f);
    served_release(set);
}
