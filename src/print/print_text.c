/* print/print_text.c: tensors, token ids and tables as texts in memory. For programs; print_tensor.c and print_table.c format
 * them. */
#include "print/printer.h"

#include "base/memory_stream.h"
#include "base/sized.h"

#include <stdlib.h>

#define MAX_PRECISION 20

/* A stream that writes to memory; NULL with the reason in `err`. */
static FILE *print_text_open(memory_stream *text, rapt_error *err)
{
    if (!memory_stream_open(text))
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a text");
    return text->to;
}

/* The finished text; NULL if `code` is a failure or if memory ran out. */
static char *print_text_close(memory_stream *text, rapt_code code, rapt_error *err)
{
    if (memory_stream_close(text) && !code)
        return text->text;
    free(text->text);
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a text");
    return NULL;
}

SIZED_ENDS_WITH(rapt_tensor_text_options, line_width);

void rapt_tensor_text_options_init(rapt_tensor_text_options *o, size_t size)
{
    sized_init(o, size, &(rapt_tensor_text_options){TENSOR_TEXT_DEFAULTS}, sizeof *o);
}

static rapt_code print_text_take_options(const rapt_tensor_text_options *given, rapt_tensor_text_options *out, rapt_error *err)
{
    *out = (rapt_tensor_text_options){TENSOR_TEXT_DEFAULTS};
    const rapt_code code = sized_take(out, given, NULL, 0, "tensor_text_options", err);
    if (code)
        return code;
    const char *const unknown = SIZED_AS_MODEL(out->threshold) ? "threshold" : SIZED_AS_MODEL(out->edge_items) ? "edge_items"
                                : SIZED_AS_MODEL(out->line_width) ? "line_width" : NULL;
    if (unknown)
        return sized_refuse_as_model(unknown, err);
    if (out->precision > MAX_PRECISION)
        return rapt_fail(err, RAPT_ERR_VALUE, "%zu digits after the point; at most %d are printed", out->precision,
                         MAX_PRECISION);
    return out->edge_items > 0 ? RAPT_OK : rapt_fail(err, RAPT_ERR_VALUE, "edge_items is 0: a summary shows 1 or more");
}

static char *print_text_elements(const print_elements *x, const rapt_tensor_text_options *options, rapt_error *err)
{
    memory_stream text;
    rapt_tensor_text_options o;
    if (print_text_take_options(options, &o, err) != RAPT_OK)
        return NULL;
    FILE *to = print_text_open(&text, err);
    if (!to)
        return NULL;
    print_tensor(to, x, &o);
    return print_text_close(&text, RAPT_OK, err);
}

char *rapt_tensor_text(const rapt_tensor *x, const rapt_tensor_text_options *options, rapt_error *err)
{
    return print_text_elements(&(print_elements){.values = x->data, .ndim = x->ndim, .shape = x->shape}, options, err);
}

char *rapt_tokens_text(rapt_tokens tokens, const rapt_tensor_text_options *options, rapt_error *err)
{
    const size_t shape[] = {tokens.batch, tokens.time};
    const bool one = tokens.batch == 0;
    return print_text_elements(&(print_elements){.ids = tokens.ids, .ndim = one ? 1 : 2, .shape = shape + one}, options, err);
}

char *rapt_table_text(const rapt_table *table, rapt_error *err)
{
    memory_stream text;
    if (sized_check_reserved(table->reserved, sizeof table->reserved, "table", err) != RAPT_OK)
        return NULL;
    FILE *to = print_text_open(&text, err);
    return to ? print_text_close(&text, print_table(to, table, err), err) : NULL;
}
