/* tests/decode/test_generator.c: one generator, many runs: a text that is continued equals one that was given whole, samples of
 * one prefill equal samples of a fresh one, a cancelled run leaves the generator usable; log-probabilities are from the model's
 * softmax; logits are changed by a callback; what is refused.
 * labels: threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/generate_case.h"
#include "options.h"

#include <math.h>
#include <pthread.h>

enum { RUN = 9 }; /* tokens of a run: a few of them move the window of LM_CONTEXT */

typedef struct setting {
    rapt_model m;
    rapt_tape *t;
} setting;

static setting new_setting(size_t variant)
{
    rapt_lm_config c = lm_variant(variant);
    c.embedding_std = c.tied ? 0.15 : 2;
    return (setting){case_model(lm_model(&c), case_characters()), model_tape(NULL, 1)};
}

static void free_setting(setting *s)
{
    rapt_tape_free(s->t);
    rapt_lm_free(s->m.language.net);
    rapt_tokenizer_free(s->m.language.tokenizer);
}

static rapt_generator *new_generator(const rapt_model *m, size_t tokens)
{
    rapt_error err = {0};
    const rapt_generate_options o = {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 1, .seed = 3},
                                     .max_tokens = tokens, .compute.threads = 1};
    rapt_generator *g = rapt_generator_new(m, &o, &err);
    if (!g)
        fail_msg("%s", err.message);
    return g;
}

static rapt_generated run(rapt_generator *g, uint64_t sample)
{
    rapt_error err = {0};
    rapt_generated result;
    if (rapt_generator_run(g, sample, &result, &err))
        fail_msg("%s", err.message);
    return result;
}

static void must(rapt_code code)
{
    assert_int_equal(code, RAPT_OK);
}

static void assert_same(const rapt_generated *a, const rapt_generated *b)
{
    assert_int_equal(a->token_count, b->token_count);
    assert_memory_equal(a->tokens, b->tokens, a->token_count * sizeof *a->tokens);
    assert_memory_equal(a->log_probs, b->log_probs, a->token_count * sizeof *a->log_probs);
    assert_string_equal(a->text, b->text);
    assert_int_equal(a->finish, b->finish);
}

/* Runs one after the other are one long run; ids, text and log-probabilities. */
static void runs_continue_each_other(void **state)
{
    (void)state;
    for (size_t variant = 3; variant < LM_VARIANTS; variant += 40) {
        setting s = new_setting(variant);
        rapt_generator *whole = new_generator(&s.m, 3 * RUN), *g = new_generator(&s.m, RUN);
        must(rapt_generator_begin(whole, "abc", 3, NULL));
        must(rapt_generator_begin(g, "abc", 3, NULL));
        rapt_generated all = run(whole, 0);
        assert_int_equal(all.token_count, 3 * RUN);
        for (size_t i = 0; i < 3; i++) {
            rapt_generated part = run(g, 0);
            assert_int_equal(part.prompt_tokens, 3 + i * RUN);
            assert_memory_equal(part.tokens, all.tokens + i * RUN, RUN * sizeof *part.tokens);
            assert_memory_equal(part.log_probs, all.log_probs + i * RUN, RUN * sizeof *part.log_probs);
            rapt_generated_free(&part);
        }
        assert_int_equal(rapt_generator_tokens(g), 3 + 3 * RUN);
        rapt_generated_free(&all);
        rapt_generator_free(g);
        rapt_generator_free(whole);
        free_setting(&s);
    }
}

/* A text that is added to, by text or tokens, is one that was given as it is then. */
static void additions_are_part_of_the_text(void **state)
{
    (void)state;
    setting s = new_setting(43);
    rapt_generator *g = new_generator(&s.m, RUN), *fresh = new_generator(&s.m, RUN);
    must(rapt_generator_begin(g, "abc", 3, NULL));
    rapt_generated first = run(g, 0);
    must(rapt_generator_append(g, "tsr", 3, NULL));
    must(rapt_generator_append(g, "", 0, NULL));
    must(rapt_generator_append_tokens(g, (int32_t[]){4, 5}, 2, NULL));
    rapt_generated second = run(g, 1);
    assert_int_equal(second.prompt_tokens, 3 + RUN + 3 + 2);
    must(rapt_generator_begin(fresh, "abc", 3, NULL));
    must(rapt_generator_append_tokens(fresh, first.tokens, first.token_count, NULL));
    must(rapt_generator_append(fresh, "tsr", 3, NULL));
    must(rapt_generator_append_tokens(fresh, (int32_t[]){4, 5}, 2, NULL));
    rapt_generated anew = run(fresh, 1);
    assert_same(&anew, &second);
    rapt_generated_free(&first);
    rapt_generated_free(&second);
    rapt_generated_free(&anew);
    rapt_generator_free(g);
    rapt_generator_free(fresh);
    free_setting(&s);
}

