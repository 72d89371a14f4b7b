/* cli/explain_names.c: what `rapt explain` calls tokens and the axes of matrices. */
#define _GNU_SOURCE /* strdup */
#include "cli/explain.h"

#include "cli/generate.h"

#include <stdlib.h>
#include <string.h>

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

static bool is_plain(const char *text)
{
    bool plain = *text != '\0';
    for (; *text; text++)
        plain = plain && (unsigned char)*text > ' ' && *text != '"' && *text != '\x7f';
    return plain;
}

json_t *explain_token_json(const rapt_tokenizer *k, int32_t id)
{
    size_t size, length;
    const char *bytes = rapt_tokenizer_token(k, id, &size);
    char *text = bytes ? generate_valid_text(bytes, size, &length, NULL) : NULL;
    json_t *string = bytes ? (text ? json_stringn(text, length) : NULL) : json_string("");
    free(text);
    return string;
}

char *explain_token(const rapt_tokenizer *k, int32_t id)
{
    json_t *string = explain_token_json(k, id);
    const char *text = json_string_value(string);
    bool plain = text && strlen(text) == json_string_length(string) && is_plain(text);
    char *name = !string ? NULL : plain ? strdup(text) : json_dumps(string, JSON_ENCODE_ANY);
    json_decref(string);
    return name;
}

/* ---- axes -------------------------------------------------------------------------------------------------------- */

const explain_sequence *explain_last(const explanation *e)
{
    return &e->sequences[e->sequence_count - 1];
}

const char *explain_axis(const rapt_step *s, int dim, char word[16])
{
    const char *axes = s->axes ? s->axes : "";
    for (int i = 0; i < dim; i++) {
        axes += strcspn(axes, " ");
        axes += strspn(axes, " ");
    }
    size_t length = strcspn(axes, " ");
    length = length < 15 ? length : 15;
    memcpy(word, axes, length);
    word[length] = '\0';
    return word;
}

/* Keys of a cross-attention are the encoder's; the parameters of a model run along no sequence. */
const explain_sequence *explain_along(const explanation *e, const rapt_step *s, int dim)
{
    char word[16];
    explain_axis(s, dim, word);
    bool key = strcmp(word, "key") == 0;
    if (!key && strcmp(word, "query") != 0 && strcmp(word, "time") != 0)
        return NULL;
    bool source = strncmp(s->name, "encoder.", 8) == 0 || (key && strstr(s->name, ".cross_attention."));
    const explain_sequence *along = source ? &e->sequences[0] : explain_last(e);
    return s->tensor->shape[dim] == along->count ? along : NULL;
}
