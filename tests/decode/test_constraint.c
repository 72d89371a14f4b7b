/* tests/decode/test_constraint.c: masks of tokens against the bytes of each token; texts of a random model, which parse and obey,
 * in a generator and in an engine, with prompt lookup and without.
 * labels: threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buffer.h"
#include "decode/schema/schema_effects.h"
#include "decode/schema/schema_mask.h"
#include "decode/schema_case.h"
#include "engine/lm_requests.h"

#include <jansson.h>
#include <math.h>

/* ---- masks ---------------------------------------------------------------------------------------------------- */

#define LONG_MARKER "<a marker of more than thirty-two bytes>"

static rapt_tokenizer *pairs_of_json(void)
{
    static const char text[] = "{\"a\": 1, \"ab\": [\"x\", \"\xC3\xA9t\xC3\xA9\"], \"c\": {\"a\": null}} "
                               "{\"a\": true, \"b\": \"\\n\"}";
    static const char *const specials[] = {END_OF_TEXT, LONG_MARKER};
    rapt_error err = {0};
    char many[sizeof text * 8];
    for (size_t i = 0; i < 8; i++)
        memcpy(many + i * (sizeof text - 1), text, sizeof text - 1);
    rapt_bpe_options o = TRAIN_BPE(.vocab_size = 300, .specials = specials, .special_count = 2, .threads = 1);
    rapt_tokenizer *k = rapt_tokenizer_train_bpe(many, 8 * (sizeof text - 1), &o, &err);
    assert_non_null(k);
    return k;
}

#define ANY_TEXT_OR "{'anyOf':[{'type':'string','pattern':'^a'},{'enum':['ab','abc',1,10]},"
#define MANY_WAYS "{'type':'string','maxLength':5},{'type':'string','maxLength':6},{'type':'string','minLength':1}," \
    "{'type':'string','pattern':'a'},{'type':'string','pattern':'b'},{'type':'string','pattern':'^[^a]*$'},"

/* Objects that begin alike, each with a value of several kinds: 8 times 7 ways at the first level, and times 7 at the next. */
#define ALIKE(n) "{'type':'object','properties':{'a':{'$ref':'#/$defs/v'},'b':{'const':" #n "}},'required':['a','b']}"
#define WAYS(use) "{'$defs':{'v':{'anyOf':[" MANY_WAYS "{'$ref':'#/$defs/o'}]},'o':{'anyOf':[" ALIKE(1) "," ALIKE(2) "," \
    ALIKE(3) "," ALIKE(4) "," ALIKE(5) "," ALIKE(6) "," ALIKE(7) "," ALIKE(8) "]}}," use "}"

static const struct { const char *schema; bool narrowed; } MASKED[] = { /* narrowed: some ways to read a text are dropped */
    {"{}", false}, {"{'type':'object','properties':{'a':{'enum':['x','xy',null]}},'additionalProperties':true}", false},
    {"{'type':'array','items':{'type':'string','maxLength':3}}", false},
    {ANY_TEXT_OR "{'type':'null'}]}", false},
    {"{'properties':{'a':{'type':'number'},'ab':{'minLength':1}},'additionalProperties':{}}", false},
    {"{'type':'array','items':" ANY_TEXT_OR MANY_WAYS "{'type':'array','items':{}}]}}", false},
    {"{'items':{'type':'string','pattern':'^([^a]{3,9}|[a-c\u00e9 ]{2,40})$'}}", false},
    {"{'items':{'anyOf':[{'type':'string','pattern':'^(\\\\w+ ?)+$'},{'type':'string','format':'uri'}]}}", false},
    {"{'items':{'type':'object','additionalProperties':{'type':'string','pattern':'x'},"
     "'properties':{'a':{'pattern':'^.{0,20}$'}}}}", false},
    {WAYS("'$ref':'#/$defs/o'"), true}, {WAYS("'type':'array','items':{'$ref':'#/$defs/o'}"), true},
    {"{'anyOf':[{'$ref':'#/$defs/l'},{'$ref':'#/$defs/r'}],'$defs':{'l':{'type':'array','items':{'anyOf':[{'$ref':'#/$defs/l'},"
     "{'$ref':'#/$defs/r'},{'const':1}]}},'r':{'type':'array','items':{'anyOf':[{'$ref':'#/$defs/r'},{'$ref':'#/$defs/l'},"
     "{'const':2}]}}}}", true}};

