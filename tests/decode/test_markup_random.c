/* tests/decode/test_markup_random.c: random documents with random translations: each tag occurs once, nested elements stay
 * nested, and the text between the tags is the translations' text. Written-down cases: test_markup.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "markup_case.h"

enum { DOCUMENT = 1 << 15 };

static uint64_t state;

static size_t random_below(size_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % n;
}

/* ---- documents ------------------------------------------------------------------------------------------------------------ */

static char document[DOCUMENT];
static size_t words, tags;

static void put_text(const char *text)
{
    strcat(document, text);
}

static void put_space(size_t of)
{
    static const char *const spaces[] = {" ", " ", "\n  ", ""};
    put_text(spaces[random_below(of)]);
}

/* Each tag has a number, so that it can be told from others. */
static void put_inline(size_t depth)
{
    static const char *const names[] = {"b", "i", "a", "span"};
    static const char *const alone[] = {"<img n=%zu>", "<!-- %zu -->", "<wbr n=%zu>", "<em n=%zu></em>"};
    char tag[64];
    for (size_t left = random_below(5); left > 0 && strlen(document) < DOCUMENT - 512; left--) {
        put_space(4);
        if (random_below(3) == 0 && depth < 8) {
            const char *name = names[random_below(4)];
            snprintf(tag, sizeof tag, "<%s n='%zu'>", name, tags++);
            put_text(tag);
            put_inline(depth + 1);
            snprintf(tag, sizeof tag, "</%s>", name);
            put_text(tag);
        } else if (random_below(6) == 0) {
            snprintf(tag, sizeof tag, alone[random_below(4)], tags++);
            put_text(tag);
        } else {
            snprintf(tag, sizeof tag, " w%zu%s", words++, random_below(5) ? "" : random_below(2) ? "," : " &lt;");
            put_text(tag);
        }
        put_space(4);
    }
}

static void put_document(void)
{
    *document = '\0';
    words = tags = 0;
    for (size_t i = random_below(4) + 1; i > 0; i--) {
        const bool div = random_below(4) == 0;
        put_text(div ? "<div><p>" : "<p> ");
        put_inline(0);
        put_text(div ? " </p>\n</div>" : "</p>");
    }
}

/* ---- translations ---------------------------------------------------------------------------------------------------------- */

/* Words of the line in random order, some left out, doubled or new, with attention to what they come from or to anything. */
static rapt_translation random_translation(rapt_text line)
{
    static case_tokens source, target;
    static size_t from[CASE_TOKENS];
    static char text[DOCUMENT];
    case_cut(line, &source);
    target.count = 0;
    size_t size = 0;
    for (size_t i = 0; i < source.count && size < DOCUMENT - 64 && target.count < CASE_TOKENS - 3; i++) {
        const size_t of = random_below(4) ? i : random_below(source.count);
        const rapt_span word = source.span[of];
        for (size_t copies = random_below(8) ? 1 : random_below(3); copies > 0; copies--) {
            if (size > 0 && random_below(8))
                text[size++] = ' ';
            const size_t begin = size;
            if (random_below(10))
                size += (size_t)sprintf(text + size, "%.*s", (int)(word.end - word.begin), line.data + word.begin);
            else
                size += (size_t)sprintf(text + size, "%s", random_below(2) ? "new" : "&");
            from[target.count] = random_below(10) ? of : SIZE_MAX;
            target.span[target.count++] = (rapt_span){begin, size};
        }
    }
    text[size] = '\0';
    return case_translation(text, &source, &target, from);
}

/* ---- what holds ------------------------------------------------------------------------------------------------------------ */

static const char *next_tag(const char *at, size_t *size)
{
    const char *tag = strchr(at, '<');
    *size = tag ? (size_t)(strchr(tag, '>') + 1 - tag) : 0;
    return tag;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t list_tags(const char *text, char *list[DOCUMENT / 4])
{
    size_t count = 0, size;
    for (const char *tag = text; (tag = next_tag(tag, &size)); tag += size) {
        list[count] = calloc(1, size + 1);
        memcpy(list[count++], tag, size);
    }
    qsort(list, count, sizeof *list, by_text);
    return count;
}

static void check_same_tags(const char *before, const char *after)
{
    static char *a[DOCUMENT / 4], *b[DOCUMENT / 4];
    const size_t count = list_tags(before, a);
    assert_int_equal(list_tags(after, b), count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(a[i], b[i]);
        free(a[i]);
        free(b[i]);
    }
}

static void check_nesting(const char *text)
{
    static char open[DOCUMENT / 4][16];
    size_t depth = 0, size;
    char name[16];
    for (const char *tag = text; (tag = next_tag(tag, &size)); tag += size) {
        if (sscanf(tag, "</%15[a-z]", name) == 1) {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], name);
        } else if (sscanf(tag, "<%15[a-z]", name) == 1 && strcmp(name, "img") != 0 && strcmp(name, "wbr") != 0)
            strcpy(open[depth++], name);
    }
    assert_int_equal(depth, 0);
}

