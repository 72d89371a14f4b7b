/* tests/text/test_glossary.c: what a glossary may be, how others are refused, and where its terms are found: against the rules of
 * rapt/glossary.h, applied in the plainest way to random texts.
 * labels: arm-first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "text/glossary_core.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rapt_glossary *parse(const char *text)
{
    rapt_error err = {0};
    rapt_glossary *g = rapt_glossary_parse("g.tsv", rapt_text_of(text), &err);
    if (!g)
        fail_msg("%s", err.message);
    return g;
}

/* ---- reading ------------------------------------------------------------------------------------------------------- */

static void terms_keep_their_order(void **state)
{
    (void)state;
    rapt_glossary *g = parse("\xEF\xBB\xBFz\ty\r\n\n  \na b\tc  d\n\xE4\xB8\xAD\tMitte");
    assert_int_equal(rapt_glossary_count(g), 3);
    const char *const want[] = {"z", "y", "a b", "c  d", "\xE4\xB8\xAD", "Mitte"};
    for (size_t i = 0; i < 3; i++) {
        const rapt_glossary_term t = rapt_glossary_get(g, i);
        assert_string_equal(t.source.data, want[2 * i]);
        assert_int_equal(t.source.size, strlen(want[2 * i]));
        assert_string_equal(t.target.data, want[2 * i + 1]);
        assert_int_equal(t.target.size, strlen(want[2 * i + 1]));
    }
    const rapt_glossary_term pairs[] = {rapt_glossary_get(g, 2), rapt_glossary_get(g, 0)};
    rapt_glossary *other = rapt_glossary_new("pairs", pairs, 2, NULL);
    assert_int_equal(rapt_glossary_count(other), 2);
    assert_string_equal(rapt_glossary_get(other, 0).source.data, want[4]);
    assert_string_equal(rapt_glossary_get(other, 1).target.data, want[1]);
    rapt_glossary_free(other);
    rapt_glossary_free(g);
    rapt_glossary_free(NULL);
}

static void refused(const char *text, size_t size, rapt_code code, const char *why)
{
    rapt_error err = {0};
    assert_null(rapt_glossary_parse("g.tsv", (rapt_text){text, size}, &err));
    assert_int_equal(err.code, code);
    assert_string_equal(err.message, why);
}

static void other_texts_are_refused_by_line(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"a\tb\nc\n", "g.tsv:2: a line of a glossary is a source, one tab and a target; this one has no tab"},
        {"a\tb\tc\n", "g.tsv:1: a line of a glossary is a source, one tab and a target; this one has more tabs"},
        {"\n\tb\n", "g.tsv:2: the source is empty"},
        {"a\t\n", "g.tsv:1: the target is empty"},
        {" a\tb\n", "g.tsv:1: the source begins or ends with white space"},
        {"a\tb\xC2\xA0\n", "g.tsv:1: the target begins or ends with white space"},
        {"a\x01\tb\n", "g.tsv:1: the source has a control character"},
        {"a\tb\xC2\x85" "c\n", "g.tsv:1: the target has a control character"},
        {"b\t1\na\t2\na b\t3\nb\t4\na\t5\n", "g.tsv:4: line 1 has the source \"b\" already"},
        {"a\tb\n\xFF\tc\n", "g.tsv:2: byte 1 of the line (0xff) is not valid UTF-8"},
    };
    char *large = malloc(RAPT_GLOSSARY_BYTES + 1);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refused(cases[i].text, strlen(cases[i].text), RAPT_ERR_FORMAT, cases[i].why);
    refused("\n \n", 3, RAPT_ERR_VALUE, "g.tsv: a glossary without a term");
    refused("", 0, RAPT_ERR_VALUE, "g.tsv: a glossary without a term");
    refused("a\tb\0\n", 5, RAPT_ERR_FORMAT, "g.tsv:1: byte 4 of the line (0x00) is a NUL");
    assert_non_null(large);
    refused(large, RAPT_GLOSSARY_BYTES + 1, RAPT_ERR_VALUE, "g.tsv: 10485761 bytes; a glossary has at most 10485760");
    memset(large, 'x', 2000);
    memcpy(large + 1025, "\ty", 2);
    refused(large, 1027, RAPT_ERR_FORMAT, "g.tsv:1: the source has more than 1,024 bytes");
    rapt_glossary *g = rapt_glossary_parse("g.tsv", (rapt_text){large + 1, 1026}, NULL);
    assert_non_null(g);
    rapt_glossary_free(g);
    size_t size = 0;
    for (int i = 0; i <= RAPT_GLOSSARY_TERMS; i++)
        size += (size_t)sprintf(large + size, "%d\tx\n", i);
    refused(large, size, RAPT_ERR_VALUE, "g.tsv:100001: a glossary has at most 100000 terms");
    free(large);
}