/* Several samples of one prompt, also one that fills the window, and of a text in its middle. */
static void samples_of_one_prefill(void **state)
{
    (void)state;
    static const char *const prompts[] = {"abc", "abcdefghijkl", "abcdefghijklmnopqrstabcdefg"};
    for (size_t i = 0; i < 3; i++) {
        setting s = new_setting(20 + 40 * i);
        rapt_generator *g = new_generator(&s.m, RUN);
        size_t size = strlen(prompts[i]);
        must(rapt_generator_begin(g, prompts[i], size, NULL));
        for (uint64_t sample = 0; sample < 4; sample++) {
            rapt_generator *fresh = new_generator(&s.m, RUN);
            must(rapt_generator_begin(fresh, prompts[i], size, NULL));
            rapt_generated got = run(g, sample), want = run(fresh, sample);
            assert_same(&want, &got);
            must(rapt_generator_rewind(g, size + 4, NULL));
            rapt_generated other = run(g, sample); /* the same tokens from there on */
            assert_memory_equal(other.tokens, want.tokens + 4, (RUN - 4) * sizeof *want.tokens);
            must(rapt_generator_rewind(g, size, NULL));
            rapt_generated_free(&got);
            rapt_generated_free(&want);
            rapt_generated_free(&other);
            rapt_generator_free(fresh);
        }
        rapt_generator_free(g);
        free_setting(&s);
    }
}

/* The first token's, from logits computed here. */
static void log_probabilities_are_the_softmax(void **state)
{
    (void)state;
    setting s = new_setting(3);
    const rapt_generate_options o = {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .greedy = true,
                                                                   .biases = (rapt_logit_bias[]){{7, 100}}, .bias_count = 1},
                                     .max_tokens = 1, .compute.threads = 1};
    rapt_generated got;
    double sum = 0;
    must(rapt_generate(&s.m, "abc", &o, &got, NULL));
    rapt_real *x = lm_whole(s.t, s.m.language.net, (int32_t[]){0, 1, 2}, 1, 3);
    for (size_t i = 0; i < MODEL_VOCAB; i++)
        sum += exp((double)x[2 * MODEL_VOCAB + i]);
    assert_int_equal(got.tokens[0], 7);
    double want = (double)x[2 * MODEL_VOCAB + 7] - log(sum); /* without the bias */
    if (!(fabs(got.log_probs[0] - want) < 1e-5))
        fail_msg("%g, not %g", got.log_probs[0], want);
    free(x);
    rapt_generated_free(&got);
    free_setting(&s);
}

/* ---- cancelling --------------------------------------------------------------------------------------------------- */

typedef struct canceller {
    rapt_generator *g;
    size_t pieces;
} canceller;

static void *cancel(void *context)
{
    rapt_generator_cancel(context);
    return NULL;
}

/* Text of the third token: another thread cancels. */
static rapt_code cancel_at_third(void *context, const char *text, size_t size, rapt_error *err)
{
    canceller *c = context;
    pthread_t thread;
    (void)text;
    (void)size;
    (void)err;
    if (++c->pieces == 3) {
        assert_int_equal(pthread_create(&thread, NULL, cancel, c->g), 0);
        pthread_join(thread, NULL);
    }
    return RAPT_OK;
}