/* The text without tags and spaces, with references read. */
static void bare_text(const char *from, char to[2 * DOCUMENT])
{
    static const char *const references[][2] = {{"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}};
    while (*from) {
        size_t size = 1;
        if (*from == '<')
            size = (size_t)(strchr(from, '>') + 1 - from);
        else if (*from != ' ' && *from != '\n') {
            char shown = *from;
            for (size_t i = 0; i < 3; i++)
                if (strncmp(from, references[i][0], strlen(references[i][0])) == 0) {
                    shown = *references[i][1];
                    size = strlen(references[i][0]);
                }
            *to++ = shown;
        }
        from += size;
    }
    *to = '\0';
}

/* Lines without a letter stay: here they are commas and <, so that they are looked for in the document. */
static void check_text(const rapt_markup *m, const rapt_translation *t, const char *after)
{
    static char bare[2 * DOCUMENT];
    bare_text(after, bare);
    const char *at = bare;
    for (size_t i = 0; i < rapt_markup_count(m); i++) {
        const char *text = t[i].hypotheses->text;
        while ((*at == ',' || *at == '<') && *at != *text)
            at++;
        for (; *text; text++)
            if (*text != ' ')
                assert_int_equal(*at++, *text);
    }
    at += strspn(at, ",<");
    assert_string_equal(at, "");
}

static void random_translations(void **unused)
{
    (void)unused;
    size_t lines = 0, all_tags = 0;
    for (state = 1; state < 3000 * 7919; state = (state / 7919 + 1) * 7919) {
        const uint64_t seed = state;
        put_document();
        rapt_markup *m = case_parse(document, NULL);
        const size_t count = rapt_markup_count(m);
        rapt_translation *t = calloc(count + 1, sizeof *t);
        for (size_t i = 0; i < count; i++)
            t[i] = random_translation(rapt_markup_lines(m)[i]);
        char *text = case_write(m, t);
        lines += count;
        all_tags += tags;
        check_same_tags(document, text);
        check_nesting(text);
        check_text(m, t, text);
        free(text);
        rapt_translations_free(t, count);
        free(t);
        rapt_markup_free(m);
        state = seed;
    }
    assert_true(lines > 3000 && all_tags > 10000);
}

static void without_spaces(const char *from, char *to)
{
    for (; *from; from++)
        if (*from != ' ' && *from != '\n')
            *to++ = *from;
    *to = '\0';
}

/* A document whose lines are their own translations stays as it is, but for white space within text, which is one space then. */
static void copies(void **unused)
{
    (void)unused;
    static char want[DOCUMENT], has[2 * DOCUMENT];
    for (state = 1; state < 3000 * 7919; state = (state / 7919 + 1) * 7919) {
        const uint64_t seed = state;
        put_document();
        char *text = case_identity(document, NULL), *again = case_identity(text, NULL);
        without_spaces(document, want);
        without_spaces(text, has);
        assert_string_equal(has, want);
        assert_string_equal(again, text); /* white space is as it should be then */
        free(text);
        free(again);
        state = seed;
    }
}

/* Any bytes: nothing is lost, and nothing fails. */
static void broken_documents(void **unused)
{
    static const char *const pieces[] = {
        "<", ">", "<b>", "</b>", "<i>", "</i>", "</p>", "<p>", "<!--", "-->", "<a href='", "'", "\"", "word ", "x", " ", "&amp;",
        "&", "<br>", "<code>", "</code>", "<script>", "</script>", "/>", "<![CDATA[", "]]>", "<?x", "?>", "<li>", "=", "<td",
        "</", "<title>", "</title>", "\n"};
    (void)unused;
    for (size_t n = 0; n < 20000; n++) {
        rapt_markup_options o = rapt_markup_options_default();
        o.kind = n % 2 ? RAPT_MARKUP_XML : RAPT_MARKUP_HTML;
        *document = '\0';
        for (size_t i = random_below(24); i > 0; i--)
            put_text(pieces[random_below(sizeof pieces / sizeof *pieces)]);
        rapt_markup *m = case_parse(document, &o);
        const size_t count = rapt_markup_count(m);
        rapt_translation *t = calloc(count + 1, sizeof *t);
        for (size_t i = 0; i < count; i++)
            t[i] = random_below(2) ? random_translation(rapt_markup_lines(m)[i]) : case_copy(rapt_markup_lines(m)[i]);
        char *text = case_write(m, t);
        const size_t size = strlen(text);
        assert_true(count > 0 || (size == strlen(document) && strcmp(text, document) == 0));
        free(text);
        rapt_translations_free(t, count);
        free(t);
        rapt_markup_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_translations), cmocka_unit_test(copies),
                                       cmocka_unit_test(broken_documents)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
