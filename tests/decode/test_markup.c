/* tests/decode/test_markup.c: the lines of documents, and where their tags are in translations that are written down here. Random
 * documents: test_markup_random.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "markup_case.h"
#include "decode/markup/markup_units.h"
#include "options.h"

typedef struct line_case {
    const char *document, *lines; /* with | between */
} line_case;

static void check_lines(const line_case *c, const rapt_markup_options *o)
{
    char lines[4096] = "";
    rapt_markup *m = case_parse(c->document, o);
    for (size_t i = 0; i < rapt_markup_count(m); i++)
        snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "%s%.*s", i ? "|" : "", (int)rapt_markup_lines(m)[i].size,
                 rapt_markup_lines(m)[i].data);
    if (strcmp(lines, c->lines) != 0)
        fail_msg("%s\nhas  %s\nwant %s", c->document, lines, c->lines);
    rapt_markup_free(m);
}

static void html_has_lines(void **state)
{
    static const line_case cases[] = {
        {"", ""},
        {"A dog.", "A dog."},
        {"<p>A <b>red</b> dog.</p><p>A cat</p>", "A red dog.|A cat"},
        {"<p>  A\n\t <i> red </i>\r\n dog </p>", "A red dog"},
        {"one<br>two<hr/>three", "one|two|three"},
        {"<ul><li>one<li>two</ul>", "one|two"},
        {"<table><tr><td>a<td>12<td>&nbsp;<td>b</table>", "a|b"},
        {"<title>A &amp; <b>B</title>", "A & <b>B"},
        {"x<script>if (a < b) x = '<p>';</script>y", "xy"},
        {"<style>p { color: red }</style>x", "x"},
        {"x<script><!-- <script> a </script> b --></script>y", "xy"},
        {"<pre>no text</pre>yes", "yes"},
        {"<textarea>no <p> text</textarea>yes", "yes"},
        {"Use <code>ls -l</code> here", "Use ls -l here"},
        {"Use <code>ls\n  <b>-l</b></code> here", "Use ls -l here"},
        {"<p><code>only_code()</code></p><p>text</p>", "text"},
        {"an <svg><title>picture</title></svg> here", "an here"},
        {"<p translate=no>no</p><p class='x notranslate'>no</p><p class=notranslated>yes</p>", "yes"},
        {"a <span TRANSLATE=\"No\">name</span> b", "a name b"},
        {"caf&eacute; &lt; &#x41;&#66; &notit; &amp;amp; &nosuch; & x", "caf\xC3\xA9 < AB \xC2\xACit; &amp; &nosuch; & x"},
        {"a&#10;b&#32;c &#0;&#xD800;&#x80;", "a b c \xEF\xBF\xBD\xEF\xBF\xBD\xE2\x82\xAC"},
        {"<!-- no --> yes <!-- -- > no --> a", "yes a"},
        {"a <!--> b <!---> c <!-- x --!> d", "a b c d"},
        {"<!DOCTYPE html><html><head><meta charset=utf-8><title>T</title></head><body>B</body></html>", "T|B"},
        {"a <![CDATA[ x ]]> b", "a b"},
        {"a <svg><![CDATA[ > </svg> no ]]></svg> b", "a b"},
        {"a <math><![CDATA[</math>", "a"},
        {"a <svg></svg> b <![CDATA[ > c", "a b c"},
        {"a < b, a <3, a <> b, x </ p> y", "a < b, a <3, a <> b, x y"},
        {"text <a href=\"x>y\" title='a<b'>link</a>", "text link"},
        {"text <b unclosed", "text"},
        {"a <b>x <i>y</b> z</i> w", "a x y z w"},
        {"<p>a</b> b", "a b"},
        {"<x-tag>a <unknown>b</unknown></x-tag>", "a b"},
        {"x</br>y", "x|y"},
        {"<option>a<option>b", "a|b"},
        {"12, 34 &mdash; 5", ""},
        {"<code>never closed <p>text", ""},
        {"<p>a <code>never closed</p><p>text</p>", "a|text"},
        {"<plaintext>a <b> </plaintext>", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_lines(&cases[i], NULL);
}

static void xml_has_lines(void **state)
{
    static const line_case cases[] = {
        {"<?xml version='1.0'?><d><t>A title</t><p>A <b>red</b> dog. <x/> B</p></d>", "A title|A red dog. B"},
        {"Hello <x>world</x>!", "Hello world!"},
        {"<!DOCTYPE d [ <!ENTITY a '>'> ]><d>text</d>", "text"},
        {"<d><br>a</br><script>b</script><P>c</P></d>", "a|b|c"},
        {"<d>x <![CDATA[a <b> &amp; ]]>c</d>", "x a <b> &amp; c"},
        {"<d>a &other; b &#65; &apos; &bad &amp;</d>", "a b A ' &bad &"},
        {"<p translate='no'>yes</p>", "yes"},
        {"<d><a>x</A> y</a></d>", "x y"},
    };
    (void)state;
    rapt_markup_options o = rapt_markup_options_default();
    o.kind = RAPT_MARKUP_XML;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_lines(&cases[i], &o);
}

static void options_decide(void **state)
{
    (void)state;
    rapt_markup_options o = rapt_markup_options_default();
    o.ignore = "x, Y";
    o.splitting = "b";
    o.non_splitting = "p,BR";
    check_lines(&(line_case){"<p>a<br>c</p> <b>d</b> e <x>f</x> <y><p>g</p></y>", "ac|d|e f g"}, &o);
    o.ignore = NULL;
    o.outline = false;
    check_lines(&(line_case){"<div>a<h1>c</h1></div> <b>d</b>", "ac|d"}, &o);
    o = rapt_markup_options_default();
    o.kind = RAPT_MARKUP_XML;
    o.outline = false;
    o.splitting = "par title";
    check_lines(&(line_case){"<doc><title>A</title><par>B <i>c</i></par><Par>D</Par></doc>", "A|B c|D"}, &o);
}

typedef struct place_case {
    const char *document, *translation, *want;
} place_case;

/* One line each. The numbers are of the words and marks of the line. */
static const place_case PLACES[] = {
    {"the <b>red</b> cat", "le=0 chat=2 rouge=1", "le chat <b>rouge</b>"},
    {"<p>the <b>red cat</b>.</p>", "le=0 chat=2 rouge=1 +.=3", "<p>le <b>chat rouge</b>.</p>"},
    {"<a href='1'>red</a> <i>cat</i>", "chat=1 rouge=0", "<i>chat</i> <a href='1'>rouge</a>"},
    {"a <b>red <i>cat</i></b> here", "un=0 chat=2 rouge=1 ici=3", "un <b><i>chat</i> rouge</b> ici"},
    {"<b>all of it</b>", "alles=2 x=0 davon=1", "<b>alles x davon</b>"},
    {"<b>all</b>!", "alles=0 +!=1", "<b>alles</b>!"},
    {"<b>open</b> the door", "mach=0 die=1 T\xC3\xBCr=2 auf=0", "<b>mach</b> die T\xC3\xBCr auf"}, /* one piece */
    {"<b>not much</b> more", "ne=0 pas=2 beaucoup=1 plus=2", "<b>ne pas beaucoup</b> plus"},
    {"<b>lost</b> words here", "Worte=1 hier=2", "<b></b>Worte hier"},
    {"a <b>red</b>, cat", "chat=3 +,=2 rouge=1", "chat, <b>rouge</b>"},
    {"x <br-like> y", "b=1 a=0", "<br-like> b a"},
    {"one <img src=a> two", "zwei=1 eins=0", "<img src=a> zwei eins"},
    {"one<img> two", "zwei=1 eins=0", "zwei eins<img>"},
    {"one <img>two", "zwei=1 eins=0", "<img>zwei eins"},
    {"<img>one two", "zwei=1 eins=0", "<img>zwei eins"},
    {"one two<img>", "zwei=1 eins=0", "zwei eins<img>"},
    {"<b>one </b>two", "eins=0 zwei=1", "<b>eins </b>zwei"},
    {"one<b> two</b>", "eins=0 zwei=1", "eins<b> zwei</b>"},
    {" one <b> two </b> three ", "eins=0 zwei=1 drei=2", " eins <b> zwei </b> drei "},
    {"one <!-- c --> two", "eins=0 zwei=1", "eins <!-- c --> zwei"},
    {"use <code>ls</code> now", "jetzt=2 ls=1 nutzen=0", "jetzt <code>ls</code> nutzen"},
    {"use <code>a.b</code> now", "nun=4 a=1 +.=2 +b=3 nutzen=0", "nun <code>a.b</code> nutzen"},
    {"use <code>ls</code> now", "jetzt=2 lsx=1 nutzen=0", "jetzt <code>ls</code> nutzen"}, /* in place of what it became */
    {"use <code>ls</code> now", "jetzt=2 nutzen=0", "<code>ls</code> jetzt nutzen"}, /* before "now" */
    {"<code>ls</code> lists", "listet=1", "<code>ls</code> listet"},
    {"a <kbd>x</kbd> and <kbd>y</kbd>", "y=3 und=2 x=1 ein=0", "<kbd>y</kbd> und <kbd>x</kbd> ein"},
    {"a &lt;b&gt; &amp; <i>c</i>", "x=0 <=1 +y=2 +>=3 &=4 z=5", "x &lt;y&gt; &amp; <i>z</i>"},
    {"<b><i>one</b> two</i> three", "eins=0 zwei=1 drei=2", "<b><i>eins</b> zwei</i> drei"},
    {"</i>one two</b>", "eins=0 zwei=1", "</i>eins zwei</b>"},
    {"<p><b>one two</b></p>", "z eins=0 zwei=1 z", "<p><b>z eins zwei z</b></p>"}, /* all of the line is all of it */
    {"<b>red</b> cat", "chat=1/0", "<b>chat</b>"}, /* no word attends to "red" most */
    {"<b>!</b> x?", "x=1 +?=0/2", "<b></b>x?"}, /* a mark is the same mark */
    {"a&nbsp;b <i>c</i>", "x\xC2\xA0y=0 z=1", "x&nbsp;y <i>z</i>"},
    {"<b><i>one</b> two</i> three", "drei=2 zwei=1 eins=0", "drei zwei</i> <b><i>eins</b>"},
    {"one two", "", ""},
    {"<p>one <b>two</b></p>", "", "<p><b></b></p>"},
    {"<b>I</b>nternet is", "Internet=0 ist=1", "<b>Internet</b> ist"},
};

static void tags_are_placed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES; i++) {
        rapt_markup *m = case_parse(PLACES[i].document, NULL);
        assert_int_equal(rapt_markup_count(m), 1);
        rapt_translation t = case_written(rapt_markup_lines(m)[0], PLACES[i].translation);
        char *text = case_write(m, &t);
        if (strcmp(text, PLACES[i].want) != 0)
            fail_msg("%s + %s\nhas  %s\nwant %s", PLACES[i].document, PLACES[i].translation, text, PLACES[i].want);
        free(text);
        rapt_translations_free(&t, 1);
        rapt_markup_free(m);
    }
}

