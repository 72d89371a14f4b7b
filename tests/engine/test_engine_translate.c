/* tests/engine/test_engine_translate.c: an engine's translations have the bits of rapt_translate, whatever the requests beside
 * them, batches and threads; requests that are cancelled or stop at any step, or fail, leave the others as they are; a short
 * request does not wait for a long one.
 * labels: threads */
#define _GNU_SOURCE /* nanosleep */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/translate_case.h"
#include "engine/fault.h"
#include "engine/gate.h"
#include "options.h"
#include "texts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { CLIENTS = 5, REQUESTS = 40, LINES = 9, OPTION_COUNT = 6 };

static const char *const LINE[] = {
    "w1 w2 w3", "", "zyzzyva", "w4", "w1 w2 w3 w4 w5 w6 w7", "w1 w2 w3 w4 w5 w6 w7 w8 w9" /* two segments */, "   ",
    "w9 w8 w7 w6 w5 w4", "w11 w12", "w13 w1 w13", "w2 w2 w2 w2", "w20 w21 w22 w23 w24", "w30", "w31 w31 w8",
};
#define LINE_COUNT (sizeof LINE / sizeof *LINE)

static const rapt_translate_options OPTIONS[OPTION_COUNT] = {
    {TRANSLATE_DEFAULTS},
    {TRANSLATE_DEFAULTS, .beam = 4, .n_best = 3, .length_penalty = 0.6},
    {TRANSLATE_DEFAULTS, .beam = 1, .tokens = true, .alignment = true},
    {TRANSLATE_DEFAULTS, .beam = 2, .prefix = "w5 w6", .max_ratio = 1},
    {TRANSLATE_DEFAULTS, .beam = 7, .n_best = 7, .no_repeat = 1},
    {TRANSLATE_DEFAULTS, .prefix = "w3"},
};

/* One request, and what became of it. */
typedef struct request {
    const char *lines[LINES];
    size_t count;
    rapt_translate_options options;
    rapt_translation want[LINES];
    rapt_code code;
    char message[200];
    bool same;             /* what came is what was wanted */
    atomic_int done;       /* calls of on_done */
    atomic_size_t asked;
    size_t stop_after;     /* questions that are answered with no */
} request;

static void requests_make(request *r, const rapt_model *m, const rapt_engine_model_options *o)
{
    for (size_t i = 0; i < REQUESTS; i++) {
        memset(&r[i], 0, sizeof r[i]);
        r[i].count = i % 13 == 12 ? 0 : 1 + (size_t)rng_below(5, i, i % 3 ? 2 : LINES);
        r[i].options = OPTIONS[rng_below(6, i, OPTION_COUNT)];
        r[i].stop_after = SIZE_MAX;
        for (size_t k = 0; k < r[i].count; k++)
            r[i].lines[k] = LINE[rng_below(7, LINES * i + k, LINE_COUNT)];
        rapt_translate_options own = r[i].options;
        own.compute.threads = 1;
        own.compute.kv_cache = o->compute.kv_cache;
        own.as_tokens = o->translate && o->translate->as_tokens;
        assert_int_equal(rapt_translate(m, r[i].lines, r[i].count, &own, r[i].want, NULL), RAPT_OK);
    }
}

static void requests_free(request *r)
{
    for (size_t i = 0; i < REQUESTS; i++)
        rapt_translations_free(r[i].want, r[i].count);
}

static bool same_hypothesis(const rapt_hypothesis *x, const rapt_hypothesis *y)
{
    bool same = strcmp(x->text, y->text) == 0 && memcmp(&x->score, &y->score, sizeof x->score) == 0 &&
                memcmp(&x->log_prob, &y->log_prob, sizeof x->log_prob) == 0 && x->token_count == y->token_count &&
                x->alignment.targets == y->alignment.targets;
    for (size_t i = 0; same && i < x->token_count; i++)
        same = x->tokens[i] == y->tokens[i];
    for (size_t i = 0; same && i < x->alignment.targets; i++)
        same = memcmp(x->alignment.rows[i].weights, y->alignment.rows[i].weights,
                      (x->alignment.rows[i].count + 1) * sizeof(rapt_real)) == 0;
    return same;
}

