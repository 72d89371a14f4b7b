/* view/figure/text.c: one line of text, of any script, at any angle; and titles, which may take several. For titles, names and
 * numbers of figures. A writer measures and sets lines; here is what they hold. No paragraphs: titles are centered and have few
 * lines. */
#include "view/figure/canvas.h"

#include "text/unicode/unicode.h"
#include "text/utf8.h"
#include "view/figure/draw_type.h"

#include <math.h>
#include <string.h>

/* Longer texts are shortened in the middle before they are set: no figure has space for them. */
enum { MAX_BYTES = 600, TITLE_LINES = 4, TITLE_MIN = 420 };

#define TITLE_LEADING 1.3 /* the distance between lines, as a share of the font's size */

enum {
    RETURN_ARROW = 0x21B5,
    TAB_ARROW = 0x21E5,
    PICTURE_OF_NUL = 0x2400, /* the pictures of the other 31 follow */
    PICTURE_OF_DELETE = 0x2421,
    OPEN_BOX = 0x2423,
    ELLIPSIS = 0x2026,
    JOINER = 0x200D,
    NOT_A_CHARACTER = 0xFFFD
};

/* ---- what is shown ------------------------------------------------------------------------------------------------------ */

/* Control characters have no shape, and a line break would make two lines: Unicode has pictures of them, and arrows for the
 * two that are common in texts. */
static uint32_t visible(uint32_t code, bool blank)
{
    if (code == '\n' || code == '\t')
        return code == '\n' ? RETURN_ARROW : TAB_ARROW;
    if (code == ' ' && blank)
        return OPEN_BOX;
    if ((code & 0xFFFE) == 0xFFFE) /* no XML may have it */
        return NOT_A_CHARACTER;
    return code < 0x20 ? PICTURE_OF_NUL + code : code == 0x7F ? PICTURE_OF_DELETE : code;
}

/* Capacity for a tidy text: bytes that are not text become three each. */
typedef char tidy_text[3 * MAX_BYTES + 8];

/* Where the longest end of a text begins that has at most `max` bytes and begins with a whole character. */
static size_t tail_at(const char *text, size_t size, size_t max)
{
    size_t at = size - max;
    while (at < size && ((unsigned char)text[at] & 0xC0) == 0x80)
        at++;
    return at;
}

/* `text` as valid UTF-8 that can be seen: if a token has only spaces, each is shown as a sign. */
static void tidy(const char *text, tidy_text out)
{
    size_t size = strlen(text), at = 0, end = 0;
    bool blank = strspn(text, " ") == size, is_long = size > MAX_BYTES;
    while (at < size) {
        uint32_t code;
        size_t used = utf8_decode(text + at, size - at, &code);
        end += utf8_put(used ? visible(code, blank) : NOT_A_CHARACTER, out + end);
        at += used ? used : 1;
        if (is_long && at >= MAX_BYTES / 2) {
            end += utf8_put(ELLIPSIS, out + end);
            at = tail_at(text, size, MAX_BYTES / 2);
            is_long = false;
        }
    }
    out[end] = '\0';
}

/* ---- where it may be cut ------------------------------------------------------------------------------------------------ */

/* A letter with the marks that stand on it, and what a joiner ties to it. */
typedef struct cluster {
    size_t begins;
    uint32_t code; /* the letter */
} cluster;

/* The most that a tidy text has, and one that ends it. */
enum { CLUSTERS = 3 * MAX_BYTES + 8 };

/* Fills clusters[CLUSTERS] with the clusters of a line, and one that begins at its end. Returns how many they are without that.
 */
static size_t clusters_of(const char *line, cluster *clusters)
{
    const size_t size = strlen(line);
    size_t count = 0;
    uint32_t before = 0, code = 0;
    for (size_t at = 0, used; at < size; at += used ? used : 1, before = code) {
        used = utf8_decode(line + at, size - at, &code);
        if (count == 0 || (unicode_width(code) > 0 && before != JOINER))
            clusters[count++] = (cluster){at, code};
    }
    clusters[count] = (cluster){size, 0};
    return count;
}

/* The line with only `kept` of its letters, half of them before an ellipsis and half behind it. */
static void shorten(const char *line, const cluster *clusters, size_t count, size_t kept, tidy_text out)
{
    size_t head = clusters[(kept + 1) / 2].begins, tail = clusters[count - kept / 2].begins;
    memcpy(out, line, head);
    size_t end = head + utf8_put(ELLIPSIS, out + head);
    strcpy(out + end, line + tail);
}