#define PATTERNS "{'type':'array','minItems':99,'items':{'anyOf':[{'type':'string','pattern':'^[^a]{2,30}$'},{'type':'string'," \
    "'pattern':'^([a-z]+ )+$'},{'type':'string','pattern':'^(b|\u00e9|\\\\n){1,9}$'},{'type':'string','format':'date'}]}}"

enum { MASKED_STEPS = 60 };

/* What texts with the constraint share. */
static json_schema *schema_of(const constrained *c)
{
    return (json_schema *)c->constraint; /* its first member */
}

/* What the bytes say one by one, all ways to read them side by side. */
static bool bytes_follow(const schema_state *state, const char *bytes, size_t size, schema_state *scratch)
{
    schema_state *now = scratch, *next = scratch + 1;
    now->count = state->count;
    memcpy(now->runs, state->runs, state->count * sizeof *now->runs);
    for (size_t i = 0; i < size && now->count > 0; i++) {
        schema_state *swap = now;
        schema_step(now, (uint8_t)bytes[i], next);
        now = next;
        next = swap;
    }
    return now->count > 0;
}

/* A token is allowed if, and only if, it is taken when it comes. */
static void mask_is_that_of_bytes(const constrained *c, const uint8_t *allowed, bool narrowed)
{
    schema_state *scratch = malloc(3 * sizeof *scratch), *after = scratch + 2;
    assert_non_null(scratch);
    for (size_t id = 0; id < rapt_tokenizer_size(c->tokenizer); id++) {
        size_t size;
        const char *bytes = rapt_tokenizer_token(c->tokenizer, (int32_t)id, &size);
        const bool special = rapt_tokenizer_special(c->tokenizer, bytes) == (int32_t)id;
        schema_advance(c->state, bytes, size, scratch, after);
        if (allowed[id] != (!special && after->count > 0))
            fail_msg("token %zu '%s': %d, and then %zu ways", id, bytes, allowed[id], after->count);
        if (!narrowed && !special)
            assert_int_equal(allowed[id], bytes_follow(c->state, bytes, size, scratch));
    }
    free(scratch);
}

/* With less work some tokens are left out, but none of one byte. */
static void brief_masks_have_all_bytes(const constrained *c, const uint8_t *allowed, arena *scratch)
{
    static const size_t works[] = {0, 40, 400};
    const size_t vocab = rapt_tokenizer_size(c->tokenizer);
    uint8_t *brief = malloc(vocab);
    assert_non_null(brief);
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        assert_true(schema_mask_within(c->state, schema_of(c), c->trie, works[i], scratch, brief));
        for (size_t id = 0; id < vocab; id++) {
            size_t size;
            rapt_tokenizer_token(c->tokenizer, (int32_t)id, &size);
            assert_true(size == 1 ? brief[id] == allowed[id] : brief[id] <= allowed[id]);
        }
    }
    free(brief);
}

static int32_t draw_allowed(const uint8_t *allowed, size_t vocab, uint64_t seed, size_t step)
{
    size_t left = 0;
    for (size_t id = 0; id < vocab; id++)
        left += allowed[id];
    assert_true(left > 0);
    left = (size_t)rng_below(seed, step, left);
    for (size_t id = 0; id < vocab; id++)
        if (allowed[id] && left-- == 0)
            return (int32_t)id;
    return -1;
}

static void is_json(const buffer *text)
{
    json_error_t where;
    json_t *value = json_loadb(text->data, text->size, JSON_DECODE_ANY, &where);
    if (!value)
        fail_msg("%.*s: %s", (int)text->size, text->data, where.text);
    json_decref(value);
}