/* Tokens that are parts of words; and what the units of a text are. */
static void words_have_several_tokens(void **state)
{
    static const case_tokens source = {{{0, 2}, {2, 12}, {13, 16}}, 3}, target = {{{0, 4}, {5, 15}}, 2};
    static const size_t from[] = {2, 1};
    (void)state;
    rapt_markup *m = case_parse("<b>unbelievable</b> cat", NULL);
    rapt_translation t = case_translation("chat incroyable", &source, &target, from);
    char *text = case_write(m, &t);
    assert_string_equal(text, "chat <b>incroyable</b>");
    free(text);
    rapt_translations_free(&t, 1);
    rapt_markup_free(m);
    markup_units u;
    const markup_item cut = {.at = 8, .until = 8};
    assert_true(markup_units_take(&u, rapt_text_of("a... b!!?cd \xE4\xBD\xA0\xE5\xA5\xBD"), &cut, 1));
    static const rapt_span units[] = {{0, 1}, {1, 4}, {5, 6}, {6, 8}, {8, 9}, {9, 11}, {12, 15}, {15, 18}};
    assert_int_equal(u.count, sizeof units / sizeof *units);
    for (size_t i = 0; i < u.count; i++)
        assert_true(u.list[i].begin == units[i].begin && u.list[i].end == units[i].end);
    free(u.list);
}