static void cancelled_runs(void **state)
{
    (void)state;
    setting s = new_setting(3);
    canceller c = {0};
    rapt_error err = {0};
    rapt_generated got, rest;
    const rapt_generate_options o = {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 1, .seed = 3},
                                     .max_tokens = 2 * RUN, .compute.threads = 1,
                                     .on_text = cancel_at_third, .context = &c};
    rapt_generator *g = c.g = rapt_generator_new(&s.m, &o, NULL), *whole = new_generator(&s.m, 3 + 2 * RUN);
    must(rapt_generator_begin(g, "abc", 3, NULL));
    must(rapt_generator_begin(whole, "abc", 3, NULL));
    assert_int_equal(rapt_generator_run(g, 0, &got, &err), RAPT_ERR_INTERRUPTED);
    assert_string_equal(err.message, "the generation was cancelled");
    assert_int_equal(got.token_count, 3);
    assert_int_equal(got.finish, RAPT_FINISH_NONE);
    rest = run(g, 0); /* as if nothing had happened */
    rapt_generated all = run(whole, 0);
    assert_memory_equal(got.tokens, all.tokens, 3 * sizeof *got.tokens);
    assert_int_equal(rest.token_count, 2 * RUN);
    assert_memory_equal(rest.tokens, all.tokens + 3, 2 * RUN * sizeof *rest.tokens);
    rapt_generated_free(&got);
    rapt_generator_cancel(g); /* the next run */
    assert_int_equal(rapt_generator_run(g, 0, &got, NULL), RAPT_ERR_INTERRUPTED);
    assert_int_equal(got.token_count, 0);
    rapt_generated_free(&got);
    rapt_generated_free(&rest);
    rapt_generated_free(&all);
    rapt_generator_free(g);
    rapt_generator_free(whole);
    free_setting(&s);
}

/* A cancel that comes with a run's last token is that run's. */
static void cancelled_at_the_last_token(void **state)
{
    (void)state;
    setting s = new_setting(3);
    canceller c = {0};
    rapt_generated got, rest;
    const rapt_generate_options o = {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 1, .seed = 3}, .max_tokens = 3,
                                     .compute.threads = 1,
                                     .on_text = cancel_at_third, .context = &c};
    rapt_generator *g = c.g = rapt_generator_new(&s.m, &o, NULL);
    must(rapt_generator_begin(g, "abc", 3, NULL));
    assert_int_equal(rapt_generator_run(g, 0, &got, NULL), RAPT_ERR_INTERRUPTED);
    assert_int_equal(got.token_count, 3);
    rest = run(g, 0);
    assert_int_equal(rest.token_count, 3);
    rapt_generated_free(&got);
    rapt_generated_free(&rest);
    rapt_generator_free(g);
    free_setting(&s);
}

static rapt_code end_the_run(void *context, const char *text, size_t size, rapt_error *err)
{
    (void)context;
    (void)text;
    (void)size;
    (void)err;
    return RAPT_ERR_IO;
}

/* What a run returns is its own failure, whatever `err` held before, and a callback need not leave a reason. */
static void codes_of_their_own(void **state)
{
    (void)state;
    setting s = new_setting(3);
    rapt_error earlier = {RAPT_ERR_FORMAT, "earlier"}, err = {0};
    const rapt_generate_options o = {GENERATE_DEFAULTS, .max_tokens = 3, .compute.threads = 1, .on_text = end_the_run};
    rapt_generator *g = rapt_generator_new(&s.m, &o, NULL);
    assert_int_equal(rapt_generator_run(g, 0, NULL, &earlier), RAPT_ERR_VALUE); /* no text */
    assert_string_equal(earlier.message, "earlier");
    assert_int_equal(rapt_generate(&s.m, "ab!", &o, NULL, &earlier), RAPT_ERR_VALUE);
    must(rapt_generator_begin(g, "abc", 3, NULL));
    assert_int_equal(rapt_generator_run(g, 0, NULL, &err), RAPT_ERR_IO);
    assert_int_equal(err.code, RAPT_ERR_IO);
    const rapt_generate_options precise = {GENERATE_DEFAULTS, .compute.type = (rapt_type)7};
    assert_null(rapt_generator_new(&s.m, &precise, NULL));
    rapt_generator_free(g);
    free_setting(&s);
}

/* ---- the end of a text ---------------------------------------------------------------------------------------------- */

