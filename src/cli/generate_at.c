/* cli/generate_at.c: `rapt generate --at`: next-token probabilities after a token of the prompt. It generates nothing. */
#include "cli/cmd_generate.h"

#include "base/chars.h"
#include "base/quote.h"
#include "cli/put_json.h"
#include "cli/say.h"
#include "decode/prompt.h"
#include "explain/input/token_name.h"
#include "io/model_core.h"
#include "text/json_text.h"
#include "text/utf8.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_TOP 5

/* The output of --at: the most probable tokens after a token of the prompt. */
typedef struct next_tokens {
    size_t position, count;
    int32_t token; /* at that position */
    int32_t *ids;  /* [count], most probable first */
    double *probabilities;
} next_tokens;

/* The text of a token as a JSON string, with parts of characters as `rapt explain` names them; null for ids without a text. */
static json_t *id_text_json(const rapt_tokenizer *k, int32_t id)
{
    size_t size = 0;
    const char *bytes = rapt_tokenizer_token(k, id, &size);
    if (!bytes || utf8_valid_prefix(bytes, size) == size)
        return json_stringn(bytes ? bytes : "", size);
    char *name = token_name(k, id);
    json_t *string = name ? json_string(name) : NULL;
    free(name);
    return string;
}

static json_t *token_json(const rapt_tokenizer *k, int32_t id)
{
    return json_pack("{s:i, s:o}", "id", (int)id, "text", id_text_json(k, id));
}

static json_t *at_json(const rapt_tokenizer *k, const next_tokens *e)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < e->count; i++) {
        json_t *token = token_json(k, e->ids[i]);
        if (token)
            json_object_set_new(token, "probability", json_real(e->probabilities[i]));
        json_array_append_new(list, token);
    }
    return json_pack("{s:I, s:o, s:o}", "position", (json_int_t)e->position, "token", token_json(k, e->token), "likeliest", list);
}

/* A token as a JSON string, in ASCII if it has characters that must not reach a terminal. */
static char *printable_json(const json_t *string)
{
    char *text = json_text(string, JSON_ENCODE_ANY), *clean = text ? chars_copy(text) : NULL;
    if (clean)
        quote_clean(clean);
    if (clean && strcmp(clean, text) != 0) {
        free(text);
        text = json_text(string, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    }
    free(clean);
    return text;
}

static void print_token(const rapt_tokenizer *k, int32_t id)
{
    json_t *string = id_text_json(k, id);
    char *text = printable_json(string);
    printf("%d\t", (int)id);
    cli_print_clean(stdout, text ? text : "");
    free(text);
    json_decref(string);
}

static void print_at(const rapt_tokenizer *k, const next_tokens *e)
{
    printf("after token %zu:\t", e->position);
    print_token(k, e->token);
    for (size_t i = 0; i < e->count; i++) {
        printf("\n%.6f\t", e->probabilities[i]);
        print_token(k, e->ids[i]);
    }
    putchar('\n');
}

static rapt_code put_at(const generate_arguments *a, const rapt_tokenizer *k, const next_tokens *e, rapt_error *err)
{
    if (a->json)
        return put_json(at_json(k, e), 0, err);
    print_at(k, e);
    return RAPT_OK;
}

/* Positions below 0 count from the end of the prompt. */
static rapt_code find_prompt_position(long long at, size_t count, size_t *position, rapt_error *err)
{
    if (at >= (long long)count || at < -(long long)count)
        return rapt_fail(err, RAPT_ERR_VALUE, "--at %lld: the prompt has tokens 0 to %zu", at, count - 1);
    *position = at >= 0 ? (size_t)at : count - (size_t)-at;
    return RAPT_OK;
}

/* Appends the tokens of the prompt one at a time, and predicts after each. */
static rapt_code predict_after_all(const generate_arguments *a, rapt_generator *g, const rapt_model *m, const prompt *p,
                                   next_tokens *e, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (e->position = 0; e->position < p->count && !code; e->position++) {
        e->token = p->ids[e->position];
        code = rapt_generator_append_tokens(g, &e->token, 1, err);
        code = code ? code : rapt_generator_likeliest(g, e->count, e->ids, e->probabilities, err);
        code = code ? code : put_at(a, m->language.tokenizer, e, err);
    }
    return code;
}

static rapt_code predict_after_one(const generate_arguments *a, rapt_generator *g, const rapt_model *m, const prompt *p,
                                   next_tokens *e, rapt_error *err)
{
    rapt_code code = find_prompt_position(a->at, p->count, &e->position, err);
    if (code)
        return code;
    e->token = p->ids[e->position];
    code = rapt_generator_begin_tokens(g, p->ids, e->position + 1, err);
    code = code ? code : rapt_generator_likeliest(g, e->count, e->ids, e->probabilities, err);
    return code ? code : put_at(a, m->language.tokenizer, e, err);
}

rapt_code generate_at(const generate_arguments *a, rapt_generator *g, const rapt_model *m, generate_prompt given, rapt_error *err)
{
    prompt p = {0};
    next_tokens e = {.count = a->top ? (size_t)a->top : DEFAULT_TOP};
    e.count = e.count < m->language.net->config.vocab ? e.count : m->language.net->config.vocab;
    e.ids = malloc(e.count * sizeof *e.ids);
    e.probabilities = malloc(e.count * sizeof *e.probabilities);
    rapt_code code = e.ids && e.probabilities ? prompt_encode(m, given.text, given.size, &p, err)
                                              : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu tokens", e.count);
    if (!code)
        code = (a->at_all ? predict_after_all : predict_after_one)(a, g, m, &p, &e, err);
    free(e.ids);
    free(e.probabilities);
    free(p.ids);
    return code;
}
