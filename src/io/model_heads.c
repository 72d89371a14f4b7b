/* io/model_heads.c: a model with heads switched off: the modules of another model, copied, with flags in their attentions. The
 * parameters stay the other model's. */
#include "io/model_heads.h"

#include "base/arena.h"
#include "base/pattern.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "nn/attentions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)4 << 10)

struct model_view {
    rapt_model *owned; /* the other model, if the copy owns it; else NULL */
    arena memory;      /* holds the modules and the flags */
};

/* ---- the heads of a model ---- */

static bool visit_attentions(const rapt_model *m, attentions_fn *fn, void *context)
{
    if (m->translation.net)
        return attentions_of_transformer(m->translation.net, fn, context);
    return m->language.net ? attentions_of_lm(m->language.net, fn, context)
                           : attentions_of_encoder(&m->encoder.net->encoder, fn, context);
}

static bool count_heads(void *context, rapt_multi_head_attention *a)
{
    *(size_t *)context += a->heads;
    return true;
}

size_t rapt_model_head_count(const rapt_model *m)
{
    size_t count = 0;
    visit_attentions(m, count_heads, &count);
    return count;
}

typedef struct head_search {
    size_t left; /* heads before the one that is wanted */
    rapt_head found;
} head_search;

static bool find_indexed(void *context, rapt_multi_head_attention *a)
{
    head_search *s = context;
    if (s->left >= a->heads) {
        s->left -= a->heads;
        return true;
    }
    s->found = (rapt_head){.attention = a->name, .index = s->left, .off = a->off && a->off[s->left]};
    return false;
}

rapt_head rapt_model_head(const rapt_model *m, size_t index)
{
    head_search s = {.left = index};
    visit_attentions(m, find_indexed, &s);
    return s.found;
}

const char *model_heads_name(rapt_head head, char text[MODEL_HEAD_NAME])
{
    snprintf(text, MODEL_HEAD_NAME, "%.100s.%zu", head.attention, head.index);
    return text;
}

/* ---- names ---- */

/* What a name switches off, and in case that is nothing: what it may have meant. */
typedef struct head_switch {
    const char *name;
    arena *memory;
    bool matched, failed;
    const rapt_multi_head_attention *attention; /* that has this name, alone or with the number of a head that it has not */
    const char **near; /* names of heads and attentions, to suggest one */
    size_t near_count;
} head_switch;

/* The flags of an attention's heads, to be written. NULL: out of memory. */
static uint8_t *own_flags(head_switch *s, rapt_multi_head_attention *a)
{
    uint8_t *flags = arena_zeroed(s->memory, a->heads, 1);
    s->failed = s->failed || !flags;
    if (flags && a->off)
        memcpy(flags, a->off, a->heads);
    return flags;
}

static bool switch_matching(void *context, rapt_multi_head_attention *a)
{
    head_switch *s = context;
    uint8_t *flags = NULL;
    char name[MODEL_HEAD_NAME];
    for (size_t i = 0; i < a->heads && !s->failed; i++) {
        if (!pattern_fits(s->name, model_heads_name((rapt_head){a->name, i, 0}, name)))
            continue;
        s->matched = true;
        flags = flags ? flags : own_flags(s, a);
        if (flags)
            flags[i] = 1;
    }
    if (flags)
        a->off = flags;
    return !s->failed;
}

/* The length of a name without the number of a head. */
static size_t attention_part(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && dot[1] && strspn(dot + 1, "0123456789") == strlen(dot + 1) ? (size_t)(dot - name) : strlen(name);
}

/* A failed allocation loses only a suggestion. */
static bool find_meant(void *context, rapt_multi_head_attention *a)
{
    head_switch *s = context;
    char text[MODEL_HEAD_NAME];
    const size_t part = attention_part(s->name);
    if (strcmp(s->name, a->name) == 0 || (strlen(a->name) == part && strncmp(a->name, s->name, part) == 0))
        s->attention = a;
    for (size_t i = 0; i < a->heads; i++) {
        const char *name = arena_string(s->memory, model_heads_name((rapt_head){a->name, i, 0}, text));
        if (name)
            s->near[s->near_count++] = name;
    }
    return true;
}

