/* view/draw/svg.c: texts as text, and reproducible names of elements. For canvas.c and text.c. Not an XML parser: it knows how
 * cairo writes id="NAME", href="#NAME" and url(#NAME), and changes only these. */
#define _GNU_SOURCE
#include "view/draw/svg.h"

#include "base/buffer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts ------------------------------------------------------------------------------------------------------------- */

static rapt_code svg_out_of_memory(size_t size, rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a picture of %zu bytes", size);
}

/* Two decimals are a hundredth of a pixel. The locale does not matter. */
static void put_number(FILE *out, const char *name, double x)
{
    long hundredths = lround(x * 100), whole = labs(hundredths) / 100, rest = labs(hundredths) % 100;
    fprintf(out, "%s%s%ld", name, hundredths < 0 ? "-" : "", whole);
    if (rest)
        fprintf(out, rest % 10 ? ".%02ld" : ".%.1ld", rest % 10 ? rest : rest / 10);
}

static void put_escaped(FILE *out, const char *text)
{
    static const char marks[] = "&<>'\"";
    static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&#39;", "&quot;"};
    for (; *text; text++) {
        const char *mark = strchr(marks, *text);
        if (mark)
            fputs(names[mark - marks], out);
        else
            fputc(*text, out);
    }
}

void svg_texts_begin(svg_texts *t, const char *family)
{
    *t = (svg_texts){0};
    t->out = open_memstream(&t->data, &t->size);
    if (!t->out)
        return;
    fputs("<g font-family=\"'", t->out);
    put_escaped(t->out, family);
    fprintf(t->out, "', 'DejaVu Sans', Verdana, sans-serif\" fill=\"#%06x\" xml:space=\"preserve\">\n", DRAW_INK);
}

/* `direction` decides which end of a text is its start. */
static const char *anchor_of(double anchor, bool right_to_left)
{
    if (anchor == 0.5)
        return " text-anchor=\"middle\"";
    return (anchor == 0) == right_to_left ? " text-anchor=\"end\"" : "";
}

void svg_text_add(svg_texts *t, const canvas_type *type, const char *line, bool right_to_left, double x, double y, double down)
{
    if (!t->out)
        return;
    if (type->turn != 0) {
        put_number(t->out, "<text transform=\"translate(", x);
        put_number(t->out, " ", y);
        put_number(t->out, ") rotate(", -type->turn);
        put_number(t->out, ")\" y=\"", down);
    } else {
        put_number(t->out, "<text x=\"", x);
        put_number(t->out, "\" y=\"", y + down);
    }
    put_number(t->out, "\" font-size=\"", type->size);
    fprintf(t->out, "\"%s%s%s", anchor_of(type->anchor, right_to_left), right_to_left ? " direction=\"rtl\"" : "",
            type->bold ? " font-weight=\"bold\"" : "");
    if (type->color)
        fprintf(t->out, " fill=\"#%06x\"", type->color);
    fputc('>', t->out);
    put_escaped(t->out, line);
    fputs("</text>\n", t->out);
}

rapt_code svg_texts_end(svg_texts *t, char **text, size_t *size, rapt_error *err)
{
    static const char end[] = "</svg>\n", group_end[] = "</g>\n";
    bool good = t->out && !ferror(t->out);
    if (t->out)
        good = fclose(t->out) == 0 && good;
    size_t body = *size >= sizeof end - 1 ? *size - (sizeof end - 1) : 0, added = t->size + sizeof group_end - 1;
    char *whole = good ? realloc(*text, *size + added) : NULL;
    if (whole) {
        memcpy(whole + body, t->data, t->size);
        memcpy(whole + body + t->size, group_end, sizeof group_end - 1);
        memcpy(whole + body + added, end, sizeof end - 1);
        *text = whole;
        *size = body + added + sizeof end - 1;
    }
    free(t->data);
    return whole ? RAPT_OK : svg_out_of_memory(*size, err);
}

/* ---- names ------------------------------------------------------------------------------------------------------------- */

typedef struct span {
    const char *text;
    size_t length;
} span;

typedef struct names {
    span *all;
    size_t count, capacity;
} names;

static const char definition[] = " id=\"";

/* The length of the mark before a name that starts at `at`, or 0: no name starts here. */
static size_t mark_length(const char *at, size_t left)
{
    if (left > sizeof definition && memcmp(at, definition, sizeof definition - 1) == 0)
        return sizeof definition - 1;
    return left > 2 && (at[0] == '"' || at[0] == '(') && at[1] == '#' ? 2 : 0;
}

static span name_at(const char *at, size_t left)
{
    span name = {at, 0};
    while (name.length < left && !strchr("\")", at[name.length]))
        name.length++;
    return name;
}

static bool svg_add(names *n, span name)
{
    if (!ARRAY_RESERVE(&n->all, &n->capacity, n->count + 1))
        return false;
    n->all[n->count++] = name;
    return true;
}

static bool svg_collect(names *n, const char *text, size_t size)
{
    const char *end = text + size, *at = text;
    while ((at = memmem(at, (size_t)(end - at), definition, sizeof definition - 1))) {
        at += sizeof definition - 1;
        if (!svg_add(n, name_at(at, (size_t)(end - at))))
            return false;
    }
    return true;
}

static void put_name(FILE *out, const names *n, span name)
{
    for (size_t i = 0; i < n->count; i++)
        if (n->all[i].length == name.length && memcmp(n->all[i].text, name.text, name.length) == 0) {
            fprintf(out, "n%zu", i);
            return;
        }
    fwrite(name.text, 1, name.length, out);
}

static void copy_renamed(FILE *out, const names *n, const char *text, size_t size)
{
    size_t copied = 0;
    for (size_t at = 0; at < size; at++) {
        size_t mark = mark_length(text + at, size - at);
        if (!mark)
            continue;
        span name = name_at(text + at + mark, size - at - mark);
        fwrite(text + copied, 1, at + mark - copied, out);
        put_name(out, n, name);
        copied = at + mark + name.length;
        at = copied - 1;
    }
    fwrite(text + copied, 1, size - copied, out);
}

rapt_code svg_renumber(char **text, size_t *size, rapt_error *err)
{
    names n = {0};
    char *renamed = NULL;
    size_t length = 0;
    bool good = svg_collect(&n, *text, *size);
    FILE *out = good ? open_memstream(&renamed, &length) : NULL;
    if (out) {
        copy_renamed(out, &n, *text, *size);
        good = !ferror(out);
        good = fclose(out) == 0 && good;
    }
    free(n.all);
    if (!out || !good) {
        free(renamed);
        return svg_out_of_memory(*size, err);
    }
    free(*text);
    *text = renamed;
    *size = length;
    return RAPT_OK;
}