/* Random tokens of those that are allowed, one value after the other. Returns the most ways to read a text. */
static size_t walk_tokens(constrained *c, uint64_t seed, bool narrowed)
{
    size_t most = 0;
    const size_t vocab = rapt_tokenizer_size(c->tokenizer);
    uint8_t *allowed = malloc(vocab);
    buffer text = {0};
    arena scratch;
    arena_init(&scratch, 4096);
    assert_non_null(allowed);
    for (size_t step = 0; step < MASKED_STEPS; step++) {
        if (constrained_must_end(c)) {
            constrained_begin(c);
            text.size = 0;
        }
        assert_true(schema_mask(c->state, schema_of(c), c->trie, &scratch, allowed));
        mask_is_that_of_bytes(c, allowed, narrowed);
        brief_masks_have_all_bytes(c, allowed, &scratch);
        const int32_t id = draw_allowed(allowed, vocab, seed, step);
        size_t size;
        const char *bytes = rapt_tokenizer_token(c->tokenizer, id, &size);
        assert_true(constrained_put(c, id));
        assert_true(buffer_append(&text, bytes, size));
        most = c->state->count > most ? c->state->count : most;
        if (constrained_may_end(c))
            is_json(&text);
    }
    buffer_free(&text);
    arena_free(&scratch);
    free(allowed);
    return most;
}

static void masks_are_those_of_bytes(void **state)
{
    rapt_error err = {0};
    rapt_tokenizer *k = pairs_of_json();
    size_t most = 0;
    (void)state;
    for (size_t i = 0; i < 3 * sizeof MASKED / sizeof *MASKED; i++) {
        arena memory;
        constrained c;
        rapt_constraint *of = schema_constraint(MASKED[i / 3].schema);
        arena_init(&memory, 4096);
        assert_int_equal(constrained_init(&c, of, k, &memory, &err), RAPT_OK);
        const size_t ways = walk_tokens(&c, 7 + i, MASKED[i / 3].narrowed);
        most = ways > most ? ways : most;
        constrained_free(&c);
        rapt_constraint_free(of);
        arena_free(&memory);
    }
    assert_int_equal(most, SCHEMA_RUNS);
    rapt_tokenizer_free(k);
}

/* Rows that are kept, rows of a schema whose tables are full, by effects that were found before or without, are equal; one
 * constraint has tables for two vocabularies. */
static void tables_change_no_mask(void **state)
{
    rapt_error err = {0};
    rapt_tokenizer *ks[] = {pairs_of_json(), case_bytes()};
    rapt_constraint *of = schema_constraint(PATTERNS);
    atomic_size_t *left = &((json_schema *)of)->tables.left;
    size_t kept[4];
    (void)state;
    for (size_t i = 0; i < 8; i++) {
        arena memory;
        constrained c;
        const bool room = i / 2 == 1 || i / 2 == 2;
        atomic_store(left, room ? SCHEMA_TABLES : 0);
        arena_init(&memory, 4096);
        assert_int_equal(constrained_init(&c, of, ks[i % 2], &memory, &err), RAPT_OK);
        walk_tokens(&c, 11 + i, false);
        kept[i / 2] = (room ? SCHEMA_TABLES : 0) - atomic_load(left);
        assert_int_equal(kept[i / 2] > 0, room);
        constrained_free(&c);
        arena_free(&memory);
    }
    assert_true(kept[2] < kept[1]); /* effects and some rows are there */
    rapt_constraint_free(of);
    rapt_tokenizer_free(ks[0]);
    rapt_tokenizer_free(ks[1]);
}

/* The patterns of a schema [{anyOf: patterns}]. */
static size_t patterns_of(rapt_constraint *of, const schema_dfa **dfas)
{
    const schema_node *item = ((json_schema *)of)->root->shapes[0].rest;
    for (size_t i = 0; i < item->count; i++)
        dfas[i] = item->shapes[i].dfa;
    return item->count;
}

