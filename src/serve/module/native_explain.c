/* serve/module/native_explain.c: POST /v1/explain. The engine's thread runs one extra pass between two steps. The operator limits
 * a text's tokens, so that other requests do not wait long. */
#include "serve/module/native.h"

#include "base/chars.h"
#include "explain/page/book_address.h"
#include "io/model_core.h"
#include "text/tokenizer.h"
#include "rapt/explain.h"
#include "serve/module/explain_memory.h"
#include "serve/module/openai.h"
#include "serve/module/openai_error.h"
#include "serve/module/replay.h"
#include "serve/module/reply.h"

#include <stdlib.h>
#include <string.h>

/* Names to keep, the characters of each, and elements of a response with all of them: some twelve bytes each. The engine's thread
 * compares a pattern with all names of the pass, from each character of a name on, before anything is admitted. */
enum { EXPLAIN_NAMES = 64, EXPLAIN_NAME = 160, EXPLAIN_ELEMENTS = 1 << 20 };

/* The most elements of a pass, independent of memory. A pass delays all models, by about 0.2 seconds for a million elements of a
 * page, and by a quarter of that for the statistics of JSON. */
enum { PASS_ELEMENTS_HTML = 20000000, PASS_ELEMENTS_FULL = 60000000, PASS_ELEMENTS = 80000000 };

/* Bytes of memory for each byte of a request's texts: they are held until it is answered, and the response may have them twice,
 * escaped. A few tokens can be a long text: one word, or spaces. */
enum { TEXT_BYTE = 40 };

/* The page's policy: its script and styles are inline, so it runs in a sandbox without the server's origin, and can load
 * nothing. */
#define EXPLAIN_POLICY                                                                                                    \
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "   \
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/* A request, until it is answered. */
typedef struct explaining {
    exchange *x;        /* held */
    served_set *models; /* a reference, until the engine has the request: a call keeps its model */
    fields f;           /* owns the texts */
    const served *model; /* of these */
    rapt_engine_model *computes; /* it, while its call lives */
    char *name;         /* its name */
    const char *text;
    const char **names;
    rapt_explain_options options;
    rapt_explain_format format;
    rapt_explain_page_options page;
    bool html;
    rapt_explain_cost cost; /* of the pass */
    request_error error;
} explaining;

static void explaining_free(explaining *e)
{
    if (e->models)
        served_release(e->models);
    exchange_release(e->x);
    fields_free(&e->f);
    free(e->name);
    free(e->names);
    free(e);
}

/* ---- the engine's part -------------------------------------------------------------------------------------------------- */

/* What the texts of the request take from when it was read until it is answered. */
static size_t explain_text_bytes(const explaining *e)
{
    return (strlen(e->text) + e->options.target.size) * TEXT_BYTE;
}

static explain_kind kind_of_response(const explaining *e)
{
    return e->html ? EXPLAIN_KIND_HTML : e->format.full ? EXPLAIN_KIND_FULL : EXPLAIN_KIND_JSON;
}

/* With the texts of the request, the larger of the memory for making the response and the memory of the pass, which has ended by
 * then. */
static bool asks_for_pass(explaining *e)
{
    const rapt_explain_cost *c = &e->cost;
    const size_t text = explain_memory(c, kind_of_response(e)) + explain_memory_lens(c, kind_of_response(e));
    const size_t bytes = explain_text_bytes(e) + (text > c->bytes ? text : c->bytes);
    return c->lens ? request_asks(e->x, ADMISSION_MAKING, bytes, &e->error, "a pass of %zu elements with %zu predictions of the "
                                  "logit lens", c->elements, c->lens)
                   : request_asks(e->x, ADMISSION_MAKING, bytes, &e->error, "a pass of %zu elements", c->elements);
}

/* After the pass the tokens are known, and so is how long their texts are. */
static bool asks_for_response(explaining *e, const rapt_explanation *of, const rapt_model *m)
{
    const rapt_tokenizer *k = m->task == RAPT_TASK_TRANSLATION ? m->translation.target : m->language.tokenizer;
    const size_t bytes = explain_text_bytes(e) + explain_memory(&e->cost, kind_of_response(e)) +
                         explain_memory_predictions(of, k, kind_of_response(e));
    return request_asks(e->x, ADMISSION_MAKING, bytes, &e->error, "a response with the texts of all tokens that are predicted");
}