static void pairs_are_refused_by_number(void **state)
{
    const rapt_glossary_term tab[] = {{{"a", 1}, {"b", 1}}, {{"c\td", 3}, {"e", 1}}}, feed[] = {{{"a", 1}, {"b\nc\td", 5}}},
                             none[] = {{{NULL, 0}, {"b", 1}}};
    rapt_error err = {0};
    (void)state;
    assert_null(rapt_glossary_new("glossary", tab, 2, &err));
    assert_string_equal(err.message, "glossary:2: the source has a control character");
    err = (rapt_error){0};
    assert_null(rapt_glossary_new("glossary", feed, 1, &err));
    assert_string_equal(err.message, "glossary:1: the target has a control character");
    err = (rapt_error){0};
    assert_null(rapt_glossary_new("glossary", none, 1, &err));
    assert_string_equal(err.message, "glossary:1: the source is empty");
    err = (rapt_error){0};
    assert_null(rapt_glossary_new("glossary", none, 0, &err));
    assert_string_equal(err.message, "glossary: a glossary without a term");
}

/* ---- finding --------------------------------------------------------------------------------------------------------- */

/* The targets of the terms that are found, in their order, '^' before a capitalized one. */
static void finds(const char *glossary, const char *text, const char *want)
{
    char found[500] = "";
    rapt_glossary *g = parse(glossary);
    glossary_match m;
    for (size_t from = 0; glossary_find(g, rapt_text_of(text), from, &m); from = m.end) {
        assert_true(m.from >= from && m.end > m.from && m.end <= strlen(text));
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s ", m.capitalized ? "^" : "", m.term->target.data);
    }
    if (strcmp(found, want) != 0)
        fail_msg("\"%s\": %snot %s", text, found, want);
    rapt_glossary_free(g);
}

static void words_have_boundaries(void **state)
{
    (void)state;
    finds("bank\tB\n", "bank", "B ");
    finds("bank\tB\n", "the bank, (bank) e-bank. banks embank bank_1 bank2", "B B B ");
    finds("bank\tB\n", "b\xC3\xA4nk bank\xCC\x88 bank\xC3\xA9", ""); /* a combining diaeresis; e with an acute accent */
    finds("C++\tC\n", "C++ and C++!, C++11", "C C C "); /* there is a boundary between + and 1 */
    finds("p\tP\n", "p \xFFp\xFF pp", "P P "); /* bytes that are no characters */
}

static void the_longest_counts(void **state)
{
    (void)state;
    finds("power\t1\npower supply\t2\nsupply unit\t3\nunit\t4\n", "power supply unit", "2 4 ");
    finds("power\t1\npower supply\t2\n", "power supplying", "1 ");
    finds("a\t1\na b c\t2\nb\t3\n", "a b c, a b d", "2 1 3 ");
}

static void case_counts_but_at_a_beginning(void **state)
{
    (void)state;
    finds("kernel\tk\n", "Kernel kernel KERNEL kErnel", "^k k ");
    finds("Kernel\tK\n", "Kernel kernel", "K ");
    finds("kernel\tk\nKernel\tK\n", "Kernel kernel", "K k ");
    finds("kernel\tk\nKernel\tK\nkernel log\tkl\n", "Kernel log", "^kl ");
    finds("\xC3\xA4rger\ta\n", "\xC3\x84rger \xC3\xA4rger", "^a a ");
    finds("\xC9\x90x\ta\n", "\xE2\xB1\xAFx", "^a "); /* U+0250, whose upper case has three bytes */
}

