/* decode/schema/schema_step.c: takes the bytes of an output. Alternatives that begin alike are read side by side. Spaces stand
 * only where values, keys, commas and brackets begin or end: one, or a line feed and an indentation, so that no model can write
 * spaces for ever. */
#include "decode/schema/schema_step.h"

#include "text/json_char.h"

#include <string.h>

enum { GAP_FULL = 255, GAP_INDENT = 4 }; /* spaces for each level after a line feed */

/* ---- runs ----------------------------------------------------------------------------------------------------- */

bool schema_runs_equal(const schema_run *a, const schema_run *b)
{
    return a->want == b->want && a->now == b->now && a->chars == b->chars && a->low == b->low && a->high == b->high &&
           a->phase == b->phase && a->gap == b->gap && a->letter == b->letter && a->depth == b->depth &&
           a->digits.value == b->digits.value && a->digits.phase == b->digits.phase && a->digits.count == b->digits.count &&
           a->digits.negative == b->digits.negative && memcmp(a->frames, b->frames, a->depth * sizeof *a->frames) == 0;
}

/* A copy of `r` without its scalar, in a phase. NULL: there are too many runs. */
static schema_run *run_add(schema_state *out, const schema_run *r, run_phase phase)
{
    if (out->count == SCHEMA_RUNS)
        return NULL;
    schema_run *to = &out->runs[out->count++];
    memset(to, 0, offsetof(schema_run, frames));
    memcpy(to->frames, r->frames, r->depth * sizeof *r->frames);
    to->phase = (uint8_t)phase;
    to->depth = r->depth;
    return to;
}

/* A copy with all that it has. */
static schema_run *run_copy(schema_state *out, const schema_run *r)
{
    schema_run *to = run_add(out, r, (run_phase)r->phase);
    if (to)
        memcpy(to, r, offsetof(schema_run, frames));
    return to;
}

/* Takes back the last run if an equal one is there. */
static void run_merge(schema_state *out)
{
    out->work += out->count / 8;
    for (size_t i = 0; i + 1 < out->count; i++)
        if (schema_runs_equal(&out->runs[i], &out->runs[out->count - 1])) {
            out->count--;
            return;
        }
}

static const schema_frame *run_top(const schema_run *r)
{
    return &r->frames[r->depth - 1];
}

/* Whether a value fits into the levels that are left. */
static bool node_fits(const schema_run *r, const schema_node *n)
{
    return n && n->height + r->depth <= SCHEMA_DEPTH;
}

/* ---- values --------------------------------------------------------------------------------------------------- */

void schema_run_close(const schema_run *r, schema_state *out)
{
    run_add(out, r, r->depth > 0 ? RUN_AFTER : RUN_DONE);
}