/* Returns for how many of the patterns the first mask within them finds effects. */
static size_t walk_patterns(const rapt_constraint *of, const rapt_tokenizer *k)
{
    rapt_error err = {0};
    constrained c;
    arena memory;
    uint8_t *allowed = malloc(rapt_tokenizer_size(k));
    const schema_dfa *dfas[4];
    size_t found = 0;
    assert_non_null(allowed);
    arena_init(&memory, 4096);
    assert_int_equal(constrained_init(&c, of, k, &memory, &err), RAPT_OK);
    assert_true(constrained_put(&c, case_byte(k, '[')) && constrained_put(&c, case_byte(k, '"')));
    assert_true(schema_mask(c.state, schema_of(&c), c.trie, &memory, allowed));
    for (size_t i = patterns_of((rapt_constraint *)of, dfas); i-- > 0;)
        found += atomic_load(&dfas[i]->rows) != NULL;
    constrained_begin(&c);
    walk_tokens(&c, 29, false);
    free(allowed);
    constrained_free(&c);
    arena_free(&memory);
    return found;
}

/* Tables without room for the effects on all patterns at once, but on each. */
static void patterns_are_found_one_by_one(void **state)
{
    rapt_error err = {0};
    rapt_tokenizer *k = pairs_of_json();
    rapt_constraint *of = schema_constraint(PATTERNS);
    const schema_dfa *dfas[4];
    (void)state;
    assert_int_equal(patterns_of(of, dfas), 4);
    const size_t bytes = schema_effects_bytes(dfas, 4, token_trie_of(k, &err)); /* the rows need more */
    atomic_store(&((json_schema *)of)->tables.left, bytes);
    assert_int_equal(walk_patterns(of, k), 2);
    rapt_constraint_free(of);
    rapt_tokenizer_free(k);
}

/* Pairs of random characters and parts of escapes, which have many effects on a pattern of characters. */
static rapt_tokenizer *pairs_of_characters(void)
{
    static const char *const parts[] = {"a", "x", "\\", "n", "\\u", "0", "d", "8", "\\ud8", "\\\\", "\xC3\xA9", "\xE4\xB8\xAD",
                                        "\xE0\xA4\x84", "\xED\x9F\xBF", "\xF0\x9F\x98\x80", "\xF1\x80\x80\x80",
                                        "\xF4\x8F\xBF\xBF"};
    rapt_error err = {0};
    buffer_writer w = {.failed = false};
    for (size_t i = 0; i < 100000; i++) {
        const char *part = parts[rng_below(5, i, sizeof parts / sizeof *parts)];
        buffer_put(&w, part, strlen(part));
    }
    rapt_tokenizer *k = rapt_tokenizer_train_bpe(w.bytes.data, w.bytes.size, &TRAIN_BPE(.vocab_size = 2500, .threads = 1), &err);
    buffer_free(&w.bytes);
    assert_non_null(k);
    return k;
}

#define MANY_EFFECTS "{'type':'array','minItems':99,'items':{'anyOf':[{'type':'string','pattern':'^[^a]{2,30}$'}," \
    "{'type':'string','pattern':'^[^b]{50}(?:[^bx][^b0]){3,}$'}]}}"

static void patterns_are_found_at_once(void **state)
{
    rapt_tokenizer *k = pairs_of_json();
    rapt_constraint *of = schema_constraint(PATTERNS);
    (void)state;
    assert_int_equal(walk_patterns(of, k), 4);
    rapt_constraint_free(of);
    rapt_tokenizer_free(k);
}

/* Too many effects on one pattern: the others are found without it. */
static void patterns_of_many_effects_are_walked(void **state)
{
    rapt_error err = {0};
    rapt_tokenizer *k = pairs_of_characters();
    rapt_constraint *of = schema_constraint(MANY_EFFECTS);
    const schema_dfa *dfas[2];
    static const size_t firsts[] = {0, 1, 0}, counts[] = {2, 1, 1};
    (void)state;
    assert_int_equal(patterns_of(of, dfas), 2);
    assert_int_equal(walk_patterns(of, k), 2);
    for (size_t i = 0; i < 3; i++) {
        schema_effects e;
        assert_true(schema_effects_find(&e, dfas + firsts[i], counts[i], token_trie_of(k, &err)));
        assert_int_equal(e.count > 0, i == 2);
        schema_effects_free(&e);
    }
    rapt_constraint_free(of);
    rapt_tokenizer_free(k);
}

