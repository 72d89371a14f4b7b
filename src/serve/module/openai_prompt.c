/* serve/module/openai_prompt.c: reads prompts. */
#include "serve/module/openai_run.h"

#include "decode/prompt.h"
#include "io/model_core.h"
#include "search/valid_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The context of reading prompts. */
typedef struct prompt_reading {
    openai_prompts *to;
    fields *f;
    const rapt_model *m;
} prompt_reading;

static void prompt_no_memory(const prompt_reading *r)
{
    request_fail(r->f->error, 503, NULL, "out of memory for the prompt");
}

/* ---- checks ------------------------------------------------------------------------------------------------------------- */

static void prompt_check_length(const prompt_reading *r, const char *field, const openai_prompt *p)
{
    const size_t context = r->m->language.net->config.context;
    if (p->count <= context || r->f->error->status)
        return;
    fields_fail(r->f, field, "%zu tokens, where the model's context is %zu", p->count, context);
    r->f->error->code = "context_length_exceeded";
}

/* Whether the prompt's text alone is encoded to these ids. */
static bool prompt_has_ids(const rapt_model *m, const openai_prompt *p)
{
    prompt again;
    if (prompt_encode(m, p->text, p->size, &again, NULL))
        return false;
    bool same = again.count == p->count && memcmp(again.ids, p->ids, p->count * sizeof *p->ids) == 0;
    free(again.ids);
    return same;
}

/* ---- one prompt --------------------------------------------------------------------------------------------------------- */

static void prompt_take_text(const prompt_reading *r, const char *field, const char *text, size_t size)
{
    rapt_error err = {0};
    prompt encoded;
    openai_prompt *p = &r->to->list[r->to->count++];
    if (prompt_encode(r->m, text, size, &encoded, &err)) {
        const char *reason = strstr(err.message, "the prompt: ") == err.message ? err.message + 12 : err.message;
        request_fail(r->f->error, err.code == RAPT_ERR_MEMORY ? 503 : 400, field, "%s: %s", field, reason);
        return;
    }
    *p = (openai_prompt){encoded.ids, encoded.count, malloc(size + 1), size, true};
    if (p->text)
        memcpy(p->text, text, size + 1);
    else
        prompt_no_memory(r);
    prompt_check_length(r, field, p);
}

/* Their text, as it is echoed: whole characters. */
static void prompt_decode(const prompt_reading *r, openai_prompt *p)
{
    size_t size;
    char *text = rapt_tokenizer_decode(r->m->language.tokenizer, p->ids, p->count, &size);
    p->text = text ? valid_text(text, size, &p->size, NULL) : NULL;
    if (!p->text)
        prompt_no_memory(r);
    else
        p->same = p->size == size && memcmp(text, p->text, size) == 0 && prompt_has_ids(r->m, p);
    free(text);
}

static void prompt_take_ids(const prompt_reading *r, const char *field, const json_t *list)
{
    rapt_error err = {0};
    openai_prompt *p = &r->to->list[r->to->count++];
    *p = (openai_prompt){.ids = NULL};
    p->ids = fields_ids(r->f, field, list, &p->count);
    prompt_check_length(r, field, p);
    if (!r->f->error->status && prompt_check(r->m, p->ids, p->count, &err))
        fields_fail(r->f, field, "%s", err.message);
    if (!r->f->error->status)
        prompt_decode(r, p);
}

/* ---- all of them -------------------------------------------------------------------------------------------------------- */

static void prompt_take_one(const prompt_reading *r, const char *field, const json_t *value)
{
    if (json_is_string(value))
        prompt_take_text(r, field, json_string_value(value), json_string_length(value));
    else if (json_is_array(value))
        prompt_take_ids(r, field, value);
    else
        fields_fail(r->f, field, "a text or a list of token ids is expected");
}

static bool is_list_of_prompts(const json_t *value)
{
    return json_is_array(value) && !fields_is_integer(json_array_get(value, 0));
}

void openai_prompts_read(openai_prompts *to, fields *f, size_t most, size_t n, const rapt_model *m)
{
    const prompt_reading r = {to, f, m};
    json_t *value = fields_value(f, "prompt");
    const bool many = is_list_of_prompts(value);
    const size_t count = many ? json_array_size(value) : 1;
    *to = (openai_prompts){.list = NULL};
    if (count == 0 || count > most) {
        fields_fail(f, "prompt", "%zu prompts, where 1 to %zu are taken", count, most);
        return;
    }
    if (n > most / count) {
        fields_fail(f, "n", "%zu choices of %zu prompts, where a request may have %zu texts", n, count, most);
        return;
    }
    to->list = calloc(count, sizeof *to->list);
    if (!to->list)
        prompt_no_memory(&r);
    else if (!value)
        prompt_take_text(&r, "prompt", "", 0);
    else if (!many)
        prompt_take_one(&r, "prompt", value);
    for (size_t i = 0; i < count && many && !f->error->status; i++) {
        char field[40];
        snprintf(field, sizeof field, "prompt[%zu]", i);
        prompt_take_one(&r, field, json_array_get(value, i));
    }
}

void openai_prompts_set(openai_prompts *to, fields *f, const char *field, int32_t *ids, size_t count, const char *text,
                        size_t size, const rapt_model *m)
{
    const prompt_reading r = {to, f, m};
    rapt_error err = {0};
    *to = (openai_prompts){calloc(1, sizeof *to->list), 1};
    if (!to->list) {
        free(ids);
        *to = (openai_prompts){.list = NULL};
        prompt_no_memory(&r);
        return;
    }
    openai_prompt *p = to->list;
    *p = (openai_prompt){ids, count, malloc(size + 1), size, false};
    if (!p->text) {
        prompt_no_memory(&r);
        return;
    }
    memcpy(p->text, text, size);
    p->text[size] = '\0';
    if (count == 0)
        fields_fail(f, field, "the chat template makes no token of them");
    prompt_check_length(&r, field, p);
    if (!f->error->status && prompt_check(m, ids, count, &err))
        fields_fail(f, field, "%s", err.message);
    p->same = !f->error->status && prompt_has_ids(m, p);
}

void openai_prompts_free(openai_prompts *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->list[i].ids);
        free(p->list[i].text);
    }
    free(p->list);
    *p = (openai_prompts){.list = NULL};
}