/* Tokens of many words and marks, as some vocabularies have: few of them count, so that memory and time stay in proportion. */
static void long_tokens_have_few_units(void **state)
{
    enum { TOKENS = 256, UNITS = 60, SIZE = UNITS + 1, COUNTED = 512 / TOKENS };
    static case_tokens tokens;
    static size_t from[TOKENS];
    static char text[TOKENS * SIZE + 1];
    markup_units units;
    markup_links links;
    (void)state;
    tokens.count = TOKENS;
    for (size_t i = 0; i < TOKENS; i++) {
        for (size_t k = 0; k < UNITS; k++)
            text[i * SIZE + k] = k % 2 ? '.' : (char)('a' + i % 26);
        text[i * SIZE + UNITS] = ' ';
        tokens.span[i] = (rapt_span){i * SIZE, i * SIZE + UNITS};
        from[i] = TOKENS - 1 - i;
    }
    rapt_translation t = case_translation(text, &tokens, &tokens, from);
    assert_true(markup_units_take(&units, rapt_text_of(text), NULL, 0));
    assert_int_equal(units.count, TOKENS * UNITS);
    assert_true(markup_links_find(&links, &units, &units, &t, t.hypotheses));
    const struct markup_masses *last = &links.masses[units.count - 1];
    assert_in_range(last->at + last->count, TOKENS, TOKENS * (TOKENS * COUNTED + 1));
    for (size_t i = 0; i < units.count; i++) {
        const size_t own = i / UNITS * UNITS, other = (TOKENS - 1) * UNITS - own;
        assert_int_equal(links.of[i], i - own < COUNTED ? other + i - own : MARKUP_NONE);
        assert_true(markup_links_mass(&links, i, other, other + UNITS) == COUNTED);
        assert_true(markup_links_mass(&links, i, other, other + 1) == 1 && markup_links_mass(&links, i, 0, other) == 0);
        assert_true(markup_links_mass(&links, i, other + COUNTED, units.count) == 0);
    }
    markup_links_free(&links);
    free(units.list);
    rapt_translations_free(&t, 1);
}

