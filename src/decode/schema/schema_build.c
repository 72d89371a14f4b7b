/* decode/schema/schema_build.c: from a schema's text to nodes. A node stands for the values that obey some schemas at once, so
 * that a schema that refers to itself has finitely many. Nodes are made one after the other, and the heights of all at the
 * end. */
#include "decode/schema/schema_bounds.h"
#include "decode/schema/schema_document.h"
#include "decode/schema/schema_exclusive.h"
#include "decode/schema/schema_given.h"
#include "decode/schema/schema_heights.h"
#include "decode/schema/schema_pattern.h"
#include "decode/schema/schema_rows.h"

#include "base/buffer.h"
#include "base/rng.h"

enum { CHUNK = 16 << 10, MAX_KEYS = 1024, MAX_ITEMS = 256, MAX_ONE_OF = 64, BUCKETS = 1024 };

/* A node and the schemas that its values obey. */
typedef struct built_node {
    schema_node node; /* first, so that its address is the node's */
    const json_t *list[FACTS_SCHEMAS];
    size_t count, shape_capacity;
    struct built_node *next; /* in its bucket */
} built_node;

typedef struct one_of {
    const json_t *schema, *list;
} one_of;

typedef struct builder {
    json_schema *s;
    schema_work work;
    built_node **nodes;     /* [count] */
    size_t count, capacity;
    built_node *buckets[BUCKETS];
    built_node *now;        /* gets shapes */
    given_lists given;
    pattern_list patterns;
    one_of *exclusive;      /* [exclusive_count] to be checked at the end */
    size_t exclusive_count, exclusive_capacity;
} builder;

/* ---- nodes ---------------------------------------------------------------------------------------------------- */

/* The schemas of a node that is wanted: true says nothing, and none is needed twice. */
typedef struct wanted {
    const json_t *list[FACTS_SCHEMAS];
    size_t count;
    bool too_many;
} wanted;

static void want(wanted *w, const json_t *schema)
{
    if (!schema || json_is_true(schema))
        return;
    for (size_t i = 0; i < w->count; i++)
        if (w->list[i] == schema)
            return;
    if (w->count == FACTS_SCHEMAS)
        w->too_many = true;
    else
        w->list[w->count++] = schema;
}

static size_t bucket_of(const wanted *w)
{
    uint64_t hash = w->count;
    for (size_t i = 0; i < w->count; i++)
        hash = rng_mix(hash, (uint64_t)(uintptr_t)w->list[i]);
    return hash % BUCKETS;
}

static const schema_node *node_add(builder *b, const wanted *w, size_t bucket, rapt_error *err)
{
    built_node *made = schema_alloc(&b->work, 1, sizeof *made, err);
    if (!made)
        return NULL;
    if (!ARRAY_RESERVE(&b->nodes, &b->capacity, b->count + 1)) {
        schema_no_memory(err);
        return NULL;
    }
    *made = (built_node){.node.height = SCHEMA_NEVER, .count = w->count, .next = b->buckets[bucket]};
    memcpy(made->list, w->list, sizeof w->list);
    b->buckets[bucket] = made;
    b->nodes[b->count++] = made;
    return &made->node;
}

/* NULL with `err` set. */
static const schema_node *node_of(builder *b, const wanted *w, rapt_error *err)
{
    const size_t bucket = bucket_of(w);
    size_t passed = 0;
    for (built_node *n = b->buckets[bucket]; n; n = n->next, passed++)
        if (n->count == w->count && memcmp(n->list, w->list, w->count * sizeof *w->list) == 0)
            return schema_charge(&b->work, w->list[0], STEPS_KEYWORD + passed, err) ? NULL : &n->node;
    if (w->too_many)
        schema_refuse(&b->work, w->list[0], err, "more than %d schemas hold at once for one value", FACTS_SCHEMAS);
    else if (b->count == SCHEMA_MAX_NODES)
        schema_refuse(&b->work, w->list[0], err, "the schema is too large: more than %d different values", SCHEMA_MAX_NODES);
    else if (!schema_charge(&b->work, w->list[0], STEPS_KEYWORD + passed, err))
        return node_add(b, w, bucket, err);
    return NULL;
}

static const schema_node *node_of_one(builder *b, const json_t *schema, rapt_error *err)
{
    wanted w = {.count = 0};
    want(&w, schema);
    return node_of(b, &w, err);
}