/* Any of the tokens that a model names ends a text; no text is empty where the first of them begins one. */
static void several_ends_of_text(void **state)
{
    (void)state;
    setting s = new_setting(3);
    rapt_generator *g = new_generator(&s.m, RUN);
    must(rapt_generator_begin(g, "abc", 3, NULL));
    rapt_generated all = run(g, 0);
    size_t at = 1;
    while (at + 1 < RUN && all.tokens[at] == all.tokens[0])
        at++;
    int32_t end = all.tokens[at];
    s.m.language.end_of_text[0] = MODEL_VOCAB - 1 == end ? 0 : MODEL_VOCAB - 1;
    s.m.language.end_of_text[1] = end;
    s.m.language.end_of_text_count = 2;
    must(rapt_generator_begin(g, "abc", 3, NULL));
    rapt_generated got = run(g, 0);
    assert_int_equal(got.finish, RAPT_FINISH_END_OF_TEXT);
    assert_int_equal(got.token_count, at);
    assert_memory_equal(got.tokens, all.tokens, at * sizeof *got.tokens);
    must(rapt_generator_begin(g, "", 0, NULL));
    assert_int_equal(rapt_generator_tokens(g), 1);
    rapt_generated_free(&all);
    rapt_generated_free(&got);
    rapt_generator_free(g);
    free_setting(&s);
}

/* ---- refusals ------------------------------------------------------------------------------------------------------- */

static void what_is_refused(void **state)
{
    (void)state;
    setting s = new_setting(3);
    rapt_error err = {0}, none = {0}, far = {0}, id = {0}, task = {0}, bias = {0};
    rapt_generated got;
    rapt_generator *g = new_generator(&s.m, RUN);
    assert_int_equal(rapt_generator_run(g, 0, &got, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "there is no text to continue");
    assert_null(got.tokens);
    rapt_generated_free(&got);
    assert_int_equal(rapt_generator_begin_tokens(g, NULL, 0, &none), RAPT_ERR_VALUE);
    assert_string_equal(none.message, "a prompt of at least one token is needed");
    must(rapt_generator_begin(g, "abc", 3, NULL));
    assert_int_equal(rapt_generator_rewind(g, 4, &far), RAPT_ERR_VALUE);
    assert_string_equal(far.message, "a text of 3 tokens does not go back to 4");
    assert_int_equal(rapt_generator_rewind(g, 0, NULL), RAPT_ERR_VALUE);
    assert_int_equal(rapt_generator_append_tokens(g, (int32_t[]){1, MODEL_VOCAB}, 2, &id), RAPT_ERR_VALUE);
    assert_string_equal(id.message, "token 1 of the prompt is 53; the model knows 53");
    assert_int_equal(rapt_generator_begin(g, "ab!", 3, NULL), RAPT_ERR_VALUE);
    assert_int_equal(rapt_generator_tokens(g), 3); /* the text is as it was */
    const rapt_model translation = {.task = RAPT_TASK_TRANSLATION};
    assert_null(rapt_generator_new(&translation, NULL, &task));
    assert_int_equal(task.code, RAPT_ERR_VALUE);
    const rapt_logit_bias beyond = {MODEL_VOCAB, 1};
    const rapt_generate_options o = {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .biases = &beyond, .bias_count = 1}};
    assert_null(rapt_generator_new(&s.m, &o, &bias));
    assert_string_equal(bias.message, "logit bias of token 53; the model knows 0 to 52");
    rapt_generator_free(g);
    free_setting(&s);
}

/* ---- token by token ------------------------------------------------------------------------------------------------- */

/* A run in parts: what the tokens hand out, and what the result holds. */
static void in_parts(rapt_generator *g, uint64_t sample, rapt_generated *out)
{
    rapt_error err = {0};
    rapt_generated_token token;
    char text[MOST_TEXT] = "";
    size_t count = 0, size = 0;
    int32_t ids[3 * RUN];
    double log_probs[3 * RUN];
    must(rapt_generator_start(g, sample, &err));
    while (rapt_generator_next(g, &token, &err)) {
        memcpy(text + size, token.text, token.size);
        size += token.size;
        ids[count] = token.id;
        log_probs[count++] = token.log_prob;
    }
    assert_int_equal(err.code, RAPT_OK);
    must(rapt_generator_finish(g, out, &err));
    assert_int_equal(count, out->token_count);
    assert_memory_equal(ids, out->tokens, count * sizeof *ids);
    assert_memory_equal(log_probs, out->log_probs, count * sizeof *log_probs);
    assert_true(size <= out->text_size);
    assert_memory_equal(text, out->text, size); /* the rest was held back */
}

