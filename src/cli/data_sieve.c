/* cli/data_sieve.c: lines are copied byte by byte, consecutive lines in one write. No checking here. */
#include "cli/data_sieve.h"

#include "data/check/check_rules.h"

#include <stdio.h>

static rapt_code sieve_put(void *context, const char *at, size_t size, rapt_error *err)
{
    return file_writer_put(context, at, size, err);
}

rapt_code sieve_open(sieve *s, const check_input *in, const char *const out[2], rapt_error *err)
{
    s->err = err;
    for (; s->opened < in->count && !s->code; s->opened += !s->code) {
        size_t i = s->opened;
        s->text[i].runs = check_runs_of(in->text[i], in->size[i], sieve_put, &s->text[i].out);
        s->code = file_writer_open(&s->text[i].out, out[i], err);
    }
    return s->code;
}

static void data_sieve_print_line(size_t number, uint32_t reasons)
{
    char before = '\t';
    printf("%zu", number);
    for (unsigned k = 0; k < CHECK_REASON_COUNT; k++)
        if (reasons >> k & 1) {
            printf("%c%s", before, CHECK_KEYS[k]);
            before = ',';
        }
    putchar('\n');
}

void sieve_take(void *context, size_t number, uint32_t found)
{
    sieve *s = context;
    uint32_t reasons = found & CHECK_ANY_REASON;
    if (s->names && reasons)
        data_sieve_print_line(number, reasons);
    for (size_t i = 0; i < s->opened && !s->code; i++)
        s->code = check_runs_line(&s->text[i].runs, !reasons, s->err);
}

rapt_code sieve_close(sieve *s, rapt_code code, rapt_error *err)
{
    for (size_t i = 0; i < s->opened && !s->code; i++)
        s->code = check_runs_end(&s->text[i].runs, s->err);
    code = code ? code : s->code;
    for (size_t i = 0; i < s->opened; i++)
        if (code)
            file_writer_discard(&s->text[i].out);
        else
            code = file_writer_finish(&s->text[i].out, err);
    return code;
}