/* Scalars that differ in nothing are one. */
static bool shapes_same(const schema_shape *a, const schema_shape *b)
{
    return a->kind == b->kind && a->kind != SCHEMA_ARRAY && a->kind != SCHEMA_OBJECT && a->kind != SCHEMA_CHOICE &&
           a->min == b->min && a->max == b->max && a->dfa == b->dfa && a->low == b->low &&
           a->high == b->high && a->step == b->step && a->decimals == b->decimals;
}

static rapt_code check_shape_count(builder *b, schema_kind kind, rapt_error *err)
{
    const schema_node *n = &b->now->node;
    size_t patterns = kind == SCHEMA_PATTERN;
    for (size_t i = 0; i < n->count; i++)
        patterns += n->shapes[i].kind == SCHEMA_PATTERN;
    if (n->count == SCHEMA_RUNS)
        return schema_refuse(&b->work, b->now->list[0], err, "the schema is too large: a value of more than %d alternatives",
                             SCHEMA_RUNS);
    return patterns > SCHEMA_PATTERN_RUNS
               ? schema_refuse(&b->work, b->now->list[0], err, "a value of more than %d patterns or formats", SCHEMA_PATTERN_RUNS)
               : RAPT_OK;
}

static rapt_code add_shape(builder *b, schema_shape shape, rapt_error *err)
{
    schema_node *n = &b->now->node;
    shape.height = shape.kind == SCHEMA_ARRAY || shape.kind == SCHEMA_OBJECT ? SCHEMA_NEVER : 0;
    for (size_t i = 0; i < n->count; i++)
        if (shapes_same(&n->shapes[i], &shape))
            return RAPT_OK;
    rapt_code code = check_shape_count(b, shape.kind, err);
    if (!code && n->count == b->now->shape_capacity) {
        const size_t capacity = n->count ? 2 * n->count : 2;
        schema_shape *more = schema_alloc(&b->work, capacity, sizeof *more, err);
        if (!more)
            return err->code;
        if (n->count > 0)
            memcpy(more, n->shapes, n->count * sizeof *more);
        n->shapes = more;
        b->now->shape_capacity = capacity;
    }
    if (!code)
        n->shapes[n->count++] = shape;
    return code;
}

/* ---- arrays --------------------------------------------------------------------------------------------------- */

/* The schemas of the first items, and of the others, in the words of 2020 and of the drafts before. */
static const json_t *first_items(const json_t *schema)
{
    const json_t *prefix = json_object_get(schema, "prefixItems"), *items = json_object_get(schema, "items");
    return prefix ? prefix : json_is_array(items) ? items : NULL;
}

static const json_t *other_items(const json_t *schema)
{
    const json_t *items = json_object_get(schema, "items");
    return json_is_array(items) ? json_object_get(schema, "additionalItems") : items;
}

static const schema_node *item_node(builder *b, const schema_facts *f, size_t i, rapt_error *err)
{
    wanted w = {.count = 0};
    if (f->array_count > 0 && schema_charge(&b->work, f->arrays[0], f->array_count * STEPS_KEYWORD, err))
        return NULL;
    for (size_t k = 0; k < f->array_count; k++) {
        const json_t *first = first_items(f->arrays[k]);
        want(&w, i < json_array_size(first) ? json_array_get(first, i) : other_items(f->arrays[k]));
    }
    return node_of(b, &w, err);
}

static rapt_code add_array(builder *b, const schema_facts *f, rapt_error *err)
{
    schema_shape s = {.kind = SCHEMA_ARRAY, .min = f->min_items, .max = f->max_items};
    for (size_t k = 0; k < f->array_count; k++) {
        const size_t size = json_array_size(first_items(f->arrays[k]));
        s.count = size > s.count ? size : s.count;
    }
    if (s.count > MAX_ITEMS)
        return schema_refuse(&b->work, f->arrays[0], err, "\"prefixItems\" has more than %d schemas", MAX_ITEMS);
    if (!(s.items = schema_alloc(&b->work, s.count, sizeof *s.items, err)))
        return err->code;
    for (size_t i = 0; i < s.count; i++)
        if (!(s.items[i] = item_node(b, f, i, err)))
            return err->code;
    if (!(s.rest = item_node(b, f, s.count, err)))
        return err->code;
    return s.min <= s.max ? add_shape(b, s, err) : RAPT_OK;
}

