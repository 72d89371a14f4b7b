/* data/check/check_lines.c: measures the sides of lines. One pass over a side finds its beginning and end, its length, and the
 * script of its letters. */
#include "data/check/check_lines.h"

#include "text/lines.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { NO_PAIR = 1u << CHECK_EMPTY_LINE | 1u << CHECK_NO_TAB | 1u << CHECK_NOT_UTF8 | 1u << CHECK_EMPTY_SIDE };

static line_walk check_lines_walk(const check_input *in, size_t i)
{
    const char *text = in->text[i];
    return (line_walk){text + lines_mark(text, in->size[i]), text + in->size[i]};
}

/* Fills in the side and counts letters by script; false: not text. */
static bool check_lines_measure(line_span s, check_text *out, size_t letters[SCRIPT_COUNT])
{
    uint32_t code, spaces = 0;
    bool in_word = false;
    *out = (check_text){.at = s.at};
    for (size_t i = 0, used; i < s.size; i += used) {
        used = utf8_decode(s.at + i, s.size - i, &code);
        if (used == 0 || code == 0)
            return false;
        if (utf8_is_space(code)) {
            in_word = false;
            spaces += out->words > 0;
            continue;
        }
        if (out->words == 0)
            out->at = s.at + i;
        out->words += !in_word;
        out->characters += spaces + 1;
        out->size = (size_t)(s.at + i + used - out->at);
        spaces = 0;
        in_word = true;
        letters[script_of(code)]++;
    }
    out->script = script_max(letters);
    return true;
}

/* The faults of a line with two sides; `text` says which sides are text. */
static uint32_t side_faults(const check_text side[2], const bool text[2])
{
    uint32_t found = text[0] && text[1] ? 0 : 1u << CHECK_NOT_UTF8;
    if ((text[0] && side[0].size == 0) || (text[1] && side[1].size == 0))
        return found | 1u << CHECK_EMPTY_SIDE;
    bool copied = !found && side[0].size == side[1].size && memcmp(side[0].at, side[1].at, side[0].size) == 0;
    return copied ? 1u << CHECK_COPIED : found;
}

static void take_sides(check_lines *out, check_line *line, const line_span side[2])
{
    size_t letters[2][SCRIPT_COUNT] = {{0}};
    bool text[2];
    for (size_t s = 0; s < 2; s++)
        text[s] = check_lines_measure(side[s], &line->side[s], letters[s]);
    line->found |= side_faults(line->side, text);
    for (size_t i = 0; i < SCRIPT_COUNT && check_line_is_pair(line); i++) {
        out->letters[0][i] += letters[0][i];
        out->letters[1][i] += letters[1][i];
    }
}

static uint32_t check_lines_bytes_of(const char *at, const char *end)
{
    return lines_check("", 1, at, (size_t)(end - at), NULL) ? 1u << CHECK_NOT_UTF8 : 0;
}

static const char *find_tab(const char *at, const char *end)
{
    return at < end ? memchr(at, '\t', (size_t)(end - at)) : NULL;
}

/* Splits at the first tab. A second tab begins another column, which must be text all the same, because training reads the whole
 * file. */
static uint32_t cut_at_tabs(line_span whole, line_span side[2])
{
    const char *end = whole.at + whole.size, *tab = find_tab(whole.at, end);
    if (!tab)
        return whole.size ? 1u << CHECK_NO_TAB | check_lines_bytes_of(whole.at, end) : 1u << CHECK_EMPTY_LINE;
    const char *target = tab + 1, *more = find_tab(target, end);
    side[0] = (line_span){whole.at, (size_t)(tab - whole.at)};
    side[1] = (line_span){target, (size_t)((more ? more : end) - target)};
    return more ? 1u << CHECK_MORE_COLUMNS | check_lines_bytes_of(more, end) : 0;
}

/* In two files a tab is part of a text: a table made from them would be split there. */
static uint32_t look_for_tabs(const line_span side[2])
{
    if (side[0].size + side[1].size == 0)
        return 1u << CHECK_EMPTY_LINE;
    bool tab = find_tab(side[0].at, side[0].at + side[0].size) || find_tab(side[1].at, side[1].at + side[1].size);
    return tab ? 1u << CHECK_TAB_WITHIN : 0;
}

static void check_lines_take_lines(const check_input *in, check_lines *out)
{
    line_walk texts[2] = {check_lines_walk(in, 0), in->count == 2 ? check_lines_walk(in, 1) : (line_walk){NULL, NULL}};
    for (size_t i = 0; i < out->count; i++) {
        check_line *line = &out->line[i];
        line_span side[2] = {lines_next(&texts[0])};
        if (in->count == 2) {
            side[1] = lines_next(&texts[1]);
            line->found = look_for_tabs(side);
        } else
            line->found = cut_at_tabs(side[0], side);
        if (!(line->found & (1u << CHECK_EMPTY_LINE | 1u << CHECK_NO_TAB)))
            take_sides(out, line, side);
    }
}

static rapt_code count_all(const check_input *in, size_t *count, rapt_error *err)
{
    *count = lines_count(check_lines_walk(in, 0));
    size_t other = in->count == 2 ? lines_count(check_lines_walk(in, 1)) : *count;
    return other == *count ? RAPT_OK
                           : rapt_fail(err, RAPT_ERR_VALUE, "%.200s has %zu lines, but %.200s has %zu", in->name[0], *count,
                                       in->name[1], other);
}

rapt_code check_lines_read(const check_input *in, check_lines *out, rapt_error *err)
{
    *out = (check_lines){0};
    rapt_code code = count_all(in, &out->count, err);
    if (code)
        return code;
    out->line = calloc(out->count + 1, sizeof *out->line);
    if (out->line)
        check_lines_take_lines(in, out);
    else
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu lines", out->count);
    return code;
}

void check_lines_free(check_lines *lines)
{
    free(lines->line);
    *lines = (check_lines){0};
}

bool check_line_is_pair(const check_line *line)
{
    return !(line->found & NO_PAIR);
}
