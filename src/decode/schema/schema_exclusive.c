/* decode/schema/schema_exclusive.c: two nodes exclude each other if all of their shapes do: by the kind of value, by given texts,
 * or by a key that both objects need. */
#include "decode/schema/schema_exclusive.h"

#include <string.h>

enum { MAX_LEVELS = 4 }; /* of objects, whose keys are compared */

/* Kinds of values by their first byte. Values of different kinds exclude each other. Given texts may have several. */
enum { KIND_NULL = 1, KIND_FALSE = 2, KIND_TRUE = 4, KIND_NUMBER = 8, KIND_STRING = 16, KIND_ARRAY = 32, KIND_OBJECT = 64,
       KIND_ALL = 127 };

static int kind_of_byte(char c)
{
    switch (c) {
    case 'n': return KIND_NULL;
    case 'f': return KIND_FALSE;
    case 't': return KIND_TRUE;
    case '"': return KIND_STRING;
    case '[': return KIND_ARRAY;
    case '{': return KIND_OBJECT;
    default: return KIND_NUMBER;
    }
}

static int kinds_of(const schema_shape *s)
{
    static const int kinds[] = {[SCHEMA_STRING] = KIND_STRING, [SCHEMA_PATTERN] = KIND_STRING, [SCHEMA_FIXED] = KIND_NUMBER,
                                [SCHEMA_NUMBER] = KIND_NUMBER, [SCHEMA_ARRAY] = KIND_ARRAY, [SCHEMA_OBJECT] = KIND_OBJECT};
    int all = 0;
    if (s->kind != SCHEMA_CHOICE)
        return kinds[s->kind];
    for (size_t i = 0; i < s->count; i++)
        all |= kind_of_byte(s->texts[i].bytes[0]);
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

/* What the schema allows and the shape leaves out must be excluded too; a kind that only follows from keywords leaves out other
 * kinds. Equal numbers may be written in two ways, and so may equal given objects: only texts and words are compared. */
static bool shapes_exclude(schema_work *w, const schema_shape *a, const schema_shape *b, int levels)
{
    const bool given = a->kind == SCHEMA_CHOICE && b->kind == SCHEMA_CHOICE;
    if (!schema_pay(w, 4 + (a->kind == SCHEMA_CHOICE ? a->count : 0) + (b->kind == SCHEMA_CHOICE ? b->count : 0)))
        return false;
    const int both = a->inferred || b->inferred ? KIND_ALL : kinds_of(a) & kinds_of(b);
    if (!both)
        return true;
    if (given && !(kinds_of(a) & kinds_of(b) & (KIND_ARRAY | KIND_OBJECT)))
        return texts_exclude(a, b);
    return a->kind == SCHEMA_OBJECT && b->kind == SCHEMA_OBJECT && levels > 0 && objects_exclude(w, a, b, levels);
}

static bool nodes_exclude(schema_work *w, const schema_node *a, const schema_node *b, int levels)
{
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
