/* tests/fuzz/fuzz_schema.c: any bytes as a JSON schema, and a text that obeys it, token by token, chosen by the bytes.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "base/rng.h"
#include "decode/schema/constraint.h"
#include "decode/schema/schema_mask.h"
#include "options.h"

#include <jansson.h>

enum { TOKENS = 48, TEXT = TOKENS * TRIE_LONGEST };

static rapt_tokenizer *tokenizer;

/* Pairs that begin and end strings, keys and objects, so that tokens are longer than a byte. */
static void make_tokenizer(void)
{
    static const char text[] = "{\"a\": 1, \"ab\": [\"a\", \"b\"]} {\"a\":1,\"ab\":[\"a\",\"b\"]} \"a\": 10.5, true, null, "
                               "\xC3\xA9t\xC3\xA9";
    tokenizer = rapt_tokenizer_train_bpe(text, sizeof text - 1, &TRAIN_BPE(.vocab_size = 290, .threads = 1), NULL);
    require(tokenizer != NULL);
}

static void require_json(const char *text, size_t size)
{
    json_t *value = json_loadb(text, size, JSON_DECODE_ANY, NULL);
    require(value != NULL);
    json_decref(value);
}

/* One of the tokens that are allowed; there is one. */
static int32_t choose(const constrained *c, uint64_t seed, size_t step)
{
    static uint8_t allowed[512];
    size_t count = 0;
    arena scratch;
    arena_init(&scratch, 4096);
    require(c->trie->vocab <= sizeof allowed && schema_mask(c->state, (json_schema *)c->constraint, c->trie, &scratch, allowed));
    arena_free(&scratch);
    for (size_t id = 0; id < c->trie->vocab; id++)
        count += allowed[id];
    require(count > 0);
    count = (size_t)rng_below(seed, step, count);
    for (size_t id = 0;; id++)
        if (allowed[id] && count-- == 0)
            return (int32_t)id;
}

/* Each token that is allowed is taken, and what may end is JSON. */
static void check_text(const rapt_constraint *of, uint64_t seed)
{
    static char text[TEXT];
    constrained c;
    arena memory;
    size_t size = 0;
    arena_init(&memory, 4096);
    require(constrained_init(&c, of, tokenizer, &memory, NULL) == RAPT_OK);
    for (size_t step = 0; step < TOKENS && !constrained_must_end(&c); step++) {
        const int32_t id = choose(&c, seed, step);
        size += token_trie_bytes(tokenizer, id, text + size);
        require(constrained_put(&c, id));
        if (constrained_may_end(&c))
            require_json(text, size);
    }
    constrained_free(&c);
    arena_free(&memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    rapt_error err = {0};
    if (!tokenizer)
        make_tokenizer();
    rapt_constraint *c = rapt_constraint_json_schema((const char *)input, size, &err);
    require_outcome(c != NULL, &err);
    require(c || err.code == RAPT_ERR_VALUE);
    for (uint64_t seed = 0; seed < 2 && c; seed++)
        check_text(c, seed);
    rapt_constraint_free(c);
    return 0;
}
