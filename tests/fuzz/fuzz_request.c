/* tests/fuzz/fuzz_request.c: any bytes as a request to an endpoint that a model answers: the first byte chooses the endpoint, the
 * second how the rest is said: as a body of JSON, as a form, or as a query. Models are tiny, and as random as their texts.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "loading.h"
#include "rapt/io.h"
#include "serve/module/endpoints.h"
#include "serve/module/native.h"
#include "serve/module/openai.h"
#include "serve/served_app.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "decode/generate_case.h"
#include "decode/translate_case.h"

#include <jansson.h>
#include <pthread.h>

static app_route_fn *const ROUTE[] = {openai_completions, openai_chat, openai_embeddings, native_translate, native_explain,
                                      native_tokenize, native_detokenize, libre_translate, libre_detect, deepl_translate,
                                      openai_models, deepl_languages};
enum { ROUTES = sizeof ROUTE / sizeof *ROUTE, ANSWER = 1 << 20 };

static app *served_here;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool ended;
static char answer[ANSWER + 1];

static void set_up(void)
{
    const rapt_lm_config config = {.vocab = BYTES_VOCAB, .layers = 1, .context = 24, .embedding_std = 2,
                                   .block = {.d_model = 8, .heads = 2, .ffn = 9, .norm_place = RAPT_NORM_PLACE_PRE}};
    rapt_model *language = calloc(1, sizeof *language);
    rapt_model *encoder = load_inference(RAPT_SOURCE_DIR "/tests/golden/hub_encoder/bert_sentence", RAPT_TASK_ENCODER, NULL);
    served_here = served_app_new();
    require(served_here && language && encoder);
    *language = case_model(lm_model(&config), case_bytes());
    require(served_app_add(served_here, "lm", NULL, NULL, language, NULL));
    require(served_app_add(served_here, "en-fr", "en", "fr", case_translation_model(8, 2), NULL));
    require(served_app_add(served_here, "encoder", NULL, NULL, encoder, NULL));
    *served_app_limits(served_here) = (app_limits){.body = 1 << 16, .texts = 4, .n = 2, .max_tokens = 8, .explain = 12,
                                                   .queue = 4};
}

static void on_end(void *context)
{
    (void)context;
    pthread_mutex_lock(&lock);
    ended = true;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void wait_for_end(void)
{
    pthread_mutex_lock(&lock);
    while (!ended)
        pthread_cond_wait(&changed, &lock);
    ended = false;
    pthread_mutex_unlock(&lock);
}

/* It says whose fault it is; what calls itself JSON, and each event of a stream, is JSON. */
static void check_answer(exchange *x)
{
    const char *type;
    bool end = false;
    size_t size = 0, got;
    const int status = exchange_status(x, &type);
    require(status == 200 || (status >= 400 && status < 500));
    while (!end && (got = exchange_take(x, answer + size, ANSWER - size, &end)) > 0)
        size += got;
    answer[size] = '\0';
    if (!end)
        return; /* a page that is larger */
    json_error_t where;
    json_t *value = strcmp(type, "application/json") == 0 ? json_loadb(answer, size, JSON_ALLOW_NUL, &where) : NULL;
    require(value || strcmp(type, "application/json") != 0);
    json_decref(value);
    if (strcmp(type, "text/event-stream") != 0)
        return;
    require(size > 14 && strcmp(answer + size - 14, "data: [DONE]\n\n") == 0);
    for (char *at = answer, *next; (next = strstr(at, "\n\n")) && next[2]; at = next + 2) {
        require(strncmp(at, "data: ", 6) == 0);
        value = json_loadb(at + 6, (size_t)(next - at) - 6, JSON_ALLOW_NUL, &where);
        require(value != NULL);
        json_decref(value);
    }
}

/* NULL: the query cannot be read. */
static exchange *request_of(uint8_t how, const char *rest, size_t size)
{
    static const char *const types[] = {"application/json", "application/x-www-form-urlencoded", "text/plain"};
    char *target = malloc(size + 3);
    require(target != NULL);
    memcpy(target, "/?", 2);
    memcpy(target + 2, rest, size);
    target[size + 2] = '\0';
    const bool get = how % 4 == 3;
    exchange *x = exchange_new(get ? "GET" : "POST", get ? target : "/", NULL, NULL);
    free(target);
    if (x && !get)
        require(exchange_set_header(x, "Content-Type", types[how % 4]) && exchange_add_body(x, rest, size));
    return x;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    if (!served_here)
        set_up();
    if (size < 2)
        return 0;
    exchange *x = request_of(input[1], (const char *)input + 2, size - 2);
    if (!x)
        return 0;
    exchange_at_end(x, on_end, NULL);
    ROUTE[input[0] % ROUTES](served_here, x);
    wait_for_end();
    check_answer(x);
    exchange_detach(x);
    exchange_release(x);
    return 0;
}
