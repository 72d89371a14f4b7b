/* decode/schema/schema_exclusive.c: two nodes exclude each other if all of their shapes do: by the type of value, by given texts,
 * or by a key that both objects need. */
#include "decode/schema/schema_exclusive.h"

#include "decode/schema/schema_facts.h"

#include <string.h>

enum { MAX_LEVELS = 4 }; /* of objects, whose keys are compared */

static unsigned type_of_byte(char c)
{
    switch (c) {
    case 'n': return TYPE_NULL;
    case 'f': case 't': return TYPE_BOOLEAN;
    case '"': return TYPE_STRING;
    case '[': return TYPE_ARRAY;
    case '{': return TYPE_OBJECT;
    default: return TYPE_NUMBER;
    }
}

static unsigned types_of(const schema_shape *s)
{
    static const unsigned types[] = {[SCHEMA_STRING] = TYPE_STRING, [SCHEMA_PATTERN] = TYPE_STRING, [SCHEMA_FIXED] = TYPE_NUMBER,
                                     [SCHEMA_NUMBER] = TYPE_NUMBER, [SCHEMA_ARRAY] = TYPE_ARRAY, [SCHEMA_OBJECT] = TYPE_OBJECT};
    unsigned all = 0;
    if (s->kind != SCHEMA_CHOICE)
        return types[s->kind];
    for (size_t i = 0; i < s->count; i++)
        all |= type_of_byte(s->texts[i].bytes[0]);
    return all;
}

static bool text_is(const schema_text *a, const schema_text *b)
{
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

/* Both are in order. */
static bool texts_exclude(const schema_shape *a, const schema_shape *b)
{
    for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
        const schema_text *p = &a->texts[i], *q = &b->texts[k];
        const int order = memcmp(p->bytes, q->bytes, p->size < q->size ? p->size : q->size);
        if (text_is(p, q))
            return false;
        if (order ? order < 0 : p->size < q->size)
            i++;
        else
            k++;
    }
    return true;
}

static bool nodes_exclude(schema_work *w, const schema_node *a, const schema_node *b, int levels);

/* Two objects, if both must have a key whose values exclude each other. */
static bool objects_exclude(schema_work *w, const schema_shape *a, const schema_shape *b, int levels)
{
    for (size_t i = 0; i < a->count; i++) {
        const schema_slot *p = &a->slots[i];
        if (!schema_pay(w, p->required ? b->count + 1 : 1))
            return false;
        for (size_t k = 0; k < b->count && p->required; k++)
            if (b->slots[k].required && text_is(&p->text, &b->slots[k].text) &&
                nodes_exclude(w, p->value, b->slots[k].value, levels - 1))
                return true;
    }
    return false;
}

static size_t given_count(const schema_shape *s)
{
    return s->kind == SCHEMA_CHOICE ? s->count : 0;
}

/* Equal given values have equal texts (schema_given.c). */
static bool shapes_exclude(schema_work *w, const schema_shape *a, const schema_shape *b, int levels)
{
    if (!schema_pay(w, 4 + given_count(a) + given_count(b)))
        return false;
    if (!(types_of(a) & types_of(b)))
        return true;
    if (a->kind == SCHEMA_CHOICE && b->kind == SCHEMA_CHOICE)
        return texts_exclude(a, b);
    return a->kind == SCHEMA_OBJECT && b->kind == SCHEMA_OBJECT && levels > 0 && objects_exclude(w, a, b, levels);
}

/* Whether no shape has a type of `beyond`. */
static bool node_avoids(schema_work *w, const schema_node *n, unsigned beyond)
{
    for (size_t i = 0; i < n->count && beyond; i++)
        if (!schema_pay(w, 1 + given_count(&n->shapes[i])) || (types_of(&n->shapes[i]) & beyond))
            return false;
    return true;
}

/* No value that one of them has may obey the schema of the other, whose shapes may have less than it allows. */
static bool nodes_exclude(schema_work *w, const schema_node *a, const schema_node *b, int levels)
{
    if (!node_avoids(w, a, b->beyond) || !node_avoids(w, b, a->beyond))
        return false;
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < b->count; k++)
            if (!shapes_exclude(w, &a->shapes[i], &b->shapes[k], levels))
                return false;
    return true;
}

bool schema_exclusive(schema_work *w, const schema_node *a, const schema_node *b)
{
    return nodes_exclude(w, a, b, MAX_LEVELS);
}