/* ---- objects -------------------------------------------------------------------------------------------------- */

/* What the schemas of an object say about a key. */
static const schema_node *key_node(builder *b, const schema_facts *f, const char *key, rapt_error *err)
{
    wanted w = {.count = 0};
    for (size_t k = 0; k < f->object_count; k++) {
        const json_t *own = json_object_get(json_object_get(f->objects[k], "properties"), key);
        want(&w, own ? own : json_object_get(f->objects[k], "additionalProperties"));
    }
    return node_of(b, &w, err);
}

/* `keys` has the number of each key's slot. */
static rapt_code new_slot(builder *b, const schema_facts *f, schema_shape *s, json_t *keys, const char *key, rapt_error *err)
{
    json_t *text = json_string(key);
    schema_slot *slot = &s->slots[s->count];
    rapt_code code = text ? RAPT_OK : schema_no_memory(err);
    if (!code && s->count == MAX_KEYS)
        code = schema_refuse(&b->work, f->objects[0], err, "an object of more than %d keys", MAX_KEYS);
    *slot = (schema_slot){.required = false};
    code = code ? code : schema_json(&b->work, text, ":", &slot->text, err);
    json_decref(text);
    if (!code && json_object_set_new(keys, key, json_integer((json_int_t)s->count)))
        code = schema_no_memory(err);
    s->count++;
    return code || (slot->value = key_node(b, f, key, err)) ? code : err->code;
}

static rapt_code add_slot(builder *b, const schema_facts *f, schema_shape *s, json_t *keys, const char *key, bool required,
                          rapt_error *err)
{
    rapt_code code = schema_charge(&b->work, f->objects[0], STEPS_KEY + 4 * strlen(key), err); /* hashed, and read */
    const json_t *found = json_object_get(keys, key);
    const size_t at = found ? (size_t)json_integer_value(found) : s->count;
    if (!code && !found)
        code = new_slot(b, f, s, keys, key, err);
    if (!code && required)
        s->slots[at].required = true;
    return code;
}

static rapt_code add_slots(builder *b, const schema_facts *f, schema_shape *s, json_t *keys, rapt_error *err)
{
    const char *key;
    json_t *one;
    size_t i;
    rapt_code code = RAPT_OK;
    for (size_t k = 0; k < f->object_count && !code; k++) {
        json_t *properties = json_object_get(f->objects[k], "properties");
        json_object_foreach(properties, key, one)
            if (!code)
                code = add_slot(b, f, s, keys, key, false, err);
    }
    for (size_t k = 0; k < f->object_count && !code; k++) {
        const json_t *required = json_object_get(f->objects[k], "required");
        json_array_foreach(required, i, one)
            if (!code)
                code = add_slot(b, f, s, keys, json_string_value(one), true, err);
    }
    return code;
}

static int by_slot_key(const void *a, const void *b)
{
    return schema_text_order(&(*(schema_slot *const *)a)->text, &(*(schema_slot *const *)b)->text);
}

/* What finds the keys that may come next. */
static rapt_code order_slots(builder *b, const schema_facts *f, schema_shape *s, rapt_error *err)
{
    rapt_code code = schema_charge(&b->work, f->object_count > 0 ? f->objects[0] : b->work.root, s->count * STEPS_KEYWORD, err);
    schema_slot **sorted = code ? NULL : schema_alloc(&b->work, s->count, sizeof *sorted, err);
    s->texts = sorted ? schema_alloc(&b->work, s->count, sizeof *s->texts, err) : NULL;
    s->order = s->texts ? schema_alloc(&b->work, s->count, sizeof *s->order, err) : NULL;
    s->needed = s->order ? schema_alloc(&b->work, s->count + 1, sizeof *s->needed, err) : NULL;
    if (!s->needed)
        return err->code;
    for (size_t i = 0; i < s->count; i++)
        sorted[i] = &s->slots[i];
    if (s->count > 1)
        qsort(sorted, s->count, sizeof *sorted, by_slot_key);
    for (size_t i = 0; i < s->count; i++) {
        s->texts[i] = sorted[i]->text;
        s->order[i] = (uint16_t)(sorted[i] - s->slots);
    }
    s->needed[s->count] = (uint16_t)s->count;
    for (size_t i = s->count; i-- > 0;)
        s->needed[i] = s->slots[i].required ? (uint16_t)i : s->needed[i + 1];
    return RAPT_OK;
}