/* Where texts begin: behind white space. */
static void texts_have_places(void **state)
{
    (void)state;
    rapt_markup *m = case_parse("<p>\n a <b>b</b>\n<p> 1 <p><i>c</i>", NULL);
    assert_int_equal(rapt_markup_count(m), 2);
    assert_int_equal(rapt_markup_begin(m, 0), 5);
    assert_int_equal(rapt_markup_begin(m, 1), 25);
    rapt_markup_free(m);
}

/* Tags whose other one is in another line. */
static void elements_cross_lines(void **state)
{
    static const char document[] = "<p>a <b>red cat<p>and dog</b> here";
    (void)state;
    rapt_markup *m = case_parse(document, NULL);
    assert_int_equal(rapt_markup_count(m), 2);
    rapt_translation t[2] = {case_written(rapt_markup_lines(m)[0], "chat=2 rouge=1 un=0"),
                             case_written(rapt_markup_lines(m)[1], "ici=2 et=0 chien=1")};
    char *text = case_write(m, t);
    /* the first line ends in bold, the second begins so: with all words of the element */
    assert_string_equal(text, "<p><b>chat rouge un<p>ici et chien</b>");
    free(text);
    rapt_translations_free(t, 2);
    t[0] = case_written(rapt_markup_lines(m)[0], "un=0 chat=2 rouge=1");
    t[1] = case_written(rapt_markup_lines(m)[1], "et=0 chien=1 ici=2");
    text = case_write(m, t);
    assert_string_equal(text, "<p>un <b>chat rouge<p>et chien</b> ici");
    free(text);
    rapt_translations_free(t, 2);
    rapt_markup_free(m);
}

/* With each line as its own translation, documents stay as they are. */
static void copies_are_the_same(void **state)
{
    static const char *const documents[] = {
        "<!DOCTYPE html>\n<html lang=en>\n<head><title>A page</title>\n<script>\n\tx < y && '<b>'\n</script></head>\n"
        "<body class=\"a b\">\n  <h1>One <em>two</em>, three</h1>\n  <p>Four <a href=\"?a&b\">five <img src='x.png'></a>.<br>\n"
        "  Six &amp; seven <!-- c --> eight</p>\n<ul>\n<li>nine<li>ten</ul></body></html>\n",
        "no markup at all", "  <b> x </b>  ", "a <b>b</b> <i>c</i> <u>d</u>", "a<b>+</b><i>c</i>", "<p>unclosed <b>bold <i>both",
        "</p></b>closed only</i>", "ab <wbr>c <br-x>c</br-x>", "x <b></b> y<i></i> z", "1 &lt; 2 &gt; x",
        "<a b c=d e='f>' G>x</A>", "use <code>f(x)</code>, or",
        "<b><b><b>deep</b></b></b>", "<table><tr><td>a<td>&nbsp;<td>1</table>", "x<!-- never closed", "x <b never closed",
        "\xE4\xBD\xA0<b>\xE5\xA5\xBD</b>\xE3\x80\x82", "<p>a</p >\n<p >b</p\n>",
    };
    (void)state;
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        char *text = case_identity(documents[i], NULL);
        if (strcmp(text, documents[i]) != 0)
            fail_msg("has  %s\nwant %s", text, documents[i]);
        free(text);
    }
}

