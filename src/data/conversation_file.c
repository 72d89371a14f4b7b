/* data/conversation_file.c: reads files of JSON lines. It does not parse them. */
#include "data/conversation_file.h"

#include "base/chars.h"
#include "base/file.h"
#include "data/preference.h"
#include "text/utf8.h"

#include <stdlib.h>

#define MAX_BYTES FILE_GIB(8)

/* The first line from `i` on that is not blank, or the number of lines. */
static size_t next_line(const struct lines *lines, size_t i)
{
    while (i < lines->count && utf8_is_blank(lines->line[i]))
        i++;
    return i;
}

conversation_file *conversation_file_open(const char *path, rapt_error *err)
{
    rapt_error why = {0};
    conversation_file *f = calloc(1, sizeof *f);
    if (!f || !(f->path = chars_copy(path)))
        rapt_fail(&why, RAPT_ERR_MEMORY, "%s: out of memory", path);
    else if (lines_read(path, MAX_BYTES, &f->lines, &why) == RAPT_OK && next_line(&f->lines, 0) == f->lines.count)
        rapt_fail(&why, RAPT_ERR_FORMAT, "%s: the file %s", path, f->lines.count ? "has only blank lines" : "is empty");
    if (!why.code)
        return f;
    conversation_file_close(f);
    rapt_fail(err, why.code, "%s", why.message);
    return NULL;
}

void conversation_file_close(conversation_file *f)
{
    if (!f)
        return;
    lines_free(&f->lines);
    free(f->path);
    free(f);
}

rapt_code conversation_file_lines(const conversation_file *f, conversation_line_fn *each, void *context, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; !code && (i = next_line(&f->lines, i)) < f->lines.count; i++)
        code = each(context, i + 1, f->lines.line[i], f->lines.length[i], err);
    return code;
}

bool conversation_file_has_preferences(const conversation_file *f)
{
    const size_t i = next_line(&f->lines, 0);
    return preference_is(f->lines.line[i], f->lines.length[i]);
}