static void tokens_one_by_one_are_a_run(void **state)
{
    static const char *const stops[] = {"q", "abc"};
    (void)state;
    for (size_t beam = 1; beam <= 3; beam += 2) {
        setting s = new_setting(43);
        const rapt_generate_options o = {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = beam > 1 ? 0 : 1,
                                                                       .seed = 3}, .max_tokens = 3 * RUN,
                                         .compute.threads = 1, .stops = stops, .stop_count = 2, .beam = beam};
        rapt_generator *g = rapt_generator_new(&s.m, &o, NULL), *parts = rapt_generator_new(&s.m, &o, NULL);
        for (uint64_t sample = 0; sample < 20; sample++) {
            rapt_generated whole, out;
            must(rapt_generator_begin(g, "ab", 2, NULL));
            must(rapt_generator_begin(parts, "ab", 2, NULL));
            whole = run(g, sample);
            in_parts(parts, sample, &out);
            assert_same(&whole, &out);
            assert_true(whole.score == out.score);
            assert_int_equal(rapt_generator_tokens(g), rapt_generator_tokens(parts));
            rapt_generated_free(&whole);
            rapt_generated_free(&out);
        }
        rapt_generator_free(g);
        rapt_generator_free(parts);
        free_setting(&s);
    }
}

/* The most probable tokens that come with each token, against another generator's at the same place. */
static void tokens_come_with_the_most_probable(void **state)
{
    enum { TOP = 4 };
    (void)state;
    setting s = new_setting(43);
    const rapt_generate_options o = {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 1}, .max_tokens = 3 * RUN,
                                     .top = TOP, .compute.threads = 1};
    rapt_generator *g = rapt_generator_new(&s.m, &o, NULL), *at = rapt_generator_new(&s.m, NULL, NULL);
    rapt_generated_token token;
    rapt_error err = {0};
    must(rapt_generator_begin(g, "ab", 2, NULL));
    must(rapt_generator_begin(at, "ab", 2, NULL));
    must(rapt_generator_start(g, 0, NULL));
    while (rapt_generator_next(g, &token, &err)) {
        int32_t ids[TOP];
        double probabilities[TOP];
        must(rapt_generator_likeliest(at, TOP, ids, probabilities, &err));
        assert_int_equal(token.count, TOP);
        assert_memory_equal(token.ids, ids, sizeof ids);
        for (size_t i = 0; i < TOP; i++) {
            assert_true(fabs(exp(token.log_probs[i]) - probabilities[i]) < 1e-6);
            assert_true(token.ids[i] != token.id || token.log_probs[i] == token.log_prob);
        }
        must(rapt_generator_append_tokens(at, &token.id, 1, &err));
    }
    assert_int_equal(err.code, RAPT_OK);
    rapt_generator_free(g);
    rapt_generator_free(at);
    const rapt_generate_options all = {GENERATE_DEFAULTS, .max_tokens = 1, .top = 1000 * MODEL_VOCAB};
    g = rapt_generator_new(&s.m, &all, NULL);
    must(rapt_generator_begin(g, "ab", 2, NULL));
    must(rapt_generator_start(g, 0, NULL));
    assert_true(rapt_generator_next(g, &token, &err));
    assert_int_equal(token.count, MODEL_VOCAB);
    rapt_generator_free(g);
    free_setting(&s);
}

