/* tests/serve/openai_case.h: an engine with a language model of bytes, with and without a chat template, a translation model of
 * words, an encoder and a cross-encoder, behind the double of the server; requests to it, and what a generator says to them. */
#ifndef TESTS_SERVE_OPENAI_CASE_H
#define TESTS_SERVE_OPENAI_CASE_H

#include "decode/generate_case.h"
#include "decode/translate_case.h"
#include "loading.h"
#include "options.h"
#include "serve/app_double.h"
#include "serve/exchange_case.h"

#include "serve/module/openai.h"
#include "serve/module/served_load.h"

#include <stdatomic.h>
#include <unistd.h>

enum { CASE_CONTEXT = 40, CASE_MODELS = 5 };

#define CASE_ENCODER RAPT_SOURCE_DIR "/tests/golden/hub_encoder/bert_sentence"
#define CASE_CROSS_ENCODER RAPT_SOURCE_DIR "/tests/golden/hub_rerank/roberta_pairs"

static const char CASE_TEMPLATE[] =
    "{% for m in messages %}{{ '<' + m.role + '>' + m.content }}{% endfor %}{% if add_generation_prompt %}<a>{% endif %}"
    "{% if loud %}!{% endif %}";

typedef struct openai_case {
    rapt_engine *engine;
    served models[CASE_MODELS];
    rapt_chat_template *chat;
    served_set_owner owner; /* of the app's models */
    app app;
} openai_case;

/* They last as long as the case. */
static inline void case_keep_models(void *context, served_set *set)
{
    (void)context, (void)set;
}

/* All bytes and the end of text, with probabilities that differ. */
static inline rapt_model *case_language_model(void)
{
    const rapt_lm_config c = {.vocab = BYTES_VOCAB, .layers = 2, .context = CASE_CONTEXT, .embedding_std = 2,
                              .block = {.d_model = 24, .heads = 4, .ffn = 37, .norm_place = RAPT_NORM_PLACE_PRE}};
    rapt_model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    *m = case_model(lm_model(&c), case_bytes());
    return m;
}

static inline served case_served(rapt_engine *engine, const char *name, rapt_model *m)
{
    rapt_error err = {0};
    const rapt_task task = m->task;
    rapt_engine_model *model = rapt_engine_add(engine, m, NULL, &err);
    if (!model)
        fail_msg("%s", err.message);
    return (served){.name = (char *)name, .path = "models/tiny", .task = task, .model = model,
                    .fingerprint = "0123456789abcdef", .number_format = "fp32", .created = 1700000000, .options = ""};
}

/* `folder` is one that the template can be written to. */
static inline void case_open(openai_case *c, const char *folder)
{
    rapt_error err = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/chat_template.jinja", folder);
    FILE *f = fopen(path, "w");
    assert_true(f && fputs(CASE_TEMPLATE, f) >= 0 && fclose(f) == 0);
    *c = (openai_case){.engine = rapt_engine_new(&ENGINE(.threads = 2), &err),
                       .chat = rapt_chat_template_load(folder, &err)};
    if (!c->engine || !c->chat)
        fail_msg("%s", err.message);
    c->models[0] = case_served(c->engine, "bytes", case_language_model());
    c->models[1] = case_served(c->engine, "chatty", case_language_model());
    c->models[1].chat = c->chat;
    c->models[2] = case_served(c->engine, "en-fr", case_translation_model(20, 0));
    rapt_model *encoder = load_inference(CASE_ENCODER, RAPT_TASK_ENCODER, &err);
    if (!encoder)
        fail_msg("%s", err.message);
    c->models[3] = case_served(c->engine, "encoder", encoder);
    rapt_model *pairs = load_inference(CASE_CROSS_ENCODER, RAPT_TASK_CROSS_ENCODER, &err);
    if (!pairs)
        fail_msg("%s", err.message);
    c->models[4] = case_served(c->engine, "pairs", pairs);
    c->owner.retire = case_keep_models;
    atomic_init(&c->owner.references, 1);
    c->app = (app){{c->models, CASE_MODELS, &c->owner}, {.body = 1 << 20, .texts = 6, .n = 4, .queue = 64}};
}

static inline void case_close(openai_case *c)
{
    for (size_t i = 0; i < CASE_MODELS; i++)
        rapt_engine_remove(c->models[i].model);
    rapt_engine_free(c->engine);
    rapt_chat_template_free(c->chat);
    assert_int_equal(atomic_load(&c->owner.references), 1); /* whoever held the models has let go */
}