/* Until the marker comes, the text is free, however long the marker is. */
static void values_wait_for_long_markers(void **state)
{
    static const char schema[] = "{\"const\": true}";
    rapt_error err = {0};
    rapt_tokenizer *k = pairs_of_json();
    rapt_constraint *of = constraint_new_after(LONG_MARKER, schema, sizeof schema - 1, SCHEMA_MEMORY, &err);
    arena memory;
    constrained c;
    (void)state;
    assert_true(constraint_waits(of));
    assert_int_equal(constraint_check(of, k, &err), RAPT_OK);
    arena_init(&memory, 4096);
    assert_int_equal(constrained_init(&c, of, k, &memory, &err), RAPT_OK);
    assert_true(constrained_put(&c, case_byte(k, 'x')));
    assert_true(constrained_put(&c, rapt_tokenizer_special(k, LONG_MARKER)));
    assert_false(constrained_put(&c, case_byte(k, 'x')));
    constrained_free(&c);
    rapt_constraint_free(of);
    of = constraint_new_after("<another marker of more than thirty-two bytes>", schema, sizeof schema - 1, SCHEMA_MEMORY, &err);
    assert_int_equal(constraint_check(of, k, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "<another marker of more than thirty-two bytes> is no token of the model");
    rapt_constraint_free(of);
    rapt_tokenizer_free(k);
    arena_free(&memory);
}

/* NaN of a model is the sampler's to refuse, not a schema's. */
static void nan_stays(void **state)
{
    rapt_error err = {0};
    rapt_tokenizer *k = case_bytes();
    rapt_constraint *of = schema_constraint("{'type':'object'}");
    rapt_real x[BYTES_VOCAB];
    bool some;
    arena memory;
    constrained c;
    (void)state;
    arena_init(&memory, 4096);
    assert_int_equal(constrained_init(&c, of, k, &memory, &err), RAPT_OK);
    for (size_t i = 0; i < BYTES_VOCAB; i++)
        x[i] = (rapt_real)NAN;
    assert_int_equal(constrained_restrict(&c, NULL, 0, &memory, x, BYTES_VOCAB, &some, &err), RAPT_OK);
    assert_true(some);
    assert_true(isnan(x[0]));
    for (size_t i = 0; i < BYTES_VOCAB; i++)
        x[i] = i == (size_t)case_byte(k, '{') ? (rapt_real)-INFINITY : 0;
    assert_int_equal(constrained_restrict(&c, NULL, 0, &memory, x, BYTES_VOCAB, &some, &err), RAPT_OK);
    assert_true(some); /* spaces */
    assert_int_equal(constrained_put(&c, case_byte(k, ' ')), true);
    assert_int_equal(constrained_restrict(&c, NULL, 0, &memory, x, BYTES_VOCAB, &some, &err), RAPT_OK);
    assert_false(some);
    constrained_free(&c);
    rapt_constraint_free(of);
    rapt_tokenizer_free(k);
    arena_free(&memory);
}

/* ---- texts of models ------------------------------------------------------------------------------------------ */

#define PERSON "{'type':'object','properties':{'name':{'type':'string','maxLength':5}," \
    "'age':{'type':'integer','minimum':0,'maximum':150}},'required':['name','age']}"

static rapt_lm *bytes_model(void)
{
    rapt_lm_config c = lm_variant(5);
    c.vocab = BYTES_VOCAB;
    return lm_model(&c);
}

static void is_person(const rapt_generated *g)
{
    json_error_t where;
    const char *name;
    int age;
    json_t *o = json_loadb(g->text, g->text_size, JSON_REJECT_DUPLICATES, &where);
    if (!o)
        fail_msg("%s: %s", g->text, where.text);
    assert_int_equal(json_unpack(o, "{s:s, s:i!}", "name", &name, "age", &age), 0);
    assert_true(age >= 0 && age <= 150);
    json_decref(o);
}

static void texts_obey(void **state)
{
    rapt_error err = {0};
    rapt_tokenizer *k = case_bytes();
    rapt_lm *lm = bytes_model();
    const rapt_model m = case_model(lm, k);
    rapt_constraint *of = schema_constraint(PERSON);
    rapt_generate_options o = GENERATE(.sample = {SAMPLE_DEFAULTS, .temperature = 1, .top_k = 0}, .max_tokens = 120,
                                       .constraint = of, .compute.threads = 1);
    rapt_generator *g = rapt_generator_new(&m, &o, &err);
    (void)state;
    assert_non_null(g);
    rapt_constraint_free(of); /* the generator keeps it */
    assert_int_equal(rapt_generator_begin(g, "A", 1, &err), RAPT_OK);
    size_t whole = 0;
    for (uint64_t sample = 0; sample < 12; sample++) {
        rapt_generated text;
        assert_int_equal(rapt_generator_run(g, sample, &text, &err), RAPT_OK);
        if (text.finish == RAPT_FINISH_END_OF_TEXT)
            is_person(&text);
        else
            assert_int_equal(text.token_count, 120);
        whole += text.finish == RAPT_FINISH_END_OF_TEXT;
        assert_int_equal(rapt_generator_rewind(g, text.prompt_tokens, &err), RAPT_OK);
        rapt_generated_free(&text);
    }
    assert_true(whole > 6);
    rapt_generator_free(g);
    rapt_tokenizer_free(k);
    rapt_lm_free(lm);
}

/* A text of `count` tokens of a model, by a generator and by an engine. */
static void text_is(rapt_model *m, const char *schema, size_t max_tokens, size_t count, rapt_finish_reason finish)
{
    static const int32_t prompt[] = {0, 1};
    rapt_error err = {0};
    rapt_generated text;
    rapt_constraint *of = schema_constraint(schema);
    lm_request r = {.m = m, .prompt = {0, 1}, .count = 2};
    r.options = GENERATE(.sample = {SAMPLE_DEFAULTS, .temperature = 1}, .max_tokens = max_tokens, .constraint = of,
                         .compute.threads = 1);
    rapt_generator *g = rapt_generator_new(m, &r.options, &err);
    if (!g || rapt_generator_begin_tokens(g, prompt, 2, &err) || rapt_generator_run(g, 0, &text, &err))
        fail_msg("%s", err.message);
    assert_int_equal(text.token_count, count);
    assert_int_equal(text.finish, finish);
    rapt_generator_free(g);
    rapt_engine *e = rapt_engine_new(&ENGINE(.threads = 1), &err);
    rapt_engine_model_options borrowed = rapt_engine_model_options_default();
    borrowed.borrowed = true;
    rapt_engine_model *served = e ? rapt_engine_add(e, m, &borrowed, &err) : NULL;
    assert_non_null(served);
    r.options.compute = (rapt_compute){0};
    r.want = text;
    rapt_engine_job_free(request_queue(&r, served)); /* waits */
    request_check(&r);
    rapt_generated_free(&text);
    rapt_engine_free(e);
    rapt_constraint_free(of);
}

/* A vocabulary without a token of the end, and a policy that wants one at the last token. */
static void texts_end_without_tokens(void **state)
{
    rapt_error err = {0};
    rapt_lm_config c = lm_variant(5);
    rapt_tokenizer *digits = rapt_tokenizer_train_characters("0123456789-.", 12, &err), *bytes = case_bytes();
    c.vocab = rapt_tokenizer_size(digits);
    rapt_lm *lm = lm_model(&c), *of_bytes = bytes_model();
    rapt_model m = case_model(lm, digits);
    rapt_model forced = case_model(of_bytes, bytes);
    int32_t end = forced.language.end_of_text[0];
    (void)state;
    text_is(&m, "{'type':'integer','minimum':7,'maximum':7}", 20, 1, RAPT_FINISH_END_OF_TEXT);
    forced.search.forced_eos = (rapt_token_list){&end, 1};
    text_is(&forced, "{'type':'string','pattern':'^aaaaaaaaaa$'}", 2, 1, RAPT_FINISH_LENGTH);
    rapt_tokenizer_free(digits);
    rapt_tokenizer_free(bytes);
    rapt_lm_free(lm);
    rapt_lm_free(of_bytes);
}

/* Texts with and without a constraint side by side in an engine of two threads. */
static void engines_give_the_same(void **state)
{
    enum { TEXTS_AT_ONCE = 6 };
    rapt_error err = {0};
    rapt_tokenizer *k = case_bytes();
    rapt_lm *lm = bytes_model();
    rapt_model m = case_model(lm, k);
    lm_request r[TEXTS_AT_ONCE];
    rapt_engine_job *jobs[TEXTS_AT_ONCE];
    rapt_constraint *of = schema_constraint(PATTERNS);
    rapt_engine *e = rapt_engine_new(&ENGINE(.threads = 2), &err);
    rapt_engine_model_options borrowed = rapt_engine_model_options_default();
    borrowed.borrowed = true;
    rapt_engine_model *served = e ? rapt_engine_add(e, &m, &borrowed, &err) : NULL;
    (void)state;
    assert_true(of && served);
    for (size_t i = 0; i < TEXTS_AT_ONCE; i++) {
        r[i] = (lm_request){.m = &m, .prompt = {65, 66}, .count = 2, .sample = i};
        r[i].options = GENERATE(.sample = {SAMPLE_DEFAULTS, .temperature = 1}, .max_tokens = 60, .constraint = i % 3 ? of : NULL,
                                .compute.threads = 1);
        rapt_generator *g = rapt_generator_new(&m, &r[i].options, &err);
        if (!g || rapt_generator_begin_tokens(g, r[i].prompt, 2, &err) || rapt_generator_run(g, i, &r[i].want, &err))
            fail_msg("%s", err.message);
        rapt_generator_free(g);
        r[i].options.compute = (rapt_compute){0};
        r[i].options.lookup = i % 2 ? 8 : 0; /* which changes no bit, here either */
    }
    for (size_t i = 0; i < TEXTS_AT_ONCE; i++)
        jobs[i] = request_queue(&r[i], served);
    rapt_constraint_free(of); /* the requests keep it */
    for (size_t i = 0; i < TEXTS_AT_ONCE; i++) {
        rapt_engine_job_free(jobs[i]); /* waits */
        request_check(&r[i]);
        rapt_generated_free(&r[i].want);
    }
    rapt_engine_free(e);
    rapt_tokenizer_free(k);
    rapt_lm_free(lm);
}

static void is_refused(const rapt_model *m, const rapt_generate_options *o, const char *message)
{
    rapt_error err = {0};
    assert_null(rapt_generator_new(m, o, &err));
    assert_int_equal(err.code, RAPT_ERR_VALUE);
    assert_string_equal(err.message, message);
}

static void what_does_not_fit_is_refused(void **state)
{
    rapt_tokenizer *bytes = case_bytes(), *letters = case_characters();
    rapt_lm_config c = lm_variant(5);
    rapt_lm *lm = bytes_model(), *of_letters = lm_model(&c);
    const rapt_model m = case_model(lm, bytes), other = case_model(of_letters, letters);
    rapt_constraint *of = schema_constraint(PERSON);
    (void)state;
    is_refused(&m, &GENERATE(.constraint = of, .stops = (const char *[]){"x"}, .stop_count = 1),
               "stop sequences beside a constraint would end a text that does not obey it");
    is_refused(&m, &GENERATE(.constraint = of, .beam = 2), "beam search, of 2 beams, takes no constraint; --beam 1 turns it off");
    is_refused(&other, &GENERATE(.constraint = of), "the schema needs '{', for which the model's vocabulary has no token");
    rapt_constraint_free(of);
    rapt_tokenizer_free(bytes);
    rapt_tokenizer_free(letters);
    rapt_lm_free(lm);
    rapt_lm_free(of_letters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masks_are_those_of_bytes), cmocka_unit_test(tables_change_no_mask),
        cmocka_unit_test(patterns_are_found_at_once), cmocka_unit_test(patterns_are_found_one_by_one),
        cmocka_unit_test(patterns_of_many_effects_are_walked), cmocka_unit_test(values_wait_for_long_markers),
        cmocka_unit_test(nan_stays), cmocka_unit_test(texts_obey), cmocka_unit_test(engines_give_the_same),
        cmocka_unit_test(texts_end_without_tokens), cmocka_unit_test(what_does_not_fit_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