/* Other keys: what "additionalProperties" says. If nothing does, an object with "properties" has no others, which any schema
 * allows. */
static rapt_code add_other_keys(builder *b, const schema_facts *f, schema_shape *s, rapt_error *err)
{
    wanted w = {.count = 0};
    bool said = false, named = false;
    for (size_t k = 0; k < f->object_count; k++) {
        const json_t *other = json_object_get(f->objects[k], "additionalProperties");
        said = said || other;
        named = named || json_object_get(f->objects[k], "properties");
        want(&w, other);
    }
    if (said || !named)
        s->rest = node_of(b, &w, err);
    return said || !named ? (s->rest ? RAPT_OK : err->code) : RAPT_OK;
}

static rapt_code add_object(builder *b, const schema_facts *f, rapt_error *err)
{
    schema_shape s = {.kind = SCHEMA_OBJECT};
    size_t most = 0;
    for (size_t k = 0; k < f->object_count; k++)
        most += json_object_size(json_object_get(f->objects[k], "properties")) +
                json_array_size(json_object_get(f->objects[k], "required"));
    most = most < MAX_KEYS ? most : MAX_KEYS;
    s.slots = schema_alloc(&b->work, most + 1, sizeof *s.slots, err); /* one more, in which a key that is too many is made */
    if (!s.slots)
        return err->code;
    json_t *keys = json_object();
    rapt_code code = keys ? add_slots(b, f, &s, keys, err) : schema_no_memory(err);
    json_decref(keys);
    code = code ? code : order_slots(b, f, &s, err);
    code = code ? code : add_other_keys(b, f, &s, err);
    return code ? code : add_shape(b, s, err);
}

/* ---- one alternative of a value ------------------------------------------------------------------------------- */

static rapt_code add_string(builder *b, const schema_facts *f, rapt_error *err)
{
    schema_shape s = {.kind = f->pattern ? SCHEMA_PATTERN : SCHEMA_STRING, .min = f->min_length, .max = f->max_length};
    if (f->pattern && (f->min_length > 0 || f->max_length < SIZE_MAX))
        return schema_refuse(&b->work, f->pattern_of, err, "\"minLength\" or \"maxLength\" beside a pattern or format is not "
                                                          "supported");
    if (f->pattern && !(s.dfa = pattern_list_find(&b->patterns, f->pattern, f->pattern_of, err)))
        return err->code;
    return s.min <= s.max ? add_shape(b, s, err) : RAPT_OK;
}

static rapt_code add_number(builder *b, const schema_facts *f, unsigned types, rapt_error *err)
{
    schema_shape s;
    rapt_code code = schema_bounds(&b->work, f, types, &s, err);
    if (f->low < -SCHEMA_INTEGER || f->high > SCHEMA_INTEGER)
        b->now->node.beyond |= types & TYPE_NUMBER;
    return !code && s.count > 0 ? add_shape(b, s, err) : code;
}

/* A schema_facts_fn. */
static rapt_code builder_take(void *context, const schema_facts *f, rapt_error *err)
{
    builder *b = context;
    const unsigned types = f->types & (f->typed || !f->named ? TYPE_ALL : f->named);
    b->now->node.beyond |= f->types & ~types;
    if (f->value_count > 0)
        return given_add_values(&b->given, f, f->pattern && f->types & TYPE_STRING, err);
    rapt_code code = given_add_words(&b->given, types, err);
    if (!code && types & TYPE_STRING)
        code = add_string(b, f, err);
    if (!code && types & TYPE_NUMBER)
        code = add_number(b, f, types, err);
    if (!code && types & TYPE_ARRAY)
        code = add_array(b, f, err);
    if (!code && types & TYPE_OBJECT)
        code = add_object(b, f, err);
    return code;
}

/* Makes the shapes of a node; what it lists in several alternatives becomes one. */
static rapt_code fill_node(builder *b, built_node *n, schema_reader *r, rapt_error *err)
{
    schema_shape given;
    b->now = n;
    rapt_code code = schema_facts_read(r, n->list, n->count, err);
    code = code ? code : given_take(&b->given, &given, err);
    return !code && given.count > 0 ? add_shape(b, given, err) : code;
}