/* An admit of rapt_explain_options: refuses a pass that is too large before it is computed. */
static rapt_code explain_admit(void *context, const rapt_explain_cost *c, rapt_error *err)
{
    explaining *e = context;
    const size_t most = e->html ? PASS_ELEMENTS_HTML : e->format.full ? PASS_ELEMENTS_FULL : PASS_ELEMENTS;
    if (c->elements > most)
        return rapt_fail(err, RAPT_ERR_VALUE, "the text is too long: a pass over it has %zu elements, more than the %zu that "
                         "are computed here", c->elements, most);
    if (e->format.full && c->kept > EXPLAIN_ELEMENTS)
        return rapt_fail(err, RAPT_ERR_VALUE, "full: %zu elements are more than the %d of a response; \"only\" chooses among "
                         "them", c->kept, EXPLAIN_ELEMENTS);
    e->cost = *c;
    if (asks_for_pass(e))
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_MEMORY, "%s", e->error.message);
}

/* Prints the same bytes as the command, including the line feed. */
static rapt_code explain_to(explaining *e, const rapt_model *model, char **text, size_t *size, rapt_error *err)
{
    rapt_explanation *of = rapt_explanation_new(model, e->text, strlen(e->text), &e->options, err);
    if (!of)
        return err->code;
    rapt_code code = asks_for_response(e, of, model) ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "%s", e->error.message);
    if (!code)
        code = e->html ? rapt_explanation_page(of, &e->page, text, size, err)
                       : rapt_explanation_json(of, &e->format, text, size, err);
    rapt_explanation_free(of);
    if (!code && !e->html)
        (*text)[(*size)++] = '\n'; /* in place of the NUL */
    return code;
}

static void native_explain_run(void *context, const rapt_model *model, int threads)
{
    explaining *e = context;
    rapt_error why = {0};
    char *text = NULL;
    size_t size = 0;
    e->options.threads = threads;
    e->options.admit = explain_admit;
    e->options.context = e;
    if (!model && !rapt_engine_check(e->computes, &why))
        request_fail(&e->error, 503, NULL, "%s", rapt_code_name(RAPT_ERR_INTERRUPTED));
    else if (!model || explain_to(e, model, &text, &size, &why) || rapt_engine_check(e->computes, &why))
        request_fail(&e->error, reply_status(why.code), NULL, "%s", why.message);
    else if (!exchange_makes(e->x, size)) /* the response's size counts until it is sent, and the client decides when */
        request_fail(&e->error, 503, NULL, "other requests have the memory that the response takes");
    if (e->html)
        exchange_add_header(e->x, "Content-Security-Policy", EXPLAIN_POLICY);
    if (e->error.status) {
        free(text);
        openai_refuse(e->x, &e->error);
    } else
        exchange_reply_with(e->x, 200, e->html ? "text/html; charset=utf-8" : "application/json", text, size);
    explaining_free(e);
}

static bool explaining_is_stopped(void *context)
{
    return exchange_gone(((explaining *)context)->x);
}

/* ---- the request -------------------------------------------------------------------------------------------------------- */

/* Counts the tokens that the pass reads: for a translation model the text of a special token is plain text, unless its tokenizer
 * says otherwise. */
static void check_tokens(explaining *e, const rapt_model *m, const rapt_tokenizer *k, const char *field, rapt_text text,
                         size_t limit)
{
    rapt_error why = {0};
    int32_t *ids = NULL;
    size_t count = 0;
    if (e->error.status)
        return;
    rapt_code code = m->task == RAPT_TASK_LANGUAGE_MODEL
                         ? tokenizer_encode_bytes(k, text.data, text.size, true, &ids, &count, &why)
                         : tokenizer_encode_within(k, text.data, text.size, m->translation.specials_in_text, &ids, &count, &why);
    free(ids);
    if (code)
        request_fail(&e->error, reply_status(code), field, "%s: %s", field, why.message);
    else if (count > limit)
        fields_fail(&e->f, field, "%zu tokens are more than the %zu that this server explains", count, limit);
}

static void read_patterns(explaining *e)
{
    bool list;
    size_t count;
    e->names = fields_texts(&e->f, "only", 1, EXPLAIN_NAMES, &count, &list);
    if (e->names && !list)
        fields_fail(&e->f, "only", "a list of strings is expected");
    if (e->names && e->html)
        fields_fail(&e->f, "only", "the page shows everything; this is for json");
    for (size_t i = 0; i < count; i++)
        if (fields_is_longer(e->names[i], EXPLAIN_NAME))
            fields_fail(&e->f, "only", "pattern %zu has more than %d characters", i, EXPLAIN_NAME);
    e->options.names = e->names;
    e->options.name_count = count;
}

