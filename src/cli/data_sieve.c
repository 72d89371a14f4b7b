/* cli/data_sieve.c: lines are copied byte by byte, consecutive lines in one write. No checking here. */
#include "cli/data_sieve.h"

#include <stdio.h>

#define JSON_KEY(name, key, text) key,
const char *const SIEVE_KEYS[CHECK_COUNT] = {CHECK_REASONS(JSON_KEY) CHECK_NOTES(JSON_KEY)};
#undef JSON_KEY

rapt_code sieve_open(sieve *s, const check_input *in, const char *const out[2], rapt_error *err)
{
    s->err = err;
    for (; s->opened < in->count && !s->code; s->opened += !s->code) {
        size_t i = s->opened;
        s->text[i] = (sieve_text){.run = in->text[i], .rest = {in->text[i], in->text[i] + in->size[i]}};
        s->code = file_writer_open(&s->text[i].out, out[i], err);
    }
    return s->code;
}

static void write_run(sieve *s, sieve_text *t)
{
    if (!s->code && t->rest.at > t->run)
        s->code = file_writer_put(&t->out, t->run, (size_t)(t->rest.at - t->run), s->err);
}

static void pass_line(sieve *s, sieve_text *t, bool copied)
{
    if (!copied)
        write_run(s, t);
    lines_next(&t->rest);
    if (!copied)
        t->run = t->rest.at;
}

static void data_sieve_print_line(size_t number, uint32_t reasons)
{
    char before = '\t';
    printf("%zu", number);
    for (unsigned k = 0; k < CHECK_REASON_COUNT; k++)
        if (reasons >> k & 1) {
            printf("%c%s", before, SIEVE_KEYS[k]);
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
    for (size_t i = 0; i < s->opened; i++)
        pass_line(s, &s->text[i], !reasons);
}

rapt_code sieve_close(sieve *s, rapt_code code, rapt_error *err)
{
    for (size_t i = 0; i < s->opened; i++)
        write_run(s, &s->text[i]);
    code = code ? code : s->code;
    for (size_t i = 0; i < s->opened; i++)
        if (code)
            file_writer_discard(&s->text[i].out);
        else
            code = file_writer_finish(&s->text[i].out, err);
    return code;
}