/* ---- alternatives that exclude each other ---------------------------------------------------------------------- */

/* A schema_exclusive_fn: the check comes when all nodes have their shapes. */
static rapt_code builder_exclude(void *context, const json_t *of, const json_t *list, rapt_error *err)
{
    builder *b = context;
    if (schema_charge(&b->work, of, 1 + b->exclusive_count / 4, err))
        return RAPT_ERR_VALUE;
    for (size_t i = 0; i < b->exclusive_count; i++)
        if (b->exclusive[i].list == list)
            return RAPT_OK;
    if (!ARRAY_RESERVE(&b->exclusive, &b->exclusive_capacity, b->exclusive_count + 1))
        return schema_no_memory(err);
    b->exclusive[b->exclusive_count++] = (one_of){of, list};
    if (json_array_size(list) > MAX_ONE_OF)
        return schema_refuse(&b->work, of, err, "\"oneOf\" has more than %d schemas", MAX_ONE_OF);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!node_of_one(b, json_array_get(list, i), err))
            return err->code;
    return RAPT_OK;
}

static rapt_code check_pair(builder *b, const one_of *o, size_t i, size_t k, rapt_error *err)
{
    const schema_node *p = node_of_one(b, json_array_get(o->list, i), err);
    const schema_node *q = p ? node_of_one(b, json_array_get(o->list, k), err) : NULL;
    if (!q)
        return err->code;
    if (p != q && schema_exclusive(&b->work, p, q))
        return RAPT_OK;
    rapt_code code = schema_charge(&b->work, o->schema, 1, err);
    return code ? code : schema_refuse(&b->work, o->schema, err, "\"oneOf\": schemas %zu and %zu do not clearly exclude each "
                                                                 "other; \"anyOf\" takes them", k, i);
}

static rapt_code check_exclusive(builder *b, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t n = 0; n < b->exclusive_count; n++)
        for (size_t i = 0; i < json_array_size(b->exclusive[n].list); i++)
            for (size_t k = 0; k < i && !code; k++)
                code = check_pair(b, &b->exclusive[n], i, k, err);
    return code;
}

/* ---- all of it ------------------------------------------------------------------------------------------------ */

static rapt_code build_nodes(builder *b, rapt_error *err)
{
    json_schema *s = b->s;
    schema_reader r = {&b->work, builder_take, builder_exclude, b};
    rapt_code code = (s->root = node_of_one(b, b->work.root, err)) ? RAPT_OK : err->code;
    for (size_t i = 0; i < b->count && !code; i++)
        code = fill_node(b, b->nodes[i], &r, err);
    if (!code && !(s->nodes = schema_alloc(&b->work, b->count, sizeof *s->nodes, err)))
        code = err->code;
    for (size_t i = 0; i < b->count && !code; i++)
        s->nodes[s->node_count++] = &b->nodes[i]->node;
    code = code ? code : schema_heights(s, &b->work, err);
    code = code ? code : check_exclusive(b, err);
    if (!code && s->root->height >= SCHEMA_NEVER)
        code = schema_refuse(&b->work, b->work.root, err, "no value obeys it, or none of at most %d levels", SCHEMA_DEPTH);
    return code;
}

rapt_code schema_build(json_schema *s, const char *text, size_t size, size_t max_memory, rapt_error *err)
{
    rapt_error own = {0};
    *s = (json_schema){.root = NULL};
    arena_init(&s->memory, CHUNK);
    json_t *root = schema_document_read(text, size, &own);
    builder *b = root ? calloc(1, sizeof *b) : NULL;
    rapt_code code = b || !root ? own.code : schema_no_memory(&own);
    if (b) {
        b->s = s;
        b->work = (schema_work){root, &s->memory, max_memory, SCHEMA_STEPS};
        b->given.work = b->patterns.work = &b->work;
        code = build_nodes(b, &own);
        s->tables.most = b->patterns.count > 0 ? SCHEMA_TABLES : 0;
        atomic_init(&s->tables.left, s->tables.most);
        given_lists_free(&b->given);
        free(b->patterns.list);
        free(b->nodes);
        free(b->exclusive);
    }
    free(b);
    json_decref(root);
    return code ? rapt_fail(err, code, "%s", own.message) : RAPT_OK;
}

void schema_free(json_schema *s)
{
    schema_rows_free(&s->tables);
    arena_free(&s->memory);
}
