/* serve/module/field_list.c: names and values in their order. No parsing here. */
#define _GNU_SOURCE /* strndup */
#include "serve/module/exchange_parts.h"

#include "base/buffer.h"

#include <string.h>
#include <strings.h>

bool field_list_add(field_list *p, const char *name, size_t name_size, const char *value, size_t value_size)
{
    if (!ARRAY_RESERVE(&p->at, &p->capacity, p->count + 1))
        return false;
    named_text *to = &p->at[p->count];
    *to = (named_text){.name = strndup(name, name_size), .value = strndup(value, value_size)};
    if (to->name && to->value) {
        p->count++;
        return true;
    }
    free(to->name);
    free(to->value);
    return false;
}

const char *field_list_find(const field_list *p, const char *name, bool any_case)
{
    for (size_t i = 0; i < p->count; i++)
        if ((any_case ? strcasecmp : strcmp)(p->at[i].name, name) == 0)
            return p->at[i].value;
    return NULL;
}

void field_list_free(field_list *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->at[i].name);
        free(p->at[i].value);
    }
    free(p->at);
    *p = (field_list){0};
}