/* Names differ at their ends as often as at their beginnings: the middle is left out. */
static void cut_middle(canvas *c, const canvas_type *type, tidy_text line)
{
    cluster clusters[CLUSTERS];
    size_t count = clusters_of(line, clusters), min = 0, max = count;
    tidy_text shorter;
    while (min + 1 < max) {
        size_t kept = (min + max) / 2;
        shorten(line, clusters, count, kept, shorter);
        *(c->writer->width(c, type, shorter) <= type->widest ? &min : &max) = kept;
    }
    if (count == 0)
        return;
    shorten(line, clusters, count, min, shorter);
    strcpy(line, shorter);
}

/* Leaves in `line` the text that is seen, and returns its width. */
static double text_fit(canvas *c, const canvas_type *type, const char *text, tidy_text line)
{
    tidy(text, line);
    double width = c->writer->width(c, type, line);
    if (type->widest > 0 && width > type->widest) {
        cut_middle(c, type, line);
        width = c->writer->width(c, type, line);
    }
    return width;
}

double canvas_text_width(canvas *c, const canvas_type *type, const char *text)
{
    tidy_text line;
    return text && *text ? text_fit(c, type, text, line) : 0;
}

void canvas_text(canvas *c, const canvas_type *type, const char *text, double x, double y)
{
    tidy_text line;
    if (!text || !*text)
        return;
    text_fit(c, type, text, line);
    c->writer->text(c, type, line, x, y);
}

/* ---- titles ------------------------------------------------------------------------------------------------------------ */

/* Whether a line may begin with `code`, which stands behind `before`: behind spaces and hyphens, and on both sides of wide
 * letters unless a closing sign would begin the line, or an opening one end it. */
static bool title_may_break(uint32_t before, uint32_t code)
{
    const unicode_category next = unicode_category_of(code), last = unicode_category_of(before);
    if (code == ' ' || next == UNICODE_PE || next == UNICODE_PF || next == UNICODE_PO || last == UNICODE_PS || last == UNICODE_PI)
        return false;
    const bool letter = next == UNICODE_LU || next == UNICODE_LL;
    return before == ' ' || (before == '-' && letter) || unicode_width(before) == 2 || unicode_width(code) == 2;
}

static double title_width(canvas *c, const canvas_type *type, const char *text, size_t begin, size_t end, tidy_text line)
{
    while (end > begin + 1 && text[end - 1] == ' ')
        end--;
    memcpy(line, text + begin, end - begin);
    line[end - begin] = '\0';
    return c->writer->width(c, type, line);
}

/* The cluster that begins the next line: the last one before which a line of at most `type->widest` may break, or the last one up
 * to which anything fits. */
static size_t title_line_end(canvas *c, const canvas_type *type, const char *text, const cluster *clusters, size_t first,
                             size_t count)
{
    size_t best = 0, fits = first + 1;
    tidy_text line;
    for (size_t i = first + 1; i <= count; i++) {
        if (i < count && !title_may_break(clusters[i - 1].code, clusters[i].code) && best > 0)
            continue;
        if (title_width(c, type, text, clusters[first].begins, clusters[i].begins, line) > type->widest)
            break;
        fits = i;
        best = i == count || title_may_break(clusters[i - 1].code, clusters[i].code) ? i : best;
    }
    return best > 0 ? best : fits;
}

/* Breaks a text into at most TITLE_LINES lines, the last with all the rest; `begins` gets where they begin. */
static size_t break_lines(canvas *c, const canvas_type *type, const char *text, size_t begins[TITLE_LINES])
{
    cluster clusters[CLUSTERS];
    const size_t all = clusters_of(text, clusters);
    size_t count = 0;
    for (size_t first = 0; first < all && count < TITLE_LINES; first = title_line_end(c, type, text, clusters, first, all))
        begins[count++] = clusters[first].begins;
    return count;
}

void canvas_title(canvas *c, const char *text, double x, double y, double width)
{
    tidy_text whole, line;
    size_t begins[TITLE_LINES];
    canvas_type type = {.size = DRAW_TITLE_SIZE, .anchor = 0.5, .widest = fmax(width, TITLE_MIN), .bold = true};
    if (!text || !*text)
        return;
    tidy(text, whole);
    size_t count = break_lines(c, &type, whole, begins);
    for (size_t i = 0; i < count; i++) {
        title_width(c, &type, whole, begins[i], i + 1 < count ? begins[i + 1] : strlen(whole), line);
        canvas_text(c, &type, line, x, y - (double)(count - 1 - i) * TITLE_LEADING * DRAW_TITLE_SIZE);
    }
}