static rapt_code fail_unknown_head(const rapt_model *m, head_switch *s, rapt_error *err)
{
    const size_t count = rapt_model_head_count(m);
    char first[MODEL_HEAD_NAME], last[MODEL_HEAD_NAME];
    s->near = arena_array(s->memory, count, sizeof *s->near);
    if (!s->near)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the names of %zu heads", count);
    visit_attentions(m, find_meant, s);
    const quoted wanted = quote(s->name);
    if (s->attention && strcmp(s->attention->name, s->name) == 0)
        return rapt_fail(err, RAPT_ERR_NOT_FOUND, "\"%s\" is an attention of %zu heads: its first is \"%s.0\", all are \"%s.*\"",
                         wanted.text, s->attention->heads, s->attention->name, s->attention->name);
    if (s->attention)
        return rapt_fail(err, RAPT_ERR_NOT_FOUND, "there is no head \"%s\": %s has heads 0 to %zu", wanted.text,
                         s->attention->name, s->attention->heads - 1);
    const char *near = suggest_nearest(s->name, s->near, s->near_count);
    if (near)
        return rapt_fail(err, RAPT_ERR_NOT_FOUND, "there is no head \"%s\"; did you mean \"%s\"?", wanted.text, near);
    model_heads_name(rapt_model_head(m, 0), first);
    model_heads_name(rapt_model_head(m, count - 1), last);
    return rapt_fail(err, RAPT_ERR_NOT_FOUND, "there is no head \"%s\"; there are \"%s\" to \"%s\"", wanted.text, first, last);
}

/* ---- the copy ---- */

static void *copy_of(arena *memory, const void *from, size_t count, size_t size)
{
    void *to = arena_array(memory, count, size);
    return to ? memcpy(to, from, count * size) : NULL;
}

static bool copy_encoder(arena *memory, rapt_encoder *m)
{
    m->blocks = copy_of(memory, m->blocks, m->layers, sizeof *m->blocks);
    return m->blocks;
}

/* Gives the copy modules of its own. False: out of memory. */
static bool copy_modules(rapt_model *m, arena *memory)
{
    if (m->language.net) {
        rapt_lm *net = m->language.net = copy_of(memory, m->language.net, 1, sizeof *net);
        return net && (net->blocks = copy_of(memory, net->blocks, net->layers, sizeof *net->blocks));
    }
    if (m->encoder.net) {
        rapt_encoder_only *net = m->encoder.net = copy_of(memory, m->encoder.net, 1, sizeof *net);
        return net && copy_encoder(memory, &net->encoder);
    }
    rapt_transformer *net = m->translation.net = copy_of(memory, m->translation.net, 1, sizeof *net);
    rapt_decoder *d = net ? &net->decoder : NULL;
    return net && copy_encoder(memory, &net->encoder) && (d->blocks = copy_of(memory, d->blocks, d->layers, sizeof *d->blocks));
}

static rapt_code switch_off(rapt_model *m, const char *name, rapt_error *err)
{
    head_switch s = {.name = name, .memory = &m->view->memory};
    visit_attentions(m, switch_matching, &s);
    if (s.failed)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a model without heads");
    return s.matched ? RAPT_OK : fail_unknown_head(m, &s, err);
}

rapt_model *rapt_model_without_heads(const rapt_model *m, const char *const *names, size_t count, rapt_error *err)
{
    rapt_model *copy = malloc(sizeof *copy);
    struct model_view *view = calloc(1, sizeof *view);
    if (!copy || !view) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a model without heads");
        free(view);
        free(copy);
        return NULL;
    }
    *copy = *m;
    copy->view = view;
    arena_init(&view->memory, CHUNK);
    rapt_code code = copy_modules(copy, &view->memory)
                         ? RAPT_OK
                         : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a model without heads");
    for (size_t i = 0; i < count && !code; i++)
        code = switch_off(copy, names[i], err);
    if (!code)
        return copy;
    model_heads_free(copy);
    return NULL;
}

rapt_model *model_heads_free(rapt_model *m)
{
    rapt_model *owned = m->view->owned;
    arena_free(&m->view->memory);
    free(m->view);
    free(m);
    return owned;
}

void model_heads_own(rapt_model *m, rapt_model *of)
{
    m->view->owned = of;
}