static void read_book(explaining *e)
{
    rapt_error why = {0};
    e->page.book = fields_text(&e->f, "book");
    if (e->page.book && !e->html)
        fields_fail(&e->f, "book", "JSON has no links; this is for html");
    else if (e->page.book && book_address_check(e->page.book, &why))
        fields_fail(&e->f, "book", "%s", why.message);
}

static void read_explain_fields(explaining *e, size_t limit)
{
    static const char *const formats[] = {"json", "html"};
    static const rapt_task tasks[] = {RAPT_TASK_TRANSLATION, RAPT_TASK_LANGUAGE_MODEL};
    fields *f = &e->f;
    e->model = openai_model(f, e->models, tasks, 2);
    e->text = fields_required_text(f, "text");
    e->options.target = rapt_text_of(fields_text(f, "target"));
    e->html = fields_word(f, "format", formats, 2, 0) == 1;
    e->format.full = fields_flag(f, "full", false);
    e->options.lens = fields_flag(f, "lens", false);
    e->options.strict = fields_flag(f, "strict", false);
    if (e->html && e->format.full)
        fields_fail(f, "full", "the page has the size that it has; this is for json");
    read_patterns(e);
    read_book(e);
    if (!fields_finish(f))
        return;
    const rapt_model *m = rapt_engine_model_of(e->model->model);
    const bool translates = m->task == RAPT_TASK_TRANSLATION;
    if (e->options.target.data && !translates)
        fields_fail(f, "target", "%s is a language model, which has none", e->model->name);
    else
        check_tokens(e, m, translates ? m->translation.source : m->language.tokenizer, "text", rapt_text_of(e->text), limit);
    if (e->options.target.data && translates)
        check_tokens(e, m, m->translation.target, "target", e->options.target, limit);
    request_asks(e->x, ADMISSION_MAKING, explain_text_bytes(e), &e->error, "texts of %zu bytes",
                 strlen(e->text) + e->options.target.size);
    e->options.model_name = e->name = chars_copy(e->model->name);
    if (!e->name)
        request_fail(&e->error, 503, NULL, "out of memory for the request");
}

/* A pass is in fp32, regardless of the options of the server. */
static void tell_explain_replay(const explaining *e)
{
    served model = *e->model;
    replay r = {0};
    model.options = NULL;
    replay_begin(&r, "explain", &model);
    if (e->html)
        replay_words(&r, " --html page.html");
    else
        replay_words(&r, " --json%s", e->format.full ? " --full" : "");
    if (e->page.book)
        replay_text(&r, "--book", e->page.book, strlen(e->page.book));
    if (e->options.lens)
        replay_words(&r, " --lens");
    if (e->options.strict)
        replay_words(&r, " --strict");
    for (size_t i = 0; i < e->options.name_count; i++)
        replay_text(&r, "--only", e->names[i], strlen(e->names[i]));
    replay_text(&r, "--", e->text, strlen(e->text));
    if (e->options.target.data)
        replay_text(&r, "", e->options.target.data, e->options.target.size);
    replay_end(&r, e->x);
}

/* True: the engine has the request, and it must not be touched any more. */
static bool native_explain_submit(explaining *e)
{
    rapt_error why = {0};
    if (e->error.status)
        return false;
    exchange_note_model(e->x, e->model->name);
    tell_explain_replay(e);
    served_set *models = e->models;
    const served *model = e->model;
    e->models = NULL;
    e->computes = model->model;
    rapt_code code = rapt_engine_call(model->model, native_explain_run, explaining_is_stopped, e, NULL, &why);
    if (code)
        request_fail(&e->error, reply_status(code), NULL, "%s", why.message);
    served_release(models);
    return code == RAPT_OK;
}

void native_explain(app *a, exchange *x)
{
    const size_t limit = app_limits_of(a)->explain;
    explaining *e = limit > 0 ? calloc(1, sizeof *e) : NULL;
    if (!e) {
        openai_error(x, limit > 0 ? 503 : 403, NULL, NULL, limit > 0 ? "out of memory for the request"
                                                                     : "this server does not explain: /v1/explain is turned off");
        return;
    }
    *e = (explaining){.x = x, .options = rapt_explain_options_default(),
                      .format = rapt_explain_format_default(), .page = rapt_explain_page_options_default(),
                      .models = app_models(a)};
    exchange_hold(x);
    if (strcmp(exchange_method(x), "POST") == 0)
        fields_read(&e->f, x, false, &e->error);
    else
        fields_read_query(&e->f, x, &e->error); /* a link of the server's own page */
    read_explain_fields(e, limit);
    if (native_explain_submit(e))
        return;
    openai_refuse(x, &e->error);
    explaining_free(e);
}