/* ---- requests ----------------------------------------------------------------------------------------------------------- */

static inline void case_ended(void *context)
{
    atomic_store((atomic_bool *)context, true);
}

/* Until the response has ended. */
static inline void case_wait(exchange *x)
{
    static atomic_bool ended;
    atomic_store(&ended, false);
    exchange_at_end(x, case_ended, &ended);
    for (int i = 0; i < 30000 && !atomic_load(&ended); i++)
        usleep(1000);
    assert_true(atomic_load(&ended));
}

/* The exchange of a request that was answered. */
static inline exchange *case_ask(openai_case *c, app_route_fn *route, const char *body)
{
    exchange *x = case_post("/", body);
    route(&c->app, x);
    case_wait(x);
    return x;
}

static inline json_t *case_json(openai_case *c, app_route_fn *route, const char *body, int status)
{
    exchange *x = case_ask(c, route, body);
    json_t *o = case_object(x, status);
    exchange_release(x);
    return o;
}

/* "choices.0.text" within an object; fails where it is not there. */
static inline json_t *case_at(json_t *o, const char *path)
{
    char part[64];
    for (const char *p = path; *p; p += *p == '.') {
        size_t size = strcspn(p, ".");
        snprintf(part, sizeof part, "%.*s", (int)size, p);
        o = json_is_array(o) ? json_array_get(o, strtoul(part, NULL, 10)) : json_object_get(o, part);
        if (!o)
            fail_msg("%s is missing", path);
        p += size;
    }
    return o;
}

static inline const char *case_text_at(json_t *o, const char *path)
{
    json_t *text = case_at(o, path);
    if (!json_is_string(text))
        fail_msg("%s is no text", path);
    return json_string_value(text);
}

/* The events of a stream, as a list; fails where one is none. *done: it ends with [DONE]. */
static inline json_t *case_events(exchange *x, bool *done)
{
    char *body = case_body(x), *at = body;
    json_t *events = json_array();
    *done = false;
    while (*at) {
        char *end = strstr(at, "\n\n");
        assert_non_null(end);
        assert_false(*done);
        assert_memory_equal(at, "data: ", 6);
        *done = strncmp(at + 6, "[DONE]", 6) == 0;
        json_t *event = *done ? NULL : json_loadb(at + 6, (size_t)(end - at) - 6, JSON_ALLOW_NUL, NULL);
        assert_true(*done || event);
        if (event)
            json_array_append_new(events, event);
        at = end + 2;
    }
    free(body);
    return events;
}

/* ---- what a generator says ---------------------------------------------------------------------------------------------- */

/* The same text from a generator; to be freed. */
static inline rapt_generated case_generated(const openai_case *c, const rapt_generate_options *options, const int32_t *ids,
                                            size_t count, uint64_t sample)
{
    rapt_error err = {0};
    rapt_generated result = {0};
    rapt_generate_options o = *options;
    o.compute.threads = 1;
    rapt_generator *g = rapt_generator_new(rapt_engine_model_of(c->models[0].model), &o, &err);
    if (!g || rapt_generator_begin_tokens(g, ids, count, &err) || rapt_generator_run(g, sample, &result, &err))
        fail_msg("%s", err.message);
    rapt_generator_free(g);
    return result;
}

/* Ids of bytes. */
static inline void case_ids(const openai_case *c, const char *text, int32_t *ids)
{
    const rapt_tokenizer *k = rapt_engine_model_of(c->models[0].model)->language.tokenizer;
    for (size_t i = 0; text[i]; i++)
        ids[i] = case_byte(k, (unsigned char)text[i]);
}

/* The log-probability of the token that follows `count` others, from a generator that can choose only this token. */
static inline double case_log_prob(const openai_case *c, const int32_t *ids, size_t count)
{
    const rapt_logit_bias bias = {ids[count], 1e9};
    const rapt_generate_options o = {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .greedy = true, .biases = &bias,
                                                                   .bias_count = 1}, .max_tokens = 1};
    rapt_generated r = case_generated(c, &o, ids, count, 0);
    assert_int_equal(r.token_count, 1);
    assert_int_equal(r.tokens[0], ids[count]);
    const double log_prob = r.log_probs[0];
    rapt_generated_free(&r);
    return log_prob;
}

#endif