/* Runs that end early, that nobody finishes, and calls without a run. */
static void runs_in_parts_end_anywhere(void **state)
{
    (void)state;
    setting s = new_setting(43);
    rapt_generator *g = new_generator(&s.m, RUN);
    rapt_generated_token token;
    rapt_generated out;
    rapt_error err = {0};
    assert_false(rapt_generator_next(g, &token, &err));
    assert_int_equal(err.code, RAPT_ERR_VALUE);
    assert_int_equal(rapt_generator_finish(g, &out, NULL), RAPT_ERR_VALUE);
    must(rapt_generator_start(g, 0, NULL));
    assert_false(rapt_generator_next(g, &token, NULL)); /* there is no text */
    err = (rapt_error){0};
    assert_false(rapt_generator_next(g, &token, &err)); /* a failure stays */
    assert_int_equal(err.code, RAPT_ERR_VALUE);
    assert_int_equal(rapt_generator_finish(g, NULL, NULL), RAPT_ERR_VALUE);
    must(rapt_generator_begin(g, "abc", 3, NULL));
    rapt_generated whole = run(g, 0);
    for (size_t n = 0; n < RUN; n++) {
        must(rapt_generator_begin(g, "abc", 3, NULL));
        must(rapt_generator_start(g, 0, NULL));
        for (size_t i = 0; i < n; i++) {
            assert_true(rapt_generator_next(g, &token, NULL));
            assert_int_equal(token.id, whole.tokens[i]);
        }
        if (n % 3 == 0) { /* finished early */
            must(rapt_generator_finish(g, &out, NULL));
            assert_int_equal(out.token_count, n);
            assert_int_equal(rapt_generator_tokens(g), 3 + n);
            rapt_generated_free(&out);
        } else if (n % 3 == 1) { /* another begins */
            must(rapt_generator_rewind(g, 3, NULL));
            assert_false(rapt_generator_next(g, &token, NULL));
            rapt_generated again = run(g, 0);
            assert_same(&whole, &again);
            rapt_generated_free(&again);
        } else { /* cancelled */
            rapt_generator_cancel(g);
            err = (rapt_error){0};
            assert_false(rapt_generator_next(g, &token, &err));
            assert_int_equal(err.code, RAPT_ERR_INTERRUPTED);
        }
    }
    must(rapt_generator_begin(g, "abc", 3, NULL));
    must(rapt_generator_start(g, 0, NULL));
    while (rapt_generator_next(g, &token, NULL))
        ;
    assert_true(token.id == 0 && token.size == 0);
    rapt_generator_cancel(g); /* a cancel is for the run in progress, even at its end */
    assert_int_equal(rapt_generator_finish(g, &out, NULL), RAPT_ERR_INTERRUPTED);
    assert_int_equal(out.finish, RAPT_FINISH_NONE);
    rapt_generated_free(&out);
    must(rapt_generator_start(g, 0, NULL));
    rapt_generator_cancel(g);
    must(rapt_generator_rewind(g, 3, NULL));
    rapt_generated again = run(g, 0);
    rapt_generated_free(&again);
    must(rapt_generator_start(g, 0, NULL));
    rapt_generator_next(g, &token, NULL);
    rapt_generator_free(g); /* with a run in progress */
    rapt_generated_free(&whole);
    free_setting(&s);
}

/* ---- changed logits ----------------------------------------------------------------------------------------------- */

typedef struct change {
    size_t calls, next_step; /* what the next call has to get */
    int32_t excluded;        /* -1: none */
    int32_t raised;          /* by 2; -1: none */
    rapt_code code;          /* that ends the run at its third token */
    rapt_real put;           /* at token 0, if it is not 0 */
} change;

static rapt_code change_logits(void *context, size_t step, rapt_real *logits, size_t vocab, rapt_error *err)
{
    change *c = context;
    (void)err;
    assert_int_equal(step, c->next_step++);
    assert_int_equal(vocab, MODEL_VOCAB);
    c->calls++;
    if (c->excluded >= 0)
        logits[c->excluded] = -INFINITY;
    if (c->raised >= 0)
        logits[c->raised] += 2;
    if (c->put != 0)
        logits[0] = c->put;
    return step == 2 ? c->code : RAPT_OK;
}

/* A run of `model` after "abc" with what `c` changes; NULL: nothing is asked. */
static rapt_code changed_run(const rapt_model *model, change *c, const rapt_logit_bias *bias, bool greedy, rapt_generated *out,
                             rapt_error *err)
{
    const rapt_generate_options o = {GENERATE_DEFAULTS, .max_tokens = RUN, .compute.threads = 1,
                                     .sample = {SAMPLE_DEFAULTS, .temperature = 1, .greedy = greedy, .biases = bias,
                                                .bias_count = bias != NULL},
                                     .on_logits = c ? change_logits : NULL, .context = c};
    rapt_generator *g = rapt_generator_new(model, &o, err);
    assert_non_null(g);
    must(rapt_generator_begin(g, "abc", 3, NULL));
    rapt_code code = rapt_generator_run(g, 0, out, err);
    rapt_generator_free(g);
    return code;
}

