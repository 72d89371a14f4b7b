/* tensor/type.c: the names of numeric types, and what refuses those that a place does not take. */
#include "tensor/type.h"

#include <stdio.h>
#include <string.h>

#define NAME(type, text) text,
static const char *const NAMES[] = {RAPT_TYPES(NAME)};
enum { NAME_COUNT = sizeof NAMES / sizeof *NAMES };

const char *rapt_type_name(rapt_type type)
{
    return (unsigned)type < NAME_COUNT ? NAMES[type] : NULL;
}

rapt_code rapt_type_parse(const char *name, rapt_type *type, rapt_error *err)
{
    for (unsigned i = 0; i < NAME_COUNT; i++)
        if (strcmp(name, NAMES[i]) == 0) {
            *type = (rapt_type)i;
            return RAPT_OK;
        }
    return rapt_fail(err, RAPT_ERR_VALUE, "'%s' is no numeric type: fp32, bf16, q8_0, q4_0 or fp16", name);
}

static rapt_code type_refuse(const char *what, rapt_type type, const char *taken, rapt_error *err)
{
    char number[32];
    const char *name = rapt_type_name(type);
    snprintf(number, sizeof number, "type %d", (int)type);
    return rapt_fail(err, RAPT_ERR_VALUE, "%s in %s; there are %s", what, name ? name : number, taken);
}

rapt_code type_check_products(rapt_type type, rapt_error *err)
{
    return (unsigned)type <= RAPT_TYPE_Q4_0 ? RAPT_OK
           : type_refuse("matrix products", type, "fp32, bf16, q8_0 and q4_0", err);
}

rapt_code type_check_kv(rapt_type type, rapt_error *err)
{
    return (unsigned)type <= RAPT_TYPE_Q8_0 ? RAPT_OK : type_refuse("keys and values", type, "fp32, bf16 and q8_0", err);
}
