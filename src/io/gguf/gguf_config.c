/* io/gguf/gguf_config.c: values of a GGUF file as members of config.json. */
#include "io/gguf/gguf_folder.h"

#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { KEY = 128, MOST_SIZE = 1 << 30 };

void gguf_config_refuse(gguf_config *c, const char *reason)
{
    if (!c->code)
        c->code = rapt_fail(c->err, RAPT_ERR_FORMAT, "%s: %s", c->file->path, reason);
}

static void gguf_refuse_key(gguf_config *c, const char *key, const char *reason)
{
    char text[KEY + 128];
    snprintf(text, sizeof text, "\"%s.%s\" %s", c->of->name, key, reason);
    gguf_config_refuse(c, text);
}

const gguf_value *gguf_config_value(gguf_config *c, const char *key)
{
    char whole[KEY];
    snprintf(whole, sizeof whole, "%s.%s", c->of->name, key);
    const gguf_value *value = gguf_find(c->file, whole);
    if (value)
        c->seen[value - c->file->values] = true;
    return value;
}

size_t gguf_config_size(gguf_config *c, const char *key, bool needed)
{
    const gguf_value *value = gguf_config_value(c, key);
    int64_t size = 0, other = 0;
    if (!value && needed)
        gguf_refuse_key(c, key, "is missing");
    if (!value || c->code)
        return 0;
    if (value->count == 0 || !gguf_whole(value, 0, &size) || size < 0 || size > MOST_SIZE)
        gguf_refuse_key(c, key, "must be a whole number up to 2^30");
    for (size_t i = 1; i < value->count && !c->code; i++)
        if (!gguf_whole(value, i, &other) || other != size)
            gguf_refuse_key(c, key, "differs from layer to layer, which rapt does not compute");
    if (needed && size == 0)
        gguf_refuse_key(c, key, "is 0");
    return c->code ? 0 : (size_t)size;
}

/* Converters had a double, and wrote it in fp32. */
static double shortest_single(double x)
{
    char text[NUMBER_TEXT];
    for (int digits = 1; digits < 9; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, x);
        const double read = number_read(text, NULL);
        if ((float)read == (float)x)
            return read;
    }
    return x;
}

double gguf_config_real(gguf_config *c, const char *key, double otherwise)
{
    const gguf_value *value = gguf_config_value(c, key);
    double x = otherwise;
    if (value && (value->is_array || !gguf_real(value, 0, &x) || !isfinite(x)))
        gguf_refuse_key(c, key, "must be a number");
    return value && !c->code && value->type == GGUF_F32 ? shortest_single(x) : x;
}

bool gguf_config_flag(gguf_config *c, const char *key, bool otherwise)
{
    const gguf_value *value = gguf_config_value(c, key);
    int64_t flag = otherwise;
    if (value && (value->is_array || value->type != GGUF_BOOL || !gguf_whole(value, 0, &flag)))
        gguf_refuse_key(c, key, "must be true or false");
    return flag != 0;
}

/* ---- members ---------------------------------------------------------------------------------------------------- */

void gguf_config_put(gguf_config *c, const char *member, json_t *value)
{
    if (json_object_set_new(c->root, member, value) != 0 && !c->code)
        c->code = rapt_fail(c->err, RAPT_ERR_MEMORY, "%s: out of memory for a configuration", c->file->path);
}

void gguf_config_put_size(gguf_config *c, const char *member, const char *key)
{
    const size_t size = gguf_config_size(c, key, true);
    gguf_config_put(c, member, json_integer((json_int_t)size));
}

void gguf_config_put_real(gguf_config *c, const char *member, const char *key)
{
    if (gguf_config_value(c, key))
        gguf_config_put(c, member, json_real(gguf_config_real(c, key, 0)));
}

bool gguf_config_has(const gguf_config *c, const char *tensor)
{
    return gguf_find_tensor(c->file, tensor) != NULL;
}