static bool same_translation(const rapt_translation *x, const rapt_translation *y)
{
    bool same = x->count == y->count && x->split == y->split && x->source_count == y->source_count && !x->cancelled;
    for (size_t i = 0; same && i < x->count; i++)
        same = same_hypothesis(&x->hypotheses[i], &y->hypotheses[i]);
    return same;
}

static void on_done(void *context, rapt_code code, const char *message, const rapt_translation *out)
{
    request *r = context;
    r->code = code;
    snprintf(r->message, sizeof r->message, "%s", message);
    r->same = !code && out;
    for (size_t i = 0; r->same && i < r->count; i++)
        r->same = same_translation(&out[i], &r->want[i]);
    atomic_fetch_add(&r->done, 1);
}

static bool stop(void *context)
{
    request *r = context;
    return atomic_fetch_add(&r->asked, 1) >= r->stop_after;
}

static rapt_engine *new_engine(int threads)
{
    rapt_error err = {0};
    rapt_engine *e = rapt_engine_new(&ENGINE(.threads = threads), &err);
    if (!e)
        fail_msg("%s", err.message);
    return e;
}

/* Both of a kind: the engine frees the one that it is given. */
static rapt_model *new_model(int kind)
{
    rapt_model *m = case_translation_model(8, kind ? 1 : 2);
    if (kind == 1)
        m->search = (rapt_search_policy){.given = true, .beams = 3, .length_penalty = 0.7, .repetition_penalty = 1.1};
    return m;
}

static rapt_engine_model *add(rapt_engine *e, rapt_model *model, const rapt_engine_model_options *o)
{
    rapt_error err = {0};
    rapt_engine_model *m = rapt_engine_add(e, model, o, &err);
    if (!m)
        fail_msg("%s", err.message);
    return m;
}

static rapt_code queue(rapt_engine_model *m, request *r, rapt_engine_job **job, rapt_error *err)
{
    const rapt_engine_translation t = {.lines = TEXTS_OF(r->lines, r->count), .count = r->count, .options = &r->options,
                                       .on_done = on_done, .stop = stop, .context = r};
    return rapt_engine_translate(m, &t, job, err);
}

/* ---- the same bits -------------------------------------------------------------------------------------------------- */

typedef struct client {
    rapt_engine_model *m;
    request *r;
    size_t number;
    uint64_t cancels; /* a key of what is cancelled; 0: nothing is */
} client;

/* Some of the requests, a few of them at a time. */
static void *client_main(void *context)
{
    const client *c = context;
    rapt_engine_job *jobs[REQUESTS] = {NULL};
    for (size_t i = c->number; i < REQUESTS; i += CLIENTS) {
        rapt_error err = {0};
        if (queue(c->m, &c->r[i], &jobs[i], &err))
            return context; /* not a thing that on_done would count */
        if (i > 3 * CLIENTS) {
            rapt_engine_job_free(jobs[i - 3 * CLIENTS]);
            jobs[i - 3 * CLIENTS] = NULL;
        }
        if (c->cancels && rng_below(c->cancels, i, 4) == 0)
            rapt_engine_cancel(jobs[rng_below(c->cancels, 100 + i, 2) && i >= CLIENTS && jobs[i - CLIENTS] ? i - CLIENTS : i]);
    }
    for (size_t i = 0; i < REQUESTS; i++)
        rapt_engine_job_free(jobs[i]);
    return NULL;
}

