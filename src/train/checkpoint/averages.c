/* train/checkpoint/averages.c: names, checks and reads averages of parameters. */
#include "train/checkpoint/averages.h"

#include "base/chars.h"
#include "group/group_ops.h"
#include "io/params_file.h"

#include <stdio.h>
#include <stdlib.h>

#define PREFIX "ema."

/* In fixed memory: reading must not fail on one rank while the others wait for it. */
typedef struct short_name {
    char text[1024];
} short_name;

static bool take_short_name(const char *of, short_name *name)
{
    return snprintf(name->text, sizeof name->text, PREFIX "%s", of) < (int)sizeof name->text;
}

char *averages_name(const rapt_param *p)
{
    return chars_print(PREFIX "%s", p->value.name);
}

rapt_real *averages_of(const moments *m, const rapt_param *p)
{
    return m->average ? moving_average_of(m->average, p->index) : NULL;
}

rapt_code averages_check(const safetensors *file, const char *path, const rapt_param *p, const moments *m, rapt_error *err)
{
    short_name name;
    if (!averages_of(m, p))
        return RAPT_OK;
    if (!take_short_name(p->value.name, &name))
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: the name of a parameter with an average has more than 1000 bytes", path);
    return params_check(file, path, name.text, &p->value, err);
}

rapt_code averages_read(const safetensors *file, const char *path, const rapt_param *p, const moments *m, rapt_error *err)
{
    short_name name;
    rapt_real *to = averages_of(m, p);
    rapt_code code = RAPT_OK;
    if (!to)
        return RAPT_OK;
    if (file && take_short_name(p->value.name, &name))
        code = params_read(file, path, name.text, &p->value, to, err);
    return !code && m->group ? group_broadcast(m->group, 0, to, rapt_tensor_size(&p->value) * sizeof *to, err) : code;
}

rapt_code averages_read_model(const safetensors *file, const char *path, rapt_tensor *x, rapt_error *err)
{
    short_name name;
    const bool averaged = take_short_name(x->name, &name) && safetensors_find(file, name.text);
    return params_read(file, path, averaged ? name.text : x->name, x, x->data, err);
}
