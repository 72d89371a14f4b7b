/* data/check/check.c: checks each line by itself (check_lines.c), then what only the whole file can tell: which lines repeat
 * others (check_same.c), what is usual on a side, and which lines are unusual. */
#include "data/check/check.h"

#include "data/check/check_lines.h"

#include <math.h>
#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Sorts `lengths`. */
static check_lengths summarize_lengths(uint32_t *lengths, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += lengths[i];
    if (count == 0)
        return (check_lengths){0};
    qsort(lengths, count, sizeof *lengths, by_size);
    return (check_lengths){sum / (double)count, lengths[(count - 1) / 2], lengths[count - 1]};
}

static check_lengths lengths_of(const check_lines *lines, size_t side, bool words, uint32_t *memory)
{
    size_t count = 0;
    for (size_t i = 0; i < lines->count; i++) {
        const check_text *text = &lines->line[i].side[side];
        if (check_line_is_pair(&lines->line[i]))
            memory[count++] = words ? text->words : text->characters;
    }
    return summarize_lengths(memory, count);
}

/* The script that is usual on a side. */
static unsigned find_script(const size_t letters[SCRIPT_COUNT], check_side *out)
{
    unsigned script = script_max(letters);
    size_t all = 0;
    for (size_t i = 1; i < SCRIPT_COUNT; i++)
        all += letters[i];
    out->script = script_name(script);
    out->share = script != SCRIPT_NONE ? (double)letters[script] / (double)all : 0;
    return script;
}

static rapt_code check_describe(const check_lines *lines, unsigned usual[2], check_report *out, rapt_error *err)
{
    uint32_t *memory = malloc((lines->count + 1) * sizeof *memory);
    if (!memory)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu lengths", lines->count);
    for (size_t i = 0; i < lines->count; i++)
        out->pairs += check_line_is_pair(&lines->line[i]);
    for (size_t s = 0; s < 2; s++) {
        out->side[s].words = lengths_of(lines, s, true, memory);
        out->side[s].characters = lengths_of(lines, s, false, memory);
        usual[s] = find_script(lines->letters[s], &out->side[s]);
    }
    free(memory);
    return RAPT_OK;
}

static bool is_unusual_script(unsigned script, unsigned usual)
{
    return script != SCRIPT_NONE && usual != SCRIPT_NONE && script != usual;
}

static int by_ratio(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Characters of the target per character of the source: the median over the pairs (the lower of the two middle ones), which a few
 * lines of any length do not move. Without pairs *growth is unchanged. */
static rapt_code find_growth(const check_lines *lines, double *growth, rapt_error *err)
{
    double *ratios = malloc((lines->count + 1) * sizeof *ratios);
    size_t count = 0;
    if (!ratios)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu lengths", lines->count);
    for (size_t i = 0; i < lines->count; i++) {
        const check_text *side = lines->line[i].side;
        if (check_line_is_pair(&lines->line[i]))
            ratios[count++] = (double)side[1].characters / (double)side[0].characters;
    }
    qsort(ratios, count, sizeof *ratios, by_ratio);
    if (count > 0)
        *growth = ratios[(count - 1) / 2];
    free(ratios);
    return RAPT_OK;
}

/* `growth`: characters of a target for each of the source, as is usual. */
static bool is_length_outlier(const check_text side[2], double growth, const check_options *o)
{
    double expected = growth * side[0].characters, is = side[1].characters;
    double longer = fmax(expected, is), shorter = fmin(expected, is);
    return longer > o->ratio * shorter && longer - shorter > o->margin;
}

static void compare_with_usual(check_lines *lines, double growth, const unsigned usual[2], const check_options *o)
{
    for (size_t i = 0; i < lines->count; i++) {
        check_line *line = &lines->line[i];
        if (!check_line_is_pair(line))
            continue;
        if (is_unusual_script(line->side[0].script, usual[0]) || is_unusual_script(line->side[1].script, usual[1]))
            line->found |= 1u << CHECK_WRONG_SCRIPT;
        if (is_length_outlier(line->side, growth, o))
            line->found |= 1u << CHECK_LENGTH_RATIO;
    }
}

static void check_count_line(uint32_t found, size_t number, check_report *out)
{
    for (unsigned k = 0; k < CHECK_COUNT; k++) {
        if (!(found >> k & 1))
            continue;
        check_finding *f = &out->found[k];
        f->lines++;
        f->newly += k < CHECK_REASON_COUNT && !(found & ((1u << k) - 1));
        f->first = f->first ? f->first : number;
    }
    out->dropped += (found & CHECK_ANY_REASON) != 0;
}

static void check_tell(const check_lines *lines, const check_options *o, check_report *out)
{
    const uint32_t rules = o->rules ? o->rules : CHECK_ANY_REASON;
    for (size_t i = 0; i < lines->count; i++) {
        uint32_t found = lines->line[i].found & (rules | ~(uint32_t)CHECK_ANY_REASON);
        if (found & CHECK_ANY_REASON) /* a line that is better left out gets no notes */
            found &= CHECK_ANY_REASON;
        check_count_line(found, i + 1, out);
        if (o->each)
            o->each(o->context, i + 1, found);
    }
}

rapt_code check_pairs(const check_input *in, const check_options *options, check_report *out, rapt_error *err)
{
    check_lines lines;
    unsigned usual[2];
    double growth = 1;
    *out = (check_report){0};
    rapt_code code = check_lines_read(in, &lines, err);
    code = code ? code : check_same(&lines, err);
    code = code ? code : check_describe(&lines, usual, out, err);
    code = code ? code : find_growth(&lines, &growth, err);
    if (!code) {
        compare_with_usual(&lines, growth, usual, options);
        out->lines = lines.count;
        check_tell(&lines, options, out);
    }
    check_lines_free(&lines);
    return code;
}