static void logits_can_be_changed(void **state)
{
    (void)state;
    for (size_t variant = 3; variant < LM_VARIANTS; variant += 40) {
        setting s = new_setting(variant);
        change idle = {.excluded = -1, .raised = -1}, raise = {.excluded = -1, .raised = 5};
        rapt_generated plain, same;
        must(changed_run(&s.m, NULL, NULL, false, &plain, NULL));
        must(changed_run(&s.m, &idle, NULL, false, &same, NULL));
        assert_int_equal(idle.calls, RUN);
        assert_same(&plain, &same);
        rapt_generated_free(&plain);
        rapt_generated_free(&same);
        /* what a logit bias does, too */
        must(changed_run(&s.m, NULL, &(rapt_logit_bias){5, 2}, false, &plain, NULL));
        must(changed_run(&s.m, &raise, NULL, false, &same, NULL));
        assert_same(&plain, &same);
        rapt_generated_free(&plain);
        rapt_generated_free(&same);
        free_setting(&s);
    }
}

/* The second most probable token is taken in place of the first, with its own log-probability. */
static void tokens_can_be_excluded(void **state)
{
    (void)state;
    setting s = new_setting(43);
    int32_t ids[2];
    double p[2];
    rapt_generator *g = new_generator(&s.m, RUN);
    must(rapt_generator_begin(g, "abc", 3, NULL));
    must(rapt_generator_likeliest(g, 2, ids, p, NULL));
    rapt_generator_free(g);
    change c = {.excluded = ids[0], .raised = -1};
    rapt_generated out;
    must(changed_run(&s.m, &c, NULL, true, &out, NULL));
    assert_int_equal(out.tokens[0], ids[1]);
    assert_true(fabs(out.log_probs[0] - log(p[1])) < 1e-5);
    for (size_t i = 0; i < out.token_count; i++)
        assert_int_not_equal(out.tokens[i], ids[0]);
    rapt_generated_free(&out);
    free_setting(&s);
}

static void what_changes_logits_can_fail(void **state)
{
    (void)state;
    setting s = new_setting(43);
    rapt_generated out;
    rapt_error err = {0};
    change fails = {.excluded = -1, .raised = -1, .code = RAPT_ERR_IO};
    assert_int_equal(changed_run(&s.m, &fails, NULL, false, &out, &err), RAPT_ERR_IO);
    assert_string_equal(err.message, "on_logits ended the run");
    assert_int_equal(out.token_count, 2);
    assert_int_equal(out.finish, RAPT_FINISH_NONE);
    rapt_generated_free(&out);
    change wrong = {.excluded = -1, .raised = -1, .put = NAN};
    assert_int_equal(changed_run(&s.m, &wrong, NULL, true, &out, NULL), RAPT_ERR_NOT_FINITE);
    rapt_generated_free(&out);
    const rapt_generate_options beam = {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS}, .max_tokens = RUN, .beam = 3,
                                        .on_logits = change_logits, .context = &wrong};
    err = (rapt_error){0};
    assert_null(rapt_generator_new(&s.m, &beam, &err));
    assert_int_equal(err.code, RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "takes no callback of logits"));
    free_setting(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_continue_each_other), cmocka_unit_test(additions_are_part_of_the_text),
        cmocka_unit_test(samples_of_one_prefill),   cmocka_unit_test(log_probabilities_are_the_softmax),
        cmocka_unit_test(cancelled_runs),           cmocka_unit_test(several_ends_of_text),
        cmocka_unit_test(what_is_refused),          cmocka_unit_test(cancelled_at_the_last_token),
        cmocka_unit_test(codes_of_their_own),       cmocka_unit_test(tokens_come_with_the_most_probable),
        cmocka_unit_test(tokens_one_by_one_are_a_run),
        cmocka_unit_test(runs_in_parts_end_anywhere),
        cmocka_unit_test(logits_can_be_changed),
        cmocka_unit_test(tokens_can_be_excluded),
        cmocka_unit_test(what_changes_logits_can_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
