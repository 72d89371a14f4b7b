/* tests/explain/test_page_book.c: the address of the book in a page's data, and which addresses are refused: a link must not run
 * a script. What the page makes of it: check_page_chapters.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "explain/explain_case.h"
#include "options.h"

static const char *const GOOD[] = {"https://example.org/rapt/docs/book", "http://127.0.0.1:8000/", "file:///usr/share/rapt/book",
                                   "docs/book", "../book/", "/book", "book?of=a:b", "a/b:c", "//example.org/book"};
static const char *const BAD[] = {"", "javascript:alert(1)", "JavaScript:alert(1)//", "data:text/html,x", "vbscript:x", "https:x",
                                  "ftp://example.org/", " javascript:alert(1)", "java\nscript:x", "https://example.org/a b",
                                  "https://example.org/\xc3\xa9", "https://example.org/\x7f", "https://",
                                  "http:///book", "https://?a"};

static rapt_code page_with(const rapt_explanation *e, const char *book, char **html, rapt_error *err)
{
    const rapt_explain_page_options page = EXPLAIN_PAGE(.book = book);
    return rapt_explanation_page(e, &page, html, NULL, err);
}

static void assert_refused(const rapt_explanation *e, const char *book)
{
    rapt_error err = {0};
    char *html = NULL;
    if (page_with(e, book, &html, &err) != RAPT_ERR_VALUE)
        fail_msg("\"%s\" is not refused", book);
    assert_null(html);
    assert_non_null(strstr(err.message, "the book's address must begin with http:// or https:// and a host, or with file://, "));
}

static void test_addresses(void **state)
{
    (void)state;
    rapt_model *m = case_translator();
    rapt_explanation *e = rapt_explanation_new(m, "w1 w2", 5, NULL, NULL);
    assert_non_null(e);
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
        char *html = NULL, wanted[200];
        rapt_error err = {0};
        if (page_with(e, GOOD[i], &html, &err))
            fail_msg("\"%s\": %s", GOOD[i], err.message);
        snprintf(wanted, sizeof wanted, "\"book\":\"%s\"", GOOD[i]);
        if (!strstr(html, wanted))
            fail_msg("the page lacks %s", wanted);
        free(html);
    }
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        assert_refused(e, BAD[i]);
    rapt_explanation_free(e);
    rapt_model_free(m);
}

static void test_its_length(void **state)
{
    (void)state;
    rapt_model *m = case_translator();
    rapt_explanation *e = rapt_explanation_new(m, "w1 w2", 5, NULL, NULL);
    char address[2002], *html = NULL;
    memset(address, 'a', sizeof address);
    address[2001] = '\0';
    assert_refused(e, address);
    address[2000] = '\0';
    assert_int_equal(page_with(e, address, &html, NULL), RAPT_OK);
    free(html);
    rapt_explanation_free(e);
    rapt_model_free(m);
}

static void test_none(void **state)
{
    (void)state;
    rapt_model *m = case_translator();
    rapt_explanation *e = rapt_explanation_new(m, "w1 w2", 5, NULL, NULL);
    char *html = NULL;
    assert_int_equal(page_with(e, NULL, &html, NULL), RAPT_OK);
    assert_null(strstr(html, "\"book\":"));
    free(html);
    rapt_explanation_free(e);
    rapt_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_its_length),
        cmocka_unit_test(test_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
