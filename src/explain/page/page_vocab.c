/* explain/page/page_vocab.c: logits, probabilities and the gradients of embedding and output matrix have an element for each
 * token of the vocabulary, and a page cannot hold 100,000 of them for each position. It keeps the elements that a reader can
 * find: for tokens that were read, that are most probable, and that follow. */
#include "explain/page/page_steps.h"

#include <stdlib.h>
#include <string.h>

#define MANY ((size_t)100 * 1000) /* a step with more elements is stored only in part */

/* The tokens whose rows or columns are kept. */
typedef struct vocab_marks {
    bool *wanted; /* [size] */
    size_t size, count;
} vocab_marks;

static void mark(vocab_marks *m, const json_t *token)
{
    json_int_t id = json_integer_value(json_object_get(token, "id"));
    if (!json_is_object(token) || id < 0 || (size_t)id >= m->size)
        return;
    m->count += !m->wanted[id];
    m->wanted[id] = true;
}

static void mark_list(vocab_marks *m, const json_t *tokens)
{
    size_t i;
    const json_t *token;
    json_array_foreach(tokens, i, token)
        mark(m, token);
}

/* Whether encoder, decoder and output share one embedding: there is no other one. */
static bool is_tied(const json_t *explanation)
{
    size_t i;
    const json_t *step;
    json_array_foreach(json_object_get(explanation, "steps"), i, step) {
        const char *name = json_string_value(json_object_get(step, "name"));
        if (name && strcmp(name, "decoder.embedding.weight") == 0)
            return false;
    }
    return true;
}

/* An encoder has the source's vocabulary, everything else the vocabulary of the predictions. */
static void mark_tokens(vocab_marks *m, const json_t *explanation, const page_step *s)
{
    const json_t *sequences = json_object_get(explanation, "sequences"), *p;
    size_t i;
    if (strncmp(s->name, "encoder.", 8) == 0) {
        mark_list(m, json_object_get(sequences, "source"));
        if (!is_tied(explanation))
            return;
    }
    mark_list(m, json_object_get(sequences, "target"));
    mark_list(m, json_object_get(sequences, "text"));
    json_array_foreach(json_object_get(explanation, "predictions"), i, p) {
        mark(m, json_object_get(p, "next"));
        mark_list(m, json_object_get(p, "tokens"));
    }
}

/* The ids of the marked tokens, ascending: [count], from malloc; NULL on out-of-memory. */
static size_t *marked_ids(const vocab_marks *m)
{
    size_t *ids = malloc(m->count * sizeof *ids), count = 0;
    for (size_t i = 0; ids && i < m->size; i++)
        if (m->wanted[i])
            ids[count++] = i;
    return ids;
}

static void keep_columns(page_step *s, size_t count)
{
    size_t to = 0;
    for (size_t row = 0; row < s->groups * s->rows; row++)
        for (size_t i = 0; i < count; i++)
            s->x[to++] = s->x[row * s->columns + s->kept[i]];
    s->columns = count;
}

static void keep_rows(page_step *s, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memmove(s->x + i * s->columns, s->x + s->kept_rows[i] * s->columns, s->columns * sizeof *s->x);
    s->rows = count;
}

/* A parameter with a row for each token of the vocabulary. */
static bool has_token_rows(const page_step *s)
{
    bool prefix = strncmp(s->name, "encoder.", 8) == 0 || strncmp(s->name, "decoder.", 8) == 0;
    const char *name = s->name + (prefix ? 8 : 0);
    return s->gradient && s->groups == 1 && (strcmp(name, "embedding.weight") == 0 || strcmp(name, "output.weight") == 0);
}

static bool has_token_columns(const page_step *s)
{
    bool bias = s->gradient && (strcmp(s->name, "output.bias") == 0 || strcmp(s->name, "decoder.output.bias") == 0);
    return bias || strcmp(s->axis, "token") == 0;
}

rapt_code page_vocab_cut(const json_t *explanation, page_step *s, rapt_error *err)
{
    bool rows = has_token_rows(s);
    if ((!rows && !has_token_columns(s)) || s->groups * s->rows * s->columns < MANY)
        return RAPT_OK;
    vocab_marks m = {.size = rows ? s->rows : s->columns};
    m.wanted = calloc(m.size, sizeof *m.wanted);
    if (m.wanted)
        mark_tokens(&m, explanation, s);
    size_t *ids = m.count ? marked_ids(&m) : NULL;
    bool ok = m.wanted && (ids || !m.count);
    free(m.wanted);
    if (!ok)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory");
    if (ids && rows) {
        s->kept_rows = ids;
        keep_rows(s, m.count);
    } else if (ids) {
        s->kept = ids;
        keep_columns(s, m.count);
    }
    return RAPT_OK;
}