static void limits_are_refused(void **state)
{
    rapt_error err = {0};
    (void)state;
    char *many = malloc(4 * (RAPT_MARKUP_TAGS + 2));
    size_t size = 0;
    for (size_t i = 0; i < RAPT_MARKUP_DEPTH + 1; i++)
        size += (size_t)sprintf(many + size, "<b>");
    sprintf(many + size, "x");
    assert_null(rapt_markup_parse(rapt_text_of(many), NULL, &err));
    assert_int_equal(err.code, RAPT_ERR_VALUE);
    assert_string_equal(err.message, "byte 768: more than 256 tags are open within one sentence");
    memmove(many, many + 3, size);
    err = (rapt_error){0};
    rapt_markup_free(case_parse(many, NULL));
    for (size_t i = 0; i <= RAPT_MARKUP_TAGS; i++)
        memcpy(many + 3 * i, "<p>", 3);
    assert_null(rapt_markup_parse((rapt_text){many, 3 * (RAPT_MARKUP_TAGS + 1)}, NULL, &err));
    assert_string_equal(err.message, "the document has more than 1000000 tags and texts");
    err = (rapt_error){0};
    rapt_markup_options xml = rapt_markup_options_default();
    xml.kind = RAPT_MARKUP_XML;
    for (size_t i = 0; i <= RAPT_MARKUP_TAGS; i++)
        memcpy(many + 3 * i, "&x;", 3);
    assert_null(rapt_markup_parse((rapt_text){many, 3 * (RAPT_MARKUP_TAGS + 1)}, &xml, &err));
    assert_string_equal(err.message, "the document has more than 1000000 tags and references that stay");
    err = (rapt_error){0};
    assert_null(rapt_markup_parse((rapt_text){many, RAPT_MARKUP_BYTES + 1}, NULL, &err));
    assert_string_equal(err.message, "the document has 67108865 bytes, more than 67108864");
    free(many);
    err = (rapt_error){0};
    assert_null(rapt_markup_parse(rapt_text_of("ab\xFF"), NULL, &err));
    assert_int_equal(err.code, RAPT_ERR_FORMAT);
    assert_string_equal(err.message, "byte 2 of the document is not UTF-8");
    err = (rapt_error){0};
    rapt_markup_options o = rapt_markup_options_default();
    o.reserved[0] = 1;
    assert_null(rapt_markup_parse(rapt_text_of("a"), &o, &err));
    err = (rapt_error){0};
    o = rapt_markup_options_default();
    o.kind = (rapt_markup_kind)2;
    assert_null(rapt_markup_parse(rapt_text_of("a"), &o, &err));
    assert_string_equal(err.message, "markup: there is no kind number 2");
    err = (rapt_error){0};
    o = rapt_markup_options_default();
    o.splitting = "p, <b>";
    assert_null(rapt_markup_parse(rapt_text_of("a"), &o, &err));
    assert_string_equal(err.message, "splitting: no tag is named \"<b>\"");
    rapt_markup_free(NULL);
}

/* What rapt_markup_write needs is asked for by name. */
static void alignments_are_needed(void **state)
{
    rapt_error err = {0};
    char *text;
    (void)state;
    rapt_markup *m = case_parse("<p>a b</p>", NULL);
    rapt_translation t = case_copy(rapt_markup_lines(m)[0]);
    free(t.hypotheses->spans);
    t.hypotheses->spans = NULL;
    assert_int_equal(rapt_markup_write(m, &t, 0, &text, NULL, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "line 1: a translation without alignment, tokens and spans");
    assert_null(text);
    rapt_translations_free(&t, 1);
    rapt_markup_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(html_has_lines), cmocka_unit_test(xml_has_lines), cmocka_unit_test(options_decide),
        cmocka_unit_test(tags_are_placed), cmocka_unit_test(words_have_several_tokens),
        cmocka_unit_test(long_tokens_have_few_units), cmocka_unit_test(texts_have_places), cmocka_unit_test(elements_cross_lines),
        cmocka_unit_test(copies_are_the_same),
        cmocka_unit_test(limits_are_refused), cmocka_unit_test(alignments_are_needed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