static void scripts_without_spaces(void **state)
{
    (void)state;
    finds("\xE4\xB8\xAD\xE5\x9B\xBD\t1\n\xE5\x9B\xBD\t2\n", "\xE5\x9C\xA8\xE4\xB8\xAD\xE5\x9B\xBD\xE5\x9B\xBD", "1 2 ");
    finds("API\t1\n", "\xE5\x9C\xA8""API\xE5\x9B\xBD APIs", "1 ");
    finds("\xE0\xB8\x9A\t1\n", "\xE0\xB8\x9A\xE0\xB8\x9A \xE0\xB8\x9A\xE0\xB9\x89", "1 1 "); /* not before a mark of tone */
}

/* ---- random texts ------------------------------------------------------------------------------------------------------ */

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16;
}

static size_t random_text(unsigned *seed, size_t most, char *out)
{
    static const char letters[] = "aabbABc  -.";
    const size_t size = 1 + next_random(seed) % most;
    for (size_t i = 0; i < size; i++)
        out[i] = letters[next_random(seed) % (sizeof letters - 1)];
    out[size] = '\0';
    return size;
}

static bool plain_boundary(const char *text, size_t at)
{
    return at == 0 || !text[at] || !isalnum((unsigned char)text[at - 1]) || !isalnum((unsigned char)text[at]);
}

/* 0: not there; 1: capitalized; 2: as it is. */
static int plain_match(const char *text, size_t at, rapt_text source)
{
    if (strlen(text + at) < source.size || !plain_boundary(text, at) || !plain_boundary(text, at + source.size))
        return 0;
    if (memcmp(text + at, source.data, source.size) == 0)
        return 2;
    return islower((unsigned char)*source.data) && text[at] == toupper((unsigned char)*source.data) &&
           memcmp(text + at + 1, source.data + 1, source.size - 1) == 0;
}

static const rapt_glossary_term *plain_find(const rapt_glossary *g, const char *text, size_t at, int *how)
{
    const rapt_glossary_term *best = NULL;
    for (size_t i = 0; i < g->count; i++) {
        const int match = plain_match(text, at, g->terms[i].source);
        if (match && (!best || g->terms[i].source.size > best->source.size ||
                      (g->terms[i].source.size == best->source.size && match > *how))) {
            best = &g->terms[i];
            *how = match;
        }
    }
    return best;
}

static void random_texts(void **state)
{
    unsigned seed = 7;
    size_t found = 0;
    (void)state;
    for (int round = 0; round < 400; round++) {
        char tsv[400] = "", term[8], text[80];
        for (int i = 0; i < 12; i++) {
            random_text(&seed, 5, term);
            char line[40];
            snprintf(line, sizeof line, "%s\t", term);
            if (term[0] != ' ' && term[strlen(term) - 1] != ' ' && strncmp(tsv, line, strlen(line)) != 0) {
                char before[48];
                snprintf(before, sizeof before, "\n%s", line);
                if (!strstr(tsv, before))
                    snprintf(tsv + strlen(tsv), sizeof tsv - strlen(tsv), "%s%d\n", line, i);
            }
        }
        rapt_glossary *g = *tsv ? parse(tsv) : NULL;
        for (int i = 0; g && i < 20; i++) {
            const size_t size = random_text(&seed, 60, text);
            for (size_t at = 0, from = 0; at < size;) {
                int how = 0;
                const rapt_glossary_term *want = plain_find(g, text, at, &how);
                if (!want) {
                    at++;
                    continue;
                }
                glossary_match m;
                assert_true(glossary_find(g, (rapt_text){text, size}, from, &m));
                assert_ptr_equal(m.term, want);
                assert_int_equal(m.from, at);
                assert_int_equal(m.capitalized, how == 1);
                at = from = m.end;
                found++;
            }
        }
        rapt_glossary_free(g);
    }
    assert_true(found > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_keep_their_order), cmocka_unit_test(other_texts_are_refused_by_line),
        cmocka_unit_test(pairs_are_refused_by_number), cmocka_unit_test(words_have_boundaries),
        cmocka_unit_test(the_longest_counts), cmocka_unit_test(case_counts_but_at_a_beginning),
        cmocka_unit_test(scripts_without_spaces), cmocka_unit_test(random_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
