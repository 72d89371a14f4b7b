/* explain/explain_token_json.c: tokens and predictions as JSON. For explain_json.c and explain_lens_json.c. */
#include "explain/explanation.h"

#include "base/math.h"
#include "explain/input/token_name.h"
#include "text/utf8.h"

#include <stdio.h>
#include <stdlib.h>

static bool token_is_text(const rapt_tokenizer *k, int32_t id)
{
    size_t size;
    const char *bytes = rapt_tokenizer_token(k, id, &size);
    return !bytes || utf8_valid_prefix(bytes, size) == size;
}

json_t *explain_token_text(const rapt_tokenizer *k, int32_t id)
{
    size_t size = 0;
    const char *bytes = rapt_tokenizer_token(k, id, &size);
    if (token_is_text(k, id))
        return json_stringn(bytes ? bytes : "", size);
    char *name = token_name(k, id);
    json_t *string = name ? json_string(name) : NULL;
    free(name);
    return string;
}

static json_t *bytes_json(const rapt_tokenizer *k, int32_t id)
{
    size_t size;
    const char *bytes = rapt_tokenizer_token(k, id, &size);
    char *hex = malloc(2 * size + 1);
    for (size_t i = 0; hex && i < size; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned)(unsigned char)bytes[i]);
    json_t *string = hex ? json_stringn(hex, 2 * size) : NULL;
    free(hex);
    return string;
}

bool explain_add_token(json_t *o, const rapt_tokenizer *k, int32_t id)
{
    bool ok = json_object_set_new(o, "id", json_integer(id)) == 0 &&
              json_object_set_new(o, "text", explain_token_text(k, id)) == 0;
    return ok && (token_is_text(k, id) || json_object_set_new(o, "bytes", bytes_json(k, id)) == 0);
}

json_t *explain_tokens_json(const rapt_explanation *e, rapt_explained_prediction p)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < p.count; i++) {
        json_t *token = json_object();
        bool ok = explain_add_token(token, explain_last(e)->tokenizer, p.ids[i]) &&
                  json_object_set_new(token, "probability", json_real(p.probabilities[i])) == 0;
        if (json_array_append_new(list, token) != 0 || !ok) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* The token that does follow, and how well it was foreseen. */
json_t *explain_next_json(const rapt_explanation *e, rapt_explained_prediction p)
{
    json_t *o = json_object();
    bool ok = explain_add_token(o, explain_last(e)->tokenizer, p.label) &&
              json_object_set_new(o, "probability", json_real(math_exp(-p.loss))) == 0 &&
              json_object_set_new(o, "loss", json_real(p.loss)) == 0;
    if (ok)
        return o;
    json_decref(o);
    return NULL;
}