static void run_clients(rapt_engine_model *m, request *r, uint64_t cancels)
{
    pthread_t threads[CLIENTS];
    client clients[CLIENTS];
    for (size_t i = 0; i < REQUESTS; i++) {
        atomic_store(&r[i].done, 0);
        atomic_store(&r[i].asked, 0);
        r[i].stop_after = cancels && rng_below(cancels, 200 + i, 4) == 0 ? rng_below(cancels, 300 + i, 30) : SIZE_MAX;
    }
    for (size_t i = 0; i < CLIENTS; i++) {
        clients[i] = (client){m, r, i, cancels};
        assert_int_equal(pthread_create(&threads[i], NULL, client_main, &clients[i]), 0);
    }
    for (size_t i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
}

static void assert_all_same(const request *r)
{
    for (size_t i = 0; i < REQUESTS; i++) {
        assert_int_equal(r[i].done, 1);
        if (r[i].code || !r[i].same)
            fail_msg("request %zu: %s", i, r[i].code ? r[i].message : "other translations");
    }
}

static void check_same(int kind, const rapt_engine_model_options *o)
{
    static request r[REQUESTS];
    rapt_model *m = new_model(kind);
    requests_make(r, m, o);
    for (int threads = 1; threads <= 5; threads += threads == 1 ? 1 : 3) {
        rapt_engine *e = new_engine(threads);
        rapt_engine_model *served = add(e, new_model(kind), o);
        for (int round = 0; round < 3; round++) {
            run_clients(served, r, 0);
            assert_all_same(r);
        }
        const rapt_engine_counts counts = rapt_engine_model_counts(served);
        assert_int_equal(counts.done, 3 * REQUESTS);
        assert_int_equal(counts.waiting + counts.running + counts.failed + counts.cancelled, 0);
        assert_true(counts.steps > 0 && counts.generated_tokens > counts.steps && counts.prompt_tokens > 0);
        rapt_engine_free(e);
    }
    requests_free(r);
    rapt_model_free(m);
}

static void translations_are_those_of_the_program(void **state)
{
    (void)state;
    check_same(0, &ENGINE_MODEL());
    check_same(0, &ENGINE_MODEL(.batch = 1));
    check_same(0, &ENGINE_MODEL(.batch = 5, .compute.kv_cache = RAPT_TYPE_Q8_0, .translate = &TRANSLATE(.as_tokens = true)));
    check_same(1, &ENGINE_MODEL());
}

/* ---- requests that end before they are done ------------------------------------------------------------------------- */

static void cancelled_requests_leave_the_others(void **state)
{
    (void)state;
    static request r[REQUESTS];
    const rapt_engine_model_options o = {ENGINE_MODEL_DEFAULTS, .batch = 6};
    size_t cancelled = 0, done = 0;
    for (int kind = 0; kind < 2; kind++) {
        rapt_model *m = new_model(kind);
        requests_make(r, m, &o);
        rapt_engine *e = new_engine(1 + 2 * kind);
        rapt_engine_model *served = add(e, new_model(kind), &o);
        for (uint64_t seed = 1; seed <= 15; seed++) {
            run_clients(served, r, seed);
            for (size_t i = 0; i < REQUESTS; i++) {
                assert_int_equal(r[i].done, 1);
                assert_true(r[i].code == RAPT_ERR_INTERRUPTED || (!r[i].code && r[i].same));
                assert_string_equal(r[i].message, r[i].code ? "the translation was cancelled" : "");
                cancelled += r[i].code != RAPT_OK;
                done += !r[i].code;
                if (atomic_load(&r[i].asked) > r[i].stop_after)
                    assert_int_equal(r[i].code, RAPT_ERR_INTERRUPTED);
            }
        }
        run_clients(served, r, 0);
        assert_all_same(r);
        const rapt_engine_counts counts = rapt_engine_model_counts(served);
        assert_int_equal(counts.done + counts.cancelled, 16 * REQUESTS);
        rapt_engine_free(e);
        requests_free(r);
        rapt_model_free(m);
    }
    assert_true(cancelled > 100 && done > 100);
}

typedef struct asking {
    atomic_bool stops;
    atomic_size_t asked, ended;
} asking;

/* Asking all who wait takes far longer than the time between two questions. */
static bool asking_stops(void *context)
{
    asking *a = context;
    atomic_fetch_add(&a->asked, 1);
    if (!atomic_load(&a->stops))
        nanosleep(&(struct timespec){.tv_nsec = 10000}, NULL);
    return atomic_load(&a->stops);
}

static void asking_done(void *context, rapt_code code, const char *message, const rapt_translation *out)
{
    asking *a = context;
    (void)message, (void)out;
    atomic_fetch_add(&a->ended, code == RAPT_ERR_INTERRUPTED);
}

/* A long queue costs a step no more than a short one, and all of it ends when it is to stop. */
static void few_of_those_that_wait_are_asked(void **state)
{
    (void)state;
    enum { WAITING = 300, TEXT = 60, STEPS = 100, ASKED = 16, RUNNING = 8 };
    const char *lines[TEXT];
    for (size_t i = 0; i < TEXT; i++)
        lines[i] = "w1 w2 w3";
    asking a = {.stops = false};
    gate g = {.lock = PTHREAD_MUTEX_INITIALIZER, .open = PTHREAD_COND_INITIALIZER};
    rapt_engine *e = new_engine(1);
    rapt_engine_model *m = add(e, new_model(0), &ENGINE_MODEL(.batch = 1));
    rapt_engine_job *gate_job, *jobs[WAITING];
    const rapt_engine_translation r = {.lines = TEXTS_OF(lines, TEXT), .count = TEXT, .on_done = asking_done,
                                       .stop = asking_stops, .context = &a};
    assert_int_equal(rapt_engine_call(m, wait_at_gate, NULL, &g, &gate_job, NULL), RAPT_OK);
    for (size_t i = 0; i < WAITING; i++)
        assert_int_equal(rapt_engine_translate(m, &r, &jobs[i], NULL), RAPT_OK);
    open_gate(&g);
    size_t asked, steps;
    do {
        asked = atomic_load(&a.asked);
        steps = rapt_engine_model_counts(m).steps;
    } while (steps < STEPS);
    assert_true(asked <= (steps + 2) * (2 * ASKED + RUNNING)); /* a slow step has two sweeps: behind it, and before the next */
    atomic_store(&a.stops, true);
    for (size_t i = 0; i < WAITING; i++)
        rapt_engine_job_free(jobs[i]);
    rapt_engine_job_free(gate_job);
    assert_int_equal(atomic_load(&a.ended), WAITING);
    rapt_engine_free(e);
}

/* Freed with requests in all states, of which nobody holds the handle. */
static void engines_end_at_once(void **state)
{
    (void)state;
    static request r[REQUESTS];
    const rapt_engine_model_options o = {ENGINE_MODEL_DEFAULTS, .batch = 2};
    rapt_model *m = new_model(0);
    requests_make(r, m, &o);
    rapt_engine *e = new_engine(2);
    rapt_engine_model *served = add(e, new_model(0), &o);
    for (size_t i = 0; i < REQUESTS; i++)
        assert_int_equal(queue(served, &r[i], NULL, NULL), RAPT_OK);
    rapt_engine_free(e);
    for (size_t i = 0; i < REQUESTS; i++) {
        assert_int_equal(r[i].done, 1);
        assert_true(r[i].code == RAPT_ERR_INTERRUPTED || r[i].same);
    }
    requests_free(r);
    rapt_model_free(m);
}

/* ---- errors --------------------------------------------------------------------------------------------------------- */

static void refuse(rapt_engine_model *m, const char *line, rapt_translate_options o, rapt_code code, const char *message)
{
    rapt_error err = {0};
    request r = {.lines = {line}, .count = 1, .options = o, .stop_after = SIZE_MAX};
    rapt_engine_job *job = NULL;
    assert_int_equal(queue(m, &r, &job, &err), code);
    assert_string_equal(err.message, message);
    assert_null(job);
    assert_int_equal(r.done, 0);
}

static void requests_are_checked(void **state)
{
    (void)state;
    rapt_engine *e = new_engine(1);
    rapt_engine_model *m = add(e, new_model(0), NULL);
    refuse(m, "w1", TRANSLATE(.beam = 70000), RAPT_ERR_VALUE, "a beam of 70000: it is 1 to 65536");
    refuse(m, "w1", TRANSLATE(.prefix = "w1 zyzzyva"), RAPT_ERR_VALUE,
           "the prefix has a word that the model doesn't know");
    refuse(m, "w1 \xff", TRANSLATE(), RAPT_ERR_FORMAT, "byte 4: not UTF-8");
    rapt_engine_free(e);
}

static void slots_and_batches_are_checked(void **state)
{
    (void)state;
    rapt_engine *e = new_engine(1);
    rapt_error slots = {0}, batch = {0};
    assert_null(rapt_engine_add(e, new_model(0), &ENGINE_MODEL(.slots = 0), &slots));
    assert_string_equal(slots.message, "0 slots: a model needs one");
    assert_null(rapt_engine_add(e, new_model(0), &ENGINE_MODEL(.batch = 0), &batch));
    assert_string_equal(batch.message, "a batch of 0 sentences: it is 1 or more");
    rapt_engine_free(e);
}

static void count_hypotheses(void *context, rapt_code code, const char *message, const rapt_translation *out)
{
    (void)message;
    *(size_t *)context = code ? 0 : out[0].count;
}

/* Without options of its own, a request has the options of the model, also the ones that requests may change. */
static void requests_without_options(void **state)
{
    (void)state;
    static const char *const lines[] = {"w1 w2 w3"};
    size_t without = 0, with = 0;
    rapt_engine_job *job = NULL;
    rapt_engine *e = new_engine(1);
    rapt_engine_model *m = add(e, new_model(0), &ENGINE_MODEL(.translate = &TRANSLATE(.beam = 3, .n_best = 2)));
    rapt_engine_translation r = {.lines = TEXTS_OF(lines, 1), .count = 1, .on_done = count_hypotheses, .context = &without};
    assert_int_equal(rapt_engine_translate(m, &r, &job, NULL), RAPT_OK);
    rapt_engine_job_free(job);
    r.options = &TRANSLATE();
    r.context = &with;
    assert_int_equal(rapt_engine_translate(m, &r, &job, NULL), RAPT_OK);
    rapt_engine_job_free(job);
    assert_int_equal(without, 2);
    assert_int_equal(with, 1);
    rapt_engine_free(e);
}

/* A line with w40 gives numbers that are not finite. */
static rapt_model *new_failing_model(void)
{
    rapt_model *m = new_model(0);
    size_t count;
    int32_t *ids;
    assert_int_equal(rapt_tokenizer_encode(m->translation.source, "w40", &ids, &count, NULL), RAPT_OK);
    const rapt_transformer *net = m->translation.net;
    net->encoder.input.embedding.weight->value.data[(size_t)ids[0] * net->config.block.d_model] = NAN;
    free(ids);
    return m;
}

static void failures_are_a_requests_own(void **state)
{
    (void)state;
    static request r[REQUESTS];
    const rapt_engine_model_options o = {ENGINE_MODEL_DEFAULTS};
    rapt_model *m = new_failing_model();
    requests_make(r, m, &o);
    for (int threads = 1; threads <= 3; threads += 2) {
        rapt_engine *e = new_engine(threads);
        rapt_engine_model *served = add(e, new_failing_model(), &o);
        rapt_engine_job *jobs[REQUESTS], *failing[REQUESTS / 4];
        request bad[REQUESTS / 4];
        for (size_t i = 0; i < REQUESTS; i++) {
            atomic_store(&r[i].done, 0);
            assert_int_equal(queue(served, &r[i], &jobs[i], NULL), RAPT_OK);
            if (i % 4 != 3)
                continue;
            bad[i / 4] = (request){.lines = {"w1 w2", "w3", "w7 w40", "w8 w40", "w9"}, .count = 5, .options = r[i].options,
                                   .stop_after = SIZE_MAX};
            assert_int_equal(queue(served, &bad[i / 4], &failing[i / 4], NULL), RAPT_OK);
        }
        for (size_t i = 0; i < REQUESTS; i++)
            rapt_engine_job_free(jobs[i]);
        for (size_t i = 0; i < REQUESTS / 4; i++) {
            rapt_engine_job_free(failing[i]);
            assert_int_equal(bad[i].code, RAPT_ERR_NOT_FINITE);
            assert_string_equal(bad[i].message, "\"w7 w40\": the model computes what is not a finite number");
        }
        assert_all_same(r);
        assert_int_equal(rapt_engine_model_counts(served).failed, REQUESTS / 4);
        rapt_engine_free(e);
    }
    requests_free(r);
    rapt_model_free(m);
}

/* ---- turns ---------------------------------------------------------------------------------------------------------- */

enum { LONG = 3000, SHORT = 20 };

typedef struct turns {
    atomic_int done; /* requests */
    int long_at;     /* how many were done before the long one */
} turns;

static void long_done(void *context, rapt_code code, const char *message, const rapt_translation *out)
{
    turns *t = context;
    (void)message;
    t->long_at = code || !out ? -1 : atomic_fetch_add(&t->done, 1);
}

static void short_done(void *context, rapt_code code, const char *message, const rapt_translation *out)
{
    turns *t = context;
    (void)message;
    if (!code && out)
        atomic_fetch_add(&t->done, 1);
}

/* Short requests behind a long one are done before it. */
static void short_requests_pass_long_ones(void **state)
{
    (void)state;
    static const char *lines[LONG];
    for (size_t i = 0; i < LONG; i++)
        lines[i] = LINE[i % LINE_COUNT];
    for (int threads = 1; threads <= 2; threads++) {
        turns t = {.long_at = -1};
        rapt_engine *e = new_engine(threads);
        rapt_engine_model *m = add(e, new_model(0), &ENGINE_MODEL(.batch = 16));
        rapt_engine_job *jobs[SHORT + 2];
        gate g = {.lock = PTHREAD_MUTEX_INITIALIZER, .open = PTHREAD_COND_INITIALIZER};
        const rapt_engine_translation all = {.lines = TEXTS_OF(lines, LONG), .count = LONG, .options = &TRANSLATE(.beam = 4),
                                             .on_done = long_done,
                                             .context = &t};
        const rapt_engine_translation one = {.lines = TEXTS_OF(lines, 1), .count = 1, .on_done = short_done, .context = &t};
        assert_int_equal(rapt_engine_call(m, wait_at_gate, NULL, &g, &jobs[0], NULL), RAPT_OK);
        assert_int_equal(rapt_engine_translate(m, &all, &jobs[1], NULL), RAPT_OK);
        for (size_t i = 0; i < SHORT; i++)
            assert_int_equal(rapt_engine_translate(m, &one, &jobs[i + 2], NULL), RAPT_OK);
        open_gate(&g);
        for (size_t i = 0; i < SHORT + 2; i++)
            rapt_engine_job_free(jobs[i]);
        assert_int_equal(t.done, SHORT + 1);
        assert_int_equal(t.long_at, SHORT);
        rapt_engine_free(e);
    }
}

/* Whenever a model gets a fault, its request ends with the reason, and the other model's has its bits. */
static void faults_are_a_models_own(void **state)
{
    (void)state;
    enum { MOST = 2000 };
    request r[REQUESTS];
    for (int threads = 1; threads <= 2; threads++) {
        rapt_engine *e = new_engine(threads);
        rapt_engine_model *whole = add(e, new_model(0), &ENGINE_MODEL());
        requests_make(r, rapt_engine_model_of(whole), &ENGINE_MODEL());
        bool fine = false;
        for (size_t sound = 0; sound < MOST && !fine; sound++) {
            fault_case f = {.sound = sound};
            rapt_engine_job *jobs[2] = {NULL};
            rapt_engine_model *m = add(e, new_model(0), &ENGINE_MODEL(.fault = fault_after, .fault_context = &f));
            const rapt_code code = rapt_engine_translate(m, &(rapt_engine_translation){.lines = TEXTS_OF(r[0].lines, r[0].count),
                                                         .count = r[0].count,
                                                         .options = &r[0].options, .on_done = on_done, .context = &r[0]},
                                                         &jobs[0], NULL);
            assert_int_equal(code, sound == 0 ? RAPT_ERR_IO : RAPT_OK);
            assert_int_equal(rapt_engine_translate(whole, &(rapt_engine_translation){.lines = TEXTS_OF(r[1].lines, r[1].count),
                                                   .count = r[1].count,
                                                   .options = &r[1].options, .on_done = on_done, .context = &r[1]}, &jobs[1],
                                                   NULL), RAPT_OK);
            rapt_engine_job_free(jobs[0]);
            rapt_engine_job_free(jobs[1]);
            assert_true(r[1].same);
            fine = sound > 0 && !r[0].code;
            assert_true(sound == 0 || (fine ? r[0].same : r[0].code == RAPT_ERR_IO && strcmp(r[0].message, FAULT_MESSAGE) == 0));
            rapt_engine_remove(m);
        }
        assert_true(fine);
        requests_free(r);
        rapt_engine_free(e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(translations_are_those_of_the_program), cmocka_unit_test(cancelled_requests_leave_the_others),
        cmocka_unit_test(few_of_those_that_wait_are_asked),
        cmocka_unit_test(engines_end_at_once), cmocka_unit_test(requests_are_checked),
        cmocka_unit_test(slots_and_batches_are_checked), cmocka_unit_test(requests_without_options),
        cmocka_unit_test(failures_are_a_requests_own), cmocka_unit_test(short_requests_pass_long_ones),
        cmocka_unit_test(faults_are_a_models_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