/* The first of the given texts or keys low .. high - 1, which have `at` bytes in common, whose next byte is at least c. */
static uint32_t choice_bound(const schema_shape *s, size_t at, uint32_t low, uint32_t high, int c)
{
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (s->texts[middle].size <= at || (uint8_t)s->texts[middle].bytes[at] < c)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Narrows the given texts to those that have the byte next. */
static void choice_next(const schema_run *r, const schema_shape *s, size_t at, uint32_t low, uint32_t high, uint8_t c,
                        schema_state *out)
{
    low = choice_bound(s, at, low, high, c);
    const uint32_t end = choice_bound(s, at, low, high, c + 1);
    if (low == end)
        return;
    if (end - low == 1 && s->texts[low].size == at + 1) {
        schema_run_close(r, out);
        return;
    }
    schema_run *to = run_add(out, r, RUN_SCALAR);
    if (!to)
        return;
    to->now = s;
    to->low = low;
    to->high = end;
    to->chars = at + 1;
}

static void container_begin(const schema_run *r, const schema_shape *s, schema_state *out)
{
    schema_run *to = run_add(out, r, s->kind == SCHEMA_ARRAY ? RUN_FIRST_ITEM : RUN_FIRST_KEY);
    if (to)
        to->frames[to->depth++] = (schema_frame){s, 0};
}

static void shape_begin(const schema_run *r, const schema_shape *s, uint8_t c, schema_state *out)
{
    schema_digits d = {0};
    const bool number = s->kind == SCHEMA_FIXED || s->kind == SCHEMA_NUMBER;
    const bool string = s->kind == SCHEMA_STRING || s->kind == SCHEMA_PATTERN;
    if (s->kind == SCHEMA_CHOICE)
        choice_next(r, s, 0, 0, (uint32_t)s->count, c, out);
    else if ((s->kind == SCHEMA_ARRAY && c == '[') || (s->kind == SCHEMA_OBJECT && c == '{'))
        container_begin(r, s, out);
    else if ((string && c == '"') || (number && schema_digits_next(s, &d, c))) {
        schema_run *to = run_add(out, r, RUN_SCALAR);
        if (to) {
            to->now = s;
            to->digits = d;
            to->letter = JSON_CHAR_GROUND;
        }
    }
}

static void value_begin(const schema_run *r, const schema_node *n, uint8_t c, schema_state *out)
{
    out->work += n->count / 2;
    for (size_t i = 0; i < n->count; i++)
        if (n->shapes[i].height + r->depth <= SCHEMA_DEPTH) {
            const size_t before = out->count;
            shape_begin(r, &n->shapes[i], c, out);
            if (out->count > before)
                run_merge(out);
        }
}

/* Whether the scalar that is being read may end. */
static bool scalar_ends(const schema_run *r)
{
    const schema_shape *s = r->now;
    if (s->kind == SCHEMA_CHOICE)
        return s->texts[r->low].size == r->chars; /* the shortest one comes first */
    return (s->kind == SCHEMA_FIXED || s->kind == SCHEMA_NUMBER) && schema_digits_end(s, &r->digits);
}

static void string_next(const schema_run *r, uint8_t c, schema_state *out)
{
    const schema_shape *s = r->now;
    const uint8_t next = json_char_next(r->letter, c, true);
    const size_t chars = r->chars + (r->letter == JSON_CHAR_GROUND);
    if (next == JSON_CHAR_QUOTE && r->chars >= s->min)
        schema_run_close(r, out);
    if (next >= JSON_CHAR_QUOTE || chars > s->max)
        return;
    schema_run *to = run_copy(out, r);
    if (to) {
        to->letter = next;
        to->chars = s->min > 0 || s->max < SIZE_MAX ? chars : 0;
    }
}

static void pattern_next(const schema_run *r, uint8_t c, schema_state *out)
{
    const schema_dfa *d = r->now->dfa;
    const uint16_t next = d->next[r->low * d->class_count + d->classes[c]];
    if (next != SCHEMA_DFA_BAD) {
        schema_run *to = run_copy(out, r);
        if (to)
            to->low = next;
    } else if (c == '"' && d->accepts[r->low]) {
        schema_run_close(r, out);
    }
}

static void after_next(const schema_run *r, uint8_t c, schema_state *out);
static bool gap_next(const schema_run *r, uint8_t c, schema_state *out);

/* Whether a byte may follow a value within an object or array. Most may not, which is to be known before a run is copied. */
static bool follows_value(uint8_t c)
{
    return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n';
}

/* A byte after a number or a given text, which only it shows to be at its end. */
static void scalar_end(const schema_run *r, uint8_t c, schema_state *out)
{
    schema_run after;
    if (!follows_value(c))
        return;
    memset(&after, 0, offsetof(schema_run, frames));
    memcpy(after.frames, r->frames, r->depth * sizeof *r->frames);
    after.phase = RUN_AFTER;
    after.depth = r->depth;
    if (r->depth == 0 && (c == ' ' || c == '\n'))
        schema_run_close(r, out); /* so that a number ends without a token of the end, too */
    else if (r->depth > 0 && !gap_next(&after, c, out))
        after_next(&after, c, out);
}

static void scalar_next(const schema_run *r, uint8_t c, schema_state *out)
{
    schema_digits d = r->digits;
    const schema_shape *s = r->now;
    if (s->kind == SCHEMA_STRING) {
        string_next(r, c, out);
        return;
    }
    if (s->kind == SCHEMA_PATTERN) {
        pattern_next(r, c, out);
        return;
    }
    if (s->kind == SCHEMA_CHOICE)
        choice_next(r, s, r->chars, r->low, r->high, c, out);
    else if (schema_digits_next(s, &d, c)) {
        schema_run *to = run_copy(out, r);
        if (to)
            to->digits = d;
        return;
    }
    if (scalar_ends(r))
        scalar_end(r, c, out);
}

/* ---- objects and arrays --------------------------------------------------------------------------------------- */

/* Slots from `from` to `*end` - 1 may come next: the first that is required is the last of them. Whether none is. */
static bool slots_end(const schema_shape *s, size_t from, size_t *end)
{
    const bool none = s->needed[from] == s->count;
    *end = none ? s->count : s->needed[from] + 1u;
    return none;
}

static bool object_takes_others(const schema_run *r)
{
    size_t end;
    return node_fits(r, run_top(r)->shape->rest) && slots_end(run_top(r)->shape, run_top(r)->at, &end);
}

static bool object_takes_slots(const schema_run *r, schema_state *out)
{
    size_t end, i;
    const schema_frame *f = run_top(r);
    slots_end(f->shape, f->at, &end);
    for (i = f->at; i < end && !node_fits(r, f->shape->slots[i].value); i++)
        ;
    out->work += (i - f->at) / 4;
    return i < end;
}

static const schema_node *array_item(const schema_run *r)
{
    const schema_frame *f = run_top(r);
    const schema_node *n = f->at < f->shape->count ? f->shape->items[f->at] : f->shape->rest;
    return f->at < f->shape->max && node_fits(r, n) ? n : NULL;
}

static void container_end(const schema_run *r, schema_state *out)
{
    schema_run own = *r;
    own.depth--;
    schema_run_close(&own, out);
}

/* The quotation mark of a key. */
static void key_begin(const schema_run *r, schema_state *out)
{
    schema_run *to;
    if (object_takes_slots(r, out) && (to = run_add(out, r, RUN_KEY)))
        to->high = (uint32_t)run_top(r)->shape->count;
    if (object_takes_others(r) && (to = run_add(out, r, RUN_OTHER_KEY))) {
        to->letter = JSON_CHAR_GROUND;
        to->high = (uint32_t)run_top(r)->shape->count;
    }
}

/* Whether one of the keys low .. high - 1 may come next. */
static bool key_fits(const schema_run *r, uint32_t low, uint32_t high, schema_state *out)
{
    size_t end, k;
    const schema_frame *f = run_top(r);
    const schema_shape *s = f->shape;
    slots_end(s, f->at, &end);
    for (k = low; k < high; k++) {
        const size_t slot = s->order[k];
        if (slot >= f->at && slot < end && node_fits(r, s->slots[slot].value))
            break;
    }
    out->work += (k - low) / 8;
    return k < high;
}

static void key_next(const schema_run *r, uint8_t c, schema_state *out)
{
    const schema_shape *s = run_top(r)->shape;
    const uint32_t low = choice_bound(s, r->chars, r->low, r->high, c), high = choice_bound(s, r->chars, low, r->high, c + 1);
    if (!key_fits(r, low, high, out))
        return;
    const bool whole = s->texts[low].size == r->chars + 1;
    schema_run *to = run_add(out, r, whole ? RUN_VALUE : RUN_KEY);
    if (!to)
        return;
    if (whole) {
        to->want = s->slots[s->order[low]].value;
        to->frames[to->depth - 1].at = s->order[low] + 1u;
    } else {
        to->low = low;
        to->high = high;
        to->chars = r->chars + 1;
    }
}

void schema_run_colon(const schema_run *r, schema_state *out)
{
    schema_run *to = run_add(out, r, RUN_COLON);
    if (to)
        to->frames[to->depth - 1].at = run_top(r)->shape->count;
}

/* A key that is no slot's. It has no escapes, so that it is equal to a slot's only if its bytes are. */
static void other_key_next(const schema_run *r, uint8_t c, schema_state *out)
{
    const schema_shape *s = run_top(r)->shape;
    const uint8_t next = json_char_next(r->letter, c, false);
    const uint32_t low = choice_bound(s, r->chars, r->low, r->high, c), high = choice_bound(s, r->chars, low, r->high, c + 1);
    if (next == JSON_CHAR_QUOTE && low == high)
        schema_run_colon(r, out);
    if (next >= JSON_CHAR_QUOTE)
        return;
    schema_run *to = run_add(out, r, RUN_OTHER_KEY);
    if (!to)
        return;
    to->letter = next;
    if (low < high) {
        to->low = low;
        to->high = high;
        to->chars = r->chars + 1;
    }
}

static void after_next(const schema_run *r, uint8_t c, schema_state *out)
{
    size_t end;
    if (!follows_value(c))
        return;
    schema_run own = *r;
    schema_frame *f = &own.frames[own.depth - 1];
    schema_run *to;
    if (f->shape->kind == SCHEMA_OBJECT) {
        if (c == '}' && slots_end(f->shape, f->at, &end))
            container_end(r, out);
        else if (c == ',' && (object_takes_slots(r, out) || object_takes_others(r)))
            run_add(out, r, RUN_NEXT_KEY);
        return;
    }
    f->at++;
    if (c == ']' && f->at >= f->shape->min)
        container_end(&own, out);
    else if (c == ',' && array_item(&own) && (to = run_add(out, &own, RUN_VALUE)))
        to->want = array_item(&own);
}

/* ---- a byte --------------------------------------------------------------------------------------------------- */

static bool gap_next(const schema_run *r, uint8_t c, schema_state *out)
{
    const bool may = r->phase != RUN_SCALAR && r->phase != RUN_KEY && r->phase != RUN_OTHER_KEY && r->phase != RUN_DONE;
    uint8_t gap = GAP_FULL;
    if (!may || (c != ' ' && c != '\n'))
        return false;
    if (c == '\n' ? r->gap != 0 : r->gap != 0 && (r->gap == GAP_FULL || r->gap > GAP_INDENT * r->depth))
        return true;
    if (c == '\n')
        gap = 1;
    else if (r->gap > 0)
        gap = (uint8_t)(r->gap + 1);
    schema_run *to = run_copy(out, r);
    if (to)
        to->gap = gap;
    return true;
}

static void run_next(const schema_run *r, uint8_t c, schema_state *out)
{
    size_t end;
    schema_run *to;
    if (gap_next(r, c, out))
        return;
    switch (r->phase) {
    case RUN_VALUE: value_begin(r, r->want, c, out); break;
    case RUN_SCALAR: scalar_next(r, c, out); break;
    case RUN_FIRST_ITEM:
        if (c == ']' && run_top(r)->shape->min == 0)
            container_end(r, out);
        else if (array_item(r))
            value_begin(r, array_item(r), c, out);
        break;
    case RUN_FIRST_KEY:
        if (c == '}' && slots_end(run_top(r)->shape, 0, &end))
            container_end(r, out);
        else if (c == '"')
            key_begin(r, out);
        break;
    case RUN_NEXT_KEY:
        if (c == '"')
            key_begin(r, out);
        break;
    case RUN_KEY: key_next(r, c, out); break;
    case RUN_OTHER_KEY: other_key_next(r, c, out); break;
    case RUN_COLON:
        if (c == ':' && (to = run_add(out, r, RUN_VALUE)))
            to->want = run_top(r)->shape->rest;
        break;
    case RUN_AFTER: after_next(r, c, out); break;
    default: break;
    }
}

void schema_step(const schema_state *s, uint8_t c, schema_state *out)
{
    out->count = 0;
    out->work = s->count;
    for (size_t i = 0; i < s->count; i++) {
        const size_t before = out->count;
        run_next(&s->runs[i], c, out);
        if (out->count == before + 1)
            run_merge(out);
    }
}

/* Adds a run unless an equal one is there. */
static void state_join(schema_state *out, const schema_run *r)
{
    size_t patterns = 0;
    const bool pattern = r->phase == RUN_SCALAR && r->now->kind == SCHEMA_PATTERN;
    for (size_t i = 0; i < out->count && pattern; i++)
        patterns += out->runs[i].phase == RUN_SCALAR && out->runs[i].now->kind == SCHEMA_PATTERN;
    if (patterns < SCHEMA_PATTERN_RUNS && run_copy(out, r))
        run_merge(out);
}

void schema_advance(const schema_state *s, const char *bytes, size_t size, schema_state *scratch, schema_state *out)
{
    out->count = out->work = 0;
    for (size_t i = 0; i < s->count; i++) {
        schema_state *now = scratch, *next = scratch + 1;
        now->count = 0;
        run_copy(now, &s->runs[i]);
        for (size_t k = 0; k < size && now->count > 0; k++) {
            schema_state *const swap = now;
            schema_step(now, (uint8_t)bytes[k], next);
            now = next;
            next = swap;
        }
        for (size_t k = 0; k < now->count; k++)
            state_join(out, &now->runs[k]);
    }
}

void schema_state_begin(schema_state *s, const json_schema *of)
{
    s->count = 1;
    memset(&s->runs[0], 0, sizeof s->runs[0]);
    s->runs[0].phase = RUN_VALUE;
    s->runs[0].want = of->root;
}

bool schema_state_complete(const schema_state *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const schema_run *r = &s->runs[i];
        if (r->phase == RUN_DONE || (r->phase == RUN_SCALAR && r->depth == 0 && scalar_ends(r)))
            return true;
    }
    return false;
}

bool schema_state_done(const schema_state *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->runs[i].phase != RUN_DONE)
            return false;
    return true;
}
