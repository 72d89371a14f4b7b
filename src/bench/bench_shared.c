/* bench/bench_shared.c: how benchmarks choose their sizes and report. It defines functions of bench.h. */
#include "base/memory.h"
#include "bench/bench.h"
#include "cli/cli.h"
#include "nn/weight_types.h"

#include "text/json_text.h"

#include <stdio.h>
#include <stdlib.h>

size_t bench_size(size_t wanted, size_t own)
{
    return wanted ? wanted : own;
}

rapt_code bench_check_width(const char *case_name, size_t width, size_t features, rapt_error *err)
{
    if (width % features == 0)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "--width %zu: heads of case %s have %zu features; a multiple of that is needed", width,
                     case_name, features);
}

const char *bench_precision(const bench_options *o)
{
    return o->weights ? o->weights : rapt_type_name(o->precision);
}

size_t bench_peak_memory(void)
{
    return memory_peak() / 1024 / 1024;
}

rapt_code bench_print_json(const json_t *o, rapt_error *err)
{
    char *text = json_text(o, JSON_REAL_PRECISION(6));
    if (text)
        puts(text);
    free(text);
    return text ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for JSON");
}

double bench_number(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}
